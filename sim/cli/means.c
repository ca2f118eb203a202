/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "sim/cli/report.h"

/* 0.975 quantile of Student's t, by degrees of freedom from 1 on. */
static const double t95[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
#define T95_MANY 2.04
#define N_T95    (sizeof(t95) / sizeof(t95[0]))

/* The doubles of a row lie side by side: means are taken of all of them alike. */
#define FIRST_FIELD offsetof(struct sim_row, avg)
#define FIELDS      ((sizeof(struct sim_row) - FIRST_FIELD) / sizeof(double))

double sim_metric(const struct sim_row *r)
{
	return r->jct_us > 0 ? r->jct_us : r->avg;
}

static double *fields(struct sim_row *r)
{
	return (double *)((char *)r + FIRST_FIELD);
}

static const struct sim_row *ecmp_of(const struct sim_row *row, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(row[i].lb, "ecmp") == 0 && row[i].seed == seed)
			return &row[i];
	return NULL;
}

static void compare(const struct sim_row *row, uint32_t n, struct sim_mean *m)
{
	double sum = 0, squares = 0, mean, variance;
	uint32_t pairs = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct sim_row *e = ecmp_of(row, n, row[i].seed);
		double ratio;

		if (strcmp(row[i].lb, m->lb) != 0 || e == NULL || sim_metric(e) <= 0)
			continue;
		ratio = sim_metric(&row[i]) / sim_metric(e);
		sum += ratio;
		squares += ratio * ratio;
		pairs++;
	}
	if (pairs == 0)
		return;
	mean = sum / pairs;
	m->ratio = mean;
	if (pairs == 1)
		return;
	variance = (squares - pairs * mean * mean) / (pairs - 1);
	m->ratio_high = mean + (pairs - 2 < N_T95 ? t95[pairs - 2] : T95_MANY) *
				       sqrt(variance > 0 ? variance / pairs : 0);
}

uint32_t sim_means(const struct sim_row *row, uint32_t n, struct sim_mean *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct sim_row r = row[i];
		uint32_t k = 0;

		while (k < count && strcmp(out[k].lb, row[i].lb) != 0)
			k++;
		if (k == SIM_MEANS_MAX)
			continue;
		if (k == count)
			out[count++] = (struct sim_mean){.lb = row[i].lb};
		out[k].n++;
		for (size_t f = 0; f < FIELDS; f++)
			fields(&out[k].mean)[f] += fields(&r)[f];
	}
	for (uint32_t k = 0; k < count; k++) {
		for (size_t f = 0; f < FIELDS; f++)
			fields(&out[k].mean)[f] /= out[k].n;
		compare(row, n, &out[k]);
	}
	return count;
}
