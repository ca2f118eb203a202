/* SPDX-License-Identifier: BSD-3-Clause */
/* cc = dcqcn: pacing and moves share one FIFO, and decisions are made at its exit (rule 14). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

static void config(void)
{
	rig.cfg.cc.mode = HP3_CC_DCQCN;
	rig.cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	rig.cfg.cc.rp.rpg_max_rate = 1000; /* Mb/s; a middle() takes 8.7 us, and comes after 1 us */
	rig.cfg.cc.max_rtt_ns = 200 * US;
}

/* PSN 100 is in flight, a CNP has come: 101 to 101 + n - 1 wait for the pacer. */
static void waiting(uint32_t n)
{
	rig_configure();
	in_flight(1);
	cnp();
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
	assert_int_equal(middle(&q, psn++), HP3_PASS); /* nothing was owed */
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(middle(&q, psn++), HP3_HOLD);
	assert_int_equal(rig.held, n);
}

static void pace_on(uint64_t ns)
{
	for (uint64_t t = 0; t < ns; t += US)
		pass_time(US);
}

static void a_flow_that_was_never_marked_is_not_paced(void **state)
{
	config();
	rig_configure();
	in_flight(30);
	assert_int_equal(rig.nwire, 30);
	assert_int_equal(stats()->paced, 0);
}

static void packets_leave_in_order_at_the_rate(void **state)
{
	config();
	waiting(3);
	for (uint32_t left = 3; left <= 5; left++) { /* 500 Mb/s: a packet takes 17.3 us */
		pace_on(12 * US);
		assert_int_equal(rig.nwire, left - 1);
		pace_on(left == 3 ? 4 * US : 6 * US);
		assert_int_equal(rig.nwire, left);
	}
	for (uint32_t i = 0; i < 5; i++)
		expect_left(i, 100 + i, q.home, false);
	assert_int_equal(stats()->paced, 3);
	assert_int_equal(middle(&q, psn++), HP3_HOLD); /* the one before it is owed yet */
	pace_on(20 * US);
	assert_int_equal(rig.held, 0);
}

static void rule_14_the_closing_packet_is_decided_at_the_exit(void **state)
{
	config();
	waiting(3);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	assert_int_equal(middle(&q, psn++), HP3_HOLD); /* behind those that wait */
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	while (rig.nwire < 3)
		pass_time(US);
	expect_left(2, 102, q.home, true); /* the head of the FIFO, made to ask */
	assert_int_equal(rig.newest[HP3_EVENT_SUSPEND].close_psn, 102);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	pace_on(100 * US);
	assert_int_equal(rig.nwire, 3); /* nothing behind it, whatever the pacer says */
	assert_int_equal(rig.held, 3);
	ack(&q, 102);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	pace_on(200 * US);
	for (uint32_t i = 3; i < 6; i++)
		expect_left(i, 100 + i, NEW_PORT, false);
}

/* What was sent is in flight, what waits is not: a reply for it contradicts. */
static void rule_14_what_waits_is_not_in_flight(void **state)
{
	config();
	rig.cfg.max_hold_ns = 10 * MS;
	waiting(3);
	assert_int_equal(move(&q, NEW_PORT), 0);
	while (rig.nwire < 3)
		pass_time(US);
	contradict(&q, 103);
	assert_int_equal(stats()->contradictions, 3);
	assert_false(info(&q).paired);
	pace_on(200 * US);
	assert_int_equal(rig.held, 0);
	expect_left(rig.nwire - 1, 104, q.home, false);
}

static void rule_14_a_copy_of_a_waiting_packet_is_superfluous(void **state)
{
	config();
	waiting(3);
	assert_int_equal(middle(&q, 103), HP3_DROP);
	assert_int_equal(stats()->superseded, 1);
	assert_int_equal(rig.dropped, 1);
	assert_int_equal(rig.held, 3);
	assert_int_equal(middle(&q, 100), HP3_HOLD); /* this one has left */
	pace_on(200 * US);
	expect_left(rig.nwire - 1, 100, q.home, false);
}

