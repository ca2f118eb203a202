/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_SLOWDOWN_H
#define HP3_SIM_RESULTS_SLOWDOWN_H
/*
 * FCT slowdown: max(1, FCT / base) of each finished flow. Flows are classed by size: below one
 * bandwidth-delay product (of the longest pair), and from there on. Percentiles are interpolated
 * linearly between the two nearest ranks.
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

#endif
