/* SPDX-License-Identifier: BSD-3-Clause */
/* Another queue pair begins exactly at the next PSN of a flow (rule 16): its set-up names a PSN
 * that is in flight, the next, or not far behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "scene.h"

#define LONG 64u /* packets: they take the short way through the engine */

/* All requests have left, in order; a CM datagram has PSN 0. */
static void assert_in_order(uint32_t first)
{
	uint32_t p = rig.wire[first].psn;

	assert_int_equal(rig.held + rig.discarded, 0);
	for (uint32_t i = first; i < rig.nwire; i++)
		if (rig.wire[i].psn != 0)
			assert_int_equal(rig.wire[i].psn, p++);
}

static void rule_16_another_qp_begins_at_the_next_psn(void **state)
{
	uint32_t next = moved_and_sending();
	struct qp z = other_of(7);

	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&z, next), 0);
	middle(&z, next);
	assert_paired_with(&z);
	ack(&z, next);
	assert_int_equal(info(&z).inflight, 0);
	rests();
	assert_paired_with(&z);
}

/* Its set-up is told late, and so is perhaps the end of the one before. */
static void told_behind_data(bool end_in_time)
{
	uint32_t next = moved_and_sending(), p = next;
	struct qp z = other_of(7);

	if (end_in_time)
		assert_int_equal(tear_down(&q), 0);
	for (; p < next + LONG; p++)
		middle(&z, p);
	if (!end_in_time)
		assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&z, next), 0);
	assert_paired_with(&z);
	assert_true(info(&z).moved);
	assert_int_equal(info(&z).una, next);
	middle(&z, p);
	ack(&z, p);
	assert_int_equal(info(&z).inflight, 0);
	assert_int_equal(stats()->epochs, 0);
	assert_in_order(1);
	rests();
	assert_paired_with(&z);
}

static void rule_16_its_setup_is_told_behind_data(void **state)
{
	told_behind_data(true);
}

static void rule_16_both_events_are_told_behind_data(void **state)
{
	told_behind_data(false);
}

/* What a move holds leaves in order, and no reply to the other queue pair drains anything. */
static void rule_16_another_qp_begins_in_mid_drain(void **state)
{
	struct qp z;

	draining(3);
	z = other_of(7);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&z, 104), 0);
	assert_int_equal(info(&z).state, HP3_RFR_STEADY);
	middle(&z, 104);
	assert_paired_with(&z);
	assert_in_order(0);
	for (uint32_t i = 0; i < rig.nwire; i++)
		assert_int_equal(rig.wire[i].port, q.home);
}

/* The end was late: what left since was acknowledged. A foreign queue pair gets nothing. */
static void rule_16_a_foreign_qp_takes_over_no_stream(void **state)
{
	uint32_t next = moved_and_sending(), p = next;
	struct qp x = other_of(9);

	assert_int_equal(set_up_at(&x, next), 0); /* no end was told */
	assert_paired_with(&q);
	assert_int_equal(tear_down(&x), 0);
	assert_int_equal(tear_down(&q), 0);
	for (; p < next + LONG; p++)
		middle(&q, p);
	ack(&q, next);
	assert_int_equal(set_up_at(&x, next + 5), 0);
	assert_paired_with(&q);
	middle(&q, p);
	assert_paired_with(&q);
	assert_in_order(1);
}

/* ... nor if its first PSN is not in flight. */
static void rule_16_a_foreign_qp_begins_elsewhere(void **state)
{
	uint32_t next = moved_and_sending();
	struct qp x = other_of(9);

	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&x, next + 1), 0);
	assert_int_equal(set_up_at(&x, info(&q).una - 60), 0);
	middle(&q, next);
	assert_paired_with(&q);
}

/* An RNIC goes back to the oldest PSN that it waits for: elsewhere another one begins. */
static void rule_16_another_qp_begins_in_mid_flight(void **state)
{
	struct qp z;

	in_flight(20);
	z = other_of(7);
	ack(&q, 104);
	assert_int_equal(set_up_at(&z, 110), 0);
	middle(&q, 105); /* a loss */
	assert_paired_with(&q);
	for (uint32_t i = 106; i < 121; i++)
		middle(&q, i);
	middle(&z, 110);
	assert_paired_with(&z);
	assert_int_equal(info(&z).una, 110);
}

/* ... and not far behind. */
static void rule_16_another_qp_begins_behind(void **state)
{
	uint32_t next = moved_and_sending(), p = next;
	struct qp z = other_of(7);

	for (; p < next + LONG; p++)
		middle(&q, p);
	ack(&q, p - 2);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&z, next + 3), 0);
	middle(&z, next + 3);
	assert_paired_with(&z);
	ack(&z, next + 3);
	assert_int_equal(info(&z).una, next + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_16_another_qp_begins_at_the_next_psn),
		RIG_TEST(rule_16_its_setup_is_told_behind_data),
		RIG_TEST(rule_16_both_events_are_told_behind_data),
		RIG_TEST(rule_16_another_qp_begins_in_mid_drain),
		RIG_TEST(rule_16_another_qp_begins_in_mid_flight),
		RIG_TEST(rule_16_another_qp_begins_behind),
		RIG_TEST(rule_16_a_foreign_qp_takes_over_no_stream),
		RIG_TEST(rule_16_a_foreign_qp_begins_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
