/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitor of the path in use: which cycles are congested, when congestion is severe, the
 * meaning of silence, and what does not count for a new path. Cycles are 100 us here and begin at
 * T0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "monitor_state.h"

#define T0    1000000000ull
#define CYCLE 100000u
#define RTT   20000u

static const struct hp3_monitor_params params = {.cycle_ns = CYCLE,
	.congestion_tolerance = 3,
	.ecn_fraction = 50,
	.rtt_factor = 150,
	.base_age_log2 = 30};

static struct hp3_monitor start(void)
{
	struct hp3_monitor m;

	hp3_monitor_init(&m, T0);
	assert_int_equal(path_state(&m, &params, T0), PATH_SILENT);
	return m;
}

/* Time within cycle `n`. */
static uint64_t in(uint64_t n)
{
	return T0 + n * CYCLE + CYCLE / 2;
}

/* `marked` of `n` replies in that cycle. */
static void replies(struct hp3_monitor *m, uint64_t cycle, uint32_t n, uint32_t marked)
{
	for (uint32_t i = 0; i < n; i++)
		hp3_monitor_reply(m, &params, i, i < marked, 1000, in(cycle));
}

/* One timed packet: sent at `now`, answered `rtt` later. */
static void round_trip(struct hp3_monitor *m, uint32_t psn, uint64_t now, uint32_t rtt)
{
	hp3_monitor_sent(m, psn, true, now);
	hp3_monitor_reply(m, &params, psn, false, 1000, now + rtt);
}

static enum path_state after(struct hp3_monitor *m, uint64_t cycle)
{
	return path_state(m, &params, T0 + (cycle + 1) * CYCLE);
}

static struct hp3_estimates estimates(const struct hp3_monitor *m)
{
	struct hp3_estimates e;

	hp3_monitor_estimates(m, &params, &e);
	return e;
}

static void each_signal_alone_congests_a_cycle(void **state)
{
	struct hp3_monitor m = start();
	uint8_t seen[HP3_CYCLES_KEPT + 1];

	hp3_monitor_cnp(&m, &params, in(0));
	assert_int_equal(after(&m, 0), PATH_CONGESTED);
	replies(&m, 1, 10, 5);
	assert_int_equal(after(&m, 1), PATH_CONGESTED);
	replies(&m, 2, 10, 4); /* below ecn_fraction */
	assert_int_equal(after(&m, 2), PATH_CLEAN);
	round_trip(&m, 7, in(3), RTT);
	assert_int_equal(after(&m, 3), PATH_CLEAN);
	round_trip(&m, 8, in(4), RTT * 3 / 2 - 1); /* below rtt_factor */
	assert_int_equal(after(&m, 4), PATH_CLEAN);
	round_trip(&m, 9, in(5), RTT * 3 / 2);
	assert_int_equal(after(&m, 5), PATH_CONGESTED);
	round_trip(&m, 10, in(6), 2 * RTT);
	hp3_monitor_cnp(&m, &params, in(6) + 2 * RTT);
	assert_int_equal(after(&m, 7), PATH_SILENT);

	assert_int_equal(hp3_monitor_evidence(&m, seen), 8);
	assert_string_equal(hp3_cycle_name(seen[0]), "cnp");
	assert_string_equal(hp3_cycle_name(seen[1]), "ecn");
	assert_string_equal(hp3_cycle_name(seen[2]), "clean");
	assert_string_equal(hp3_cycle_name(seen[5]), "rtt");
	assert_string_equal(hp3_cycle_name(seen[6]), "cnp+rtt");
	assert_string_equal(hp3_cycle_name(seen[7]), "silent");
}

