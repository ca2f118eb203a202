/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PATHS_H
#define HP3_ENGINE_PATHS_H
/*
 * State of the paths between two addresses, besides the path table (ppp/paths.h): active flows per
 * path at both ends, switches on the path, long flows. Also tracks which path a flow uses.
 */
#include "engine/common.h"

/* paths.c */
struct hp3_paths *hp3_paths_of(struct hp3_engine *e, uint32_t pair);
/* Is the path of this port FAILED (ppp/paths.h), so that it is no candidate? */
bool hp3_path_has_failed(
	struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);
/* ... or LOSSY? */
bool hp3_path_is_lossy(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);

/* use.c */
void hp3_path_enter(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Stores the flow's results for the path in the path table. */
void hp3_path_leave(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Acknowledged data show the state of the path, without probes: updates the path table. */
void hp3_path_refresh(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* The pair is new or removed: clears its counts and its traces. */
void hp3_pair_forget(struct hp3_engine *e, uint32_t pair);

/* counts.c: active flows per path, at both ends */
bool hp3_counts_distinguish(struct hp3_engine *e, uint32_t pair);
/* Highest RTT that counts as equal to `rtt` (cfg.setup_alike). */
uint64_t hp3_alike_ns(const struct hp3_engine *e, uint32_t rtt);
/* Is the answer unmarked, and about as early as the best? */
bool hp3_is_alike(
	const struct hp3_engine *e, const struct hp3_probe *p, const struct hp3_probe *best);
/* Of the unmarked answers that are about as early as `best`: the answer on the least used path. */
const struct hp3_probe *hp3_counts_least_used(
	struct hp3_engine *e, const struct hp3_move *m, const struct hp3_probe *best, uint64_t now);
/* Chooses a port from counts only, without probes. False: there are no counts. */
bool hp3_counts_place(struct hp3_engine *e, uint32_t flow, uint16_t *port, uint64_t now);
void hp3_counts_forget(struct hp3_engine *e, uint32_t pair);

/* advertise_ring.c, advertise.c: reports of flow counts between hosts */
void hp3_advertise_init(struct hp3_engine *e, uint32_t *ring, uint8_t *waits);
void hp3_advertise_changed(struct hp3_engine *e, uint32_t pair);
/* The pair is active: schedules the next report if it is due. */
void hp3_advertise_refresh(struct hp3_engine *e, uint32_t pair, uint64_t now);
void hp3_advertise_tick(struct hp3_turn *t);
/* Does the peer share a key with this host, so that it accepts our messages? */
bool hp3_has_key(const struct hp3_engine *e, const struct hp3_ends *ends);

/* longs.c: long flows, here and at peers */
/* A first transmission of a request leaves. */
void hp3_long_sent(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v);
/* una has advanced: ends the long message if all of it is acknowledged. */
void hp3_long_progress(struct hp3_engine *e, uint32_t flow);
/* The flow is idle, or is removed. */
void hp3_long_end(struct hp3_engine *e, uint32_t flow);
/* The pair is new or removed. */
void hp3_longs_forget(struct hp3_engine *e, uint32_t pair);
/*
 * Number of long flows on the link of the one of the two hosts that has more of them; 0: not known.
 */
uint32_t hp3_longs_on_link(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Schedules a report to the peer if it is due. */
void hp3_longs_refresh(struct hp3_engine *e, uint32_t pair, uint64_t now);
/* Writes counts of long flows for reports and answers, under reserved names that no path has. */
uint32_t hp3_longs_fill(const struct hp3_engine *e, const struct hp3_pair *to,
	struct hp3_path_count *path, uint32_t max);
/* An answer of the peer contained its number of inbound long flows. */
void hp3_longs_received_in(struct hp3_engine *e, uint32_t pair, const struct hp3_path_count *path,
	uint32_t n, uint64_t now);
/*
 * A report of the peer contained that number, and the number of the peer's long flows to this host.
 */
void hp3_longs_reported(struct hp3_engine *e, uint32_t pair, const struct hp3_path_count *path,
	uint32_t n, uint64_t now);

/* trace.c: traces and their outcomes */
void hp3_tracing_init(struct hp3_engine *e, void *mem, struct hp3_trace_pair *pairs);
/* Adds an action for each trace that is due. */
void hp3_trace_tick(struct hp3_turn *t);
/* The pair is new or removed. */
void hp3_trace_forget(struct hp3_engine *e, uint32_t pair);

/* trace_state.c: a path of the pair has failed, so routes may change. */
void hp3_trace_anew(struct hp3_engine *e, uint32_t pair, uint64_t now);

/* hops.c: a hop with this address has answered. Returns its number, or -ENOSPC. */
int hp3_hop_met(struct hp3_engine *e, bool ipv6, const uint8_t addr[16]);
uint16_t hp3_hop_name_of(bool ipv6, const uint8_t addr[16]);

#endif
