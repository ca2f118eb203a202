/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows without history, other streams, queue pairs that return: rules 11 to 17. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

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

	draining(3);
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
		draining(3);
		assert_int_equal(middle(&q, psn), HP3_PASS);
		expect_left(1, psn, q.home, false);
		assert_int_equal(rig.discarded, 3);
		assert_int_equal(rig.held, 0);
		assert_int_equal(rig.events[HP3_EVENT_EPOCH], 1);
		assert_int_equal(stats()->moves_discarded, 1);
		assert_int_equal(stats()->epochs, 1);
		assert_false(info(&q).paired);
		assert_int_equal(info(&q).una, psn);
		assert_int_equal(move(&q, NEW_PORT), -ENOLINK);
	}
}

/* Where the PSN cannot tell (one sent before), the set-up event does. The next PSN shows that the
 * event is late, or looks like it. */
static void rule_16_epoch_by_event(void **state)
{
	static const int32_t off[] = {-1, 1, -4, 1 << 23, -(1 << 23)};

	draining(3);
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(middle(&q, 104), HP3_HOLD);
	assert_int_equal(rig.held, 4);
	assert_int_equal(stats()->epochs, 0);
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		uint32_t psn = (uint32_t)(104 + off[i]) & HP3_PSN_MASK;

		rig_setup(NULL);
		draining(3);
		assert_int_equal(set_up(&q), 0);
		assert_int_equal(rig.held, 3);
		assert_int_equal(middle(&q, psn), HP3_PASS);
		assert_int_equal(rig.discarded, 3);
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

/*
 * Rule 16: a fatal NAK ends the move. What is held goes out as it would have: the NAK may be one of
 * the queue pair that had this number before, and a queue pair in error ignores what comes.
 */
static void rule_16_fatal_nak_releases(void **state)
{
	for (uint8_t code = 1; code <= 4; code++) {
		rig_setup(NULL);
		draining(3);
		reply(&q, HP3_SYN_NAK | code, 100);
		assert_int_equal(rig.discarded, 0);
		assert_int_equal(rig.nwire, 4);
		expect_left(3, 103, q.home, false);
		assert_int_equal(rig.last.type, HP3_EVENT_RECOVER);
		assert_int_equal(rig.last.reason, HP3_RFR_IN_FATAL);
	}
}

/*
 * Rule 15: contradictions unpair; in a drain they release on the old port as well. One of them may
 * be forged, and means nothing.
 */
static void rule_15_contradiction_in_a_drain(void **state)
{
	for (uint32_t psn = 101; psn <= 104; psn++) {
		rig_setup(NULL);
		rig.cfg.max_hold_ns = 10 * MS;
		rig_configure();
		draining(3);
		ack(&q, psn); /* 101 and behind have not left */
		assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
		contradict(&q, psn);
		for (uint32_t i = 0; i < 3; i++)
			expect_left(1 + i, 101 + i, q.home, false);
		assert_int_equal(rig.events[HP3_EVENT_RECOVER], 1);
		assert_int_equal(rig.events[HP3_EVENT_UNPAIR], 1);
		assert_false(info(&q).paired);
		assert_int_equal(stats()->contradictions, 4);
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
	fragment(HP3_DIR_TX, &six);
	assert_int_equal(move(&six, 61000), -EPERM);
	middle(&six, 2);
	expect_left(rig.nwire - 1, 2, NEW_PORT, false);
}

/* ... for a minute after the last one; those of other datagrams, and the network's, pin nothing. */
static void rule_17_only_fragments_of_ours_and_for_a_while(void **state)
{
	rig.cfg.idle_age_ns = rig.cfg.dead_age_ns = 600000 * MS;
	rig_configure();
	for (unsigned six = 0; six < 2; six++) {
		q = make_qp(six);
		q.ipv6 = six;
		set_up(&q);
		last(&q, 1);
		ack(&q, 1);
		fragment(HP3_DIR_RX, &q);
		fragment_of(HP3_DIR_TX, &q, 53, 0);
		fragment_of(HP3_DIR_TX, &q, HP3_ROCE_UDP_PORT, 1480);
		assert_int_equal(move(&q, NEW_PORT), 0);
		fragment(HP3_DIR_TX, &q);
		pass_time(30000 * MS);
		fragment(HP3_DIR_TX, &q);
		pass_time(59999 * MS);
		assert_int_equal(move(&q, 61000), -EPERM);
		pass_time(MS);
		assert_int_equal(move(&q, 61000), 0);
	}
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
		RIG_TEST(rule_11_unknown_history),
		RIG_TEST(rule_11_unknown_opcode),
		RIG_TEST(rule_12_responder_stream_is_not_touched),
		RIG_TEST(rule_16_epoch_in_mid_hold),
		RIG_TEST(rule_16_epoch_by_event),
		RIG_TEST(rule_16_epoch_keeps_the_port),
		RIG_TEST(rule_16_fatal_nak_releases),
		RIG_TEST(rule_15_contradiction_in_a_drain),
		RIG_TEST(rule_17_fragments_pin_the_pair),
		RIG_TEST(rule_17_only_fragments_of_ours_and_for_a_while),
		RIG_TEST(moves_across_the_psn_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