static void severe_after_tolerance_cycles_in_a_row(void **state)
{
	struct hp3_monitor m = start();

	replies(&m, 0, 4, 4);
	replies(&m, 1, 4, 4);
	assert_int_equal(after(&m, 1), PATH_CONGESTED);
	replies(&m, 2, 4, 0); /* one clean cycle: from the beginning */
	assert_int_equal(after(&m, 2), PATH_CLEAN);
	replies(&m, 3, 4, 4);
	replies(&m, 4, 4, 4);
	replies(&m, 5, 4, 4);
	/* the first call behind the end of the cycle tells, and only that one */
	assert_true(hp3_monitor_reply(&m, &params, 1, true, 0, in(6)));
	assert_false(hp3_monitor_reply(&m, &params, 2, true, 0, in(6)));
	assert_true(hp3_monitor_cnp(&m, &params, in(7)));
	assert_int_equal(after(&m, 7), PATH_SEVERE);
	replies(&m, 8, 1, 0);
	assert_int_equal(after(&m, 8), PATH_CLEAN);
}

/* ACKs are sparse: what happens between two of them neither raises nor resets. */
static void silence_says_nothing(void **state)
{
	static const uint64_t pauses[] = {1, 2, 7, 8, 40, 1000, 40000000000ull};

	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		struct hp3_monitor m = start();
		uint64_t at = pauses[i];
		uint8_t seen[HP3_CYCLES_KEPT + 1];
		struct hp3_estimates before, behind;

		replies(&m, 0, 2, 2);
		replies(&m, at, 2, 2);
		assert_int_equal(after(&m, at), PATH_CONGESTED);
		before = estimates(&m);
		assert_int_equal(after(&m, 2 * at), PATH_SILENT);
		behind = estimates(&m);
		assert_memory_equal(&before, &behind, sizeof(before));
		replies(&m, 2 * at + 1, 2, 2);
		assert_int_equal(after(&m, 2 * at + 1), PATH_SEVERE);
		assert_int_equal(after(&m, 3 * at + 1), PATH_SILENT);
		assert_int_equal(hp3_monitor_evidence(&m, seen), 4);
		for (int k = 0; k < 3; k++)
			assert_int_equal(seen[k], HP3_CYCLE_ECN);
	}
}

static void a_cycle_lasts_at_least_the_base_rtt(void **state)
{
	struct hp3_monitor m = start();

	hp3_monitor_offer_base(&m, 4 * CYCLE);
	path_state(&m, &params, in(0));
	hp3_monitor_cnp(&m, &params, in(1));
	assert_int_equal(path_state(&m, &params, in(4)), PATH_SILENT);
	assert_int_equal(path_state(&m, &params, in(5)), PATH_CONGESTED);
}

static void one_packet_is_timed_until_a_reply_at_or_behind_it(void **state)
{
	struct hp3_monitor m = start();

	hp3_monitor_sent(&m, 0xfffffe, false, T0); /* no AckReq: not timed */
	hp3_monitor_sent(&m, 0xffffff, true, T0 + 100);
	hp3_monitor_sent(&m, 1, true, T0 + 5000); /* one at a time */
	hp3_monitor_reply(&m, &params, 0xfffffe, false, 0, T0 + 9000);
	assert_int_equal(estimates(&m).rtt_ns, 0);
	hp3_monitor_reply(&m, &params, 0, false, 0, T0 + 20100); /* behind it, PSNs wrap */
	assert_int_equal(estimates(&m).rtt_ns, 20000);
	assert_int_equal(estimates(&m).base_rtt_ns, 20000);
	hp3_monitor_reply(&m, &params, 1, false, 0, T0 + 90000);
	assert_int_equal(estimates(&m).rtt_ns, 20000);
}

static void a_retransmission_voids_the_round_trip(void **state)
{
	struct hp3_monitor m = start();

	hp3_monitor_sent(&m, 5, true, T0);
	hp3_monitor_retransmit(&m);
	hp3_monitor_reply(&m, &params, 5, false, 0, T0 + 100);
	assert_int_equal(estimates(&m).rtt_ns, 0);
	round_trip(&m, 6, T0 + 200, RTT);
	assert_int_equal(estimates(&m).rtt_ns, RTT);
}

/* The send time is kept in 32 bits: an age beyond them must not read as a short round trip. */
static void very_late_answers_are_no_round_trips(void **state)
{
	for (uint64_t age = 1ull << 30; age < 1ull << 36; age += (1ull << 30) + 12345) {
		struct hp3_monitor m = start();

		hp3_monitor_sent(&m, 5, true, T0);
		hp3_monitor_reply(&m, &params, 5, false, 0, T0 + age);
		assert_int_equal(estimates(&m).rtt_ns, 0);
		/* after a pause of any length the next packet is timed well */
		round_trip(&m, 6, T0 + 2 * age, RTT);
		assert_int_equal(estimates(&m).rtt_ns, RTT);
	}
}

