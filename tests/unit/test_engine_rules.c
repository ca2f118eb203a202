/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules that keep queue pairs alive and packets in order, each with the story that needs it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "packets.h"

#define NEW_PORT 60000u

static struct qp q;

/* PSN 100 closes, 101 to 103 are held. */
static void draining(void)
{
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	last(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	for (uint32_t psn = 101; psn <= 103; psn++)
		assert_int_equal(middle(&q, psn), HP3_HOLD);
}

/* A flow that was moved and has PSN `psn` in flight on the new port. */
static void moved(uint32_t psn)
{
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	last(&q, psn - 1);
	ack(&q, psn - 1);
	assert_int_equal(move(&q, NEW_PORT), 0);
	middle(&q, psn);
	expect_left(rig.nwire - 1, psn, NEW_PORT, false);
}

/* Rule 6: damaged replies pass to the RNIC, which drops them, and mean nothing here. */
static void rule_06_damaged_replies_mean_nothing(void **state)
{
	draining();
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
	assert_int_equal(rig.last.type, HP3_EV_SWITCH);
}

static void rule_06_damaged_contradiction_does_not_unpair(void **state)
{
	moved(100);
	rig.damage = true;
	ack(&q, 500);
	assert_true(info(&q).paired);
	ack(&q, 500);
	assert_false(info(&q).paired);
	assert_int_equal(stats()->contradictions, 1);
	assert_int_equal(rig.last.type, HP3_EV_UNPAIR);
	assert_int_equal(info(&q).port, NEW_PORT); /* what is in flight is there */
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
	draining();
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
		assert_int_equal(rig.last.type, psn == 139 ? HP3_EV_SWITCH : HP3_EV_UNPAIR);
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
	draining();
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

/* Rule 11: hp3 starts in the middle of a stream; what is below the first PSN seen counts. */
static void rule_11_unknown_history(void **state)
{
	q = make_qp(0);
	set_up(&q);
	last(&q, 1000);
	ack(&q, 900);
	ack(&q, 999);
	assert_int_equal(info(&q).inflight, 1);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(middle(&q, 1001), HP3_HOLD);
	ack(&q, 999);
	assert_int_equal(rig.held, 1);
	ack(&q, 1000);
	assert_int_equal(rig.held, 0);
}

/* Rule 11: opcodes that we do not know take the flow's port and its hold. */
static void rule_11_unknown_opcode(void **state)
{
	struct hp3_fields f = {.opcode = 0x1f, .payload_len = 64};

	moved(100);
	f.psn = 101;
	request(&q, &f);
	expect_left(rig.nwire - 1, 101, NEW_PORT, false);
	assert_int_equal(info(&q).nxt, 102);
	last(&q, 102);
	move(&q, 61000);
	f.psn = 103;
	assert_int_equal(request(&q, &f), HP3_HOLD);
	ack(&q, 102);
	expect_left(rig.nwire - 1, 103, 61000, false);
}

/* Rule 12: what the local RNIC answers is another stream: its port is left alone, held or not. */
static void rule_12_responder_stream_is_not_touched(void **state)
{
	static const uint8_t replies[] = {HP3_OP_RC_ACK, HP3_OP_RC_READ_RESP_ONLY,
		HP3_OP_RC_READ_RESP_MIDDLE, HP3_OP_RC_ATOMIC_ACK};

	draining();
	for (size_t i = 0; i < sizeof(replies); i++) {
		struct hp3_fields f = {.opcode = replies[i], .psn = 104};

		assert_int_equal(request(&q, &f), HP3_PASS);
		expect_left(rig.nwire - 1, 104, q.home, false);
	}
	assert_int_equal(info(&q).nxt, 104);
	assert_int_equal(rig.held, 3);
	command(&q, HP3_CMD_CANCEL, 0);
}

/*
 * Rule 16: the queue pair comes again with the same QPN. Where the PSN tells, it is a new epoch:
 * held packets are discarded, nothing is known, the port stays.
 */
static void rule_16_epoch_in_mid_hold(void **state)
{
	static const int32_t off[] = {1, 2, 77, -300, (1 << 23) - 1, -(1 << 23), 1 << 22};

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		uint32_t psn = (uint32_t)(104 + off[i]) & HP3_PSN_MASK;

		rig_setup(NULL);
		draining();
		assert_int_equal(middle(&q, psn), HP3_PASS);
		expect_left(1, psn, q.home, false);
		assert_int_equal(rig.discarded, 3);
		assert_int_equal(rig.held, 0);
		assert_int_equal(rig.events[HP3_EV_EPOCH], 1);
		assert_int_equal(stats()->moves_discarded, 1);
		assert_int_equal(stats()->epochs, 1);
		assert_false(info(&q).paired);
		assert_int_equal(info(&q).una, psn);
		assert_int_equal(move(&q, NEW_PORT), -ENOLINK);
	}
}

/* Where the PSN cannot tell (next, or one sent before), the set-up event does. */
static void rule_16_epoch_by_event(void **state)
{
	static const int32_t off[] = {-1, 0, 1, -4, 1 << 23, -(1 << 23)};

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		uint32_t psn = (uint32_t)(104 + off[i]) & HP3_PSN_MASK;

		rig_setup(NULL);
		draining();
		assert_int_equal(set_up(&q), 0);
		assert_int_equal(rig.discarded, 3);
		assert_int_equal(middle(&q, psn), HP3_PASS);
		expect_left(1, psn, q.home, false);
		assert_int_equal(info(&q).una, psn);
		assert_int_equal(info(&q).inflight, 1);
		assert_int_equal(stats()->epochs, 1);
	}
}

