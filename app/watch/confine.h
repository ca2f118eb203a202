/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_CONFINE_H
#define HP3_WATCH_CONFINE_H
/* Restricts a process that reads untrusted files and memory. */
#include "app/watch/watch.h"

/*
 * Drops all capabilities (capabilities(7)) of this thread except those needed to start watching
 * (with o->discover, also later). Neither the thread nor a program that it executes can get others
 * back. 0, or negative errno.
 */
int hp3_confine(const struct hp3_watch_options *o);

/*
 * Call it when watching has started. Without o->discover, drops all capabilities, and (if the
 * kernel has Landlock) forbids changes of file systems and execution. With o->discover, changes
 * nothing: Landlock would forbid to inspect other processes. 0, or negative errno.
 */
int hp3_confine_more(const struct hp3_watch_options *o);

/* Limits open files and memory; forbids core dumps and writes to files. */
void hp3_confine_limits(void);

#endif
