/* SPDX-License-Identifier: BSD-3-Clause */
#include "ppp/compare.h"

#define RESOLUTION 16u /* of the least RTT: smaller differences count as equal */

static uint32_t least_rtt(const struct hp3_compare *c)
{
	uint32_t least = UINT32_MAX;

	for (unsigned b = 0; b < c->bursts; b++)
		for (unsigned k = 0; k < 2 * c->n; k++) {
			uint32_t rtt = c->burst[b].rtt[k / c->n][k % c->n];

			if (rtt != 0 && rtt < least)
				least = rtt;
		}
	return least;
}

/* Pairs probe `first` of port i with probe `second` of port j. */
static void add_sample(struct hp3_selftest_series *s, const struct hp3_compare_burst *b, unsigned i,
	unsigned second, unsigned j)
{
	const struct hp3_selftest_sample sample = {.rtt = {b->rtt[0][i], b->rtt[second][j]},
		.mark = {b->marked[0] >> i & 1, b->marked[second] >> j & 1}};

	if (sample.rtt[0] != 0 && sample.rtt[1] != 0)
		hp3_selftest_add(s, &sample);
}

static struct hp3_selftest_report by_noise_of(
	const struct hp3_compare *c, unsigned noise, unsigned i, unsigned j, uint32_t resolution)
{
	struct hp3_selftest t;

	hp3_selftest_init(&t, resolution);
	for (unsigned b = 0; b < c->bursts; b++) {
		add_sample(&t.pair, &c->burst[b], i, 0, j);
		add_sample(&t.control, &c->burst[b], noise, 1, noise);
	}
	return hp3_selftest_report(&t);
}

/* Do ports i and j take different paths? A verdict needs the noise of both ports to be low. */
static struct hp3_selftest_report compare_two(const struct hp3_compare *c, unsigned i, unsigned j)
{
	uint32_t resolution = least_rtt(c) / RESOLUTION;
	struct hp3_selftest_report a = by_noise_of(c, i, i, j, resolution);
	struct hp3_selftest_report b = by_noise_of(c, j, i, j, resolution);

	return a.verdict == HP3_SELFTEST_UNKNOWN ? a : b;
}

unsigned hp3_compare_distinct(const struct hp3_compare *c, uint8_t chosen[HP3_COMPARE_PORTS],
	struct hp3_selftest_tally *tally)
{
	enum hp3_selftest_verdict verdicts[HP3_COMPARE_PORTS][HP3_COMPARE_PORTS];
	unsigned n = 0;

	*tally = (struct hp3_selftest_tally){0};
	for (unsigned j = 0; j < c->n; j++) {
		bool differs = true;

		for (unsigned i = 0; i < j; i++) {
			verdicts[i][j] = (enum hp3_selftest_verdict)compare_two(c, i, j).verdict;
			hp3_tally_add(tally, verdicts[i][j]);
		}
		for (unsigned k = 0; k < n; k++)
			differs = differs && verdicts[chosen[k]][j] == HP3_SELFTEST_DIFFERENT;
		if (differs)
			chosen[n++] = (uint8_t)j;
	}
	return n;
}
