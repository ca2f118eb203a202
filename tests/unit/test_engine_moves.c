/* SPDX-License-Identifier: BSD-3-Clause */
/* A move from the command to its event: idle, behind a drain, recovered, refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "packets.h"

#define NEW_PORT 60000u
#define LEN      1082u /* frame of a middle(): Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4 */

static struct qp q;

/* A paired flow, PSN 100 to 100 + n - 1 in flight without AckReq. */
static void in_flight(uint32_t n)
{
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(middle(&q, 100 + i), HP3_PASS);
}

/* In the middle of a drain: 100 closes, 101 to 101 + n - 1 are held. */
static void draining(uint32_t n)
{
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	last(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(middle(&q, 101 + i), HP3_HOLD);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	assert_int_equal(rig.held, n);
}

/* --- nothing in flight ----------------------------------------------------------------------- */

static void idle_with_proof_moves_at_once(void **state)
{
	in_flight(3);
	last(&q, 103);
	ack(&q, 103);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.last.type, HP3_EV_IDLE_SWITCH);
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

static void rule_06_bad_icrc_is_no_proof(void **state)
{
	in_flight(2);
	rig.damage = true;
	ack(&q, 101);
	expect_a_drain(102);
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
	assert_int_equal(rig.events[HP3_EV_IDLE_SWITCH], 1);
}

/* --- behind a drain -------------------------------------------------------------------------- */

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

	assert_int_equal(rig.last.type, HP3_EV_SWITCH);
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
	assert_int_equal(rig.last.type, HP3_EV_IDLE_SWITCH);
	middle(&q, 103);
	expect_left(3, 103, NEW_PORT, false);
}

static void drain_with_nothing_held(void **state)
{
	draining(0);
	ack(&q, 100);
	assert_int_equal(rig.last.type, HP3_EV_SWITCH);
	assert_int_equal(rig.last.held_pkts, 0);
	middle(&q, 101);
	expect_left(1, 101, NEW_PORT, false);
}

/* --- fast recovery: held packets leave on the old port, before what comes next ---------------- */

static void expect_recovered(uint32_t n, enum hp3_rfr_input reason)
{
	for (uint32_t i = 0; i < n; i++)
		expect_left(1 + i, 101 + i, q.home, false);
	assert_int_equal(rig.held, 0);
	assert_int_equal(rig.last.type, HP3_EV_RECOVER);
	assert_int_equal(rig.last.reason, reason);
	assert_int_equal(rig.last.held_pkts, n);
	assert_int_equal(stats()->moves_recovered, 1);
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
	ack(&q, 101);
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
static void end_by_set_up(void)
{
	set_up(&q);
}
static void end_by_tear_down(void)
{
	tear_down(&q);
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
		rig_configure();
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			draining(4);
			ends[i]();
			assert_int_equal(rig.held, 0);
			assert_int_equal(hp3_engine_moves(rig.e), 0);
			assert_int_equal(hp3_tick(rig.e, rig.now, &(struct hp3_acts){0}) > 0, 1);
			tear_down(&q);
		}
	}
}

/* --- commands -------------------------------------------------------------------------------- */

static void home(void **state)
{
	draining(1);
	ack(&q, 100);
	assert_int_equal(hp3_engine_moved(rig.e), 1);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), 0);
	middle(&q, 102); /* closes */
	expect_left(2, 102, NEW_PORT, true);
	assert_int_equal(middle(&q, 103), HP3_HOLD);
	ack(&q, 102);
	expect_left(3, 103, q.home, false);
	assert_false(info(&q).moved);
	assert_int_equal(hp3_engine_moved(rig.e), 0);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), -EALREADY);
}

static void refusals(void **state)
{
	struct qp unpaired = make_qp(1), silent = make_qp(2), unknown = make_qp(3);
	static const int all[] = {EPERM, ENOENT, ENOLINK, EBUSY, EAGAIN, ENODATA, EALREADY, ENOSPC};

	rig.cfg.max_moves = 1;
	rig_configure();
	in_flight(2);
	middle(&unpaired, 5);
	set_up(&silent);
	assert_int_equal(move(&unknown, NEW_PORT), -ENOENT);
	assert_int_equal(command(&unknown, HP3_CMD_CANCEL, 0), -ENOENT);
	assert_int_equal(move(&unpaired, NEW_PORT), -ENOLINK);
	assert_int_equal(move(&silent, NEW_PORT), -ENODATA);
	assert_int_equal(move(&q, q.home), -EALREADY);
	hp3_set_moves_allowed(rig.e, false);
	assert_int_equal(move(&q, NEW_PORT), -EPERM);
	hp3_set_moves_allowed(rig.e, true);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(move(&q, NEW_PORT), -EBUSY);
	last(&silent, 1);
	assert_int_equal(move(&silent, NEW_PORT), -ENOSPC);
	ack(&q, 101);
	assert_int_equal(move(&q, NEW_PORT), -EALREADY);
	assert_int_equal(move(&silent, NEW_PORT), 0);
	assert_int_equal(stats()->moves_asked, 9);
	assert_int_equal(stats()->moves_refused, 7);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_string_not_equal(hp3_command_error(-all[i]), hp3_command_error(-EINVAL));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
				hp3_command_error(-all[i]), hp3_command_error(-all[k]));
	}
}

