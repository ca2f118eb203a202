/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The traffic of a scenario. The traffic has its own random generator, seeded with the run's seed.
 * So every balancer gets the same flows at the same times.
 *
 * poisson      each host starts flows at exponential intervals, with sizes from the CDF, to
 *              destinations drawn uniformly from the other hosts. 100 % load is a host's share of
 *              the capacity above the leaves, or of the host links if their capacity is lower
 * incast       every spacing_us, fan_in hosts send `bytes` each to the same host
 * permutation  each host sends `bytes` to one other host, and receives `bytes` from one other host
 * collision    two hosts below one leaf send `bytes` each to two hosts below another leaf. The hash
 *              of the first leaf maps the source ports of both flows to the same next hop
 * connections  fan_in flows of `bytes` each, from the first host to the first host below another
 *              leaf
 * allreduce    jobs of `ranks` hosts in a ring, with 2 (ranks - 1) steps. In each step, every rank
 *              sends bytes / ranks to the next rank. A rank begins a step when it has received the
 *              data of the previous step
 * alltoall     jobs of `ranks` hosts. Every rank sends bytes / ranks to every other rank
 * kvcache      jobs of a prefill host and a decode host. The prefill host computes `layers` layers,
 *              each for layer_us. When a layer is ready, the prefill host writes its `pages` pages
 *              to the decode host: each page is a message of `bytes` and one of more_bytes. With
 *              pairing = random, each round has a decode host drawn from those of all jobs
 *
 * A job has `repeat` rounds. Before each round, the job computes: it sends nothing for a time drawn
 * uniformly from 0 to 2 x off_us. [background] adds jobs of the same kinds, whose results are
 * separate. Background jobs run on hosts that have no other jobs; if the traffic has no jobs, they
 * run on any hosts. Their rounds continue until all other traffic has ended.
 */
#include "sim/core/sim.h"

/* Call this between sim_create() and sim_run(). Returns 0, or a negative errno with a message. */
int sim_traffic(struct sim *s, char *err, uint32_t err_size);

/* A job round that has ended. */
struct sim_round_time {
	uint32_t job;
	uint64_t time; /* ps */
};

struct sim_job_results {
	uint32_t rounds;
	double jct_avg_us, jct_p99_us, jct_max_us;
	double bus_gbps; /* NCCL's bus bandwidth, mean over rounds */
	uint32_t layers; /* kvcache: layers that have arrived */
	double layer_avg_us, layer_p99_us; /* kvcache: from ready to arrived */
};

/*
 * Computes the results of the traffic's jobs, or of the background jobs. False: there are no such
 * jobs, or no round has ended.
 */
bool sim_job_results(const struct sim *s, bool background, struct sim_job_results *r);

/*
 * The share of the messages of the traffic's jobs that have ended, 0 to 1; below 0: there are no
 * jobs.
 */
double sim_jobs_share(const struct sim *s);

/* Called by host/flow.c when a flow with this tag has ended. */
void sim_jobs_done(struct sim *s, uint32_t tag);
void sim_jobs_free(struct sim_jobs *j);

/* Jobs: collective operations, whose messages wait for other messages. Internal to work/. */
/* n jobs of `ranks` hosts each; `off`: mean time between their rounds, in ps. */
struct sim_job_plan {
	const struct sim_job_kind *kind;
	bool background;
	uint32_t n, ranks, rounds;
	uint64_t bytes, off;
	/* kvcache */
	bool random; /* each round has another decode host */
	uint32_t layers, pages; /* pages of a layer */
	uint64_t more_bytes; /* of the second part of a page; `bytes`: of the first part */
	uint64_t layer; /* time to compute a layer, in ps */
};

/*
 * Starts the jobs of the traffic, if there are any, and the background jobs. Returns 0, or -EINVAL
 * with a message.
 */
int sim_jobs_start(struct sim *s, uint64_t *rng, char *err, uint32_t err_size);
/* Sets order[] to the numbers 0 .. n - 1, in random order. */
void sim_shuffle(uint32_t *order, uint32_t n, uint64_t *rng);

/*
 * Faults of random links between switches. Runs with the same seed have the same faulty links,
 * whatever the balancer. When a link goes down or up, all switches change their routes at once,
 * after converge_us.
 *
 * down        at at_us, the link goes down for for_us, and packets on the link are lost
 * flap        from at_us on, the link goes down and up eight times
 * loss        random packets are lost silently
 * black-hole  all data packets of some flows, chosen by hash, are lost silently in one direction
 * degrade     from the start, the link has only a share of its rate
 */

/* Call this between sim_create() and sim_run(). Returns 0, or a negative errno with a message. */
int sim_faults(struct sim *s, char *err, uint32_t err_size);
void sim_faults_free(struct sim_faults *f);

/*
 * Flow traces in the formats of the ns-3 RDMA simulators. The first line has the number of flows.
 * Each flow then has a line, in all lines of a file with the same columns:
 *
 *   src dst priority_group size_bytes start_s           ConWeave
 *   src dst priority_group port size_bytes start_s      HPCC, PowerTCP, Reverie, MP-RDMA, SimAI
 *
 * src and dst are numbers of the topology file. The port is not used: rnic.ports chooses the ports.
 * start_s may have up to 12 decimals. Lines after the last flow are ignored, as in topology files.
 */

/* Adds all flows of the file. Returns 0, or a negative errno with a message that names the line
 * and the column. */
int sim_flows_load(struct sim *s, const char *path, char *err, uint32_t err_size);
