/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_RUN_H
#define HP3_TESTS_RUN_H
/*
 * What the property programs share. Usage of each: PROGRAM [SEEDS [PACKETS [FIRST_SEED]]];
 * HP3_TEST selects one of its tests; with HP3_ONE_VIOLATION set the first violation ends the
 * program. Where HP3_SEED_BASE is set (scripts/run-tests.py makes it from the commit) and
 * FIRST_SEED is not, every world also runs with seeds counted from there: one such drawn seed for
 * every four fixed ones.
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
 * Runs the world with every seed, in bursts (world.h) but for every fourth one; fails the test at
 * the first violation. What is summed up are the seeds that are always the same: how much of what
 * happened is no verdict on seeds that nobody has chosen.
 */
struct world_result run(struct world_params p);

/* A sum over all fixed seeds has reached a threshold. A single seed, or a few that FIRST_SEED
 * chose, may miss it by chance: then it is not checked. */
#define SEEDS_OF_SUMS 8u
#define assert_sum(enough)                                                                         \
	assert_true(                                                                               \
		(enough) || run_seeds == 1 || (run_first_seed != 1 && run_seeds < SEEDS_OF_SUMS))

/*
 * The last test of a program: what ran went through the engine in bursts, many of them of so many
 * replies that plain progress is taken unseen (rule 26).
 */
void bursts_were_long(void **state);

/* Eight queue pairs, seven paths, operator moves. */
struct world_params run_base(void);

/* Runs a world that forges, with READs and set-ups that are seen: flows stay paired, and move. */
void run_forged(struct world_params p);

void run_arguments(int argc, char **argv);
/* The first drawn seed, and how many there are; 0: none. */
unsigned long long run_drawn(void);
unsigned run_drawn_seeds(void);

#endif
