/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of an agreement to spray a queue pair (rfr/spraying.h): all states and inputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "rfr/spraying.h"

static struct hp3_spray_step step(unsigned state, unsigned input)
{
	return hp3_spray_step((enum hp3_spray_state)state, (enum hp3_spray_input)input);
}

/* Only a message of the peer begins it, and only what has arrived lets it go on. */
static void rule_35_nothing_else_begins_it(void **state)
{
	for (unsigned s = 0; s < HP3_SPRAY_STATE_MAX; s++)
		for (unsigned i = 0; i < HP3_SPRAY_IN_MAX; i++) {
			if (s == HP3_SPRAY_SPRAYING || step(s, i).next != HP3_SPRAY_SPRAYING)
				continue;
			assert_true((s == HP3_SPRAY_ASKING && i == HP3_SPRAY_IN_YES) ||
				    (s == HP3_SPRAY_NARROW && i == HP3_SPRAY_IN_CAUGHT_UP));
		}
}

/* The peer is told that it is over when it is, and not before; one that was asked is told always.
 */
static void rule_35_the_end_is_told(void **state)
{
	for (unsigned s = 0; s < HP3_SPRAY_STATE_MAX; s++)
		for (unsigned i = 0; i < HP3_SPRAY_IN_MAX; i++) {
			bool ends = s != HP3_SPRAY_SINGLE && step(s, i).next == HP3_SPRAY_SINGLE;

			assert_int_equal(step(s, i).action == HP3_SPRAY_DO_END, ends);
		}
}

/* What leaves by several paths is never simply forgotten: it is idle, or it is waited for. */
static void rule_35_what_travels_is_waited_for(void **state)
{
	for (unsigned i = 0; i < HP3_SPRAY_IN_MAX; i++) {
		if (step(HP3_SPRAY_SPRAYING, i).next == HP3_SPRAY_SINGLE)
			assert_int_equal(i, HP3_SPRAY_IN_IDLE);
		if (step(HP3_SPRAY_NARROW, i).next == HP3_SPRAY_SINGLE)
			assert_int_equal(i, HP3_SPRAY_IN_IDLE);
	}
	assert_int_equal(step(HP3_SPRAY_SPRAYING, HP3_SPRAY_IN_NO).action, HP3_SPRAY_DO_DRAIN);
	assert_int_equal(step(HP3_SPRAY_SPRAYING, HP3_SPRAY_IN_FULL).action, HP3_SPRAY_DO_DRAIN);
}

/* From everywhere one path is reached, whatever the peer does: by silence alone, or by the policy.
 */
static void rule_35_there_is_always_an_end(void **state)
{
	const uint8_t ways[2][3] = {
		{HP3_SPRAY_IN_SILENT, HP3_SPRAY_IN_LOST, HP3_SPRAY_IN_CAUGHT_UP},
		{HP3_SPRAY_IN_STOP, HP3_SPRAY_IN_CAUGHT_UP, HP3_SPRAY_IN_CAUGHT_UP}};

	for (unsigned way = 0; way < 2; way++)
		for (unsigned s = 0; s < HP3_SPRAY_STATE_MAX; s++) {
			unsigned now = s;

			for (unsigned i = 0; i < 3 && now != HP3_SPRAY_SINGLE; i++)
				now = step(now, ways[way][i]).next;
			if (s == HP3_SPRAY_NARROW && way == 0)
				now = step(now, HP3_SPRAY_IN_CAUGHT_UP).next;
			assert_int_equal(now, HP3_SPRAY_SINGLE);
		}
}

static void states_have_names(void **state)
{
	assert_string_equal(hp3_spray_state_name(HP3_SPRAY_NARROW), "narrow");
	assert_string_equal(hp3_spray_state_name(HP3_SPRAY_STATE_MAX), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_35_nothing_else_begins_it),
		cmocka_unit_test(rule_35_the_end_is_told),
		cmocka_unit_test(rule_35_what_travels_is_waited_for),
		cmocka_unit_test(rule_35_there_is_always_an_end),
		cmocka_unit_test(states_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
