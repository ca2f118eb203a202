/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Commands of hp3-sim. Exit codes: 0 done, 1 failed, 2 usage. */

/* Prints `problem` (unless NULL) and the help of the current command. Returns exit code 2. */
int sim_usage(const char *problem);
/* The command line of this process, quoted for a shell. */
const char *sim_command(void);
int sim_trace_main(int argc, char **argv);
int sim_run_main(int argc, char **argv);
int sim_report_main(int argc, char **argv);
int sim_list_main(int argc, char **argv);

/*
 * Makes a report from the results in a folder: results.csv (one line per run), a figure per
 * scenario and load (SVG, PNG, PDF), and report.html, a self-contained page. sim/report/report.py
 * does the work. In a build folder, it is in report/ next to hp3-sim; otherwise it is run from
 * where it is installed.
 */

/* Returns 0, or a negative errno after it has printed messages. */
int sim_report(const char *dir);
