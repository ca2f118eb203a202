/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of search_steps.h, compiled (begin.c applies the resulting inputs to the move), and the
 * end of a search.
 */
#include "engine/moves/moves.h"

static const struct hp3_search_step search_steps[HP3_SEARCH_KIND_MAX][HP3_SEARCH_STATE_MAX]
						[HP3_SEARCH_IN_MAX] = {
#define X(kind, state, input, to, wish)                                                            \
	[HP3_SEARCH_##kind][HP3_SEARCH_##state][HP3_SEARCH_IN_##input] = {                         \
		.known = true, .next = HP3_SEARCH_##to, .move = HP3_RFR_IN_##wish},
							HP3_SEARCH_STEPS(X)
#undef X
};

struct hp3_search_step hp3_search_step(
	enum hp3_search_kind kind, enum hp3_search_state state, enum hp3_search_input input)
{
	struct hp3_search_step step = search_steps[kind][state][input];

	if (!step.known)
		step.next = (uint8_t)state;
	return step;
}

static uint64_t cooldown_of(const struct hp3_engine *e, const struct hp3_move *m)
{
	uint64_t rtts = (uint64_t)m->search.before.base_rtt_ns * e->cfg.cooldown_rtts;

	return hp3_max_u64(rtts, e->cfg.cooldown_ns);
}

void hp3_search_ended(struct hp3_turn *t, uint32_t flow, bool slow, uint64_t least_ns)
{
	hp3_backoff_search(&t->e->flows[flow].backoff, &t->e->cfg.round, slow, least_ns,
		(uint32_t)hp3_random(&t->e->rng), t->now);
}

void hp3_search_settle(struct hp3_turn *t, const struct hp3_move *m, bool moved)
{
	struct hp3_flow *f = &t->e->flows[m->flow];

	if (!hp3_search_is_own(&m->search))
		return;
	if (m->search.kind == HP3_SEARCH_MESSAGE_START) {
		if (moved)
			hp3_monitor_offer_base(
				&f->monitor, hp3_round_unmarked(&m->search.round)->rtt_ns);
	} else if (moved) {
		hp3_search_ended(t, m->flow, false, cooldown_of(t->e, m));
		hp3_monitor_offer_base(
			&f->monitor, m->search.round.probe[m->search.round.winner].rtt_ns);
	} else if (!(m->use & HP3_USE_REPROBE) && !hp3_search_is_lossy(&m->search) &&
		   m->search.kind != HP3_SEARCH_ADVISED) { /* not the flow's own error */
		hp3_search_ended(
			t, m->flow, hp3_search_is_slow(&m->search), t->e->cfg.round.guard_ns);
	}
}

void hp3_search_release(struct hp3_engine *e, const struct hp3_move *m, uint8_t use)
{
	if (hp3_search_is_own(&m->search))
		e->pairs.pairs[e->flows[m->flow].pair].nmoves--;
	hp3_slot_drop(e, m->flow, HP3_USE_MOVE | use);
}
