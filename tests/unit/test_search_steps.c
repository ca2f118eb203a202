/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of a move and of its search, driven together: every state that both can reach by any
 * inputs in any order. A search probes only where answers can be used, and does nothing if the move
 * is not its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "engine/search/begin_end.h"
#include "tests/search_fits.h"

#define PAIRS (HP3_SEARCH_KIND_MAX * HP3_RFR_STATE_MAX * HP3_SEARCH_STATE_MAX)

struct both {
	uint8_t kind, move, search;
};

static struct both todo[PAIRS];
static bool seen[HP3_SEARCH_KIND_MAX][HP3_RFR_STATE_MAX][HP3_SEARCH_STATE_MAX];
static unsigned ntodo;

static void meet(struct both b)
{
	if (seen[b.kind][b.move][b.search])
		return;
	seen[b.kind][b.move][b.search] = true;
	todo[ntodo++] = b;
}

static bool ends(uint8_t action)
{
	return action == HP3_RFR_DO_SWITCH || action == HP3_RFR_DO_RECOVER ||
	       action == HP3_RFR_DO_DISCARD || action == HP3_RFR_DO_SUPERSEDE ||
	       action == HP3_RFR_DO_RESUME;
}

/* What hp3_move_input() does to both; input must mean something if `must`. */
static struct both move_input(struct both b, enum hp3_rfr_input input, bool must)
{
	struct hp3_rfr_step step = hp3_rfr_step(b.move, input);

	if (must && step.next == b.move && step.action == HP3_RFR_DO_NONE)
		fail_msg("%s means nothing in %s", hp3_rfr_input_name(input),
			hp3_rfr_state_name(b.move));
	b.move = step.next;
	if (ends(step.action))
		b.search = hp3_search_step(b.kind, b.search, HP3_SEARCH_IN_OVER).next;
	return b;
}

/* What hp3_search_input() does; a wish to move is one of three. */
static void search_input(struct both b, enum hp3_search_input input)
{
	static const uint8_t wishes[] = {
		HP3_RFR_IN_MOVE, HP3_RFR_IN_MOVE_IDLE, HP3_RFR_IN_MOVE_CLOSED};
	struct hp3_search_step step = hp3_search_step(b.kind, b.search, input);

	if (!step.known)
		return;
	b.search = step.next;
	if (step.move == HP3_RFR_IN_MOVE) {
		for (unsigned i = 0; i < sizeof(wishes); i++)
			meet(move_input(b, wishes[i], true));
	} else if (step.move != HP3_RFR_IN_NONE) {
		meet(move_input(b, step.move, true));
	} else {
		meet(b);
	}
}

/* Inputs of the move that only its search gives. */
static bool is_of_search(enum hp3_rfr_input in)
{
	return in == HP3_RFR_IN_MOVE || in == HP3_RFR_IN_MOVE_IDLE ||
	       in == HP3_RFR_IN_MOVE_CLOSED || in == HP3_RFR_IN_SEARCH ||
	       in == HP3_RFR_IN_MESSAGE_START || in == HP3_RFR_IN_DEAD || in == HP3_RFR_IN_WON ||
	       in == HP3_RFR_IN_NO_BETTER || in == HP3_RFR_IN_ASK;
}

/* Behind the drain the search asks at once, or has nobody to ask. */
static void ask_behind_drain(struct both b)
{
	b = move_input(b, HP3_RFR_IN_ASK, true);
	search_input(b, HP3_SEARCH_IN_BEGUN);
	search_input(b, HP3_SEARCH_IN_STAY);
}

static void go_on(struct both b)
{
	bool is_own = b.search != HP3_SEARCH_QUIET || b.move == HP3_RFR_STEADY;

	for (int in = 0; is_own && in < HP3_SEARCH_IN_MAX; in++) {
		bool drains_first = b.kind == HP3_SEARCH_BEHIND_DRAIN && b.move == HP3_RFR_STEADY &&
				    in != HP3_SEARCH_IN_GO;

		if (in != HP3_SEARCH_IN_OVER && !drains_first)
			search_input(b, in);
	}
	for (int in = 0; b.move != HP3_RFR_STEADY && in < HP3_RFR_IN_MAX; in++) {
		if (!is_of_search(in))
			meet(move_input(b, in, false));
	}
	if (b.kind == HP3_SEARCH_BEHIND_DRAIN && b.move == HP3_RFR_DRAINING)
		ask_behind_drain(b);
}

static void walk(void)
{
	memset(seen, 0, sizeof(seen));
	ntodo = 0;
	for (uint8_t kind = 0; kind < HP3_SEARCH_KIND_MAX; kind++)
		meet((struct both){
			.kind = kind, .move = HP3_RFR_STEADY, .search = HP3_SEARCH_QUIET});
	for (unsigned i = 0; i < ntodo; i++)
		go_on(todo[i]);
}

static void asks_where_answers_can_be_used(void **state)
{
	walk();
	for (unsigned i = 0; i < ntodo; i++) {
		const struct both *b = &todo[i];

		if (!hp3_search_fits(b->kind, b->search, b->move))
			fail_msg("a move of kind %u in %s, its search in state %u", b->kind,
				hp3_rfr_state_name(b->move), b->search);
	}
}

/* What was found is no empty set: the states are as many as there should be. */
static void all_states_are_met(void **state)
{
	unsigned asking[HP3_SEARCH_KIND_MAX] = {0}, moves[HP3_RFR_STATE_MAX] = {0};

	walk();
	for (unsigned i = 0; i < ntodo; i++) {
		asking[todo[i].kind] += todo[i].search != HP3_SEARCH_QUIET;
		moves[todo[i].move]++;
	}
	assert_int_equal(asking[HP3_SEARCH_OPERATOR], 0);
	assert_int_equal(asking[HP3_SEARCH_ADVISED], 1);
	assert_int_equal(asking[HP3_SEARCH_CONGESTED], 2);
	assert_int_equal(asking[HP3_SEARCH_BEHIND_DRAIN], 1);
	assert_int_equal(asking[HP3_SEARCH_SETUP], 2);
	assert_int_equal(asking[HP3_SEARCH_MESSAGE_START], 1);
	assert_int_equal(asking[HP3_SEARCH_DEAD], 2);
	assert_int_equal(moves[HP3_RFR_STEADY], HP3_SEARCH_KIND_MAX);
	assert_int_equal(moves[HP3_RFR_RESUMING], 1);
	assert_int_equal(moves[HP3_RFR_CLOSING], 4);
	assert_int_equal(moves[HP3_RFR_DRAINING], 4);
}

/* Whatever a search waits for, the end of the move ends it. */
static void the_end_of_the_move_ends_it(void **state)
{
	for (int kind = 0; kind < HP3_SEARCH_KIND_MAX; kind++) {
		for (int st = 0; st < HP3_SEARCH_STATE_MAX; st++) {
			struct hp3_search_step step = hp3_search_step(kind, st, HP3_SEARCH_IN_OVER);

			if (hp3_search_step(kind, st, HP3_SEARCH_IN_STAY).known)
				assert_int_equal(step.next, HP3_SEARCH_QUIET);
			assert_int_equal(step.move, HP3_RFR_IN_NONE);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_where_answers_can_be_used),
		cmocka_unit_test(all_states_are_met),
		cmocka_unit_test(the_end_of_the_move_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
