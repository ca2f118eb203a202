/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaving a dead path: when the RNIC gets a NAK, which packets wait, and how sending continues
 * (rules 4 and 13). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

static uint32_t una; /* oldest PSN in flight when the path died */
static uint16_t to; /* the new port */

static void dies(void)
{
	path_dies();
	to = info(&q).port;
	rig.nwire = 0;
}

static void alive(void)
{
	stall_config();
	rig.cfg.probes = HP3_PROBES_PEER;
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ACK, .psn = psn - 1, .msn = 77});
	una = psn;
}

/* Four packets una .. una + 3 are in flight on a dead path, which the flow has just left. */
static void failed_over(void)
{
	alive();
	for (unsigned i = 0; i < 3; i++)
		middle(&q, psn++);
	last(&q, psn++);
	dies();
}

/* --- the NAK to the local RNIC --- */

static void rule_04_the_nak_names_the_oldest_packet_in_flight(void **state)
{
	failed_over();
	assert_int_equal(rig.acts[HP3_ACT_NAK], 1);
	assert_int_equal(rig.other.kind, HP3_ACT_NAK);
	assert_int_equal(rig.other.psn, una);
	assert_int_equal(rig.other.msn, 77); /* of the last real reply */
	assert_int_equal(rig.other.pkey, 0xffff);
	assert_int_equal(rig.other.flow, flow_of(&q));
	assert_true(rig.newest[HP3_EVENT_FAILOVER].nak);
	assert_int_equal(stats()->naks_made, 1);
}

/* Another flow of the peer began before this one was seen last: however long ago that is. */
static void rule_15_who_began_long_ago_is_no_successor(void **state)
{
	for (uint64_t days = 1; days < 100; days += 14) {
		struct qp other = make_qp(1);

		rig_setup(state);
		rig.cfg.idle_age_ns = rig.cfg.dead_age_ns = UINT64_MAX / 2;
		alive();
		middle(&other, 7);
		rig.now += days * 86400 * 1000 * MS;
		for (unsigned i = 0; i < 4; i++)
			exchange(false);
		middle(&q, psn++);
		last(&q, psn++);
		dies();
		assert_int_equal(rig.acts[HP3_ACT_NAK], 1);
	}
}

/* It would end a half-done READ or ATOMIC as if it were complete. */
static void rule_04_no_nak_with_a_read_or_atomic_outstanding(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		rig_setup(state);
		alive();
		middle(&q, psn++);
		if (i == 0)
			read_request(&q, psn++, PMTU);
		else
			request(&q,
				&(struct hp3_fields){.opcode = HP3_OP_RC_FETCH_ADD, .psn = psn++});
		peer_alive(&q);
		dies(); /* the port changes all the same */
		assert_int_equal(rig.acts[HP3_ACT_NAK], 0);
		assert_false(rig.newest[HP3_EVENT_FAILOVER].nak);
	}
}

/* Its request has arrived, and nothing was sent since; the RNIC waits for the rest all the same. */
static void rule_04_no_nak_with_a_read_half_answered(void **state)
{
	uint32_t read;

	alive();
	read = psn;
	read_request(&q, read, 4 * PMTU);
	psn += 4;
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, read, PMTU);
	middle(&q, psn++);
	peer_alive(&q);
	dies();
	assert_int_equal(rig.events[HP3_EVENT_FAILOVER], 1);
	assert_int_equal(rig.acts[HP3_ACT_NAK], 0);
}

/* All of its data were seen, but nobody looked at the ICRC of the long ones. */
static void rule_04_no_nak_behind_data_that_nobody_checked(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		rig_setup(state);
		alive();
		middle(&q, psn++); /* teaches the PMTU */
		last(&q, psn++);
		ack(&q, psn - 1);
		read_request(&q, psn, 2 * PMTU + 4);
		read_response(&q, HP3_OP_RC_READ_RESP_FIRST, psn, PMTU);
		read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, psn + 1, PMTU);
		read_response(&q, HP3_OP_RC_READ_RESP_LAST, psn + 2, 4);
		psn += 3;
		if (i == 1) {
			last(&q, psn++);
			ack(&q, psn - 1); /* an RNIC that lacks some asks again now */
		}
		middle(&q, psn++);
		last(&q, psn++);
		dies();
		assert_int_equal(rig.acts[HP3_ACT_NAK], i);
	}
}

/* One response, which was checked; it may have been lost between us and the RNIC all the same. */
static void rule_04_no_nak_behind_missing_data(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		rig_setup(state);
		alive();
		if (i & 1) {
			request(&q,
				&(struct hp3_fields){.opcode = HP3_OP_RC_FETCH_ADD, .psn = psn});
			response(&q,
				&(struct hp3_fields){.opcode = HP3_OP_RC_ATOMIC_ACK, .psn = psn});
		} else {
			read_request(&q, psn, 8);
			read_response(&q, HP3_OP_RC_READ_RESP_ONLY, psn, 8);
		}
		psn++;
		if (i & 2) {
			last(&q, psn++);
			ack(&q, psn - 1); /* an RNIC that lacks it asks again now */
		}
		middle(&q, psn++);
		last(&q, psn++);
		dies();
		assert_int_equal(rig.acts[HP3_ACT_NAK], i >> 1);
		assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 0);
	}
}

