/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_ENDPOINT_H
#define ROCE_GEN_ENDPOINT_H
/*
 * An RNIC in user space: many queue pairs behind one port. Frames and time go in, frames and events
 * come out; no I/O and no clock, so tests can run it over any network.
 *
 * - Schedule: a heap of queue pairs by the time at which each may send; of those that may send now,
 *   the one that has waited longest. One packet, then the next queue pair.
 * - Pacing: a token bucket per queue pair at DCQCN's rate (cc/), and one for the port at the link's
 *   rate. Bytes are those of the frame without preamble and FCS. ACKs wait only for the port's. A
 *   queue pair that waited and is called late catches up, so that a slow scheduler costs no rate;
 * an idle one does not.
 * - Congestion: CE on a request or READ response causes a CNP (notification point); a CNP reduces
 *   the rate of the queue pair (reaction point).
 * - PFC (802.1Qbb): a pause frame for a priority stops it for its quanta of 512 bit times at the
 *   link's rate. Requests and answers are of one priority, CNPs of another.
 *
 * Queue pair numbers are consecutive from first_qpn on.
 */
#include "cc/dcqcn.h"
#include "cc/np.h"
#include "cc/pacer.h"
#include "roce/build.h"
#include "histogram.h"
#include "order.h"
#include "requester.h"
#include "responder.h"

#define GEN_FRAME_MAX 4352u /* path MTU 4096 and all headers */
#define GEN_QPS_MAX   65536u

struct gen_endpoint_params {
	struct gen_requester_params requester;
	struct gen_responder_params responder;
	uint32_t first_qpn;
	uint32_t max_qps;
	/* of the port; 0: no limit, and PFC quanta as at 1 Gb/s */
	uint64_t link_bps;
	uint64_t qp_bps; /* of a queue pair without DCQCN; 0: no limit */
	uint64_t burst_ns; /* burst after an idle time, as time at the rate */
	uint64_t catch_up_ns; /* burst when the caller is late, at least burst_ns */
	bool dcqcn, np;
	struct hp3_dcqcn_params rp_params;
	struct hp3_np_params np_params;
	uint8_t cnp_tclass;
	uint8_t priority, cnp_priority; /* PFC */
};

struct gen_qp {
	uint32_t index, lqpn, rqpn, rkey, peer_psn;
	uint64_t memory, memory_size; /* of the peer: base address and bytes */
	struct hp3_addressing to;
	bool marks; /* the peer marks its packets (order.h) */
	bool loads; /* the workload uses it */
	bool connected;
	bool failed; /* GEN_FAILED was reported */
	bool cnp_due, turn, idle;
	uint32_t load_at; /* the workload's index */
	uint32_t peer, channel; /* connection that set it up; number among its queue pairs */
	struct gen_requester requester;
	struct gen_responder responder;
	struct gen_order order;
	struct hp3_dcqcn rp;
	struct hp3_pacer pacer;
	struct hp3_np np;
	uint64_t emitted; /* request packets */
	uint64_t cnps_sent, cnps_received, ect, ce; /* ect: data packets that came with ECT or CE */
	uint64_t read_wrong;
	uint64_t due, turn_no; /* place in the heap */
	uint32_t heap_at;
};

enum gen_event_type { GEN_COMPLETED, GEN_ARRIVED, GEN_FAILED };

struct gen_event {
	enum gen_event_type type;
	struct gen_qp *qp;
	struct gen_message message; /* COMPLETED */
	struct gen_arrival arrival; /* ARRIVED: a message with a receive completion */
};

struct gen_endpoint_counters {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t bad_icrc, strays, others; /* strays: RoCE for an unknown queue pair */
	uint64_t pauses, paused_ns;
};

struct gen_endpoint {
	struct gen_endpoint_params p;
	struct gen_qp *qps;
	uint32_t n_qps;
	struct gen_qp **heap;
	struct gen_qp **cnps; /* FIFO ring, max_qps */
	uint32_t cnp_first, cnps_due;
	uint64_t turns;
	bool idle; /* there was nothing to send */
	struct hp3_pacer port;
	uint64_t paused_until[8];
	struct gen_event *events;
	uint32_t n_events, events_room;
	struct gen_histogram rtt; /* ns, of packets with AckReq */
	struct gen_endpoint_counters n;
	uint8_t content[GEN_FRAME_MAX];
};

/* 0 or -ENOMEM. */
int gen_endpoint_init(struct gen_endpoint *ep, const struct gen_endpoint_params *p, uint64_t now);
void gen_endpoint_free(struct gen_endpoint *ep);

/* Adds a queue pair, not connected yet; NULL: there are max_qps. */
struct gen_qp *gen_endpoint_add(struct gen_endpoint *ep, uint32_t first_psn, uint64_t now);
/* The peer's parameters are in *q (rqpn, rkey, memory, to, marks): it may send from now on. */
void gen_endpoint_connect(struct gen_endpoint *ep, struct gen_qp *q, uint32_t peer_psn);
/* QPN of the next queue pair added. */
static inline uint32_t gen_endpoint_next_qpn(const struct gen_endpoint *ep)
{
	return ep->p.first_qpn + ep->n_qps;
}

/* As gen_requester_post(). */
int gen_endpoint_post(struct gen_endpoint *ep, struct gen_qp *q, enum gen_op op, uint32_t len,
	uint64_t va, uint64_t now);

/* A frame arrived. */
void gen_endpoint_rx(struct gen_endpoint *ep, const void *frame, uint32_t len, uint64_t now);
/* The frame that is to leave now: its length, or 0. `buf` has GEN_FRAME_MAX bytes. */
uint32_t gen_endpoint_tx(struct gen_endpoint *ep, void *buf, uint64_t now);
/* When gen_endpoint_tx() may have something again; UINT64_MAX: after the next rx or post. */
uint64_t gen_endpoint_deadline(const struct gen_endpoint *ep, uint64_t now);

/*
 * ep->events: the events since the caller last set ep->n_events to 0. Valid until the next call of
 * any other function here.
 */

#endif
