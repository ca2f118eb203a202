/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "sim/work/job.h"

double sim_jobs_share(const struct sim *s)
{
	uint64_t all = 0, left = 0;

	for (uint32_t i = 0; s->jobs != NULL && i < s->jobs->n; i++) {
		const struct sim_job *j = &s->jobs->job[i];
		uint64_t round = j->plan.kind->messages(&j->plan);

		if (j->plan.background)
			continue;
		all += j->plan.rounds * round;
		/* Of the round that is under way `left`; one that waits has not begun. */
		left += j->rounds_left * round - (j->left > 0 ? round - j->left : 0);
	}
	return all > 0 ? (double)(all - left) / (double)all : -1;
}

static int compare_times(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

/* Sorts the times. The p99 is that of the nearest rank. */
static void average_times(struct sim_times *t, double *avg_us, double *p99_us)
{
	double sum = 0;

	qsort(t->time, t->n, sizeof(*t->time), compare_times);
	for (uint32_t i = 0; i < t->n; i++)
		sum += (double)t->time[i] / SIM_US;
	*avg_us = sum / t->n;
	*p99_us = (double)t->time[(t->n * UINT64_C(99) + 99) / 100 - 1] / SIM_US;
}

/* The times of rounds, and the sum of their bus bandwidths. */
static double collect_rounds(const struct sim *s, bool background, struct sim_times *t)
{
	const struct sim_jobs *jobs = s->jobs;
	double bus = 0;

	for (uint32_t i = 0; jobs != NULL && i < jobs->n_rounds; i++) {
		const struct sim_job_plan *p = &jobs->job[jobs->round[i].job].plan;

		if (p->background != background)
			continue;
		t->time[t->n++] = jobs->round[i].time;
		bus += p->kind->bus_bytes(p) * 8 / ((double)jobs->round[i].time / SIM_US) / 1000;
	}
	return bus;
}

bool sim_job_results(const struct sim *s, bool background, struct sim_job_results *r)
{
	struct sim_times rounds = {0};
	double bus;

	*r = (struct sim_job_results){0};
	rounds.time = sim_alloc(s->jobs != NULL ? s->jobs->n_rounds + 1 : 1, sizeof(*rounds.time));
	bus = collect_rounds(s, background, &rounds);
	if (rounds.n > 0) {
		average_times(&rounds, &r->jct_avg_us, &r->jct_p99_us);
		r->jct_max_us = (double)rounds.time[rounds.n - 1] / SIM_US;
		r->bus_gbps = bus / rounds.n;
		r->rounds = rounds.n;
	}
	free(rounds.time);
	if (r->rounds == 0 || background || s->jobs->layers.n == 0)
		return r->rounds > 0;
	r->layers = s->jobs->layers.n;
	average_times(&s->jobs->layers, &r->layer_avg_us, &r->layer_p99_us);
	return true;
}
