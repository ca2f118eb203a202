/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision record: events, their causes, and whether a move paid off. */
#include "engine/internal.h"

/* Before and after are compared with these margins, percent. */
#define FASTER    110u
#define AS_FAST   95u
#define SLOWER    80u
#define RTT_DOWN  90u
#define MARKS     20u /* permille of replies */
#define MIN_BYTES 65536u /* less sent since: nothing can be said */

struct hp3_event *hp3_event(struct hp3_engine *e, uint32_t flow, enum hp3_event_type type,
	uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_act *a = hp3_act(acts, HP3_ACT_EVENT, flow);

	a->slot = f->slot;
	a->event = (struct hp3_event){.t_ns = now,
		.id = ++e->events,
		.type = (uint8_t)type,
		.cause = HP3_CAUSE_SETUP,
		.pairing = f->pairing,
		.from = hp3_flow_port(f),
		.to = hp3_flow_port(f),
		.flow = flow,
		.rqpn = f->rqpn,
		.lqpn = f->lqpn,
		.pair = f->pair};
	return &a->event;
}

uint8_t hp3_cause_of(const uint8_t *cycles, uint32_t n)
{
	uint8_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all |= cycles[i];
	if (all & HP3_CYCLE_CNP)
		return HP3_CAUSE_CNP;
	return all & HP3_CYCLE_ECN ? HP3_CAUSE_ECN : HP3_CAUSE_RTT;
}

/* Keeps the slot: for the judgement, or else while CNPs of the old path may come. */
void hp3_outcome_watch(struct hp3_engine *e, uint32_t flow, uint64_t id, uint64_t now)
{
	bool judged = e->cfg.verify_ns != 0 && e->cfg.monitor.cycle_ns != 0;
	uint64_t wait = judged ? e->cfg.verify_ns : e->cfg.cc.max_rtt_ns;
	struct hp3_move *m;

	if (wait == 0 || (!judged && e->cfg.cc.mode == HP3_CC_OFF))
		return;
	m = hp3_slot_take(e, flow, HP3_USE_VERIFY);
	m->ref = judged ? id : 0;
	m->bytes0 = e->flows[flow].bytes;
	hp3_slot_timer(e, m, &m->verify_at, now + wait);
}

/* By delivery rate; where the rate is the application's, by what the path does to it. */
static enum hp3_payoff payoff(const struct hp3_estimates *was, const struct hp3_estimates *is)
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

void hp3_outcome_judge(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[m->flow];
	struct hp3_event *ev;

	if (m->ref == 0) {
		hp3_slot_drop(e, m->flow, HP3_USE_VERIFY);
		return;
	}
	ev = hp3_event(e, m->flow, HP3_EV_OUTCOME, now, acts);
	ev->ref = m->ref;
	ev->cause = m->errand.cause;
	ev->from = m->from;
	ev->path = m->errand.before;
	if (f->flags & HP3_FF_PAIRED)
		hp3_monitor_estimates(&f->monitor, &e->cfg.monitor, &ev->after);
	ev->outcome = HP3_PAYOFF_UNKNOWN;
	if (f->bytes - m->bytes0 >= MIN_BYTES && hp3_flow_port(f) == m->to)
		ev->outcome = (uint8_t)payoff(&ev->path, &ev->after);
	e->stats.paid_off += ev->outcome == HP3_PAYOFF_BETTER;
	e->stats.wasted += ev->outcome == HP3_PAYOFF_WORSE;
	hp3_slot_drop(e, m->flow, HP3_USE_VERIFY);
}

const char *hp3_event_name(enum hp3_event_type t)
{
	static const char *const names[] = {[HP3_EV_SWITCH] = "switch",
		[HP3_EV_IDLE_SWITCH] = "idle_switch",
		[HP3_EV_RECOVER] = "recover",
		[HP3_EV_EPOCH] = "epoch",
		[HP3_EV_PAIR] = "pair",
		[HP3_EV_UNPAIR] = "unpair",
		[HP3_EV_ROUND] = "round",
		[HP3_EV_SEVERE] = "severe",
		[HP3_EV_SUSPEND] = "suspend",
		[HP3_EV_FAILOVER] = "failover",
		[HP3_EV_RESUME] = "resume",
		[HP3_EV_OUTCOME] = "outcome",
		[HP3_EV_REPORT] = "report",
		[HP3_EV_REPLIES] = "replies",
		[HP3_EV_WOULD] = "would"};

	return t < HP3_EV_MAX ? names[t] : "?";
}

const char *hp3_cause_name(enum hp3_cause c)
{
	static const char *const names[] = {[HP3_CAUSE_OPERATOR] = "operator",
		[HP3_CAUSE_SETUP] = "setup",
		[HP3_CAUSE_STOP] = "stop",
		[HP3_CAUSE_CNP] = "cnp",
		[HP3_CAUSE_ECN] = "ecn",
		[HP3_CAUSE_RTT] = "rtt",
		[HP3_CAUSE_DEAD] = "dead",
		[HP3_CAUSE_WAKE] = "wake"};

	return c < HP3_CAUSE_MAX ? names[c] : "?";
}

const char *hp3_payoff_name(enum hp3_payoff p)
{
	static const char *const names[] = {[HP3_PAYOFF_UNKNOWN] = "unknown",
		[HP3_PAYOFF_BETTER] = "better",
		[HP3_PAYOFF_SAME] = "same",
		[HP3_PAYOFF_WORSE] = "worse"};

	return p < HP3_PAYOFF_MAX ? names[p] : "?";
}
