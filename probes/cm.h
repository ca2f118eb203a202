/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_CM_H
#define HP3_PROBES_CM_H
/*
 * Reads connection management datagrams (QP1) that pass by: from REQ and REP the queue pair numbers
 * of both ends become known before the first data packet (IBTA 12.6, RoCEv2: UD SEND ONLY to QP1).
 *
 * Nothing is built or changed here. A datagram that is not a CM message, or is truncated, yields
 * HP3_CM_NONE.
 */
#include <stdint.h>
#include "roce/parse.h"

enum hp3_cm_kind {
	HP3_CM_NONE,
	HP3_CM_REQ, /* carries the sender's comm id, QPN and first PSN */
	HP3_CM_REP, /* likewise, and the comm id of the REQ that it answers */
	HP3_CM_RTU,
	HP3_CM_REJ,
	HP3_CM_DREQ,
	HP3_CM_DREP,
};

struct hp3_cm_msg {
	uint8_t kind; /* enum hp3_cm_kind */
	uint32_t local_id; /* communication id of the sender */
	uint32_t remote_id; /* of the receiver; 0 in a REQ */
	uint32_t qpn; /* REQ, REP: the sender's QPN; DREQ: the receiver's QPN */
	uint32_t psn; /* REQ, REP: first PSN that the *other* side shall use towards the sender */
};

/* v: view of `frame` with class HP3_CLASS_CM. */
void hp3_cm_parse(const void *frame, const struct hp3_view *v, struct hp3_cm_msg *m);

#endif
