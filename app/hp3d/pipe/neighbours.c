/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/neighbours.h"
#include <string.h>

#define WAYS      4u
#define MULTICAST 1u /* in the first byte of an Ethernet address */

static uint32_t set_of(bool ipv6, uint16_t vlan, const uint8_t *local, const uint8_t *remote)
{
	uint32_t h = 2166136261u ^ vlan;

	for (uint32_t i = 0; i < (ipv6 ? 16u : 4u); i++) {
		h = (h ^ local[i]) * 16777619u;
		h = (h ^ remote[i]) * 16777619u;
	}
	return (h >> 8) % (HP3D_NEIGHBOURS / WAYS) * WAYS;
}

static bool is(const struct hp3d_neighbour *n, bool ipv6, uint16_t vlan, const uint8_t *local,
	const uint8_t *remote)
{
	size_t len = ipv6 ? 16 : 4;

	return n->used != 0 && n->a.ipv6 == ipv6 && (n->a.vlan & 0xfff) == vlan &&
	       memcmp(n->a.src_ip, local, len) == 0 && memcmp(n->a.dst_ip, remote, len) == 0;
}

static struct hp3d_neighbour *find(struct hp3d_neighbours *t, bool ipv6, uint16_t vlan,
	const uint8_t *local, const uint8_t *remote)
{
	uint32_t at = set_of(ipv6, vlan, local, remote);

	for (uint32_t i = at; i < at + WAYS; i++) {
		if (is(&t->n[i], ipv6, vlan, local, remote)) {
			t->n[i].used = ++t->stamp;
			return &t->n[i];
		}
	}
	return NULL;
}

static struct hp3d_neighbour *oldest(struct hp3d_neighbours *t, uint32_t at)
{
	struct hp3d_neighbour *old = &t->n[at];

	for (uint32_t i = at + 1; i < at + WAYS; i++) {
		if (t->n[i].used < old->used)
			old = &t->n[i];
	}
	return old;
}

static bool is_ip(const uint8_t *frame, uint32_t len, const struct hp3_view *v)
{
	bool ipv6 = v->flags & HP3_VF_IPV6;

	if (v->l3_off < 14 || len < v->l3_off + (ipv6 ? 40u : 20u) || (frame[0] & MULTICAST))
		return false;
	return frame[v->l3_off] >> 4 == (ipv6 ? 6 : 4);
}

void hp3d_neighbours_learn(
	struct hp3d_neighbours *t, const void *frame, uint32_t len, const struct hp3_view *v)
{
	bool rc = v->class == HP3_CLASS_RC_REQUEST;
	struct hp3d_neighbour *n;
	struct hp3_addressing a;

	if (!is_ip(frame, len, v))
		return;
	hp3_addressing_same(frame, v, &a);
	n = find(t, a.ipv6, v->vlan, a.src_ip, a.dst_ip);
	if (n == NULL) {
		n = oldest(t, set_of(a.ipv6, v->vlan, a.src_ip, a.dst_ip));
		*n = (struct hp3d_neighbour){.a = a, .used = ++t->stamp, .rc = rc};
	} else if (rc || !n->rc) {
		n->a = a;
		n->rc = rc;
	} else { /* what a reliable connection told of DSCP, ECT and P_Key stays */
		memcpy(n->a.dst_mac, a.dst_mac, sizeof(a.dst_mac));
		memcpy(n->a.src_mac, a.src_mac, sizeof(a.src_mac));
	}
	if (!n->rc) {
		n->a.pkey = 0xffff;
		n->a.ttl = 64;
	}
}

const struct hp3d_neighbour *hp3d_neighbours_find(
	struct hp3d_neighbours *t, bool ipv6, uint16_t vlan, const void *local, const void *remote)
{
	return find(t, ipv6, vlan, local, remote);
}
