/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/neighbours.h"
#include <string.h>
#include "base/hash.h"

#define WAYS      HP3D_NEIGHBOURS_SET
#define MULTICAST 1u /* in the first byte of an Ethernet address */

/* With half of the entries in use, one address in a hundred finds its set full. */
static uint32_t sets_for(uint32_t pairs)
{
	return 2 * pairs / WAYS;
}

size_t hp3d_neighbours_size(uint32_t pairs)
{
	return (size_t)sets_for(pairs) * WAYS * sizeof(struct hp3d_neighbour);
}

void hp3d_neighbours_init(struct hp3d_neighbours *t, void *mem, uint32_t pairs, uint64_t seed)
{
	memset(mem, 0, hp3d_neighbours_size(pairs));
	*t = (struct hp3d_neighbours){.n = mem, .sets = sets_for(pairs), .seed = seed};
}

static uint32_t set_of(const struct hp3d_neighbours *t, const struct hp3_ends *to)
{
	const size_t len = to->ipv6 ? 16 : 4;
	struct {
		uint8_t local[16], remote[16];
		uint64_t vlan;
	} key = {.vlan = to->vlan};

	memcpy(key.local, to->local, len);
	memcpy(key.remote, to->remote, len);
	return (uint32_t)hp3_hash(t->seed, &key, sizeof(key)) % t->sets * WAYS;
}

static bool is_neighbour(const struct hp3d_neighbour *n, const struct hp3_ends *to)
{
	size_t len = to->ipv6 ? 16 : 4;

	return n->used != 0 && n->a.ipv6 == to->ipv6 && hp3_tags_vlan(n->a.tag) == to->vlan &&
	       memcmp(n->a.src_ip, to->local, len) == 0 &&
	       memcmp(n->a.dst_ip, to->remote, len) == 0;
}

struct hp3d_neighbour *hp3d_neighbours_find(struct hp3d_neighbours *t, const struct hp3_ends *to)
{
	uint32_t at = set_of(t, to);

	for (uint32_t i = at; i < at + WAYS; i++) {
		if (is_neighbour(&t->n[i], to)) {
			t->n[i].used = ++t->stamp;
			return &t->n[i];
		}
	}
	return NULL;
}

/* The entry of the lowest rank is replaced first. */
static unsigned rank_of_neighbour(const struct hp3d_neighbour *n)
{
	if (!n->peer)
		return 0;
	return n->ended ? 1 : 2;
}

/* The entry that a new entry replaces; NULL: no entry may be replaced. */
static struct hp3d_neighbour *oldest_neighbour(struct hp3d_neighbours *t, uint32_t at, bool peer)
{
	struct hp3d_neighbour *old = NULL;

	for (struct hp3d_neighbour *n = &t->n[at]; n < &t->n[at + WAYS]; n++) {
		if (n->peer && !peer)
			continue;
		if (old == NULL || rank_of_neighbour(n) < rank_of_neighbour(old) ||
			(rank_of_neighbour(n) == rank_of_neighbour(old) && n->used < old->used))
			old = n;
	}
	return old;
}

static bool is_ip(const struct hp3_parsed *f)
{
	const uint8_t *frame = f->bytes;
	const struct hp3_view *v = f->v;
	bool ipv6 = v->flags & HP3_VF_IPV6;

	if (v->reason == HP3_PARSE_NOT_IP || v->reason == HP3_PARSE_TAGS)
		return false;
	if (v->l3_off < 14 || f->len < v->l3_off + (ipv6 ? 40u : 20u) || (frame[0] & MULTICAST))
		return false;
	return frame[v->l3_off] >> 4 == (ipv6 ? 6 : 4);
}

void hp3d_neighbours_learn(struct hp3d_neighbours *t, const struct hp3_parsed *f)
{
	bool rc = f->v->class == HP3_CLASS_RC_REQUEST;
	bool peer = rc || f->v->class == HP3_CLASS_RC_REPLY;
	struct hp3d_neighbour *n;
	struct hp3_addressing a;
	struct hp3_ends to;

	if (!is_ip(f))
		return;
	hp3_addressing_same(f->bytes, f->v, &a);
	to = hp3_ends_of(f->bytes, f->v, HP3_DIR_TX);
	if (peer)
		t->last[a.ipv6] = a;
	n = hp3d_neighbours_find(t, &to);
	if (n == NULL) {
		n = oldest_neighbour(t, set_of(t, &to), peer);
		if (n == NULL)
			return;
		*n = (struct hp3d_neighbour){.a = a, .used = ++t->stamp, .rc = rc};
	} else if (rc || !n->rc) {
		n->a = a;
		n->rc = rc;
	} else { /* DSCP, ECT and P_Key of a reliable connection stay */
		memcpy(n->a.dst_mac, a.dst_mac, sizeof(a.dst_mac));
		memcpy(n->a.src_mac, a.src_mac, sizeof(a.src_mac));
	}
	n->peer |= peer;
	n->ended &= !peer;
	if (!n->rc) {
		n->a.pkey = 0xffff;
		n->a.ttl = 64;
	}
}

void hp3d_neighbours_end(struct hp3d_neighbours *t, const struct hp3_ends *to)
{
	struct hp3d_neighbour *n = hp3d_neighbours_find(t, to);

	if (n != NULL)
		n->ended = true;
}
