/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_TRACE_PAIR_H
#define HP3_ENGINE_TRACE_PAIR_H
/*
 * What the files share that lead an address pair through the states of trace.h: trace_want.c says
 * what to trace next, trace_result.c what to make of it; trace_pair.c and trace_map.c change the
 * state and tell the path table, so that what is counted by path follows.
 */
#include "engine/internal.h"

/* trace_pair.c */
/* No port's path is known; `void_all`: nor is what was learnt of paths. */
void hp3_trace_tell_nothing(struct hp3_engine *e, uint32_t pair, bool void_all);
/* True if the port drew another path before: routes have changed. */
bool hp3_trace_tell_port(
	struct hp3_engine *e, uint32_t pair, uint16_t port, uint32_t label, uint64_t now);
/* The pair's map, shifted, tells all ports. */
void hp3_trace_tell_map(struct hp3_engine *e, uint32_t pair, uint16_t shift);
/* The search begins, at TTL `hint` if that is not 0. */
void hp3_trace_seek(struct hp3_engine *e, uint32_t pair, uint8_t hint);
void hp3_trace_rest(struct hp3_engine *e, uint32_t pair, uint64_t now);
/* What is believed is wrong: all of it is void. */
void hp3_trace_wrong(struct hp3_engine *e, uint32_t pair, uint64_t now);

/* trace_map.c */
/* The switches that name paths are found, and the ports of the sample have a path each. */
void hp3_trace_found(struct hp3_engine *e, uint32_t pair, uint64_t now);
/* The map being learnt was told of a trace: is it believed, or refused? */
void hp3_trace_map_says(struct hp3_engine *e, uint32_t pair, uint64_t now);
void hp3_trace_use_traces(struct hp3_engine *e, struct hp3_trace_pair *t, uint64_t now);

#endif
