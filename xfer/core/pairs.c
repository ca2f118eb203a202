/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The window of all paths to a peer (window.h). It never falls below two slices for each local rail
 * that has a path: one on the link, and one that waits for it. So rails never wait for one another.
 */
#include "xfer/core/inside.h"
#include "base/minmax.h"

#define SECOND       1000000000ull
#define MOST_RATE    1000000000000ull /* bytes/s; keeps sums of rates far from overflow */
#define LEAST_SILENT 1000000u /* ns */
#define SILENT       4u /* times what its oldest request was expected to take */

static const struct hp3x_window_limits limits = {
	.second = SECOND, .most_rate = MOST_RATE, .percent = 200};

/* What the paths of a peer that are up have in common. */
struct pair {
	uint64_t in_flight; /* of paths that are not silent */
	uint64_t rtt; /* average, by rate: rails may differ */
	uint64_t silent_at; /* when the first path is silent; UINT64_MAX: none is waited for */
	uint32_t rails; /* local rails with a path */
};

/* When the path is silent, if nothing is acknowledged before. UINT64_MAX: nothing is in flight. */
static uint64_t path_silent_at(const struct hp3xc_path *p)
{
	const struct hp3xc_flight *oldest;

	if (!hp3xc_link_is_used(&p->flights))
		return UINT64_MAX;
	oldest = HP3XC_ELEMENT(p->flights.next, struct hp3xc_flight, in);
	return hp3_max_u64(oldest->sent, p->answered) +
	       hp3_max_u64(SILENT * (oldest->due - oldest->sent), LEAST_SILENT);
}

static struct pair pair_of(const struct hp3x_core *c, const struct hp3xc_peer *peer)
{
	struct pair pair = {.silent_at = UINT64_MAX};
	double rates = 0, rtts = 0;
	uint32_t rails = 0;

	for (uint32_t i = 0; i < peer->n_paths; i++) {
		const struct hp3xc_path *p = &peer->paths[i];
		uint64_t silent_at;

		if (p->stage != HP3XC_UP)
			continue;
		rails |= 1u << p->local_rail;
		rates += (double)p->estimate.rate;
		rtts += (double)p->estimate.rate * (double)p->estimate.rtt;
		silent_at = path_silent_at(p);
		if (silent_at <= c->now)
			continue; /* it may hang: others must not wait for its requests */
		pair.in_flight += p->in_flight;
		pair.silent_at = hp3_min_u64(pair.silent_at, silent_at);
	}
	pair.rtt = rates > 0 ? (uint64_t)(rtts / rates) : 0;
	pair.rails = (uint32_t)__builtin_popcount(rails);
	return pair;
}

void hp3xc_peer_window_init(const struct hp3x_core *c, struct hp3xc_peer *peer)
{
	peer->window = (struct hp3x_window){.rate = 0};
	for (uint32_t i = 0; i < c->cfg.rails; i++)
		peer->window.rate +=
			c->cfg.rail_rate[i] != 0 ? c->cfg.rail_rate[i] : HP3XC_UNKNOWN_RATE;
}

bool hp3xc_peer_has_room(struct hp3x_core *c, const struct hp3xc_peer *peer, uint32_t length)
{
	struct pair pair = pair_of(c, peer);
	uint64_t least = 2ull * pair.rails * length;

	if (pair.in_flight == 0 ||
		pair.in_flight + length <= hp3_max_u64(peer->window.bytes, least))
		return true;
	hp3xc_timer_hasten(&c->timers, hp3xc_wait_timer(c, peer), pair.silent_at);
	return false;
}

void hp3xc_peer_measure(struct hp3x_core *c, struct hp3xc_peer *peer, const struct hp3xc_flight *f)
{
	struct pair pair = pair_of(c, peer);

	peer->window.delivered += f->length;
	hp3x_window_add(&peer->window, &limits,
		&(struct hp3x_window_sample){.bytes = f->length,
			.posted = f->sent,
			.now = c->now,
			.delivered = f->delivered,
			.rtt = pair.rtt,
			.more = (uint64_t)pair.rails * c->cfg.slice_bytes,
			.waits = peer->backlog > 0});
}
