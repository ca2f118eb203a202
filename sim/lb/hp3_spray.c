/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3-spray: the RNICs that there are, which want packets in order, with hp3 inline at both ends.
 * The sender's puts each packet of a WRITE on one of spray.paths source ports (rfr/spread.h), the
 * receiver's gives them to the RNIC in order (rfr/resequencer.h). Not in hp3d: what is simulated
 * here is what these two would bring to it.
 *
 * random, turn   all ports, whatever they are like
 * learnt         spray.asks of them are asked at set-up, if there is time for it, and those that
 *                answer soon are used; the receiver tells which ones hold the others up, by a
 *                message of its own, and they are left out for a while
 *
 * Congestion control is the RNIC's: it sees the marks of all paths as one. Data of READs, which
 * come as answers, keep to one path.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "base/random.h"
#include "ppp/ports.h"
#include "rfr/resequencer.h"
#include "rfr/spread.h"
#include "sim/host/host.h"
#include "sim/lb/balancers.h"

#define LEAST_NS           50000u /* for a packet that is late it is waited so long at least */
#define GIVE_UP            8u /* times spray.wait_us */
#define REPORT_PS          (10 * SIM_US) /* between two reports of a flow */
#define SPRAY_REPORT_BYTES 64u

struct spray {
	struct sim_pool timers;
	struct hp3_reseq_params params;
	struct hp3_spread_params evs;
};

struct spray_flow {
	uint16_t ports; /* the first of the flow's source ports, by EV */
	uint32_t turn;
	uint64_t timer_at; /* ps, 0: none runs */
	struct hp3_spread tx;
	uint64_t tried; /* hp3_spread_tried() */
	bool asked; /* and nothing has left yet */
	struct hp3_lateness late;
	uint64_t reported_at; /* ps */
	struct hp3_reseq rx;
	struct sim_packet *held[HP3_RESEQ_WINDOW]; /* by PSN */
};

struct late_timer {
	struct sim_event event;
	struct sim_flow *flow;
};

static struct spray_flow *spray_of(struct sim_flow *f)
{
	return (struct spray_flow *)f->lb;
}

static int start_hp3_spray(struct sim *s)
{
	struct spray *sp = sim_alloc(1, sizeof(*sp));

	s->lb_state = sp;
	s->cfg.rnic.recovery = SIM_GO_BACK_N;
	s->cfg.rnic.ports = SIM_PORTS_ROCE;
	sim_pool_init(&sp->timers, sizeof(struct late_timer));
	sp->params = (struct hp3_reseq_params){.window = s->cfg.spray.window,
		.least_ns = LEAST_NS,
		.most_ns = hp3_max_u64(s->cfg.spray.wait_us * 1000ull, LEAST_NS),
		.give_up_ns = GIVE_UP * s->cfg.spray.wait_us * 1000ull};
	sp->evs = (struct hp3_spread_params){.evs = s->cfg.spray.paths,
		.late_ns = s->cfg.spray.late_us * 1000ull,
		.alike = s->cfg.spray.alike,
		.differ = 0,
		.rest_ns = s->cfg.spray.rest_us * 1000ull};
	return 0;
}

static void stop_hp3_spray(struct sim *s)
{
	struct spray *sp = s->lb_state;

	sim_pool_free(&sp->timers);
	free(sp);
}

static void probe_spray_ports(struct sim *s, struct sim_flow *f)
{
	const struct spray *sp = s->lb_state;

	spray_of(f)->asked = true;
	for (uint32_t n = 0; n < s->cfg.spray.asks && n < sp->evs.evs; n++) {
		uint32_t i = n * sp->evs.evs / s->cfg.spray.asks;
		struct sim_packet *p = sim_packet_new(s, SIM_PROBE, SPRAY_REPORT_BYTES, f, 0);

		p->sport = (uint16_t)(spray_of(f)->ports | i);
		hp3_spread_probed(&spray_of(f)->tx, &sp->evs, i, s->now / SIM_NS);
		s->n.probes++;
		s->n.probe_bytes += SPRAY_REPORT_BYTES;
		sim_port_queue_data(s, sim_flow_out(s, p, f->src), p);
	}
}

static void start_spray_flow(struct sim *s, struct sim_flow *f)
{
	spray_of(f)->ports = hp3_random_port(&s->rng) & (uint16_t) ~(HP3_EVS_MAX - 1);
	memset(&spray_of(f)->rx, 0, sizeof(spray_of(f)->rx));
	hp3_reseq_init(&spray_of(f)->rx, 0);
	if (s->cfg.spray.policy == SIM_SPRAY_LEARNT && s->cfg.rnic.setup_us > 0 && !f->read &&
		s->topo.leaf[f->src] != s->topo.leaf[f->dst])
		probe_spray_ports(s, f);
}

static bool spray_data(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct spray_flow *x = spray_of(f);
	const struct spray *sp = s->lb_state;
	uint32_t ev;

	if (f->read)
		return true;
	if (x->asked)
		hp3_spread_choose(&x->tx, &sp->evs, s->now / SIM_NS);
	x->asked = false;
	if (s->cfg.spray.policy == SIM_SPRAY_TURN)
		ev = x->turn++ % sp->evs.evs;
	else
		ev = hp3_spread_ev(&x->tx, &sp->evs, hp3_random(&s->rng) >> 32, s->now / SIM_NS);
	x->tried = hp3_spread_tried(&x->tx, x->tried, ev);
	p->sport = (uint16_t)(x->ports | ev);
	return true;
}