/*
 * Another flow of the peer is not paired: the queue pair may be that one's by now. `i`: is nobody
 * unpaired, does no reply contradict, or was that before the last progress?
 */
static void rule_15_no_nak_where_a_reply_contradicts(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		struct qp other = make_qp(1);

		rig_setup(state);
		alive();
		if (i != 1)
			middle(&other, 7);
		pass_time(MS);
		middle(&q, psn++);
		last(&q, psn++);
		if (i != 2)
			ack(&q, psn + 10);
		if (i == 3) {
			ack(&q, psn - 1);
			una = psn;
			middle(&q, psn++);
			last(&q, psn++);
		}
		dies();
		assert_int_equal(rig.acts[HP3_ACT_NAK], i != 0);
	}
}

static void rule_04_once_per_oldest_packet(void **state)
{
	failed_over();
	pass_time(rig.cfg.close_timeout_ns); /* nothing came of it */
	assert_int_equal(seen(HP3_EVENT_RESUME), 1);
	dies();
	assert_int_equal(rig.acts[HP3_ACT_NAK], 1);
	assert_false(rig.newest[HP3_EVENT_FAILOVER].nak);
	ack(&q, una + 1);
	pass_time(rig.cfg.close_timeout_ns);
	steps(STALL); /* the progress is seen */
	dies();
	assert_int_equal(rig.acts[HP3_ACT_NAK], 2);
	assert_int_equal(rig.other.psn, una + 2);
}

/* --- sending goes on: the oldest packet first, never a gap --- */

static void rule_13_the_first_packet_on_the_new_port_is_the_oldest(void **state)
{
	failed_over();
	assert_int_equal(middle(&q, psn++), HP3_HOLD); /* the RNIC does not know yet */
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	assert_int_equal(middle(&q, una), HP3_PASS);
	expect_left(0, una, to, false);
	assert_int_equal(rig.held, 2);
}

static void going_back_n_supersedes_what_is_held(void **state)
{
	failed_over();
	middle(&q, psn++);
	middle(&q, psn++);
	for (uint32_t i = 0; i < 4; i++) {
		middle(&q, una + i);
		expect_left(i, una + i, to, false);
	}
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	assert_int_equal(middle(&q, una + 4), HP3_PASS); /* a copy of what is held */
	assert_int_equal(rig.discarded, 2);
	assert_int_equal(rig.held, 0);
	expect_left(4, una + 4, to, false);
	assert_int_equal(rig.last.type, HP3_EVENT_RESUME);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_TX_AGAIN);
	assert_int_equal(rig.last.held_pkts, 2);
	middle(&q, una + 5);
	middle(&q, una + 6);
	expect_left(6, una + 6, to, false);
	assert_int_equal(stats()->resumed, 1);
}

static void nothing_held_ends_with_the_last_copy(void **state)
{
	failed_over();
	for (uint32_t i = 0; i < 3; i++)
		middle(&q, una + i);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	middle(&q, una + 3);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_CAUGHT_UP);
	assert_int_equal(middle(&q, psn), HP3_PASS);
	expect_left(4, psn, to, false);
}

/* The RNIC sends what is missing and goes on with what is new: what is held follows in between. */
static void selective_repeat_is_followed_by_what_is_held(void **state)
{
	failed_over();
	middle(&q, psn++);
	middle(&q, psn++);
	for (uint32_t i = 0; i < 4; i++)
		middle(&q, una + i);
	assert_int_equal(rig.held, 2); /* it may yet send them again */
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	for (uint32_t i = 0; i < 7; i++)
		expect_left(i, una + i, to, false);
	assert_int_equal(rig.discarded, 0);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_CAUGHT_UP);
}

/* The old path was not as dead as it looked. */
static void late_acks_of_the_old_path_release(void **state)
{
	failed_over();
	middle(&q, psn++);
	ack(&q, una + 1);
	assert_int_equal(rig.held, 1);
	ack(&q, una + 3);
	expect_left(0, una + 4, to, false);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_CAUGHT_UP);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

static void a_late_ack_moves_the_start(void **state)
{
	failed_over();
	middle(&q, psn++);
	ack(&q, una + 1);
	assert_int_equal(middle(&q, una + 3), HP3_HOLD); /* una + 2 is still missing */
	assert_int_equal(middle(&q, una), HP3_PASS); /* has arrived: a duplicate at most */
	assert_int_equal(middle(&q, una + 2), HP3_PASS);
	expect_left(1, una + 2, to, false);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0);
}

