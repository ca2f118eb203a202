/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_JOBS_H
#define HP3_SIM_WORK_JOBS_H
/* Collective operations: flows that wait for others. Inside of work/; see traffic.h. */
#include "sim/work/traffic.h"

int sim_jobs_start(struct sim *s, uint64_t *rng, char *err, uint32_t err_size);
/* 0 .. n - 1 in random order. */
void sim_shuffle(uint32_t *order, uint32_t n, uint64_t *rng);

#endif
