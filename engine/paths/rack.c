/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of the rack peers; the newest message of each counts until it expires. A host sends one
 * when its counts have changed, at most twice per share_tell_us, and again before the last one
 * expires.
 */
#include <errno.h>
#include "engine/paths/paths.h"
#include "engine/paths/ways.h"

#define FRESH_INTERVALS 8u /* x share_tell_us: older counts have expired */
#define REFRESH         3u /* ... sent again after this many, while there are any */
#define GAP             2u /* most messages in share_tell_us */

static uint64_t tell_ns(const struct hp3_engine *e)
{
	return e->cfg.cc.share.tell_ns;
}

bool hp3_rack_is_fresh(const struct hp3_engine *e, uint64_t at, uint64_t now)
{
	return at != 0 && now - at <= FRESH_INTERVALS * tell_ns(e);
}

struct hp3_way_count hp3_ways_find(const struct hp3_ways *w, uint16_t name)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->way[i].name == name)
			return w->way[i];
	return (struct hp3_way_count){.name = name};
}

struct hp3_way_count hp3_rack_has(const struct hp3_engine *e, uint16_t name, uint64_t now)
{
	struct hp3_way_count all = hp3_ways_find(&e->rack->own, name);

	for (uint32_t i = 0; i < HP3_RACK_MATES; i++) {
		const struct hp3_mate *m = &e->rack->mate[i];
		struct hp3_way_count has;

		if (!hp3_rack_is_fresh(e, m->at, now))
			continue;
		has = hp3_ways_find(&m->has, name);
		all.out = (uint16_t)hp3_min_u32(all.out + has.out, INT16_MAX);
		all.in = (uint16_t)hp3_min_u32(all.in + has.in, INT16_MAX);
	}
	return all;
}

static bool has_any(const struct hp3_ways *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->way[i].out != 0 || w->way[i].in != 0)
			return true;
	return false;
}

uint64_t hp3_rack_due(const struct hp3_engine *e)
{
	const struct hp3_rack *r = e->rack;

	if (r->changed)
		return r->told_at == 0 ? 0 : r->told_at + tell_ns(e) / GAP;
	return has_any(&r->own) ? r->told_at + REFRESH * tell_ns(e) : UINT64_MAX;
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
	t->e->rack->told_at = t->now;
	if (hp3_may_search(t->e) && !t->e->cfg.unkeyed)
		hp3_act(t, HP3_ACT_RACK, HP3_NO_FLOW);
}

uint32_t hp3_rack_tell(const struct hp3_engine *e, struct hp3_way_count *way, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; e->rack != NULL && i < e->rack->own.n && n < max; i++)
		if (e->rack->own.way[i].out != 0 || e->rack->own.way[i].in != 0)
			way[n++] = e->rack->own.way[i];
	return n;
}

/* Its record; else the oldest one, if that has expired. */
static struct hp3_mate *mate_of(struct hp3_engine *e, bool ipv6, const void *addr, uint64_t now)
{
	struct hp3_mate *oldest = &e->rack->mate[0];

	for (uint32_t i = 0; i < HP3_RACK_MATES; i++) {
		struct hp3_mate *m = &e->rack->mate[i];

		if (m->at != 0 && m->ipv6 == ipv6 && memcmp(m->addr, addr, ipv6 ? 16 : 4) == 0)
			return m;
		if (m->at < oldest->at)
			oldest = m;
	}
	if (hp3_rack_is_fresh(e, oldest->at, now))
		return NULL;
	*oldest = (struct hp3_mate){.ipv6 = ipv6};
	memcpy(oldest->addr, addr, ipv6 ? 16 : 4);
	return oldest;
}

int hp3_rack_told(struct hp3_engine *e, bool ipv6, const void *mate, uint64_t stamp,
	const struct hp3_way_count *way, uint32_t n, uint64_t now)
{
	struct hp3_mate *m = e->rack == NULL ? NULL : mate_of(e, ipv6, mate, now);

	if (m == NULL)
		return e->rack == NULL ? -ENOENT : -ENOSPC;
	if (stamp <= m->stamp)
		return -ESTALE;
	m->stamp = stamp;
	m->at = now;
	m->has.n = hp3_min_u32(n, HP3_WAYS);
	memcpy(m->has.way, way, m->has.n * sizeof(*way));
	return 0;
}
