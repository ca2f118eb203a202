/* SPDX-License-Identifier: BSD-3-Clause */
/* The notification point: sends CNPs for CE marks, at most one per interval, and only to senders
 * with hp3d. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cc/np.h"

static const struct hp3_np_params per_flow = {.min_time_between_cnps = 50};
static const struct hp3_np_params becn = {.min_time_between_cnps = 50, .mode = HP3_NP_BECN};

static void one_cnp_per_flow_and_interval(void **state)
{
	struct hp3_np a = {0}, b = {0};

	assert_int_equal(hp3_np_ce(&a, &per_flow, true, 1000), HP3_NP_SEND_CNP);
	assert_int_equal(hp3_np_ce(&a, &per_flow, true, 1001), HP3_NP_NONE);
	assert_int_equal(hp3_np_ce(&b, &per_flow, true, 1001), HP3_NP_SEND_CNP);
	assert_int_equal(hp3_np_ce(&a, &per_flow, true, 50999), HP3_NP_NONE);
	assert_int_equal(hp3_np_ce(&a, &per_flow, true, 51000), HP3_NP_SEND_CNP);
	/* the interval counts from the last CNP, not from a grid */
	assert_int_equal(hp3_np_ce(&a, &per_flow, true, 100000), HP3_NP_NONE);
	assert_int_equal(hp3_np_ce(&a, &per_flow, true, 101000), HP3_NP_SEND_CNP);
}

static void interval_0_answers_every_mark(void **state)
{
	struct hp3_np_params p = {0};
	struct hp3_np a = {0};

	for (int i = 0; i < 3; i++)
		assert_int_equal(hp3_np_ce(&a, &p, true, 7), HP3_NP_SEND_CNP);
}

/* Any number of marks becomes BECN on the next ACK, and on that one only. */
static void becn_goes_on_the_next_ack_once(void **state)
{
	struct hp3_np a = {0}, b = {0};

	assert_int_equal(hp3_np_ack(&a, &becn, true), HP3_NP_NONE);
	assert_int_equal(hp3_np_ce(&a, &becn, true, 0), HP3_NP_NONE);
	assert_int_equal(hp3_np_ce(&a, &becn, true, 1), HP3_NP_NONE);
	assert_int_equal(hp3_np_ack(&b, &becn, true), HP3_NP_NONE);
	assert_int_equal(hp3_np_ack(&a, &becn, true), HP3_NP_SET_BECN);
	assert_int_equal(hp3_np_ack(&a, &becn, true), HP3_NP_NONE);
	/* marks that came within the CNP interval count as well */
	assert_int_equal(hp3_np_ce(&a, &becn, true, 2), HP3_NP_NONE);
	assert_int_equal(hp3_np_ack(&a, &becn, true), HP3_NP_SET_BECN);
}

static void rule_05_nothing_goes_to_a_peer_without_hp3d(void **state)
{
	struct hp3_np a = {0};

	assert_int_equal(hp3_np_ce(&a, &per_flow, false, 0), HP3_NP_NONE);
	assert_int_equal(hp3_np_ce(&a, &becn, false, 0), HP3_NP_NONE);
	assert_int_equal(hp3_np_ack(&a, &becn, false), HP3_NP_NONE);
	/* marks from before the peer's hp3d was there are forgotten, and no interval was started */
	assert_int_equal(hp3_np_ack(&a, &becn, true), HP3_NP_NONE);
	assert_int_equal(hp3_np_ce(&a, &per_flow, true, 0), HP3_NP_SEND_CNP);
}

static void rule_05_a_peer_that_lost_its_hp3d_gets_no_becn(void **state)
{
	struct hp3_np a = {0};

	assert_int_equal(hp3_np_ce(&a, &becn, true, 0), HP3_NP_NONE);
	assert_int_equal(hp3_np_ack(&a, &becn, false), HP3_NP_NONE);
	assert_int_equal(hp3_np_ack(&a, &becn, true), HP3_NP_NONE);
	/* nor does one that is answered with CNPs since a reload */
	assert_int_equal(hp3_np_ce(&a, &becn, true, 0), HP3_NP_NONE);
	assert_int_equal(hp3_np_ack(&a, &per_flow, true), HP3_NP_NONE);
}

/* Marks at random, often and seldom: CNPs are never closer than the interval, and a mark that comes
 * when one is allowed is never kept back. */
static void random_marks_keep_the_interval(void **state)
{
	uint64_t x = 0x5eed0002, now = 0, last = 0, cnps = 0, marks = 0;
	struct hp3_np a = {0};

	print_message("seed %#llx\n", (unsigned long long)x);
	for (int i = 0; i < 100000; i++) {
		enum hp3_np_do todo;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		now += x % (i & 1024 ? 200 : 200000);
		todo = hp3_np_ce(&a, &per_flow, true, now);
		assert_int_equal(
			todo, cnps == 0 || now - last >= 50000 ? HP3_NP_SEND_CNP : HP3_NP_NONE);
		marks++;
		if (todo == HP3_NP_SEND_CNP) {
			last = now;
			cnps++;
		}
	}
	assert_in_range(cnps, 30000, marks / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cnp_per_flow_and_interval),
		cmocka_unit_test(interval_0_answers_every_mark),
		cmocka_unit_test(becn_goes_on_the_next_ack_once),
		cmocka_unit_test(rule_05_nothing_goes_to_a_peer_without_hp3d),
		cmocka_unit_test(rule_05_a_peer_that_lost_its_hp3d_gets_no_becn),
		cmocka_unit_test(random_marks_keep_the_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
