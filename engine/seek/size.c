/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths that swallow long packets: a link of a smaller MTU drops them, and says nothing. Short
 * probes come back from there, sooner than from elsewhere, for little else travels there. Rule 33:
 *
 * - what decides that a flow goes somewhere is asked with probes as long as its own packets: the
 *   looks of a search, and the windows of a watch in which short ones came through although nothing
 *   is acknowledged (dead.c);
 * - what is lost there makes the path LOSSY, which no short answer ends, and from then on all
 * rounds of the pair are as long, at set-up and before messages, too, where the first answer
 * decides;
 * - where the peer has no hp3d, or nothing was ever heard, no such probe says anything: stuck.c.
 */
#include "engine/seek/seek.h"
#include "probes/peer.h"

#define FOR 32u /* times paths.lossy_ns: what was met once is met again */

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
	t->e->pairs.pairs[f->pair].swallows_until = t->now + FOR * t->e->cfg.paths.lossy_ns;
	t->e->stats.swallowed++;
}

/* It answered a short one just before, and the port in use a long one now. */
void hp3_size_learn(struct hp3_turn *t, const struct hp3_move *m)
{
	const struct hp3_round *r = &m->errand.round;

	if (!r->as_data || r->probe[0].state != HP3_PROBE_ANSWERED)
		return;
	for (uint32_t i = 1; i < r->n; i++)
		if (r->probe[i].state == HP3_PROBE_LOST)
			hp3_swallowed(t, m->flow, r->probe[i].port);
}
