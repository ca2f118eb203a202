/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PATHS_H
#define HP3_ENGINE_PATHS_H
/*
 * What is known of the paths between two addresses, beside the path table (ppp/paths.h): who counts
 * as active on them, at both ends; which switches they cross. And the path of a flow in use.
 */
#include "engine/common.h"

/* paths.c */
struct hp3_paths *hp3_paths_of(struct hp3_engine *e, uint32_t pair);
/* The path that this port would take: FAILED (ppp/paths.h), so no candidate. */
bool hp3_path_has_failed(
	struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);
/* ... LOSSY. */
bool hp3_path_is_lossy(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);

/* use.c */
void hp3_path_enter(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* What is known of the path goes into the path table. */
void hp3_path_leave(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Data that came through tells of the path as it was then, for free. */
void hp3_path_refresh(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* The pair is new, or gone: nothing is counted for it, nor known of its paths by traces. */
void hp3_pair_forget(struct hp3_engine *e, uint32_t pair);

/* counts.c: active flows per path, at both ends */
bool hp3_counts_tell(struct hp3_engine *e, uint32_t pair);
/* A round trip up to this is like `rtt` (cfg.setup_alike). */
uint64_t hp3_alike_ns(const struct hp3_engine *e, uint32_t rtt);
/* An unmarked answer, and as good as the best. */
bool hp3_is_alike(
	const struct hp3_engine *e, const struct hp3_probe *p, const struct hp3_probe *best);
/* Of the unmarked answers that are like `best` the one on the path that is least used. */
const struct hp3_probe *hp3_counts_least_used(
	struct hp3_engine *e, const struct hp3_move *m, const struct hp3_probe *best, uint64_t now);
/* A port by counts alone. */
bool hp3_counts_place(struct hp3_engine *e, uint32_t flow, uint16_t *port, uint64_t now);
void hp3_counts_forget(struct hp3_engine *e, uint32_t pair);

/* tell_ring.c, tell.c: what hosts tell each other of their flows */
void hp3_tell_init(struct hp3_engine *e, uint32_t *ring, uint8_t *waits);
void hp3_tell_changed(struct hp3_engine *e, uint32_t pair);
/* The pair is active: is it time to say so again? */
void hp3_tell_refresh(struct hp3_engine *e, uint32_t pair, uint64_t now);
void hp3_tell_tick(struct hp3_turn *t);
/* The remote end believes what this host says: the two have a key. */
bool hp3_has_key(const struct hp3_engine *e, const struct hp3_ends *ends);

/* longs.c: long flows, here and at peers */
/* A request leaves the RNIC for the first time. */
void hp3_long_sent(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v);
/* All before una was answered: is the long message over? */
void hp3_long_progress(struct hp3_engine *e, uint32_t flow);
/* It is idle, or goes away. */
void hp3_long_end(struct hp3_engine *e, uint32_t flow);
/* The pair is new, or gone. */
void hp3_longs_forget(struct hp3_engine *e, uint32_t pair);
/* Long flows on the narrower of the two hosts' links, as far as is known; 0: it is not. */
uint32_t hp3_longs_beside(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* The peer is told again where it is time. */
void hp3_longs_refresh(struct hp3_engine *e, uint32_t pair, uint64_t now);
/* What reports and answers say of them, under names that no path has. */
uint32_t hp3_longs_tell(const struct hp3_engine *e, const struct hp3_pair *to,
	struct hp3_path_count *path, uint32_t max);
/* An answer told how many come into the peer. */
void hp3_longs_told(struct hp3_engine *e, uint32_t pair, const struct hp3_path_count *path,
	uint32_t n, uint64_t now);
/* ... a report, which tells of the peer's own to us, too. */
void hp3_longs_reported(struct hp3_engine *e, uint32_t pair, const struct hp3_path_count *path,
	uint32_t n, uint64_t now);

/* trace.c: what is sent, and what comes back */
void hp3_tracing_init(struct hp3_engine *e, void *mem, struct hp3_trace_pair *pairs);
/* Traces that are due, as actions. */
void hp3_trace_tick(struct hp3_turn *t);
/* The pair is new, or gone. */
void hp3_trace_forget(struct hp3_engine *e, uint32_t pair);

/* trace_state.c: one of its paths has failed: routes may change. */
void hp3_trace_anew(struct hp3_engine *e, uint32_t pair, uint64_t now);

/* hops.c: a hop with this address answered. Its number, or -ENOSPC. */
int hp3_hop_met(struct hp3_engine *e, bool ipv6, const uint8_t addr[16]);
uint16_t hp3_hop_name_of(bool ipv6, const uint8_t addr[16]);

#endif
