/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CLI_REPORT_H
#define HP3_SIM_CLI_REPORT_H
/*
 * Makes a report from the results in a folder: results.csv (one line per run), a figure per
 * scenario and load (SVG, PNG, PDF), and report.html, a self-contained page. sim/report/report.py
 * does the work. In a build folder, it is in report/ next to hp3-sim; otherwise it is run from
 * where it is installed.
 */

/* Returns 0, or a negative errno after it has printed messages. */
int sim_report(const char *dir);

#endif
