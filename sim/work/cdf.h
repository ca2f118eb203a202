/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_CDF_H
#define HP3_SIM_WORK_CDF_H
/*
 * Flow size distribution: lines `size_bytes cumulative_percent`, from 0 % to 100 %, `#` comments;
 * between two points sizes are uniform. Built in: AliStorage2019, DataMining, FbHdp2015 (Meta
 * Hadoop), GoogleRPC2008, Solar2022, WebSearch.
 */
#include <stdint.h>
#include "sim/core/input.h"

#define SIM_CDF_POINTS 1024u

struct sim_cdf {
	struct sim_input file;
	uint32_t n;
	uint64_t size[SIM_CDF_POINTS];
	uint64_t share[SIM_CDF_POINTS]; /* of 2^32 */
};

/* 0 or negative errno with a message. */
int sim_cdf_load(struct sim_cdf *c, const char *name, char *err, uint32_t err_size);
uint64_t sim_cdf_draw(const struct sim_cdf *c, uint64_t *rng); /* at least 1 */
uint64_t sim_cdf_mean(const struct sim_cdf *c);

#endif
