/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thresholds: with 24 independent samples, the standard deviation of gamma is about 145 permille
 * (sqrt(2(2n + 5) / 9n(n - 1)), Kendall 1938); with 64, about 86. HIGH is more than three times 145
 * permille. With 24 samples, 4 % of unrelated ports are above LOW.
 */
#include <string.h>
#include "ppp/selftest.h"

#define HIGH            500
#define LOW             250
#define MIN_INFORMATIVE 300 /* permille of pairs of samples */

struct figure {
	int16_t gamma;
	uint16_t informative;
	uint16_t samples;
};

static int order_of_rtts(uint32_t a, uint32_t b, uint32_t resolution)
{
	if (a > b)
		return a - b > resolution;
	return -(b - a > resolution);
}

/* Do the two probes of samples x and y agree? 1, -1, or 0: no order. */
static int agreement_of_samples(const struct hp3_selftest_sample *x,
	const struct hp3_selftest_sample *y, uint32_t resolution)
{
	int rtt = order_of_rtts(x->rtt[0], y->rtt[0], resolution) *
		  order_of_rtts(x->rtt[1], y->rtt[1], resolution);
	int mark = (x->mark[0] - y->mark[0]) * (x->mark[1] - y->mark[1]);
	int sum = rtt + mark;

	return (sum > 0) - (sum < 0);
}

static struct figure measure_series(const struct hp3_selftest_series *s, uint32_t resolution)
{
	unsigned n = s->added < HP3_SELFTEST_SAMPLES ? s->added : HP3_SELFTEST_SAMPLES;
	int together = 0, apart = 0, all = (int)(n * (n - 1) / 2);
	struct figure f = {.samples = (uint16_t)n};

	for (unsigned i = 1; i < n; i++) {
		for (unsigned j = 0; j < i; j++) {
			int a = agreement_of_samples(&s->sample[i], &s->sample[j], resolution);

			together += a > 0;
			apart += a < 0;
		}
	}
	if (together + apart > 0) {
		f.gamma = (int16_t)(1000 * (together - apart) / (together + apart));
		f.informative = (uint16_t)(1000 * (together + apart) / all);
	}
	return f;
}

static bool is_usable_figure(const struct figure *f)
{
	return f->samples >= HP3_SELFTEST_MIN && f->informative >= MIN_INFORMATIVE;
}

void hp3_selftest_init(struct hp3_selftest *t, uint32_t resolution_ns)
{
	memset(t, 0, sizeof(*t));
	t->resolution = resolution_ns;
}

void hp3_selftest_add(struct hp3_selftest_series *s, const struct hp3_selftest_sample *sample)
{
	s->sample[s->added++ % HP3_SELFTEST_SAMPLES] = *sample;
}

struct hp3_selftest_report hp3_selftest_report(const struct hp3_selftest *t)
{
	struct figure pair = measure_series(&t->pair, t->resolution);
	struct figure control = measure_series(&t->control, t->resolution);
	struct hp3_selftest_report r = {
		.verdict = HP3_SELFTEST_UNKNOWN,
		.correlation = pair.gamma,
		.control = control.gamma,
		.samples = pair.samples,
		.control_samples = control.samples,
		.informative = pair.informative,
		.control_informative = control.informative,
	};

	if (is_usable_figure(&pair) && is_usable_figure(&control) && control.gamma >= HIGH) {
		if (pair.gamma >= HIGH)
			r.verdict = HP3_SELFTEST_SAME;
		else if (pair.gamma <= LOW)
			r.verdict = HP3_SELFTEST_DIFFERENT;
	}
	return r;
}

void hp3_tally_add(struct hp3_selftest_tally *t, enum hp3_selftest_verdict v)
{
	uint16_t *n = v == HP3_SELFTEST_SAME        ? &t->same
		      : v == HP3_SELFTEST_DIFFERENT ? &t->different
						    : &t->unknown;

	if (*n < UINT16_MAX)
		(*n)++;
}

enum hp3_tally_verdict hp3_tally_verdict(const struct hp3_selftest_tally *t)
{
	if (t->different >= HP3_TALLY_DIFFERENT)
		return HP3_TALLY_SPREAD;
	return t->same >= HP3_TALLY_SAME && t->different == 0 ? HP3_TALLY_NO_SPREAD
							      : HP3_TALLY_UNKNOWN;
}
