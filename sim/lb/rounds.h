/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Measurement rounds of a flow, for balancers in hosts (the glossary's rounds, of probes, differ).
 * A round ends when the first packet that was sent in the round is acknowledged, after about one
 * round-trip time. ACKs, and marks in ACKs, are counted per round. If a CNP arrived in a round, all
 * ACKs of the round count as marked, because a receiver sends at most one CNP per interval.
 */
#include "sim/host/flow.h"

struct sim_round {
	uint32_t until; /* PSN: the first ACK above it ends the round */
	uint32_t acks, marks;
	bool notified; /* a CNP arrived in this round */
};

/* True: this ACK ended the round. The counts of the round stay in *r until sim_round_next(). */
static inline bool sim_round_ack(
	struct sim_round *r, const struct sim_flow *f, const struct sim_packet *ack)
{
	if (ack->kind == SIM_CNP) {
		r->notified = true;
		return false;
	}
	r->acks++;
	r->marks += (ack->flags & SIM_ECHO) != 0;
	if (r->notified)
		r->marks = r->acks;
	return f->una > r->until;
}

static inline void sim_round_next(struct sim_round *r, const struct sim_flow *f)
{
	*r = (struct sim_round){.until = f->nxt};
}

/* Changes to a random new path: sets another source port for packets that leave from now on. */
static inline void sim_repath(struct sim *s, struct sim_flow *f)
{
	f->sport = hp3_random_port(&s->rng);
	s->n.moves++;
}
