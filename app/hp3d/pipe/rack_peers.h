/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_RACK_PEERS_H
#define HP3D_RACK_PEERS_H
/*
 * The hosts of this rack ([rail.NAME] rack), as this one speaks to them. It does so from the
 * address in that list which the RNIC's connections have; from no other, for others would not
 * listen. One that was heard of is told whenever there is something to tell; one that was not for a
 * while (it is down, has no long flow, or there is no such host) is told once in that time.
 *
 * How to address it: as packets of the local host to it (neighbours.h); else back to where it was
 * heard from; else by the next hop of the RNIC's connections, which on a routed leaf is the same
 * one for all.
 */
#include "app/hp3d/pipe/neighbours.h"
#include "config/rack_peers.h"
#include "probes/pair_keys.h"

#define HP3D_RACK_PEER_SILENT_NS 1000000000ull

struct hp3d_rack_peer {
	struct hp3_rack_peer_address is;
	uint64_t heard, advertised; /* ns; 0: never */
	struct hp3_addressing back; /* how it was heard; while heard != 0 */
};

struct hp3d_rack_peers {
	uint32_t n;
	struct hp3d_rack_peer rack_peer[HP3_RACK_PEERS_MAX];
	struct hp3_addressing here[2]; /* by family; TTL 0: not known yet */
};

void hp3d_rack_peers_init(struct hp3d_rack_peers *m, const struct hp3_rack_peers *hosts);

/* NULL: none of them. */
struct hp3d_rack_peer *hp3d_rack_peers_find(struct hp3d_rack_peers *m, bool ipv6, const void *addr);

/* Of the host that a message came from, if it was for this one; NULL: it was not, or of nobody. */
struct hp3d_rack_peer *hp3d_rack_peers_from(
	struct hp3d_rack_peers *m, const struct hp3d_neighbours *t, const struct hp3_ends *ends);

/* Its message arrived. */
void hp3d_rack_peer_heard(struct hp3d_rack_peer *rack_peer, const void *frame,
	const struct hp3_view *v, uint64_t now);

/* How to address the host of the rack at ends->dst, from ends->src. False: it is none, or not
 * known.
 */
bool hp3d_rack_peers_address(struct hp3d_rack_peers *m, struct hp3d_neighbours *t,
	const struct hp3_pair_ends *ends, struct hp3_addressing *to);

/* Is it to be told now, and from where? False: no; or it is this host. *no_route: nothing is known
 * of how this host speaks. */
bool hp3d_rack_peer_is_due(struct hp3d_rack_peers *m, struct hp3d_rack_peer *rack_peer,
	struct hp3d_neighbours *t, uint64_t now, struct hp3_addressing *to, bool *no_route);

#endif
