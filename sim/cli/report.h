/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CLI_REPORT_H
#define HP3_SIM_CLI_REPORT_H
/*
 * From the results in a folder: results.csv (one line per run), a figure per scenario and load
 * (SVG, PNG, PDF), and report.html, one page that needs nothing beside it. The program
 * sim/report/report.py makes them: it lies in report/ beside hp3-sim in a build, else where it was
 * installed.
 */

/* 0 or negative errno, messages printed. */
int sim_report(const char *dir);

#endif
