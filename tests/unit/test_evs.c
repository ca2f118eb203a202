/* SPDX-License-Identifier: BSD-3-Clause */
/* The EVs of a sprayed queue pair (rfr/spread.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
#include "rfr/spread.h"

#define US        1000ull
#define ALL       8u
#define ALL_TRIED UINT64_MAX

static const struct hp3_spread_params params = {
	.evs = ALL, .alike = 150, .differ = 25, .late_ns = 5 * US, .rest_ns = 100 * US};

static struct hp3_spread s;
static struct hp3_lateness l;
static uint64_t now, rng;

static int begin(void **state)
{
	s = (struct hp3_spread){0};
	l = (struct hp3_lateness){0};
	now = 5000 * US;
	rng = 1;
	return 0;
}

/* The EVs that 200 packets take, one bit each. */
static uint64_t taken(void)
{
	uint64_t evs = 0;

	for (unsigned i = 0; i < 200; i++)
		evs |= 1ull << hp3_spread_ev(&s, &params, false, hp3_random(&rng) >> 32, now);
	return evs;
}

/* A probe of the EV takes so long. */
static void answers(uint32_t ev, uint32_t rtt)
{
	hp3_spread_probed(&s, &params, ev, now);
	hp3_spread_answered(&s, &params, ev, rtt, now);
}

static void all_evs_are_used_alike(void **state)
{
	unsigned n[ALL] = {0};

	for (unsigned i = 0; i < 8000; i++)
		n[hp3_spread_ev(&s, &params, false, hp3_random(&rng) >> 32, now)]++;
	for (unsigned i = 0; i < ALL; i++)
		assert_in_range(n[i], 850, 1150);
}

static void all_64_can_be_used(void **state)
{
	struct hp3_spread_params most = params;
	uint64_t evs = 0;

	most.evs = HP3_EVS_MAX;
	for (unsigned i = 0; i < 4000; i++)
		evs |= 1ull << hp3_spread_ev(&s, &most, false, hp3_random(&rng) >> 32, now);
	assert_true(evs == UINT64_MAX);
}

static void slow_evs_rest_for_longer_each_time(void **state)
{
	for (unsigned i = 0; i < 5; i++) {
		hp3_spread_rest(&s, &params, 0x81, now);
		assert_true(taken() == 0x7e);
		hp3_spread_rest(&s, &params, 0x81, now); /* told twice is told once */
		now += (100 * US << i) - 1;
		assert_true(taken() == 0x7e);
		now++;
		assert_true(taken() == 0xff);
	}
	now += 4 * (100 * US << 5) + 1; /* well for long */
	hp3_spread_rest(&s, &params, 0x81, now);
	now += 100 * US;
	assert_true(taken() == 0xff);
}

static void evs_rest_each_for_itself(void **state)
{
	hp3_spread_rest(&s, &params, 1, now);
	now += 50 * US;
	hp3_spread_rest(&s, &params, 2, now);
	now += 50 * US;
	assert_true(taken() == 0xfd);
	now += 50 * US;
	assert_true(taken() == 0xff);
}

static void one_ev_always_stays(void **state)
{
	hp3_spread_rest(&s, &params, 0xff, now);
	assert_true(taken() == 0x80);
	hp3_spread_rest(&s, &params, 0xff, now);
	assert_true(taken() == 0x80);
	hp3_spread_rest(&s, &params, ~0xffull, now); /* of EVs that are not in use */
	assert_true(taken() == 0x80);
}

static void who_answers_soon_enough_is_used(void **state)
{
	answers(5, 16 * US);
	answers(2, 10 * US);
	answers(3, 15 * US);
	assert_false(hp3_spread_choose(&s, &params, now)); /* by no more than queues are */
	assert_true(taken() == 0x0c); /* many are slow: what is not known is not used */
	now += 100 * US;
	assert_true(taken() == 0xff);
}

static void one_that_is_slow_rests(void **state)
{
	for (uint32_t i = 0; i < 5; i++)
		answers(i, i == 1 ? UINT32_MAX : 10 * US);
	hp3_spread_choose(&s, &params, now);
	assert_true(taken() == 0xfd);
	hp3_spread_choose(&s, &params, now); /* what was said is used up */
	assert_true(taken() == 0xfd);
}

