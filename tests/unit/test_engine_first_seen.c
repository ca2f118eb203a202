/* SPDX-License-Identifier: BSD-3-Clause */
/* Rule 4: hp3d starts, or was bypassed, while READs are outstanding that it did not see leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/moves/moves.h"
#include "scene.h"

static bool is_plain(void)
{
	return hp3_rnic_is_plain(&rig.e->flows[flow_of(&q)]);
}

/* The queue pair is set up; with its first PSN, 100, or without. */
static void told(bool with_psn)
{
	rig_configure();
	q = make_qp(0);
	assert_int_equal(with_psn ? set_up_at(&q, 100) : set_up(&q), 0);
}

/* They acknowledge what left before the bypass. */
static void rule_04_replies_before_the_first_packet_count_for_nothing(void **state)
{
	in_flight(4);
	missed();
	assert_int_equal(set_up(&q), 0);
	ack(&q, 102);
	middle(&q, 500);
	middle(&q, 501);
	assert_false(is_plain());
	ack(&q, 500);
	assert_true(is_plain());
}

/* The response shows that READs were outstanding; that the RNIC goes on from una ends the doubt. */
static void rule_04_a_response_to_an_unseen_read_is_in_doubt(void **state)
{
	told(false);
	middle(&q, 100);
	middle(&q, 101);
	ack(&q, 100);
	middle(&q, 102);
	assert_true(is_plain());
	read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, 97, PMTU);
	ack(&q, 101);
	assert_false(is_plain());
	middle(&q, 102);
	assert_true(is_plain());
}

/* It came before the first request. */
static void rule_04_a_response_before_any_request_is_in_doubt(void **state)
{
	for (unsigned with_psn = 0; with_psn < 2; with_psn++) {
		told(with_psn);
		read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, 97, PMTU);
		middle(&q, 100);
		middle(&q, 101);
		ack(&q, 100);
		assert_int_equal(is_plain(), with_psn);
	}
}

/* The RNIC may have asked before: the ACK of its first try makes it do nothing. */
static void rule_04_the_first_packet_may_be_a_read_again(void **state)
{
	for (unsigned with_psn = 0; with_psn < 2; with_psn++) {
		told(with_psn);
		read_request(&q, 100, 8);
		middle(&q, 101);
		ack(&q, 101);
		middle(&q, 102);
		assert_int_equal(is_plain(), with_psn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_04_replies_before_the_first_packet_count_for_nothing),
		RIG_TEST(rule_04_a_response_to_an_unseen_read_is_in_doubt),
		RIG_TEST(rule_04_a_response_before_any_request_is_in_doubt),
		RIG_TEST(rule_04_the_first_packet_may_be_a_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
