/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches for a spine path with fewer long flows (paths/spine_paths.h). A flow searches at random
 * times, a share_advertise_us apart on average, so that flows do not all move at once. It takes the
 * best of a few random ports. The candidate needs at least one long flow less on both its links
 * together, this flow included, and at least a fifth less. The counts come from other hosts and may
 * be wrong, old or forged. So the port is probed as advice is (advised.c, rule 34), and no flow
 * moves to a worse path.
 */
#include "engine/paths/spine_paths.h"
#include "engine/search/search.h"

#define WORTH          3u /* x cc.share.long_bytes still to be sent: less ends too soon */
#define DOUBLINGS_MOST 6u /* probes of an address pair in a row: each doubles the wait */
#define SETTLED        2u /* share_advertise_us until others have this flow in their counts */

static bool is_better(int there, int here)
{
	return there < here && 5 * there <= 4 * here;
}

/* The best candidate; 0: none is better. */
static uint16_t choose_port(struct hp3_turn *t, const struct hp3_flow *f, int here)
{
	uint16_t ports[HP3_ROUND_PROBES], best = 0;
	uint32_t n = hp3_paths_candidates(hp3_paths_of(t->e, f->pair), f->rqpn, hp3_flow_port(f),
		ports, t->e->cfg.candidates, t->now);

	for (uint32_t i = 0; i < n; i++) {
		int there = hp3_spine_path_sum(t->e, f, ports[i], t->now);

		if (there < 0 || !is_better(there + 2, here))
			continue;
		here = there + 2;
		best = ports[i];
	}
	return best;
}

/*
 * If counts are wrong, an address pair probes again and again. Each time, it waits twice as long,
 * to leave probe budget for the flows' own searches.
 */
static void set_next_probe(const struct hp3_turn *t, struct hp3_peer_spine_paths *p)
{
	uint64_t least = SETTLED * t->e->cfg.cc.share.advertise_ns;

	if (t->now - p->ask_at > least << p->asked)
		p->asked = 0;
	p->ask_at = t->now + (least << p->asked);
	p->asked = (uint8_t)hp3_min_u32(p->asked + 1u, DOUBLINGS_MOST);
}

void hp3_search_by_counts(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_long *l = &e->longs[flow];
	uint64_t period = e->cfg.cc.share.advertise_ns;
	uint16_t port;
	int here;

	if (!l->out || t->now < l->search_at || t->acts->n + HP3_ROUND_PROBES + 2 > HP3_ACTS_MAX)
		return;
	if (l->search_at == 0) {
		l->search_at = t->now + SETTLED * period;
		return;
	}
	l->search_at = t->now + period / 2 + hp3_random_below(&e->rng, (uint32_t)period + 1);
	hp3_spine_path_moved(e, flow); /* traces may have found its path meanwhile */
	here = t->now >= e->rack->peer[f->pair].ask_at && l->counted &&
			       l->left >= WORTH * e->cfg.cc.share.long_bytes &&
			       hp3_may_leave(e, f, t->now)
		       ? hp3_spine_path_sum(e, f, hp3_flow_port(f), t->now)
		       : -1;
	port = here < 0 ? 0 : choose_port(t, f, here);
	if (port == 0 || hp3_advised(t, flow, port) != 0)
		return;
	l->search_at += SETTLED * period;
	set_next_probe(t, &e->rack->peer[f->pair]);
}
