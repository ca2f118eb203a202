/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Flow size distributions (config/cdf.h), read from files or built in. The built-in ones are
 * AliStorage2019, DataMining, FbHdp2015 (Meta Hadoop), GoogleRPC2008, Solar2022 and WebSearch.
 */
#include "config/cdf.h"
#include "sim/core/input.h"

struct sim_cdf {
	struct sim_input file;
	struct hp3_cdf cdf;
};

/* Loads a distribution. Returns 0, or a negative errno with a message in err. */
int sim_cdf_load(struct sim_cdf *c, const char *name, char *err, uint32_t err_size);
uint64_t sim_cdf_draw(const struct sim_cdf *c, uint64_t *rng); /* bytes, at least 1 */
