/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairing by connection management: REQ, REP and DREQ on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"

#define HERE HP3_DIR_TX /* who sends a CM datagram */
#define PEER HP3_DIR_RX

static void cm_request_from_here(void **state)
{
	struct qp q = make_qp(0);

	cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_CM);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	assert_int_equal(rig.last.type, HP3_EVENT_PAIR);
	assert_int_equal(stats()->paired_cm, 1);
	cm(HERE, &q, HP3_CM_RTU, 0xaaa, 0xbbb, 0);
	last(&q, 10);
	ack(&q, 10);
	assert_int_equal(rig.vd.flow, flow_of(&q));
	assert_int_equal(info(&q).inflight, 0);
}

static void cm_request_from_the_peer(void **state)
{
	struct qp q = make_qp(0);

	q.ipv6 = true;
	q.vlan = 7;
	q.local[15] = q.remote[14] = 1;
	cm(PEER, &q, HP3_CM_REQ, 0xaaa, 0, q.rqpn);
	cm(HERE, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.lqpn);
	cm(PEER, &q, HP3_CM_RTU, 0xaaa, 0xbbb, 0);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	assert_int_equal(info(&q).rqpn, q.rqpn);
}

/* The RTU is lost: its queue pair sends. */
static void cm_request_from_the_peer_without_rtu(void **state)
{
	struct qp q = make_qp(0);

	rig.cm_psn = 100;
	cm(PEER, &q, HP3_CM_REQ, 0xaaa, 0, q.rqpn);
	cm(HERE, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.lqpn);
	last(&q, 100);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_CM);
	assert_int_equal(info(&q).lqpn, q.lqpn);
}

/* Whoever listens here answers requests with invented addresses and numbers: without the RTU, for
 * which one has to see the answer, they take no record. */
static void requests_with_invented_addresses_take_no_record(void **state)
{
	for (uint32_t i = 0; i < 1000; i++) {
		struct qp q = make_qp(i);

		rig.nwire = 0;
		q.remote[2] = (uint8_t)i;
		cm(PEER, &q, HP3_CM_REQ, i, 0, q.rqpn);
		cm(HERE, &q, HP3_CM_REP, 0x10000 + i, i, q.lqpn);
		cm(PEER, &q, HP3_CM_RTU, i, i, 0);
	}
	assert_int_equal(hp3_engine_flows(rig.e), 0);
	assert_int_equal(stats()->flows_created, 0);
}

static void cm_datagrams_sent_again_change_nothing(void **state)
{
	struct qp q = make_qp(0);

	cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
	cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	last(&q, 1);
	last(&q, 2);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_int_equal(stats()->paired_cm, 1);
	assert_int_equal(stats()->epochs, 0);
	assert_int_equal(info(&q).inflight, 2);
	assert_true(info(&q).paired);
}

