/* SPDX-License-Identifier: BSD-3-Clause */
/* AllReduce in a ring, and AllToAll. The tag of a message is the rank that sends it. */
#include "base/minmax.h"
#include "sim/work/job.h"

static uint64_t chunk_of(const struct sim_job_plan *p)
{
	return hp3_max_u64(p->bytes / p->ranks, 1);
}

static uint32_t count_ranks(const struct sim_job_plan *p)
{
	return p->ranks;
}

static void send_chunk(struct sim *s, const struct sim_job *j, uint32_t rank, uint32_t to)
{
	struct sim_demand d = {.src = j->rank[rank].host,
		.dst = j->rank[to].host,
		.bytes = chunk_of(&j->plan),
		.tag = rank};

	sim_job_send(s, j, &d);
}

static uint32_t ring_messages(const struct sim_job_plan *p)
{
	return 2 * (p->ranks - 1) * p->ranks;
}

static double ring_bus_bytes(const struct sim_job_plan *p)
{
	return (double)chunk_of(p) * 2 * (p->ranks - 1);
}

static void begin_ring(struct sim *s, struct sim_job *j)
{
	for (uint32_t r = 0; r < j->plan.ranks; r++) {
		j->rank[r] = (struct sim_rank){.host = j->rank[r].host, .begun = 1};
		send_chunk(s, j, r, (r + 1) % j->plan.ranks);
	}
}

/* The next step of a rank: its own last send and what it got from its neighbour are done. */
static void ring_step(struct sim *s, struct sim_job *j, uint32_t rank)
{
	struct sim_rank *r = &j->rank[rank];
	uint32_t n = j->plan.ranks;

	if (r->begun > r->sent || r->received < r->begun || r->begun == 2 * (n - 1))
		return;
	r->begun++;
	send_chunk(s, j, rank, (rank + 1) % n);
}

static void ring_done(struct sim *s, struct sim_job *j, uint32_t rank)
{
	uint32_t to = (rank + 1) % j->plan.ranks;

	j->rank[rank].sent++;
	j->rank[to].received++;
	ring_step(s, j, rank);
	ring_step(s, j, to);
}

static uint32_t alltoall_messages(const struct sim_job_plan *p)
{
	return p->ranks * (p->ranks - 1);
}

static double alltoall_bus_bytes(const struct sim_job_plan *p)
{
	return (double)chunk_of(p) * (p->ranks - 1);
}

static void begin_alltoall(struct sim *s, struct sim_job *j)
{
	uint32_t n = j->plan.ranks;

	for (uint32_t r = 0; r < n; r++)
		for (uint32_t to = (r + 1) % n; to != r; to = (to + 1) % n)
			send_chunk(s, j, r, to);
}

const struct sim_job_kind sim_job_ring = {
	.tags = count_ranks,
	.messages = ring_messages,
	.bus_bytes = ring_bus_bytes,
	.begin = begin_ring,
	.done = ring_done,
};

const struct sim_job_kind sim_job_alltoall = {
	.tags = count_ranks,
	.messages = alltoall_messages,
	.bus_bytes = alltoall_bus_bytes,
	.begin = begin_alltoall,
};
