/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_WORST_H
#define HP3_TESTS_WORST_H
/*
 * The inputs that take the engine longest, each for a number of agreements and moves: packets,
 * commands, calls of hp3_tick(). unit/engine_steps counts basic blocks with few and with many;
 * bench/worst_bench.c measures time.
 */
#include <stdint.h>

#define WORST_FEW  64u
#define WORST_MANY 4096u /* rfr.spray_flows at most */
/* Calls of "a tick when one move is due": so many deadlines come one after the other. */
#define WORST_ONE_BY_ONE (WORST_FEW / 2)

enum worst_kind { WORST_PACKET, WORST_ACTION, WORST_TICK };

struct worst {
	const char *name;
	enum worst_kind kind;
	/* The input with so many agreements or moves, and what the longest call of it took. */
	uint64_t (*run)(uint32_t n);
	/* What the calls with WORST_MANY may take more than those with WORST_FEW, in steps; 0: it
	 * grows with their number (docs/internals/bounded-work.md) */
	uint32_t slack;
};

extern const struct worst worst_cases[];
extern const unsigned worst_n;
extern uint32_t worst_flows; /* max_flows of each engine */

/* A NAK where all agreements name one queue pair of a peer. */
uint64_t worst_chain(void);

/* Calls of hp3_tick() until flows age while thousands of moves are due; until all is done. */
uint32_t worst_turns(uint32_t *all);

/* The program's: steps, or ns. */
uint64_t worst_count(void);
/* The program's: one of the calls of a row that makes several took so long. Each run makes the same
 * ones. */
void worst_call(uint64_t took);
void worst_end(void);

#endif
