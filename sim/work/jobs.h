/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_JOBS_H
#define HP3_SIM_WORK_JOBS_H
/* Jobs: collective operations, whose messages wait for other messages (traffic.h). Internal to
 * work/. */
#include "sim/work/traffic.h"

/* n jobs of `ranks` hosts each; `off`: mean time between their rounds, in ps. */
struct sim_job_plan {
	bool ring, background;
	uint32_t n, ranks, rounds;
	uint64_t bytes, off;
};

/* Starts the traffic's jobs, if it has any, and the background. 0 or -EINVAL with a message. */
int sim_jobs_start(struct sim *s, uint64_t *rng, char *err, uint32_t err_size);
/* Sets order[] to the numbers 0 .. n - 1, in random order. */
void sim_shuffle(uint32_t *order, uint32_t n, uint64_t *rng);

#endif
