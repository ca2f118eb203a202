/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Shows the progress of runs on standard error. On a terminal, one line is redrawn. Otherwise, with
 * --progress, a new line is printed every few seconds. The progress of a run with jobs is the share
 * of their messages that have ended. With background jobs only, it is the share of flows that have
 * ended. In other runs, it is the share of bytes that are sent. The estimate of the time left
 * assumes the average speed so far. Showing progress changes no result.
 */
#include <stdbool.h>
#include "sim/core/sim.h"

/* Progress of one run: the process that runs it writes this, the process that shows it reads. */
struct sim_meter {
	_Atomic uint32_t permyriad; /* of the run's work that is done */
	uint64_t bytes; /* of all flows known at the start */
};

/* Keeps *m up to date during sim_run(). Call it after sim_traffic(); *m must outlive the run. */
void sim_meter_watch(struct sim *s, struct sim_meter *m);

struct sim_progress {
	bool on, terminal;
	uint64_t began, shown; /* ns of CLOCK_MONOTONIC */
};

/* Progress is shown if standard error is a terminal, or if `wanted`. */
void sim_progress_start(struct sim_progress *p, bool wanted);
/* True: it is time to show the progress again. */
bool sim_progress_due(struct sim_progress *p);
/* share: 0 to 1, how much is done; text: name of what runs now. */
void sim_progress_show(struct sim_progress *p, double share, const char *text);
/* Erases the line on the terminal. */
void sim_progress_end(const struct sim_progress *p);
/* Progress of a single run, which the process that runs it also shows. */
struct sim_watch {
	struct sim_meter meter;
	struct sim_progress progress;
};
void sim_watch_run(struct sim *s, struct sim_watch *w, bool wanted);
