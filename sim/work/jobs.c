/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs begin their rounds, one after the other, and end them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/work/job.h"

void sim_job_send(struct sim *s, const struct sim_job *j, const struct sim_demand *message)
{
	struct sim_demand d = *message;

	d.start = s->now;
	d.background = j->plan.background;
	d.tag += j->first_tag;
	sim_demand_now(s, &d);
}

static void begin_round(struct sim *s, struct sim_job *j)
{
	j->began = s->now;
	j->left = j->plan.kind->messages(&j->plan);
	j->plan.kind->begin(s, j);
}

/* Background goes on while anything else is left. */
static bool is_job_over(const struct sim *s, const struct sim_job *j)
{
	return j->plan.background && s->open_work == 0 && s->known_done == s->n_known;
}

static void next_round(struct sim *s, struct sim_event *event)
{
	struct sim_job *j = (struct sim_job *)event;

	if (!is_job_over(s, j))
		begin_round(s, j);
}

/* Off for 0 to twice the mean. */
static void wait_off_time(struct sim *s, struct sim_job *j)
{
	uint64_t ns = j->plan.off / SIM_NS;

	if (ns > 0)
		ns = hp3_random_below(&j->rng, (uint32_t)(2 * ns + 1));
	j->next.fire = next_round;
	sim_at(s, &j->next, s->now + ns * SIM_NS);
}

static struct sim_job *job_of(struct sim_jobs *jobs, uint32_t tag)
{
	struct sim_job *j = jobs->job;

	while (tag >= j->first_tag + j->plan.kind->tags(&j->plan))
		j++;
	return j;
}

static void round_ends(struct sim *s, struct sim_job *j)
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
	struct sim_job *j;

	if (tag == 0)
		return;
	j = job_of(s->jobs, tag);
	if (j->plan.kind->done != NULL)
		j->plan.kind->done(s, j, tag - j->first_tag);
	if (--j->left == 0)
		round_ends(s, j);
}

static void make_job(
	struct sim *s, const struct sim_job_plan *plan, const uint32_t *order, uint64_t *rng)
{
	struct sim_jobs *jobs = s->jobs;
	struct sim_job *j = &jobs->job[jobs->n];

	*j = (struct sim_job){.plan = *plan,
		.first_tag = jobs->n > 0 ? j[-1].first_tag + j[-1].plan.kind->tags(&j[-1].plan) : 1,
		.rounds_left = plan->rounds,
		.rng = plan->off > 0 || plan->random ? hp3_random(rng) : 0};
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

/* NULL: the traffic has no jobs. */
static const struct sim_job_kind *kind_of(const struct sim_config *c)
{
	switch (c->traffic.kind) {
	case SIM_ALLREDUCE:
		return &sim_job_ring;
	case SIM_ALLTOALL:
		return &sim_job_alltoall;
	case SIM_KVCACHE:
		return &sim_job_kvcache;
	default:
		return NULL;
	}
}

static struct sim_job_plan plan_traffic(const struct sim_config *c)
{
	const struct sim_job_kind *kind = kind_of(c);
	bool kvcache = kind == &sim_job_kvcache;

	return (struct sim_job_plan){.kind = kind,
		.n = kind != NULL ? c->traffic.jobs : 0,
		.ranks = kvcache ? 2 : c->traffic.ranks,
		.rounds = c->traffic.repeat,
		.bytes = c->traffic.bytes,
		.off = c->traffic.off_us * SIM_US,
		.layers = c->traffic.layers,
		.pages = c->traffic.pages,
		.more_bytes = c->traffic.more_bytes,
		.layer = c->traffic.layer_us * SIM_US,
		.random = kvcache && c->traffic.pairing == SIM_PAIRING_RANDOM};
}

static struct sim_job_plan plan_background(const struct sim_config *c)
{
	bool ring = c->background.kind == SIM_BACK_ALLREDUCE;

	return (struct sim_job_plan){.kind = ring ? &sim_job_ring : &sim_job_alltoall,
		.background = true,
		.n = c->background.kind == SIM_BACK_NONE ? 0 : c->background.jobs,
		.ranks = c->background.ranks,
		.bytes = c->background.bytes,
		.off = c->background.off_us * SIM_US};
}

int sim_jobs_start(struct sim *s, uint64_t *rng, char *err, uint32_t err_size)
{
	const struct sim_job_plan plan[2] = {plan_traffic(&s->cfg), plan_background(&s->cfg)};
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

void sim_jobs_free(struct sim_jobs *jobs)
{
	if (jobs == NULL)
		return;
	for (uint32_t i = 0; i < jobs->n; i++) {
		free(jobs->job[i].rank);
		free(jobs->job[i].layer);
	}
	free(jobs->job);
	free(jobs->round);
	free(jobs->layers.time);
	free(jobs);
}
