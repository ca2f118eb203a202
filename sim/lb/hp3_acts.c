/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions of the engine: held packets, deadlines; what it says is built elsewhere. */
#include "sim/lb/hp3_verbs.h"
#include "sim/lb/hp3.h"

struct tick {
	struct sim_event event;
	uint32_t host;
};

static struct sim_flow *sim_flow_of(struct sim *s, struct hp3_host *h, uint32_t flow)
{
	struct hp3_flow_info info;
	struct sim_flow *f;

	if (hp3_flow_info(h->engine, flow, s->now / SIM_NS, &info) < 0)
		return NULL;
	f = h->qp[info.lqpn & (HP3_SIM_QPS - 1)];
	if (f == NULL)
		return NULL;
	return hp3_sim_flow_of(f)->lqpn == info.lqpn || hp3_sim_flow_of(f)->rqpn == info.lqpn
		       ? f
		       : NULL;
}

static void release_held(struct sim *s, uint32_t host, struct hp3_host *h, const struct hp3_act *a)
{
	uint32_t i = a->held;

	for (uint32_t n = a->count; n > 0; n--, i = hp3_held_next(h->engine, i)) {
		struct sim_packet *p = h->held[i];

		if (a->kind == HP3_ACT_DISCARD) {
			sim_packet_drop(s, p, SIM_DROP_SUPERSEDED);
			continue;
		}
		s->n.held_ps += s->now - p->tag.word[0];
		p->sport = a->port;
		if (n == 1 && (a->flags & HP3_SET_ACKREQ))
			p->flags |= SIM_ACKREQ;
		sim_port_queue_data(s, sim_flow_out(s, p, host), p);
	}
}

static void hand_nak(struct sim *s, struct sim_flow *f, uint32_t psn)
{
	struct sim_packet nak = {.kind = SIM_NAK, .flow = f, .psn = (psn - 1) & HP3_PSN_MASK};

	if (!f->done && f->read)
		sim_read_again(s, f);
	else if (!f->done)
		sim_requester_reply(s, f, &nak);
}

static void hand_cnp(struct sim *s, struct sim_flow *f)
{
	struct sim_packet cnp = {.kind = SIM_CNP, .flow = f};

	if (!f->done)
		sim_requester_reply(s, f, &cnp);
}

static void count_event(struct sim *s, const struct hp3_event *event)
{
	if ((event->type == HP3_EVENT_SWITCH || event->type == HP3_EVENT_FAILOVER ||
		    event->type == HP3_EVENT_IDLE_SWITCH) &&
		event->cause != HP3_CAUSE_SETUP)
		s->n.moves++;
	else if (event->type == HP3_EVENT_OUTCOME && event->outcome == HP3_PAYOFF_WORSE)
		s->n.moves_wasted++;
	else if (event->type == HP3_EVENT_REPLIES)
		s->n.replies_moved++;
}

/* Of a flow that is there. */
static void for_flow(struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_flow *f,
	const struct hp3_act *a)
{
	switch (a->kind) {
	case HP3_ACT_PROBE:
		hp3_sim_send_probe(s, b, host, f, a);
		break;
	case HP3_ACT_TRACE:
		hp3_sim_send_trace(s, host, f, a);
		break;
	case HP3_ACT_SOLICIT_ACK:
		hp3_sim_solicit_ack(s, host, f, a);
		break;
	case HP3_ACT_REPORT:
		hp3_sim_report(s, host, f, a);
		break;
	case HP3_ACT_NAK:
		hand_nak(s, f, a->psn);
		break;
	case HP3_ACT_CNP_OWED:
		hand_cnp(s, f);
		break;
	case HP3_ACT_EVENT:
		if (b->rates)
			hp3_sim_rates(s, f, &a->event);
		if (a->event.cause == HP3_CAUSE_ADVICE)
			hp3_sim_fleet_outcome(s, f, &a->event);
		break;
	default:
		if (b->cfg.verbs)
			hp3_verbs_act(s, f, a);
		break;
	}
}

void hp3_sim_carry_out(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts)
{
	struct hp3_host *h = &b->host[host];

	for (uint32_t i = 0; i < acts->n; i++) {
		const struct hp3_act *a = &acts->act[i];
		struct sim_flow *f;

		if (a->kind == HP3_ACT_RELEASE || a->kind == HP3_ACT_DISCARD) {
			release_held(s, host, h, a);
			continue;
		}
		if (a->kind == HP3_ACT_DELIVER) {
			hp3_sim_deliver(s, h, a);
			continue;
		}
		if (a->kind == HP3_ACT_SHOW) {
			sim_rnic_data(s, sim_packet_copy(s, h->held[a->held]));
			continue;
		}
		if (a->kind == HP3_ACT_AGREE) {
			hp3_sim_agree(s, b, host, &a->agree);
			continue;
		}
		if (a->kind == HP3_ACT_EVENT)
			count_event(s, &a->event);
		f = sim_flow_of(s, h, a->flow);
		if (f != NULL)
			for_flow(s, b, host, f, a);
	}
}

void hp3_sim_act(struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts)
{
	hp3_sim_carry_out(s, b, host, acts);
	hp3_sim_wake(s, b, host);
}

static void tick_engine(struct sim *s, struct sim_event *event)
{
	struct tick *t = (struct tick *)event;
	struct hp3_balancer *b = s->lb_state;
	uint32_t host = t->host;
	struct hp3_acts acts = {0};

	sim_pool_put(&b->ticks, t);
	if (b->host[host].tick_at != s->now)
		return; /* an earlier one took its place */
	b->host[host].tick_at = 0;
	do {
		acts.n = 0;
		hp3_tick(b->host[host].engine, s->now / SIM_NS, &acts);
		hp3_sim_carry_out(s, b, host, &acts);
	} while (acts.more);
	hp3_sim_wake(s, b, host);
}

void hp3_sim_wake(struct sim *s, struct hp3_balancer *b, uint32_t host)
{
	struct hp3_host *h = &b->host[host];
	uint64_t due = hp3_engine_due(h->engine);
	struct tick *t;

	if (due > UINT64_MAX / SIM_NS)
		return;
	due *= SIM_NS;
	if (due <= s->now)
		due = s->now + SIM_NS;
	if (h->tick_at != 0 && h->tick_at <= due)
		return;
	t = sim_pool_get(&b->ticks);
	t->event.fire = tick_engine;
	t->host = host;
	h->tick_at = due;
	sim_at(s, &t->event, due);
}
