/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/spray/rounds.h"
#include "base/random.h"
#include "engine/part.h"
#include "engine/paths/probe_id.h"
#include "engine/spray/send.h"

#define AGAIN_NS     1000000000u /* until EVs that did not answer in time are probed again */
#define BUSY_NS      1000000u /* until the next try, without budget or a free round */
#define BUDGET_PARTS 2u /* of the pair's probe budget: one part of this many */
#define COMPARED     3u /* answers */
#define SECOND_NS    1000000000ull
/* A nonce: HP3_COMPARE_NONCE, the round, and a random number. */
#define NONCE_ROUND_SHIFT 7u

bool hp3_spray_rounds_may_ask(const struct hp3_engine *e)
{
	return e->cfg.probing &&
	       (e->cfg.probes == HP3_PROBES_AUTO || e->cfg.probes == HP3_PROBES_PEER);
}

static uint64_t rounds_due(const struct hp3_engine *e)
{
	return e->spraying->rounds.due;
}

static void set_due(struct hp3_spray_rounds *l, struct hp3_spray_round *r, uint64_t due)
{
	r->due = due;
	l->due = hp3_min_u64(l->due, due);
}

/* --- probes --- */

static struct hp3_spray_round *free_round(struct hp3_spray_rounds *l)
{
	for (uint32_t i = 0; i < HP3_SPRAY_ROUNDS; i++)
		if (l->round[i].n == 0)
			return &l->round[i];
	return NULL;
}

void hp3_spray_rounds_want(struct hp3_turn *t, const struct hp3_spray_out *o)
{
	struct hp3_spraying *s = t->e->spraying;
	struct hp3_spray_peer *peer = &s->peer[o->peer];
	struct hp3_spread_params params = hp3_spread_params_of(t->e);
	struct hp3_spray_round *r;

	if ((hp3_spread_all(&params) & ~peer->asked) == 0)
		peer->asked = peer->spread.known; /* a later set-up may have missed some */
	if (t->e->cfg.spray.mode != HP3_SPRAY_AUTO || peer->comparing ||
		(hp3_spread_all(&params) & ~peer->asked) == 0 || peer->compare_at > t->now ||
		!hp3_spray_rounds_may_ask(t->e))
		return;
	peer->differs = false;
	r = free_round(&s->rounds);
	if (r == NULL) {
		peer->compare_at = t->now + BUSY_NS;
		return;
	}
	*r = (struct hp3_spray_round){.n = 1,
		.addr = peer->addr,
		.vlan = peer->vlan,
		.peer = o->peer,
		.flow = o->flow,
		.reads = o->reads};
	peer->comparing = true;
	set_due(&s->rounds, r, t->now);
}

void hp3_spray_rounds_differ(struct hp3_spray_peer *peer, uint64_t now)
{
	peer->spread.known = peer->spread.far = 0;
	peer->asked = 0;
	peer->differs = true;
	peer->compare_at = now + AGAIN_NS;
}

enum hp3_spray_may hp3_spray_rounds_may(struct hp3_turn *t, const struct hp3_spray_out *o)
{
	struct hp3_spray_peer *peer = &t->e->spraying->peer[o->peer];

	hp3_spray_rounds_want(t, o);
	if (peer->spread.known != 0)
		return HP3_SPRAY_MAY;
	return peer->differs ? HP3_SPRAY_DIFFER : HP3_SPRAY_MAY_NOT;
}

/* One of `evs`. */
static uint8_t draw_ev(struct hp3_engine *e, uint64_t evs)
{
	uint32_t n = hp3_random_below(&e->rng, (uint32_t)__builtin_popcountll(evs));

	for (; n != 0; n--)
		evs &= evs - 1;
	return (uint8_t)__builtin_ctzll(evs);
}

/* One EV that is in use, if there is one, and those that were not probed yet. */
static uint32_t choose_evs(struct hp3_engine *e, const struct hp3_spray_peer *peer, uint8_t *ev)
{
	struct hp3_spread_params params = hp3_spread_params_of(e);
	uint64_t known = peer->spread.known & hp3_spread_all(&params);
	uint64_t left = hp3_spread_all(&params) & ~peer->asked;
	uint32_t n = 0;

	if ((known & peer->asked) != 0)
		ev[n++] = draw_ev(e, known & peer->asked);
	while (left != 0 && n < HP3_SPRAY_ASKED) {
		ev[n] = draw_ev(e, left);
		left &= ~(1ull << ev[n++]);
	}
	return n;
}

static void send_round(
	struct hp3_turn *t, struct hp3_spray_round *r, uint32_t number, struct hp3_spray_peer *peer)
{
	struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[r->flow];
	struct hp3_probe_budget *budget = &e->pairs.pairs[f->pair].budget;
	uint32_t n = choose_evs(e, peer, r->ev);

	n = hp3_probe_budget_take(budget, &e->cfg.round, hp3_min_u32(n, 2), n, t->now);
	if (n == 0) {
		set_due(&e->spraying->rounds, r, t->now + BUSY_NS);
		return;
	}
	r->n = (uint8_t)n;
	r->nonce = HP3_COMPARE_NONCE | number << NONCE_ROUND_SHIFT |
		   hp3_random_below(&e->rng, 1u << NONCE_ROUND_SHIFT);
	for (uint32_t i = 0; i < n; i++) {
		struct hp3_act *a = hp3_act(t, HP3_ACT_PROBE, r->flow);

		peer->asked |= 1ull << r->ev[i];
		a->port = (uint16_t)(peer->base | r->ev[i]);
		a->op = HP3_PROBE_PEER;
		a->probe_id = r->nonce << HP3_PROBE_NONCE_SHIFT |
			      (HP3_COMPARE_SLOT + i / 8) << HP3_PROBE_SLOT_SHIFT | i % 8;
		a->psn = (f->stream.una - 1) & HP3_PSN_MASK;
		e->stats.probes++;
	}
	r->open = (uint16_t)((1u << n) - 1);
	r->sent = t->now;
	e->stats.evs_probed += n;
	set_due(&e->spraying->rounds, r, t->now + e->cfg.round.timeout_ns);
}

