/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CLI_REPORT_H
#define HP3_SIM_CLI_REPORT_H
/*
 * From the results in a folder: results.csv (one line per run), one figure per scenario and load
 * (SVG and PNG, by gnuplot), and report.html, one page with tables and figures that needs nothing
 * beside it: first all scenarios at a glance, then one table and figure for each scenario and load.
 * Ratios to ECMP are of paired runs, those with the same scenario, load and seed.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sim_row {
	char scenario[64], lb[24], commit[48];
	uint32_t load, seed;
	bool poisson; /* else load says nothing */
	double avg, p50, p95, p99, p999, lt_avg, lt_p99, ge_avg, ge_p99;
	double jct_us, jct_p99_us, bus_gbps; /* 0: not of jobs */
	double goodput, ecn_share, imbalance, reordered, again_bytes, pauses, moves, probe_bytes;
	double cpu_s, hops, finished;
};

struct sim_rows {
	struct sim_row *row; /* by scenario, load, balancer as listed, seed */
	uint32_t n;
};

/* What the seeds of one balancer say, in one scenario at one load. */
struct sim_mean {
	const char *lb;
	uint32_t n;
	struct sim_row mean;
	double ratio, ratio_high; /* to ECMP, mean and upper end of its 95 % interval (Student's
				     t); 0: no pairs, or one */
};

/* Means of rows first..first+n-1, which are of one scenario and load. Returns how many. */
#define SIM_MEANS_MAX 64u
uint32_t sim_means(const struct sim_row *row, uint32_t n, struct sim_mean *out);

/* Main metric of a run, less is better: job completion time, else average slowdown. */
double sim_metric(const struct sim_row *r);

/* results.csv, figures, report.html in `dir`. 0 or negative errno, messages printed. */
int sim_report(const char *dir);
/* A file in `dir`; NULL: it cannot be written, which is said. */
FILE *sim_report_create(const char *dir, const char *name);
/* report.html, and the figures in it. */
int sim_page(const char *dir, const struct sim_rows *rows);
/* The figure of one scenario and load; 0, or -EIO if gnuplot cannot be run. */
int sim_figure(
	const char *dir, const char *name, const char *title, const struct sim_mean *m, uint32_t n);

#endif
