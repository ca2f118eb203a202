/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a path for a slice. */
#include "xfer/core/inside.h"
#include "base/minmax.h"

uint64_t hp3xc_path_finish(const struct hp3x_core *c, const struct hp3xc_path *p, uint32_t length)
{
	uint64_t own = hp3xc_time_of(p->in_flight + length, p->estimate.rate), rail = 0;

	if (c->cfg.rail_rate[p->local_rail] != 0) /* paths of all peers share the rail */
		rail = hp3xc_time_of(
			c->rail_in_flight[p->local_rail] + length, c->cfg.rail_rate[p->local_rail]);
	return hp3_max_u64(own, rail) + p->estimate.rtt;
}

/* How much later than expected the oldest request is. */
static uint64_t path_delay(const struct hp3x_core *c, const struct hp3xc_path *p)
{
	const struct hp3xc_flight *f;

	if (!hp3xc_link_is_used(&p->flights))
		return 0;
	f = HP3XC_ELEMENT(p->flights.next, struct hp3xc_flight, in);
	return c->now > f->due ? c->now - f->due : 0;
}

/*
 * Time in which all other paths would finish all slices that wait, but at least the time in which
 * one of them would finish one slice of `length` bytes. UINT64_MAX: there are none.
 */
static uint64_t others_finish(const struct hp3x_core *c, const struct hp3xc_peer *peer,
	const struct hp3xc_path *but, uint32_t length)
{
	uint64_t bytes = peer->backlog, rate = 0, rtt = UINT64_MAX, one = UINT64_MAX;

	for (uint32_t i = 0; i < peer->n_paths; i++) {
		const struct hp3xc_path *p = &peer->paths[i];

		/* A path that is late by more than the round trip may hang. */
		if (p->stage != HP3XC_UP || p == but || path_delay(c, p) > p->estimate.rtt)
			continue;
		bytes += p->in_flight;
		rate += p->estimate.rate;
		rtt = hp3_min_u64(rtt, p->estimate.rtt);
		one = hp3_min_u64(one, hp3xc_path_finish(c, p, length));
	}
	return rate != 0 ? hp3_max_u64(hp3xc_time_of(bytes, rate) + rtt, one) : UINT64_MAX;
}

struct hp3xc_path *hp3xc_path_choose(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t length)
{
	struct hp3xc_path *best = NULL;
	uint64_t finish = UINT64_MAX, others;

	if (!hp3xc_peer_has_room(c, peer, length))
		return NULL;
	for (uint32_t i = 0; i < peer->n_paths; i++) {
		struct hp3xc_path *p = &peer->paths[i];
		uint64_t own;

		if (p->stage != HP3XC_UP ||
			!hp3xc_estimate_has_room(&p->estimate, p->in_flight, length))
			continue;
		own = hp3xc_path_finish(c, p, length) + path_delay(c, p);
		if (own < finish) {
			finish = own;
			best = p;
		}
	}
	if (best == NULL)
		return NULL;
	others = others_finish(c, peer, best, length);
	if (finish <= others)
		return best;
	hp3xc_timer_hasten(&c->timers, hp3xc_wait_timer(c, peer), c->now + others);
	return NULL;
}

/* Asks for an answer of a path that has nothing in flight. */
static void path_ask(struct hp3x_core *c, struct hp3xc_path *p)
{
	if (!p->probing && !hp3xc_link_is_used(&p->flights) && p->wants == 0)
		hp3xc_path_want(c, p, HP3XC_WANT_PROBE);
}

/*
 * The path that has been up for the longest time: the second time, a slice must not take one that
 * fails often.
 */
struct hp3xc_path *hp3xc_path_choose_again(
	struct hp3x_core *c, struct hp3xc_peer *peer, const struct hp3xc_flight *f)
{
	struct hp3xc_path *best = NULL;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < peer->n_paths; i++) {
		struct hp3xc_path *p = &peer->paths[i];
		uint64_t rank;

		if (p->stage != HP3XC_UP)
			continue;
		if (p->answered <= f->failed) {
			path_ask(c, p);
			if (f->times > 1 && p->up_since < least) { /* waits for this one */
				least = p->up_since;
				best = NULL;
			}
			continue;
		}
		rank = f->times > 1 ? p->up_since : hp3xc_path_finish(c, p, f->length);
		if (rank < least) {
			least = rank;
			best = p;
		}
	}
	if (best != NULL && !hp3xc_estimate_has_room(&best->estimate, best->in_flight, f->length))
		return NULL;
	return best;
}
