/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Shared by all modules of engine/: the engine's memory (state.h), events, actions, the port of a
 * flow. The list below has the modules of engine/, lowest layer first. A module may call the
 * modules before it in the list, and none after it. scripts/check-modules.py checks this rule.
 *
 *     flows    flow records: table, keys, address pairs
 *     paths    state of paths: path tables, traces, comparison of ports, the path that a flow uses
 *     moves    how a flow moves: slots and FIFOs, rates, withheld CNPs, failover, replies
 *     spray    spraying (sender) and resequencing (receiver)
 *     life     a flow's life: added, paired, unpaired, started anew, removed
 *     search   path searches: rounds of probes, by trigger
 *     pass     packet handling
 *
 * life and search do not call each other. engine.c (the engine's memory), tick.c (deadlines) and
 * info.c (state for operators) may call all modules.
 */
#include "base/hash.h"
#include "base/minmax.h"
#include "engine/state.h"
#include "roce/icrc.h"

/*
 * Common arguments of the functions that run during one call of the engine: the engine, the time,
 * and the list to which they add actions. The path of steady packets (pass/burst.h) does not use
 * this struct.
 */
struct hp3_turn {
	struct hp3_engine *e;
	uint64_t now;
	struct hp3_acts *acts;
};

/* event.c: the decision record */
struct hp3_event *hp3_event(struct hp3_turn *t, uint32_t flow, enum hp3_event_type type);
uint8_t hp3_cause_of(const uint8_t *cycles, uint32_t n);
/*
 * The cause that events report. In verbs mode, the engine sees no packets of data, so COMPLETION
 * replaces ECN and RTT. If the caller does not pass copies of CNPs, PORT_CNP replaces CNP.
 */
uint8_t hp3_cause_reported(
	const struct hp3_engine *e, const struct hp3_flow *f, const uint8_t *cycles, uint32_t n);

static inline uint16_t hp3_flow_port(const struct hp3_flow *f)
{
	return f->flags & HP3_FF_MOVED ? f->port : f->home;
}

/* May the engine search for paths? If not, the engine begins no rounds of probes and no traces. */
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
