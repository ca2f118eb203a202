/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_ROUNDS_H
#define HP3_SIM_LB_ROUNDS_H
/*
 * Rounds of a flow, for balancers in hosts: a round ends when the first packet sent after its
 * beginning is acknowledged, so it is about one round-trip time; it counts ACKs and marks. Where
 * marks come back by CNPs, which an interval thins out, a round with one counts as marked
 * throughout.
 */
#include "sim/host/flow.h"

struct sim_round {
	uint32_t until; /* PSN: the ACK beyond it ends the round */
	uint32_t acks, marks;
	bool notified; /* by a CNP */
};

/* True: this ACK ended a round, whose counts stand in *r until sim_round_next(). */
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

/* A new path at random: another source port. The packets in flight stay where they are. */
static inline void sim_repath(struct sim *s, struct sim_flow *f)
{
	f->sport = hp3_random_port(&s->rng);
	s->n.moves++;
}

#endif
