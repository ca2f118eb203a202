/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast recovery: held packets leave on the old port, before later ones; and every end of a move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

static void expect_recovered(uint32_t n, enum hp3_rfr_input reason)
{
	for (uint32_t i = 0; i < n; i++)
		expect_left(1 + i, 101 + i, q.home, false);
	assert_int_equal(rig.held, 0);
	assert_int_equal(rig.last.type, HP3_EVENT_RECOVER);
	assert_int_equal(rig.last.reason, reason);
	assert_int_equal(rig.last.held_pkts, n);
	assert_int_equal(stats()->moves_recovered, 1);
	assert_int_equal(stats()->searches_fruitless, 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
}

static void retransmission_recovers_and_leaves_last(void **state)
{
	draining(3);
	middle(&q, 100);
	expect_recovered(3, HP3_RFR_IN_TX_RETRANSMIT);
	expect_left(4, 100, q.home, true);
	middle(&q, 101);
	expect_left(5, 101, q.home, false);
}

/* A packet that is held already is sent again: both leave, the held ones first. */
static void retransmission_of_a_held_packet(void **state)
{
	draining(3);
	middle(&q, 102);
	expect_recovered(3, HP3_RFR_IN_TX_RETRANSMIT);
	expect_left(4, 102, q.home, false);
}

static void nak_recovers(void **state)
{
	draining(3);
	nak(&q, 100);
	expect_recovered(3, HP3_RFR_IN_NAK);
	assert_int_equal(stats()->naks, 1);
}

static void rnr_recovers(void **state)
{
	draining(3);
	rnr(&q, 100);
	expect_recovered(3, HP3_RFR_IN_RNR);
	assert_int_equal(stats()->rnrs, 1);
}

static void max_hold_recovers(void **state)
{
	draining(3);
	pass_time(rig.cfg.max_hold_ns - 4 * US);
	assert_int_equal(rig.held, 3);
	pass_time(US);
	expect_recovered(3, HP3_RFR_IN_TIMEOUT);
}

static void cancel_recovers(void **state)
{
	draining(2);
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0);
	expect_recovered(2, HP3_RFR_IN_CANCEL);
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0); /* nothing to call off */
	assert_int_equal(stats()->moves_recovered, 1);
}

static void close_timeout_recovers(void **state)
{
	in_flight(1);
	move(&q, NEW_PORT);
	pass_time(rig.cfg.close_timeout_ns - US);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	pass_time(US);
	expect_recovered(0, HP3_RFR_IN_TIMEOUT);
	middle(&q, 101);
	expect_left(1, 101, q.home, false);
}

static void closing_is_ended_by_loss(void **state)
{
	in_flight(3);
	move(&q, NEW_PORT);
	nak(&q, 101);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_NAK);
	move(&q, NEW_PORT);
	middle(&q, 101);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_TX_RETRANSMIT);
	expect_left(3, 101, q.home, false);
	assert_int_equal(stats()->moves_recovered, 2);
}

/* The packet that finds no room leaves behind those that were held. */
static void hold_bytes_full_recovers(void **state)
{
	rig.cfg.hold_bytes = 3 * LEN;
	rig_configure();
	draining(3);
	assert_int_equal(middle(&q, 104), HP3_PASS);
	expect_recovered(3, HP3_RFR_IN_HOLD_FULL);
	expect_left(4, 104, q.home, false);
}

static void total_hold_full_recovers(void **state)
{
	struct qp other = make_qp(1);

	rig.cfg.hold_bytes_total = 4 * LEN;
	rig_configure();
	set_up(&other);
	last(&other, 100);
	move(&other, NEW_PORT);
	assert_int_equal(middle(&other, 101), HP3_HOLD);
	rig.nwire = 0;
	in_flight(1);
	last(&q, 101);
	move(&q, NEW_PORT);
	for (uint32_t psn = 102; psn < 105; psn++)
		assert_int_equal(middle(&q, psn), HP3_HOLD);
	assert_int_equal(middle(&q, 105), HP3_PASS);
	assert_int_equal(rig.held, 1); /* the other flow goes on */
	expect_left(4, 104, q.home, false);
	expect_left(5, 105, q.home, false);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_HOLD_FULL);
	ack(&other, 100);
	expect_left(6, 101, NEW_PORT, false);
}

