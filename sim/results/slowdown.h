/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * FCT slowdowns of finished flows: max(1, FCT / base). There are two classes of flows: smaller than
 * one bandwidth-delay product (of the two hosts that are farthest apart), and all others.
 * Percentiles are interpolated linearly between the two nearest ranks. Background flows do not
 * count.
 */
#include "sim/core/sim.h"

struct sim_slowdown {
	uint32_t n;
	double avg, p50, p95, p99, p999;
};

struct sim_slowdowns {
	uint64_t bdp; /* bytes */
	struct sim_slowdown overall, lt_bdp, ge_bdp;
};

void sim_slowdowns(const struct sim *s, struct sim_slowdowns *out);

/*
 * Quantiles of FCT, and quantiles of slowdown, over all finished flows. The two are sorted
 * separately, so row i of both need not be of the same flow.
 */
#define SIM_QUANTILES 103u

struct sim_distribution {
	double percent[SIM_QUANTILES]; /* 0, 1, .. 99, 99.5, 99.9, 100 */
	double fct_us[SIM_QUANTILES], slowdown[SIM_QUANTILES];
};

/* False: no flow has finished. */
bool sim_distribution(const struct sim *s, struct sim_distribution *out);

/* Slowdowns of flows with limit / 2 < bytes <= limit. The first class has no lower limit. */
#define SIM_SIZES 24u /* 1 KiB .. 8 GiB */

struct sim_size {
	uint64_t limit;
	struct sim_slowdown slowdown;
};

void sim_slowdown_by_size(const struct sim *s, struct sim_size out[SIM_SIZES]);
