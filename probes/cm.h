/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reads connection management (CM) datagrams to QP1 that pass hp3d (IBTA 12.6; RoCEv2: UD SEND ONLY
 * to QP1). REQ and REP carry the QPNs of both ends. So hp3 has the QPNs before the first data
 * packet.
 *
 * The functions build and change nothing. For a datagram that is truncated or no CM message, the
 * kind is HP3_CM_NONE.
 */
#include <stdint.h>
#include "roce/parse.h"

enum hp3_cm_kind {
	HP3_CM_NONE,
	HP3_CM_REQ, /* carries the sender's communication id and QPN; the receiver's first PSN */
	HP3_CM_REP, /* as REQ, and the communication id of the REQ that it answers */
	HP3_CM_RTU,
	HP3_CM_REJ,
	HP3_CM_DREQ,
	HP3_CM_DREP,
};

struct hp3_cm_msg {
	uint8_t kind; /* enum hp3_cm_kind */
	uint32_t local_id; /* communication id of the sender */
	uint32_t remote_id; /* communication id of the receiver; 0 in a REQ */
	uint32_t qpn; /* REQ, REP: the sender's QPN; DREQ: the receiver's QPN */
	uint32_t psn; /* REQ, REP: first PSN that the *other* side uses towards the sender */
};

/* v: view of `frame` with class HP3_CLASS_CM. */
void hp3_cm_parse(const void *frame, const struct hp3_view *v, struct hp3_cm_msg *m);
