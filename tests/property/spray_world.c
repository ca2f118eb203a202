/* SPDX-License-Identifier: BSD-3-Clause */
#include "spray_world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "epochs.h"
#include "spray_inside.h"
#include "engine/pass/burst.h"

#define BURST    32u /* packets that hp3d reads at a time */
#define BURST_NS 4000u
#define WITHIN   (4 * MS) /* of the wrap of a clock */
#define HOLD_NS  (11 * MS + MS / 2) /* 11 ms (rfr/resequencer.h), and how late timers are */
#define START_NS (100 * US) /* what an hp3d takes to start, at least, by its own clock */
#define SPARE_NS (2 * MS) /* what was waited for is waited for anew */
#define PORT_NS  (3 * MS) /* a port takes nothing for so long at most */
#define PULSE_NS (MS / 4) /* how exactly hp3d knows since when, and until when */

void spray_at(struct world *w, uint64_t t, struct event e)
{
	e.t = t;
	heap_put(&w->heap, &e.when, sizeof(e));
}

static void rnic_gets(struct world *w, unsigned at, const struct packet *k)
{
	if (k->is_nak_asked) {
		spray_judge_nak(w, k);
		return;
	}
	spray_judge_order(w, at, k);
	if (at == A)
		spray_requester(w, k);
	else
		spray_responder(w, k);
	spray_note_repeated(w, at, k);
}

/* Between an RNIC and its engine: a FIFO; `newest`: when the newest packet arrives. */
static void crosses(struct world *w, unsigned at, enum event_kind kind, uint64_t *newest,
	const struct packet *k)
{
	uint64_t t = w->now + hp3_random_below(&w->rng, w->p.rnic_us * 1000);

	if (t <= *newest)
		t = *newest + 1;
	*newest = t;
	spray_at(w, t, (struct event){.kind = (uint8_t)kind, .host = (uint8_t)at, .packet = *k});
}

static void into_rnic(struct world *w, unsigned at, const struct packet *k)
{
	if (spray_rnic_drops(w, k))
		return;
	if (draw(w, w->p.bad_ppm))
		w->r.bad++;
	else if (w->p.rnic_us != 0)
		crosses(w, at, EVENT_INTO, &w->host[at].into, k);
	else
		rnic_gets(w, at, k);
}

/* It was resequenced, and has not waited for longer than is promised. */
static void judge_hold(struct world *w, const struct host *h, uint32_t i)
{
	const struct packet *k = &h->held[i];
	const struct held_since *since = &h->held_since[i];
	uint64_t until = since->at + HOLD_NS + h->spared - since->spared +
			 (h->stops != since->stops ? SPARE_NS : 0);

	CHECK(w, w->now <= until, "queue pair %u: PSN %u was held for %llu us more than it may be",
		k->qp, k->psn, (unsigned long long)(w->now - until) / US);
}

/* A copy passes nothing that the engine hands over in the same call, but ACKs. */
static void judge_shown(struct world *w, const struct host *h, const struct packet *k)
{
	const struct packet *s = &h->shown;

	if (s->payload == 0 || s->qp != k->qp || s->life != k->life || k->opcode == HP3_OP_RC_ACK)
		return;
	CHECK(w, s->damaged || k->damaged || s->psn <= k->psn,
		"queue pair %u: PSN %u is handed over behind a copy of %u", k->qp, k->psn, s->psn);
}

/* Packets that the engine gives back: to the network (RELEASE), to the RNIC (DELIVER), to nobody.
 */
static void give_back(struct world *w, unsigned at, const struct hp3_act *a)
{
	struct host *h = &w->host[at];
	uint32_t i = a->held;

	for (uint32_t n = a->count; n > 0; n--, i = hp3_held_next(h->e, i)) {
		CHECK(w, h->is_held[i], "packet %u is given away twice", i);
		h->is_held[i] = false;
		h->nheld--;
		if (a->kind == HP3_ACT_DELIVER) {
			judge_hold(w, h, i);
			judge_shown(w, h, &h->held[i]);
			into_rnic(w, at, &h->held[i]);
		} else if (a->kind == HP3_ACT_DISCARD) {
			h->replaced = h->held[i];
			h->replaced_since = h->held_since[i];
		} else if (a->kind == HP3_ACT_RELEASE) {
			h->held[i].ackreq |= n == 1 && (a->flags & HP3_SET_ACKREQ) != 0;
			spray_into_network(w, h->held[i], a->port);
		}
	}
}

