/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * ConWeave (Song et al., SIGCOMM 2023), as in the simulator of its authors.
 *
 * Source leaf: a flow is a sequence of epochs. The first packet of an epoch requests a reply from
 * the destination leaf. If no reply has arrived after base RTT + reply_us, the flow is rerouted.
 * The next packet is then the TAIL, the last packet on the old path. Later packets (phase 1) take
 * another path. To choose this path, the leaf draws two paths, and takes the first one that was not
 * reported as marked within pause_us. If both were reported as marked, the flow keeps its path. A
 * reply in time, or a reply to the TAIL, ends the epoch. So a flow has at most one reroute at a
 * time. When a flow has been idle for expiry_us, the leaf resets its state.
 *
 * Destination leaf: the leaf holds phase-1 packets that arrive before the TAIL, until the TAIL
 * arrives or is overdue. To find when the TAIL is overdue, the leaf estimates the TAIL's arrival,
 * and adds flush_us. The estimate uses the times at which phase-0 packets left and arrived. For
 * each marked packet, the leaf reports the packet's path to the source leaf (NOTIFY). REPLY and
 * NOTIFY are 64-byte packets in the class of ACKs.
 *
 * The parameters are from the paper's evaluation. In a leaf-spine fabric, flush_us is 16, wait_us
 * (used without an estimate) 200, expiry_us 300. In a lossless fabric of three tiers, flush_us is
 * 64, wait_us 600, expiry_us 1,000. In both, reply_us is 4, and pause_us 16.
 */
#include "sim/lb/paths.h"

enum { CONWEAVE_DATA, CONWEAVE_INIT, CONWEAVE_TAIL, CONWEAVE_NOTIFY };

struct conweave_tx {
	uint64_t active, reply_at, tail_at; /* ps; reply_at UINT64_MAX: no reply is expected */
	uint32_t epoch;
	uint16_t path;
	uint8_t phase;
	bool stabilized, known;
};

struct conweave_rx {
	uint64_t phase0_tx, phase0_rx, tail_at;
	uint64_t flush_at, timer_at; /* timer_at: earliest pending timer; 0: none */
	struct sim_fifo held;
	uint32_t epoch;
	uint8_t phase;
	bool cached, reordering;
};

struct conweave_flow {
	struct conweave_tx tx;
	struct conweave_rx rx;
};

struct conweave {
	struct sim_paths *paths;
	uint64_t **marked; /* by leaf pair and path: until when to avoid the path, ps */
	struct sim_pool timers;
	uint64_t reply, pause, flush, wait, expiry; /* ps */
};

static inline struct conweave_flow *conweave_of(struct sim_flow *f)
{
	return (struct conweave_flow *)f->lb;
}

/*
 * Handles a packet at the destination leaf. True: forward the packet; false: the leaf holds the
 * packet.
 */
bool conweave_arrive(struct sim *s, struct conweave *c, struct sim_switch *sw,
	const struct sim_where *w, struct sim_packet *p);
