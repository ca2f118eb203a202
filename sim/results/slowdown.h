/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_SLOWDOWN_H
#define HP3_SIM_RESULTS_SLOWDOWN_H
/*
 * FCT slowdown: max(1, FCT / base) of each finished flow. Two classes by size: below one
 * bandwidth-delay product (of the pair of hosts farthest apart), and the rest. Percentiles are
 * interpolated linearly between the two nearest ranks. Background flows are left out.
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

/* Of all finished flows: quantiles of FCT and slowdown, each sorted by itself. */
#define SIM_QUANTILES 103u

struct sim_distribution {
	double percent[SIM_QUANTILES]; /* 0, 1, .. 99, 99.5, 99.9, 100 */
	double fct_us[SIM_QUANTILES], slowdown[SIM_QUANTILES];
};

/* False without finished flows. */
bool sim_distribution(const struct sim *s, struct sim_distribution *out);

/* Slowdowns of flows of more than limit / 2 bytes (the first: of all) and at most `limit`. */
#define SIM_SIZES 24u /* 1 KiB .. 8 GiB */

struct sim_size {
	uint64_t limit;
	struct sim_slowdown slowdown;
};

void sim_slowdown_by_size(const struct sim *s, struct sim_size out[SIM_SIZES]);

#endif
