/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/work/traffic.h"

struct rank {
	uint32_t host;
	uint32_t begun, sent, received; /* steps of this round (ring) */
};

struct job {
	struct sim_event next; /* the next round begins */
	struct sim_job_plan plan;
	uint32_t first_tag;
	struct rank *rank;
	uint32_t left; /* messages of this round to end */
	uint32_t rounds_left;
	uint64_t chunk, began, rng;
};

struct sim_jobs {
	struct job *job;
	uint32_t n;
	struct sim_round_time *round;
	uint32_t n_rounds, cap_rounds;
};

static void send_chunk(struct sim *s, const struct job *j, uint32_t rank, uint32_t to)
{
	struct sim_demand d = {.start = s->now,
		.src = j->rank[rank].host,
		.dst = j->rank[to].host,
		.bytes = j->chunk,
		.background = j->plan.background,
		.tag = j->first_tag + rank};

	sim_demand_now(s, &d);
}

static uint32_t messages_of_round(const struct sim_job_plan *p)
{
	return p->ring ? 2 * (p->ranks - 1) * p->ranks : p->ranks * (p->ranks - 1);
}

static void begin_round(struct sim *s, struct job *j)
{
	uint32_t n = j->plan.ranks;

	j->began = s->now;
	j->left = messages_of_round(&j->plan);
	for (uint32_t r = 0; r < n; r++) {
		j->rank[r] = (struct rank){.host = j->rank[r].host, .begun = 1};
		for (uint32_t to = (r + 1) % n; to != r; to = (to + 1) % n) {
			send_chunk(s, j, r, to);
			if (j->plan.ring)
				break;
		}
	}
}

/* Background goes on while anything else is left. */
static bool is_job_over(const struct sim *s, const struct job *j)
{
	return j->plan.background && s->open_work == 0 && s->known_done == s->n_known;
}

static void next_round(struct sim *s, struct sim_event *event)
{
	struct job *j = (struct job *)event;

	if (!is_job_over(s, j))
		begin_round(s, j);
}

/* Off for 0 to twice the mean. */
static void wait_off_time(struct sim *s, struct job *j)
{
	uint64_t ns = j->plan.off / SIM_NS;

	if (ns > 0)
		ns = hp3_random_below(&j->rng, (uint32_t)(2 * ns + 1));
	sim_at(s, &j->next, s->now + ns * SIM_NS);
}

/* The next step of a rank: its own last send and what it got from its neighbour are done. */
static void ring_step(struct sim *s, struct job *j, uint32_t rank)
{
	struct rank *r = &j->rank[rank];
	uint32_t n = j->plan.ranks;

	if (r->begun > r->sent || r->received < r->begun || r->begun == 2 * (n - 1))
		return;
	r->begun++;
	send_chunk(s, j, rank, (rank + 1) % n);
}

static struct job *job_of(struct sim_jobs *jobs, uint32_t tag)
{
	struct job *j = jobs->job;

	while (tag >= j->first_tag + j->plan.ranks)
		j++;
	return j;
}

static void round_ends(struct sim *s, struct job *j)
{
	struct sim_jobs *jobs = s->jobs;

	if (jobs->n_rounds == jobs->cap_rounds) {
		jobs->cap_rounds = jobs->cap_rounds == 0 ? 64 : 2 * jobs->cap_rounds;
		jobs->round = sim_realloc(jobs->round, jobs->cap_rounds * sizeof(*jobs->round));
	}
	jobs->round[jobs->n_rounds++] = (struct sim_round_time){
		.job = (uint32_t)(j - jobs->job), .time = s->now - j->began};
	if (!j->plan.background && --j->rounds_left == 0)
		s->open_work--;
	else if (j->plan.off > 0)
		wait_off_time(s, j);
	else if (!is_job_over(s, j))
		begin_round(s, j);
}

void sim_jobs_done(struct sim *s, uint32_t tag)
{
	struct job *j;
	uint32_t rank, to;

	if (tag == 0)
		return;
	j = job_of(s->jobs, tag);
	rank = tag - j->first_tag;
	to = (rank + 1) % j->plan.ranks;
	if (j->plan.ring) {
		j->rank[rank].sent++;
		j->rank[to].received++;
		ring_step(s, j, rank);
		ring_step(s, j, to);
	}
	if (--j->left == 0)
		round_ends(s, j);
}

static void make_job(
	struct sim *s, const struct sim_job_plan *plan, const uint32_t *order, uint64_t *rng)
{
	struct sim_jobs *jobs = s->jobs;
	struct job *j = &jobs->job[jobs->n];
	uint64_t chunk = plan->bytes / plan->ranks;

	*j = (struct job){.plan = *plan,
		.next.fire = next_round,
		.first_tag = jobs->n > 0 ? j[-1].first_tag + j[-1].plan.ranks : 1,
		.rounds_left = plan->rounds,
		.chunk = chunk > 0 ? chunk : 1,
		.rng = plan->off > 0 ? hp3_random(rng) : 0};
	j->rank = sim_alloc(plan->ranks, sizeof(*j->rank));
	for (uint32_t r = 0; r < plan->ranks; r++)
		j->rank[r].host = order[r];
	jobs->n++;
	if (!plan->background)
		s->open_work++;
	wait_off_time(s, j);
}

