/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/mates.h"
#include <string.h>

static size_t size_of(bool ipv6)
{
	return ipv6 ? 16 : 4;
}

void hp3d_mates_init(struct hp3d_mates *m, const struct hp3_mates *hosts)
{
	*m = (struct hp3d_mates){.n = hosts->n};
	for (uint32_t i = 0; i < hosts->n; i++)
		m->mate[i].is = hosts->host[i];
}

struct hp3d_mate *hp3d_mates_find(struct hp3d_mates *m, bool ipv6, const void *addr)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct hp3_mate_address *is = &m->mate[i].is;

		if (is->ipv6 == ipv6 && memcmp(is->addr, addr, size_of(ipv6)) == 0)
			return &m->mate[i];
	}
	return NULL;
}

void hp3d_mate_heard(
	struct hp3d_mate *mate, const void *frame, const struct hp3_view *v, uint64_t now)
{
	hp3_addressing_reply(frame, v, 0, &mate->back);
	mate->heard = now;
}

/* From where this host speaks; NULL: it has sent nothing yet from an address of the list. Once it
 * has, that one stays: from two it would be two hosts. */
static const struct hp3_addressing *local_addressing(
	struct hp3d_mates *m, const struct hp3d_neighbours *t, bool ipv6)
{
	struct hp3_addressing *is = &m->here[ipv6];
	const struct hp3_addressing *last = &t->last[ipv6];

	if (last->ttl != 0 && (is->ttl == 0 ? hp3d_mates_find(m, ipv6, last->src_ip) != NULL
					    : memcmp(is->src_ip, last->src_ip, size_of(ipv6)) == 0))
		*is = *last;
	return is->ttl != 0 ? is : NULL;
}

struct hp3d_mate *hp3d_mates_from(
	struct hp3d_mates *m, const struct hp3d_neighbours *t, const struct hp3_ends *ends)
{
	const struct hp3_addressing *us = local_addressing(m, t, ends->ipv6);

	if (us == NULL || memcmp(us->src_ip, ends->local, size_of(ends->ipv6)) != 0)
		return NULL;
	return hp3d_mates_find(m, ends->ipv6, ends->remote);
}

static void address_host(const struct hp3d_mate *mate, const struct hp3_addressing *from,
	struct hp3d_neighbours *t, struct hp3_addressing *to)
{
	const struct hp3_ends ends = {
		mate->is.ipv6, hp3_tags_vlan(from->tag), from->src_ip, mate->is.addr};
	const struct hp3d_neighbour *n = hp3d_neighbours_find(t, &ends);

	*to = *from;
	if (n != NULL) {
		*to = n->a;
	} else if (mate->heard != 0) {
		memcpy(to->dst_mac, mate->back.dst_mac, sizeof(to->dst_mac));
		memcpy(to->tag, mate->back.tag, sizeof(to->tag));
	}
	memcpy(to->dst_ip, mate->is.addr, size_of(mate->is.ipv6));
}

bool hp3d_mates_address(struct hp3d_mates *m, struct hp3d_neighbours *t,
	const struct hp3_pair_ends *ends, struct hp3_addressing *to)
{
	const struct hp3d_mate *mate = hp3d_mates_find(m, ends->ipv6, ends->dst);
	const struct hp3_addressing *from = local_addressing(m, t, ends->ipv6);

	if (mate == NULL || from == NULL ||
		memcmp(from->src_ip, ends->src, size_of(ends->ipv6)) != 0)
		return false;
	address_host(mate, from, t, to);
	return true;
}

bool hp3d_mate_is_due(struct hp3d_mates *m, struct hp3d_mate *mate, struct hp3d_neighbours *t,
	uint64_t now, struct hp3_addressing *to, bool *no_way)
{
	const struct hp3_addressing *from = local_addressing(m, t, mate->is.ipv6);
	const bool silent = mate->heard == 0 || now - mate->heard > HP3D_MATE_SILENT_NS;

	*no_way = from == NULL;
	if (from == NULL || memcmp(from->src_ip, mate->is.addr, size_of(mate->is.ipv6)) == 0 ||
		(silent && mate->told != 0 && now - mate->told < HP3D_MATE_SILENT_NS))
		return false;
	mate->told = now;
	address_host(mate, from, t, to);
	return true;
}