/* All queue pairs of a simulation may be set up at time 0. */
static void probes_at_time_0_count(void **state)
{
	now = 0;
	for (uint32_t i = 0; i < 3; i++)
		hp3_spread_probed(&s, &params, i, now);
	now = 10 * US;
	for (uint32_t i = 0; i < 3; i++)
		hp3_spread_answered(&s, &params, i, i == 2 ? UINT32_MAX : 10 * US, now);
	hp3_spread_choose(&s, &params, now);
	assert_true(taken() == 0x03);
}

/* So far; for one that was asked just now it is too soon to tell. */
static void who_does_not_answer_is_slow(void **state)
{
	hp3_spread_probed(&s, &params, 0, now);
	for (uint32_t i = 1; i < 5; i++)
		answers(i, 10 * US);
	now += 16 * US;
	hp3_spread_probed(&s, &params, 5, now);
	hp3_spread_choose(&s, &params, now);
	assert_true(taken() == 0xfe);
}

static void far_slower_ones_are_no_queue(void **state)
{
	for (uint32_t i = 0; i < 3; i++)
		answers(i, 10 * US);
	answers(3, 46 * US);
	assert_true(hp3_spread_choose(&s, &params, now));
}

/* A mark is a queue: such EVs rest, and paths may be alike. */
static void marked_ones_are_no_difference(void **state)
{
	for (uint32_t i = 0; i < 5; i++)
		answers(i, i < 3 ? UINT32_MAX : 10 * US);
	assert_false(hp3_spread_choose(&s, &params, now));
	assert_true((taken() & 0x07) == 0);
}

/* Told of once, EVs may have had a queue; more than half of them again, and paths differ. */
static void who_is_told_of_again_differs(void **state)
{
	hp3_spread_rest(&s, &params, 0x1f, now);
	assert_false(hp3_spread_differs(&s, &params));
	now += params.rest_ns;
	assert_true(taken() == 0xff);
	hp3_spread_rest(&s, &params, 0x0f, now);
	assert_false(hp3_spread_differs(&s, &params));
	hp3_spread_rest(&s, &params, 0x10, now);
	assert_true(hp3_spread_differs(&s, &params));
}

/* After a rest, their first packets are in flight. */
static void a_report_just_after_a_rest_counts_for_nothing(void **state)
{
	hp3_spread_rest(&s, &params, 0x1f, now);
	now += params.rest_ns;
	hp3_spread_slow(&s, &params, 0x1f, ALL_TRIED, now);
	assert_true(taken() == 0xff);
	now += params.rest_ns / 2 - 1;
	hp3_spread_slow(&s, &params, 0x3f, ALL_TRIED, now);
	assert_true(taken() == 0xdf);
	now++;
	hp3_spread_slow(&s, &params, 0x1f, ALL_TRIED, now);
	assert_true(taken() == 0xc0);
}

/* The clock begins at 0: an EV that never rested is judged. */
static void a_report_counts_from_the_start(void **state)
{
	now = 0;
	hp3_spread_slow(&s, &params, 0x01, ALL_TRIED, now);
	assert_true(taken() == 0xfe);
}

/* No packet took these EVs since they rested, so none arrived. */
static void a_report_of_evs_not_tried_counts_for_nothing(void **state)
{
	uint64_t tried;

	answers(2, 10 * US);
	answers(3, 10 * US);
	answers(4, 20 * US);
	hp3_spread_choose(&s, &params, now);
	tried = hp3_spread_tried(&s, 0xff, 2);
	assert_true(tried == 0x0c);
	now += 10 * params.rest_ns;
	assert_true(taken() == 0xff);
	tried = hp3_spread_tried(&s, tried, 7);
	hp3_spread_slow(&s, &params, 0xf3, tried, now);
	assert_true(taken() == 0x7f);
}

/* A good answer ends the rest of an EV early. */
static void a_rest_that_ended_early_is_over(void **state)
{
	hp3_spread_rest(&s, &params, 0xff, now);
	answers(2, 10 * US);
	answers(3, 10 * US);
	answers(7, 20 * US);
	hp3_spread_choose(&s, &params, now);
	assert_true(taken() == 0x0c);
	now += params.rest_ns / 2 - 1;
	hp3_spread_slow(&s, &params, 0x04, ALL_TRIED, now);
	assert_true(taken() == 0x0c);
	now++;
	hp3_spread_slow(&s, &params, 0x04, ALL_TRIED, now);
	assert_true(taken() == 0x08);
}

