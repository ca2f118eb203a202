/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's requester with losses: going back, timers, NAKs, RNR. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "gen_requester.h"

static void a_sequence_nak_goes_back_to_its_psn(void **state)
{
	struct gen_packet p;

	requester_begin(100);
	gen_requester_post(&r, GEN_WRITE, 10 * MTU, 0, 0);
	for (int i = 0; i < 10; i++)
		assert_false(expect_next(0).again);
	assert_true(nak(104, 5).progress);
	for (uint32_t i = 4; i < 10; i++) {
		p = expect_next(6);
		assert_int_equal(p.psn, 100 + i);
		assert_true(p.again);
		assert_int_equal(p.offset, i * MTU);
	}
	assert_int_equal(r.n.again, 6);
	/* An answer may be to either copy: no round trip follows from it. */
	assert_true(ack(109, 9).rtt == 0);
	assert_int_equal(completed(), 1);
}

/* The ACK of the first copy arrives after going back: what it covers is not sent again. */
static void an_ack_beyond_nxt_moves_on(void **state)
{
	requester_begin(0);
	gen_requester_post(&r, GEN_WRITE, 4 * MTU, 0, 0);
	gen_requester_post(&r, GEN_WRITE, 4 * MTU, 0, 0);
	for (int i = 0; i < 8; i++)
		expect_next(0);
	nak(1, 1);
	assert_int_equal(expect_next(1).psn, 1);
	ack(5, 2);
	assert_int_equal(completed(), 1);
	assert_int_equal(expect_next(2).psn, 6);
	assert_int_equal(expect_next(2).psn, 7);
	expect_none(2);
	ack(7, 3);
	assert_int_equal(completed(), 1);
}

static void replies_outside_the_window_mean_nothing(void **state)
{
	requester_begin(50);
	gen_requester_post(&r, GEN_WRITE, 3 * MTU, 0, 0);
	expect_next(0);
	expect_next(0);
	assert_false(ack(49, 1).progress);
	assert_false(ack(52, 1).progress); /* never sent */
	assert_false(nak(52, 1).progress);
	assert_int_equal(r.n.stale, 3);
	assert_int_equal(r.una, 50);
	assert_int_equal(expect_next(1).psn, 52);
}

static void the_timer_runs_from_ackreq_and_from_progress(void **state)
{
	requester_begin(0);
	gen_requester_post(&r, GEN_WRITE, 2 * MTU, 0, 0);
	expect_next(10);
	assert_true(gen_requester_deadline(&r) == UINT64_MAX); /* nothing must be answered yet */
	expect_next(20);
	assert_true(gen_requester_deadline(&r) == 20 + TIMEOUT);
	gen_requester_timer(&r, 19 + TIMEOUT);
	assert_int_equal(r.n.timeouts, 0);
	gen_requester_timer(&r, 20 + TIMEOUT);
	assert_int_equal(r.n.timeouts, 1);
	assert_int_equal(expect_next(21 + TIMEOUT).psn, 0);
	ack(0, 50 + TIMEOUT);
	assert_true(gen_requester_deadline(&r) == UINT64_MAX); /* the rest goes again first */
	expect_next(60 + TIMEOUT);
	assert_true(gen_requester_deadline(&r) == 60 + 2 * TIMEOUT);
}

static void too_many_timeouts_end_it_and_progress_forgives(void **state)
{
	uint64_t now = 0;

	requester_begin(0);
	gen_requester_post(&r, GEN_WRITE, 2 * MTU, 0, 0);
	for (int i = 0; i < 3; i++) {
		expect_next(now);
		expect_next(now);
		now += TIMEOUT;
		gen_requester_timer(&r, now);
	}
	expect_next(now);
	expect_next(now);
	ack(0, now + 1);
	for (int i = 0; i < 3; i++) {
		now += TIMEOUT + 1;
		gen_requester_timer(&r, now);
		assert_int_equal(r.failure, GEN_FINE);
		expect_next(now);
	}
	gen_requester_timer(&r, now + TIMEOUT);
	assert_int_equal(r.failure, GEN_RETRY_EXCEEDED);
	expect_none(now + TIMEOUT);
	assert_int_equal(gen_requester_post(&r, GEN_WRITE, 1, 0, now), -EPIPE);
	assert_true(gen_requester_deadline(&r) == UINT64_MAX);
}

static void an_rnr_nak_waits_for_its_time(void **state)
{
	uint64_t wait = gen_rnr_ns(14); /* 1.28 ms */

	assert_int_equal(gen_rnr_ns(1), 10000);
	assert_int_equal(gen_rnr_ns(0), 655360000);
	assert_int_equal(gen_rnr_ns(31), 491520000);
	assert_int_equal(wait, 1280000);
	requester_begin(0);
	for (int i = 0; i < 3; i++)
		gen_requester_post(&r, GEN_SEND, 10, 0, 0);
	for (int i = 0; i < 3; i++)
		expect_next(0);
	reply(HP3_OP_RC_ACK, 1, HP3_SYN_RNR | 14, 0, 100);
	assert_int_equal(completed(), 1);
	expect_none(100 + wait - 1);
	assert_true(gen_requester_deadline(&r) == 100 + wait);
	gen_requester_timer(&r, 100 + wait);
	assert_int_equal(expect_next(100 + wait).psn, 1);
	reply(HP3_OP_RC_ACK, 1, HP3_SYN_RNR | 14, 0, 2 * wait);
	assert_int_equal(r.failure, GEN_FINE);
	expect_next(3 * wait);
	reply(HP3_OP_RC_ACK, 1, HP3_SYN_RNR | 14, 0, 4 * wait);
	assert_int_equal(r.failure, GEN_RNR_EXCEEDED);
}

static void other_naks_are_fatal(void **state)
{
	requester_begin(0);
	gen_requester_post(&r, GEN_WRITE, 10, 0, 0);
	expect_next(0);
	reply(HP3_OP_RC_ACK, 0, HP3_SYN_NAK | 2, 0, 1);
	assert_int_equal(r.failure, GEN_REMOTE_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		REQUESTER_TEST(a_sequence_nak_goes_back_to_its_psn),
		REQUESTER_TEST(an_ack_beyond_nxt_moves_on),
		REQUESTER_TEST(replies_outside_the_window_mean_nothing),
		REQUESTER_TEST(the_timer_runs_from_ackreq_and_from_progress),
		REQUESTER_TEST(too_many_timeouts_end_it_and_progress_forgives),
		REQUESTER_TEST(an_rnr_nak_waits_for_its_time),
		REQUESTER_TEST(other_naks_are_fatal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
