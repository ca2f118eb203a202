/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Passes the watcher's events (app/watch/watcher.h) to the engines. The event's RDMA device
 * determines the rail, and the event's two addresses determine the worker.
 *
 * Control thread only, except hp3d_watch_stats().
 */
#include <stdint.h>
#include "config/config.h"

struct hp3d_watch_stats {
	uint64_t up, down; /* events passed to an engine */
	uint64_t refused; /* events refused by a full table, or by a worker that did not answer */
	uint64_t no_rail; /* events of a device that no rail claims */
	uint64_t ends; /* times that the watcher's process died or hung, and was started again */
};

/* Starts the watcher's process. Call it before this process starts threads or drops capabilities.
 * Returns 0, or -1 after a message on stderr: the watcher in [watch] verbs is not available. `cfg`
 * must outlive the watcher. */
int hp3d_watch_begin(const struct hp3_config *cfg);
/* Call it when the workers run. Waits until the watcher runs, for a bounded time; returns as
 * hp3d_watch_begin(). */
int hp3d_watch_start(void);
void hp3d_watch_stop(void);

int hp3d_watch_fd(void); /* readable: call hp3d_watch_poll(); -1: no watcher */
void hp3d_watch_poll(void);
const char *hp3d_watch_name(void); /* kernel, library, none */
struct hp3d_watch_stats hp3d_watch_stats(void);
