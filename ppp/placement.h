/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_PLACEMENT_H
#define HP3_PPP_PLACEMENT_H
/*
 * Places a new queue pair on a path. Most flows end before any feedback can help them, so the first
 * choice matters most. Each host counts its active flows over all pairs: per uplink path (outbound)
 * and per last hop (inbound). Path and last hop have the same number: the path id, which in a
 * leaf-spine fabric stands for the spine. Two hosts advertise their inbound counts to each other in
 * answers to probes.
 *
 * A new queue pair takes the path with the least max(outbound at this host, inbound at the peer).
 * If paths are equal, the lower sum decides, then chance. Counts are of active flows, not of bytes.
 * Byte counts lag behind, so many new flows would choose the same path.
 *
 * Invariants: a count is the number of flows started (or moved in) minus those ended (or moved
 * out). The sum over paths is the number of active flows. The peer's counts are used until they
 * expire. Flows placed since are added to them, so that queue pairs which are set up together
 * spread.
 *
 * Counts belong to one lcore's engine, or the caller sums them. No locks.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_LOAD_PATHS 256u /* most paths */

/* Active flows per path in one direction. The caller owns `count`, with `paths` entries. */
struct hp3_load {
	uint16_t *count;
	uint16_t paths;
};

/* 0; -EINVAL: no path, or more than HP3_LOAD_PATHS. */
int hp3_load_init(struct hp3_load *l, uint16_t *count, uint32_t paths);

/* A path out of range (the id of an unknown path) is ignored, so callers need not check it. */
void hp3_load_start(struct hp3_load *l, uint32_t path);
void hp3_load_end(struct hp3_load *l, uint32_t path);

/* Inbound flows that a peer advertised. */
struct hp3_peer_load {
	struct hp3_load in;
	uint64_t reported; /* time, ns; 0: never */
};

int hp3_peer_load_init(struct hp3_peer_load *p, uint16_t *count, uint32_t paths);

/*
 * An answer to a probe had `n` counts. Missing counts are taken as 0, and surplus ones are ignored.
 * now > 0.
 */
void hp3_peer_load_received(
	struct hp3_peer_load *p, const uint16_t *count, uint32_t n, uint64_t now);

/*
 * The same for a part of the counts: those of `n` paths from `first` on. The other counts stay,
 * unless the last part arrived more than max_age ns ago: then they become 0.
 */
void hp3_peer_load_received_part(struct hp3_peer_load *p, uint32_t first, const uint16_t *count,
	uint32_t n, uint64_t max_age, uint64_t now);

/* Copies at most `max` counts, for an answer. Returns how many. */
uint32_t hp3_load_copy(const struct hp3_load *in, uint16_t *count, uint32_t max);

/*
 * The path for a new queue pair; -ENOENT: `usable` excludes all paths. `peer` may be NULL. Without
 * counts from the peer, or if these are older than max_age ns, only this host's outbound counts
 * decide. `usable`: bitmap of paths (without failed ones); NULL: all. Changes no count: call
 * hp3_load_start(out, path) and hp3_peer_load_placed(peer, path) when the flow starts.
 */
int hp3_place(const struct hp3_load *out, const struct hp3_peer_load *peer, const uint64_t *usable,
	uint64_t max_age, uint64_t now, uint64_t *rng);

/* A flow of this host to the peer takes `path`; the peer's last counts do not contain this flow. */
void hp3_peer_load_placed(struct hp3_peer_load *p, uint32_t path);

#endif
