/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3-spray: the RNICs that there are, which want packets in order, with hp3 inline at both ends.
 * The sender's puts each packet of a WRITE on one of spray.paths source ports, the receiver's gives
 * them to the RNIC in order (rfr/resequencer.h). Congestion control is the RNIC's: it sees the
 * marks of all paths as one. Not in hp3d: what is simulated here is what its resequencer would
 * bring.
 *
 * Data of READs, which come as answers, keep to one path.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "base/random.h"
#include "ppp/ports.h"
#include "rfr/resequencer.h"
#include "sim/host/host.h"
#include "sim/lb/balancers.h"

#define LEAST_NS 50000u /* for a packet that is late it is waited so long at least */
#define GIVE_UP  8u /* times spray.wait_us */

struct spray {
	struct sim_pool timers;
	struct hp3_reseq_params params;
};

struct spray_flow {
	uint64_t ports; /* seed of the flow's source ports */
	uint32_t turn;
	uint64_t timer_at; /* ps, 0: none runs */
	struct hp3_reseq rx;
	struct sim_packet *held[HP3_RESEQ_WINDOW]; /* by PSN */
};

struct timer {
	struct sim_event ev;
	struct sim_flow *flow;
};

static struct spray_flow *of(struct sim_flow *f)
{
	return (struct spray_flow *)f->lb;
}

static int start(struct sim *s)
{
	struct spray *sp = sim_alloc(1, sizeof(*sp));

	s->lb_state = sp;
	s->cfg.rnic.recovery = SIM_GO_BACK_N;
	sim_pool_init(&sp->timers, sizeof(struct timer));
	sp->params = (struct hp3_reseq_params){.window = s->cfg.spray.window,
		.least_ns = LEAST_NS,
		.most_ns = hp3_max_u64(s->cfg.spray.wait_us * 1000ull, LEAST_NS),
		.give_up_ns = GIVE_UP * s->cfg.spray.wait_us * 1000ull};
	return 0;
}

static void stop(struct sim *s)
{
	struct spray *sp = s->lb_state;

	sim_pool_free(&sp->timers);
	free(sp);
}

static void flow_start(struct sim *s, struct sim_flow *f)
{
	of(f)->ports = hp3_random(&s->rng);
	hp3_reseq_init(&of(f)->rx, 0);
}

static bool data(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct spray_flow *x = of(f);
	uint32_t n = s->cfg.spray.paths;
	uint64_t port;

	if (f->read)
		return true;
	port = x->ports +
	       (s->cfg.spray.policy == SIM_SPRAY_TURN ? x->turn++ % n : sim_rand_below(s, n));
	p->sport = hp3_random_port(&port);
	return true;
}

static struct sim_packet *take(struct sim *s, struct spray_flow *x, uint32_t psn)
{
	struct sim_packet *p = x->held[psn];

	s->n.held_ps += s->now - p->tag.word[0];
	return p;
}

static void wake(struct sim *s, struct sim_flow *f);

static void fires(struct sim *s, struct sim_event *ev)
{
	struct spray *sp = s->lb_state;
	struct timer *t = (struct timer *)ev;
	struct sim_flow *f = t->flow;
	struct spray_flow *x = of(f);
	uint32_t handle;

	if (x->timer_at == s->now) {
		x->timer_at = 0;
		while (hp3_reseq_late(&x->rx, &sp->params, s->now / SIM_NS, &handle))
			sim_rnic_data(s, take(s, x, handle));
		wake(s, f);
	}
	sim_pool_put(&sp->timers, t);
	sim_flow_unref(s, f);
}

/* Sees to it that hp3_reseq_late() is called in time. */
static void wake(struct sim *s, struct sim_flow *f)
{
	struct spray *sp = s->lb_state;
	struct spray_flow *x = of(f);
	uint64_t due = hp3_reseq_due(&x->rx, &sp->params);
	struct timer *t;

	if (due == UINT64_MAX)
		return;
	due = hp3_max_u64(due * SIM_NS, s->now + 1);
	if (x->timer_at != 0 && x->timer_at <= due)
		return;
	t = sim_pool_get(&sp->timers);
	t->ev.fire = fires;
	t->flow = f;
	f->in_air++;
	x->timer_at = due;
	sim_at(s, &t->ev, due);
}

/* Data for the RNIC. False: they wait, or were a copy. */
static bool arrived(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct spray *sp = s->lb_state;
	struct spray_flow *x = of(f);
	uint32_t at = p->psn & (HP3_RESEQ_WINDOW - 1), handle;

	switch (hp3_reseq_arrive(
		&x->rx, &sp->params, p->psn & HP3_PSN_MASK, 1, at, s->now / SIM_NS)) {
	case HP3_RESEQ_HOLD:
		p->tag.word[0] = s->now;
		x->held[at] = p;
		s->n.held_packets++;
		wake(s, f);
		return false;
	case HP3_RESEQ_COPY:
		sim_packet_drop(s, p, SIM_DROP_SUPERSEDED);
		return false;
	case HP3_RESEQ_PASS:
		sim_rnic_data(s, p);
		while (hp3_reseq_next(&x->rx, s->now / SIM_NS, &handle))
			sim_rnic_data(s, take(s, x, handle));
		wake(s, f);
		return false;
	default:
		return true;
	}
}

const struct sim_lb sim_lb_hp3_spray = {.name = "hp3-spray",
	.flow_bytes = sizeof(struct spray_flow),
	.start = start,
	.stop = stop,
	.flow_start = flow_start,
	.data = data,
	.arrived = arrived};
