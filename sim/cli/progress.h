/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CLI_PROGRESS_H
#define HP3_SIM_CLI_PROGRESS_H
/*
 * How far runs are, on standard error: one line that is drawn anew on a terminal, else (--progress)
 * a line every few seconds. The share of a run is of bytes sent, or of the rounds of jobs; the time
 * left takes what comes to cost what was. Watching changes no result.
 */
#include <stdbool.h>
#include "sim/core/sim.h"

/* Of one run: written by the process that runs it, read by the one that shows it. */
struct sim_meter {
	_Atomic uint32_t permyriad; /* of the run's work that is done */
	uint64_t bytes; /* of all flows known */
};

/* Between the traffic's making and sim_run(): `m` follows s, which outlives it. */
void sim_meter_watch(struct sim *s, struct sim_meter *m);

struct sim_progress {
	bool on, terminal;
	uint64_t began, shown; /* ns of CLOCK_MONOTONIC */
};

/* Shown if standard error is a terminal, or `wanted`. */
void sim_progress_start(struct sim_progress *p, bool wanted);
/* Is it time for another line? */
bool sim_progress_due(struct sim_progress *p);
/* `share` of all is done, 0 to 1; `text` says what is at work. */
void sim_progress_show(struct sim_progress *p, double share, const char *text);
/* The line is complete. */
void sim_progress_end(const struct sim_progress *p);
/* A single run that is shown by the process that runs it, each time that it is due. */
struct sim_watch {
	struct sim_meter meter;
	struct sim_progress progress;
};
void sim_watch_run(struct sim *s, struct sim_watch *w, bool wanted);

#endif