static void hold_packets_full_recovers(void **state)
{
	rig.cfg.hold_packets = 2;
	rig_configure();
	draining(2);
	assert_int_equal(middle(&q, 103), HP3_PASS);
	expect_recovered(2, HP3_RFR_IN_HOLD_FULL);
}

/* As much as the caller has room for, and no more; what leaves makes room again. */
static void no_room_at_the_caller_recovers(void **state)
{
	rig.cfg.hold_packets = 8;
	rig_configure();
	draining(2);
	hp3_hold_room(rig.e, 1);
	assert_int_equal(middle(&q, 103), HP3_HOLD);
	assert_int_equal(middle(&q, 104), HP3_PASS);
	expect_recovered(3, HP3_RFR_IN_HOLD_FULL);
	hp3_hold_room(rig.e, 0);
	ack(&q, 104);
	last(&q, 105);
	move(&q, NEW_PORT);
	assert_int_equal(middle(&q, 106), HP3_PASS);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_HOLD_FULL);
	hp3_hold_room(rig.e, UINT32_MAX);
	ack(&q, 106);
	last(&q, 107);
	move(&q, NEW_PORT);
	for (uint32_t i = 0; i < rig.cfg.hold_packets; i++)
		assert_int_equal(middle(&q, 108 + i), HP3_HOLD);
	assert_int_equal(middle(&q, 108 + rig.cfg.hold_packets), HP3_PASS);
}

static void end_by_drain(void)
{
	ack(&q, 100);
}
static void end_by_nak(void)
{
	nak(&q, 100);
}
static void end_by_fatal(void)
{
	reply(&q, HP3_SYN_NAK | 2, 100);
}
static void end_by_retransmission(void)
{
	middle(&q, 100);
}
static void end_by_epoch(void)
{
	middle(&q, 100000);
}
static void end_by_contradiction(void)
{
	contradict(&q, 101);
}
static void end_by_time(void)
{
	pass_time(rig.cfg.max_hold_ns);
}
static void end_by_cancel(void)
{
	command(&q, HP3_CMD_CANCEL, 0);
}
static void end_by_full_hold(void)
{
	middle(&q, 105);
}
/* Events may be late: the next packet shows that they are not, or the move ends by its bound. */
static void end_by_set_up(void)
{
	set_up(&q);
	middle(&q, 5000);
}
static void end_by_tear_down(void)
{
	tear_down(&q);
	pass_time(rig.cfg.max_hold_ns + MS);
}

/* Room for exactly four packets: after every kind of end all of it is there again. */
static void every_end_gives_back_the_room(void **state)
{
	static void (*const ends[])(void) = {end_by_drain, end_by_nak, end_by_fatal,
		end_by_retransmission, end_by_epoch, end_by_contradiction, end_by_time,
		end_by_cancel, end_by_full_hold, end_by_set_up, end_by_tear_down};

	for (unsigned by_packets = 0; by_packets < 2; by_packets++) {
		rig_setup(NULL);
		if (by_packets)
			rig.cfg.hold_packets = 4;
		else
			rig.cfg.hold_bytes_total = 4 * LEN;
		rig.cfg.max_moves = 1;
		rig.cfg.max_hold_ns = 10 * MS;
		rig_configure();
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			draining(4);
			ends[i]();
			assert_int_equal(rig.held, 0);
			assert_int_equal(hp3_engine_moves(rig.e), 0);
			assert_int_equal(hp3_tick(rig.e, rig.now, &(struct hp3_acts){0}) > 0, 1);
			tear_down_at_rest(&q);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(retransmission_recovers_and_leaves_last),
		RIG_TEST(retransmission_of_a_held_packet),
		RIG_TEST(nak_recovers),
		RIG_TEST(rnr_recovers),
		RIG_TEST(max_hold_recovers),
		RIG_TEST(cancel_recovers),
		RIG_TEST(close_timeout_recovers),
		RIG_TEST(closing_is_ended_by_loss),
		RIG_TEST(hold_bytes_full_recovers),
		RIG_TEST(total_hold_full_recovers),
		RIG_TEST(hold_packets_full_recovers),
		RIG_TEST(no_room_at_the_caller_recovers),
		RIG_TEST(every_end_gives_back_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