/*
 * An RNIC that is no time away replies to a DELIVER before the rest of the list is carried out, and
 * the engine may give the packet away for that reply. No caller of the engine does so otherwise.
 */
static void show(struct world *w, unsigned at, uint32_t number)
{
	struct packet copy = w->host[at].held[number];
	bool is_held = w->host[at].is_held[number];

	CHECK(w, is_held || w->p.rnic_us == 0, "packet %u is shown, and not held", number);
	if (!is_held)
		return;
	copy.copy = true;
	w->host[at].shown = copy;
	into_rnic(w, at, &copy);
}

void spray_wake(struct world *w, unsigned at)
{
	struct host *h = &w->host[at];
	uint64_t due = hp3_engine_due(h->e);

	due = due <= spray_clock(w, at) ? w->now + 1 : due - h->clock;
	if (h->tick_at > w->now && h->tick_at <= due)
		return;
	h->tick_at = due;
	spray_at(w, due, (struct event){.kind = EVENT_TICK, .host = (uint8_t)at});
}

static void carry_out(struct world *w, unsigned at, const struct hp3_act *a)
{
	if (a->kind == HP3_ACT_RELEASE || a->kind == HP3_ACT_DISCARD || a->kind == HP3_ACT_DELIVER)
		give_back(w, at, a);
	else if (a->kind == HP3_ACT_AGREE)
		spray_send_msg(w, at, &a->agree);
	else if (a->kind == HP3_ACT_SHOW)
		show(w, at, a->held);
	else if (a->kind == HP3_ACT_EVENT)
		w->r.moves += a->event.type == HP3_EVENT_SWITCH;
	else if (w->hooks != NULL)
		w->hooks->on_act(w, at, a);
	else if (a->kind == HP3_ACT_PROBE && w->p.automatic)
		spray_probe(w, at, a);
}

void spray_carry_out(struct world *w, unsigned at, const struct hp3_acts *acts)
{
	w->host[at].shown.payload = 0;
	for (uint32_t i = 0; i < acts->n; i++)
		carry_out(w, at, &acts->act[i]);
	spray_wake(w, at);
}

/* Actions that come before the packet in hand, or behind it. */
static void before(struct world *w, unsigned at, const struct hp3_acts *acts)
{
	w->host[at].shown.payload = 0;
	for (uint32_t i = 0; i < acts->n; i++)
		if (!hp3_act_follows(&acts->act[i]))
			carry_out(w, at, &acts->act[i]);
	spray_wake(w, at);
}

static void behind(struct world *w, unsigned at, const struct hp3_acts *acts)
{
	for (uint32_t i = 0; i < acts->n; i++)
		if (hp3_act_follows(&acts->act[i]))
			carry_out(w, at, &acts->act[i]);
}

/* Another copy of the packet was given up for this one: both together are held for that long. */
static bool takes_its_place(const struct host *h, const struct packet *k)
{
	return h->replaced.payload != 0 && h->replaced.qp == k->qp && h->replaced.wire == k->wire;
}

static void keep(struct world *w, unsigned at, uint32_t number, const struct packet *k)
{
	struct host *h = &w->host[at];

	CHECK(w, number <= HELD && !h->is_held[number], "number %u is taken", number);
	h->is_held[number] = true;
	h->held[number] = *k;
	h->held_since[number] = (struct held_since){w->now, h->spared, h->stops};
	if (takes_its_place(h, k))
		h->held_since[number] = h->replaced_since;
	h->replaced.payload = 0;
	h->nheld++;
}

