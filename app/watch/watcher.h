/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3d's side of hp3-watch, which runs the watcher (watch.h) in a process of its own, with only the
 * capabilities that it needs. This side checks the messages of hp3-watch (message.h). If the
 * watching process of hp3-watch dies or hangs, hp3-watch starts that process again (hp3_keep()).
 * Meanwhile, hp3d pairs flows by packets alone.
 *
 * One thread calls these functions. Only hp3_watcher_wait() and hp3_watcher_stop() block.
 */
#include "app/watch/watch.h"

struct hp3_watcher;

/*
 * Starts hp3-watch. Call it before this process starts threads or drops capabilities. The fields
 * sysfs and dev of *o have no effect. Returns 0, or a negative errno after a notice.
 */
int hp3_watcher_start(const struct hp3_watch_options *o, struct hp3_watcher **out);

/*
 * Waits until the watcher runs, ten seconds at most. Returns 0; -ENOENT: no watcher is available,
 * after a notice; -ETIMEDOUT: the watcher may still start.
 */
int hp3_watcher_wait(struct hp3_watcher *w);

/* Readable: call hp3_watcher_poll(). -1: hp3-watch has ended, and will not start again. */
int hp3_watcher_fd(const struct hp3_watcher *w);
/* Handles a bounded number of the watcher's messages; the next call handles the rest. */
void hp3_watcher_poll(struct hp3_watcher *w);
enum hp3_watch_by hp3_watcher_by(const struct hp3_watcher *w);
uint32_t hp3_watcher_ends(const struct hp3_watcher *w); /* how often hp3-watch died or hung */

/* Ends the watcher, within some seconds. NULL is harmless. */
void hp3_watcher_stop(struct hp3_watcher *w);
