/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_CONWEAVE_H
#define HP3_SIM_LB_CONWEAVE_H
/*
 * ConWeave (Song et al., SIGCOMM 2023), as in the authors' simulator.
 *
 * Source leaf: a flow is a sequence of epochs. The first packet of an epoch requests a reply of the
 * destination leaf. If none has come after base RTT + reply_us, the next packet is the TAIL of the
 * old path, and later ones (phase 1) take another path: of two paths drawn, the first that was not
 * reported as marked within pause_us. If both were, the flow stays. A reply in time, or to the
 * TAIL, ends the epoch: a flow has one reroute at a time. After expiry_us idle, a flow starts over.
 *
 * Destination leaf: holds phase-1 packets that arrive before the TAIL, until the TAIL arrives or is
 * overdue. Its arrival is estimated from the times at which phase-0 packets left and arrived, plus
 * flush_us. The leaf reports each marked packet's path (NOTIFY). REPLY and NOTIFY are 64-byte
 * packets in the class of ACKs.
 *
 * Parameters of the paper's evaluation, by tiers (leaf-spine / three tiers lossless): flush 16 / 64
 * us, wait without estimate 200 / 600 us, expiry 300 / 1,000 us; reply 4 us, pause 16 us.
 */
#include "sim/lb/paths.h"

enum { CONWEAVE_DATA, CONWEAVE_INIT, CONWEAVE_TAIL, CONWEAVE_NOTIFY };

struct conweave_tx {
	uint64_t active, reply_at, tail_at; /* ps; reply_at UINT64_MAX: none awaited */
	uint32_t epoch;
	uint16_t path;
	uint8_t phase;
	bool stabilized, known;
};

struct conweave_rx {
	uint64_t phase0_tx, phase0_rx, tail_at;
	uint64_t flush_at, timer_at; /* timer_at: earliest one pending; 0: none */
	struct sim_fifo held;
	uint32_t n_held, epoch;
	uint8_t phase;
	bool cached, reordering;
};

struct conweave_flow {
	struct conweave_tx tx;
	struct conweave_rx rx;
};

struct conweave {
	struct sim_paths *paths;
	uint64_t **marked; /* by leaf pair and path: avoided until, ps */
	struct sim_pool timers;
	uint64_t reply, pause, flush, wait, expiry; /* ps */
};

static inline struct conweave_flow *conweave_of(struct sim_flow *f)
{
	return (struct conweave_flow *)f->lb;
}

/* At the source leaf: gives a data packet its path and tag. */
void conweave_depart(
	struct sim *s, struct conweave *c, const struct sim_where *w, struct sim_packet *p);
/* At the source leaf: a REPLY or NOTIFY arrived; the caller ends it. */
void conweave_control(struct sim *s, struct conweave *c, const struct sim_packet *p);
/* At the destination leaf: true if the packet goes on, false if it is held. */
bool conweave_arrive(struct sim *s, struct conweave *c, struct sim_switch *sw,
	const struct sim_where *w, struct sim_packet *p);

#endif