/* A REP pairs only if it answers the REQ: comm id, direction, addresses and VLAN. */
static void cm_reply_must_answer_the_request(void **state)
{
	struct qp q = make_qp(0), elsewhere = q, tagged = q;

	elsewhere.remote[3] = 77;
	tagged.vlan = 9;
	cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaab, q.rqpn);
	cm(HERE, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	cm(PEER, &elsewhere, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	cm(PEER, &tagged, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_int_equal(hp3_engine_flows(rig.e), 0);
	rig.damage = true; /* rule 6 */
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_int_equal(hp3_engine_flows(rig.e), 0);
	assert_int_equal(stats()->bad_icrc, 1);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_int_equal(hp3_engine_flows(rig.e), 1);
}

static void cm_switched_off(void **state)
{
	struct qp q = make_qp(0);

	rig.cfg.pair_by_cm = false;
	rig_configure();
	cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_int_equal(hp3_engine_flows(rig.e), 0);
}

/* Requests that nobody answers push out older ones, never newer ones. */
static void cm_many_requests(void **state)
{
	struct qp q = make_qp(0);

	for (uint32_t i = 0; i < 1000; i++) {
		rig.nwire = 0;
		cm(HERE, &q, HP3_CM_REQ, i, 0, q.lqpn + i);
	}
	cm(PEER, &q, HP3_CM_REP, 1, 0, q.rqpn);
	assert_int_equal(hp3_engine_flows(rig.e), 0);
	for (uint32_t i = 900; i < 950; i++) {
		q.rqpn = 0x5000 + i;
		cm(PEER, &q, HP3_CM_REP, 1, i, q.rqpn);
		assert_int_equal(info(&q).lqpn, q.lqpn + i);
	}
}

/* Connected by REQ and REP (0xaaa here, 0xbbb there), in a drain, one packet held. */
static struct qp connected_and_draining(unsigned i, enum hp3_dir asks)
{
	struct qp q = make_qp(i);

	rig.cm_psn = 100;
	if (asks == HERE) {
		cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
		cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	} else {
		cm(PEER, &q, HP3_CM_REQ, 0xbbb, 0, q.rqpn);
		cm(HERE, &q, HP3_CM_REP, 0xaaa, 0xbbb, q.lqpn);
		cm(PEER, &q, HP3_CM_RTU, 0xbbb, 0xaaa, 0);
	}
	rig.nwire = 0;
	last(&q, 100);
	assert_int_equal(move(&q, 60000), 0);
	assert_int_equal(middle(&q, 101), HP3_HOLD);
	return q;
}

/* Rule 16: a DREQ of either side is a new epoch. Anybody may have sent it, so nothing is lost. */
static void rule_16_dreq_is_a_new_epoch(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		struct qp q = connected_and_draining(i, i / 2 ? PEER : HERE);

		if (i % 2 == 0)
			cm(HERE, &q, HP3_CM_DREQ, 0xaaa, 0xbbb, q.rqpn);
		else
			cm(PEER, &q, HP3_CM_DREQ, 0xbbb, 0xaaa, q.lqpn);
		assert_int_equal(rig.held, 0);
		assert_int_equal(rig.discarded, 0);
		expect_left(1, 101, q.home, false);
		assert_int_equal(rig.events[HP3_EVENT_RECOVER], i + 1);
		assert_false(info(&q).paired);
		assert_int_equal(stats()->epochs, i + 1);
		middle(&q, 50); /* anything can follow */
		assert_int_equal(info(&q).una, 50);
		assert_int_equal(stats()->epochs, i + 1);
	}
}

/* Rule 16: ids and QPN have to be those of the connection; where nobody saw them, only the local
 * host is believed, and only of a flow without traffic. */
static void rule_16_a_forged_dreq_means_nothing(void **state)
{
	struct qp q = connected_and_draining(0, HERE), other = make_qp(1);

	cm(PEER, &q, HP3_CM_DREQ, 0xbbb, 0xaab, q.lqpn);
	cm(PEER, &q, HP3_CM_DREQ, 0xbbc, 0xaaa, q.lqpn);
	cm(PEER, &q, HP3_CM_DREQ, 0xaaa, 0xbbb, q.lqpn);
	cm(PEER, &q, HP3_CM_DREQ, 0xbbb, 0xaaa, q.lqpn + 1);
	cm(PEER, &q, HP3_CM_DREQ, 0xbbb, 0xaaa, q.rqpn);
	cm(HERE, &q, HP3_CM_DREQ, 0xaab, 0xbbb, q.rqpn);
	rig.damage = true;
	cm(PEER, &q, HP3_CM_DREQ, 0xbbb, 0xaaa, q.lqpn);
	assert_int_equal(rig.held, 1);
	assert_true(info(&q).paired);
	set_up(&other);
	cm(PEER, &other, HP3_CM_DREQ, 0, 0, other.lqpn);
	cm(PEER, &other, HP3_CM_DREQ, 0xbbb, 0xaaa, other.lqpn);
	assert_true(info(&other).paired);
	assert_int_equal(stats()->epochs, 0);
	last(&other, 100); /* traffic: not even the local host, which gives no ids that are known */
	cm(HERE, &other, HP3_CM_DREQ, 1, 2, other.rqpn);
	cm(HERE, &other, HP3_CM_DREQ, 0, 0, other.rqpn);
	assert_true(info(&other).paired);
	ack(&other, 100);
	cm(HERE, &other, HP3_CM_DREQ, 0, 0, other.rqpn);
	assert_true(info(&other).paired);
	assert_int_equal(stats()->epochs, 0);
	ack(&q, 100);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	pass_time(300 * MS); /* it rests */
	cm(HERE, &other, HP3_CM_DREQ, 1, 2, other.rqpn);
	assert_false(info(&other).paired);
}

/* Rule 16: nor does the next connection of that number end anything, once both sides know, before
 * its first packet. */
static void rule_16_an_rtu_ends_no_traffic(void **state)
{
	struct qp q = connected_and_draining(0, HERE), next = q;

	next.lqpn++;
	rig.cm_psn = 7000;
	cm(HERE, &q, HP3_CM_REQ, 0xaac, 0, next.lqpn);
	cm(PEER, &q, HP3_CM_REP, 0xbbd, 0xaac, q.rqpn);
	assert_int_equal(rig.held, 1);
	cm(HERE, &q, HP3_CM_RTU, 0xaac, 0xbbd, 0);
	assert_int_equal(rig.held, 1);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	assert_int_equal(stats()->setups_ignored, 1);
	ack(&q, 100);
	assert_int_equal(rig.held, 0);
	middle(&next, 7000);
	assert_int_equal(info(&next).lqpn, next.lqpn);
	cm(PEER, &next, HP3_CM_DREQ, 0xbbb, 0xaaa, next.lqpn); /* of the one before */
	assert_true(info(&next).paired);
	cm(PEER, &next, HP3_CM_DREQ, 0xbbd, 0xaac, next.lqpn);
	assert_false(info(&next).paired);
}

/* Somebody asks in the peer's name, with the number of its queue pair; who listens here answers,
 * and the flow that has that number goes on: its move, its pairing, its epoch. */
static void rule_16_a_forged_request_that_is_answered_means_nothing(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct qp q = connected_and_draining(i, i ? PEER : HERE), next = q;

		next.lqpn += 77;
		rig.cm_psn = i ? 102 : 7000; /* the next one, too */
		cm(PEER, &next, HP3_CM_REQ, 0xccc, 0, q.rqpn);
		rig.cm_psn = 9000;
		cm(HERE, &next, HP3_CM_REP, 0xddd, 0xccc, next.lqpn);
		cm(PEER, &next, HP3_CM_RTU, 0xccc, 0xdde, 0); /* he has not seen the answer */
		cm(PEER, &next, HP3_CM_RTU, 0xccd, 0xddd, 0);
		cm(HERE, &next, HP3_CM_RTU, 0xccc, 0xddd, 0);
		assert_int_equal(rig.held, 1);
		assert_int_equal(info(&q).lqpn, q.lqpn);
		assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
		assert_int_equal(middle(&q, 102), HP3_HOLD);
		ack(&q, 100);
		assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
		assert_true(info(&q).moved);
		assert_int_equal(stats()->epochs + stats()->unpaired, 0);
		assert_int_equal(rig.held, 0);
	}
}

