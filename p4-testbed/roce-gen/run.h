/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * One run of roce-gen: sets up queue pairs, waits for all peers, generates load, waits until all
 * messages are complete, and sends "done" to the peers. It waits for their "done", and writes the
 * report. The run has one thread, which sleeps when nothing is due. While packets wait only for
 * pacing, the thread wakes every --burst-us and sends the packets that are due.
 */
#include "options.h"

/* Returns an exit code (enum gen_exit). */
int gen_run(const struct gen_options *o);
