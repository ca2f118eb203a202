/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of active flows per path, by names that all hosts share (trace.h). A pair whose counts
 * have changed waits in a ring: the peer of each pair gets at most one report per advertise_ns. A
 * lost report is not repeated: while a flow is active, the next report leaves after half of
 * load_age_ns at the latest.
 */
#include "engine/paths/paths.h"
#include <errno.h>

/* Counts of this pair by path number. */
static uint32_t counts_of(
	const struct hp3_engine *e, uint32_t pair, struct hp3_path_count *path, uint32_t max)
{
	const struct hp3_paths *t;
	uint32_t n = 0;

	if (e->cfg.load_paths == 0) /* there may be no table */
		return 0;
	t = &e->paths[pair];
	for (uint32_t i = 0; e->pairs.pairs[pair].paths_ready && i < HP3_PATHS && n < max; i++) {
		const struct hp3_path *p = &t->path[i];
		int name = p->flows != 0 ? hp3_path_name(e, p->id) : -ENOENT;

		if (name >= 0)
			path[n++] = (struct hp3_path_count){(uint16_t)name, p->flows};
	}
	return n;
}

bool hp3_has_key(const struct hp3_engine *e, const struct hp3_ends *ends)
{
	struct hp3_addressing to = {.ipv6 = ends->ipv6};

	if (e->cfg.unkeyed || e->cfg.key == NULL)
		return !e->cfg.unkeyed;
	memcpy(to.src_ip, ends->local, ends->ipv6 ? 16 : 4);
	memcpy(to.dst_ip, ends->remote, ends->ipv6 ? 16 : 4);
	return hp3_pair_keyed(e->cfg.key, &to);
}

void hp3_advertise_tick(struct hp3_turn *t)
{
	struct hp3_advertise_ring *advertise = &t->e->advertise;

	if (t->now < advertise->due)
		return;
	while (advertise->n != 0 && t->acts->n < HP3_ACTS_MAX) {
		uint32_t pair = advertise->ring[advertise->head];
		struct hp3_pair *p = &t->e->pairs.pairs[pair];
		struct hp3_path_count any;
		bool some;

		if (p->nflows != 0 && t->now < p->advertised_at + t->e->cfg.advertise_ns) {
			advertise->due = p->advertised_at + t->e->cfg.advertise_ns;
			return;
		}
		advertise->head =
			advertise->head + 1 == t->e->cfg.max_pairs ? 0 : advertise->head + 1;
		advertise->n--;
		advertise->waits[pair] = 0;
		if (p->nflows == 0 || p->peer_seen == 0)
			continue;
		some = p->long_out != 0 || counts_of(t->e, pair, &any, 1) != 0;
		p->advertised_at = t->now;
		/* a report of 0 is sent once */
		if ((some || p->advertised_some || p->long_owed) && hp3_may_search(t->e) &&
			hp3_has_key(t->e, HP3_ENDS(p)))
			hp3_act(t, HP3_ACT_ADVERTISE, p->flows);
		p->advertised_some = some;
		p->long_owed = false;
	}
	advertise->due = advertise->n != 0 ? t->now : UINT64_MAX;
	t->acts->more |= advertise->n != 0;
}

uint32_t hp3_load_to_names(
	const struct hp3_engine *e, uint32_t flow, struct hp3_path_count *path, uint32_t max)
{
	uint32_t n;

	if (flow >= e->cfg.max_flows || !(e->flows[flow].flags & HP3_FF_USED))
		return 0;
	n = hp3_longs_fill(e, &e->pairs.pairs[e->flows[flow].pair], path, max);
	return n + counts_of(e, e->flows[flow].pair, path + n, max - n);
}

uint32_t hp3_load_in_names(const struct hp3_engine *e, struct hp3_path_count *path, uint32_t max)
{
	uint32_t n = hp3_longs_fill(e, NULL, path, max);

	for (uint32_t i = 0; i < e->cfg.load_paths && n < max; i++) {
		int name = hp3_path_name(e, i);

		if (name >= 0 && (e->tracing == NULL || e->tracing->hop[i].reported))
			path[n++] = (struct hp3_path_count){(uint16_t)name, e->in.count[i]};
	}
	return n;
}

int hp3_load_from_names(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_path_count *path, uint32_t n, uint64_t now)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);
	uint16_t count[HP3_LOAD_PATHS] = {0};

	if (pair == HP3_NO_PAIR || (e->cfg.load_paths == 0 && e->longs == NULL))
		return -ENOENT;
	if (stamp <= e->pairs.pairs[pair].load_stamp)
		return -ESTALE;
	e->pairs.pairs[pair].load_stamp = stamp;
	hp3_longs_reported(e, pair, path, n, now);
	if (e->cfg.load_paths == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		int at = hp3_is_long_name(path[i].name) ? -ENOENT
							: hp3_path_number(e, path[i].name, true);

		if (at >= 0 && at < e->cfg.load_paths)
			count[at] = (uint16_t)(count[at] + path[i].count);
	}
	hp3_load_from(e, ends, count, e->cfg.load_paths, now);
	return 0;
}
