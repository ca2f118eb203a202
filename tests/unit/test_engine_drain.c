/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves: without packets in flight at once, otherwise after a drain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

/* --- nothing in flight --- */

static void idle_with_proof_moves_at_once(void **state)
{
	in_flight(3);
	last(&q, 103);
	ack(&q, 103);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.last.type, HP3_EVENT_IDLE_SWITCH);
	assert_int_equal(rig.last.from, q.home);
	assert_int_equal(rig.last.to, NEW_PORT);
	assert_int_equal(rig.last.tag, 0x7a6);
	assert_true(info(&q).moved);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_int_equal(info(&q).home, q.home);
	assert_int_equal(info(&q).moves, 1);
	assert_int_equal(stats()->moves_idle, 1);
	assert_int_equal(hp3_engine_moved(rig.e), 1);
	middle(&q, 104);
	expect_left(4, 104, NEW_PORT, false);
	ack(&q, 104);
	assert_int_equal(move(&q, 61000), 0); /* and again */
	last(&q, 105);
	expect_left(5, 105, 61000, true);
}

/* Everything is acknowledged, but not provenly: the next packet closes the old path. */
static void expect_a_drain(uint32_t psn)
{
	uint32_t at = rig.nwire;

	assert_int_equal(info(&q).inflight, 0);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	assert_int_equal(middle(&q, psn), HP3_PASS);
	expect_left(at, psn, q.home, true);
	assert_int_equal(middle(&q, psn + 1), HP3_HOLD);
	ack(&q, psn);
	expect_left(at + 1, psn + 1, NEW_PORT, false);
}

/* What came damaged came not: the packets still count as in flight. */
static void rule_26_bad_icrc_is_no_progress(void **state)
{
	in_flight(2);
	rig.damage = true;
	ack(&q, 101);
	assert_int_equal(info(&q).inflight, 2);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	ack(&q, 101);
	assert_int_equal(info(&q).inflight, 0);
}

/* The ICRC of long packets is not checked in steady state. */
static void read_response_is_no_proof(void **state)
{
	in_flight(2);
	read_request(&q, 102, PMTU);
	read_response(&q, HP3_OP_RC_READ_RESP_ONLY, 102, PMTU);
	expect_a_drain(103);
}

/* Rule 7: duplicates may still travel on the old path. */
static void rule_07_idle_after_a_retransmission_is_no_proof(void **state)
{
	in_flight(3);
	middle(&q, 101);
	middle(&q, 102);
	ack(&q, 102);
	expect_a_drain(103);
}

static void rule_07_a_new_packet_behind_the_duplicates_is_proof(void **state)
{
	in_flight(3);
	middle(&q, 101);
	middle(&q, 102);
	middle(&q, 103);
	ack(&q, 103);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.events[HP3_EVENT_IDLE_SWITCH], 1);
}

/* --- behind a drain --- */

static void closing_packet_asks_for_its_acknowledgement(void **state)
{
	in_flight(2);
	assert_int_equal(move(&q, NEW_PORT), 0);
	rig.now += 50 * US;
	assert_int_equal(middle(&q, 102), HP3_PASS);
	expect_left(2, 102, q.home, true);
	assert_int_equal(middle(&q, 103), HP3_HOLD);
	assert_int_equal(last(&q, 104), HP3_HOLD);
	ack(&q, 101); /* not yet */
	assert_int_equal(rig.nwire, 3);
	assert_int_equal(middle(&q, 105), HP3_HOLD);
	rig.now += 10 * US;
	ack(&q, 102);
	expect_left(3, 103, NEW_PORT, false);
	expect_left(4, 104, NEW_PORT, true);
	expect_left(5, 105, NEW_PORT, false);
	assert_int_equal(middle(&q, 106), HP3_PASS);
	expect_left(6, 106, NEW_PORT, false);

	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_DRAINED);
	assert_int_equal(rig.last.from, q.home);
	assert_int_equal(rig.last.to, NEW_PORT);
	assert_int_equal(rig.last.close_psn, 102);
	assert_int_equal(rig.last.held_pkts, 3);
	assert_int_equal(rig.last.held_bytes, 2 * LEN + 158);
	assert_int_equal(rig.last.wait_ns, 51 * US);
	assert_int_equal(rig.last.drain_ns, 15 * US);
	assert_int_equal(stats()->moves_switched, 1);
	assert_int_equal(stats()->held_packets, 3);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
}

/* READ and ATOMIC are answered anyway. */
static void closing_read_and_atomic_are_left_as_they_are(void **state)
{
	in_flight(1);
	move(&q, NEW_PORT);
	read_request(&q, 101, 3 * PMTU);
	expect_left(1, 101, q.home, false);
	assert_int_equal(middle(&q, 104), HP3_HOLD);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, 101, PMTU); /* rule 9: that is enough */
	expect_left(2, 104, NEW_PORT, false);
	move(&q, 61000);
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_CMP_SWAP, .psn = 105});
	expect_left(3, 105, NEW_PORT, false);
	assert_int_equal(middle(&q, 106), HP3_HOLD);
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ATOMIC_ACK, .psn = 105});
	expect_left(4, 106, 61000, false);
}

/* The newest packet asked by itself: it closes, without waiting for another. */
static void newest_packet_closes_if_it_asked(void **state)
{
	in_flight(2);
	last(&q, 102);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	assert_int_equal(middle(&q, 103), HP3_HOLD);
	ack(&q, 101);
	assert_int_equal(rig.held, 1);
	ack(&q, 102);
	expect_left(3, 103, NEW_PORT, false);
	assert_int_equal(rig.last.close_psn, 102);
	assert_int_equal(rig.last.wait_ns, 0);
}

static void newest_packet_does_not_close_after_a_retransmission(void **state)
{
	in_flight(2);
	last(&q, 102);
	last(&q, 102);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	ack(&q, 102); /* rule 7: nor does idleness end it */
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	middle(&q, 103);
	expect_left(4, 103, q.home, true);
}

static void closing_ends_early_when_all_has_arrived(void **state)
{
	in_flight(3);
	move(&q, NEW_PORT);
	ack(&q, 102);
	assert_int_equal(rig.last.type, HP3_EVENT_IDLE_SWITCH);
	middle(&q, 103);
	expect_left(3, 103, NEW_PORT, false);
}

static void drain_with_nothing_held(void **state)
{
	draining(0);
	ack(&q, 100);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rig.last.held_pkts, 0);
	middle(&q, 101);
	expect_left(1, 101, NEW_PORT, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(idle_with_proof_moves_at_once),
		RIG_TEST(rule_26_bad_icrc_is_no_progress),
		RIG_TEST(read_response_is_no_proof),
		RIG_TEST(rule_07_idle_after_a_retransmission_is_no_proof),
		RIG_TEST(rule_07_a_new_packet_behind_the_duplicates_is_proof),
		RIG_TEST(closing_packet_asks_for_its_acknowledgement),
		RIG_TEST(closing_read_and_atomic_are_left_as_they_are),
		RIG_TEST(newest_packet_closes_if_it_asked),
		RIG_TEST(newest_packet_does_not_close_after_a_retransmission),
		RIG_TEST(closing_ends_early_when_all_has_arrived),
		RIG_TEST(drain_with_nothing_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
