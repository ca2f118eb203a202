/* SPDX-License-Identifier: BSD-3-Clause */
/* Was the new path better? For events and counters only: no decision depends on it. */
#include "engine/moves/moves.h"

/* Before and after are compared with these margins, percent. */
#define FASTER    110u
#define AS_FAST   95u
#define SLOWER    80u
#define RTT_DOWN  90u
#define MARKS     20u /* permille of replies */
#define MIN_BYTES 65536u /* bytes sent since the move: fewer give no result */

/*
 * The time of the search counts, too: a search begins a few monitoring cycles after another flow
 * came to the path. Until then, the estimates are still those of a path without that flow.
 */
void hp3_outcome_prepare(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];

	m->was = (struct hp3_estimates){0};
	if ((f->flags & HP3_FF_PAIRED) && t->e->cfg.monitor.cycle_ns != 0)
		hp3_monitor_estimates(&f->monitor, &t->e->cfg.monitor, &m->was);
}

/* Keeps the slot until the result is judged, or while CNPs of the old path may arrive. */
void hp3_outcome_watch(struct hp3_turn *t, uint32_t flow, uint64_t id)
{
	bool judged = t->e->cfg.verify_ns != 0 && t->e->cfg.monitor.cycle_ns != 0;
	uint64_t wait = judged ? t->e->cfg.verify_ns : t->e->cfg.cc.max_rtt_ns;
	struct hp3_move *m;

	if (wait == 0 || (!judged && t->e->cfg.cc.mode == HP3_CC_OFF))
		return;
	m = hp3_slot_take(t->e, flow, HP3_USE_VERIFY);
	m->ref = judged ? id : 0;
	m->bytes0 = t->e->flows[flow].bytes;
	hp3_slot_timer(t->e, m, &m->verify_at, t->now + wait);
}

/* Compares delivery rates. If the application limits the rate, compares marks and RTTs. */
static enum hp3_payoff payoff_of_move(
	const struct hp3_estimates *was, const struct hp3_estimates *is)
{
	bool calmer = is->marked_permille + MARKS <= was->marked_permille ||
		      (uint64_t)is->rtt_ns * 100 <= (uint64_t)was->rtt_ns * RTT_DOWN;
	uint64_t percent;

	if (was->rate_kbps == 0 || is->rate_kbps == 0)
		return HP3_PAYOFF_UNKNOWN;
	percent = (uint64_t)is->rate_kbps * 100 / was->rate_kbps;
	if (percent >= FASTER || (calmer && percent >= AS_FAST))
		return HP3_PAYOFF_BETTER;
	return percent < SLOWER && !calmer ? HP3_PAYOFF_WORSE : HP3_PAYOFF_SAME;
}

void hp3_outcome_judge(struct hp3_turn *t, struct hp3_move *m)
{
	struct hp3_flow *f = &t->e->flows[m->flow];
	struct hp3_event *event;

	if (m->ref == 0) {
		hp3_slot_drop(t->e, m->flow, HP3_USE_VERIFY);
		return;
	}
	event = hp3_event(t, m->flow, HP3_EVENT_OUTCOME);
	event->ref = m->ref;
	event->cause = m->search.cause;
	event->from = m->from;
	event->path = m->was;
	if (f->flags & HP3_FF_PAIRED)
		hp3_monitor_estimates(&f->monitor, &t->e->cfg.monitor, &event->after);
	event->outcome = HP3_PAYOFF_UNKNOWN;
	if (f->bytes - m->bytes0 >= MIN_BYTES && hp3_flow_port(f) == m->to)
		event->outcome = (uint8_t)payoff_of_move(&event->path, &event->after);
	t->e->stats.paid_off += event->outcome == HP3_PAYOFF_BETTER;
	t->e->stats.wasted += event->outcome == HP3_PAYOFF_WORSE;
	hp3_slot_drop(t->e, m->flow, HP3_USE_VERIFY);
}