/* EVs that were slow before rest now for another reason. */
static void only_rests_of_slow_evs_show_that_paths_differ(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		hp3_spread_rest(&s, &params, 0x1f, now);
		now += params.rest_ns << i;
		assert_true(taken() == 0xff);
	}
	answers(5, 10 * US);
	answers(6, 20 * US);
	hp3_spread_choose(&s, &params, now);
	assert_true(taken() == 0x20);
	assert_false(hp3_spread_differs(&s, &params));
	now += params.rest_ns;
	assert_true(taken() == 0xff);
	hp3_spread_rest(&s, &params, 0x1f, now);
	assert_true(hp3_spread_differs(&s, &params));
}

/* Rests for other reasons do not make an old slowness newer. */
static void slowness_ages_while_evs_rest_for_another_reason(void **state)
{
	hp3_spread_rest(&s, &params, 0x01, now);
	for (unsigned i = 0; i < 10; i++) {
		now += params.rest_ns;
		assert_true(taken() == 0xff);
		hp3_spread_marked(&s, &params, 0x01, now);
		assert_true(taken() == 0xfe);
	}
	now += params.rest_ns;
	assert_true(taken() == 0xff);
	hp3_spread_rest(&s, &params, 0x01, now);
	now += params.rest_ns;
	assert_true(taken() == 0xff);
}

static void old_answers_say_nothing(void **state)
{
	answers(2, 10 * US);
	answers(3, 20 * US);
	now += params.rest_ns + 1;
	hp3_spread_choose(&s, &params, now);
	assert_true(taken() == 0xff);
}

/* The only good EVs had been told to be slow. */
static void a_good_answer_is_taken_where_no_ev_is_left(void **state)
{
	hp3_spread_rest(&s, &params, 0x0c, now);
	answers(2, 10 * US);
	answers(5, 20 * US);
	hp3_spread_choose(&s, &params, now);
	assert_true(taken() == 0x04);
}

static void without_an_answer_all_are_used(void **state)
{
	hp3_spread_choose(&s, &params, now);
	assert_true(taken() == 0xff);
}

/* A round of packets, one by each EV but those left out; `late` by one of them. */
static void round_of(uint64_t out, uint32_t slow, uint64_t late)
{
	for (uint32_t i = 0; i < ALL; i++)
		if (!(out >> i & 1))
			hp3_lateness_seen(&l, i, i == slow ? late : 0, false, true);
}

static void an_ev_that_delays_others_is_reported(void **state)
{
	for (unsigned i = 0; i < 10; i++)
		round_of(0, 3, 4 * US);
	assert_true(hp3_lateness_slow(&l, &params) == 0);
	for (unsigned i = 0; i < 20; i++)
		round_of(0, 3, 12 * US);
	assert_true(hp3_lateness_slow(&l, &params) == 1u << 3);
	assert_true(hp3_lateness_slow(&l, &params) == 0); /* judged anew */
	for (unsigned i = 0; i < 20; i++)
		round_of(0, 3, 12 * US);
	assert_true(hp3_lateness_slow(&l, &params) == 1u << 3);
}

static void where_all_are_late_none_is_told(void **state)
{
	for (unsigned i = 0; i < 100; i++)
		for (uint32_t ev = 0; ev < ALL; ev++)
			hp3_lateness_seen(&l, ev, (15 + hp3_random(&rng) % 10) * US, false, true);
	assert_true(hp3_lateness_slow(&l, &params) == 0);
}

static void a_silent_ev_is_reported(void **state)
{
	for (unsigned i = 0; i < 15; i++)
		round_of(0x10, 0, 0);
	assert_true(hp3_lateness_slow(&l, &params) == 0);
	for (unsigned i = 0; i < 5; i++)
		round_of(0x10, 0, 0);
	assert_true(hp3_lateness_slow(&l, &params) == 0x10);
	for (unsigned i = 0; i < 15; i++)
		round_of(0x10, 0, 0);
	assert_true(hp3_lateness_slow(&l, &params) == 0);
}

/* While packets take one path, the other EVs are not silent. */
static void on_one_path_no_ev_is_silent(void **state)
{
	round_of(0, 0, 0);
	for (unsigned i = 0; i < 1000; i++)
		hp3_lateness_seen(&l, 3, 0, false, false);
	assert_true(hp3_lateness_slow(&l, &params) == 0);
}

/* So many packets by each EV; of those by `ev` all are marked, of the others every `other`th.
 */
static void marks_on(uint32_t ev, unsigned n, unsigned other)
{
	for (unsigned k = 0; k < n; k++)
		for (uint32_t i = 0; i < ALL; i++)
			hp3_lateness_seen(
				&l, i, 0, i == ev || (other != 0 && (k + i) % other == 0), true);
}

