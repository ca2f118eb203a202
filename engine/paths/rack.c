/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of the rack peers. The counts of a rack peer are those of its newest message, until that
 * message expires. A host sends a message when its counts have changed, at most twice per
 * share_advertise_us, and again before its last message expires.
 */
#include <errno.h>
#include "engine/paths/paths.h"
#include "engine/paths/spine_paths.h"

#define FRESH_INTERVALS 8u /* x share_advertise_us: older counts have expired */
#define REFRESH         3u /* ... sent again after this many, while there are any */
#define GAP             2u /* most messages in share_advertise_us */

static uint64_t advertise_ns(const struct hp3_engine *e)
{
	return e->cfg.cc.share.advertise_ns;
}

bool hp3_rack_is_fresh(const struct hp3_engine *e, uint64_t at, uint64_t now)
{
	return at != 0 && now - at <= FRESH_INTERVALS * advertise_ns(e);
}

struct hp3_spine_path_count hp3_spine_paths_find(const struct hp3_spine_paths *w, uint16_t name)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->spine_path[i].name == name)
			return w->spine_path[i];
	return (struct hp3_spine_path_count){.name = name};
}

struct hp3_spine_path_count hp3_rack_has(const struct hp3_engine *e, uint16_t name, uint64_t now)
{
	struct hp3_spine_path_count all = hp3_spine_paths_find(&e->rack->own, name);

	for (uint32_t i = 0; i < HP3_RACK_PEERS_MAX; i++) {
		const struct hp3_rack_peer *m = &e->rack->rack_peer[i];
		struct hp3_spine_path_count has;

		if (!hp3_rack_is_fresh(e, m->at, now))
			continue;
		has = hp3_spine_paths_find(&m->has, name);
		all.out = (uint16_t)hp3_min_u32(all.out + has.out, INT16_MAX);
		all.in = (uint16_t)hp3_min_u32(all.in + has.in, INT16_MAX);
	}
	return all;
}

static bool has_any(const struct hp3_spine_paths *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->spine_path[i].out != 0 || w->spine_path[i].in != 0)
			return true;
	return false;
}

uint64_t hp3_rack_due(const struct hp3_engine *e)
{
	const struct hp3_rack *r = e->rack;

	if (r->changed)
		return r->advertised_at == 0 ? 0 : r->advertised_at + advertise_ns(e) / GAP;
	return has_any(&r->own) ? r->advertised_at + REFRESH * advertise_ns(e) : UINT64_MAX;
}

void hp3_rack_tick(struct hp3_turn *t)
{
	if (t->now < hp3_rack_due(t->e))
		return;
	if (t->acts->n == HP3_ACTS_MAX) {
		t->acts->more = true;
		return;
	}
	t->e->rack->changed = false;
	t->e->rack->advertised_at = t->now;
	if (hp3_may_search(t->e) && !t->e->cfg.unkeyed)
		hp3_act(t, HP3_ACT_RACK, HP3_NO_FLOW);
}

uint32_t hp3_rack_advertise(
	const struct hp3_engine *e, struct hp3_spine_path_count *spine_path, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; e->rack != NULL && i < e->rack->own.n && n < max; i++)
		if (e->rack->own.spine_path[i].out != 0 || e->rack->own.spine_path[i].in != 0)
			spine_path[n++] = e->rack->own.spine_path[i];
	return n;
}

/* Its record; else the oldest one, if that has expired. */
static struct hp3_rack_peer *rack_peer_of(
	struct hp3_engine *e, bool ipv6, const void *addr, uint64_t now)
{
	struct hp3_rack_peer *oldest = &e->rack->rack_peer[0];

	for (uint32_t i = 0; i < HP3_RACK_PEERS_MAX; i++) {
		struct hp3_rack_peer *m = &e->rack->rack_peer[i];

		if (m->at != 0 && m->ipv6 == ipv6 && memcmp(m->addr, addr, ipv6 ? 16 : 4) == 0)
			return m;
		if (m->at < oldest->at)
			oldest = m;
	}
	if (hp3_rack_is_fresh(e, oldest->at, now))
		return NULL;
	*oldest = (struct hp3_rack_peer){.ipv6 = ipv6};
	memcpy(oldest->addr, addr, ipv6 ? 16 : 4);
	return oldest;
}

int hp3_rack_received(struct hp3_engine *e, bool ipv6, const void *rack_peer, uint64_t stamp,
	const struct hp3_spine_path_count *spine_path, uint32_t n, uint64_t now)
{
	struct hp3_rack_peer *m = e->rack == NULL ? NULL : rack_peer_of(e, ipv6, rack_peer, now);

	if (m == NULL)
		return e->rack == NULL ? -ENOENT : -ENOSPC;
	if (stamp <= m->stamp)
		return -ESTALE;
	m->stamp = stamp;
	m->at = now;
	m->has.n = hp3_min_u32(n, HP3_SPINE_PATHS);
	memcpy(m->has.spine_path, spine_path, m->has.n * sizeof(*spine_path));
	return 0;
}