/* A selective RNIC repeats what one NAK named; what else is missing may yet come from the old path:
 * were new packets to overtake it, the receiver would see a gap. */
static void what_is_repeated_in_the_middle_proves_nothing_behind_it(void **state)
{
	failed_over();
	assert_int_equal(middle(&q, una + 2), HP3_HOLD); /* repeated: una is not here yet */
	ack(&q, una + 1);
	expect_left(0, una + 2, to, false);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING); /* una + 3 is still missing */
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	assert_int_equal(middle(&q, una + 2), HP3_PASS); /* once more: a duplicate */
	ack(&q, una + 2);
	assert_int_equal(rig.held, 1);
	ack(&q, una + 3);
	expect_left(2, una + 4, to, false);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_CAUGHT_UP);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* --- every hold ends --- */

static void hold_two(void)
{
	failed_over();
	middle(&q, psn++);
	middle(&q, psn++);
	assert_int_equal(rig.held, 2);
}

static void expect_released(enum hp3_rfr_input reason)
{
	expect_left(0, una + 4, to, false);
	expect_left(1, una + 5, to, false);
	assert_int_equal(rig.held, 0);
	assert_int_equal(rig.newest[HP3_EVENT_RESUME].reason, reason);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
	assert_int_equal(info(&q).port, to);
}

static void a_full_hold_releases(void **state)
{
	rig.cfg.hold_packets = 2;
	hold_two();
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	expect_released(HP3_RFR_IN_HOLD_FULL);
	expect_left(2, una + 6, to, false);
}

static void the_end_of_the_time_releases(void **state)
{
	hold_two();
	pass_time(rig.cfg.close_timeout_ns - 10 * US);
	assert_int_equal(rig.held, 2);
	pass_time(10 * US);
	expect_released(HP3_RFR_IN_TIMEOUT);
}

static void cancelling_releases(void **state)
{
	hold_two();
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0);
	expect_released(HP3_RFR_IN_CANCEL);
}

static void rule_15_a_contradiction_releases_and_unpairs(void **state)
{
	hold_two();
	ack(&q, psn + 10);
	assert_int_equal(rig.held, 2);
	contradict(&q, psn + 10);
	expect_released(HP3_RFR_IN_CONTRADICTION);
	assert_false(info(&q).paired);
}

static void rule_16_epoch_discards(void **state)
{
	hold_two();
	middle(&q, psn + 100000);
	assert_int_equal(rig.discarded, 2);
	assert_int_equal(rig.newest[HP3_EVENT_EPOCH].cause, HP3_CAUSE_DEAD);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* It may be of the queue pair before: what is held waits on for what is missing before it. */
static void rule_16_a_fatal_nak_decides_nothing(void **state)
{
	hold_two();
	reply(&q, HP3_SYN_NAK | 2, una);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_int_equal(rig.held, 2);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	command(&q, HP3_CMD_CANCEL, 0);
}

/* A sequence NAK is the RNIC's business; it makes it go back. */
static void a_nak_reaches_the_rnic(void **state)
{
	hold_two();
	nak(&q, una);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_int_equal(rig.held, 2);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	command(&q, HP3_CMD_CANCEL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_04_the_nak_names_the_oldest_packet_in_flight),
		RIG_TEST(rule_04_no_nak_with_a_read_or_atomic_outstanding),
		RIG_TEST(rule_04_no_nak_with_a_read_half_answered),
		RIG_TEST(rule_04_no_nak_behind_data_that_nobody_checked),
		RIG_TEST(rule_04_no_nak_behind_missing_data),
		RIG_TEST(rule_15_no_nak_where_a_reply_contradicts),
		RIG_TEST(rule_15_who_began_long_ago_is_no_successor),
		RIG_TEST(rule_04_once_per_oldest_packet),
		RIG_TEST(rule_13_the_first_packet_on_the_new_port_is_the_oldest),
		RIG_TEST(going_back_n_supersedes_what_is_held),
		RIG_TEST(nothing_held_ends_with_the_last_copy),
		RIG_TEST(selective_repeat_is_followed_by_what_is_held),
		RIG_TEST(late_acks_of_the_old_path_release),
		RIG_TEST(a_late_ack_moves_the_start),
		RIG_TEST(what_is_repeated_in_the_middle_proves_nothing_behind_it),
		RIG_TEST(a_full_hold_releases),
		RIG_TEST(the_end_of_the_time_releases),
		RIG_TEST(cancelling_releases),
		RIG_TEST(rule_15_a_contradiction_releases_and_unpairs),
		RIG_TEST(rule_16_epoch_discards),
		RIG_TEST(rule_16_a_fatal_nak_decides_nothing),
		RIG_TEST(a_nak_reaches_the_rnic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
