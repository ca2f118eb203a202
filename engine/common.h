/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_COMMON_H
#define HP3_ENGINE_COMMON_H
/*
 * What every room of engine/ uses: the engine's memory (state.h), events, actions, the port of a
 * flow. The rooms, from the lowest; each may call those above it in this list, and none below
 * (scripts/check-rooms.py):
 *
 *     flows    where a flow is kept: table, keys, address pairs
 *     paths    what is known of paths: counts, traces, names, the path of a flow in use
 *     moves    how a flow moves: slots and FIFOs, rates, CNPs that wait, failover, replies
 *     spray    flows that take several paths at once, and those of peers that do
 *     life     a flow's life: added, paired, unpaired, started over, removed
 *     seek     where to: rounds of probes, by what set them off
 *     pass     what happens to a packet
 *
 * life and seek know nothing of each other. On top of all: engine.c (the engine's memory), tick.c
 * (what time brings), info.c.
 */
#include "base/hash.h"
#include "base/minmax.h"
#include "engine/state.h"
#include "roce/icrc.h"

/*
 * One call of the engine that has left the steady path: whose, when, and where its actions go.
 * Nothing makes one for a packet that only passes.
 */
struct hp3_turn {
	struct hp3_engine *e;
	uint64_t now;
	struct hp3_acts *acts;
};

/* event.c: the decision record */
struct hp3_event *hp3_event(struct hp3_turn *t, uint32_t flow, enum hp3_event_type type);
uint8_t hp3_cause_of(const uint8_t *cycles, uint32_t n);
/* The same, as people are told: round trips of a queue pair of which no packet is seen are not. */
uint8_t hp3_cause_told(
	const struct hp3_engine *e, const struct hp3_flow *f, const uint8_t *cycles, uint32_t n);

static inline uint16_t hp3_flow_port(const struct hp3_flow *f)
{
	return f->flags & HP3_FF_MOVED ? f->port : f->home;
}

/* Are better paths looked for? Else nothing is asked for to be sent, but the CNPs of `cc`. */
static inline bool hp3_may_search(const struct hp3_engine *e)
{
	return e->cfg.moves_allowed || (e->cfg.observe && !e->cfg.silent);
}

static inline bool hp3_pkt_icrc_ok(struct hp3_engine *e, const struct hp3_pkt *pkt)
{
	if (pkt->trusted || hp3_icrc_ok(pkt->frame, &pkt->v))
		return true;
	e->stats.bad_icrc++;
	return false;
}

static inline struct hp3_act *hp3_act(struct hp3_turn *t, enum hp3_act_kind kind, uint32_t flow)
{
	struct hp3_act *a = &t->acts->act[t->acts->n++];

	a->kind = (uint8_t)kind;
	a->flags = 0;
	a->flow = flow;
	return a;
}

static inline bool is_watched(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return e->cfg.monitor.cycle_ns != 0 && (f->flags & HP3_FF_PAIRED);
}

#endif
