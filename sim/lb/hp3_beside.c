/* SPDX-License-Identifier: BSD-3-Clause */
/* The application with its library, and hp3d's room beside the RNICs. */
#include "sim/lb/hp3_beside.h"
#include "sim/host/host.h"

/* What one side says to the other; it wakes, and hears. */
enum word { UP, SUSPEND, MOVE, MOVE_NOW, RESUME, STAY, DRAINED, MOVED, FAILED, LOOK };

struct order {
	struct sim_event ev;
	struct sim_flow *flow; /* has a reference; LOOK: NULL */
	uint32_t host;
	uint8_t word; /* enum word */
	uint16_t port;
};

static struct hp3_beside_flow *beside_of(struct sim_flow *f)
{
	return (struct hp3_beside_flow *)f->lb;
}

static void hear(struct sim *s, struct sim_event *ev);

static void send_at(struct sim *s, struct sim_flow *f, uint32_t host, enum word word, uint16_t port,
	uint64_t at)
{
	struct hp3_balancer *b = s->lb_state;
	struct order *o = sim_pool_get(&b->orders);

	o->ev.fire = hear;
	o->flow = f;
	o->host = host;
	o->word = (uint8_t)word;
	o->port = port;
	if (f != NULL)
		f->in_air++;
	sim_at(s, &o->ev, at);
}

static void say(struct sim *s, struct sim_flow *f, enum word word, uint16_t port)
{
	send_at(s, f, f->src, word, port, s->now + s->cfg.beside.wake_us * SIM_US);
}

/* --- the application --- */

static uint32_t bytes_of(
	const struct sim *s, const struct sim_message *m, uint32_t from, uint32_t end)
{
	return (end - from - 1) * s->cfg.rnic.payload_bytes + sim_message_payload(s, m, end - 1);
}

static void post(struct sim *s, struct sim_flow *f)
{
	struct hp3_beside_flow *x = beside_of(f);
	uint32_t depth = s->cfg.beside.wr_depth;
	uint32_t packets = s->cfg.beside.wr_bytes / s->cfg.rnic.payload_bytes + 1u;

	while (!x->waits && !x->suspended && x->n < depth && x->edge < f->packets) {
		const struct sim_message *m = sim_flow_message(f, x->edge);
		struct hp3_beside_wr *w = &x->wr[(x->oldest + x->n++) % HP3_BESIDE_DEPTH];

		w->posted = s->now > f->up_at ? s->now : f->up_at;
		w->end = hp3_min_u32(m->end, x->edge + packets);
		w->bytes = bytes_of(s, m, x->edge, w->end);
		x->queued += w->bytes;
		w->queued = x->queued;
		x->posted += w->bytes;
		x->posted_wrs++;
		x->edge = w->end;
	}
	f->limit = x->edge;
}

static void turn(struct sim *s, struct sim_flow *f, uint16_t port)
{
	struct hp3_beside_flow *x = beside_of(f);

	f->sport = port;
	x->waits = x->suspended = false;
	x->to = 0;
	say(s, f, MOVED, 0);
	post(s, f);
	sim_host_schedule(s, f);
}

static void drained(struct sim *s, struct sim_flow *f)
{
	struct hp3_beside_flow *x = beside_of(f);

	if (x->to != 0)
		turn(s, f, x->to);
	else
		say(s, f, DRAINED, 0);
}

static void suspend(struct sim *s, struct sim_flow *f, uint16_t to)
{
	struct hp3_beside_flow *x = beside_of(f);

	if (!x->works && x->n > 0) { /* who posts may be somebody else */
		say(s, f, FAILED, 0);
		return;
	}
	x->suspended = true;
	x->to = to;
	if (x->n == 0)
		drained(s, f);
}

/*
 * `at_once`: off a dead path, where what is outstanding would never complete. One that nobody
 * suspended is for a queue pair that waits for a path; it drains if it waits no more.
 */
static void move(struct sim *s, struct sim_flow *f, uint16_t port, bool at_once)
{
	struct hp3_beside_flow *x = beside_of(f);

	if (at_once || x->n == 0)
		turn(s, f, port);
	else if (!x->suspended)
		suspend(s, f, port);
	else
		x->to = port;
}

static void resume(struct sim *s, struct sim_flow *f)
{
	struct hp3_beside_flow *x = beside_of(f);

	x->waits = x->suspended = false;
	x->to = 0;
	post(s, f);
	sim_host_schedule(s, f);
}

void hp3_beside_posted(struct sim *s, struct sim_flow *f)
{
	if (!f->read)
		post(s, f);
}

void hp3_beside_acked(struct sim *s, struct sim_flow *f, const struct sim_packet *ack)
{
	struct hp3_beside_flow *x = beside_of(f);
	bool any = false;

	for (; x->n > 0 && f->una >= x->wr[x->oldest].end; x->n--) {
		const struct hp3_beside_wr *w = &x->wr[x->oldest];

		x->took_ns = (uint32_t)hp3_min_u64((s->now - w->posted) / SIM_NS, UINT32_MAX);
		x->took_queued = w->queued;
		x->queued -= w->bytes;
		x->done += w->bytes;
		x->done_wrs++;
		x->oldest = (x->oldest + 1) % HP3_BESIDE_DEPTH;
		x->works = any = true;
	}
	if (any && x->suspended && x->n == 0)
		drained(s, f);
	else if (any)
		post(s, f);
}

