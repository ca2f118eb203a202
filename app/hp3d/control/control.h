/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_H
#define HP3D_CONTROL_H
/*
 * This module answers requests to hp3d, and reports what hp3d does. It calls the lcores (worker.h)
 * and through them pipes and engines, the control socket (app/control), and the watcher
 * (app/watch). Only main calls it.
 *
 * The control socket is a Unix stream socket. It takes one JSON request per line, and answers each
 * with one JSON line, in order (hp3d.8 lists the requests). The module also stores events of the
 * workers, and passes queue-pair events of this host (watch.h) to the workers.
 *
 * Everything here runs in the main thread, and accesses engines only through hp3d_worker_call(). A
 * client delays other clients by HP3D_LINES_PER_CALL answers at most, each with one page of a list
 * at most. It uses no more memory than its two bounded buffers.
 *
 * Who can open the socket may move traffic. So it has mode 0600; with [control] group, mode 0660,
 * and members of the group may send only some requests (requests.h). hp3d replaces a socket that a
 * dead process left; a socket that a living process serves is an error.
 */
#include "config/config.h"

/*
 * Claims the socket's path, and so the rails, for this process. This is the first step of a start.
 * If another hp3d has the path, the call waits for as long as a clean stop may take: that hp3d may
 * be stopping (an upgrade). Returns 0, or a negative errno after a message on stderr that names the
 * fix. hp3d_control_leave() releases the path. This is the last step of a stop.
 */
int hp3d_control_reserve(const struct hp3_config *cfg);
void hp3d_control_leave(void);

/*
 * `cfg` must outlive hp3d_control_stop(). Workers and pipes must exist, and the path must be
 * reserved. Returns 0, or a negative errno after a message on stderr that names the fix
 * (-EADDRINUSE: another program serves the socket).
 */
int hp3d_control_start(const struct hp3_config *cfg);

/*
 * Waits up to timeout_ms for requests, answers them, and takes the workers' events. Call it in a
 * loop. If the socket was not started, it only waits.
 */
void hp3d_control_poll(int timeout_ms);

/* Closes all clients and removes the socket. Does nothing if hp3d_control_start() failed or was
 * never called. */
void hp3d_control_stop(void);

#endif
