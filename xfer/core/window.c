/* SPDX-License-Identifier: BSD-3-Clause */
#include "xfer/core/window.h"
#include "base/minmax.h"

#define WEIGHT 4u /* the EWMA takes a quarter of a new sample */

uint64_t hp3x_window_rate(const struct hp3x_window_limits *limits, uint64_t bytes, uint64_t time)
{
	unsigned __int128 rate = (unsigned __int128)bytes * limits->second / hp3_max_u64(time, 1);

	if (rate > limits->most_rate)
		return limits->most_rate;
	return hp3_max_u64((uint64_t)rate, 1);
}

uint64_t hp3x_window_share(const struct hp3x_window_limits *limits, uint64_t rate, uint64_t rtt)
{
	return (uint64_t)((unsigned __int128)rate * rtt / limits->second * limits->percent / 100);
}

void hp3x_window_add(struct hp3x_window *window, const struct hp3x_window_limits *limits,
	const struct hp3x_window_sample *sample)
{
	uint64_t rate = hp3x_window_rate(
		limits, window->delivered - sample->delivered, sample->now - sample->posted);

	if (rate > window->rate || sample->waits)
		window->rate = (window->rate * (WEIGHT - 1) + rate) / WEIGHT;
	window->bytes = hp3_min_u64(window->bytes + sample->bytes,
		hp3x_window_share(limits, window->rate, sample->rtt) + sample->more);
}
