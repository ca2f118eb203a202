/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "sim/fabric/port.h"
#include "sim/results/slowdown.h"

static int compare_doubles(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double percentile_of_values(const double *sorted, uint32_t n, double share)
{
	double rank = share * (n - 1);
	uint32_t low = (uint32_t)rank;

	if (low + 1 >= n)
		return sorted[n - 1];
	return sorted[low] + (rank - low) * (sorted[low + 1] - sorted[low]);
}

static struct sim_slowdown slowdown_of_values(double *values, uint32_t n)
{
	struct sim_slowdown out = {.n = n};
	double sum = 0;

	if (n == 0)
		return out;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	qsort(values, n, sizeof(*values), compare_doubles);
	out.avg = sum / n;
	out.p50 = percentile_of_values(values, n, 0.5);
	out.p95 = percentile_of_values(values, n, 0.95);
	out.p99 = percentile_of_values(values, n, 0.99);
	out.p999 = percentile_of_values(values, n, 0.999);
	return out;
}

static bool is_counted(const struct sim *s, uint32_t i)
{
	return s->outcome[i].fct > 0 && !s->demand[i].background;
}

/* Of flows of `from` to `limit` bytes. */
static uint32_t collect_slowdowns(
	const struct sim *s, uint64_t from, uint64_t limit, double *values)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_demands; i++) {
		const struct sim_outcome *o = &s->outcome[i];

		if (is_counted(s, i) && s->demand[i].bytes >= from && s->demand[i].bytes <= limit)
			values[n++] = o->fct > o->base ? (double)o->fct / (double)o->base : 1;
	}
	return n;
}

void sim_slowdowns(const struct sim *s, struct sim_slowdowns *out)
{
	double *values = sim_alloc(s->n_demands, sizeof(*values));

	out->bdp = (uint64_t)((unsigned __int128)s->topo.max_rtt * s->port[0].bps / 8 / SIM_SEC);
	out->overall = slowdown_of_values(values, collect_slowdowns(s, 0, UINT64_MAX, values));
	out->lt_bdp = slowdown_of_values(values, collect_slowdowns(s, 0, out->bdp - 1, values));
	out->ge_bdp =
		slowdown_of_values(values, collect_slowdowns(s, out->bdp, UINT64_MAX, values));
	free(values);
}

static void compute_quantiles(double *values, uint32_t n, const double *percent, double *out)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	for (uint32_t i = 0; i < SIM_QUANTILES; i++)
		out[i] = percentile_of_values(values, n, percent[i] / 100);
}

bool sim_distribution(const struct sim *s, struct sim_distribution *out)
{
	static const double tail[] = {99.5, 99.9, 100};
	double *values = sim_alloc(s->n_demands + 1, sizeof(*values));
	uint32_t n = 0;

	for (uint32_t i = 0; i < SIM_QUANTILES; i++)
		out->percent[i] = i < 100 ? i : tail[i - 100];
	for (uint32_t i = 0; i < s->n_demands; i++)
		if (is_counted(s, i))
			values[n++] = (double)s->outcome[i].fct / SIM_US;
	if (n > 0) {
		compute_quantiles(values, n, out->percent, out->fct_us);
		collect_slowdowns(s, 0, UINT64_MAX, values);
		compute_quantiles(values, n, out->percent, out->slowdown);
	}
	free(values);
	return n > 0;
}

void sim_slowdown_by_size(const struct sim *s, struct sim_size out[SIM_SIZES])
{
	double *values = sim_alloc(s->n_demands + 1, sizeof(*values));

	for (uint32_t i = 0; i < SIM_SIZES; i++) {
		out[i].limit = UINT64_C(1024) << i;
		out[i].slowdown = slowdown_of_values(
			values, collect_slowdowns(
					s, i > 0 ? out[i].limit / 2 + 1 : 0, out[i].limit, values));
	}
	free(values);
}
