/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends traces within their rate limit, pair by pair. Each trace gets a result. */
#include "engine/paths/trace_state.h"
#include <errno.h>
#include "engine/info.h"
#include "engine/part.h"

#define AIR_MASK       (HP3_TRACE_AIR - 1)
#define PAIRS_PER_CALL 256u /* most pairs examined per call */
#define PERIOD_NS      20000000u /* longest time between calls */
#define RATE_PERIOD_NS 1000000000u

void hp3_trace_forget(struct hp3_engine *e, uint32_t pair)
{
	struct hp3_tracing *t = e->tracing;

	hp3_trace_leave_map(e, &t->pair[pair]);
	t->pair[pair] = (struct hp3_trace_pair){.map = HP3_NO_MAP};
	for (uint32_t i = 0; i < HP3_TRACE_AIR; i++) {
		if (t->air[i].pair == pair)
			t->air[i].use = HP3_TRACE_FREE;
	}
	if (t->wanted.pair == pair)
		t->wanted.n = t->wanted.next = t->wanted.reported = 0;
}

static struct hp3_trace_air *free_air(struct hp3_tracing *t)
{
	for (uint32_t i = 0; i < HP3_TRACE_AIR; i++) {
		if (t->air[i].use == HP3_TRACE_FREE)
			return &t->air[i];
	}
	return NULL;
}

static bool may_send(struct hp3_turn *t)
{
	return t->acts->n < HP3_ACTS_MAX &&
	       hp3_limit_ready(&t->e->cfg.traces, t->e->tracing->spent_until, t->now) &&
	       free_air(t->e->tracing) != NULL;
}

static struct hp3_trace_air *send_trace(struct hp3_turn *t, const struct hp3_trace_want *w)
{
	const struct hp3_flow *f = &t->e->flows[w->flow];
	struct hp3_trace_air *air = free_air(t->e->tracing);
	struct hp3_act *a = hp3_act(t, HP3_ACT_TRACE, w->flow);

	*air = (struct hp3_trace_air){.end = t->now + 2 * t->e->cfg.trace_timeout_ns,
		.id = ((uint32_t)hp3_random(&t->e->rng) & ~AIR_MASK) |
		      (uint32_t)(air - t->e->tracing->air),
		.pair = f->pair,
		.use = HP3_TRACE_PAIR};
	a->port = w->port;
	a->op = w->ttl;
	a->flags = w->opcode;
	a->probe_id = air->id;
	a->psn = (f->stream.una - 1) & HP3_PSN_MASK;
	hp3_limit_spend(&t->e->cfg.traces, &t->e->tracing->spent_until, t->now);
	t->e->stats.trace_sent++;
	return air;
}

/* Traces for an operator come first. */
static void send_wanted(struct hp3_turn *t)
{
	struct hp3_trace_wanted *w = &t->e->tracing->wanted;
	uint32_t flow;

	while (w->next < w->n && may_send(t)) {
		const struct hp3_trace_answer *a = &w->answer[w->next];
		struct hp3_trace_air *air;

		flow = hp3_trace_flow(t->e, w->pair, t->e->tracing->pair[w->pair].qpn, t->now);
		if (flow == HP3_NO_FLOW)
			return;
		air = send_trace(
			t, &(struct hp3_trace_want){.flow = flow, .port = a->port, .ttl = a->ttl});
		air->use = HP3_TRACE_OPERATOR;
		air->index = (uint8_t)w->next++;
	}
}

static void take_outcome(struct hp3_engine *e, struct hp3_trace_air *air,
	enum hp3_trace_outcome outcome, bool ipv6, const uint8_t hop[16], uint64_t now)
{
	struct hp3_trace_wanted *w = &e->tracing->wanted;
	uint32_t label = HP3_LABEL_NONE;
	uint8_t use = air->use;
	int at;

	air->use = HP3_TRACE_FREE;
	if (outcome == HP3_TRACE_HOP) {
		at = hp3_hop_met(e, ipv6, hop);
		if (at >= 0 && e->tracing->hop[at].seen > 1)
			label = (uint32_t)at;
	} else if (outcome == HP3_TRACE_REACHED) {
		e->pairs.pairs[air->pair].peer_seen = now;
	}
	if (use == HP3_TRACE_PAIR) {
		hp3_trace_result(e, air->pair, label, outcome == HP3_TRACE_REACHED, now);
		return;
	}
	w->answer[air->index].outcome = (uint8_t)outcome;
	w->answer[air->index].ipv6 = ipv6;
	memcpy(w->answer[air->index].hop, hop, 16);
	w->reported++;
}