static void a_marked_ev_is_reported(void **state)
{
	marks_on(ALL, 64, 0);
	marks_on(3, 2, 0);
	assert_true(hp3_lateness_marked(&l, &params) == 0); /* so few tell nothing */
	marks_on(3, 1, 0);
	assert_true(hp3_lateness_suspects(&l, &params, 3, true));
	assert_true(hp3_lateness_slow(&l, &params) == 0);
	assert_true(hp3_lateness_marked(&l, &params) == 1u << 3);
	assert_true(hp3_lateness_marked(&l, &params) == 0); /* judged anew */
}

static void where_all_are_marked_none_is_told(void **state)
{
	marks_on(3, 400, 2);
	assert_true(hp3_lateness_marked(&l, &params) == 0);
	l = (struct hp3_lateness){0};
	marks_on(3, 400, 1);
	assert_true(hp3_lateness_marked(&l, &params) == 0);
}

static void marked_evs_rest_as_long_each_time(void **state)
{
	for (unsigned i = 0; i < 5; i++) {
		hp3_spread_marked(&s, &params, 0x03, now);
		assert_true(taken() == 0xfc);
		now += params.rest_ns;
		assert_true(taken() == 0xff);
	}
	assert_false(hp3_spread_differs(&s, &params));
}

static void half_of_the_evs_stay(void **state)
{
	hp3_spread_marked(&s, &params, 0xff, now);
	assert_true(taken() == 0xf0);
	hp3_spread_marked(&s, &params, 0xf0, now);
	assert_true(taken() == 0xf0);
}

/* A second answer of the best EV is worse: one EV is used nevertheless. */
static void an_ev_is_left_whatever_answers_say(void **state)
{
	answers(0, 10 * US);
	for (uint32_t i = 1; i < ALL; i++)
		answers(i, UINT32_MAX);
	answers(0, UINT32_MAX);
	hp3_spread_choose(&s, &params, now);
	for (unsigned i = 0; i < 200; i++)
		assert_in_range(
			hp3_spread_ev(&s, &params, false, hp3_random(&rng) >> 32, now), 0, ALL - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_evs_are_used_alike, begin),
		cmocka_unit_test_setup(all_64_can_be_used, begin),
		cmocka_unit_test_setup(slow_evs_rest_for_longer_each_time, begin),
		cmocka_unit_test_setup(evs_rest_each_for_itself, begin),
		cmocka_unit_test_setup(one_ev_always_stays, begin),
		cmocka_unit_test_setup(who_answers_soon_enough_is_used, begin),
		cmocka_unit_test_setup(one_that_is_slow_rests, begin),
		cmocka_unit_test_setup(probes_at_time_0_count, begin),
		cmocka_unit_test_setup(who_does_not_answer_is_slow, begin),
		cmocka_unit_test_setup(far_slower_ones_are_no_queue, begin),
		cmocka_unit_test_setup(marked_ones_are_no_difference, begin),
		cmocka_unit_test_setup(who_is_told_of_again_differs, begin),
		cmocka_unit_test_setup(a_report_just_after_a_rest_counts_for_nothing, begin),
		cmocka_unit_test_setup(a_report_counts_from_the_start, begin),
		cmocka_unit_test_setup(a_report_of_evs_not_tried_counts_for_nothing, begin),
		cmocka_unit_test_setup(only_rests_of_slow_evs_show_that_paths_differ, begin),
		cmocka_unit_test_setup(slowness_ages_while_evs_rest_for_another_reason, begin),
		cmocka_unit_test_setup(a_rest_that_ended_early_is_over, begin),
		cmocka_unit_test_setup(old_answers_say_nothing, begin),
		cmocka_unit_test_setup(a_good_answer_is_taken_where_no_ev_is_left, begin),
		cmocka_unit_test_setup(without_an_answer_all_are_used, begin),
		cmocka_unit_test_setup(an_ev_is_left_whatever_answers_say, begin),
		cmocka_unit_test_setup(an_ev_that_delays_others_is_reported, begin),
		cmocka_unit_test_setup(where_all_are_late_none_is_told, begin),
		cmocka_unit_test_setup(a_silent_ev_is_reported, begin),
		cmocka_unit_test_setup(on_one_path_no_ev_is_silent, begin),
		cmocka_unit_test_setup(a_marked_ev_is_reported, begin),
		cmocka_unit_test_setup(where_all_are_marked_none_is_told, begin),
		cmocka_unit_test_setup(marked_evs_rest_as_long_each_time, begin),
		cmocka_unit_test_setup(half_of_the_evs_stay, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
