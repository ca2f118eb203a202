/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of active flows per path, here and at peers (ppp/placement.h): messages between both ends,
 * and the path of a new queue pair. Counts are useful only if ports are mapped to paths.
 */
#include "engine/paths/paths.h"

/* Paths that some port of this pair is known to take, without failed and lossy ones. */
static void map_usable_paths(struct hp3_engine *e, uint32_t pair, uint64_t *map, uint64_t now)
{
	const struct hp3_paths *t = hp3_paths_of(e, pair);

	hp3_paths_drawn(t, map, HP3_LOAD_PATHS);
	for (uint32_t i = 0; i < HP3_PATHS; i++) {
		enum hp3_quality q = hp3_paths_quality(t, (int)i, now);
		uint32_t id = t->path[i].id;

		if (id < HP3_LOAD_PATHS && (q == HP3_QUALITY_FAILED || q == HP3_QUALITY_LOSSY))
			map[id / 64] &= ~(1ull << (id & 63));
	}
}

bool hp3_counts_distinguish(struct hp3_engine *e, uint32_t pair)
{
	return e->cfg.load_paths != 0 && hp3_paths_of(e, pair)->identity != HP3_IDENTITY_NONE;
}

uint64_t hp3_alike_ns(const struct hp3_engine *e, uint32_t rtt)
{
	return (uint64_t)rtt * (100u + e->cfg.setup_alike) / 100;
}

bool hp3_is_alike(
	const struct hp3_engine *e, const struct hp3_probe *p, const struct hp3_probe *best)
{
	return p->state == HP3_PROBE_ANSWERED && !p->ce &&
	       p->rtt_ns <= hp3_alike_ns(e, best->rtt_ns);
}

const struct hp3_probe *hp3_counts_least_used(
	struct hp3_engine *e, const struct hp3_move *m, const struct hp3_probe *best, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	const struct hp3_paths *t = hp3_paths_of(e, f->pair);
	const struct hp3_probe *on[HP3_LOAD_PATHS] = {NULL};
	uint64_t map[HP3_LOAD_PATHS / 64] = {0};
	int path;

	for (uint32_t i = 0; i < m->search.round.n; i++) {
		const struct hp3_probe *p = &m->search.round.probe[i];
		uint32_t id = hp3_paths_id(t, p->port, f->rqpn);

		if (id >= HP3_LOAD_PATHS || !hp3_is_alike(e, p, best))
			continue;
		on[id] = p;
		map[id / 64] |= 1ull << (id & 63);
	}
	path = hp3_place(&e->out, &e->peers[f->pair], map, e->cfg.load_age_ns, now, &e->rng);
	return path < 0 ? best : on[path];
}

bool hp3_counts_place(struct hp3_engine *e, uint32_t flow, uint16_t *port, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[flow];
	uint64_t map[HP3_LOAD_PATHS / 64];
	int path;

	if (!hp3_counts_distinguish(e, f->pair))
		return false;
	map_usable_paths(e, f->pair, map, now);
	path = hp3_place(&e->out, &e->peers[f->pair], map, e->cfg.load_age_ns, now, &e->rng);
	return path >= 0 &&
	       hp3_paths_port(hp3_paths_of(e, f->pair), (uint32_t)path, f->rqpn, port) == 0;
}

static uint16_t *from_of(const struct hp3_engine *e, uint32_t pair)
{
	return e->counts + (size_t)(2 * pair + 1) * e->cfg.load_paths;
}

void hp3_counts_forget(struct hp3_engine *e, uint32_t pair)
{
	uint16_t *from = from_of(e, pair);

	for (uint32_t i = 0; i < e->cfg.load_paths; i++) {
		e->in.count[i] = (uint16_t)(e->in.count[i] - from[i]);
		from[i] = 0;
	}
	hp3_peer_load_init(&e->peers[pair], e->counts + (size_t)2 * pair * e->cfg.load_paths,
		e->cfg.load_paths);
}

uint32_t hp3_load_in(const struct hp3_engine *e, uint16_t *count, uint32_t max)
{
	return e->cfg.load_paths == 0 ? 0 : hp3_load_copy(&e->in, count, max);
}

void hp3_load_from(struct hp3_engine *e, const struct hp3_ends *ends, const uint16_t *count,
	uint32_t n, uint64_t now)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);
	uint16_t *from;

	if (pair == HP3_NO_PAIR || e->cfg.load_paths == 0)
		return;
	e->pairs.pairs[pair].peer_seen = now;
	from = from_of(e, pair);
	for (uint32_t i = 0; i < e->cfg.load_paths; i++) {
		uint16_t is = i < n ? count[i] : 0, room;

		e->in.count[i] = (uint16_t)(e->in.count[i] - from[i]);
		room = (uint16_t)(UINT16_MAX - e->in.count[i]);
		from[i] = is < room ? is : room;
		e->in.count[i] = (uint16_t)(e->in.count[i] + from[i]);
	}
}

uint32_t hp3_load_to(
	const struct hp3_engine *e, const struct hp3_ends *ends, uint16_t *count, uint32_t max)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);
	uint32_t n = hp3_min_u32(e->cfg.load_paths, max);

	memset(count, 0, n * sizeof(*count));
	if (pair == HP3_NO_PAIR || !e->pairs.pairs[pair].paths_ready)
		return n;
	for (uint32_t i = 0; i < HP3_PATHS; i++) {
		const struct hp3_path *p = &e->paths[pair].path[i];

		if (p->id < n)
			count[p->id] = (uint16_t)(count[p->id] + p->flows);
	}
	return n;
}