static void smoothed_rtt_follows_by_an_eighth(void **state)
{
	struct hp3_monitor m = start();

	round_trip(&m, 1, in(0), 8000);
	round_trip(&m, 2, in(1), 16000);
	assert_int_equal(estimates(&m).rtt_ns, 9000);
	assert_int_equal(estimates(&m).base_rtt_ns, 8000);
	for (uint32_t i = 0; i < 200; i++)
		round_trip(&m, 3 + i, in(2 + i), 12345);
	assert_int_equal(estimates(&m).rtt_ns, 12345); /* reaches, no rounding left over */
}

/* A route change to a longer path: severe at first, forgotten within minutes, not before seconds.
 */
static void base_rtt_rises_slowly(void **state)
{
	struct hp3_monitor m = start();
	uint64_t cycle = 0, clean_at;

	round_trip(&m, 1, in(cycle++), RTT);
	while (path_state(&m, &params, in(cycle)) != PATH_CLEAN || cycle < 3)
		round_trip(&m, 2, in(cycle++), 2 * RTT);
	clean_at = cycle * CYCLE / 1000000000ull;
	assert_in_range(clean_at, 10, 60);
	for (uint32_t i = 0; i < 2000000; i++)
		round_trip(&m, 2, in(cycle++), 2 * RTT);
	assert_int_equal(estimates(&m).base_rtt_ns, 2 * RTT); /* never above what is measured */
	round_trip(&m, 3, in(cycle), RTT);
	assert_int_equal(estimates(&m).base_rtt_ns, RTT); /* down at once */

	m = start(); /* with nothing timed there is nothing that it could rise to */
	round_trip(&m, 1, in(0), RTT);
	for (cycle = 1; cycle < 200000; cycle++)
		hp3_monitor_reply(&m, &params, 2, false, 0, in(cycle));
	assert_int_equal(estimates(&m).base_rtt_ns, RTT);
}

static void marked_share_and_rate(void **state)
{
	struct hp3_monitor m = start();
	uint64_t cycle = 0;

	for (; cycle < 100; cycle++)
		replies(&m, cycle, 20, 5);
	path_state(&m, &params, in(cycle));
	assert_int_equal(estimates(&m).marked_permille, 250);
	assert_int_equal(estimates(&m).rate_kbps, 20 * 8 * 1000000 / 100); /* 20 kB in 100 us */
	for (uint32_t i = 0; i < 100; i++, cycle += 4)
		replies(&m, cycle, 20, 0); /* three silent cycles in each four */
	path_state(&m, &params, in(cycle));
	assert_int_equal(estimates(&m).marked_permille, 0);
	assert_int_equal(estimates(&m).rate_kbps, 5 * 8 * 1000000 / 100);
}

/* One mark counts at once, and until it is gone from the average. */
static void one_mark_shows(void **state)
{
	struct hp3_monitor m = start();

	replies(&m, 0, 20, 0);
	assert_false(hp3_monitor_marked(&m));
	replies(&m, 0, 1, 1);
	assert_true(hp3_monitor_marked(&m));
	replies(&m, 1, 20, 0);
	assert_true(hp3_monitor_marked(&m));
	for (uint64_t cycle = 2; cycle < 100; cycle++)
		replies(&m, cycle, 20, 0);
	assert_false(hp3_monitor_marked(&m));
}

static void bytes_and_replies_saturate(void **state)
{
	struct hp3_monitor m = start();

	for (uint32_t i = 0; i < 5000; i++)
		hp3_monitor_reply(&m, &params, i, i < 512, UINT32_MAX, in(0));
	assert_int_equal(after(&m, 0), PATH_CONGESTED); /* 512 of the 1023 that count */
	assert_int_equal(estimates(&m).marked_permille, 500);
	assert_int_equal(estimates(&m).rate_kbps, UINT32_MAX);
}

