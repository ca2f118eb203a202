/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Jobs: their rounds (jobs.c), the messages of each kind of job (collectives.c, kvcache.c), and
 * results (job_results.c). Internal to work/. Times are in ps.
 */
#include "sim/work/traffic.h"

struct sim_job;

/* A kind of job. A message of a job has a tag below tags(). */
struct sim_job_kind {
	uint32_t (*tags)(const struct sim_job_plan *p);
	uint32_t (*messages)(const struct sim_job_plan *p); /* of a round */
	double (*bus_bytes)(const struct sim_job_plan *p); /* of a round, for the bus bandwidth */
	void (*begin)(struct sim *s, struct sim_job *j); /* a round begins */
	/* A message has ended. May be NULL. */
	void (*done)(struct sim *s, struct sim_job *j, uint32_t tag);
};

extern const struct sim_job_kind sim_job_ring, sim_job_alltoall, sim_job_kvcache;

struct sim_rank {
	uint32_t host;
	uint32_t begun, sent, received; /* steps of this round (ring) */
};

/* A layer of a round (kvcache). */
struct sim_layer {
	uint64_t ready; /* when its messages were posted */
	uint32_t left; /* messages that have not ended */
};

struct sim_job {
	struct sim_event next; /* the next round begins; in a round: the next layer is ready */
	struct sim_job_plan plan;
	uint32_t first_tag;
	struct sim_rank *rank; /* kvcache: the prefill host, and a decode host */
	struct sim_layer *layer; /* kvcache */
	uint32_t layers_ready, receiver; /* kvcache, in this round: number; decode host */
	uint32_t left; /* messages of this round that have not ended */
	uint32_t rounds_left;
	uint64_t began, rng;
};

struct sim_times {
	uint64_t *time;
	uint32_t n, cap;
};

struct sim_jobs {
	struct sim_job *job;
	uint32_t n;
	struct sim_round_time *round;
	uint32_t n_rounds, cap_rounds;
	struct sim_times layers; /* kvcache: from ready to arrived */
};

/* Posts a message of the job. */
void sim_job_send(struct sim *s, const struct sim_job *j, const struct sim_demand *message);
