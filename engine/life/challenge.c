/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of pairing by challenge (pairing.c) per address pair: which flows may get a reply with a
 * PSN, which packet is the challenge, and which reply answers the challenge.
 */
#include "engine/life/life.h"
#include "engine/part.h"

#define NEAR_PSNS 65536 /* flows closer than this could be answered with the same PSN */
/* At any time, challenges of at most one flow in this many fit the index. */
#define ASKING       4u
#define ASKING_LEAST 4096u

bool hp3_is_near(const struct hp3_flow *f, uint32_t psn)
{
	return hp3_psn_diff(psn, f->stream.una) > -NEAR_PSNS &&
	       hp3_psn_diff(psn, hp3_stream_end(&f->stream)) < NEAR_PSNS;
}

/* Checks the records of flows, while flows/near.h is incomplete. */
static bool any_near(
	const struct hp3_engine *e, uint32_t flow, uint32_t psn, bool ahead, uint64_t now)
{
	const uint16_t live = HP3_FF_STARTED | (ahead ? HP3_FF_PAIRED : 0);
	const struct hp3_pair *p = &e->pairs.pairs[e->flows[flow].pair];

	if (p->nflows > HP3_NEAR_FLOWS)
		return true;
	for (uint32_t i = p->flows; i != HP3_NO_FLOW; i = e->flows[i].next) {
		const struct hp3_flow *g = &e->flows[i];

		if (i != flow && (g->flags & live) == HP3_FF_STARTED && !hp3_is_silent(e, g, now) &&
			hp3_is_near(g, psn) &&
			(!ahead || hp3_psn_diff(hp3_stream_end(&g->stream), psn) > 0))
			return true;
	}
	return false;
}

bool hp3_others_near(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now)
{
	if (hp3_near_is_whole(e, now))
		return hp3_near_others(e, flow, psn, now);
	return any_near(e, flow, psn, false, now);
}

bool hp3_others_ahead(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now)
{
	if (hp3_near_is_whole(e, now))
		return hp3_near_ahead(e, flow, psn, now);
	return any_near(e, flow, psn, true, now);
}

bool hp3_is_crowded(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now)
{
	if (hp3_near_is_whole(e, now))
		return hp3_near_is_full(e, flow, psn, now);
	return e->pairs.pairs[e->flows[flow].pair].nflows > HP3_NEAR_FLOWS;
}

void hp3_challenge_stop(struct hp3_flow *f)
{
	if ((f->flags & (HP3_FF_STARTED | HP3_FF_PAIRED)) != HP3_FF_STARTED)
		return; /* the memory has another use */
	f->unpaired.ch_state = HP3_CH_IDLE;
	f->unpaired.ch_ambiguous = false;
}

/* Suspends challenges of the pair until then. */
static void suspend_challenges(struct hp3_pair *p, uint64_t until)
{
	if (until <= p->untracked_until)
		return;
	p->untracked_until = until;
	p->voids++; /* cancels all forced challenges of the pair */
}

void hp3_challenge_quiet(struct hp3_turn *t, uint32_t flow, bool first)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_pair *p = &t->e->pairs.pairs[f->pair];
	uint32_t idle = (uint32_t)(t->now >> HP3_TICK_SHIFT) - f->last;
	uint64_t until = t->now + t->e->cfg.challenge_quiet_ns - ((uint64_t)idle << HP3_TICK_SHIFT);
	bool others = first;

	if (until <= t->now)
		return;
	if (!first && (f->flags & HP3_FF_STARTED)) {
		others = hp3_near_abandon(t->e, flow, t->now, until);
		if (!hp3_near_is_whole(t->e, t->now))
			others = any_near(t->e, flow, f->stream.hi, false, t->now);
	}
	if (others)
		suspend_challenges(p, until);
}

/*
 * If flows/near.h is complete, it records these packets for as long as they may be answered. If
 * not, challenges of the pair pause until it is.
 */
void hp3_challenge_untracked(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_view *v)
{
	uint32_t pair = hp3_pairs_find(&t->e->pairs, ends), asked;
	uint64_t until = t->now + t->e->cfg.challenge_quiet_ns;

	if (pair == HP3_NO_PAIR || !t->e->cfg.pair_by_challenge)
		return; /* its first flow waits for challenge_quiet_ns */
	hp3_near_keep(t->e, t->now);
	hp3_near_note_untracked(t->e, pair, v->psn, t->now, until);
	asked = hp3_asks(v) ? hp3_forced_at(t, pair, v->psn) : HP3_NO_FLOW;
	if (asked != HP3_NO_FLOW)
		t->e->flows[asked].unpaired.ch_ambiguous = true;
	if (!hp3_near_is_whole(t->e, t->now))
		suspend_challenges(
			&t->e->pairs.pairs[pair], hp3_max_u64(until, hp3_near_whole_at(t->e)));
}

void hp3_natural_drop(struct hp3_flow *f)
{
	if ((f->flags & (HP3_FF_STARTED | HP3_FF_PAIRED)) == HP3_FF_STARTED)
		f->unpaired.natural = false;
}

/* While this is true, an answer counts. Later, another queue pair may have come to the same PSN. */
bool hp3_natural_under_way(struct hp3_turn *t, struct hp3_flow *f)
{
	uint32_t age = (uint32_t)(t->now >> HP3_TICK_SHIFT) - f->unpaired.nat_sent;

	if (!f->unpaired.natural)
		return false;
	if (age <= t->e->cfg.challenge_timeout_ns >> HP3_TICK_SHIFT)
		return true;
	hp3_challenge_missed(t, f);
	hp3_natural_drop(f);
	return false;
}