/* The RTU was lost: the queue pair begins where REQ and REP had it begin. */
static void rule_16_first_data_confirm_what_was_agreed(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct qp q = connected_and_draining(i, HERE), next = q;

		next.lqpn += 77;
		rig.cm_psn = 7000;
		cm(HERE, &q, HP3_CM_REQ, 0xaac, 0, next.lqpn);
		cm(PEER, &q, HP3_CM_REP, 0xbbd, 0xaac, q.rqpn);
		middle(&q, i ? 7000 : 7001);
		assert_int_equal(stats()->epochs, i + 1);
		assert_int_equal(info(&next).paired, i);
		if (i)
			assert_int_equal(info(&next).lqpn, next.lqpn);
	}
}

/* ... and what was agreed on for a queue pair that has ended pairs no later one. */
static void rule_16_an_agreement_ends_with_its_queue_pair(void **state)
{
	struct qp q = connected_and_draining(0, HERE), next = q;

	next.lqpn += 77;
	rig.cm_psn = 7000;
	cm(HERE, &q, HP3_CM_REQ, 0xaac, 0, next.lqpn);
	cm(PEER, &q, HP3_CM_REP, 0xbbd, 0xaac, q.rqpn);
	tear_down(&next);
	middle(&q, 7000);
	assert_false(info(&q).paired);
}

/* Requests from the network, however many, push out none of the local host. */
static void forged_requests_leave_ours(void **state)
{
	struct qp q = make_qp(0), forged = make_qp(1);

	cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
	for (uint32_t i = 0; i < 1000; i++)
		cm(PEER, &forged, HP3_CM_REQ, i, 0, forged.rqpn + i);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_true(info(&q).paired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(cm_request_from_here),
		RIG_TEST(cm_request_from_the_peer),
		RIG_TEST(cm_request_from_the_peer_without_rtu),
		RIG_TEST(requests_with_invented_addresses_take_no_record),
		RIG_TEST(cm_datagrams_sent_again_change_nothing),
		RIG_TEST(cm_reply_must_answer_the_request),
		RIG_TEST(cm_switched_off),
		RIG_TEST(cm_many_requests),
		RIG_TEST(rule_16_dreq_is_a_new_epoch),
		RIG_TEST(rule_16_a_forged_dreq_means_nothing),
		RIG_TEST(rule_16_an_rtu_ends_no_traffic),
		RIG_TEST(rule_16_a_forged_request_that_is_answered_means_nothing),
		RIG_TEST(rule_16_first_data_confirm_what_was_agreed),
		RIG_TEST(rule_16_an_agreement_ends_with_its_queue_pair),
		RIG_TEST(forged_requests_leave_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