/* The copy asks for an acknowledgement and the first one does not: both leave. */
static void rule_14_a_copy_that_asks_is_kept(void **state)
{
	struct hp3_fields f = {
		.opcode = HP3_OP_RC_WRITE_MIDDLE, .psn = 103, .ackreq = true, .payload_len = PMTU};

	config();
	waiting(3);
	assert_int_equal(request(&q, &f), HP3_HOLD);
	assert_int_equal(request(&q, &f), HP3_DROP); /* now one is waiting that asks */
	pace_on(200 * US);
	expect_left(rig.nwire - 1, 103, q.home, true);
}

/* PSN 100 is lost: behind its copy, and 101's, the RNIC comes to what waits, which gives way. */
static void rule_14_what_waits_gives_way_when_the_rnic_goes_back(void **state)
{
	config();
	waiting(3);
	assert_int_equal(middle(&q, 100), HP3_HOLD);
	assert_int_equal(middle(&q, 101), HP3_HOLD);
	assert_int_equal(rig.held, 5);
	assert_int_equal(middle(&q, 102), HP3_HOLD);
	assert_int_equal(rig.discarded, 3);
	assert_int_equal(stats()->superseded, 3);
	for (uint32_t p = 103; p < 107; p++) /* the last two for the first time */
		assert_int_equal(middle(&q, p), HP3_HOLD);
	assert_int_equal(rig.held, 7);
	pace_on(200 * US);
	assert_int_equal(rig.nwire, 9);
	for (uint32_t i = 2; i < rig.nwire; i++)
		expect_left(i, 98 + i, q.home, false);
}

/* All room is taken: who takes the place of what gives way must not bear its number yet. */
static void numbers_are_not_given_away_twice(void **state)
{
	config();
	rig.cfg.hold_packets = 5;
	waiting(3);
	assert_int_equal(middle(&q, 100), HP3_HOLD);
	assert_int_equal(middle(&q, 101), HP3_HOLD);
	assert_int_equal(rig.held, 5);
	assert_int_equal(middle(&q, 102), HP3_HOLD);
	assert_int_equal(rig.discarded, 3);
	pace_on(200 * US);
	assert_int_equal(rig.nwire, 5);
	for (uint32_t i = 2; i < rig.nwire; i++)
		expect_left(i, 98 + i, q.home, false);
}

/* It goes back once more while copies wait: those that are next to leave go. */
static void rule_14_copies_give_way_to_newer_ones(void **state)
{
	config();
	waiting(1);
	for (uint32_t p = 100; p < 103; p++)
		assert_int_equal(middle(&q, p), HP3_HOLD);
	assert_int_equal(rig.discarded, 1);
	while (rig.nwire < 3)
		pass_time(US);
	expect_left(2, 100, q.home, false);
	for (uint32_t p = 100; p < 103; p++)
		assert_int_equal(middle(&q, p), HP3_HOLD);
	assert_int_equal(rig.discarded, 3);
	pace_on(200 * US);
	assert_int_equal(rig.nwire, 6);
	for (uint32_t i = 3; i < 6; i++)
		expect_left(i, 97 + i, q.home, false);
}

/* Acknowledged, copies need not wait; but nobody looked at the ICRC of READ data. */
static void rule_26_a_claim_drops_nothing_that_waits(void **state)
{
	config();
	waiting(3);
	for (uint32_t p = 100; p < 103; p++)
		assert_int_equal(middle(&q, p), HP3_HOLD);
	assert_int_equal(rig.discarded, 3);
	read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, 103, PMTU);
	assert_int_equal(info(&q).una, 104);
	assert_int_equal(middle(&q, 103), HP3_HOLD);
	assert_int_equal(rig.discarded, 3);
	ack(&q, 103);
	assert_int_equal(middle(&q, 104), HP3_HOLD);
	assert_int_equal(rig.discarded, 7); /* now it is sure */
}

