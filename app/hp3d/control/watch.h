/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_WATCH_H
#define HP3D_WATCH_H
/*
 * Queue-pair setup seen on this host (app/watch/watch.h) on its way to the engines: each event goes
 * to the rail of its RDMA device, there to the worker that has the flows of its two addresses.
 *
 * Control thread only. Workers must run.
 */
#include <stdint.h>
#include "config/config.h"

struct hp3d_watch_stats {
	uint64_t up, down; /* handed to an engine */
	uint64_t refused; /* by a full table, or by a worker that did not answer */
	uint64_t no_rail; /* of a device that no rail claims */
};

/* 0, or -1 after a message on stderr: the watcher that [watch] verbs names is not to be had. `cfg`
 * must outlive the watch. */
int hp3d_watch_start(const struct hp3_config *cfg);
void hp3d_watch_stop(void);

int hp3d_watch_fd(void); /* readable: call hp3d_watch_poll(); -1: nothing is watched */
void hp3d_watch_poll(void);
const char *hp3d_watch_name(void); /* kernel, library, none */
struct hp3d_watch_stats hp3d_watch_stats(void);

#endif
