/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The result of a run as JSON. Runs with equal keys (settings.h) have equal results, except for the
 * costs (cpu_s, peak_bytes), commit, and the names of files.
 */
#include <jansson.h>
#include "sim/core/sim.h"

struct sim_cost {
	double cpu_s;
	uint64_t peak_bytes; /* peak memory of the process */
};

struct sim_cost sim_cost_now(void);

/*
 * The result of a simulation; NULL: there is no memory. If `per_flow`, the result has "flows":
 * [[src, dst, bytes, start_ps, fct_ps, base_ps]..].
 */
json_t *sim_result_json(const struct sim *s, const struct sim_cost *cost, bool per_flow);
/* Writes *j to a file; `path` "-": to standard output. Returns 0 or a negative errno. */
int sim_json_write(json_t *j, const char *path);
