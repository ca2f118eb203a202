/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CLI_PROGRESS_H
#define HP3_SIM_CLI_PROGRESS_H
/*
 * Progress of runs on standard error: on a terminal one line that is redrawn, else (--progress) a
 * line every few seconds. The share of a run counts bytes sent, or rounds of jobs. The time left
 * assumes that the rest takes as long per share as the part done. Progress changes no result.
 */
#include <stdbool.h>
#include "sim/core/sim.h"

/* Of one run: written by the process that runs it, read by the process that shows it. */
struct sim_meter {
	_Atomic uint32_t permyriad; /* of the run's work that is done */
	uint64_t bytes; /* of all flows known at the start */
};

/* After sim_traffic(), before sim_run(): `m` follows s, which outlives it. */
void sim_meter_watch(struct sim *s, struct sim_meter *m);

struct sim_progress {
	bool on, terminal;
	uint64_t began, shown; /* ns of CLOCK_MONOTONIC */
};

/* Shown if standard error is a terminal, or `wanted`. */
void sim_progress_start(struct sim_progress *p, bool wanted);
/* True: another line is due. */
bool sim_progress_due(struct sim_progress *p);
/* share: done so far, 0 to 1; text: what runs now. */
void sim_progress_show(struct sim_progress *p, double share, const char *text);
/* Ends the line. */
void sim_progress_end(const struct sim_progress *p);
/* A single run, shown by the process that runs it. */
struct sim_watch {
	struct sim_meter meter;
	struct sim_progress progress;
};
void sim_watch_run(struct sim *s, struct sim_watch *w, bool wanted);

#endif
