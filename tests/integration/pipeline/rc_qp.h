/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_RC_QP_H
#define TEST_RC_QP_H
/*
 * One queue pair of the tests' endpoint: an honest requester of RDMA WRITE messages, with a window
 * and AckReq on the last packet of a message (IBTA 9.7.5.1.2), and an honest responder that takes
 * PSNs in order only. The requester never sends twice: on these wires nothing may get lost.
 */
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
	/* requester */
	uint32_t next, una; /* PSN */
	uint32_t at; /* packet of the message */
	uint64_t messages; /* left to begin */
	uint64_t sent, acked;
	/* responder */
	uint32_t expected, ack_psn, msn;
	bool ack_due;
	uint64_t received;
	struct rc_run runs[RC_PORTS_MAX];
	uint32_t n_runs;
};

struct rc_shape {
	uint32_t message, payload, window; /* packets, bytes, PSNs */
	bool withhold; /* ACKs */
};

/* What may never be but 0. */
struct rc_faults {
	uint64_t gaps, duplicates, bad_icrc, bad_payload, stray_acks, naks, runs_lost;
};

/* The next request as a frame: its length, or 0 if there is nothing to send or no window. */
uint32_t rc_request(struct rc_qp *q, const struct rc_shape *s, void *frame, uint32_t cap);
void rc_take_request(
	struct rc_qp *q, const void *frame, const struct hp3_view *v, struct rc_faults *faults);
void rc_take_reply(struct rc_qp *q, const struct hp3_view *v, struct rc_faults *faults);
/* The ACK that is due, or 0. */
uint32_t rc_ack(struct rc_qp *q, void *frame, uint32_t cap);

#endif
