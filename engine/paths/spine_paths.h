/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_SPINE_PATHS_H
#define HP3_ENGINE_SPINE_PATHS_H
/*
 * Counts of long flows per spine path (cc.share_moves). A spine path is a path between racks,
 * identified by the name of its spine switch, which all hosts share (trace.h).
 *
 * One host does not see the flows of its whole rack. So hosts of a rack advertise their long flows
 * on each spine path to each other (RACK), outbound and inbound, after every change. Hosts with
 * long flows between them advertise (ADVERTISE) how many of these take each spine path, and how
 * many reach the whole rack. From these, a host computes the link sum of each spine path: the
 * number of long flows on both its links.
 *
 * Invariants: a host counts its own current long flows (longs.c), and unexpired counts from peers.
 * A flow is counted on one spine path, or on none while its name is unknown. Counts of other hosts
 * are advice: a flow probes before it moves (search/counted.c). If the counts from the peer's rack
 * have expired, there is no link sum.
 */
#include "engine/common.h"

#define HP3_SPINE_PATHS                                                                            \
	HP3_LOADS_SPINE_PATHS /* most spine paths of one host; further ones are not counted */

/* Counts of one host, or of one rack, per spine path. */
struct hp3_spine_paths {
	uint32_t n;
	struct hp3_spine_path_count spine_path[HP3_SPINE_PATHS];
};

struct hp3_rack_peer {
	uint8_t addr[16];
	bool ipv6;
	uint64_t at, stamp; /* time and stamp of its newest message; at 0: free */
	struct hp3_spine_paths has;
};

/* State of an address pair; `has` is as the peer advertised. */
struct hp3_peer_spine_paths {
	uint64_t at, stamp;
	struct hp3_spine_paths has; /* out: its flows to us; in: flows into its rack */
	struct hp3_spine_paths ours; /* out: our flows to it */
	uint64_t ask_at; /* earliest time of the next probe (search/counted.c) */
	uint8_t asked; /* probes that followed one another */
};

struct hp3_rack {
	struct hp3_spine_paths own;
	struct hp3_rack_peer rack_peer[HP3_RACK_PEERS_MAX];
	uint64_t advertised_at; /* when the last RACK left */
	bool changed; /* counts have changed since */
	struct hp3_peer_spine_paths peer[]; /* by pair */
};

size_t hp3_rack_size(uint32_t pairs);

/* spine_paths.c: a long flow begins, ends, or moves to another port. */
void hp3_spine_path_enter(struct hp3_engine *e, uint32_t flow);
void hp3_spine_path_leave(struct hp3_engine *e, uint32_t flow);
void hp3_spine_path_moved(struct hp3_engine *e, uint32_t flow);
/* The pair is new or removed, or its counts have expired. */
void hp3_spine_paths_forget(struct hp3_engine *e, uint32_t pair);
/*
 * Link sum of the spine path that this port takes. Includes the flow itself only if it is counted
 * there. -ENOENT: the spine path is not known; -ESTALE: no unexpired counts from the peer's rack.
 */
int hp3_spine_path_sum(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);

/* rack.c: counts of this name; all 0 if there are none. */
struct hp3_spine_path_count hp3_spine_paths_find(const struct hp3_spine_paths *w, uint16_t name);
/* Sum over this host and its rack peers. */
struct hp3_spine_path_count hp3_rack_has(const struct hp3_engine *e, uint16_t name, uint64_t now);
/* Adds a RACK action if one is due. */
void hp3_rack_tick(struct hp3_turn *t);
uint64_t hp3_rack_due(const struct hp3_engine *e);
/* Have counts received at `at` not expired yet? */
bool hp3_rack_is_fresh(const struct hp3_engine *e, uint64_t at, uint64_t now);

#endif
