/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * ConWeave (Song et al., SIGCOMM 2023), as in the authors' simulator.
 *
 * Source leaf: a flow is a sequence of epochs. The first packet of an epoch requests a reply from
 * the destination leaf. If no reply has arrived after base RTT + reply_us, the flow is rerouted.
 * The next packet is then the TAIL, the last packet on the old path; later packets (phase 1) take
 * another path. The leaf draws two paths, and takes the first of them that was not reported as
 * marked within pause_us. If both were, the flow keeps its path. A reply in time, or a reply to the
 * TAIL, ends the epoch. So a flow has at most one reroute at a time. After a flow was idle for
 * expiry_us, its state is reset.
 *
 * Destination leaf: holds phase-1 packets that arrive before the TAIL, until the TAIL arrives or is
 * overdue. The leaf estimates the TAIL's arrival from the times at which phase-0 packets left and
 * arrived, and adds flush_us. For each marked packet, the leaf reports the packet's path to the
 * source leaf (NOTIFY). REPLY and NOTIFY are 64-byte packets in the class of ACKs.
 *
 * Parameters are from the paper's evaluation. Leaf-spine: flush 16 us, wait without estimate 200
 * us, expiry 300 us. Three lossless tiers: 64 us, 600 us, 1,000 us. Both: reply 4 us, pause 16 us.
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
	uint64_t **marked; /* by leaf pair and path: until when the path is avoided, ps */
	struct sim_pool timers;
	uint64_t reply, pause, flush, wait, expiry; /* ps */
};

static inline struct conweave_flow *conweave_of(struct sim_flow *f)
{
	return (struct conweave_flow *)f->lb;
}

/* At the destination leaf. True: forward the packet; false: it is held. */
bool conweave_arrive(struct sim *s, struct conweave *c, struct sim_switch *sw,
	const struct sim_where *w, struct sim_packet *p);
