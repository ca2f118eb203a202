/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * How hp3d addresses its own packets. Routes and ARP requests are not used. Instead, hp3d copies
 * link-layer addresses, VLAN tags, DSCP, ECT and P_Key from an earlier packet. The earlier packet
 * is the latest one that the local RNIC (or its host) sent to the same address.
 *
 * The table has twice as many entries as there may be address pairs, in sets. In a full set, a new
 * entry replaces the least recently used entry of the lowest rank. Addresses with which the RNIC
 * had no connection have the lowest rank. Next are addresses whose connections have ended. An
 * address without a connection never replaces an address that has or had a connection, because
 * anybody can make a host reply. A hash with a random seed selects the set, because other hosts
 * choose addresses.
 */
#include "engine/ends.h"
#include "roce/build.h"

#define HP3D_NEIGHBOURS_SET 8u

struct hp3d_neighbour {
	struct hp3_addressing a; /* addressing of packets to this neighbour */
	uint32_t used; /* stamp of the last use, 0: free */
	bool rc; /* DSCP, ECT and P_Key are from a packet of a reliable connection */
	bool peer; /* the RNIC has a reliable connection there: it sent requests, or replies */
	bool ended; /* `peer` is true, but the connections have ended */
};

struct hp3d_neighbours {
	struct hp3d_neighbour *n;
	uint32_t sets; /* number of sets of HP3D_NEIGHBOURS_SET entries */
	uint32_t stamp;
	uint64_t seed;
	/* latest addressing of a reliable connection, by family; TTL 0: none yet */
	struct hp3_addressing last[2];
};

/* Bytes of memory for `pairs` address pairs, at least HP3D_NEIGHBOURS_SET / 2. */
size_t hp3d_neighbours_size(uint32_t pairs);
/* Makes an empty table. `mem` has this size, is aligned for struct hp3d_neighbour, and outlives the
 * table. `seed`: random and secret. */
void hp3d_neighbours_init(struct hp3d_neighbours *t, void *mem, uint32_t pairs, uint64_t seed);

/* Learns from a packet from the RNIC's side; ignores packets other than unicast IP. */
void hp3d_neighbours_learn(struct hp3d_neighbours *t, const struct hp3_parsed *f);

/* Marks the entry of an address to which the RNIC has no connection any more. */
void hp3d_neighbours_end(struct hp3d_neighbours *t, const struct hp3_ends *to);

/* NULL: this host never sent anything to that address. */
struct hp3d_neighbour *hp3d_neighbours_find(struct hp3d_neighbours *t, const struct hp3_ends *to);
