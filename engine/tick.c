/* SPDX-License-Identifier: BSD-3-Clause */
/* What time brings: deadlines of slots, flows to be looked at, traces, reports, ageing. */
#include "engine/pass/pass.h"

#define ACTS_PER_SLOT 10u /* most that one call below adds */
#define AGE_STEP_NS   50000000u /* ageing looks at a part of the table this often */
#define AGE_STEPS     64u /* steps of one round through the table */

/* The one deadline that has come first. */
static void due(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	if (m->pace_at <= now)
		hp3_rate_due(e, m, now, acts);
	else if (m->cnp_at <= now)
		hp3_cnps_end(e, m, false, acts);
	else if (m->move_at <= now && m->errand.state != HP3_ERRAND_QUIET)
		hp3_errand_timeout(e, m, now, acts);
	else if (m->move_at <= now)
		hp3_move_input(e, m->flow, HP3_RFR_IN_TIMEOUT, now, acts);
	else if (m->guard_at <= now)
		hp3_guard_end(e, m);
	else if (m->look_at <= now)
		hp3_look_due(e, m, now, acts);
	else
		hp3_outcome_judge(e, m, now, acts);
}

static void slots_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts)
{
	uint64_t next = UINT64_MAX;

	if (now < e->move_due)
		return;
	for (uint32_t i = 0; i < e->nmoves;) {
		struct hp3_move *m = &e->moves[e->slots[i]];

		if (m->deadline > now) {
			next = m->deadline < next ? m->deadline : next;
			i++;
			continue;
		}
		if (acts->n + ACTS_PER_SLOT > HP3_ACTS_MAX) {
			acts->more = true;
			return;
		}
		due(e, m, now, acts);
	}
	e->move_due = next;
}

/* Rule 11: never evicted unless nothing is in flight, or nobody has asked for very long; never in a
 * move. */
static bool is_old(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
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

static void age(struct hp3_engine *e, uint64_t now)
{
	uint32_t n = e->cfg.max_flows / AGE_STEPS + 1;

	for (; n > 0; n--) {
		uint32_t i = e->age_hand;

		hp3_backoff_age(&e->flows[i].backoff, &e->cfg.round, now);
		if (is_old(e, &e->flows[i], now)) {
			hp3_flow_remove(e, i, now);
			e->stats.flows_aged++;
		}
		e->age_hand = i + 1 == e->cfg.max_flows ? 0 : i + 1;
	}
	e->age_due = now + AGE_STEP_NS;
}

uint64_t hp3_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts)
{
	acts->more = false;
	slots_tick(e, now, acts);
	if (!acts->more)
		hp3_active_tick(e, now, acts);
	if (e->tracing != NULL && !acts->more)
		hp3_trace_tick(e, now, acts);
	if (now >= e->age_due)
		age(e, now);
	if (e->tell.ring != NULL && !acts->more)
		hp3_tell_tick(e, now, acts);
	return hp3_engine_due(e);
}

uint64_t hp3_engine_due(const struct hp3_engine *e)
{
	uint64_t due = e->move_due < e->active_due ? e->move_due : e->active_due;

	if (e->tracing != NULL && e->tracing->due < due)
		due = e->tracing->due;
	if (e->tell.ring != NULL && e->tell.due < due)
		due = e->tell.due;
	return due < e->age_due ? due : e->age_due;
}