static void random_ports(void **state)
{
	uint16_t was, seen = 0;

	q = make_qp(0);
	set_up(&q);
	last(&q, 0);
	ack(&q, 0);
	was = q.home;
	for (uint32_t i = 0; i < 1000; i++) {
		uint16_t port;

		assert_int_equal(move(&q, 0), 0);
		port = info(&q).port;
		assert_in_range(port, 0xc000, 0xffff);
		assert_int_not_equal(port, was);
		seen |= (uint16_t)(1u << (port >> 10 & 15));
		was = port;
	}
	assert_int_equal(seen, 0xffff);
	assert_int_equal(info(&q).moves, 255); /* and more */
	assert_int_equal(stats()->moves_idle, 1000);
}

/* Twenty drains end in the same tick: forty actions, in lists of sixteen. */
static void many_deadlines_at_once(void **state)
{
	uint64_t due;

	for (unsigned i = 0; i < 20; i++) {
		q = make_qp(i);
		set_up(&q);
		last(&q, 1);
		assert_int_equal(move(&q, NEW_PORT), 0);
		assert_int_equal(middle(&q, 2), HP3_HOLD);
	}
	due = hp3_tick(rig.e, rig.now, &(struct hp3_acts){0});
	assert_in_range(due, rig.now + 1, rig.now + rig.cfg.max_hold_ns);
	assert_int_equal(rig.nwire, 20);
	pass_time(rig.cfg.max_hold_ns);
	assert_int_equal(rig.nwire, 40);
	assert_int_equal(rig.events[HP3_EV_RECOVER], 20);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
}

/* A deadline that is over does not make those forgotten that are not. */
static void deadlines_in_turn(void **state)
{
	for (unsigned i = 0; i < 3; i++) {
		q = make_qp(i);
		set_up(&q);
		last(&q, 1);
		assert_int_equal(move(&q, NEW_PORT), 0);
		rig.now += 100 * US;
	}
	pass_time(rig.cfg.max_hold_ns - 300 * US); /* since the first was moved: max_hold */
	for (unsigned i = 1; i <= 3; i++) {
		struct hp3_acts acts = {0};

		assert_int_equal(rig.events[HP3_EV_RECOVER], i);
		assert_int_equal(hp3_engine_moves(rig.e), 3 - i);
		assert_true(hp3_tick(rig.e, rig.now, &acts) <= rig.now + 110 * US || i == 3);
		assert_int_equal(acts.n, 0);
		pass_time(110 * US);
	}
}

/* Two flows in lockstep: challenges and ports are drawn at random. */
static void script(void)
{
	rig.cfg.pair_by_challenge = true;
	rig_configure();
	for (uint32_t psn = 0; psn < 200; psn++) {
		for (unsigned i = 0; i < 2; i++) {
			q = make_qp(i);
			if (psn % 16 == 15)
				last(&q, psn);
			else
				middle(&q, psn);
			if ((rig.vd.flags & HP3_SET_ACKREQ) || psn % 16 == 15) {
				rig.now += 10 * US;
				ack(&q, psn);
				rig.now += 20 * US;
				move(&q, 0);
			}
		}
	}
	assert_true(info(&q).moves > 2);
}

static void same_seed_same_results(void **state)
{
	static struct rig first;

	script();
	first = rig;
	script();
	assert_int_equal(rig.nwire, first.nwire);
	assert_memory_equal(rig.wire, first.wire, sizeof(rig.wire));
	assert_memory_equal(rig.events, first.events, sizeof(rig.events));
	rig.cfg.seed++;
	script();
	assert_memory_not_equal(rig.wire, first.wire, sizeof(rig.wire));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(idle_with_proof_moves_at_once),
		RIG_TEST(rule_06_bad_icrc_is_no_proof),
		RIG_TEST(read_response_is_no_proof),
		RIG_TEST(rule_07_idle_after_a_retransmission_is_no_proof),
		RIG_TEST(rule_07_a_new_packet_behind_the_duplicates_is_proof),
		RIG_TEST(closing_packet_asks_for_its_acknowledgement),
		RIG_TEST(closing_read_and_atomic_are_left_as_they_are),
		RIG_TEST(newest_packet_closes_if_it_asked),
		RIG_TEST(newest_packet_does_not_close_after_a_retransmission),
		RIG_TEST(closing_ends_early_when_all_has_arrived),
		RIG_TEST(drain_with_nothing_held),
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
		RIG_TEST(every_end_gives_back_the_room),
		RIG_TEST(home),
		RIG_TEST(refusals),
		RIG_TEST(random_ports),
		RIG_TEST(many_deadlines_at_once),
		RIG_TEST(deadlines_in_turn),
		RIG_TEST(same_seed_same_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
