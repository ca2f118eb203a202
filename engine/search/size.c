/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths that drop long packets silently: a link has a smaller MTU. Short probes are answered sooner
 * there than elsewhere, because the path carries little traffic. Rule 33:
 *
 * - A decision to move to a path needs probes as long as the flow's own packets. These are the
 *   re-probes of a search, and the rounds in which a stalled flow's short probes were answered
 *   (dead.c).
 * - If such a long probe is lost, the path becomes LOSSY, and answers to short probes do not change
 *   that. From then on, all probes of the pair are as long as data, also at set-up and before
 *   messages, where the first answer decides.
 * - If the peer has no hp3d, or nothing has arrived from it, such probes do not help: see stuck.c.
 */
#include "engine/search/search.h"
#include "probes/peer.h"

#define SWALLOW_PERIODS 32u /* times paths.lossy_ns */

uint16_t hp3_probe_pad(const struct hp3_engine *e, const struct hp3_flow *f)
{
	uint32_t least = f->flags & HP3_FF_IPV6 ? HP3_PEER_IP_LEN6 : HP3_PEER_IP_LEN4;
	uint32_t longest = e->pairs.pairs[f->pair].longest;

	if (f->pmtu_log2 != 0)
		longest = hp3_max_u32(longest, least + (1u << f->pmtu_log2));
	if (longest <= least)
		return 0;
	return (uint16_t)hp3_min_u32((longest - least + 3) & ~3u, HP3_PEER_PAD_MAX);
}

bool hp3_pair_swallows(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	return now < e->pairs.pairs[f->pair].swallows_until;
}

void hp3_swallowed(struct hp3_turn *t, uint32_t flow, uint16_t port)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_paths *paths = hp3_paths_of(t->e, f->pair);
	int at = hp3_paths_get(paths, port, f->rqpn, t->now);

	if (at >= 0)
		hp3_paths_swallows(paths, at, t->now);
	t->e->pairs.pairs[f->pair].swallows_until =
		t->now + SWALLOW_PERIODS * t->e->cfg.paths.lossy_ns;
	t->e->stats.swallowed++;
}

void hp3_size_learn(struct hp3_turn *t, const struct hp3_move *m)
{
	const struct hp3_round *r = &m->search.round;

	if (!r->as_data || r->probe[0].state != HP3_PROBE_ANSWERED)
		return;
	for (uint32_t i = 1; i < r->n; i++)
		if (r->probe[i].state == HP3_PROBE_LOST)
			hp3_swallowed(t, m->flow, r->probe[i].port);
}
