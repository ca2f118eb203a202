/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The largest number of steps of one engine call (docs/internals/bounded-work.md). A step is a
 * basic block: this library is compiled so that each calls __sanitizer_cov_trace_pc(), so no loop
 * can be left out. Each of worst.c's rows is counted with few and with the largest number of
 * agreements and moves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "worst.h"

/* Basic blocks: some 50 us. */
#define PIECE 20000u

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;
static uint32_t calls; /* that a row has shown */

void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

uint64_t worst_count(void)
{
	return steps;
}

void worst_call(uint64_t took)
{
	calls++;
}

static void no_call_grows_with_what_there_is(void **state)
{
	for (unsigned i = 0; i < worst_n; i++) {
		const struct worst *w = &worst_cases[i];
		uint64_t few = w->run(WORST_FEW), many = w->run(WORST_MANY);

		print_message("%s: %lu steps with %u, %lu with %u\n", w->name, (unsigned long)few,
			WORST_FEW, (unsigned long)many, WORST_MANY);
		if (w->slack != 0)
			assert_in_range(many, 0, few + w->slack);
		if (w->kind == WORST_TICK)
			assert_in_range(many, 0, PIECE);
	}
}

static uint64_t steps_of(const char *name)
{
	for (unsigned i = 0; i < worst_n; i++)
		if (strcmp(worst_cases[i].name, name) == 0)
			return worst_cases[i].run(WORST_FEW);
	fail_msg("no row %s", name);
	return 0;
}

/* One is held 2,046 PSNs ahead, and packets come in order; a READ takes all PSNs between. */
static void a_packet_does_not_walk_over_psns(void **state)
{
	uint64_t near = steps_of("in order, held next to it");

	assert_in_range(steps_of("in order, another one held 2,046 PSNs ahead"), 0, near + 20);
	assert_in_range(steps_of("a READ of 2,045 PSNs before a held packet"), 0, near + 40);
}

/* Calls in which no move is due are not among those of the row that names one. */
static void one_move_is_due_in_each_call(void **state)
{
	for (uint32_t flows = worst_flows, i = 0; i < 2; i++, worst_flows = flows) {
		worst_flows *= i == 0 ? 1 : 8;
		calls = 0;
		steps_of("a tick when one move is due");
		assert_int_equal(calls, WORST_ONE_BY_ONE);
	}
}

/* However many packets are held behind a gap: one that closes it hands over a piece. */
static void a_gap_closes_in_pieces(void **state)
{
	uint64_t near = steps_of("in order, held next to it");

	assert_in_range(
		steps_of("a packet that closes a gap before 2,046 held ones"), 0, near + 32 * 24);
	assert_in_range(
		steps_of("a tick that hands over what is behind a gap"), 0, near + 256 * 24);
}

/* Ageing passes over the table in pieces of one size, however large it is. */
static void ageing_does_not_grow_with_the_table(void **state)
{
	uint64_t small = steps_of("a tick that ages flows"), large;

	worst_flows *= 8;
	large = steps_of("a tick that ages flows");
	worst_flows /= 8;
	print_message("ageing: %lu steps with %u flows, %lu with eight times as many\n",
		(unsigned long)small, worst_flows, (unsigned long)large);
	assert_in_range(large, 0, small + small / 8);
}

static void a_peer_makes_no_chains(void **state)
{
	assert_in_range(worst_chain(), 0, steps_of("a NAK of the local RNIC") + 20);
}

/* Moves that are due do not keep ageing waiting: pieces take turns. */
static void pieces_take_turns(void **state)
{
	uint32_t all, aged = worst_turns(&all);

	print_message("flows age in call %u of %u\n", aged, all);
	assert_in_range(all, 128, 999999);
	assert_in_range(aged, 1, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_call_grows_with_what_there_is),
		cmocka_unit_test(a_packet_does_not_walk_over_psns),
		cmocka_unit_test(one_move_is_due_in_each_call),
		cmocka_unit_test(a_gap_closes_in_pieces),
		cmocka_unit_test(ageing_does_not_grow_with_the_table),
		cmocka_unit_test(a_peer_makes_no_chains),
		cmocka_unit_test(pieces_take_turns),
	};
	int failed = cmocka_run_group_tests_name("steps", tests, NULL, NULL);

	worst_end();
	return failed;
}
