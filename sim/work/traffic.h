/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_TRAFFIC_H
#define HP3_SIM_WORK_TRAFFIC_H
/*
 * Traffic of a scenario. It has its own random generator, seeded by the run's seed: every balancer
 * gets the same flows at the same times.
 *
 * poisson      each host starts flows at exponential intervals, sizes from the CDF, destinations
 *              uniform over the other hosts; load: share of the capacity above the leaves per host
 * incast       every spacing_us, fan_in hosts send `bytes` each to one host
 * permutation  each host sends `bytes` to one other host, and receives from one
 * collision    two hosts of one leaf send `bytes` each to two hosts of another, by source ports
 *              that the hash of the first leaf maps to the same next hop
 * connections  fan_in flows of `bytes` each, from the first host to the first one of another leaf
 * allreduce    jobs of `ranks` hosts in a ring: 2 (ranks - 1) steps, in each every rank sends
 *              bytes / ranks to the next, after it has received the previous step
 * alltoall     every rank sends bytes / ranks to every other rank
 *
 * A job has `repeat` rounds. Before each, it computes: it is off for a time drawn uniformly from 0
 * to 2 x off_us. Background ([background]): jobs of the same kinds, with their own results, on
 * hosts without jobs of the traffic (or on any, if the traffic has no jobs). Their rounds continue
 * until all other traffic has ended.
 */
#include "sim/core/sim.h"

/* Between sim_create() and sim_run(). 0 or negative errno with a message. */
int sim_traffic(struct sim *s, char *err, uint32_t err_size);

/* A job round that has ended. */
struct sim_round_time {
	uint32_t job;
	uint64_t time; /* ps */
};

struct sim_job_results {
	uint32_t rounds;
	double jct_avg_us, jct_p99_us, jct_max_us;
	double bus_gbps; /* mean of rounds: NCCL's bus bandwidth */
};

/* False if there are no such jobs, or none of their rounds has ended. */
bool sim_job_results(const struct sim *s, bool background, struct sim_job_results *r);

/* Share of the messages of the traffic's jobs that have ended; below 0: it has no jobs. */
double sim_jobs_share(const struct sim *s);

/* Called by host/flow.c: a flow with this tag has ended. */
void sim_jobs_done(struct sim *s, uint32_t tag);
void sim_jobs_free(struct sim_jobs *j);

#endif
