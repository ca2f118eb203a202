/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The inputs that take the engine longest: packets, commands, and calls of hp3_tick(), with a given
 * number of agreements (to spray queue pairs) and moves. unit/engine_steps counts basic blocks with
 * few and with many of these; bench/worst_bench.c measures time.
 */
#include <stdint.h>

#define WORST_FEW  64u
#define WORST_MANY 4096u /* rfr.spray_flows at most */
/* Number of calls in "a tick when one move is due": so many deadlines expire one after the
 * other. */
#define WORST_ONE_BY_ONE (WORST_FEW / 2)

enum worst_kind { WORST_PACKET, WORST_ACTION, WORST_TICK };

struct worst {
	const char *name;
	enum worst_kind kind;
	/* Runs the input with n agreements or moves. Returns the steps or time of the longest
	 * call. */
	uint64_t (*run)(uint32_t n);
	/* How many steps more the input may take with WORST_MANY than with WORST_FEW; 0: no limit,
	 * the steps grow with the number (docs/internals/bounded-work.md) */
	uint32_t slack;
};

extern const struct worst worst_cases[];
extern const unsigned worst_n;
extern uint32_t worst_flows; /* max_flows of each engine */

/* A NAK, while all agreements are about one queue pair of a peer. */
uint64_t worst_chain(void);

/* Returns the number of calls of hp3_tick() until flows age, while thousands of moves are due.
 * *all: until all work is done. */
uint32_t worst_turns(uint32_t *all);

/* Defined by the program: its counter of steps, or of ns. */
uint64_t worst_count(void);
/* Defined by the program: records how long one call took, in inputs that make several calls. Each
 * run makes the same calls. */
void worst_call(uint64_t took);
void worst_end(void);
