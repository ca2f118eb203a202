/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * An RNIC in user space: many queue pairs on one port. Callers pass frames and the time, and get
 * frames and events. The endpoint does no I/O and reads no clock, so tests can run it over any
 * network.
 *
 * - Schedule: a heap has the queue pairs, ordered by the time at which each may send. Of the queue
 *   pairs that may send now, the one that has waited longest sends one packet. Then the endpoint
 *   chooses again.
 * - Pacing: each queue pair has a token bucket at DCQCN's rate (cc/), and the port has one at the
 *   link's rate. A frame counts without preamble and FCS. ACKs wait only for the port's token
 *   bucket. If the caller is late, a queue pair whose packet had to wait sends faster until it has
 *   caught up. So a slow scheduler does not lower the rate. An idle queue pair does not catch up.
 * - Congestion: for a request or READ response marked CE, the endpoint sends a CNP (notification
 *   point). A CNP that arrives reduces the rate of its queue pair (reaction point).
 * - PFC (802.1Qbb): a pause frame stops a priority for a number of quanta of 512 bit times at the
 *   link's rate. Requests and answers have one priority, CNPs another.
 *
 * Queue pair numbers are consecutive from first_qpn on.
 */
#include "cc/dcqcn.h"
#include "cc/np.h"
#include "cc/pacer.h"
#include "histogram.h"
#include "order.h"
#include "requester.h"
#include "responder.h"
#include "roce/build.h"

#define GEN_FRAME_MAX 4352u /* path MTU 4096 and all headers */
#define GEN_QPS_MAX   65536u

struct gen_endpoint_params {
	struct gen_requester_params requester;
	struct gen_responder_params responder;
	uint32_t first_qpn;
	uint32_t max_qps;
	/* rate of the port; 0: no limit, and PFC quanta are those of 1 Gb/s */
	uint64_t link_bps;
	uint64_t qp_bps; /* rate of a queue pair without DCQCN; 0: no limit */
	/* largest burst after an idle time: the bytes that leave in this time at the rate */
	uint64_t burst_ns;
	uint64_t catch_up_ns; /* largest burst if the caller was late; at least burst_ns */
	bool dcqcn, np;
	struct hp3_dcqcn_params rp_params;
	struct hp3_np_params np_params;
	uint8_t cnp_tclass;
	uint8_t priority, cnp_priority; /* priorities for PFC */
};

struct gen_qp {
	uint32_t index, lqpn, rqpn, rkey, peer_psn;
	uint64_t memory, memory_size; /* the peer's memory: base address, size in bytes */
	struct hp3_addressing to;
	bool marks; /* the peer marks its packets (order.h) */
	bool loads; /* the workload uses this queue pair */
	bool connected;
	bool failed; /* GEN_FAILED was reported */
	bool cnp_due, turn, idle;
	uint32_t load_at; /* index in the workload */
	uint32_t peer, channel; /* index of the peer; number among its queue pairs */
	struct gen_requester requester;
	struct gen_responder responder;
	struct gen_order order;
	struct hp3_dcqcn rp;
	struct hp3_pacer pacer;
	struct hp3_np np;
	uint64_t emitted; /* request packets */
	uint64_t cnps_sent, cnps_received, ect, ce; /* ect: data packets received with ECT or CE */
	uint64_t read_wrong;
	uint64_t due, turn_no; /* first in the heap: lowest `due`, then lowest `turn_no` */
	uint32_t heap_at; /* index in the heap */
};

enum gen_event_type { GEN_COMPLETED, GEN_ARRIVED, GEN_FAILED };

struct gen_event {
	enum gen_event_type type;
	struct gen_qp *qp;
	struct gen_message message; /* COMPLETED */
	struct gen_arrival arrival; /* ARRIVED: the last packet of a SEND or WRITE */
};

struct gen_endpoint_counters {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t bad_icrc, strays, others; /* strays: no such queue pair, or not from its peer */
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
	bool idle; /* at the last call, there was nothing to send */
	struct hp3_pacer port;
	uint64_t paused_until[8];
	struct gen_event *events;
	uint32_t n_events, events_room;
	struct gen_histogram rtt; /* round-trip times of packets with AckReq, ns */
	struct gen_endpoint_counters n;
	uint8_t content[GEN_FRAME_MAX];
};

/* 0 or -ENOMEM. */
int gen_endpoint_init(struct gen_endpoint *ep, const struct gen_endpoint_params *p, uint64_t now);
void gen_endpoint_free(struct gen_endpoint *ep);

/* Adds a queue pair that is not connected yet. NULL: there are max_qps already. */
struct gen_qp *gen_endpoint_add(struct gen_endpoint *ep, uint32_t first_psn, uint64_t now);
/*
 * Connects the queue pair, which may then send. The caller has set the peer's parameters in *q
 * (rqpn, rkey, memory, to, marks).
 */
void gen_endpoint_connect(struct gen_endpoint *ep, struct gen_qp *q, uint32_t peer_psn);
/* QPN that the next added queue pair will have. */
static inline uint32_t gen_endpoint_next_qpn(const struct gen_endpoint *ep)
{
	return ep->p.first_qpn + ep->n_qps;
}

/* Posts a message, as gen_requester_post(). */
int gen_endpoint_post(struct gen_endpoint *ep, struct gen_qp *q, enum gen_op op, uint32_t len,
	uint64_t va, uint64_t now);

/* Handles a frame that arrived. */
void gen_endpoint_rx(struct gen_endpoint *ep, const void *frame, uint32_t len, uint64_t now);
/*
 * Writes the frame to send now to `buf` (GEN_FRAME_MAX bytes). Returns the frame's length; 0: there
 * is none.
 */
uint32_t gen_endpoint_tx(struct gen_endpoint *ep, void *buf, uint64_t now);
/* When to call gen_endpoint_tx() again; UINT64_MAX: after the next gen_endpoint_rx() or _post(). */
uint64_t gen_endpoint_deadline(const struct gen_endpoint *ep, uint64_t now);

/*
 * ep->events has the events since the caller last set ep->n_events to 0. A call of one of the
 * functions above may move this array.
 */

/* Functions that the source files of the endpoint share. */

/* The state of the queue pair has changed: updates its position in the heap. */
void gen_endpoint_touch(struct gen_endpoint *ep, struct gen_qp *q, uint64_t now);
void gen_endpoint_event(struct gen_endpoint *ep, const struct gen_event *event);
/* Adds the event GEN_FAILED if the queue pair has ended, but only once. */
void gen_endpoint_check_failed(struct gen_endpoint *ep, struct gen_qp *q);
