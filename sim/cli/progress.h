/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Shows the progress of runs on standard error. On a terminal, hp3-sim redraws one line. Otherwise,
 * with --progress, it prints a new line every few seconds. The progress of a run with jobs is the
 * share of the jobs' messages that have ended. If all jobs are background jobs, the progress is the
 * share of flows that have ended. In other runs, the progress is the share of bytes that are sent.
 * The estimate of the remaining time assumes the average speed so far. Results do not depend on
 * whether progress is shown.
 */
#include <stdbool.h>
#include "sim/core/sim.h"

/*
 * Progress of one run. The process that executes the run writes it; the process that shows the
 * progress reads it.
 */
struct sim_meter {
	_Atomic uint32_t permyriad; /* share of the run's work that is done */
	uint64_t bytes; /* bytes of all flows that are known at the start */
};

/* Keeps *m up to date during sim_run(). Call this after sim_traffic(). *m must outlive the run. */
void sim_meter_watch(struct sim *s, struct sim_meter *m);

struct sim_progress {
	bool on, terminal;
	uint64_t began, shown; /* ns of CLOCK_MONOTONIC */
};

/* Progress is shown if standard error is a terminal, or if `wanted`. */
void sim_progress_start(struct sim_progress *p, bool wanted);
/* True: it is time to show the progress again. */
bool sim_progress_due(struct sim_progress *p);
/* share: the share of the work that is done, 0 to 1; text: name of the current run. */
void sim_progress_show(struct sim_progress *p, double share, const char *text);
/* Erases the line on the terminal. */
void sim_progress_end(const struct sim_progress *p);
/* Progress of a single run. The process that executes the run also shows the progress. */
struct sim_watch {
	struct sim_meter meter;
	struct sim_progress progress;
};
void sim_watch_run(struct sim *s, struct sim_watch *w, bool wanted);