/* A packet of host `from` passes the engine at `at`: the verdict; the rest is done. */
static struct hp3_verdict passes(
	struct world *w, unsigned at, unsigned from, const struct packet *k, struct hp3_acts *acts)
{
	struct hp3_engine *e = w->host[at].e;
	uint64_t now = spray_clock(w, at);
	enum hp3_dir dir = at == from ? HP3_DIR_TX : HP3_DIR_RX;
	struct hp3_verdict vd;
	uint8_t frame[FRAME];
	struct hp3_pkt pkt = spray_view(w, frame, k, from);

	acts->n = 0;
	if (w->host[at].direct)
		return (struct hp3_verdict){.kind = HP3_PASS, .sport = k->sport};
	pkt.trusted = w->p.damaged_ppm == 0;
	if (at == A)
		spray_ask_nak(w, k->qp);
	hp3_find_burst(e, &pkt, 1, dir);
	if (dir == HP3_DIR_TX)
		hp3_tx(e, &pkt, now, &vd, acts);
	else if (at == A && w->p.damaged_ppm != 0 && hp3_random_below(&w->rng, 2) == 0)
		hp3_rx_of_many(e, &pkt, now, &vd, acts); /* plain progress is taken unseen */
	else
		hp3_rx(e, &pkt, now, &vd, acts);
	before(w, at, acts);
	if (vd.kind == HP3_HOLD)
		keep(w, at, vd.held, k);
	if (vd.kind == HP3_HOLD && at == A && from == B)
		spray_judge_wait(w, k);
	if (at == A)
		spray_note_seen(w, k, vd.flow, dir);
	return vd;
}

static void reply_leaves(struct world *w, struct packet k)
{
	struct hp3_acts acts;

	struct hp3_verdict vd = passes(w, B, B, &k, &acts);

	CHECK(w, vd.kind == HP3_PASS, "a reply is kept");
	spray_back(w, k, vd.sport); /* before what the RNIC answers to packets that follow */
	behind(w, B, &acts);
}

static void request_leaves(struct world *w, struct packet k)
{
	struct hp3_acts acts;
	struct hp3_verdict vd = passes(w, A, A, &k, &acts);

	CHECK(w, vd.kind != HP3_DROP, "a request vanishes at its sender");
	behind(w, A, &acts);
	spray_ask_nak(w, k.qp);
	k.ackreq |= (vd.flags & HP3_SET_ACKREQ) != 0;
	if (vd.kind == HP3_PASS)
		spray_into_network(w, k, vd.sport);
}

void spray_reply(struct world *w, struct packet k)
{
	k.emitted = ++w->emitted;
	if (w->p.rnic_us != 0)
		crosses(w, B, EVENT_OUT, &w->host[B].out, &k);
	else
		reply_leaves(w, k);
}

void spray_request(struct world *w, struct packet k)
{
	k.emitted = ++w->emitted;
	if (w->p.rnic_us != 0)
		crosses(w, A, EVENT_OUT, &w->host[A].out, &k);
	else
		request_leaves(w, k);
}

/* A packet of the other host. */
static void arrives(struct world *w, unsigned at, struct packet k)
{
	const struct hp3_stats *stats = hp3_engine_stats(w->host[at].e);
	uint64_t beyond = stats->reseq_beyond, full = stats->reseq_full + stats->reseq_share;
	struct hp3_acts acts;

	if (passes(w, at, !at, &k, &acts).kind == HP3_PASS) {
		k.beyond = stats->reseq_beyond != beyond;
		if (stats->reseq_full + stats->reseq_share != full)
			spray_judge_room(w, at, &k);
		into_rnic(w, at, &k);
	}
	behind(w, at, &acts);
	if (at == A)
		spray_ask_nak(w, k.qp);
}

void spray_received(struct world *w, unsigned at, const struct hp3_act_agree *message)
{
	struct hp3_ends ends = {.local = message->remote, .remote = message->local};
	struct hp3_acts acts = {0};

	if (w->host[at].direct)
		return;
	hp3_agree_received(w->host[at].e, &ends, &message->what, spray_clock(w, at), &acts);
	spray_carry_out(w, at, &acts);
}

