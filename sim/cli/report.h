/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CLI_REPORT_H
#define HP3_SIM_CLI_REPORT_H
/*
 * Makes from the results in a folder: results.csv (one line per run), a figure per scenario and
 * load (SVG, PNG, PDF), and report.html, a self-contained page. Runs sim/report/report.py: in a
 * build from report/ next to hp3-sim, else from where it is installed.
 */

/* 0 or negative errno, messages printed. */
int sim_report(const char *dir);

#endif