/* Does a first or second answer count? */
static bool is_forced_under_way(const struct hp3_turn *t, const struct hp3_flow *f)
{
	const struct hp3_unpaired *u = &f->unpaired;

	return u->ch_state >= HP3_CH_ARMED && t->now < u->ch_until &&
	       u->ch_voids == (t->e->pairs.pairs[f->pair].voids & HP3_CH_VOIDS);
}

/* Does the reply prove that the packet with its PSN was executed? */
static bool is_proof(const struct hp3_view *v, bool read)
{
	if (v->flags & HP3_VF_READ)
		return read && (v->flags & HP3_VF_FIRST);
	return !read && (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK;
}

/* A hash index: replies to unknown local QPNs cost the same, however many flows the pair has. */
static uint32_t *place_in_index(const struct hp3_engine *e, uint32_t pair, uint32_t psn)
{
	return &e->asked[hp3_mix(pair ^ e->seed[0], psn ^ e->seed[1]) & e->asked_mask];
}

/* The unpaired flow in this place, which has sent packets. */
static struct hp3_flow *unpaired_at(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = flow == HP3_NO_FLOW ? NULL : &t->e->flows[flow];

	const uint16_t want = HP3_FF_USED | HP3_FF_STARTED;

	if (f == NULL || (f->flags & (want | HP3_FF_PAIRED)) != want)
		return NULL;
	return f;
}

/* Is the place taken by a flow with an outstanding challenge? */
static bool is_taken(struct hp3_turn *t, const uint32_t *at)
{
	struct hp3_flow *f = unpaired_at(t, *at);

	if (f == NULL)
		return false;
	return (hp3_natural_under_way(t, f) &&
		       place_in_index(t->e, f->pair, f->unpaired.nat_psn) == at) ||
	       (is_forced_under_way(t, f) &&
		       place_in_index(t->e, f->pair, f->unpaired.ch_psn) == at);
}

static bool take_place(struct hp3_turn *t, uint32_t flow, uint32_t psn)
{
	uint32_t *at = place_in_index(t->e, t->e->flows[flow].pair, psn);

	if (*at != flow && is_taken(t, at))
		return false;
	*at = flow;
	return true;
}

bool hp3_ask_naturally(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_flow *f = &t->e->flows[flow];

	if (!take_place(t, flow, v->psn))
		return false;
	f->unpaired.natural = true;
	f->unpaired.nat_read = !!(v->flags & HP3_VF_READ);
	f->unpaired.nat_psn = v->psn & HP3_PSN_MASK;
	f->unpaired.nat_sent = (uint32_t)(t->now >> HP3_TICK_SHIFT);
	return true;
}

bool hp3_ask_forced(struct hp3_turn *t, uint32_t flow, uint32_t psn)
{
	struct hp3_unpaired *u = &t->e->flows[flow].unpaired;

	if (!take_place(t, flow, psn))
		return false;
	u->ch_state = HP3_CH_ARMED;
	u->ch_ambiguous = false;
	u->ch_psn = psn & HP3_PSN_MASK;
	u->ch_voids = t->e->pairs.pairs[t->e->flows[flow].pair].voids & HP3_CH_VOIDS;
	u->ch_sent = (uint32_t)(t->now >> HP3_CH_SHIFT);
	u->ch_until = t->now + t->e->cfg.challenge_timeout_ns;
	return true;
}

uint32_t hp3_asked_naturally(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v)
{
	uint32_t flow = *place_in_index(t->e, pair, v->psn);
	struct hp3_flow *f = unpaired_at(t, flow);

	if (f == NULL || f->pair != pair || f->unpaired.nat_psn != v->psn ||
		!hp3_natural_under_way(t, f) || !is_proof(v, f->unpaired.nat_read))
		return HP3_NO_FLOW;
	if (!hp3_others_near(t->e, flow, v->psn, t->now))
		return flow;
	f->unpaired.reason = HP3_UNPAIRED_NEAR; /* another flow has come near since */
	hp3_natural_drop(f);
	return HP3_NO_FLOW;
}

uint32_t hp3_forced_at(struct hp3_turn *t, uint32_t pair, uint32_t psn)
{
	uint32_t flow = *place_in_index(t->e, pair, psn);
	struct hp3_flow *f = unpaired_at(t, flow);

	return f != NULL && f->pair == pair && f->unpaired.ch_psn == psn &&
			       is_forced_under_way(t, f)
		       ? flow
		       : HP3_NO_FLOW;
}

uint32_t hp3_asked_by_force(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v)
{
	return is_proof(v, false) ? hp3_forced_at(t, pair, v->psn) : HP3_NO_FLOW;
}

static void take_challenges(struct hp3_engine *e, struct hp3_arena *a)
{
	uint32_t n = hp3_pairs_heads(hp3_max_u32(e->cfg.max_flows / ASKING, ASKING_LEAST));

	e->asked_mask = n - 1;
	HP3_TAKE(a, e->asked, n);
}

static void init_challenges(struct hp3_engine *e)
{
	memset(e->asked, 0xff, ((size_t)e->asked_mask + 1) * sizeof(*e->asked));
}

const struct hp3_part hp3_challenges_part = {.take = take_challenges, .init = init_challenges};
