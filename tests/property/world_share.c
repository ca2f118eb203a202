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
	cfg->cc.share = (struct hp3_share_params){.on = true,
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

void world_share_tick(struct world *w)
{
	const uint32_t in = w->p.qps;
	uint64_t advertised_at = world_peer_clock(w);

	if (w->p.share_percent == 0 || world_lasts(w) == 0 || w->now < w->share_at)
		return;
	w->share_at = w->now + EVERY;
	for (uint32_t i = 0; i < w->p.qps; i++) {
		const struct hp3_ends ends = world_ends(w, i);
		struct hp3_long_counts reported = {.out = wrong(w, 1), .in = wrong(w, in)};

		if (chance(w, w->p.share_lost_ppm))
			continue;
		hp3_longs_from(w->e, &ends, advertised_at, &reported, w->now);
		reported.in = rnd(w, 2) ? LIE : 0;
		if (hp3_longs_from(w->e, &ends, advertised_at - rnd(w, 2), &reported, w->now) == 0)
			VIOLATION(w, "an old report of long flows is believed");
	}
}
