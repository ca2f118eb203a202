/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_WATCHER_H
#define HP3_WATCH_WATCHER_H
/*
 * The watcher (watch.h) in a process of its own, as hp3d has it: hp3-watch, beside hp3d's program,
 * with no capability that it does not need and none of hp3d's memory (keeper.h). What it says is
 * checked (message.h). If it dies or hangs it is started again; hp3d goes on, and meanwhile pairs
 * by what is on the wire.
 *
 * One thread. Nothing blocks but the two calls that say so.
 */
#include "app/watch/watch.h"

struct hp3_watcher;

/*
 * Starts it: as early as can be, before this process has threads, and capabilities to lose. Of *o
 * sysfs and dev are not passed on. 0, or negative errno after a notice.
 */
int hp3_watcher_start(const struct hp3_watch_options *o, struct hp3_watcher **out);

/* Until it says who watches, for some seconds: 0, or -ENOENT: nobody, which it told; -ETIMEDOUT: it
 * may come yet. */
int hp3_watcher_wait(struct hp3_watcher *w);

int hp3_watcher_fd(const struct hp3_watcher *w); /* readable: poll; -1: it is gone for good */
/* Hands out what it said, up to a bound: what is left is there at the next call. */
void hp3_watcher_poll(struct hp3_watcher *w);
enum hp3_watch_by hp3_watcher_by(const struct hp3_watcher *w);
uint32_t hp3_watcher_ends(const struct hp3_watcher *w); /* how often it died or hung */

/* Ends it, within some seconds. NULL is harmless. */
void hp3_watcher_stop(struct hp3_watcher *w);

#endif
