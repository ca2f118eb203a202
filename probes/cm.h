/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reads connection management (CM) datagrams that pass hp3d (IBTA 12.6). In RoCEv2, they are UD
 * SEND ONLY packets to QP1. REQ and REP carry the QPNs of both ends, so hp3d has the QPNs before
 * the first data packet.
 *
 * If a datagram is truncated, or is no CM message, the kind is HP3_CM_NONE.
 */
#include <stdint.h>
#include "roce/parse.h"

enum hp3_cm_kind {
	HP3_CM_NONE,
	HP3_CM_REQ, /* has the sender's communication id and QPN, and the receiver's first PSN */
	HP3_CM_REP, /* has the fields of a REQ, and the communication id of the answered REQ */
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
	uint32_t psn; /* REQ, REP: first PSN of packets from the receiver to the sender */
};

/* Sets *m from a frame. *v: the view of `frame`; its class must be HP3_CLASS_CM. */
void hp3_cm_parse(const void *frame, const struct hp3_view *v, struct hp3_cm_msg *m);
