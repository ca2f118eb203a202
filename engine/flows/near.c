/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/flows/near.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "engine/flows/flow.h"
#include "engine/part.h"

#define ENTRIES_LEAST 1024u
#define ENTRIES_MOST  32768u
#define PER_FLOW      2u /* an active flow usually is in two windows at a time */
#define ABANDONED_MAX 64u /* most windows of a flow that begins anew */
#define ANY_KEY       0u /* key of an entry that answers for its whole set */
#define WHOLE         HP3_NEAR_PSNS
#define LINGER        4u /* x challenge_timeout_ns: the table is kept without need */

static void take_near(struct hp3_engine *e, struct hp3_arena *a)
{
	uint32_t n = ENTRIES_LEAST;

	while (n < ENTRIES_MOST && n < e->cfg.max_flows * PER_FLOW)
		n <<= 1;
	e->near.mask = n / HP3_NEAR_WAYS - 1;
	HP3_TAKE(a, e->near.entries, n);
}

static void init_near(struct hp3_engine *e)
{
	size_t n = (size_t)(e->near.mask + 1) * HP3_NEAR_WAYS;

	e->near.whole = true;
	e->near_kept = e->cfg.pair_by_challenge;
	memset(e->near.entries, 0, n * sizeof(*e->near.entries));
}

const struct hp3_part hp3_near_part = {.take = take_near, .init = init_near};

void hp3_near_keep(struct hp3_engine *e, uint64_t now)
{
	e->near.until =
		now + hp3_max_u64(LINGER * e->cfg.challenge_timeout_ns, e->cfg.challenge_quiet_ns);
	if (e->near_kept || !e->cfg.pair_by_challenge)
		return;
	e->near_kept = true;
	e->near.whole = false;
	e->near.since = now;
}

void hp3_near_rest(struct hp3_engine *e, uint64_t now)
{
	bool idle = e->nflows != 0 && e->near.unpaired == 0 && now >= e->near.until;

	if (!e->cfg.pair_by_challenge || idle)
		e->near_kept = false;
	else if (!e->near_kept)
		hp3_near_keep(e, now);
	else
		e->near.whole = hp3_near_is_whole(e, now);
}

bool hp3_near_is_whole(const struct hp3_engine *e, uint64_t now)
{
	return e->near_kept && (e->near.whole || now - e->near.since > e->cfg.challenge_timeout_ns);
}

uint64_t hp3_near_whole_at(const struct hp3_engine *e)
{
	return e->near.whole ? 0 : e->near.since + e->cfg.challenge_timeout_ns + 1;
}

static uint32_t ticks_at(uint64_t now)
{
	uint32_t at = (uint32_t)(now >> HP3_TICK_SHIFT);

	return at != 0 ? at : 1; /* 0: never */
}

/* Requests up to this old count, in ticks. */
static uint32_t recent_ticks(const struct hp3_engine *e)
{
	return (uint32_t)(e->cfg.challenge_timeout_ns >> HP3_TICK_SHIFT) + 1;
}

static bool is_recent_request(const struct hp3_engine *e, uint32_t at, uint32_t now)
{
	return at != 0 && (int32_t)(now - at) <= (int32_t)recent_ticks(e);
}

static uint32_t later_time(uint32_t a, uint32_t b)
{
	return b == 0 || (a != 0 && (int32_t)(a - b) > 0) ? a : b;
}

static bool is_live_window(const struct hp3_engine *e, const struct hp3_near *n, uint32_t now)
{
	return is_recent_request(e, n->last_at, now);
}

struct near_place {
	struct hp3_near *set;
	uint32_t key;
};

static struct near_place near_place_of(const struct hp3_engine *e, uint32_t pair, uint32_t psn)
{
	uint64_t h = hp3_mix(pair ^ e->seed[2], psn / HP3_NEAR_PSNS ^ e->seed[3]);

	return (struct near_place){&e->near.entries[((uint32_t)h & e->near.mask) * HP3_NEAR_WAYS],
		(uint32_t)(h >> 32) | 1};
}

