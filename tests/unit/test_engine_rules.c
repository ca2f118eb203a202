/* SPDX-License-Identifier: BSD-3-Clause */
/* Meaning of replies: rules 6 to 10, each with a case that needs it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/state.h"
#include "scene.h"

/* Rule 6: damaged replies pass to the RNIC, which drops them, and mean nothing here. */
static void rule_06_damaged_replies_mean_nothing(void **state)
{
	draining(3);
	rig.damage = true;
	ack(&q, 100);
	rig.damage = true;
	nak(&q, 100);
	rig.damage = true;
	rnr(&q, 100);
	rig.damage = true;
	reply(&q, HP3_SYN_NAK | 2, 100);
	rig.damage = true;
	ack(&q, 102); /* contradicts */
	assert_int_equal(rig.held, 3);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	assert_true(info(&q).paired);
	assert_int_equal(stats()->bad_icrc, 5);
	assert_int_equal(stats()->naks + stats()->rnrs + stats()->contradictions, 0);
	ack(&q, 100);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
}

static void rule_06_damaged_contradiction_does_not_unpair(void **state)
{
	moved(100);
	rig.damage = true;
	ack(&q, 500);
	assert_int_equal(stats()->contradictions, 0);
	contradict(&q, 500);
	assert_false(info(&q).paired);
	assert_int_equal(stats()->contradictions, 3);
	assert_int_equal(rig.last.type, HP3_EVENT_UNPAIR);
	assert_int_equal(info(&q).port, NEW_PORT); /* what is in flight is there */
}

/* Rule 6: a refusal of what was acknowledged, or never sent, is none: flows may be moved. */
static void rule_06_refusals_out_of_window_mean_nothing(void **state)
{
	q = make_qp(0);
	set_up(&q);
	last(&q, 99);
	ack(&q, 99);
	last(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	for (psn = 101; psn < 104; psn++)
		assert_int_equal(middle(&q, psn), HP3_HOLD);
	rnr(&q, 99);
	rnr(&q, 105);
	nak(&q, 99);
	reply(&q, HP3_SYN_NAK | 2, 99);
	rnr(&q, 100 + (1 << 22));
	assert_int_equal(rig.held, 3);
	assert_int_equal(stats()->rnrs + stats()->naks, 0);
	ack(&q, 100);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	rnr(&q, 100);
	rnr(&q, 200);
	assert_int_equal(move(&q, 61000), 0);
}

/* Replies that were not waited for teach nothing: no PMTU, no MSN for a NAK of ours. */
static void rule_06_replies_out_of_window_teach_nothing(void **state)
{
	q = make_qp(0);
	set_up(&q);
	read_request(&q, 100, 10000);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, 98, 512);
	read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, 140, 512);
	rig.damage = true;
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, 100, 512);
	assert_int_equal(info(&q).pmtu, 0);
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ACK, .psn = 5000, .msn = 77});
	assert_int_equal(rig.e->flows[flow_of(&q)].msn, 0);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, 100, PMTU);
	assert_int_equal(info(&q).pmtu, PMTU);
}

/* Rule 15: replies that contradict take nothing from a flow that makes progress, or rests. */
static void rule_15_progress_speaks_for_a_pairing(void **state)
{
	q = make_qp(0);
	set_up(&q);
	for (psn = 100; psn < 130; psn++) {
		last(&q, psn);
		ack(&q, psn + 1000);
		pass_time(MS / 2);
		ack(&q, psn + 1000);
		pass_time(MS / 10);
		ack(&q, psn);
		ack(&q, psn + 1000); /* nothing is in flight */
	}
	assert_int_equal(stats()->contradictions, 90);
	assert_true(info(&q).paired);
	last(&q, psn);
	contradict(&q, psn + 1000);
	assert_false(info(&q).paired);
}

/* ... unless another flow is near, and they are many for so little progress: most likely its. */
static void rule_15_many_contradictions_unpair(void **state)
{
	struct qp near = make_qp(1);
	uint32_t n = 0;

	q = make_qp(0);
	set_up(&q);
	set_up(&near);
	last(&near, 5000);
	for (psn = 100; psn < 200 && info(&q).paired; psn++, n++) {
		last(&q, psn);
		ack(&q, psn + 1);
		ack(&q, psn);
	}
	assert_in_range(n, 10, 100);
	assert_false(info(&q).paired);
}

/* Rule 8: the closing packet was lost; the RNIC sends it again without AckReq. */
static void rule_08_ackreq_on_every_transmission(void **state)
{
	q = make_qp(0);
	set_up(&q);
	middle(&q, 100);
	move(&q, NEW_PORT);
	middle(&q, 101); /* closes */
	expect_left(1, 101, q.home, true);
	assert_int_equal(middle(&q, 102), HP3_HOLD);
	pass_time(rig.cfg.max_hold_ns);
	expect_left(2, 102, q.home, false);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t at = rig.nwire;

		middle(&q, 100);
		middle(&q, 101);
		middle(&q, 102);
		expect_left(at, 100, q.home, false);
		expect_left(at + 1, 101, q.home, true);
		expect_left(at + 2, 102, q.home, false);
		ack(&q, 100);
	}
	ack(&q, 101);
	middle(&q, 101);
	expect_left(rig.nwire - 1, 101, q.home, false);
}