/* The RNIC repeats what the peer lacks and nothing else: what waits will not come again. */
static void rule_14_what_is_not_sent_again_waits_on(void **state)
{
	config();
	waiting(3);
	assert_int_equal(middle(&q, 100), HP3_HOLD);
	assert_int_equal(middle(&q, psn++), HP3_HOLD); /* for the first time: 101 was left out */
	assert_int_equal(middle(&q, 101), HP3_HOLD);
	assert_int_equal(middle(&q, 102), HP3_DROP); /* its time-out; it waits */
	assert_int_equal(rig.discarded, 0);
	pace_on(200 * US);
	for (uint32_t i = 2; i < 5; i++)
		expect_left(i, 100 + i, q.home, false);
	assert_int_equal(rig.nwire, 8);
}

/* The closing packet is lost, its copy asks (rule 8), and so does the copy that takes its place. */
static void rule_08_a_copy_that_gives_way_is_asked_for_again(void **state)
{
	config();
	waiting(3);
	assert_int_equal(move(&q, NEW_PORT), 0);
	while (rig.nwire < 3)
		pass_time(US);
	expect_left(2, 102, q.home, true);
	for (unsigned i = 0; i < 2; i++) {
		for (uint32_t p = 100; p < 105; p++)
			assert_int_equal(middle(&q, p), HP3_HOLD);
		while (i == 0 && rig.nwire < 4)
			pass_time(US);
	}
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].reason, HP3_RFR_IN_TX_RETRANSMIT);
	assert_int_equal(rig.discarded, 2 + 4);
	pace_on(300 * US);
	assert_int_equal(rig.nwire, 9);
	expect_left(5, 101, q.home, false);
	expect_left(6, 102, q.home, true);
	expect_left(7, 103, q.home, false);
}

/* A retransmission at the head of the FIFO ends the move: it cannot close (rule 7). */
static void rule_07_a_waiting_retransmission_does_not_close(void **state)
{
	config();
	waiting(0);
	assert_int_equal(middle(&q, 100), HP3_HOLD);
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	assert_int_equal(move(&q, NEW_PORT), 0);
	pace_on(50 * US);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].reason, HP3_RFR_IN_TX_RETRANSMIT);
	pace_on(200 * US);
	expect_left(2, 100, q.home, false);
	expect_left(3, 102, q.home, false);
	assert_int_equal(rig.held, 0);
}

/* Pacing must not look like loss: a long queue leaves faster than DCQCN would have it. */
static void rule_14_the_rate_has_a_floor(void **state)
{
	uint64_t slow = 0;

	for (unsigned floor = 0; floor < 2; floor++) {
		rig_setup(state);
		config();
		rig.cfg.cc.rp.rpg_min_rate = 1;
		rig.cfg.cc.rp.rate_to_set_on_first_cnp = 1; /* Mb/s */
		rig.cfg.cc.rto_ns = floor ? 4000 * US : 0;
		waiting(20);
		for (uint64_t t = 0; rig.held != 0; t += 10 * US) {
			pass_time(10 * US);
			if (!floor)
				slow = t;
			else
				assert_in_range(t, 0, 1010 * US); /* a quarter of the time-out */
		}
	}
	assert_true(slow > 1010 * US);
}

/* No room: everything leaves, in order, rather than be dropped. */
static void overflow_lets_go_in_order(void **state)
{
	config();
	rig.cfg.hold_packets = 3;
	waiting(3);
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	assert_int_equal(rig.held, 0);
	for (uint32_t i = 0; i < 6; i++)
		expect_left(i, 100 + i, q.home, false);
	assert_int_equal(stats()->unpaced, 1);
	assert_int_equal(middle(&q, psn++), HP3_HOLD); /* what left early is owed all the same */
	pace_on(500 * US);
}