static bool is_unpaired(const struct hp3_engine *e, uint32_t flow)
{
	return flow != HP3_NO_FLOW &&
	       (e->flows[flow].flags & (HP3_FF_USED | HP3_FF_PAIRED)) == HP3_FF_USED;
}

/* PSNs that the leading flow has sent in the window of `psn`, from its first one. */
static uint32_t led_up_to(const struct hp3_engine *e, const struct hp3_near *n, uint32_t psn)
{
	uint32_t from = psn & ~(HP3_NEAR_PSNS - 1);
	int32_t sent = hp3_psn_diff(e->flows[n->leader].stream.nxt, from);

	return sent > 0 && sent < (int32_t)WHOLE ? (uint32_t)sent : WHOLE;
}

static void note_unpaired(
	struct hp3_engine *e, struct hp3_near *n, uint32_t flow, uint32_t psn, uint32_t now)
{
	uint32_t up_to = (psn & (HP3_NEAR_PSNS - 1)) + 1, led;
	bool follows = is_recent_request(e, n->follow_at, now);

	if (n->leader == flow) {
		n->lead_at = now;
		return;
	}
	if (!is_unpaired(e, n->leader) || !is_recent_request(e, n->lead_at, now)) {
		n->leader = flow;
		n->lead_at = now;
		return;
	}
	led = led_up_to(e, n, psn);
	if (up_to > led) {
		n->leader = flow;
		n->lead_at = now;
		up_to = led;
	}
	n->follow_to = (uint16_t)(follows ? hp3_max_u32(n->follow_to, up_to) : up_to);
	n->follow_at = now;
}

static void note_flow(struct hp3_near *n, uint32_t flow, uint32_t now)
{
	if (n->last != flow) {
		n->other_at = n->last_at;
		n->last = flow;
	}
	n->last_at = now;
}

/* As if flows without a record were everywhere in the window. */
static void fill_window(struct hp3_near *n, uint32_t at)
{
	n->last = HP3_NO_FLOW;
	n->last_at = n->other_at = n->follow_at = later_time(at, n->last_at);
	n->follow_to = WHOLE;
}

static struct hp3_near *take_window(struct hp3_engine *e, const struct near_place *p, uint32_t now)
{
	struct hp3_near *room = NULL;

	for (struct hp3_near *n = p->set; n < p->set + HP3_NEAR_WAYS; n++) {
		if (!is_live_window(e, n, now))
			room = room != NULL ? room : n;
		else if (n->key == p->key)
			return n;
	}
	if (room == NULL)
		return NULL;
	*room = (struct hp3_near){.key = p->key, .last = HP3_NO_FLOW, .leader = HP3_NO_FLOW};
	return room;
}

static void overflow_set(struct hp3_engine *e, const struct near_place *p, uint32_t now)
{
	struct hp3_near *n = p->set;

	e->stats.near_full++;
	while (n < p->set + HP3_NEAR_WAYS - 1 && n->key != ANY_KEY)
		n++;
	n->key = ANY_KEY;
	fill_window(n, now);
}

void hp3_near_note(struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[flow];
	const struct near_place p = near_place_of(e, f->pair, psn);
	struct hp3_near *n = take_window(e, &p, ticks_at(now));

	if (n == NULL) {
		overflow_set(e, &p, ticks_at(now));
		return;
	}
	note_flow(n, flow, ticks_at(now));
	if (!(f->flags & HP3_FF_PAIRED))
		note_unpaired(e, n, flow, psn, ticks_at(now));
}

/* The time for fill_window(), so that a queue pair counts until `until`. */
static uint32_t as_of(const struct hp3_engine *e, uint64_t until)
{
	return ticks_at(until) - recent_ticks(e) - 1;
}

void hp3_near_note_untracked(
	struct hp3_engine *e, uint32_t pair, uint32_t psn, uint64_t now, uint64_t until)
{
	const struct near_place p = near_place_of(e, pair, psn);
	struct hp3_near *n = take_window(e, &p, ticks_at(now));
	uint32_t at = later_time(as_of(e, until), ticks_at(now));

	if (n == NULL)
		overflow_set(e, &p, at);
	else
		fill_window(n, at);
}

