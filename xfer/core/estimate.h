/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * What a path is estimated to do: rate, least RTT and window. Times ns, rates bytes/s.
 *
 * A request of S bytes that had Q bytes in flight before it, and took T, shows two bounds of the
 * rate. At least: Q + S bytes were acknowledged within T, so the rate is not below (Q + S) / T. At
 * most: the data took T - RTT, so the rate is not above (Q + S) / (T - RTT). An idle path makes the
 * lower bound too low, and a full path makes the upper bound too high, so the estimate moves only
 * when it is outside of the bounds. An idle path is therefore not taken for a slow one.
 *
 * The window begins with one slice, and grows by what is acknowledged, up to twice rate * RTT. With
 * this window, the lower bound doubles in each RTT until the path is full.
 *
 * A request hangs if it takes much longer than expected. How much is measured: see
 * hp3xc_estimate_patience().
 *
 * The least RTT is measured anew each second: then the path takes no slice until nothing is in
 * flight. Otherwise a path that became longer would keep a window that is too small.
 */
#include <stdbool.h>
#include <stdint.h>

struct hp3xc_estimate {
	uint64_t rate, rtt, rtt_at; /* rtt_at: when the RTT was measured anew */
	uint64_t late, late_at; /* the most by which requests were late; when, or when halved */
	uint64_t began;
	uint32_t answers; /* requests with data that were acknowledged */
	uint64_t window;
	uint32_t slice; /* bytes; the window is never below two slices after the first answers */
	bool sampled; /* by data, since the path opened */
	bool renews; /* no slice until nothing is in flight: measures the RTT */
};

/* `rate`: as far as it is known before the first data. */
void hp3xc_estimate_begin(struct hp3xc_estimate *e, uint64_t now, uint64_t rate, uint32_t slice);
/* A request without data took `took`. */
void hp3xc_estimate_probed(struct hp3xc_estimate *e, uint64_t took);

struct hp3xc_sample {
	uint64_t took, expected;
	uint64_t bytes; /* Q + S */
	uint32_t length; /* S */
};

void hp3xc_estimate_add(struct hp3xc_estimate *e, uint64_t now, const struct hp3xc_sample *s);

/*
 * How much later than expected a request may be before its path has failed: four times the most by
 * which requests of the last seconds were late, but at least `least`, and at most `most`. `most` as
 * long as the path is new. A mean and its deviation would not do: stalls of a peer are rare and
 * long, and a mean forgets one within some 20 requests.
 */
uint64_t hp3xc_estimate_patience(
	const struct hp3xc_estimate *e, uint64_t now, uint64_t least, uint64_t most);

/* Time that `bytes` take at `rate`; without overflow. */
uint64_t hp3xc_time_of(uint64_t bytes, uint64_t rate);

/* The path may take `length` bytes more. */
bool hp3xc_estimate_has_room(const struct hp3xc_estimate *e, uint64_t in_flight, uint32_t length);
