/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begins a path search: takes a slot, applies the steps of the search, and starts the resulting
 * move.
 */
#include "engine/moves/moves.h"

struct hp3_move *hp3_search_prepare(struct hp3_turn *t, uint32_t flow, enum hp3_search_kind kind)
{
	/* Initial causes; for congestion, the evidence replaces it. */
	static const uint8_t cause_of[] = {[HP3_SEARCH_OPERATOR] = HP3_CAUSE_OPERATOR,
		[HP3_SEARCH_ADVISED] = HP3_CAUSE_ADVICE,
		[HP3_SEARCH_CONGESTED] = HP3_CAUSE_RTT,
		[HP3_SEARCH_BEHIND_DRAIN] = HP3_CAUSE_RTT,
		[HP3_SEARCH_SETUP] = HP3_CAUSE_SETUP,
		[HP3_SEARCH_MESSAGE_START] = HP3_CAUSE_MESSAGE_START,
		[HP3_SEARCH_DEAD] = HP3_CAUSE_DEAD};
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = hp3_slot_take(t->e, flow, HP3_USE_MOVE);

	if (m == NULL)
		return NULL;
	if (m->use & HP3_USE_VERIFY)
		hp3_outcome_judge(t, m);
	m->from = m->to = hp3_flow_port(f);
	m->closing = (struct hp3_closing){0};
	m->t_ask = t->now;
	m->t_close = m->moved_pkts = m->moved_bytes = 0;
	m->suspended = false;
	m->error = 0;
	m->search = (struct hp3_search){.kind = (uint8_t)kind, .cause = cause_of[kind]};
	if ((f->flags & HP3_FF_PAIRED) && t->e->cfg.monitor.cycle_ns != 0)
		hp3_monitor_estimates(&f->monitor, &t->e->cfg.monitor, &m->search.before);
	if (hp3_search_is_own(&m->search))
		t->e->pairs.pairs[f->pair].nmoves++;
	return m;
}

/*
 * The input for a requested move. Idle must be proven by a reply with a right ICRC, with nothing
 * sent again since (rule 7). The newest packet can close if it is a first transmission that will be
 * answered, is not yet, and has left. For BEHIND_DRAIN, a SEND or WRITE has to close, because the
 * answers to such probes are about it (rule 2).
 */
static enum hp3_rfr_input input_for_move(const struct hp3_engine *e, const struct hp3_flow *f)
{
	const struct hp3_move *m = &e->moves[f->slot];
	bool idle = hp3_stream_idle(&f->stream), behind = m->search.kind == HP3_SEARCH_BEHIND_DRAIN;

	if (e->cfg.verbs)
		return HP3_RFR_IN_MOVE;
	if (idle && (f->flags & HP3_FF_IDLE_PROOF) && !behind)
		return HP3_RFR_IN_MOVE_IDLE;
	if (!idle && (f->flags & HP3_FF_LAST_CLOSE) && m->held_pkts == 0 &&
		!(behind && (f->flags & HP3_FF_READS)))
		return HP3_RFR_IN_MOVE_CLOSED;
	return HP3_RFR_IN_MOVE;
}

/* A move that outlives retransmissions would hide a dead path (moves.c). */
static uint64_t time_to_close(const struct hp3_engine *e, const struct hp3_move *m)
{
	return hp3_search_is_lossy(&m->search)
		       ? hp3_min_u64(e->cfg.max_hold_ns, e->cfg.close_timeout_ns)
		       : e->cfg.close_timeout_ns;
}

static void start_move(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];
	enum hp3_rfr_input input = input_for_move(t->e, f);

	hp3_slot_timer(t->e, m, &m->move_at, t->now + time_to_close(t->e, m));
	if (hp3_move_input(t, flow, input) == HP3_RFR_DO_BEHIND)
		hp3_move_close(t, flow, f->stream.hi, hp3_stream_end(&f->stream));
	else if (t->e->cfg.verbs && f->state == HP3_RFR_CLOSING) {
		hp3_move_suspend(t, m);
	}
}

void hp3_search_input(struct hp3_turn *t, struct hp3_move *m, enum hp3_search_input input)
{
	struct hp3_search_step step = hp3_search_step(m->search.kind, m->search.state, input);

	m->search.state = step.next;
	if (step.known && step.move == HP3_RFR_IN_NONE && input == HP3_SEARCH_IN_STAY)
		hp3_search_release(t->e, m, 0); /* nothing had begun */
	else if (step.move == HP3_RFR_IN_MOVE)
		start_move(t, m->flow);
	else if (step.move != HP3_RFR_IN_NONE)
		hp3_move_input(t, m->flow, step.move);
}
