/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_CONFINE_H
#define HP3_WATCH_CONFINE_H
/*
 * What a process may that reads strangers' files and memory: hardly anything. Bit n is capability n
 * (capabilities(7)).
 */
#include <stdint.h>
#include "app/watch/watch.h"

/* Needed until the watcher is there, and to go on from then. */
uint64_t hp3_confine_to_open(const struct hp3_watch_options *o);
uint64_t hp3_confine_to_go_on(const struct hp3_watch_options *o);

/* This thread keeps those of `keep` that it has; neither it nor what it executes gets others back.
 * 0, or negative errno. */
int hp3_confine(uint64_t keep);

/* Open files, memory; no core, no byte into any file. */
void hp3_confine_limits(void);

#endif
