/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3d's room in verbs mode, and the messages between it and the application. */
#include "sim/lb/hp3_verbs.h"

struct order {
	struct sim_event event;
	struct sim_flow *flow; /* has a reference; HP3_VERBS_MSG_POLL: NULL */
	uint32_t host;
	uint8_t message; /* enum hp3_verbs_message */
	uint16_t port;
};

static void take_order(struct sim *s, struct sim_event *event);

static void send_at(struct sim *s, struct sim_flow *f, uint32_t host,
	enum hp3_verbs_message message, uint16_t port, uint64_t at)
{
	struct hp3_balancer *b = s->lb_state;
	struct order *o = sim_pool_get(&b->orders);

	o->event.fire = take_order;
	o->flow = f;
	o->host = host;
	o->message = (uint8_t)message;
	o->port = port;
	if (f != NULL)
		f->in_air++;
	sim_at(s, &o->event, at);
}

void hp3_verbs_send(
	struct sim *s, struct sim_flow *f, enum hp3_verbs_message message, uint16_t port)
{
	send_at(s, f, f->src, message, port, s->now + s->cfg.verbs.wake_us * SIM_US);
}

/* --- hp3d --- */

static uint32_t engine_flow_of(struct sim *s, struct hp3_engine *e, const struct sim_flow *f)
{
	const struct hp3_verbs_flow *x = (const struct hp3_verbs_flow *)f->lb;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {
		.local = sim_put_address(local, f->src), .remote = sim_put_address(remote, f->dst)};

	return s->lb_state == NULL ? HP3_NO_FLOW : hp3_flow_find(e, &ends, x->x.rqpn);
}

static void report_actuator(struct sim *s, struct sim_flow *f, enum hp3_actuator_report report)
{
	struct hp3_balancer *b = s->lb_state;
	struct hp3_engine *e = b->host[f->src].engine;
	const struct hp3_actuated what = {.report = (uint8_t)report};
	struct hp3_acts acts = {0};

	hp3_actuator(e, engine_flow_of(s, e, f), what, s->now / SIM_NS, &acts);
	hp3_sim_act(s, b, f->src, &acts);
}

static void observe_flow(struct sim *s, struct hp3_balancer *b, struct sim_flow *f)
{
	struct hp3_verbs_flow *x = verbs_of(f);
	struct hp3_engine *e = b->host[f->src].engine;
	uint64_t now = s->now / SIM_NS;
	struct hp3_completions completions = {.home = x->home,
		.port = f->sport,
		.posted = x->posted,
		.done = x->done,
		.posted_wrs = x->posted_wrs,
		.done_wrs = x->done_wrs};
	struct hp3_acts acts = {0};

	hp3_least_age(&x->least, now);
	if (x->took_ns != 0) {
		completions.took_ns = x->took_ns;
		completions.least_ns = hp3_least_seen(&x->least, x->took_queued, x->took_ns);
	}
	x->posted = x->done = 0;
	x->posted_wrs = x->done_wrs = 0;
	x->took_ns = 0;
	hp3_completions(e, engine_flow_of(s, e, f), &completions, now, &acts);
	hp3_sim_carry_out(s, b, f->src, &acts);
}

static void observe_flows(struct sim *s, uint32_t host)
{
	struct hp3_balancer *b = s->lb_state;
	struct sim_flow *f;
	bool any = false;

	TAILQ_FOREACH (f, &s->host[host].open, open) {
		if (!hp3_sim_flow_of(f)->managed)
			continue;
		if (!verbs_of(f)->waits && s->now >= f->up_at)
			observe_flow(s, b, f);
		any = true;
	}
	b->host[host].poll_scheduled = any;
	if (any)
		send_at(s, NULL, host, HP3_VERBS_MSG_POLL, 0,
			s->now + s->cfg.verbs.poll_us * SIM_US);
	hp3_sim_wake(s, b, host);
}

