/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision record: fills in the common fields of an event, and names its values. */
#include "base/names.h"
#include "engine/common.h"

struct hp3_event *hp3_event(struct hp3_turn *t, uint32_t flow, enum hp3_event_type type)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_act *a = hp3_act(t, HP3_ACT_EVENT, flow);

	a->event = (struct hp3_event){.t_ns = t->now,
		.id = ++t->e->events,
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

uint8_t hp3_cause_reported(
	const struct hp3_engine *e, const struct hp3_flow *f, const uint8_t *cycles, uint32_t n)
{
	uint8_t cause = hp3_cause_of(cycles, n);

	if (!(f->watch & HP3_FW_COMPLETIONS))
		return cause;
	if (cause != HP3_CAUSE_CNP)
		return HP3_CAUSE_COMPLETION;
	return e->cfg.copies ? HP3_CAUSE_CNP : HP3_CAUSE_PORT_CNP;
}

const char *hp3_event_name(enum hp3_event_type t)
{
	static const char *const names[] = {HP3_EVENT_TYPES(HP3_NAME_TEXT)};

	return HP3_NAME(names, t);
}

const char *hp3_cause_name(enum hp3_cause c)
{
	static const char *const names[] = {HP3_CAUSES(HP3_NAME_TEXT)};

	return HP3_NAME(names, c);
}

const char *hp3_payoff_name(enum hp3_payoff p)
{
	static const char *const names[] = {[HP3_PAYOFF_UNKNOWN] = "unknown",
		[HP3_PAYOFF_BETTER] = "better",
		[HP3_PAYOFF_SAME] = "same",
		[HP3_PAYOFF_WORSE] = "worse"};

	return HP3_NAME(names, p);
}