/* --- hp3d --- */

static uint32_t flow_of(struct sim *s, struct hp3_engine *e, const struct sim_flow *f)
{
	const struct hp3_beside_flow *x = (const struct hp3_beside_flow *)f->lb;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {
		.local = hp3_sim_address(local, f->src), .remote = hp3_sim_address(remote, f->dst)};

	return s->lb_state == NULL ? HP3_NO_FLOW : hp3_flow_find(e, &ends, x->x.rqpn);
}

static void report(struct sim *s, struct sim_flow *f, enum hp3_actuator_report what)
{
	struct hp3_balancer *b = s->lb_state;
	struct hp3_engine *e = b->host[f->src].engine;
	struct hp3_acts acts = {0};

	hp3_actuator(e, flow_of(s, e, f), what, s->now / SIM_NS, &acts);
	hp3_sim_carry_out(s, b, f->src, &acts);
	hp3_sim_wake(s, b, f->src);
}

static void look_at(struct sim *s, struct hp3_balancer *b, struct sim_flow *f)
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
	hp3_felt(e, flow_of(s, e, f), &felt, now, &acts);
	hp3_sim_carry_out(s, b, f->src, &acts);
}

static void look(struct sim *s, uint32_t host)
{
	struct hp3_balancer *b = s->lb_state;
	bool any = false;

	for (struct sim_flow *f = s->host[host].open; f != NULL; f = f->next) {
		if (!hp3_sim_flow_of(f)->managed)
			continue;
		if (!beside_of(f)->waits && s->now >= f->up_at)
			look_at(s, b, f);
		any = true;
	}
	b->host[host].looks = any;
	if (any)
		send_at(s, NULL, host, LOOK, 0, s->now + s->cfg.beside.look_us * SIM_US);
	hp3_sim_wake(s, b, host);
}

/* A path before the first data. Where there is none to ask, that is said at once. */
static void place(struct sim *s, struct hp3_balancer *b, struct sim_flow *f)
{
	struct hp3_engine *e = b->host[f->src].engine;
	uint32_t flow = flow_of(s, e, f);
	struct hp3_flow_info info;
	struct hp3_acts acts = {0};

	hp3_qp_place(e, flow, s->now / SIM_NS, &acts);
	hp3_sim_carry_out(s, b, f->src, &acts);
	hp3_sim_wake(s, b, f->src);
	if (hp3_flow_info(e, flow, s->now / SIM_NS, &info) < 0 || info.state == HP3_RFR_STEADY)
		say(s, f, STAY, 0);
	else
		send_at(s, f, f->src, STAY, 0, s->now + s->cfg.beside.wait_us * SIM_US);
}

static void up(struct sim *s, struct sim_flow *f)
{
	struct hp3_balancer *b = s->lb_state;

	hp3_sim_flow_start(s, f);
	if (!hp3_sim_flow_of(f)->managed) {
		say(s, f, STAY, 0);
		return;
	}
	if (beside_of(f)->waits || s->now < f->up_at)
		place(s, b, f);
	if (b->host[f->src].looks)
		return;
	b->host[f->src].looks = true;
	send_at(s, NULL, f->src, LOOK, 0, s->now + s->cfg.beside.look_us * SIM_US);
}

void hp3_beside_act(struct sim *s, struct sim_flow *f, const struct hp3_act *a)
{
	if (a->kind == HP3_ACT_SUSPEND)
		say(s, f, SUSPEND, 0);
	else if (a->kind == HP3_ACT_MOVE)
		say(s, f, a->op == HP3_MOVE_DEAD ? MOVE_NOW : MOVE, a->port);
	else if (a->kind == HP3_ACT_RESUME)
		say(s, f, RESUME, 0);
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
	say(s, f, UP, 0);
}

void hp3_beside_end(struct sim *s, struct sim_flow *f)
{
	hp3_sim_flow_end(s, f);
}

/* --- between them --- */

static void obey(struct sim *s, struct sim_flow *f, enum word word, uint16_t port)
{
	switch (word) {
	case UP:
		up(s, f);
		break;
	case SUSPEND:
		suspend(s, f, 0);
		break;
	case MOVE:
	case MOVE_NOW:
		move(s, f, port, word == MOVE_NOW);
		break;
	case RESUME:
		resume(s, f);
		break;
	case STAY:
		if (beside_of(f)->waits)
			resume(s, f);
		break;
	case DRAINED:
		report(s, f, HP3_BESIDE_DRAINED);
		break;
	case MOVED:
		report(s, f, HP3_BESIDE_MOVED);
		break;
	default:
		report(s, f, HP3_BESIDE_FAILED);
		break;
	}
}

static void hear(struct sim *s, struct sim_event *ev)
{
	struct hp3_balancer *b = s->lb_state;
	struct order o = *(struct order *)ev;

	sim_pool_put(&b->orders, ev);
	if (o.word == LOOK) {
		look(s, o.host);
		return;
	}
	if (!o.flow->done)
		obey(s, o.flow, o.word, o.port);
	sim_flow_unref(s, o.flow);
}