/* Where hosts are rails of servers, the ranks of a job are of one rail, as collectives do it. */
static void by_rail(const struct sim *s, uint32_t *order)
{
	uint32_t hosts = s->topo.hosts, rails = s->cfg.fabric.rails, n = 0;
	uint32_t *sorted;

	if (s->cfg.fabric.kind != SIM_RAIL)
		return;
	sorted = sim_alloc(hosts, sizeof(*sorted));
	for (uint32_t r = 0; r < rails; r++)
		for (uint32_t i = 0; i < hosts; i++)
			if (order[i] % rails == r)
				sorted[n++] = order[i];
	memcpy(order, sorted, hosts * sizeof(*order));
	free(sorted);
}

int sim_jobs_start(struct sim *s, uint64_t *rng, char *err, uint32_t err_size)
{
	const struct sim_config *c = &s->cfg;
	bool jobs = c->traffic.kind == SIM_ALLREDUCE || c->traffic.kind == SIM_ALLTOALL;
	const struct sim_job_plan plan[2] = {{.ring = c->traffic.kind == SIM_ALLREDUCE,
						     .n = jobs ? c->traffic.jobs : 0,
						     .ranks = c->traffic.ranks,
						     .rounds = c->traffic.repeat,
						     .bytes = c->traffic.bytes,
						     .off = c->traffic.off_us * SIM_US},
		{.background = true,
			.ring = c->background.kind == SIM_BACK_ALLREDUCE,
			.n = c->background.kind == SIM_BACK_NONE ? 0 : c->background.jobs,
			.ranks = c->background.ranks,
			.bytes = c->background.bytes,
			.off = c->background.off_us * SIM_US}};
	uint64_t wanted = (uint64_t)plan[0].n * plan[0].ranks + (uint64_t)plan[1].n * plan[1].ranks;
	uint32_t *order, at = 0;

	if (plan[0].n + plan[1].n == 0)
		return 0;
	if (wanted > s->topo.hosts) {
		snprintf(err, err_size,
			"jobs of traffic and background need %llu hosts of %u: lower jobs or ranks",
			(unsigned long long)wanted, s->topo.hosts);
		return -EINVAL;
	}
	order = sim_alloc(s->topo.hosts, sizeof(*order));
	sim_shuffle(order, s->topo.hosts, rng);
	by_rail(s, order);
	s->jobs = sim_alloc(1, sizeof(*s->jobs));
	s->jobs->job = sim_alloc(plan[0].n + plan[1].n, sizeof(*s->jobs->job));
	for (unsigned k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < plan[k].n; i++) {
			make_job(s, &plan[k], &order[at], rng);
			at += plan[k].ranks;
		}
	}
	free(order);
	return 0;
}

double sim_jobs_share(const struct sim *s)
{
	uint64_t all = 0, left = 0;

	for (uint32_t i = 0; s->jobs != NULL && i < s->jobs->n; i++) {
		const struct job *j = &s->jobs->job[i];
		uint64_t round = messages_of_round(&j->plan);

		if (j->plan.background)
			continue;
		all += j->plan.rounds * round;
		/* Of the round that is under way `left`; one that waits has not begun. */
		left += j->rounds_left * round - (j->left > 0 ? round - j->left : 0);
	}
	return all > 0 ? (double)(all - left) / (double)all : -1;
}

void sim_jobs_free(struct sim_jobs *jobs)
{
	if (jobs == NULL)
		return;
	for (uint32_t i = 0; i < jobs->n; i++)
		free(jobs->job[i].rank);
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

bool sim_job_results(const struct sim *s, bool background, struct sim_job_results *r)
{
	struct sim_jobs *jobs = s->jobs;
	double sum = 0, bus = 0;
	uint64_t p99 = 0, max = 0;
	uint32_t n = 0, seen = 0;

	for (uint32_t i = 0; jobs != NULL && i < jobs->n_rounds; i++)
		n += jobs->job[jobs->round[i].job].plan.background == background;
	if (n == 0)
		return false;
	qsort(jobs->round, jobs->n_rounds, sizeof(*jobs->round), by_time);
	for (uint32_t i = 0; i < jobs->n_rounds; i++) {
		const struct job *j = &jobs->job[jobs->round[i].job];
		double us = (double)jobs->round[i].time / SIM_US;

		if (j->plan.background != background)
			continue;
		sum += us;
		bus += (double)j->chunk * (j->plan.ring ? 2 : 1) * (j->plan.ranks - 1) * 8 / us /
		       1000;
		max = jobs->round[i].time;
		if (seen++ == (n * 99 + 99) / 100 - 1) /* nearest rank */
			p99 = max;
	}
	*r = (struct sim_job_results){.rounds = n,
		.jct_avg_us = sum / n,
		.jct_p99_us = (double)p99 / SIM_US,
		.jct_max_us = (double)max / SIM_US,
		.bus_gbps = bus / n};
	return true;
}
