/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CLI_REPORT_H
#define HP3_SIM_CLI_REPORT_H
/*
 * From the results in a folder: results.csv (one line per run), one figure per scenario and load
 * (SVG and PNG, by gnuplot), and report.html, one page with tables and figures that needs nothing
 * beside it. Ratios to ECMP are of paired runs, those with the same scenario, load and seed.
 */
#include <stdint.h>

struct sim_row {
	char scenario[64], lb[24];
	uint32_t load, seed;
	double avg, p50, p95, p99, p999, lt_avg, lt_p99, ge_avg, ge_p99;
	double jct_us, jct_p99_us, bus_gbps; /* 0: not of jobs */
	double goodput, ecn_share, imbalance, reordered, again_bytes, pauses, moves, probe_bytes;
	double cpu_s, hops, finished;
};

struct sim_rows {
	struct sim_row *row; /* by scenario, load, balancer, seed */
	uint32_t n;
};

/* What the seeds of one balancer say, in one scenario at one load. */
struct sim_mean {
	const char *lb;
	uint32_t n;
	struct sim_row mean;
	double ratio, ratio_high; /* to ECMP, mean and upper 95 % bound; 0: no pairs */
};

/* Means of rows first..first+n-1, which are of one scenario and load. Returns how many. */
#define SIM_MEANS_MAX 64u
uint32_t sim_means(const struct sim_row *row, uint32_t n, struct sim_mean *out);

/* Main metric of a run, less is better: job completion time, else average slowdown. */
double sim_metric(const struct sim_row *r);

/* results.csv, figures, report.html in `dir`. 0 or negative errno, messages printed. */
int sim_report(const char *dir);
/* The figure of one scenario and load; 0, or -EIO if gnuplot cannot be run. */
int sim_figure(const char *dir, const char *name, const struct sim_mean *m, uint32_t n);

#endif