/* As hp3d's loop does (app/hp3d/lcores/loop.c). */
static void look_at_port(struct world *w, struct host *h)
{
	bool blocked = h->port_until > h->ticked;

	hp3_rx_blocked(h->e, blocked, (blocked ? h->ticked : w->now) + h->clock);
	h->ticked = w->now;
}

static void probed(struct world *w, unsigned at, uint32_t id)
{
	struct hp3_acts acts = {0};

	if (w->host[at].direct)
		return;
	hp3_probe_reply(w->host[at].e, id, false, spray_clock(w, at), &acts);
	spray_carry_out(w, at, &acts);
}

void spray_tick(struct world *w, unsigned at)
{
	struct hp3_acts acts;

	if (w->host[at].tick_at != w->now)
		return;
	w->host[at].tick_at = 0;
	if (w->host[at].direct)
		return;
	if (w->p.ports_us != 0)
		look_at_port(w, &w->host[at]);
	do {
		acts.n = 0;
		hp3_tick(w->host[at].e, spray_clock(w, at), &acts);
		spray_carry_out(w, at, &acts);
	} while (acts.more);
	for (uint32_t i = 0; at == A && i < w->p.qps; i++)
		spray_ask_nak(w, i);
	spray_wake(w, at);
}

/* What the engine of a host has counted, before it goes. */
static void sum_up(struct world *w, unsigned at)
{
	const struct hp3_stats *c = hp3_engine_stats(w->host[at].e);

	w->r.sprayed += c->sprayed;
	w->r.sprayed_reads += c->sprayed_reads;
	w->r.agreed += c->sprays;
	w->r.broken += c->sprays_broken;
	w->r.stopped += c->sprays_full;
	w->r.differ += c->sprays_differ;
	w->r.presumed_no_more += c->presumption_ended;
	w->r.compared += c->evs_compared;
	w->r.reported_marked += c->evs_marked;
	w->r.held += c->reseq_held;
	w->r.late += c->reseq_late;
	w->r.asked += c->reseq_asked;
	w->r.known_lost += c->reseq_lost;
	w->r.sprayed_lost += c->sprayed_lost;
	w->r.given_up += c->reseq_given_up;
	w->r.anew += c->reseq_wait_restarts;
	w->r.beyond += c->reseq_beyond;
	w->r.full += c->reseq_full + c->reseq_share;
}

void spray_restart(struct world *w, unsigned at)
{
	struct host *h = &w->host[at];

	sum_up(w, at);
	memset(h->is_held, 0, sizeof(h->is_held));
	w->r.lost += h->nheld;
	h->nheld = 0;
	h->tick_at = 0;
	h->clock += START_NS;
	spray_host(w, at);
	if (at == A)
		spray_announce(w);
	w->r.restarts++;
	spray_wake(w, at);
}

void spray_every(struct world *w, uint32_t us, enum event_kind kind, unsigned host)
{
	if (us != 0)
		spray_at(w, w->now + us * US / 2 + hp3_random_below(&w->rng, us) * US,
			(struct event){.kind = (uint8_t)kind, .host = (uint8_t)host, .qp = us});
}

static void move(struct world *w)
{
	struct hp3_acts acts = {0};
	struct hp3_cmd cmd = {.kind = HP3_CMD_MOVE,
		.cause = HP3_CAUSE_OPERATOR,
		.flow = hp3_flow_next(w->host[A].e, hp3_random_below(&w->rng, w->p.qps))};

	if (cmd.flow != HP3_NO_FLOW)
		hp3_command(w->host[A].e, &cmd, spray_clock(w, A), &acts);
	spray_carry_out(w, A, &acts);
	spray_every(w, w->p.move_us, EVENT_MOVE, A);
}

