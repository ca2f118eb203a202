/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The path that each flow uses, and traces, which find the switches on a path. The path table of an
 * address pair is in ppp/paths.h.
 */
#include "engine/common.h"

/* paths.c */
struct hp3_paths *hp3_paths_of(struct hp3_engine *e, uint32_t pair);
/* Is the path of this port FAILED (ppp/paths.h)? A FAILED path is no candidate. */
bool hp3_path_has_failed(
	struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);
/* Is the path of this port LOSSY (ppp/paths.h)? */
bool hp3_path_is_lossy(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);

/* use.c */
void hp3_path_enter(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Stores the flow's results for the path in the path table. */
void hp3_path_leave(struct hp3_engine *e, uint32_t flow, uint64_t now);
/*
 * Updates the path table from acknowledged data, which show the state of the path without probes.
 */
void hp3_path_refresh(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* For a new or removed pair: clears the pair's comparison of ports (compare.h) and its traces. */
void hp3_pair_forget(struct hp3_engine *e, uint32_t pair);

/* trace.c: traces and their outcomes */
/* For a new or removed pair: clears its traces. */
void hp3_trace_forget(struct hp3_engine *e, uint32_t pair);

/* trace_state.c: repeats the pair's traces soon, because a path failed and routes may change. */
void hp3_trace_anew(struct hp3_engine *e, uint32_t pair, uint64_t now);

/* hops.c: a hop with this address has answered. Returns its number, or -ENOSPC. */
int hp3_hop_met(struct hp3_engine *e, bool ipv6, const uint8_t addr[16]);
/* The hop that names path `id`. False: none is known. */
bool hp3_hop_of(const struct hp3_engine *e, uint32_t id, struct hp3_hop *hop);