/* A moved flow keeps its port through an epoch: what may still travel went there. */
static void rule_16_epoch_keeps_the_port(void **state)
{
	moved(100);
	middle(&q, 5000);
	assert_int_equal(stats()->epochs, 1);
	expect_left(rig.nwire - 1, 5000, NEW_PORT, false);
	assert_int_equal(hp3_engine_moved(rig.e), 1);
}

/* Rule 16: a fatal NAK ends the queue pair; what is held goes with it. */
static void rule_16_fatal_nak_discards(void **state)
{
	for (uint8_t code = 1; code <= 4; code++) {
		rig_setup(NULL);
		draining();
		reply(&q, HP3_SYN_NAK | code, 100);
		assert_int_equal(rig.discarded, 3);
		assert_int_equal(rig.nwire, 1);
		assert_int_equal(rig.last.type, HP3_EV_EPOCH);
		assert_int_equal(rig.last.reason, HP3_RFR_IN_FATAL);
	}
}

/* Rule 15: one contradiction unpairs; in a drain it releases on the old port as well. */
static void rule_15_contradiction_in_a_drain(void **state)
{
	for (uint32_t psn = 101; psn <= 104; psn++) {
		rig_setup(NULL);
		draining();
		ack(&q, psn); /* 101 and behind have not left */
		for (uint32_t i = 0; i < 3; i++)
			expect_left(1 + i, 101 + i, q.home, false);
		assert_int_equal(rig.events[HP3_EV_RECOVER], 1);
		assert_int_equal(rig.events[HP3_EV_UNPAIR], 1);
		assert_false(info(&q).paired);
		assert_int_equal(stats()->contradictions, 1);
		ack(&q, 100); /* nobody's reply any more */
		assert_int_equal(rig.vd.flow, HP3_NO_FLOW);
	}
}

/* Rule 17: fragments carry no ports; flows of their address pair stay where they are. */
static void rule_17_fragments_pin_the_pair(void **state)
{
	struct qp elsewhere = make_qp(1), six = make_qp(2);

	elsewhere.remote[3] = 77;
	six.ipv6 = true;
	six.vlan = 5;
	q = make_qp(0);
	set_up(&q);
	set_up(&elsewhere);
	set_up(&six);
	last(&q, 1);
	last(&elsewhere, 1);
	last(&six, 1);
	fragment(HP3_DIR_TX, &q);
	assert_int_equal(rig.vd.flow, HP3_NO_FLOW);
	assert_int_equal(move(&q, NEW_PORT), -EPERM);
	assert_int_equal(move(&elsewhere, NEW_PORT), 0);
	assert_int_equal(move(&six, NEW_PORT), 0);
	ack(&six, 1);
	fragment(HP3_DIR_RX, &six);
	assert_int_equal(move(&six, 61000), -EPERM);
	middle(&six, 2);
	expect_left(rig.nwire - 1, 2, NEW_PORT, false);
}

/* The whole way round, through the end of the PSN space, with loss on every second move. */
static void moves_across_the_psn_wrap(void **state)
{
	uint32_t psn = 0xffffe0, newest = 0;

	q = make_qp(0);
	set_up(&q);
	for (uint32_t i = 0; i < 20; i++) {
		uint16_t port = (uint16_t)(NEW_PORT + i), was;

		rig.nwire = 0;
		middle(&q, psn);
		was = rig.wire[0].port;
		assert_int_equal(move(&q, port), 0);
		middle(&q, psn + 1);
		expect_left(1, (psn + 1) & HP3_PSN_MASK, was, true);
		assert_int_equal(middle(&q, psn + 2), HP3_HOLD);
		newest = psn + 2;
		if (i % 2) {
			nak(&q, psn + 1);
			expect_left(2, newest & HP3_PSN_MASK, was, false);
			middle(&q, psn + 1);
			middle(&q, psn + 2);
		} else {
			ack(&q, psn + 1);
			expect_left(2, newest & HP3_PSN_MASK, port, false);
		}
		ack(&q, newest);
		psn += 3;
	}
	assert_int_equal(stats()->moves_switched, 10);
	assert_int_equal(stats()->moves_recovered, 10);
	assert_int_equal(stats()->epochs + stats()->contradictions, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_06_damaged_replies_mean_nothing),
		RIG_TEST(rule_06_damaged_contradiction_does_not_unpair),
		RIG_TEST(rule_08_ackreq_on_every_transmission),
		RIG_TEST(rule_08_newest_packet_as_closing_packet),
		RIG_TEST(rule_09_closing_read),
		RIG_TEST(rule_09_closing_read_of_unknown_span),
		RIG_TEST(rule_10_rnr_pending),
		RIG_TEST(rule_10_rnr_behind_the_closing_packet),
		RIG_TEST(rule_10_rnr_before_the_closing_packet),
		RIG_TEST(rule_11_unknown_history),
		RIG_TEST(rule_11_unknown_opcode),
		RIG_TEST(rule_12_responder_stream_is_not_touched),
		RIG_TEST(rule_15_contradiction_in_a_drain),
		RIG_TEST(rule_16_epoch_in_mid_hold),
		RIG_TEST(rule_16_epoch_by_event),
		RIG_TEST(rule_16_epoch_keeps_the_port),
		RIG_TEST(rule_16_fatal_nak_discards),
		RIG_TEST(rule_17_fragments_pin_the_pair),
		RIG_TEST(moves_across_the_psn_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
