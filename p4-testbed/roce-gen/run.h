/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_RUN_H
#define ROCE_GEN_RUN_H
/*
 * One run: sets up, waits for all peers, loads, drains, sends "done" to its peers, waits for
 * theirs, and reports. One thread that sleeps when nothing is due. While packets wait for their
 * pace only, it wakes every --burst-us and sends those that are due.
 */
#include "options.h"

/* An exit code (enum gen_exit). */
int gen_run(const struct gen_options *o);

#endif
