/* SPDX-License-Identifier: BSD-3-Clause */
/* What hp3x measures of paths, and which path it chooses. */
#include "base/minmax.h"
#include "sim/lb/hp3x.h"

#define SHARES 256u /* of a slice */
#define WEIGHT 4u /* an EWMA takes a quarter of a new sample */

static uint64_t time_of(uint64_t bytes, uint64_t rate)
{
	return (uint64_t)((unsigned __int128)bytes * SIM_SEC / rate);
}

void hp3x_pair_init(
	struct hp3x_pair *pair, const struct hp3x_limits *limits, uint32_t rails, uint32_t n)
{
	pair->limits = *limits;
	pair->rails = rails;
	pair->n = n;
	for (uint32_t i = 0; i < rails; i++) {
		pair->rail[i].window = (struct hp3x_window){
			.rate = pair->rail[i].of.most_rate, .bytes = 2 * limits->slice_bytes};
	}
	for (uint32_t i = 0; i < n; i++) {
		pair->path[i].rail = &pair->rail[i % rails];
		pair->path[i].rate = pair->path[i].rail->of.most_rate;
		pair->path[i].window = limits->slice_bytes;
	}
}

void hp3x_posted(struct hp3x_pair *pair, struct hp3x_path *p, uint32_t bytes)
{
	p->in_flight += bytes;
	p->rail->in_flight += bytes;
	pair->waiting -= bytes;
	pair->turn = (uint32_t)(p - pair->path + 1) % pair->n;
}

/* Without the time that the slice takes on the rail. */
static void measure_rtt(struct hp3x_path *p, const struct hp3x_slice *slice)
{
	uint64_t time = slice->now - slice->posted;
	uint64_t link = time_of(slice->bytes, p->rail->of.most_rate);
	uint64_t rtt = time > link ? time - link : 1;

	if (p->rtt == 0 || rtt < p->rtt)
		p->rtt = rtt;
	if (p->rail->rtt == 0 || rtt < p->rail->rtt)
		p->rail->rtt = rtt;
}

/*
 * The rate while data moved. A slice that was posted on an idle path has waited for an RTT, too.
 * Shorter slices count less.
 */
static void measure_path(
	const struct hp3x_pair *pair, struct hp3x_path *p, const struct hp3x_slice *slice)
{
	bool idle = slice->posted >= p->ended;
	uint64_t time = idle ? slice->now - slice->posted - p->rtt : slice->now - p->ended;
	uint64_t rate = hp3x_window_rate(&p->rail->of, slice->bytes, time);
	uint64_t whole = pair->limits.slice_bytes, weight;

	weight = hp3_min_u64(slice->bytes, whole) * SHARES / whole;
	p->rate = (p->rate * (SHARES * WEIGHT - weight) + rate * weight) / (SHARES * WEIGHT);
	p->rate = hp3_max_u64(p->rate, 1);
	p->window = hp3_min_u64(p->window + slice->bytes,
		hp3_max_u64(hp3x_window_share(&p->rail->of, p->rate, p->rtt), whole));
}

void hp3x_ended(struct hp3x_pair *pair, struct hp3x_path *p, const struct hp3x_slice *slice)
{
	p->in_flight -= slice->bytes;
	p->rail->in_flight -= slice->bytes;
	measure_rtt(p, slice);
	measure_path(pair, p, slice);
	p->rail->window.delivered += slice->bytes;
	hp3x_window_add(&p->rail->window, &p->rail->of,
		&(struct hp3x_window_sample){.bytes = slice->bytes,
			.posted = slice->posted,
			.now = slice->now,
			.delivered = slice->delivered,
			.rtt = p->rail->rtt,
			.more = pair->limits.slice_bytes,
			.waits = pair->waiting > 0});
	p->ended = slice->now;
}

uint64_t hp3x_path_finish(const struct hp3x_path *p, uint64_t bytes)
{
	return time_of(p->in_flight + bytes, p->rate) + p->rtt;
}

bool hp3x_path_has_room(const struct hp3x_path *p, uint32_t bytes)
{
	return p->in_flight == 0 || p->in_flight + bytes <= p->window;
}

bool hp3x_rail_has_room(
	const struct hp3x_limits *limits, const struct hp3x_rail *rail, uint32_t bytes)
{
	return !limits->pair_window || rail->in_flight == 0 ||
	       rail->in_flight + bytes <= rail->window.bytes;
}

struct hp3x_path *hp3x_choose(struct hp3x_pair *pair, uint32_t bytes)
{
	struct hp3x_path *best = NULL;
	uint64_t rate = 0, in_flight = 0, rtt = 0; /* of paths without room */

	for (uint32_t i = 0; i < pair->n; i++) {
		struct hp3x_path *p = &pair->path[(pair->turn + i) % pair->n];

		if (!hp3x_path_has_room(p, bytes) ||
			!hp3x_rail_has_room(&pair->limits, p->rail, bytes)) {
			rate += p->rate;
			in_flight += p->in_flight;
			rtt = hp3_max_u64(rtt, p->rtt);
		} else if (best == NULL ||
			   hp3x_path_finish(p, bytes) < hp3x_path_finish(best, bytes)) {
			best = p;
		}
	}
	if (best != NULL && rate > 0 &&
		time_of(in_flight + pair->waiting, rate) + rtt < hp3x_path_finish(best, bytes))
		return NULL;
	return best;
}
