/* SPDX-License-Identifier: BSD-3-Clause */
/* The shield: CNPs of the old path do not count for the new one. CNPs that wait for the result of a
 * search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cc/shield.h"

static void without_a_switch_every_cnp_passes(void **state)
{
	struct hp3_shield s = {0};

	assert_int_equal(hp3_shield_cnp(&s, 0), HP3_CNP_PASS);
	hp3_shield_reply(&s, 5);
	assert_int_equal(hp3_shield_cnp(&s, UINT64_MAX), HP3_CNP_PASS);
}

static void stale_cnps_are_consumed_for_one_round_trip(void **state)
{
	struct hp3_shield s = {0};

	hp3_shield_switch(&s, 100, true, 8000, 1000);
	assert_int_equal(hp3_shield_cnp(&s, 1000), HP3_CNP_CONSUME);
	assert_int_equal(hp3_shield_cnp(&s, 8999), HP3_CNP_CONSUME);
	assert_int_equal(hp3_shield_cnp(&s, 9000), HP3_CNP_PASS);
}

/* The first reply to a packet of the new port: whatever comes behind it speaks of the new path. */
static void the_first_reply_from_the_new_port_ends_the_window(void **state)
{
	struct hp3_shield s = {0};

	hp3_shield_switch(&s, 100, true, 8000, 0);
	hp3_shield_reply(&s, 99); /* a late duplicate of the drain's last ACK */
	assert_int_equal(hp3_shield_cnp(&s, 10), HP3_CNP_CONSUME);
	hp3_shield_reply(&s, 100);
	assert_int_equal(hp3_shield_cnp(&s, 11), HP3_CNP_PASS);
	/* the next switch opens the next window */
	hp3_shield_switch(&s, 200, true, 8000, 20);
	assert_int_equal(hp3_shield_cnp(&s, 21), HP3_CNP_CONSUME);
}

static void psns_are_compared_modulo_2_24(void **state)
{
	struct hp3_shield s = {0};

	hp3_shield_switch(&s, 0, true, 8000, 0);
	hp3_shield_reply(&s, 0xffffff);
	assert_int_equal(hp3_shield_cnp(&s, 1), HP3_CNP_CONSUME);
	hp3_shield_reply(&s, 3);
	assert_int_equal(hp3_shield_cnp(&s, 1), HP3_CNP_PASS);

	hp3_shield_switch(&s, 0xfffffe, true, 8000, 0);
	hp3_shield_reply(&s, 0xfffffd);
	assert_int_equal(hp3_shield_cnp(&s, 1), HP3_CNP_CONSUME);
	hp3_shield_reply(&s, 2);
	assert_int_equal(hp3_shield_cnp(&s, 1), HP3_CNP_PASS);
}

/* A dead path was not drained: packets on it may still be marked after replies from the new one. */
static void after_a_dead_path_only_time_ends_the_window(void **state)
{
	struct hp3_shield s = {0};

	hp3_shield_switch(&s, 100, false, 8000, 0);
	hp3_shield_reply(&s, 150);
	assert_int_equal(hp3_shield_cnp(&s, 7999), HP3_CNP_CONSUME);
	assert_int_equal(hp3_shield_cnp(&s, 8000), HP3_CNP_PASS);
}

/* --- CNPs that wait for what a search finds --- */

static void rule_30_who_stays_is_owed_one_cnp(void **state)
{
	struct hp3_withheld w = {0};

	assert_int_equal(hp3_withheld_cnp(&w, 1, 0), HP3_CNP_PASS);
	assert_false(hp3_withheld_end(&w, false));
	w.until = 1000;
	assert_int_equal(hp3_withheld_cnp(&w, 1, 100), HP3_CNP_CONSUME);
	assert_int_equal(hp3_withheld_cnp(&w, 2, 999), HP3_CNP_CONSUME);
	assert_int_equal(hp3_withheld_cnp(&w, 3, 1000), HP3_CNP_PASS);
	assert_true(hp3_withheld_end(&w, false));
	assert_int_equal(w.pkey, 2);
	assert_false(hp3_withheld_end(&w, false)); /* all of them once */
}

static void rule_30_who_leaves_is_owed_none(void **state)
{
	struct hp3_withheld w = {0};

	w.until = 1000;
	assert_int_equal(hp3_withheld_cnp(&w, 1, 100), HP3_CNP_CONSUME);
	w.until = UINT64_MAX; /* the drain */
	assert_int_equal(hp3_withheld_cnp(&w, 1, 5000), HP3_CNP_CONSUME);
	assert_false(hp3_withheld_end(&w, true));
	assert_int_equal(hp3_withheld_cnp(&w, 1, 5001), HP3_CNP_PASS);
	assert_false(hp3_withheld_end(&w, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_switch_every_cnp_passes),
		cmocka_unit_test(stale_cnps_are_consumed_for_one_round_trip),
		cmocka_unit_test(the_first_reply_from_the_new_port_ends_the_window),
		cmocka_unit_test(psns_are_compared_modulo_2_24),
		cmocka_unit_test(after_a_dead_path_only_time_ends_the_window),
		cmocka_unit_test(rule_30_who_stays_is_owed_one_cnp),
		cmocka_unit_test(rule_30_who_leaves_is_owed_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
