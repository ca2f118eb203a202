/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The commands of hp3-sim. Exit codes: 0 done, 1 failed, 2 usage. */
#include <stdbool.h>

/* Prints `problem` (unless NULL) and the help of the current command. Returns exit code 2. */
int sim_usage(const char *problem);
/* The command line of this process, quoted for a shell. */
const char *sim_command(void);

#define SIM_SETS_MAX    64u
#define SIM_OPTIONS_MAX 16u

/* The settings on a command line, for sim_config_load(). */
struct sim_sets {
	const char *text[SIM_SETS_MAX];
	unsigned n;
};

/* An option of a command. An option with `flag` takes no value. */
struct sim_option {
	const char *name;
	bool *flag; /* variable to set to true */
	const char **text; /* variable to set to the value */
	bool once; /* `text` is set only once */
	const char *setting; /* this text and the value are added to the settings */
};

/*
 * Parses the options in `list`, which ends with a NULL name. Afterwards, optind is the index of the
 * first argument. Returns 0 or exit code 2.
 */
int sim_parse_options(int argc, char **argv, const struct sim_option *list, struct sim_sets *sets);

int sim_trace_main(int argc, char **argv);
int sim_run_main(int argc, char **argv);
int sim_report_main(int argc, char **argv);
int sim_list_main(int argc, char **argv);

/*
 * Makes a report from the results in a folder. The report has results.csv (one line per run), a
 * figure per scenario and load (SVG, PNG, PDF), and report.html, a self-contained page. The
 * function runs sim/report/report.py. In a build folder, this script is in report/ next to hp3-sim;
 * otherwise, the installed script is run.
 */

/* Returns 0, or prints messages and returns a negative errno. */
int sim_report(const char *dir);
