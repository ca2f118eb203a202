/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_H
#define HP3D_CONTROL_H
/*
 * This module: what hp3d is asked and what it tells. It calls the lcores (worker.h), by them pipes
 * and engines, the socket's own module (app/control) and the watcher (app/watch); nobody but main
 * calls it.
 *
 * The control socket: a Unix stream socket that takes one JSON request per line and answers each
 * with one JSON line, in order (hp3d.8 lists the requests). It also moves the workers' events into
 * the kept ones, and queue-pair setup seen on this host (watch.h) to the workers.
 *
 * Everything here runs in the main thread and touches packets' state through hp3d_worker_call()
 * alone. A client can delay other clients by a page of a list at most, and can cost no more memory
 * than its two bounded buffers.
 *
 * The socket belongs to whoever may move traffic: mode 0600. A socket that a dead process left is
 * replaced; one that a living process serves is an error.
 */
#include "config/config.h"

/*
 * Before anything else is touched: the socket's path is ours, and with it the rails. An hp3d that
 * has it and is about to end (an upgrade) is waited for, as long as a clean stop may take. 0, or a
 * negative errno after a message on stderr that names the fix. hp3d_control_leave(), after
 * everything else was given back, lets the next one begin.
 */
int hp3d_control_reserve(const struct hp3_config *cfg);
void hp3d_control_leave(void);

/*
 * `cfg` must outlive hp3d_control_stop(); workers and pipes must exist, the path be
 * reserved. Returns 0 or a negative
 * errno after a message on stderr that names the fix (-EADDRINUSE: another program serves the
 * socket).
 */
int hp3d_control_start(const struct hp3_config *cfg);

/*
 * Waits up to timeout_ms for requests, answers them, takes the workers' events. To be called again
 * and again; only waits if the socket was not started.
 */
void hp3d_control_poll(int timeout_ms);

/* Closes all clients and removes the socket. Harmless if hp3d_control_start() failed or was never
 * called. */
void hp3d_control_stop(void);

#endif
