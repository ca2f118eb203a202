/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A scenario is an INI file, or built in. It has one run for each combination of balancer, load and
 * seed. A run is named SCENARIO-LB-LOAD-SEED; its result file has this name.
 */
#include <jansson.h>
#include <stdbool.h>
#include "sim/cli/progress.h"
#include "sim/core/config.h"

#define SIM_RUNS_MAX 20000u

struct sim_one {
	char name[128];
	uint32_t scenario; /* index in the command line's list */
	struct sim_config cfg;
};

struct sim_runs {
	struct sim_one *run;
	uint32_t n;
};

struct sim_wanted {
	const char *lbs; /* replace the scenario's balancers; NULL: do not */
	bool quick;
	const char *const *set;
	unsigned n_sets;
};

/* Appends the runs of the scenario. Returns 0, or a negative errno with messages printed. */
int sim_scenario_runs(
	struct sim_runs *runs, const char *name, uint32_t number, const struct sim_wanted *want);

/* Runs *one in this process and keeps *meter up to date. Returns the result; NULL on failure, with
 * a message printed. */
json_t *sim_scenario_run(const struct sim_one *one, struct sim_meter *meter);
