/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next step of a search (search/search_state.h), after an answer or a time-out. Between two rounds,
 * answers are recorded and decide nothing.
 */
#include "engine/search/search.h"
#include "engine/spray/spray.h"

static void step_search(struct hp3_turn *t, struct hp3_move *m)
{
	/* by kind; OPERATOR has no probes */
	static void (*const steps[HP3_SEARCH_KIND_MAX])(struct hp3_turn *, struct hp3_move *) = {
		[HP3_SEARCH_ADVISED] = hp3_advised_step,
		[HP3_SEARCH_CONGESTED] = hp3_congested_step,
		[HP3_SEARCH_BEHIND_DRAIN] = hp3_drained_step,
		[HP3_SEARCH_SETUP] = hp3_setup_step,
		[HP3_SEARCH_MESSAGE_START] = hp3_message_start_step,
		[HP3_SEARCH_DEAD] = hp3_dead_step};

	hp3_round_tick(&m->search.round, &t->e->cfg.round, t->now);
	if (steps[m->search.kind] != NULL)
		steps[m->search.kind](t, m);
}

/*
 * The longest hold ends the wait of packets behind a drain, or of a message, even if a probe is
 * outstanding.
 */
static bool is_held_too_long(const struct hp3_engine *e, const struct hp3_move *m, uint64_t now)
{
	return e->flows[m->flow].state == HP3_RFR_PROBING && now >= m->t_close + e->cfg.max_hold_ns;
}

void hp3_search_timeout(struct hp3_turn *t, struct hp3_move *m)
{
	if (is_held_too_long(t->e, m, t->now))
		hp3_search_input(t, m, HP3_SEARCH_IN_HELD);
	else
		step_search(t, m);
}

void hp3_search_answer(
	struct hp3_turn *t, struct hp3_move *m, uint32_t id, bool ce, uint32_t took_ns)
{
	const struct hp3_probe *p = &m->search.round.probe[id & (HP3_ROUND_PROBES - 1)];

	hp3_round_timed(&m->search.round, &t->e->cfg.round, id, ce, took_ns, t->now);
	if (t->e->spraying != NULL && p->state == HP3_PROBE_ANSWERED)
		hp3_spray_probe_answered(
			t->e, &t->e->flows[m->flow], p->port, p->rtt_ns, ce, t->now);
	hp3_search_timeout(t, m);
}
