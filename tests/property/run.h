/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Shared by the property programs. Usage: PROGRAM [SEEDS [PACKETS [FIRST_SEED]]]; HP3_TEST selects
 * one test; with HP3_ONE_VIOLATION set, the first violation ends the program. A world is a
 * simulation that a test runs with many seeds. If HP3_SEED_BASE is set (scripts/run-tests.py
 * derives it from the commit) and FIRST_SEED is not given, every world also runs with drawn seeds,
 * which begin at HP3_SEED_BASE: one drawn seed for every eight fixed seeds.
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
 * at the first violation. Sums are only over the fixed seeds, since thresholds may not hold for
 * drawn seeds.
 */
struct world_result run(struct world_params p);

/* Checks that a sum over all fixed seeds has reached a threshold. Not checked for a single seed, or
 * with FIRST_SEED: few seeds may miss a threshold by chance. */
#define SEEDS_OF_SUMS 8u
#define assert_sum(enough)                                                                         \
	assert_true(                                                                               \
		(enough) || run_seeds == 1 || (run_first_seed != 1 && run_seeds < SEEDS_OF_SUMS))

/*
 * The last test of a program. It checks that the engine handled packets in bursts, and that many
 * bursts had so many replies that the engine does not check the ICRC of plain progress (rule 26).
 */
void bursts_were_long(void **state);

/* Eight queue pairs, seven paths, operator moves. */
struct world_params run_base(void);

/* Runs a world with forgeries, with READs and visible set-ups: flows stay paired, and move. */
void run_forged(struct world_params p);

void run_arguments(int argc, char **argv);
/* The first drawn seed; the number of drawn seeds, 0: none. */
unsigned long long run_drawn(void);
unsigned run_drawn_seeds(void);
