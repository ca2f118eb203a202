/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/rack_peers.h"
#include <string.h>

static size_t size_of(bool ipv6)
{
	return ipv6 ? 16 : 4;
}

void hp3d_rack_peers_init(struct hp3d_rack_peers *m, const struct hp3_rack_peers *hosts)
{
	*m = (struct hp3d_rack_peers){.n = hosts->n};
	for (uint32_t i = 0; i < hosts->n; i++)
		m->rack_peer[i].is = hosts->host[i];
}

struct hp3d_rack_peer *hp3d_rack_peers_find(struct hp3d_rack_peers *m, bool ipv6, const void *addr)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct hp3_rack_peer_address *is = &m->rack_peer[i].is;

		if (is->ipv6 == ipv6 && memcmp(is->addr, addr, size_of(ipv6)) == 0)
			return &m->rack_peer[i];
	}
	return NULL;
}

void hp3d_rack_peer_heard(
	struct hp3d_rack_peer *rack_peer, const void *frame, const struct hp3_view *v, uint64_t now)
{
	hp3_addressing_reply(frame, v, 0, &rack_peer->back);
	rack_peer->heard = now;
}

/* This host's own addressing; NULL: it has sent nothing yet from an address of the list. The first
 * such address stays: with two, peers would count it as two hosts. */
static const struct hp3_addressing *local_addressing(
	struct hp3d_rack_peers *m, const struct hp3d_neighbours *t, bool ipv6)
{
	struct hp3_addressing *is = &m->here[ipv6];
	const struct hp3_addressing *last = &t->last[ipv6];

	if (last->ttl != 0 && (is->ttl == 0 ? hp3d_rack_peers_find(m, ipv6, last->src_ip) != NULL
					    : memcmp(is->src_ip, last->src_ip, size_of(ipv6)) == 0))
		*is = *last;
	return is->ttl != 0 ? is : NULL;
}

struct hp3d_rack_peer *hp3d_rack_peers_from(
	struct hp3d_rack_peers *m, const struct hp3d_neighbours *t, const struct hp3_ends *ends)
{
	const struct hp3_addressing *us = local_addressing(m, t, ends->ipv6);

	if (us == NULL || memcmp(us->src_ip, ends->local, size_of(ends->ipv6)) != 0)
		return NULL;
	return hp3d_rack_peers_find(m, ends->ipv6, ends->remote);
}

static void address_host(const struct hp3d_rack_peer *rack_peer, const struct hp3_addressing *from,
	struct hp3d_neighbours *t, struct hp3_addressing *to)
{
	const struct hp3_ends ends = {
		rack_peer->is.ipv6, hp3_tags_vlan(from->tag), from->src_ip, rack_peer->is.addr};
	const struct hp3d_neighbour *n = hp3d_neighbours_find(t, &ends);

	*to = *from;
	if (n != NULL) {
		*to = n->a;
	} else if (rack_peer->heard != 0) {
		memcpy(to->dst_mac, rack_peer->back.dst_mac, sizeof(to->dst_mac));
		memcpy(to->tag, rack_peer->back.tag, sizeof(to->tag));
	}
	memcpy(to->dst_ip, rack_peer->is.addr, size_of(rack_peer->is.ipv6));
}

bool hp3d_rack_peers_address(struct hp3d_rack_peers *m, struct hp3d_neighbours *t,
	const struct hp3_pair_ends *ends, struct hp3_addressing *to)
{
	const struct hp3d_rack_peer *rack_peer = hp3d_rack_peers_find(m, ends->ipv6, ends->dst);
	const struct hp3_addressing *from = local_addressing(m, t, ends->ipv6);

	if (rack_peer == NULL || from == NULL ||
		memcmp(from->src_ip, ends->src, size_of(ends->ipv6)) != 0)
		return false;
	address_host(rack_peer, from, t, to);
	return true;
}

bool hp3d_rack_peer_is_due(struct hp3d_rack_peers *m, struct hp3d_rack_peer *rack_peer,
	struct hp3d_neighbours *t, uint64_t now, struct hp3_addressing *to, bool *no_route)
{
	const struct hp3_addressing *from = local_addressing(m, t, rack_peer->is.ipv6);
	const bool silent =
		rack_peer->heard == 0 || now - rack_peer->heard > HP3D_RACK_PEER_SILENT_NS;

	*no_route = from == NULL;
	if (from == NULL ||
		memcmp(from->src_ip, rack_peer->is.addr, size_of(rack_peer->is.ipv6)) == 0 ||
		(silent && rack_peer->advertised != 0 &&
			now - rack_peer->advertised < HP3D_RACK_PEER_SILENT_NS))
		return false;
	rack_peer->advertised = now;
	address_host(rack_peer, from, t, to);
	return true;
}
