/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_RUN_H
#define ROCE_GEN_RUN_H
/*
 * One run: sets up, waits for all peers, loads, drains, tells its peers that it is done, stays for
 * them until they are, and reports. One thread that sleeps whenever nothing is due: where only the
 * pace holds it back it wakes every --burst-us, and sends then what has become due meanwhile.
 */
#include "options.h"

/* An exit code (enum gen_exit). */
int gen_run(const struct gen_options *o);

#endif