/* A host stands still: what comes to it waits. */
static void stand(struct world *w, unsigned at, uint32_t us)
{
	spray_every(w, us, EVENT_STANDS, at);
	if (w->now <= hp3_max_u64(w->host[at].tail, w->host[at].until))
		return; /* it stands already, or has not read all yet */
	w->host[at].until = w->now + MS + hp3_random_below(&w->rng, 2 * w->p.stands_ms) * MS / 2;
	w->host[at].spared += w->host[at].until - w->now;
	w->host[at].stops++;
	w->r.stood++;
}

/* Nothing is read from the network meanwhile; all else goes on. */
static void stop_port(struct world *w, unsigned at)
{
	struct host *h = &w->host[at];

	spray_every(w, w->p.ports_us, EVENT_PORT, at);
	if (w->now <= h->tail || w->now < h->until)
		return;
	h->port_until = w->now + hp3_random_below(&w->rng, PORT_NS);
	h->spared += h->port_until - w->now + 2 * PULSE_NS;
	h->stops++;
	w->r.ports++;
}

/* It happens outside of hosts, or to them: a host that stands still does not delay it. */
static bool is_outside(enum event_kind kind)
{
	return kind == EVENT_INTO || kind == EVENT_DIES || kind == EVENT_PAUSES ||
	       kind == EVENT_STANDS;
}

static bool waits(const struct world *w, const struct event *e)
{
	const struct host *h = &w->host[e->host];

	if (is_outside((enum event_kind)e->kind))
		return false;
	return w->now < h->until ||
	       (e->kind < EVENT_TICK && !e->put_off &&
		       (w->now <= h->tail || (e->kind < EVENT_OUT && w->now < h->port_until)));
}

/*
 * What waited in the ring is read in the order in which it came, burst by burst; as in hp3d's loop
 * (app/hp3d/lcores/loop.c) the first look at the clock comes behind the first burst.
 */
static void put_off(struct world *w, struct event *e)
{
	struct host *h = &w->host[e->host];
	uint64_t until = hp3_max_u64(h->until, e->kind < EVENT_OUT ? h->port_until : 0);
	uint64_t t = until + (e->kind == EVENT_TICK);
	uint64_t *timer = e->kind == EVENT_TICK    ? &h->tick_at
			  : e->kind == EVENT_TIMER ? &w->qp[e->qp].timer
						   : NULL;

	if (e->kind < EVENT_TICK) {
		if (h->tail < until) {
			h->tail = until;
			h->unread = 0;
		}
		if (++h->unread % BURST == 0)
			h->tail += BURST_NS;
		t = h->tail;
		e->put_off = true;
	}
	if (timer != NULL && *timer != e->t)
		return; /* it was set anew */
	if (timer != NULL)
		*timer = t;
	spray_at(w, t, *e);
}

static bool is_believed(struct world *w, const struct event *e)
{
	bool believed = w->p.keys_us == 0 || (w->host[e->host].believes >> e->key & 1) != 0;

	w->r.unbelieved += !believed;
	return believed;
}

static void handle(struct world *w, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_REQUEST:
		arrives(w, B, e->packet);
		break;
	case EVENT_REPLY:
		arrives(w, A, e->packet);
		break;
	case EVENT_MESSAGE:
		if (w->hooks != NULL)
			w->hooks->on_message(w, e);
		else if (is_believed(w, e))
			spray_received(w, e->host, &e->message);
		break;
	case EVENT_PROBED:
		probed(w, e->host, e->qp);
		break;
	case EVENT_OUT:
		if (e->host == A)
			request_leaves(w, e->packet);
		else
			reply_leaves(w, e->packet);
		break;
	case EVENT_INTO:
		rnic_gets(w, e->host, &e->packet);
		break;
	case EVENT_TICK:
		spray_tick(w, e->host);
		break;
	case EVENT_EMIT:
		spray_emit(w, e->qp);
		break;
	case EVENT_TIMER:
		spray_timer(w, e->qp);
		break;
	case EVENT_RESTART:
		spray_restart(w, e->host);
		spray_every(w, e->host == B ? w->p.restart_us : w->p.asker_restart_us,
			EVENT_RESTART, e->host);
		break;
	case EVENT_DIES:
		w->dead_until[hp3_random_below(&w->rng, w->p.paths)] = w->now + 5 * MS;
		spray_every(w, w->p.dies_us, EVENT_DIES, 0);
		break;
	case EVENT_OPERATOR:
		spray_operate(w, e->host);
		break;
	case EVENT_RETURNS:
		spray_return(w);
		break;
	case EVENT_REPORTED:
		if (!w->host[e->host].direct)
			spray_report(w, e->host, e->qp, (enum hp3_qp_kind)e->reported, e->first);
		break;
	case EVENT_KEYS:
		spray_rekey(w, e->host);
		break;
	case EVENT_PAUSES:
		spray_pause(w);
		spray_every(w, w->p.pauses_us, EVENT_PAUSES, 0);
		break;
	case EVENT_PORT:
		stop_port(w, e->host);
		break;
	case EVENT_STANDS:
		stand(w, e->host, e->qp);
		break;
	default:
		move(w);
		break;
	}
}

