/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Runs of scenarios. A scenario is an INI file, or is built in. A scenario has one run for each
 * combination of balancer, load and seed. A run, and its result file, has the name
 * SCENARIO-LB-LOAD-SEED (variant.h).
 */
#include <jansson.h>
#include <stdbool.h>
#include "sim/cli/progress.h"
#include "sim/core/config.h"

#define SIM_RUNS_MAX 20000u

struct sim_variant;

struct sim_one {
	char name[192], stem[96]; /* stem: SCENARIO in the name */
	uint32_t scenario; /* index in the command line's list */
	const struct sim_variant *variant;
	struct sim_config cfg;
};

struct sim_runs {
	struct sim_one *run;
	uint32_t n;
};

struct sim_wanted {
	const char *lbs; /* balancers that replace the scenario's; NULL: none */
	bool quick;
	const char *const *set;
	unsigned n_sets;
};

/*
 * Appends the runs of the scenario to *runs. Returns 0, or prints messages and returns a negative
 * errno.
 */
int sim_scenario_runs(
	struct sim_runs *runs, const char *name, uint32_t number, const struct sim_wanted *want);

/* True: the directory has the result that the run would have now. */
bool sim_scenario_done(const char *out, const struct sim_one *one);

/*
 * Executes the run *one in this process, and keeps *meter up to date. Returns the result. On
 * failure, prints a message and returns NULL.
 */
json_t *sim_scenario_run(const struct sim_one *one, struct sim_meter *meter);
