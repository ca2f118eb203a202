/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3d's room beside the RNICs, and the words between it and the application. */
#include "sim/lb/hp3_beside_words.h"
#include "sim/host/host.h"

struct order {
	struct sim_event ev;
	struct sim_flow *flow; /* has a reference; HP3_WORD_LOOK: NULL */
	uint32_t host;
	uint8_t word; /* enum hp3_beside_word */
	uint16_t port;
};

static void take_order(struct sim *s, struct sim_event *ev);

static void send_at(struct sim *s, struct sim_flow *f, uint32_t host, enum hp3_beside_word word,
	uint16_t port, uint64_t at)
{
	struct hp3_balancer *b = s->lb_state;
	struct order *o = sim_pool_get(&b->orders);

	o->ev.fire = take_order;
	o->flow = f;
	o->host = host;
	o->word = (uint8_t)word;
	o->port = port;
	if (f != NULL)
		f->in_air++;
	sim_at(s, &o->ev, at);
}

void hp3_beside_say(struct sim *s, struct sim_flow *f, enum hp3_beside_word word, uint16_t port)
{
	send_at(s, f, f->src, word, port, s->now + s->cfg.beside.wake_us * SIM_US);
}

/* --- hp3d --- */

static uint32_t engine_flow_of(struct sim *s, struct hp3_engine *e, const struct sim_flow *f)
{
	const struct hp3_beside_flow *x = (const struct hp3_beside_flow *)f->lb;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {
		.local = hp3_sim_address(local, f->src), .remote = hp3_sim_address(remote, f->dst)};

	return s->lb_state == NULL ? HP3_NO_FLOW : hp3_flow_find(e, &ends, x->x.rqpn);
}

static void report_actuator(struct sim *s, struct sim_flow *f, enum hp3_actuator_report what)
{
	struct hp3_balancer *b = s->lb_state;
	struct hp3_engine *e = b->host[f->src].engine;
	struct hp3_acts acts = {0};

	hp3_actuator(e, engine_flow_of(s, e, f), what, s->now / SIM_NS, &acts);
	hp3_sim_carry_out(s, b, f->src, &acts);
	hp3_sim_wake(s, b, f->src);
}

static void observe_flow(struct sim *s, struct hp3_balancer *b, struct sim_flow *f)
{
	struct hp3_beside_flow *x = beside_of(f);
	struct hp3_engine *e = b->host[f->src].engine;
	uint64_t now = s->now / SIM_NS;
	struct hp3_felt felt = {.home = x->home,
		.port = f->sport,
		.posted = x->posted,
		.done = x->done,
		.posted_wrs = x->posted_wrs,
		.done_wrs = x->done_wrs};
	struct hp3_acts acts = {0};

	hp3_least_age(&x->least, now);
	if (x->took_ns != 0) {
		felt.took_ns = x->took_ns;
		felt.least_ns = hp3_least_seen(&x->least, x->took_queued, x->took_ns);
	}
	x->posted = x->done = 0;
	x->posted_wrs = x->done_wrs = 0;
	x->took_ns = 0;
	hp3_felt(e, engine_flow_of(s, e, f), &felt, now, &acts);
	hp3_sim_carry_out(s, b, f->src, &acts);
}

static void observe_flows(struct sim *s, uint32_t host)
{
	struct hp3_balancer *b = s->lb_state;
	bool any = false;

	for (struct sim_flow *f = s->host[host].open; f != NULL; f = f->next) {
		if (!hp3_sim_flow_of(f)->managed)
			continue;
		if (!beside_of(f)->waits && s->now >= f->up_at)
			observe_flow(s, b, f);
		any = true;
	}
	b->host[host].looks = any;
	if (any)
		send_at(s, NULL, host, HP3_WORD_LOOK, 0, s->now + s->cfg.beside.look_us * SIM_US);
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
	hp3_sim_carry_out(s, b, f->src, &acts);
	hp3_sim_wake(s, b, f->src);
	if (hp3_flow_info(e, flow, s->now / SIM_NS, &info) < 0 || info.state == HP3_RFR_STEADY)
		hp3_beside_say(s, f, HP3_WORD_STAY, 0);
	else
		send_at(s, f, f->src, HP3_WORD_STAY, 0, s->now + s->cfg.beside.wait_us * SIM_US);
}

static void bring_flow_up(struct sim *s, struct sim_flow *f)
{
	struct hp3_balancer *b = s->lb_state;

	hp3_sim_flow_start(s, f);
	if (!hp3_sim_flow_of(f)->managed) {
		hp3_beside_say(s, f, HP3_WORD_STAY, 0);
		return;
	}
	if (beside_of(f)->waits || s->now < f->up_at)
		place_flow(s, b, f);
	if (b->host[f->src].looks)
		return;
	b->host[f->src].looks = true;
	send_at(s, NULL, f->src, HP3_WORD_LOOK, 0, s->now + s->cfg.beside.look_us * SIM_US);
}

void hp3_beside_act(struct sim *s, struct sim_flow *f, const struct hp3_act *a)
{
	if (a->kind == HP3_ACT_SUSPEND)
		hp3_beside_say(s, f, HP3_WORD_SUSPEND, 0);
	else if (a->kind == HP3_ACT_MOVE)
		hp3_beside_say(
			s, f, a->op == HP3_MOVE_DEAD ? HP3_WORD_MOVE_NOW : HP3_WORD_MOVE, a->port);
	else if (a->kind == HP3_ACT_RESUME)
		hp3_beside_say(s, f, HP3_WORD_RESUME, 0);
}

void hp3_beside_start(struct sim *s, struct sim_flow *f)
{
	const struct hp3_balancer *b = s->lb_state;
	struct hp3_beside_flow *x = beside_of(f);

	if (f->read || b->host[f->src].absent)
		return;
	x->home = f->sport;
	x->waits = s->cfg.beside.wait_us > 0;
	hp3_least_init(&x->least, s->now / SIM_NS);
	hp3_beside_say(s, f, HP3_WORD_UP, 0);
}

void hp3_beside_end(struct sim *s, struct sim_flow *f)
{
	hp3_sim_flow_end(s, f);
}

/* --- between them --- */

static void obey_order(struct sim *s, struct sim_flow *f, enum hp3_beside_word word, uint16_t port)
{
	switch (word) {
	case HP3_WORD_UP:
		bring_flow_up(s, f);
		break;
	case HP3_WORD_SUSPEND:
		hp3_beside_suspend(s, f, 0);
		break;
	case HP3_WORD_MOVE:
	case HP3_WORD_MOVE_NOW:
		hp3_beside_move(s, f, port, word == HP3_WORD_MOVE_NOW);
		break;
	case HP3_WORD_RESUME:
		hp3_beside_resume(s, f);
		break;
	case HP3_WORD_STAY:
		if (beside_of(f)->waits)
			hp3_beside_resume(s, f);
		break;
	case HP3_WORD_DRAINED:
		report_actuator(s, f, HP3_BESIDE_DRAINED);
		break;
	case HP3_WORD_MOVED:
		report_actuator(s, f, HP3_BESIDE_MOVED);
		break;
	default:
		report_actuator(s, f, HP3_BESIDE_FAILED);
		break;
	}
}

static void take_order(struct sim *s, struct sim_event *ev)
{
	struct hp3_balancer *b = s->lb_state;
	struct order o = *(struct order *)ev;

	sim_pool_put(&b->orders, ev);
	if (o.word == HP3_WORD_LOOK) {
		observe_flows(s, o.host);
		return;
	}
	if (!o.flow->done)
		obey_order(s, o.flow, o.word, o.port);
	sim_flow_unref(s, o.flow);
}
