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
	static const char *const names[] = {[HP3_EVENT_SWITCH] = "switch",
		[HP3_EVENT_IDLE_SWITCH] = "idle_switch",
		[HP3_EVENT_RECOVER] = "recover",
		[HP3_EVENT_EPOCH] = "epoch",
		[HP3_EVENT_PAIR] = "pair",
		[HP3_EVENT_UNPAIR] = "unpair",
		[HP3_EVENT_ROUND] = "round",
		[HP3_EVENT_SEVERE] = "severe",
		[HP3_EVENT_SUSPEND] = "suspend",
		[HP3_EVENT_FAILOVER] = "failover",
		[HP3_EVENT_RESUME] = "resume",
		[HP3_EVENT_OUTCOME] = "outcome",
		[HP3_EVENT_REPORT] = "report",
		[HP3_EVENT_REPLIES] = "replies",
		[HP3_EVENT_WOULD] = "would",
		[HP3_EVENT_MODE] = "mode",
		[HP3_EVENT_BYPASS] = "bypass",
		[HP3_EVENT_LINK] = "link",
		[HP3_EVENT_KEYED] = "keyed",
		[HP3_EVENT_IDENTITY] = "identity",
		[HP3_EVENT_CLONED] = "cloned"};

	return HP3_NAME(names, t);
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
		[HP3_CAUSE_MESSAGE_START] = "message_start",
		[HP3_CAUSE_LOSS] = "loss",
		[HP3_CAUSE_COMPLETION] = "completion",
		[HP3_CAUSE_PORT_CNP] = "port_cnp",
		[HP3_CAUSE_ADVICE] = "advice",
		[HP3_CAUSE_SPRAY] = "spray"};

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
