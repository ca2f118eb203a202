/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host balancers that draw a new path at random when the one in use is marked.
 *
 * flowbender (Kabbani et al., CoNEXT 2014): when more than T = 5 % of the ACKs of a round are
 * marked, N = 1 round in a row; and on a time-out.
 *
 * plb (Qureshi et al., SIGCOMM 2022; parameters of Linux's tcp_plb.c): a round is congested when at
 * least half of its ACKs are marked; after 3 in a row a flow moves if nothing is in flight, after
 * 12 in any case; a time-out moves it at once (PRR) and then stops PLB for 60 to 120 s, which is to
 * say for the rest of the flow.
 */
#include "sim/lb/lb.h"
#include "sim/lb/rounds.h"

#define FLOWBENDER_T_PERCENT 5u
#define PLB_IDLE_ROUNDS      3u
#define PLB_ROUNDS           12u

struct bender {
	struct sim_round round;
};

static void bender_acked(struct sim *s, struct sim_flow *f, const struct sim_packet *ack)
{
	struct bender *b = (struct bender *)f->lb;

	if (!sim_round_ack(&b->round, f, ack))
		return;
	if (b->round.marks * 100 > b->round.acks * FLOWBENDER_T_PERCENT && f->una < f->packets)
		sim_repath(s, f);
	sim_round_next(&b->round, f);
}

const struct sim_lb sim_lb_flowbender = {
	.name = "flowbender",
	.about = "a new source port when many ACKs are marked; in hosts (CoNEXT 2014)",
	.flow_bytes = sizeof(struct bender),
	.acked = bender_acked,
	.timeout = sim_repath,
};

struct plb {
	struct sim_round round;
	uint32_t congested; /* rounds in a row */
	bool paused;
};

static void plb_acked(struct sim *s, struct sim_flow *f, const struct sim_packet *ack)
{
	struct plb *p = (struct plb *)f->lb;
	bool idle = f->una == f->top;

	if (!sim_round_ack(&p->round, f, ack))
		return;
	p->congested = p->round.marks * 2 >= p->round.acks ? p->congested + 1 : 0;
	sim_round_next(&p->round, f);
	if (p->paused || f->una == f->packets)
		return;
	if (p->congested >= PLB_ROUNDS || (idle && p->congested >= PLB_IDLE_ROUNDS)) {
		sim_repath(s, f);
		p->congested = 0;
	}
}

static void plb_timeout(struct sim *s, struct sim_flow *f)
{
	struct plb *p = (struct plb *)f->lb;

	sim_repath(s, f);
	p->paused = true;
	p->congested = 0;
}

const struct sim_lb sim_lb_plb = {
	.name = "plb",
	.about = "a new source port after congested rounds; in hosts (SIGCOMM 2022)",
	.flow_bytes = sizeof(struct plb),
	.acked = plb_acked,
	.timeout = plb_timeout,
};
