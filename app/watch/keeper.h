/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_KEEPER_H
#define HP3_WATCH_KEEPER_H
/*
 * The two processes of hp3-watch. The first watches: it reads data of untrusted processes, which
 * may make it die or hang. The second process, the keeper, reads no such data. If the first process
 * ends or hangs, the keeper starts it again. The pause before a start doubles each time, up
 * to a minute. The keeper keeps the capabilities that the first process needs. Both processes end
 * when hp3d does.
 */
#include "app/watch/watch.h"

/*
 * Serves hp3d at the other end of `socket` (message.h) until hp3d closes it. The hooks of *o have
 * no effect: events and notices are messages. Returns 0, or -1: no watcher is available.
 */
int hp3_keep(int socket, const struct hp3_watch_options *o);

#endif
