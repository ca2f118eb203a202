/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3_tick(): deadlines of slots, active flows, traces, reports, spraying, ageing. */
#include "engine/flows/near.h"
#include "engine/part.h"
#include "engine/pass/pass.h"
#include "engine/spray/spray.h"

#define ACTS_PER_SLOT 10u /* most that one call below adds */
#define SLOTS         32u /* most slots per call */
#define AGE_STEP_NS   50000000u /* ageing looks at a part of the table this often */
#define AGE_STEPS     64u /* parts of the table */
/* One call visits at most this many flows. One that is removed counts as AGE_REMOVED. */
#define AGE_FLOWS   128u
#define AGE_REMOVED 8u

static void handle_move_deadline(struct hp3_turn *t, struct hp3_move *m)
{
	if (!hp3_peer_hold_due(t, m))
		hp3_move_input(t, m->flow, HP3_RFR_IN_TIMEOUT);
}

/* Handles the first deadline that has passed. */
static void handle_deadline(struct hp3_turn *t, struct hp3_move *m)
{
	if (m->pace_at <= t->now)
		hp3_rate_due(t, m);
	else if (m->cnp_at <= t->now)
		hp3_cnps_end(t, m, false);
	else if (m->move_at <= t->now && m->search.state != HP3_SEARCH_QUIET)
		hp3_search_timeout(t, m);
	else if (m->move_at <= t->now)
		handle_move_deadline(t, m);
	else if (m->guard_at <= t->now)
		hp3_guard_end(t->e, m);
	else if (m->search_at <= t->now)
		hp3_reprobe_due(t, m);
	else
		hp3_outcome_judge(t, m);
}

static void tick_deadlines(struct hp3_turn *t)
{
	struct hp3_engine *e = t->e;

	for (uint32_t n = 0; hp3_deadline_next(&e->deadlines) <= t->now; n++) {
		if (t->acts->n + ACTS_PER_SLOT > HP3_ACTS_MAX || n == SLOTS) {
			t->acts->more = true;
			return;
		}
		handle_deadline(t, &e->moves[hp3_deadline_item(&e->deadlines)]);
	}
}

static uint64_t deadlines_due(const struct hp3_engine *e)
{
	return hp3_deadline_next(&e->deadlines);
}

const struct hp3_part hp3_deadlines_part = {.tick = tick_deadlines, .due = deadlines_due};

/*
 * Rule 11: a flow is removed only if nothing is in flight, or after a very long time; never in a
 * move.
 */
static bool is_old_flow(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	uint64_t idle;

	if (!(f->flags & HP3_FF_USED) || f->state != HP3_RFR_STEADY ||
		(f->slot != HP3_NO_SLOT && e->moves[f->slot].held_pkts != 0))
		return false;
	idle = (uint64_t)((uint32_t)(now >> HP3_TICK_SHIFT) - f->last) << HP3_TICK_SHIFT;
	if (!(f->flags & HP3_FF_STARTED) || hp3_stream_idle(&f->stream))
		return idle > e->cfg.idle_age_ns;
	return idle > e->cfg.dead_age_ns;
}

/* Moves a flow home that the filter excludes since its move. */
static void bring_home(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_cmd home = {
		.kind = HP3_CMD_HOME, .cause = HP3_CAUSE_OPERATOR, .flow = flow};
	const struct hp3_flow *f = &t->e->flows[flow];
	const uint16_t want = HP3_FF_USED | HP3_FF_MOVED | HP3_FF_PAIRED;

	if ((f->flags & want) == want && f->state == HP3_RFR_STEADY &&
		t->acts->n + ACTS_PER_SLOT <= HP3_ACTS_MAX && hp3_flow_bar(t->e, f) != HP3_BAR_NONE)
		hp3_command(t->e, &home, t->now, t->acts);
}

/* ... without an agreement, which would handle the end (tick_agreements()). */
static bool has_ended(const struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	return (f->flags & HP3_FF_USED) && f->pending && !(f->watch & HP3_FW_AGREED) &&
	       hp3_qp_end_is_due(t->e, flow, t->now);
}

static void tick_ageing(struct hp3_turn *t)
{
	struct hp3_engine *e = t->e;

	if (e->age_left == 0) {
		if (t->now < e->age_due)
			return;
		e->age_left = e->cfg.max_flows / AGE_STEPS + 1;
	}
	for (uint32_t n = 0; e->age_left > 0; n++, e->age_left--) {
		uint32_t i = e->age_hand;

		if (n >= AGE_FLOWS || t->acts->n + ACTS_PER_SLOT > HP3_ACTS_MAX) {
			t->acts->more = true;
			return;
		}
		hp3_unpaired_count(e, i, t->now);
		if (e->flows[i].flags & HP3_FF_USED)
			hp3_backoff_age(&e->flows[i].backoff, &e->cfg.round, t->now);
		if (has_ended(t, i)) {
			hp3_qp_ended(t, i);
			n += AGE_REMOVED - 1;
		} else if (is_old_flow(e, &e->flows[i], t->now)) {
			hp3_flow_remove(t, i);
			e->stats.flows_aged++;
			n += AGE_REMOVED - 1;
		} else if (hp3_filter_is_set(&e->cfg.filter)) {
			bring_home(t, i);
		}
		e->age_hand = i + 1 == e->cfg.max_flows ? 0 : i + 1;
	}
	hp3_near_rest(e, t->now);
	e->age_due = t->now + AGE_STEP_NS;
}

static uint64_t ageing_due(const struct hp3_engine *e)
{
	return e->age_due;
}

const struct hp3_part hp3_ageing_part = {.tick = tick_ageing, .due = ageing_due};

static void tick_agreements(struct hp3_turn *t)
{
	const struct hp3_spraying *s = t->e->spraying;

	hp3_spray_tick(t);
	for (uint32_t i = 0; i < s->nended; i++) {
		if (t->acts->n + ACTS_PER_SLOT > HP3_ACTS_MAX)
			return; /* its records are visited again */
		hp3_qp_ended(t, s->ended[i]);
	}
}

const struct hp3_part hp3_agreements_part = {
	.is_on = hp3_is_spraying, .tick = tick_agreements, .due = hp3_spray_due};

/*
 * A part that has more to do ends the call. If time passes before the next call, the next call
 * begins behind this part, so no part delays the others for long.
 */
uint64_t hp3_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	unsigned first = now != e->tick_at ? e->tick_hand : 0;

	acts->more = false;
	e->tick_at = now;
	e->tick_hand = 0;
	for (unsigned i = 0; i < e->nticking && !acts->more; i++) {
		unsigned which = (first + i) % e->nticking;

		e->ticking[which]->tick(&t);
		if (acts->more)
			e->tick_hand = (uint8_t)((which + 1) % e->nticking);
	}
	return acts->more ? now : hp3_engine_due(e);
}

uint64_t hp3_engine_due(const struct hp3_engine *e)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < e->nticking; i++)
		due = hp3_min_u64(due, e->ticking[i]->due(e));
	return due;
}