/* Was another flow in the window of `psn`? */
static bool is_shared(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint32_t now)
{
	const struct near_place p = near_place_of(e, e->flows[flow].pair, psn);

	for (const struct hp3_near *n = p.set; n < p.set + HP3_NEAR_WAYS; n++)
		if ((n->key == p.key || n->key == ANY_KEY) &&
			is_recent_request(e, n->last == flow ? n->other_at : n->last_at, now))
			return true;
	return false;
}

bool hp3_near_others(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now)
{
	uint32_t at = ticks_at(now);

	return is_shared(e, flow, psn, at) ||
	       is_shared(e, flow, hp3_psn_add(psn, HP3_NEAR_PSNS), at) ||
	       is_shared(e, flow, (psn - HP3_NEAR_PSNS) & HP3_PSN_MASK, at);
}

static bool is_set_full(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint32_t now)
{
	const struct near_place p = near_place_of(e, e->flows[flow].pair, psn);

	for (const struct hp3_near *n = p.set; n < p.set + HP3_NEAR_WAYS; n++)
		if (n->key == ANY_KEY && is_live_window(e, n, now))
			return true;
	return false;
}

bool hp3_near_is_full(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now)
{
	uint32_t at = ticks_at(now);

	return is_set_full(e, flow, psn, at) ||
	       is_set_full(e, flow, hp3_psn_add(psn, HP3_NEAR_PSNS), at) ||
	       is_set_full(e, flow, (psn - HP3_NEAR_PSNS) & HP3_PSN_MASK, at);
}

static bool is_ahead(const struct hp3_engine *e, const struct hp3_near *n, uint32_t flow,
	uint32_t psn, uint32_t now)
{
	uint32_t at = psn & (HP3_NEAR_PSNS - 1);

	if (is_recent_request(e, n->follow_at, now) && n->follow_to > at)
		return true;
	return n->leader != flow && is_unpaired(e, n->leader) &&
	       is_recent_request(e, n->lead_at, now) && led_up_to(e, n, psn) > at;
}

bool hp3_near_ahead(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now)
{
	const struct near_place p = near_place_of(e, e->flows[flow].pair, psn);

	for (const struct hp3_near *n = p.set; n < p.set + HP3_NEAR_WAYS; n++)
		if ((n->key == p.key || n->key == ANY_KEY) && is_live_window(e, n, ticks_at(now)) &&
			is_ahead(e, n, flow, psn, ticks_at(now)))
			return true;
	return false;
}

uint32_t hp3_near_latest(const struct hp3_engine *e, uint32_t pair, uint32_t psn, uint64_t now)
{
	const struct near_place p = near_place_of(e, pair, psn);

	for (const struct hp3_near *n = p.set; n < p.set + HP3_NEAR_WAYS; n++)
		if (n->key == p.key && is_live_window(e, n, ticks_at(now)) &&
			n->last != HP3_NO_FLOW && (e->flows[n->last].flags & HP3_FF_USED) &&
			e->flows[n->last].pair == pair)
			return n->last;
	return HP3_NO_FLOW;
}

bool hp3_near_abandon(struct hp3_engine *e, uint32_t flow, uint64_t now, uint64_t until)
{
	const struct hp3_flow *f = &e->flows[flow];
	uint32_t hi = f->stream.hi, at = as_of(e, until);
	uint32_t sent = (hp3_stream_end(&f->stream) - f->stream.una) & HP3_PSN_MASK;
	uint32_t n = hp3_min_u32(sent / HP3_NEAR_PSNS + 2, ABANDONED_MAX);
	bool others = n == ABANDONED_MAX || hp3_near_others(e, flow, hi, now);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t psn = (hi - i * HP3_NEAR_PSNS) & HP3_PSN_MASK;
		const struct near_place p = near_place_of(e, f->pair, psn);
		struct hp3_near *w;

		others |= is_shared(e, flow, psn, ticks_at(now));
		w = take_window(e, &p, ticks_at(now));
		if (w == NULL)
			overflow_set(e, &p, at);
		else
			fill_window(w, at);
	}
	return others;
}
