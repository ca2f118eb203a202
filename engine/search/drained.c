/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches for a better path with probes of kind STANDARD (duplicates). They leave after the drain,
 * one at a time (rule 2), while the flow is suspended.
 */
#include "engine/search/search.h"

static bool ask_behind_drain(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	uint16_t ports[HP3_ROUND_PROBES];
	struct hp3_round_ask what = hp3_round_ask(t->e, m, HP3_PROBE_STANDARD);

	what.candidates = ports;
	what.drained = true;
	what.lossy = m->search.behind.lossy;
	what.patient = t->e->cfg.move_wait_ns != 0;
	what.n = hp3_paths_candidates(
		hp3_paths_of(t->e, f->pair), f->rqpn, m->from, ports, t->e->cfg.candidates, t->now);
	if (what.lossy && what.n != 0 && hp3_path_is_lossy(t->e, f, ports[0], t->now))
		return false;
	return hp3_round_begin(t, m, &what);
}

static void wait_for_answer(struct hp3_engine *e, struct hp3_move *m)
{
	uint64_t end = m->t_close + e->cfg.max_hold_ns;

	hp3_slot_timer(e, m, &m->move_at, hp3_min_u64(m->search.round.deadline, end));
}

void hp3_search_after_drain(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];

	if (hp3_probe_kind_of(t, f->pair) == HP3_PROBE_PEER || !ask_behind_drain(t, m)) {
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
		return;
	}
	hp3_send_probes(t, m);
	wait_for_answer(t->e, m);
}

static void conclude_drained(struct hp3_turn *t, struct hp3_move *m)
{
	bool won = hp3_round_won(t, m);

	hp3_search_input(t, m, won ? HP3_SEARCH_IN_GO : HP3_SEARCH_IN_STAY);
}

void hp3_drained_step(struct hp3_turn *t, struct hp3_move *m)
{
	if (m->search.round.outcome != HP3_ROUND_PENDING)
		conclude_drained(t, m);
	else
		wait_for_answer(t->e, m);
}

void hp3_search_marked(struct hp3_move *m)
{
	if (m->search.kind == HP3_SEARCH_BEHIND_DRAIN)
		m->search.behind.marked = true;
}

/* Could only the outstanding probe have caused this reply? */
static bool is_answer(const struct hp3_move *m, const struct hp3_view *v)
{
	if (!(v->flags & HP3_VF_AETH) || (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)))
		return false;
	return HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK && v->psn == m->closing.psn;
}

bool hp3_search_reply(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_move *m = &t->e->moves[t->e->flows[flow].slot];
	int i = hp3_round_in_air(&m->search.round);
	bool ce;

	if (m->search.kind != HP3_SEARCH_BEHIND_DRAIN || i == HP3_NO_PROBE || !is_answer(m, v))
		return false;
	ce = (v->flags & HP3_VF_BECN) || m->search.behind.marked;
	m->search.behind.marked = false;
	t->e->stats.probe_replies++;
	if (hp3_round_reply(&m->search.round, &t->e->cfg.round,
		    hp3_round_probe_id(&m->search.round, (uint32_t)i), ce,
		    t->now) != HP3_ROUND_PENDING) {
		conclude_drained(t, m);
	} else {
		hp3_send_probes(t, m);
		wait_for_answer(t->e, m);
	}
	return true;
}