/* The same when the newest packet closed that asked by itself, and its copy does not. */
static void rule_08_newest_packet_as_closing_packet(void **state)
{
	draining(3);
	middle(&q, 100);
	expect_left(rig.nwire - 1, 100, q.home, true);
	/* A READ that closes is asked again as it is. */
	ack(&q, 103);
	read_request(&q, 104, PMTU);
	assert_int_equal(move(&q, NEW_PORT), 0);
	read_request(&q, 104, PMTU);
	expect_left(rig.nwire - 1, 104, q.home, false);
}

/* Rule 9: READ of four packets closes; every response from the first on is proof, none before. */
static void rule_09_closing_read(void **state)
{
	for (uint32_t first = 100; first <= 104; first++) {
		rig_setup(NULL);
		q = make_qp(0);
		set_up(&q);
		middle(&q, 100);
		read_request(&q, 101, 4 * PMTU);
		assert_int_equal(move(&q, NEW_PORT), 0);
		assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
		assert_int_equal(middle(&q, 105), HP3_HOLD);
		if (first == 100)
			ack(&q, 100);
		else
			read_response(&q,
				first == 104 ? HP3_OP_RC_READ_RESP_LAST : HP3_OP_RC_READ_RESP_FIRST,
				first, PMTU);
		assert_int_equal(rig.held, first == 100);
	}
}

/* A READ whose PMTU nobody knows closes: replies up to its upper bound drain, behind it contradict.
 */
static void rule_09_closing_read_of_unknown_span(void **state)
{
	for (uint32_t psn = 139; psn <= 140; psn++) {
		rig_setup(NULL);
		q = make_qp(0);
		set_up(&q);
		read_request(&q, 100, 10000); /* 40 packets at a PMTU of 256 */
		assert_int_equal(move(&q, NEW_PORT), 0);
		read_response(&q, HP3_OP_RC_READ_RESP_LAST, psn, 16);
		assert_int_equal(rig.last.type, psn == 139 ? HP3_EVENT_SWITCH : HP3_EVENT_SUSPEND);
		assert_int_equal(stats()->contradictions, psn == 140);
	}
}

/* Rule 10: no move while the receiver is not ready, until the refused PSN is acknowledged. */
static void rule_10_rnr_pending(void **state)
{
	q = make_qp(0);
	set_up(&q);
	for (uint32_t psn = 100; psn < 105; psn++)
		last(&q, psn);
	rig.damage = true;
	rnr(&q, 104); /* rule 6: nobody said so */
	rnr(&q, 102);
	assert_int_equal(move(&q, NEW_PORT), -EAGAIN);
	for (uint32_t psn = 102; psn < 105; psn++)
		last(&q, psn);
	ack(&q, 101);
	assert_int_equal(move(&q, NEW_PORT), -EAGAIN);
	ack(&q, 102);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(stats()->rnrs, 1);
}

/* The refused PSN lies behind a closing packet whose own acknowledgement was never seen. */
static void rule_10_rnr_behind_the_closing_packet(void **state)
{
	draining(3);
	pass_time(rig.cfg.max_hold_ns); /* 101 to 103 left as well */
	rnr(&q, 103);
	assert_int_equal(move(&q, NEW_PORT), -EAGAIN);
	middle(&q, 103);
	ack(&q, 102);
	assert_int_equal(move(&q, NEW_PORT), -EAGAIN);
	ack(&q, 103);
	assert_int_equal(move(&q, NEW_PORT), 0);
}

/* Before the closing packet: pending until then, and the closing packet still asks. */
static void rule_10_rnr_before_the_closing_packet(void **state)
{
	q = make_qp(0);
	set_up(&q);
	middle(&q, 99);
	move(&q, NEW_PORT);
	middle(&q, 100);
	rnr(&q, 99);
	assert_int_equal(move(&q, NEW_PORT), -EAGAIN);
	middle(&q, 99);
	expect_left(rig.nwire - 1, 99, q.home, false);
	middle(&q, 100);
	expect_left(rig.nwire - 1, 100, q.home, true);
	ack(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_06_damaged_replies_mean_nothing),
		RIG_TEST(rule_06_damaged_contradiction_does_not_unpair),
		RIG_TEST(rule_06_refusals_out_of_window_mean_nothing),
		RIG_TEST(rule_06_replies_out_of_window_teach_nothing),
		RIG_TEST(rule_15_progress_speaks_for_a_pairing),
		RIG_TEST(rule_15_many_contradictions_unpair),
		RIG_TEST(rule_08_ackreq_on_every_transmission),
		RIG_TEST(rule_08_newest_packet_as_closing_packet),
		RIG_TEST(rule_09_closing_read),
		RIG_TEST(rule_09_closing_read_of_unknown_span),
		RIG_TEST(rule_10_rnr_pending),
		RIG_TEST(rule_10_rnr_behind_the_closing_packet),
		RIG_TEST(rule_10_rnr_before_the_closing_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
