/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate that a path would give a long flow, and the part of it that the flow must earn
 * (cc/share.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cc/share.h"

#define US    1000u
#define RTT   (10 * US)
#define CYCLE (HP3_SHARE_CYCLE * RTT)
#define GBPS  1000000000ull

static const struct hp3_share_params params = {
	.on = true, .floor = 80, .cycles = 2, .rtt = 150, .long_bytes = 100000};

static struct hp3_share s;
static uint64_t now;
static uint32_t losses;

static int begin(void **state)
{
	s = (struct hp3_share){0};
	now = 1000 * US;
	losses = 0;
	hp3_share_acked(&s, &params, RTT, now);
	hp3_share_timed(&s, &params, RTT, RTT);
	return 0;
}

static void acked(void)
{
	losses += hp3_share_acked(&s, &params, RTT, now);
}

/* What a flow of this rate is lifted to. */
static uint64_t lift(uint64_t share, uint64_t rate)
{
	return hp3_share_lift(&s, &params, share, rate, RTT);
}

/* A cycle in which the flow was helped, and was marked or not. */
static void cycle(bool marked)
{
	hp3_share_timed(&s, &params, RTT, RTT);
	lift(100 * GBPS, 1);
	if (marked)
		hp3_share_marked(&s);
	now += CYCLE;
	acked();
}

static uint64_t granted(uint64_t share)
{
	return hp3_share_granted(&s, &params, share, RTT);
}

static void a_link_is_shared_by_its_flows(void **state)
{
	assert_true(hp3_share_of(100 * GBPS, 4) == 25 * GBPS);
	assert_true(hp3_share_of(100 * GBPS, 0) == 0); /* nobody knows */
}

static void a_rate_is_lifted_to_what_is_granted_and_no_higher(void **state)
{
	assert_in_range(granted(25 * GBPS), 20 * GBPS - 1024, 20 * GBPS);
	assert_true(lift(25 * GBPS, 19 * GBPS) == granted(25 * GBPS));
	hp3_share_timed(&s, &params, RTT, RTT);
	assert_true(lift(25 * GBPS, 20 * GBPS) == 0);
	assert_true(lift(0, GBPS) == 0);
}

/* All who share a link find it empty at the same moment. */
static void a_rate_is_lifted_by_one_step_with_each_round_trip(void **state)
{
	uint64_t step = granted(100 * GBPS) / 8;

	assert_true(lift(100 * GBPS, GBPS) == GBPS + step);
	assert_true(lift(100 * GBPS, GBPS + step) == 0);
	hp3_share_timed(&s, &params, RTT, RTT);
	assert_true(lift(100 * GBPS, GBPS + step) == GBPS + 2 * step);
	hp3_share_timed(&s, &params, 2 * RTT, RTT);
	assert_true(lift(100 * GBPS, GBPS + 2 * step) == 0);
}

static void nothing_is_granted_before_a_round_trip_was_seen(void **state)
{
	struct hp3_share fresh = {0};

	assert_true(hp3_share_granted(&fresh, &params, GBPS, RTT) == 0);
	assert_true(hp3_share_granted(&s, &params, GBPS, 0) == 0);
}

static void a_queue_that_stands_ends_all_help(void **state)
{
	hp3_share_timed(&s, &params, RTT + RTT / 2, RTT);
	assert_true(granted(25 * GBPS) != 0);
	hp3_share_timed(&s, &params, RTT + RTT / 2 + 1, RTT);
	assert_true(granted(25 * GBPS) == 0);
	hp3_share_timed(&s, &params, RTT, RTT);
	assert_true(granted(25 * GBPS) != 0);
}

static void who_is_congested_with_it_is_granted_less(void **state)
{
	uint64_t all = granted(16 * GBPS);

	cycle(true);
	assert_true(granted(16 * GBPS) == all); /* once is DCQCN's */
	cycle(true);
	assert_int_equal(losses, 1);
	assert_in_range(granted(16 * GBPS), all * 3 / 4 - 1024, all * 3 / 4 + 1024);
	cycle(true);
	cycle(false); /* not in a row */
	cycle(true);
	assert_int_equal(losses, 1);
}

/* Round trips that are too long say the same as marks. */
static void slow_round_trips_count_as_marks(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		hp3_share_timed(&s, &params, RTT, RTT);
		lift(100 * GBPS, 1);
		hp3_share_timed(&s, &params, 2 * RTT, RTT);
		now += CYCLE;
		acked();
	}
	assert_int_equal(losses, 1);
}

/* Counts that are far too low, for good: what is granted falls until nothing is left to speak of.
 */
static void rule_32_wrong_counts_are_no_licence(void **state)
{
	uint64_t before = granted(100 * GBPS);

	for (unsigned i = 0; i < 64; i++)
		cycle(true);
	assert_true(granted(100 * GBPS) * 60 < before);
	for (unsigned i = 0; i < 8; i++)
		cycle(false);
	assert_in_range(granted(100 * GBPS), before / 9, before / 7); /* 8/64, to be earned */
	for (unsigned i = 0; i < 64; i++)
		cycle(false);
	assert_true(granted(100 * GBPS) == before);
}

static void who_was_not_helped_loses_nothing(void **state)
{
	for (unsigned i = 0; i < 8; i++) {
		hp3_share_marked(&s);
		now += CYCLE;
		acked();
	}
	assert_int_equal(losses, 0);
}

/* Who is so slow that cycles pass between two acknowledgements is judged by each of them. */
static void rare_acknowledgements_judge_too(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		hp3_share_timed(&s, &params, RTT, RTT);
		lift(100 * GBPS, 1);
		hp3_share_marked(&s);
		now += 5 * CYCLE;
		acked();
	}
	assert_int_equal(losses, 1);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_shared_by_its_flows),
		cmocka_unit_test(a_rate_is_lifted_to_what_is_granted_and_no_higher),
		cmocka_unit_test(a_rate_is_lifted_by_one_step_with_each_round_trip),
		cmocka_unit_test(nothing_is_granted_before_a_round_trip_was_seen),
		cmocka_unit_test(a_queue_that_stands_ends_all_help),
		cmocka_unit_test(who_is_congested_with_it_is_granted_less),
		cmocka_unit_test(slow_round_trips_count_as_marks),
		cmocka_unit_test(rule_32_wrong_counts_are_no_licence),
		cmocka_unit_test(who_was_not_helped_loses_nothing),
		cmocka_unit_test(rare_acknowledgements_judge_too),
	};

	for (unsigned i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tests[i].setup_func = begin;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
