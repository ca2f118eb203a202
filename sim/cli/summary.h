/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The end of `hp3-sim run` on standard output: a table, and a sentence for each scenario and load.
 * The table has the main metric of each balancer, and its ratio to ECMP on the same traffic. The
 * main metric is the mean completion time of rounds for jobs, and the average slowdown otherwise.
 * Ratios and intervals are those of the report (sim/report/data.py).
 */
#include "sim/cli/scenario.h"

/* `out` is the directory that has the results of all runs. */
void sim_summary_print(const char *out, const struct sim_runs *runs);
