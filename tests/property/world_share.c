/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer's hp3d advertises long flows: true numbers, numbers wrong by a factor, and at times an
 * old report with any content.
 */
#include "world_inside.h"

#define EVERY (100 * US)
#define LIE   UINT16_MAX

void world_share_config(const struct world *w, struct hp3_engine_config *cfg)
{
	const struct world_params *p = &w->p;

	if (p->share_percent == 0)
		return;
	cfg->advertise_ns = EVERY;
	cfg->cc.share = (struct hp3_share_params){.on = true,
		.moves = p->spine_paths,
		.floor = 80,
		.cycles = 2,
		.rtt = p->share_rtt != 0 ? p->share_rtt : 170,
		.long_bytes = 20000,
		.advertise_ns = EVERY};
}

static uint16_t wrong(const struct world *w, uint32_t truth)
{
	uint32_t n = truth * w->p.share_percent / 100;

	return (uint16_t)(n == 0 ? 1 : n);
}

/* Who has how many flows where, at random: the peer's rack, and two hosts of ours. */
static void make_up_spine_paths(struct world *w)
{
	struct hp3_spine_path_count spine_path[MAX_PATHS];
	uint64_t advertised_at = world_peer_clock(w);
	uint32_t n = w->p.paths;

	for (uint32_t i = 0; i < 2 + w->p.qps; i++) {
		const struct hp3_ends ends = world_ends(w, i < w->p.qps ? i : 0);

		for (uint32_t k = 0; k < n; k++)
			spine_path[k] = (struct hp3_spine_path_count){.name = (uint16_t)k,
				.out = (uint16_t)rnd(w, 8),
				.in = (uint16_t)rnd(w, 8)};
		if (i < w->p.qps)
			hp3_spine_paths_from(w->e, &ends, advertised_at, spine_path, n, w->now);
		else
			hp3_rack_received(w->e, false, &i, advertised_at, spine_path, n, w->now);
	}
}

void world_share_tick(struct world *w)
{
	const uint32_t in = w->p.qps;
	uint64_t advertised_at = world_peer_clock(w);

	if (w->p.share_percent == 0 || world_lasts(w) == 0 || w->now < w->share_at)
		return;
	w->share_at = w->now + EVERY;
	if (w->p.spine_paths)
		make_up_spine_paths(w);
	for (uint32_t i = 0; i < w->p.qps; i++) {
		const struct hp3_ends ends = world_ends(w, i);
		struct hp3_path_count reported[] = {
			{HP3_NAME_LONG_IN, wrong(w, in)}, {HP3_NAME_LONG, wrong(w, 1)}};

		if (chance(w, w->p.share_lost_ppm))
			continue;
		hp3_load_from_names(w->e, &ends, advertised_at, reported, 2, w->now);
		reported[0].count = rnd(w, 2) ? LIE : 0;
		if (hp3_load_from_names(
			    w->e, &ends, advertised_at - rnd(w, 2), reported, 2, w->now) == 0)
			VIOLATION(w, "an old report of long flows is believed");
	}
}