/* A path before the first data. Where there is none to ask, that is said at once. */
static void place_flow(struct sim *s, struct hp3_balancer *b, struct sim_flow *f)
{
	struct hp3_engine *e = b->host[f->src].engine;
	uint32_t flow = engine_flow_of(s, e, f);
	struct hp3_flow_info info;
	struct hp3_acts acts = {0};

	hp3_qp_place(e, flow, s->now / SIM_NS, &acts);
	hp3_sim_act(s, b, f->src, &acts);
	if (hp3_flow_info(e, flow, s->now / SIM_NS, &info) < 0 || info.state == HP3_RFR_STEADY)
		hp3_verbs_send(s, f, HP3_VERBS_MSG_STAY, 0);
	else
		send_at(s, f, f->src, HP3_VERBS_MSG_STAY, 0,
			s->now + s->cfg.verbs.wait_us * SIM_US);
}

static void bring_flow_up(struct sim *s, struct sim_flow *f)
{
	struct hp3_balancer *b = s->lb_state;

	hp3_sim_flow_start(s, f);
	if (!hp3_sim_flow_of(f)->managed) {
		hp3_verbs_send(s, f, HP3_VERBS_MSG_STAY, 0);
		return;
	}
	if (verbs_of(f)->waits || s->now < f->up_at)
		place_flow(s, b, f);
	if (b->host[f->src].poll_scheduled)
		return;
	b->host[f->src].poll_scheduled = true;
	send_at(s, NULL, f->src, HP3_VERBS_MSG_POLL, 0, s->now + s->cfg.verbs.poll_us * SIM_US);
}

void hp3_verbs_act(struct sim *s, struct sim_flow *f, const struct hp3_act *a)
{
	if (a->kind == HP3_ACT_SUSPEND)
		hp3_verbs_send(s, f, HP3_VERBS_MSG_SUSPEND, 0);
	else if (a->kind == HP3_ACT_MOVE)
		hp3_verbs_send(s, f,
			a->op == HP3_MOVE_DEAD ? HP3_VERBS_MSG_MOVE_NOW : HP3_VERBS_MSG_MOVE,
			a->port);
	else if (a->kind == HP3_ACT_RESUME)
		hp3_verbs_send(s, f, HP3_VERBS_MSG_RESUME, 0);
}

void hp3_verbs_start(struct sim *s, struct sim_flow *f)
{
	const struct hp3_balancer *b = s->lb_state;
	struct hp3_verbs_flow *x = verbs_of(f);

	if (f->read || b->host[f->src].absent)
		return;
	x->home = f->sport;
	x->waits = s->cfg.verbs.wait_us > 0;
	hp3_least_init(&x->least, s->now / SIM_NS);
	hp3_verbs_send(s, f, HP3_VERBS_MSG_UP, 0);
}

/* --- between them --- */

static void obey_order(
	struct sim *s, struct sim_flow *f, enum hp3_verbs_message message, uint16_t port)
{
	switch (message) {
	case HP3_VERBS_MSG_UP:
		bring_flow_up(s, f);
		break;
	case HP3_VERBS_MSG_SUSPEND:
		hp3_verbs_suspend(s, f, 0);
		break;
	case HP3_VERBS_MSG_MOVE:
	case HP3_VERBS_MSG_MOVE_NOW:
		hp3_verbs_move(s, f, port, message == HP3_VERBS_MSG_MOVE_NOW);
		break;
	case HP3_VERBS_MSG_RESUME:
		hp3_verbs_resume(s, f);
		break;
	case HP3_VERBS_MSG_STAY:
		if (verbs_of(f)->waits)
			hp3_verbs_resume(s, f);
		break;
	case HP3_VERBS_MSG_DRAINED:
		report_actuator(s, f, HP3_ACTUATOR_DRAINED);
		break;
	case HP3_VERBS_MSG_MOVED:
		report_actuator(s, f, HP3_ACTUATOR_MOVED);
		break;
	default:
		report_actuator(s, f, HP3_ACTUATOR_FAILED);
		break;
	}
}

static void take_order(struct sim *s, struct sim_event *event)
{
	struct hp3_balancer *b = s->lb_state;
	struct order o = *(struct order *)event;

	sim_pool_put(&b->orders, event);
	if (o.message == HP3_VERBS_MSG_POLL) {
		observe_flows(s, o.host);
		return;
	}
	if (!o.flow->done)
		obey_order(s, o.flow, o.message, o.port);
	sim_flow_unref(s, o.flow);
}
