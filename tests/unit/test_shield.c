/* SPDX-License-Identifier: BSD-3-Clause */
/* The shield: CNPs of the old path are not charged to the new one. Slow-down by CNPs of ours. */
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

static const struct hp3_slow_params slow = {.max_cnps = 4, .interval = 4};

static void as_many_cnps_as_halvings_fit(void **state)
{
	struct hp3_slow s = {0};

	assert_int_equal(hp3_slow_ask(&s, &slow, 100, 100), 0);
	assert_int_equal(hp3_slow_ask(&s, &slow, 100, 120), 0);
	assert_int_equal(hp3_slow_ask(&s, &slow, 100, 99), 1);
	assert_int_equal(hp3_slow_ask(&s, &slow, 100, 50), 1);
	assert_int_equal(hp3_slow_ask(&s, &slow, 100, 26), 1);
	assert_int_equal(hp3_slow_ask(&s, &slow, 100, 25), 2);
	assert_int_equal(hp3_slow_ask(&s, &slow, 1600, 100), 4);
	assert_int_equal(hp3_slow_ask(&s, &slow, 100000, 1), 4); /* max_cnps */
	assert_int_equal(hp3_slow_ask(&s, &slow, 100000, 0), 4);
}

static void one_cnp_per_interval(void **state)
{
	struct hp3_slow s = {0};

	assert_int_equal(hp3_slow_ask(&s, &slow, 400, 100), 2);
	assert_true(hp3_slow_due(&s, &slow, 1000));
	assert_false(hp3_slow_due(&s, &slow, 1000));
	assert_int_equal(s.next, 5000);
	assert_false(hp3_slow_due(&s, &slow, 4999));
	/* a new request replaces the rest but not the interval */
	assert_int_equal(hp3_slow_ask(&s, &slow, 1600, 100), 4);
	assert_false(hp3_slow_due(&s, &slow, 4999));
	for (uint64_t t = 5000; t <= 17000; t += 4000)
		assert_true(hp3_slow_due(&s, &slow, t));
	assert_false(hp3_slow_due(&s, &slow, 1000000));
}

static void a_withdrawn_request_hands_out_nothing(void **state)
{
	struct hp3_slow s = {0};

	assert_int_equal(hp3_slow_ask(&s, &slow, 400, 100), 2);
	assert_int_equal(hp3_slow_ask(&s, &slow, 400, 400), 0);
	assert_false(hp3_slow_due(&s, &slow, 0));
}

static void rule_05_switched_off_no_rnic_gets_a_cnp(void **state)
{
	struct hp3_slow_params off = {.interval = 4};
	struct hp3_slow s = {0};

	assert_int_equal(hp3_slow_ask(&s, &off, 1000, 1), 0);
	assert_false(hp3_slow_due(&s, &off, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_switch_every_cnp_passes),
		cmocka_unit_test(stale_cnps_are_consumed_for_one_round_trip),
		cmocka_unit_test(the_first_reply_from_the_new_port_ends_the_window),
		cmocka_unit_test(psns_are_compared_modulo_2_24),
		cmocka_unit_test(after_a_dead_path_only_time_ends_the_window),
		cmocka_unit_test(as_many_cnps_as_halvings_fit),
		cmocka_unit_test(one_cnp_per_interval),
		cmocka_unit_test(a_withdrawn_request_hands_out_nothing),
		cmocka_unit_test(rule_05_switched_off_no_rnic_gets_a_cnp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
