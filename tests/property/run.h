/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_RUN_H
#define HP3_TESTS_RUN_H
/*
 * Shared by the property programs. Usage: PROGRAM [SEEDS [PACKETS [FIRST_SEED]]]; HP3_TEST selects
 * one test; with HP3_ONE_VIOLATION set, the first violation ends the program. If HP3_SEED_BASE is
 * set (scripts/run-tests.py makes it from the commit) and FIRST_SEED is not, every world also runs
 * with seeds counted from there: one such drawn seed for every four fixed ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "world.h"

extern unsigned run_seeds, run_packets;
extern unsigned long long run_first_seed;

/*
 * Runs the world with every seed, in bursts (world.h) except for every fourth one; fails the test
 * at the first violation. Sums are over the fixed seeds only, as thresholds may not hold for drawn
 * ones.
 */
struct world_result run(struct world_params p);

/* Checks that a sum over all fixed seeds has reached a threshold. Not checked for a single seed, or
 * with FIRST_SEED, as few seeds may miss it by chance. */
#define SEEDS_OF_SUMS 8u
#define assert_sum(enough)                                                                         \
	assert_true(                                                                               \
		(enough) || run_seeds == 1 || (run_first_seed != 1 && run_seeds < SEEDS_OF_SUMS))

/*
 * The last test of a program: packets went through the engine in bursts, many of them with enough
 * replies that plain progress is not checked (rule 26).
 */
void bursts_were_long(void **state);

/* Eight queue pairs, seven paths, operator moves. */
struct world_params run_base(void);

/* Runs a world with forgeries, with READs and visible set-ups: flows stay paired, and move. */
void run_forged(struct world_params p);

void run_arguments(int argc, char **argv);
/* The first drawn seed, and their number; 0: none. */
unsigned long long run_drawn(void);
unsigned run_drawn_seeds(void);

#endif
