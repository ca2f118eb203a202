/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_TRACE_STATE_H
#define HP3_ENGINE_TRACE_STATE_H
/*
 * What the files share that lead an address pair through the states of trace.h: trace_turn.c says
 * what to trace next, and what to make of it; trace_state.c changes the state and tells the path
 * table, so that what is counted by path follows.
 */
#include "engine/flows/barred.h"
#include "engine/paths/paths.h"

/* trace_turn.c */
struct hp3_trace_want {
	uint32_t flow;
	uint16_t port;
	uint8_t ttl;
	uint8_t opcode; /* 0: that of probes */
};
/* False: nothing now. True: *w is to be traced, and hp3_trace_result() told. */
bool hp3_trace_next(struct hp3_engine *e, uint32_t pair, uint64_t now, struct hp3_trace_want *w);
/* `label`: number of the hop, or HP3_LABEL_NONE. */
void hp3_trace_result(
	struct hp3_engine *e, uint32_t pair, uint32_t label, bool reached, uint64_t now);

/* trace_state.c */
/* First flow of the pair that may be traced with, with this QPN, or another one; HP3_NO_FLOW. */
uint32_t hp3_trace_find_flow(const struct hp3_engine *e, uint32_t pair, uint32_t qpn, bool with);
/* A flow of the pair that a trace may bear the QPN of: `qpn` if that can be had; HP3_NO_FLOW. */
uint32_t hp3_trace_flow(const struct hp3_engine *e, uint32_t pair, uint32_t qpn, uint64_t now);
void hp3_trace_leave_map(struct hp3_engine *e, struct hp3_trace_pair *t);
/* No port's path is known; `void_all`: nor is what was learnt of paths. */
void hp3_trace_tell_nothing(struct hp3_engine *e, uint32_t pair, bool void_all);
/* True if the port drew another path before: routes have changed. */
bool hp3_trace_tell_port(
	struct hp3_engine *e, uint32_t pair, uint16_t port, uint32_t label, uint64_t now);
/* The search begins, at TTL `hint` if that is not 0. */
void hp3_trace_seek(struct hp3_engine *e, uint32_t pair, uint8_t hint, uint64_t now);
void hp3_trace_rest(struct hp3_engine *e, uint32_t pair, uint64_t now);
/* What is believed is wrong: all of it is void. */
void hp3_trace_wrong(struct hp3_engine *e, uint32_t pair, uint64_t now);

/* The switches that name paths are found, and the ports of the sample have a path each. */
void hp3_trace_found(struct hp3_engine *e, uint32_t pair, uint64_t now);
/* The map being learnt was told of a trace: is it believed, or refused? */
void hp3_trace_map_says(struct hp3_engine *e, uint32_t pair, uint64_t now);
void hp3_trace_use_traces(struct hp3_engine *e, struct hp3_trace_pair *t, uint64_t now);

#endif