static void rule_16_a_new_epoch_discards_what_waits(void **state)
{
	config();
	waiting(3);
	assert_int_equal(middle(&q, 500000), HP3_PASS);
	assert_int_equal(rig.discarded, 3);
	assert_int_equal(rig.held, 0);
	pace_on(100 * US);
	assert_int_equal(rig.nwire, 3);
}

/* The hold after a failover is the same FIFO: the pacer lets nothing out before its time. */
static void rule_14_a_dead_path_stops_the_pacer(void **state)
{
	uint32_t left;

	config();
	probing_config();
	rig.cfg.stall_ns = 100 * US;
	rig.cfg.round.timeout_ns = 20 * US;
	rig.cfg.paths.window_ns = 20 * US;
	rig.cfg.cc.rp.rate_to_set_on_first_cnp = 1; /* Mb/s: a packet takes 8.7 ms */
	rig.cfg.cc.rp.rpg_time_reset = 100000;
	probing_engine();
	last(&q, psn++);
	ack(&q, psn - 1);
	cnp();
	last(&q, psn++);
	last(&q, psn++);
	middle(&q, psn++);
	assert_int_equal(rig.held, 2);
	for (unsigned i = 0; i < 100 && seen(HP3_EVENT_FAILOVER) == 0; i++) {
		uint32_t probes = rig.nprobes;

		pass_time(10 * US);
		if (rig.nprobes != probes)
			others_answer();
	}
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 1);
	left = rig.nwire;
	pass_time(9 * MS); /* the next packet's turn */
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	assert_int_equal(rig.nwire, left);
	assert_int_equal(rig.held, 2);
	last(&q, 101);
	expect_left(left, 101, info(&q).port, true);
	command(&q, HP3_CMD_CANCEL, 0);
	pass_time(20 * MS);
	pass_time(20 * MS);
	assert_int_equal(rig.held, 0);
}

/* Room for one: every end of a paced move gives it back. */
static void the_slot_is_free_again(void **state)
{
	struct qp other = make_qp(1);

	config();
	rig.cfg.max_moves = 1;
	rig.cfg.cc.max_rtt_ns = 0;
	waiting(1);
	assert_int_equal(move(&q, NEW_PORT), 0);
	while (rig.nwire < 3)
		pass_time(US);
	ack(&q, 102); /* the closing packet was the only one that waited */
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(set_up(&other), 0);
	last(&other, 7);
	assert_int_equal(move(&other, NEW_PORT), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_flow_that_was_never_marked_is_not_paced),
		RIG_TEST(packets_leave_in_order_at_the_rate),
		RIG_TEST(rule_14_the_closing_packet_is_decided_at_the_exit),
		RIG_TEST(rule_14_what_waits_is_not_in_flight),
		RIG_TEST(rule_14_a_copy_of_a_waiting_packet_is_superfluous),
		RIG_TEST(rule_14_a_copy_that_asks_is_kept),
		RIG_TEST(rule_14_what_waits_gives_way_when_the_rnic_goes_back),
		RIG_TEST(numbers_are_not_given_away_twice),
		RIG_TEST(rule_14_copies_give_way_to_newer_ones),
		RIG_TEST(rule_26_a_claim_drops_nothing_that_waits),
		RIG_TEST(rule_14_what_is_not_sent_again_waits_on),
		RIG_TEST(rule_08_a_copy_that_gives_way_is_asked_for_again),
		RIG_TEST(rule_07_a_waiting_retransmission_does_not_close),
		RIG_TEST(rule_14_the_rate_has_a_floor),
		RIG_TEST(overflow_lets_go_in_order),
		RIG_TEST(rule_16_a_new_epoch_discards_what_waits),
		RIG_TEST(rule_14_a_dead_path_stops_the_pacer),
		RIG_TEST(the_slot_is_free_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
