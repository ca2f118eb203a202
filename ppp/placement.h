/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_PLACEMENT_H
#define HP3_PPP_PLACEMENT_H
/*
 * Where does a new queue pair go? Most flows end before any feedback can help them, so the first
 * choice decides. Each host counts its active flows, all pairs together: per uplink path, outbound,
 * and per last hop, inbound. Path and last hop share one numbering (the path id; in a leaf-spine
 * fabric the spine). Two hosts tell each other their inbound counts in probe replies.
 *
 * A new queue pair takes the path with the least max(outbound here, inbound there), ties by their
 * sum, then at random. Counts of active flows, not bytes: byte counts lag and herd.
 *
 * Invariants: a count is the number of flows started (or moved in) less those ended (or moved out);
 * the sum over paths is the number of active flows. What the peer told is used only while it is
 * fresh; flows placed since are added to it, so that many queue pairs set up at once spread.
 *
 * Counts belong to one lcore's engine or are summed by the caller; nothing here locks.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_LOAD_PATHS 256u /* most paths */

/* Active flows per path of one direction. `count` is the caller's memory, paths words. */
struct hp3_load {
	uint16_t *count;
	uint16_t paths;
};

/* 0, or -EINVAL: no path, or more than HP3_LOAD_PATHS. */
int hp3_load_init(struct hp3_load *l, uint16_t *count, uint32_t paths);

/* A path out of range is not counted (its id is unknown); callers need not check. */
void hp3_load_start(struct hp3_load *l, uint32_t path);
void hp3_load_end(struct hp3_load *l, uint32_t path);

/* What a peer told of its inbound flows. */
struct hp3_peer_load {
	struct hp3_load in;
	uint64_t told; /* ns; 0: never */
};

int hp3_peer_load_init(struct hp3_peer_load *p, uint16_t *count, uint32_t paths);

/* A probe reply carried `n` counts; missing ones count as 0, surplus ones are ignored. now > 0. */
void hp3_peer_load_told(struct hp3_peer_load *p, const uint16_t *count, uint32_t n, uint64_t now);

/*
 * A part of them: the counts of `n` paths from `first` on. Others hold as told before, unless the
 * last part came longer than max_age ns ago: then they are 0.
 */
void hp3_peer_load_told_part(struct hp3_peer_load *p, uint32_t first, const uint16_t *count,
	uint32_t n, uint64_t max_age, uint64_t now);

/* The counts as they go into a reply: at most `max` of them, returns how many. */
uint32_t hp3_load_tell(const struct hp3_load *in, uint16_t *count, uint32_t max);

/*
 * The path for a new queue pair, or -ENOENT if `usable` excludes all. `peer` may be NULL; it counts
 * as silent if it has never told or longer ago than max_age ns: then own outbound counts decide.
 * `usable`: bitmap of paths (failed ones left out), NULL: all. Counts nothing itself: call
 * hp3_load_start(out, path) and hp3_peer_load_placed(peer, path) when the flow starts.
 */
int hp3_place(const struct hp3_load *out, const struct hp3_peer_load *peer, const uint64_t *usable,
	uint64_t max_age, uint64_t now, uint64_t *rng);

/* One flow of ours goes to this peer by `path`, which its last report does not contain. */
void hp3_peer_load_placed(struct hp3_peer_load *p, uint32_t path);

#endif
