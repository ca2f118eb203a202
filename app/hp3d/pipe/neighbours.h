/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_NEIGHBOURS_H
#define HP3D_NEIGHBOURS_H
/*
 * How to address a packet of our own: link-layer addresses, VLAN tags, DSCP, ECT and P_Key, as the
 * last packet of the local RNIC (or of its host) to that address had them. hp3d has no routes and
 * sends no ARP request: it copies.
 *
 * The table has twice as many entries as there may be address pairs, in sets. In a full set the
 * entry longest unused makes room. Addresses with which the RNIC had no connection make room first,
 * and never take the place of one with which it had: everybody can make a host reply to him. Those
 * whose connections have ended come next. A seed decides which addresses share a set, because the
 * network chooses addresses.
 */
#include "engine/ends.h"
#include "roce/build.h"

#define HP3D_NEIGHBOURS_SET 8u

struct hp3d_neighbour {
	struct hp3_addressing a; /* from here to there */
	uint32_t used; /* stamp of the last use, 0: free */
	bool rc; /* copied from a packet of a reliable connection: DSCP, ECT and P_Key are its */
	bool peer; /* the RNIC has a reliable connection there: it sent requests, or replies */
	bool ended; /* `peer`: it has none any more */
};

struct hp3d_neighbours {
	struct hp3d_neighbour *n;
	uint32_t sets; /* of HP3D_NEIGHBOURS_SET entries */
	uint32_t stamp;
	uint64_t seed;
	struct hp3_addressing last[2]; /* of a reliable connection, by family; TTL 0: none yet */
};

/* Bytes of memory for so many address pairs, at least HP3D_NEIGHBOURS_SET / 2. */
size_t hp3d_neighbours_size(uint32_t pairs);
/* Empty. `mem` is of that size, for struct hp3d_neighbour, and outlives the table. `seed`: random,
 * and known to nobody else. */
void hp3d_neighbours_init(struct hp3d_neighbours *t, void *mem, uint32_t pairs, uint64_t seed);

/* A packet from the RNIC's side; anything but unicast IP is left out. */
void hp3d_neighbours_learn(
	struct hp3d_neighbours *t, const void *frame, uint32_t len, const struct hp3_view *v);

/* The RNIC has no connection there any more, nor does it send there. */
void hp3d_neighbours_end(struct hp3d_neighbours *t, const struct hp3_ends *to);

/* NULL if nothing was ever sent there. */
struct hp3d_neighbour *hp3d_neighbours_find(struct hp3d_neighbours *t, const struct hp3_ends *to);

#endif
