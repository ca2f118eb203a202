/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "sim/fabric/port.h"
#include "sim/results/slowdown.h"

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double percentile(const double *sorted, uint32_t n, double share)
{
	double rank = share * (n - 1);
	uint32_t low = (uint32_t)rank;

	if (low + 1 >= n)
		return sorted[n - 1];
	return sorted[low] + (rank - low) * (sorted[low + 1] - sorted[low]);
}

static struct sim_slowdown table(double *values, uint32_t n)
{
	struct sim_slowdown out = {.n = n};
	double sum = 0;

	if (n == 0)
		return out;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	qsort(values, n, sizeof(*values), ascending);
	out.avg = sum / n;
	out.p50 = percentile(values, n, 0.5);
	out.p95 = percentile(values, n, 0.95);
	out.p99 = percentile(values, n, 0.99);
	out.p999 = percentile(values, n, 0.999);
	return out;
}

enum class { ALL, LT, GE };

static uint32_t collect(const struct sim *s, uint64_t bdp, enum class class, double *values)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_demands; i++) {
		const struct sim_outcome *o = &s->outcome[i];

		if (o->fct == 0 || s->demand[i].background ||
			(class != ALL && (s->demand[i].bytes < bdp) != (class == LT)))
			continue;
		values[n++] = o->fct > o->base ? (double)o->fct / (double)o->base : 1;
	}
	return n;
}

void sim_slowdowns(const struct sim *s, struct sim_slowdowns *out)
{
	double *values = sim_alloc(s->n_demands, sizeof(*values));

	out->bdp = (uint64_t)((unsigned __int128)s->topo.max_rtt * s->port[0].bps / 8 / SIM_SEC);
	out->overall = table(values, collect(s, out->bdp, ALL, values));
	out->lt_bdp = table(values, collect(s, out->bdp, LT, values));
	out->ge_bdp = table(values, collect(s, out->bdp, GE, values));
	free(values);
}
