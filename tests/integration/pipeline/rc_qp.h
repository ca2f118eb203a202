/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_RC_QP_H
#define TEST_RC_QP_H
/*
 * One queue pair of the tests' endpoint: roce-gen's requester and responder, controlled by the
 * test. The requester has a timer only if configured: on most of these wires, no packet may be
 * lost, and a retransmission is a fault.
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
	uint64_t messages; /* left to begin */
	uint64_t acked; /* PSNs */
	uint64_t bad_icrc, runs_lost;
	struct rc_run runs[RC_PORTS_MAX];
	uint32_t n_runs;
};

struct rc_shape {
	uint32_t message, payload, window; /* packets, bytes, PSNs */
	uint8_t timeout; /* IBTA code; 0: none */
	bool withhold; /* ACKs */
};

/* Parameters of all queue pairs; called once, before the first set-up. */
void rc_set_shape(const struct rc_shape *s);
/* Both ends begin at the same PSN; the rest of *q is filled already. */
void rc_init(struct rc_qp *q, uint32_t first_psn);
/* The next request as a frame: its length, or 0 if there is nothing to send or no window. */
uint32_t rc_request(struct rc_qp *q, uint64_t now, void *frame, uint32_t cap);
void rc_take_request(struct rc_qp *q, const void *frame, const struct hp3_view *v);
void rc_take_reply(struct rc_qp *q, uint64_t now, const void *frame, const struct hp3_view *v);
/* The ACK that is due, or 0. */
uint32_t rc_ack(struct rc_qp *q, void *frame, uint32_t cap);

#endif
