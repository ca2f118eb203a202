/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_WATCH_H
#define HP3D_WATCH_H
/*
 * Queue-pair setup seen on this host (app/watch/watcher.h) on its way to the engines: each event
 * goes to the rail of its RDMA device, there to the worker that has the flows of its two addresses.
 *
 * Control thread only.
 */
#include <stdint.h>
#include "config/config.h"

struct hp3d_watch_stats {
	uint64_t up, down; /* handed to an engine */
	uint64_t refused; /* by a full table, or by a worker that did not answer */
	uint64_t no_rail; /* of a device that no rail claims */
	uint64_t ends; /* the watcher's process died or hung, and was started again */
};

/* Starts the watcher's process: before this one has threads or gives capabilities up. 0, or -1
 * after a message on stderr: what [watch] verbs names is not to be had. `cfg` must outlive it. */
int hp3d_watch_begin(const struct hp3_config *cfg);
/* Workers run from now on. Waits until somebody watches; returns as hp3d_watch_begin(). */
int hp3d_watch_start(void);
void hp3d_watch_stop(void);

int hp3d_watch_fd(void); /* readable: call hp3d_watch_poll(); -1: nobody watches */
void hp3d_watch_poll(void);
const char *hp3d_watch_name(void); /* kernel, library, none */
struct hp3d_watch_stats hp3d_watch_stats(void);

#endif
