/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of peers and the replacement of its entries. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/ud/peers.h"
#include "app/hp3d/ud/ud.h"

#define PEER_WAYS 8u
#define KEPT_NS   (2 * HP3D_UD_MEET_S * 1000000000ull) /* a call of hp3d_ud_meet() may be late */

int hp3d_ud_peers_make(struct hp3d_ud_peers *p, uint32_t pairs)
{
	p->n = 2 * pairs / PEER_WAYS * PEER_WAYS;
	p->peer = calloc(p->n, sizeof(*p->peer));
	p->look = malloc(p->n * sizeof(*p->look));
	if (p->peer == NULL || p->look == NULL)
		return -ENOMEM;
	memset(p->look, 0xff, p->n * sizeof(*p->look));
	return 0;
}

static struct hp3d_ud_peer *set_of_peer(
	struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local, const uint8_t *remote)
{
	struct hp3_addressing a = {.ipv6 = ipv6};
	const struct hp3_tag_input in = {HP3_TAG_SOURCE, &a, 0, "", 0};

	memcpy(a.src_ip, local, ipv6 ? 16 : 4);
	memcpy(a.dst_ip, remote, ipv6 ? 16 : 4);
	return &p->peer[hp3_tag(&p->secret, &in) % (p->n / PEER_WAYS) * PEER_WAYS];
}

struct hp3d_ud_peer *hp3d_ud_peers_find(
	struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local, const uint8_t *remote)
{
	size_t len = ipv6 ? 16 : 4;
	struct hp3d_ud_peer *peer = set_of_peer(p, ipv6, local, remote);

	for (struct hp3d_ud_peer *end = peer + PEER_WAYS; peer < end; peer++)
		if (peer->used && peer->ipv6 == ipv6 && memcmp(peer->local, local, len) == 0 &&
			memcmp(peer->remote, remote, len) == 0)
			return peer;
	return NULL;
}

static bool is_kept(const struct hp3d_ud_peer *peer, uint64_t now)
{
	return peer->used && peer->met != 0 && now - peer->met < KEPT_NS;
}

/* NULL: no entry of the set may be replaced. */
static struct hp3d_ud_peer *free_place(struct hp3d_ud_peer *set, uint64_t now)
{
	struct hp3d_ud_peer *place = NULL;

	for (struct hp3d_ud_peer *peer = set; peer < set + PEER_WAYS; peer++) {
		if (!peer->used)
			return peer;
		if (!is_kept(peer, now) && (place == NULL || peer->wanted < place->wanted))
			place = peer;
	}
	return place;
}

struct hp3d_ud_peer *hp3d_ud_peers_add(struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local,
	const uint8_t *remote, uint64_t now)
{
	struct hp3d_ud_peer *peer = hp3d_ud_peers_find(p, ipv6, local, remote);
	size_t len = ipv6 ? 16 : 4;

	if (peer != NULL)
		return peer;
	peer = free_place(set_of_peer(p, ipv6, local, remote), now);
	if (peer == NULL)
		return NULL;
	*peer = (struct hp3d_ud_peer){.used = true, .ipv6 = ipv6};
	memcpy(peer->local, local, len);
	memcpy(peer->remote, remote, len);
	p->look[peer - p->peer] = UINT64_MAX;
	return peer;
}

void hp3d_ud_peers_meet(struct hp3d_ud_peer *peer, uint64_t now)
{
	peer->met = now;
}

void hp3d_ud_peers_part(struct hp3d_ud_peer *peer)
{
	peer->met = 0;
}
