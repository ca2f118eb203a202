/* SPDX-License-Identifier: BSD-3-Clause */
#include "xfer/core/estimate.h"
#include "base/minmax.h"

#define NS          1e9
#define RENEW_NS    1000000000u
#define LEAST_RATE  1000u
#define LATE_TIMES  4u /* a request may be so many times as late as the latest one */
#define HALVE_NS    4000000000u /* time after which the measured lateness is halved */
#define NEW_NS      1000000000u /* a path is new for this time, */
#define NEW_ANSWERS 64u /* and for so many requests */

uint64_t hp3xc_time_of(uint64_t bytes, uint64_t rate)
{
	double ns = (double)bytes * NS / (double)rate;

	return ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

static uint64_t rate_of(uint64_t bytes, uint64_t took)
{
	double rate = (double)bytes * NS / (double)hp3_max_u64(took, 1);

	return rate < 1e15 ? (uint64_t)rate : (uint64_t)1e15;
}

void hp3xc_estimate_begin(struct hp3xc_estimate *e, uint64_t now, uint64_t rate, uint32_t slice)
{
	*e = (struct hp3xc_estimate){.rate = rate,
		.rtt = UINT64_MAX,
		.rtt_at = now,
		.window = slice,
		.slice = slice,
		.began = now,
		.late_at = now};
}

void hp3xc_estimate_probed(struct hp3xc_estimate *e, uint64_t took)
{
	e->rtt = hp3_min_u64(e->rtt, took);
}

static void rtt_add(struct hp3xc_estimate *e, uint64_t now, const struct hp3xc_sample *s)
{
	if (e->renews && s->bytes == s->length) {
		e->rtt = s->took;
		e->rtt_at = now;
		e->renews = false;
	} else if (s->took < e->rtt) {
		e->rtt = s->took;
	} else if (now - e->rtt_at >= RENEW_NS) {
		e->renews = true;
	}
}

static void late_add(struct hp3xc_estimate *e, uint64_t now, const struct hp3xc_sample *s)
{
	uint64_t late = s->took > s->expected ? s->took - s->expected : 0;

	if (e->answers < NEW_ANSWERS)
		e->answers++;
	if (late < e->late && now - e->late_at < HALVE_NS)
		return;
	e->late = hp3_max_u64(late, e->late / 2);
	e->late_at = now;
}

uint64_t hp3xc_estimate_patience(
	const struct hp3xc_estimate *e, uint64_t now, uint64_t least, uint64_t most)
{
	if (e->answers < NEW_ANSWERS || now - e->began < NEW_NS)
		return most;
	return hp3_min_u64(hp3_max_u64(LATE_TIMES * e->late, least), most);
}

void hp3xc_estimate_add(struct hp3xc_estimate *e, uint64_t now, const struct hp3xc_sample *s)
{
	uint64_t least = rate_of(s->bytes, s->took), most, target;

	rtt_add(e, now, s);
	late_add(e, now, s);
	most = s->took > e->rtt ? rate_of(s->bytes, s->took - e->rtt) : UINT64_MAX;
	if (!e->sampled)
		e->rate = hp3_min_u64(hp3_max_u64(e->rate, least), most);
	else if (e->rate < least)
		e->rate += (least - e->rate + 1) / 2;
	else if (e->rate > most)
		e->rate -= (e->rate - most) / 4;
	e->rate = hp3_max_u64(e->rate, LEAST_RATE);
	e->sampled = true;
	target = (uint64_t)(2.0 * (double)e->rate * (double)e->rtt / NS);
	target = hp3_max_u64(target, 2ull * e->slice);
	e->window = hp3_min_u64(e->window + s->length, target);
}

bool hp3xc_estimate_has_room(const struct hp3xc_estimate *e, uint64_t in_flight, uint32_t length)
{
	return in_flight == 0 || (!e->renews && in_flight + length <= e->window);
}