void spray_next(struct world *w)
{
	struct event e;

	heap_take(&w->heap, &e.when, sizeof(e));
	w->now = e.t;
	if (waits(w, &e))
		put_off(w, &e);
	else
		handle(w, &e);
}

void spray_begin(struct world *w, const struct spray_params *p)
{
	w->p = *p;
	w->rng = p->seed;
	for (uint32_t i = 0; i < p->paths; i++)
		w->delay[i] = 10 * US + hp3_random_below(&w->rng, p->spread_us * 1000 + 1) +
			      (i + 1 == p->paths) * p->far_us * US;
	for (unsigned i = 0; i < 2; i++) {
		w->host[i].clock = p->clock[i] != 0 ? p->clock[i] : epoch_of(p->seed, i, WITHIN);
		w->host[i].speaks = 1;
		w->host[i].believes = 1 << 1;
		spray_host(w, i);
	}
	spray_rnics(w);
	spray_every(w, p->restart_us, EVENT_RESTART, B);
	spray_every(w, p->asker_restart_us, EVENT_RESTART, A);
	spray_every(w, p->move_us, EVENT_MOVE, A);
	spray_every(w, p->dies_us, EVENT_DIES, 0);
	spray_every(w, p->pauses_us, EVENT_PAUSES, 0);
	spray_every(w, p->returns_us, EVENT_RETURNS, 0);
	spray_every(w, p->stands_us, EVENT_STANDS, A);
	spray_every(w, p->stands_us, EVENT_STANDS, B);
	spray_every(w, p->receiver_stands_us, EVENT_STANDS, B);
	spray_every(w, p->ports_us, EVENT_PORT, A);
	spray_every(w, p->ports_us, EVENT_PORT, B);
	spray_every(w, p->operator_us, EVENT_OPERATOR, A);
	spray_every(w, p->receiver_operator_us, EVENT_OPERATOR, B);
	spray_every(w, p->keys_us, EVENT_KEYS, A);
	spray_every(w, p->keys_us, EVENT_KEYS, B);
}

void spray_end(struct world *w)
{
	for (unsigned i = 0; i < 2; i++) {
		sum_up(w, i);
		free(w->host[i].memory);
	}
	spray_rnics_free(w);
	heap_free(&w->heap);
}

int spray_run(const struct spray_params *p, struct spray_result *r)
{
	struct world *w = calloc(1, sizeof(*w));
	bool failed;

	spray_begin(w, p);
	while (w->left != 0 && !w->failed) {
		spray_next(w);
		CHECK(w, w->now < 100000 * MS, "%u messages are not complete after 100 s", w->left);
	}
	w->r.took_us = w->now / US;
	while (w->host[A].nheld + w->host[B].nheld != 0 && !w->failed) {
		spray_next(w);
		CHECK(w, w->now / US < w->r.took_us + 100000, "%u packets are kept",
			w->host[A].nheld + w->host[B].nheld);
	}
	spray_end(w);
	*r = w->r;
	failed = w->failed;
	free(w);
	return failed ? -1 : 0;
}
