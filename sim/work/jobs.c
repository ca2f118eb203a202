/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "sim/work/jobs.h"

struct job {
	uint32_t *host; /* by rank */
	uint32_t *begun, *sent, *received; /* by rank: steps of this round (ring) */
	uint32_t left; /* flows of this round to end */
	uint32_t rounds_left;
	uint64_t began;
};

struct sim_jobs {
	struct job *job;
	uint32_t n, ranks;
	bool ring;
	uint64_t chunk;
	struct sim_round_time *round;
	uint32_t n_rounds;
};

static void send(struct sim *s, uint32_t job, uint32_t rank, uint32_t to)
{
	const struct job *j = &s->jobs->job[job];
	struct sim_demand d = {.start = s->now,
		.src = j->host[rank],
		.dst = j->host[to],
		.bytes = s->jobs->chunk,
		.tag = job * s->jobs->ranks + rank};

	sim_demand_now(s, &d);
}

static void begin_round(struct sim *s, uint32_t job)
{
	struct sim_jobs *jobs = s->jobs;
	struct job *j = &jobs->job[job];
	uint32_t n = jobs->ranks;

	j->began = s->now;
	j->left = jobs->ring ? 2 * (n - 1) * n : n * (n - 1);
	for (uint32_t r = 0; r < n; r++) {
		j->begun[r] = 1;
		j->sent[r] = 0;
		j->received[r] = 0;
		for (uint32_t to = (r + 1) % n; to != r; to = (to + 1) % n) {
			send(s, job, r, to);
			if (jobs->ring)
				break;
		}
	}
}

/* The next step of a rank: its own last send and what it got from its neighbour are done. */
static void ring_step(struct sim *s, uint32_t job, uint32_t rank)
{
	struct job *j = &s->jobs->job[job];
	uint32_t n = s->jobs->ranks;

	if (j->begun[rank] > j->sent[rank] || j->received[rank] < j->begun[rank] ||
		j->begun[rank] == 2 * (n - 1))
		return;
	j->begun[rank]++;
	send(s, job, rank, (rank + 1) % n);
}

void sim_jobs_done(struct sim *s, uint32_t tag)
{
	struct sim_jobs *jobs = s->jobs;
	uint32_t id = tag / jobs->ranks, rank = tag % jobs->ranks;
	struct job *j = &jobs->job[id];
	uint32_t to = (rank + 1) % jobs->ranks;

	if (jobs->ring) {
		j->sent[rank]++;
		j->received[to]++;
		ring_step(s, id, rank);
		ring_step(s, id, to);
	}
	if (--j->left > 0)
		return;
	jobs->round[jobs->n_rounds++] =
		(struct sim_round_time){.job = id, .time = s->now - j->began};
	if (--j->rounds_left > 0)
		begin_round(s, id);
	else
		s->open_work--;
}

static void first_rounds(struct sim *s, struct sim_event *ev)
{
	for (uint32_t i = 0; i < s->jobs->n; i++)
		begin_round(s, i);
}

int sim_jobs_start(struct sim *s, uint64_t *rng, char *err, uint32_t err_size)
{
	uint32_t ranks = s->cfg.traffic.ranks, n = s->cfg.traffic.jobs, hosts = s->topo.hosts;
	uint32_t *order;
	struct sim_jobs *jobs;

	if ((uint64_t)ranks * n > hosts) {
		snprintf(err, err_size,
			"%u jobs of %u ranks need more than %u hosts: lower traffic.jobs or ranks",
			n, ranks, hosts);
		return -EINVAL;
	}
	order = sim_alloc(hosts, sizeof(*order));
	jobs = sim_alloc(1, sizeof(*jobs));
	sim_shuffle(order, hosts, rng);
	*jobs = (struct sim_jobs){.n = n,
		.ranks = ranks,
		.ring = s->cfg.traffic.kind == SIM_ALLREDUCE,
		.chunk = s->cfg.traffic.bytes / ranks > 0 ? s->cfg.traffic.bytes / ranks : 1};
	jobs->job = sim_alloc(n, sizeof(*jobs->job));
	jobs->round = sim_alloc((size_t)n * s->cfg.traffic.repeat, sizeof(*jobs->round));
	for (uint32_t i = 0; i < n; i++) {
		struct job *j = &jobs->job[i];

		j->host = sim_alloc(ranks, sizeof(*j->host));
		j->begun = sim_alloc(ranks, sizeof(*j->begun));
		j->sent = sim_alloc(ranks, sizeof(*j->sent));
		j->received = sim_alloc(ranks, sizeof(*j->received));
		j->rounds_left = s->cfg.traffic.repeat;
		for (uint32_t r = 0; r < ranks; r++)
			j->host[r] = order[i * ranks + r];
	}
	free(order);
	s->jobs = jobs;
	s->open_work = n;
	s->first_work.fire = first_rounds;
	sim_at(s, &s->first_work, 0);
	return 0;
}

void sim_jobs_free(struct sim_jobs *jobs)
{
	if (jobs == NULL)
		return;
	for (uint32_t i = 0; i < jobs->n; i++) {
		free(jobs->job[i].host);
		free(jobs->job[i].begun);
		free(jobs->job[i].sent);
		free(jobs->job[i].received);
	}
	free(jobs->job);
	free(jobs->round);
	free(jobs);
}

static int by_time(const void *x, const void *y)
{
	uint64_t a = ((const struct sim_round_time *)x)->time;
	uint64_t b = ((const struct sim_round_time *)y)->time;

	return (a > b) - (a < b);
}

bool sim_job_results(const struct sim *s, struct sim_job_results *r)
{
	struct sim_jobs *jobs = s->jobs;
	double sum = 0, bus = 0;

	if (jobs == NULL || jobs->n_rounds == 0)
		return false;
	qsort(jobs->round, jobs->n_rounds, sizeof(*jobs->round), by_time);
	for (uint32_t i = 0; i < jobs->n_rounds; i++) {
		double us = (double)jobs->round[i].time / SIM_US;

		sum += us;
		bus += (double)jobs->chunk * (jobs->ring ? 2 : 1) * (jobs->ranks - 1) * 8 / us /
		       1000;
	}
	*r = (struct sim_job_results){.rounds = jobs->n_rounds,
		.jct_avg_us = sum / jobs->n_rounds,
		.jct_p99_us = (double)jobs->round[(jobs->n_rounds - 1) * 99 / 100].time / SIM_US,
		.jct_max_us = (double)jobs->round[jobs->n_rounds - 1].time / SIM_US,
		.bus_gbps = bus / jobs->n_rounds};
	return true;
}