void hp3_hop_reported(struct hp3_engine *e, uint32_t id, enum hp3_trace_outcome outcome, bool ipv6,
	const void *hop, uint64_t now)
{
	struct hp3_trace_air *air;
	uint8_t addr[16] = {0};

	if (e->tracing == NULL)
		return;
	air = &e->tracing->air[id & AIR_MASK];
	if (air->use == HP3_TRACE_FREE || air->id != id)
		return;
	if (outcome == HP3_TRACE_HOP || outcome == HP3_TRACE_ODD)
		memcpy(addr, hop, ipv6 ? 16 : 4);
	take_outcome(e, air, outcome, ipv6, addr, now);
	e->tracing->due = now; /* the next one may go */
}

static void expire_traces(struct hp3_engine *e, uint64_t now)
{
	static const uint8_t none[16];

	for (uint32_t i = 0; i < HP3_TRACE_AIR; i++) {
		struct hp3_trace_air *air = &e->tracing->air[i];

		if (air->use != HP3_TRACE_FREE && air->end <= now)
			take_outcome(e, air, HP3_TRACE_SILENT, false, none, now);
	}
}

/* Adds an action for each trace that is due. */
static void tick_traces(struct hp3_turn *t)
{
	struct hp3_tracing *tracing = t->e->tracing;
	uint32_t looks = hp3_min_u32(t->e->cfg.max_pairs, PAIRS_PER_CALL);
	uint64_t period = RATE_PERIOD_NS / t->e->cfg.traces.rate;
	struct hp3_trace_want w;

	if (t->now < tracing->due)
		return;
	expire_traces(t->e, t->now);
	send_wanted(t);
	for (; looks > 0 && may_send(t); looks--) {
		uint32_t pair = tracing->hand;

		tracing->hand = pair + 1 < t->e->cfg.max_pairs ? pair + 1 : 0;
		if (t->e->pairs.pairs[pair].nflows != 0 && hp3_trace_next(t->e, pair, t->now, &w))
			send_trace(t, &w);
	}
	tracing->due = t->now + hp3_min_u64(period, PERIOD_NS);
}

/* --- for operators --- */

int hp3_trace_ask(struct hp3_engine *e, uint32_t flow, uint8_t ttl, const uint16_t *port,
	uint32_t n, uint64_t now)
{
	struct hp3_trace_wanted *w;
	uint32_t pair;

	if (e->tracing == NULL)
		return -EPERM;
	if (flow >= e->cfg.max_flows || !(e->flows[flow].flags & HP3_FF_USED))
		return -ENOENT;
	w = &e->tracing->wanted;
	pair = e->flows[flow].pair;
	if (w->reported < w->n)
		return -EBUSY;
	if (ttl == 0)
		ttl = e->tracing->pair[pair].ttl;
	if (ttl == 0 || hp3_trace_flow(e, pair, e->tracing->pair[pair].qpn, now) == HP3_NO_FLOW)
		return -ENODATA;
	*w = (struct hp3_trace_wanted){
		.pair = pair, .n = n < HP3_TRACE_WANTED ? n : HP3_TRACE_WANTED};
	for (uint32_t i = 0; i < w->n; i++)
		w->answer[i] = (struct hp3_trace_answer){.port = port[i], .ttl = ttl};
	e->tracing->due = now;
	return (int)w->n;
}

uint32_t hp3_trace_answers(
	const struct hp3_engine *e, struct hp3_trace_answer *answer, uint32_t *missing)
{
	const struct hp3_trace_wanted *w;

	*missing = 0;
	if (e->tracing == NULL)
		return 0;
	w = &e->tracing->wanted;
	*missing = w->n - w->reported;
	memcpy(answer, w->answer, w->n * sizeof(*answer));
	return w->n;
}

static bool has_traces(const struct hp3_engine_config *cfg)
{
	return cfg->probing && cfg->trace;
}

static void take_traces(struct hp3_engine *e, struct hp3_arena *a)
{
	struct hp3_tracing t = {0};

	HP3_TAKE(a, e->tracing, 1);
	HP3_TAKE(a, t.pair, e->cfg.max_pairs);
	if (a->memory != NULL)
		*e->tracing = t;
}

static void init_traces(struct hp3_engine *e)
{
	for (uint32_t i = 0; i < e->cfg.max_pairs; i++)
		e->tracing->pair[i] = (struct hp3_trace_pair){.map = HP3_NO_MAP};
}

static uint64_t traces_due(const struct hp3_engine *e)
{
	return e->tracing->due;
}

const struct hp3_part hp3_traces_part = {.is_on = has_traces,
	.take = take_traces,
	.init = init_traces,
	.tick = tick_traces,
	.due = traces_due};