/* --- answers --- */

bool hp3_spray_rounds_reply(struct hp3_engine *e, uint32_t id, uint32_t took_ns, uint64_t now)
{
	uint32_t slot = hp3_probe_slot(id), nonce = id >> HP3_PROBE_NONCE_SHIFT, i;
	struct hp3_spray_round *r;

	if (e->spraying == NULL || slot < HP3_COMPARE_SLOT || !(nonce & HP3_COMPARE_NONCE))
		return false;
	r = &e->spraying->rounds.round[nonce >> NONCE_ROUND_SHIFT & (HP3_SPRAY_ROUNDS - 1)];
	i = (slot - HP3_COMPARE_SLOT) * 8 + (id & 7);
	if (r->n == 0 || r->sent == 0 || r->nonce != nonce || !(r->open >> i & 1))
		return false;
	r->open &= (uint16_t) ~(1u << i);
	r->rtt[i] = hp3_probe_rtt(now - hp3_min_u64(r->sent, now), took_ns);
	/* An answer later than the receiver's longest wait counts as none. */
	set_due(&e->spraying->rounds, r,
		r->open == 0 ? now : hp3_min_u64(r->due, now + hp3_spread_params_of(e).reach_ns));
	return true;
}

void hp3_spray_compared(struct hp3_engine *e, const struct hp3_round *r)
{
	uint32_t least = UINT32_MAX, most = 0, n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->probe[i].state != HP3_PROBE_ANSWERED)
			continue;
		least = hp3_min_u32(least, r->probe[i].rtt_ns);
		most = hp3_max_u32(most, r->probe[i].rtt_ns);
		n++;
	}
	if (e->spraying != NULL && n >= COMPARED && 2 * n >= r->next &&
		most - least <= e->spraying->spread.reach_ns)
		e->spraying->sends.alike = true;
}

/* The round has ended: sets the time of the next one. */
static void judge_comparison(
	struct hp3_turn *t, const struct hp3_spray_round *r, struct hp3_spray_peer *peer)
{
	struct hp3_spread_params params = hp3_spread_params_of(t->e);
	bool first = peer->spread.known == 0;
	bool differ = hp3_spread_compared(&peer->spread, &params, r->ev, r->rtt, r->n);
	uint64_t pace =
		BUDGET_PARTS * r->n * SECOND_NS / hp3_max_u32(t->e->cfg.round.probes_per_second, 1);

	t->e->stats.evs_compared++;
	if (peer->spread.known == 0 || (first && differ)) {
		hp3_spray_rounds_differ(peer, t->now);
		hp3_out_late(t);
		return;
	}
	t->e->spraying->sends.alike |= !differ;
	if (first)
		pace = 0;
	if ((hp3_spread_all(&params) & ~peer->asked) == 0) {
		peer->asked = peer->spread.known; /* the others are probed again */
		pace = AGAIN_NS;
	}
	peer->compare_at = t->now + pace;
}

/* The peer's record, if it is still that of the round; NULL: it is not. */
static struct hp3_spray_peer *peer_of(struct hp3_spraying *s, const struct hp3_spray_round *r)
{
	struct hp3_spray_peer *peer = &s->peer[r->peer];

	return peer->comparing && peer->addr == r->addr && peer->vlan == r->vlan ? peer : NULL;
}

/* Does the round's agreement still exist? */
static bool is_agreed(const struct hp3_engine *e, const struct hp3_spray_round *r)
{
	const struct hp3_spraying *s = e->spraying;
	uint16_t watch = e->flows[r->flow].watch;

	if (!(e->flows[r->flow].flags & HP3_FF_USED) ||
		!(watch & (r->reads ? HP3_FW_READ : HP3_FW_SPRAY)))
		return false;
	return s->out[r->reads ? s->of[r->flow].read : s->of[r->flow].out].peer == r->peer;
}

/* False: no room for its actions. */
static bool step_round(struct hp3_turn *t, struct hp3_spray_round *r, uint32_t number)
{
	struct hp3_spray_peer *peer = peer_of(t->e->spraying, r);

	if (peer != NULL && is_agreed(t->e, r) && r->sent == 0 && hp3_spray_rounds_may_ask(t->e)) {
		if (t->acts->n + HP3_SPRAY_ASKED > HP3_ACTS_MAX)
			return false;
		send_round(t, r, number, peer);
		return true;
	}
	if (peer != NULL) {
		peer->comparing = false;
		if (r->sent != 0)
			judge_comparison(t, r, peer);
	}
	r->n = 0;
	return true;
}

static void tick_rounds(struct hp3_turn *t)
{
	struct hp3_spray_rounds *l = &t->e->spraying->rounds;

	if (t->now < l->due)
		return;
	l->due = UINT64_MAX;
	for (uint32_t i = 0; i < HP3_SPRAY_ROUNDS; i++) {
		struct hp3_spray_round *r = &l->round[i];

		if (r->n != 0 && r->due <= t->now && !t->acts->more)
			t->acts->more = !step_round(t, r, i);
		if (r->n != 0)
			l->due = hp3_min_u64(l->due, r->due);
	}
}

const struct hp3_part hp3_rounds_part = {
	.is_on = hp3_is_spraying, .tick = tick_rounds, .due = rounds_due};
