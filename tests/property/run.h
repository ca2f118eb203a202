/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_RUN_H
#define HP3_TESTS_RUN_H
/*
 * What the property programs share. Usage of each: PROGRAM [SEEDS [PACKETS [FIRST_SEED]]];
 * HP3_TEST selects one of its tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "world.h"

extern unsigned run_seeds, run_packets;
extern unsigned long long run_first_seed;

/* Runs the world with every seed; sums up; fails the test at the first violation. */
struct world_result run(struct world_params p);

/* Eight queue pairs, seven paths, operator moves. */
struct world_params run_base(void);

void run_arguments(int argc, char **argv);

#endif
