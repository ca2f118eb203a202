/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_CONFINE_H
#define HP3_WATCH_CONFINE_H
/*
 * What a process may that reads untrusted files and memory: hardly anything.
 */
#include "app/watch/watch.h"

/* This thread keeps the capabilities (capabilities(7)) that it takes to begin to watch, if it has
 * them; neither it nor what it executes gets others back. 0, or negative errno. */
int hp3_confine(const struct hp3_watch_options *o);

/*
 * Watching goes on with fewer: none, unless processes are to be looked into. Then nothing is
 * changed in file systems any more, nor executed, either, as far as the kernel can see to that
 * (Landlock, which would close other processes to those who look into them). 0, or negative errno.
 */
int hp3_confine_more(const struct hp3_watch_options *o);

/* Open files, memory; no core, no byte into any file. */
void hp3_confine_limits(void);

#endif