/* What was marked on the old path is never charged to the new one. */
static void nothing_counts_before_the_new_path_answers(void **state)
{
	struct hp3_monitor m = start();
	uint64_t now = in(9);

	round_trip(&m, 1, in(0), RTT);
	for (uint64_t c = 1; c < 8; c++)
		replies(&m, c, 4, 4);
	assert_int_equal(after(&m, 7), PATH_SEVERE);

	hp3_monitor_moved(&m);
	assert_int_equal(path_state(&m, &params, now), PATH_SILENT);
	assert_int_equal(estimates(&m).base_rtt_ns, 0);
	hp3_monitor_cnp(&m, &params, now); /* before anything left on the new path */
	hp3_monitor_reply(&m, &params, 99, true, 0, now);
	hp3_monitor_sent(&m, 100, true, now);
	hp3_monitor_sent(&m, 101, true, now + 1000);
	hp3_monitor_cnp(&m, &params, now + 2000);
	hp3_monitor_reply(&m, &params, 99, true, 1000, now + 3000);
	assert_int_equal(after(&m, 9), PATH_SILENT);

	hp3_monitor_reply(&m, &params, 100, true, 1000, in(10)); /* the new path speaks */
	assert_int_equal(estimates(&m).rtt_ns, CYCLE);
	assert_int_equal(after(&m, 10), PATH_CONGESTED);
	hp3_monitor_cnp(&m, &params, in(11));
	assert_int_equal(after(&m, 11), PATH_CONGESTED);
	hp3_monitor_cnp(&m, &params, in(12));
	assert_int_equal(after(&m, 12), PATH_SEVERE);
}

/* A retransmission on the new path, as after a dead one, is no answerable first packet. */
static void the_guard_outlives_retransmissions(void **state)
{
	struct hp3_monitor m = start();

	hp3_monitor_moved(&m);
	hp3_monitor_retransmit(&m);
	hp3_monitor_reply(&m, &params, 50, true, 0, in(0)); /* sent on either path */
	hp3_monitor_sent(&m, 60, true, in(0));
	hp3_monitor_retransmit(&m);
	hp3_monitor_reply(&m, &params, 59, true, 0, in(0) + 10);
	assert_int_equal(after(&m, 0), PATH_SILENT);
	hp3_monitor_reply(&m, &params, 60, true, 0, in(1));
	assert_int_equal(estimates(&m).rtt_ns, 0);
	assert_int_equal(after(&m, 1), PATH_CONGESTED);
}

static void calm_is_a_spell_of_clean_cycles(void **state)
{
	struct hp3_monitor m = start();
	uint64_t c = 0;

	replies(&m, c++, 1, 1);
	for (; c < 1 + HP3_CYCLES_KEPT; c++) {
		assert_false(hp3_monitor_calm(&m));
		replies(&m, c, 1, 0);
	}
	after(&m, c);
	assert_true(hp3_monitor_calm(&m));
	hp3_monitor_cnp(&m, &params, in(c + 1));
	after(&m, c + 1);
	assert_false(hp3_monitor_calm(&m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_signal_alone_congests_a_cycle),
		cmocka_unit_test(severe_after_tolerance_cycles_in_a_row),
		cmocka_unit_test(silence_says_nothing),
		cmocka_unit_test(a_cycle_lasts_at_least_the_base_rtt),
		cmocka_unit_test(one_packet_is_timed_until_a_reply_at_or_behind_it),
		cmocka_unit_test(a_retransmission_voids_the_round_trip),
		cmocka_unit_test(very_late_answers_are_no_round_trips),
		cmocka_unit_test(smoothed_rtt_follows_by_an_eighth),
		cmocka_unit_test(base_rtt_rises_slowly),
		cmocka_unit_test(marked_share_and_rate),
		cmocka_unit_test(one_mark_shows),
		cmocka_unit_test(bytes_and_replies_saturate),
		cmocka_unit_test(nothing_counts_before_the_new_path_answers),
		cmocka_unit_test(the_guard_outlives_retransmissions),
		cmocka_unit_test(calm_is_a_spell_of_clean_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