static struct sim_packet *take_held_packet(struct sim *s, struct spray_flow *x, uint32_t psn)
{
	struct sim_packet *p = x->held[psn];

	s->n.held_ps += s->now - p->tag.word[0];
	return p;
}

static void set_late_timer(struct sim *s, struct sim_flow *f);

static void late_timer_fires(struct sim *s, struct sim_event *event)
{
	struct spray *sp = s->lb_state;
	struct late_timer *t = (struct late_timer *)event;
	struct sim_flow *f = t->flow;
	struct spray_flow *x = spray_of(f);
	uint32_t handle;
	bool copy;

	if (x->timer_at == s->now) {
		x->timer_at = 0;
		while (hp3_reseq_late(&x->rx, &sp->params, s->now / SIM_NS, &handle, &copy))
			sim_rnic_data(s, copy ? sim_packet_copy(s, x->held[handle])
					      : take_held_packet(s, x, handle));
		set_late_timer(s, f);
	}
	sim_pool_put(&sp->timers, t);
	sim_flow_unref(s, f);
}

/* Sees to it that hp3_reseq_late() is called in time. */
static void set_late_timer(struct sim *s, struct sim_flow *f)
{
	struct spray *sp = s->lb_state;
	struct spray_flow *x = spray_of(f);
	uint64_t due = hp3_reseq_due(&x->rx, &sp->params);
	struct late_timer *t;

	if (due == UINT64_MAX)
		return;
	due = hp3_max_u64(due * SIM_NS, s->now + 1);
	if (x->timer_at != 0 && x->timer_at <= due)
		return;
	t = sim_pool_get(&sp->timers);
	t->event.fire = late_timer_fires;
	t->flow = f;
	f->in_air++;
	x->timer_at = due;
	sim_at(s, &t->event, due);
}

/* Which EVs are slow is told to the sender, which learns of it a way back later. */
static void judge_lateness(struct sim *s, struct sim_flow *f, const struct sim_packet *p)
{
	struct spray *sp = s->lb_state;
	struct spray_flow *x = spray_of(f);
	struct sim_packet *report;
	uint64_t slow;

	hp3_lateness_seen(&x->late, p->sport & (HP3_EVS_MAX - 1),
		hp3_reseq_lateness(&x->rx, p->psn & HP3_PSN_MASK, s->now / SIM_NS),
		p->flags & SIM_CE, true);
	if (s->cfg.spray.policy != SIM_SPRAY_LEARNT || s->now - x->reported_at < REPORT_PS)
		return;
	x->reported_at = s->now;
	slow = hp3_lateness_slow(&x->late, &sp->evs);
	if (slow == 0)
		return;
	report = sim_packet_new(s, SIM_CTRL, SPRAY_REPORT_BYTES, f, 0);
	report->sport = p->sport;
	report->tag.word[0] = slow;
	s->n.reports++;
	sim_port_queue_control(s, p->to, report);
}

static void echo_spray_probe(struct sim *s, const struct sim_packet *p)
{
	struct sim_packet *back =
		sim_packet_new(s, SIM_PROBE_REPLY, SPRAY_REPORT_BYTES, p->flow, 0);

	back->sent_at = p->sent_at;
	back->sport = p->sport;
	s->n.probe_bytes += SPRAY_REPORT_BYTES;
	sim_port_queue_control(s, p->to, back);
}

static void take_spray_packet(struct sim *s, struct sim_host *host, struct sim_packet *p)
{
	const struct spray *sp = s->lb_state;
	struct spray_flow *x = spray_of(p->flow);
	struct hp3_spread *tx = &x->tx;

	if (p->kind == SIM_PROBE)
		echo_spray_probe(s, p);
	else if (p->kind == SIM_PROBE_REPLY)
		hp3_spread_answered(tx, &sp->evs, p->sport & (HP3_EVS_MAX - 1),
			(uint32_t)((s->now - p->sent_at) / SIM_NS), s->now / SIM_NS);
	else
		hp3_spread_slow(tx, &sp->evs, p->tag.word[0], x->tried, s->now / SIM_NS);
}

/* Data for the RNIC. False: they wait, or were a copy. */
static bool resequence_data(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct spray *sp = s->lb_state;
	struct spray_flow *x = spray_of(f);
	uint32_t at = p->psn & (HP3_RESEQ_WINDOW - 1), handle;

	if (f->read)
		return true;
	judge_lateness(s, f, p);
	switch (hp3_reseq_arrive(
		&x->rx, &sp->params, p->psn & HP3_PSN_MASK, 1, at, s->now / SIM_NS)) {
	case HP3_RESEQ_HOLD:
		p->tag.word[0] = s->now;
		x->held[at] = p;
		s->n.held_packets++;
		set_late_timer(s, f);
		return false;
	case HP3_RESEQ_COPY:
		sim_packet_drop(s, p, SIM_DROP_SUPERSEDED);
		return false;
	case HP3_RESEQ_PASS:
		sim_rnic_data(s, p);
		while (hp3_reseq_next(&x->rx, s->now / SIM_NS, &handle))
			sim_rnic_data(s, take_held_packet(s, x, handle));
		set_late_timer(s, f);
		return false;
	default:
		return true;
	}
}

const struct sim_lb sim_lb_hp3_spray = {.name = "hp3-spray",
	.probes_at_setup = true,
	.flow_bytes = sizeof(struct spray_flow),
	.start = start_hp3_spray,
	.stop = stop_hp3_spray,
	.flow_start = start_spray_flow,
	.data = spray_data,
	.arrived = resequence_data,
	.other = take_spray_packet};
