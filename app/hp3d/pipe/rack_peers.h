/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_RACK_PEERS_H
#define HP3D_RACK_PEERS_H
/*
 * The rack peers of this host ([rail.NAME] rack). This host sends to rack peers only from the
 * address in that list that the RNIC's connections use; rack peers ignore messages from other
 * addresses. hp3d sends every advertisement to a rack peer from which a message arrived recently. A
 * rack peer that has been silent for HP3D_RACK_PEER_SILENT_NS (it is down, has no long flows, or
 * does not exist) gets one advertisement per HP3D_RACK_PEER_SILENT_NS.
 *
 * Messages to a rack peer are addressed like the local host's packets to that peer (neighbours.h).
 * If there are none, they are addressed in reverse of the peer's latest message. If there is no
 * message either, they go to the next hop of the RNIC's connections. On a routed leaf, the next hop
 * is the same for all hosts.
 */
#include "app/hp3d/pipe/neighbours.h"
#include "config/rack_peers.h"
#include "probes/pair_keys.h"

#define HP3D_RACK_PEER_SILENT_NS 1000000000ull

struct hp3d_rack_peer {
	struct hp3_rack_peer_address is;
	uint64_t heard, advertised; /* ns; 0: never */
	struct hp3_addressing back; /* reverse of its latest message; while heard != 0 */
};

struct hp3d_rack_peers {
	uint32_t n;
	struct hp3d_rack_peer rack_peer[HP3_RACK_PEERS_MAX];
	struct hp3_addressing here[2]; /* this host's own, by family; TTL 0: not known yet */
};

void hp3d_rack_peers_init(struct hp3d_rack_peers *m, const struct hp3_rack_peers *hosts);

/* NULL: no rack peer has the address. */
struct hp3d_rack_peer *hp3d_rack_peers_find(struct hp3d_rack_peers *m, bool ipv6, const void *addr);

/* The rack peer that sent a message to this host. NULL: the message is for another host, or its
 * sender is no rack peer. */
struct hp3d_rack_peer *hp3d_rack_peers_from(
	struct hp3d_rack_peers *m, const struct hp3d_neighbours *t, const struct hp3_ends *ends);

/* A message of the rack peer arrived in `frame`. */
void hp3d_rack_peer_heard(struct hp3d_rack_peer *rack_peer, const void *frame,
	const struct hp3_view *v, uint64_t now);

/* How to address the rack peer at ends->dst, from ends->src. False: ends->dst is no rack peer, or
 * the addressing is not known. */
bool hp3d_rack_peers_address(struct hp3d_rack_peers *m, struct hp3d_neighbours *t,
	const struct hp3_pair_ends *ends, struct hp3_addressing *to);

/* Is an advertisement to this rack peer due, and how is it addressed? False: not due, or the rack
 * peer is this host itself. *no_route: this host's own addressing is not known yet. */
bool hp3d_rack_peer_is_due(struct hp3d_rack_peers *m, struct hp3d_rack_peer *rack_peer,
	struct hp3d_neighbours *t, uint64_t now, struct hp3_addressing *to, bool *no_route);

#endif
