/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Shared by the files that implement the states of trace.h. The functions of trace_turn.c choose
 * the next trace and evaluate its result. The functions of trace_state.c change the state, and
 * update the path table and its counts of flows per path.
 */
#include "engine/flows/barred.h"
#include "engine/paths/paths.h"

/* trace_turn.c */
struct hp3_trace_want {
	uint32_t flow;
	uint16_t port;
	uint8_t ttl;
	uint8_t opcode; /* 0: the opcode of probes */
};
/* True: trace *w, and call hp3_trace_result() with the result. */
bool hp3_trace_next(struct hp3_engine *e, uint32_t pair, uint64_t now, struct hp3_trace_want *w);
/* `label`: number of the hop, or HP3_LABEL_NONE. `reached`: the peer itself answered. */
void hp3_trace_result(
	struct hp3_engine *e, uint32_t pair, uint32_t label, bool reached, uint64_t now);

/* trace_state.c */
/*
 * The first flow of the pair whose QPN traces may carry. `with`: its remote QPN is `qpn`; false:
 * its remote QPN differs from `qpn`. HP3_NO_FLOW: none.
 */
uint32_t hp3_trace_find_flow(const struct hp3_engine *e, uint32_t pair, uint32_t qpn, bool with);
/*
 * A flow of the pair whose QPN traces may carry, preferably the flow with QPN `qpn`. HP3_NO_FLOW:
 * none.
 */
uint32_t hp3_trace_flow(const struct hp3_engine *e, uint32_t pair, uint32_t qpn, uint64_t now);
void hp3_trace_leave_map(struct hp3_engine *e, struct hp3_trace_pair *t);
/*
 * Clears the paths of all ports in the path table. `void_all`: also clears the results of the
 * paths.
 */
void hp3_trace_clear_paths(struct hp3_engine *e, uint32_t pair, bool void_all);
/* Stores the path of a port. True: it had another path before, so routes have changed. */
bool hp3_trace_set_port(
	struct hp3_engine *e, uint32_t pair, uint16_t port, uint32_t label, uint64_t now);
/* Begins to find the TTL, first at `hint` if `hint` is not 0. */
void hp3_trace_find_ttl(struct hp3_engine *e, uint32_t pair, uint8_t hint, uint64_t now);
void hp3_trace_rest(struct hp3_engine *e, uint32_t pair, uint64_t now);
/* A wrong result: clears all results. Begins to find the TTL again, or rests (trace.h). */
void hp3_trace_wrong(struct hp3_engine *e, uint32_t pair, uint64_t now);

/*
 * The TTL is found, and the sample ports have their paths. Shares the map of another pair, or
 * learns a map.
 */
void hp3_trace_found(struct hp3_engine *e, uint32_t pair, uint64_t now);
/*
 * A trace was added to the map that is being learnt: accepts or rejects the map if it has enough
 * traces for that.
 */
void hp3_trace_map_verdict(struct hp3_engine *e, uint32_t pair, uint64_t now);
void hp3_trace_use_traces(struct hp3_engine *e, struct hp3_trace_pair *t, uint64_t now);
