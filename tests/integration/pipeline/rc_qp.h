/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * One queue pair of the tests' endpoint: roce-gen's requester and responder, controlled by the
 * test. The requester has a retransmission timer only if this is configured: in most tests no
 * packet may be lost, so that a retransmission is a fault.
 */
#include "requester.h"
#include "responder.h"
#include "roce/build.h"

#define RC_PORTS_MAX 64u

/* A run of packets that arrived on one port. */
struct rc_run {
	uint16_t port;
	uint32_t packets;
};

struct rc_qp {
	uint32_t lqpn, rqpn;
	struct hp3_addressing to; /* the peer */
	struct gen_requester requester;
	struct gen_responder responder;
	uint64_t messages; /* not begun yet */
	uint64_t acked; /* PSNs */
	uint64_t bad_icrc, runs_lost;
	struct rc_run runs[RC_PORTS_MAX];
	uint32_t n_runs;
};

struct rc_shape {
	uint32_t message, payload, window; /* packets, bytes, PSNs */
	uint8_t timeout; /* IBTA code; 0: none */
	bool withhold; /* the responder sends no ACKs */
};

/* Sets the parameters of all queue pairs. Call it once, before the first rc_init(). */
void rc_set_shape(const struct rc_shape *s);
/* Initialises requester and responder, both with this first PSN. The caller has set QPNs and
 * addresses. */
void rc_init(struct rc_qp *q, uint32_t first_psn);
/* Writes the next request to `frame`. Returns its length; 0: there is no request, or the window is
 * full. */
uint32_t rc_request(struct rc_qp *q, uint64_t now, void *frame, uint32_t cap);
void rc_take_request(struct rc_qp *q, const void *frame, const struct hp3_view *v);
void rc_take_reply(struct rc_qp *q, uint64_t now, const void *frame, const struct hp3_view *v);
/* Writes the ACK that is due to `frame`. Returns its length; 0: none is due. */
uint32_t rc_ack(struct rc_qp *q, void *frame, uint32_t cap);
