/* SPDX-License-Identifier: BSD-3-Clause */
/* Which local QPN do replies to a flow carry? Learnt from connection management or by challenge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"

#define HERE HP3_DIR_TX /* who sends a CM datagram */
#define PEER HP3_DIR_RX

/* --- connection management ------------------------------------------------------------------- */

static void cm_request_from_here(void **state)
{
	struct qp q = make_qp(0);

	cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_CM);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	assert_int_equal(rig.last.type, HP3_EV_PAIR);
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
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	assert_int_equal(info(&q).rqpn, q.rqpn);
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

/* Rule 16: a DREQ of either side is a new epoch. */
static void rule_16_dreq_is_a_new_epoch(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct qp q = make_qp(i);

		set_up(&q);
		last(&q, 100);
		assert_int_equal(move(&q, 60000), 0);
		assert_int_equal(middle(&q, 101), HP3_HOLD);
		if (i == 0)
			cm(HERE, &q, HP3_CM_DREQ, 1, 2, q.rqpn);
		else
			cm(PEER, &q, HP3_CM_DREQ, 2, 1, q.lqpn);
		assert_int_equal(rig.held, 0);
		assert_int_equal(rig.discarded, i + 1);
		assert_int_equal(rig.events[HP3_EV_EPOCH], i + 1);
		assert_false(info(&q).paired);
		assert_int_equal(stats()->epochs, i + 1);
		middle(&q, 50); /* anything can follow */
		assert_int_equal(info(&q).una, 50);
		assert_int_equal(stats()->epochs, i + 1);
	}
}

/* --- challenge ------------------------------------------------------------------------------- */

static int challenge_setup(void **state)
{
	rig_setup(state);
	rig.cfg.pair_by_challenge = true;
	rig_configure();
	return 0;
}

#define CHALLENGE_TEST(name) cmocka_unit_test_setup_teardown(name, challenge_setup, rig_teardown)

static bool asked(void)
{
	return rig.vd.flags & HP3_SET_ACKREQ;
}

/* Rule 15: three times the exact PSN. With nobody near, packets with AckReq cost nothing. */
static void rule_15_three_natural_answers(void **state)
{
	struct qp q = make_qp(0);

	for (uint32_t i = 1; i <= 3; i++) {
		assert_false(rig.nwire && info(&q).paired);
		last(&q, i);
		assert_false(asked());
		assert_int_equal(stats()->challenges, i);
		ack(&q, i);
		assert_int_equal(stats()->challenge_hits, i);
	}
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_CHALLENGE);
	assert_int_equal(rig.last.type, HP3_EV_PAIR);
	assert_int_equal(stats()->paired_challenge, 1);
	last(&q, 4);
	assert_int_equal(stats()->challenges, 3);
	ack(&q, 4);
	assert_int_equal(info(&q).inflight, 0);
}

/* A READ is answered by the response that carries its own PSN; others say less. */
static void rule_15_read_and_atomic_are_natural(void **state)
{
	struct qp q = make_qp(0);

	rig.cfg.challenge_hits = 2;
	rig_configure();
	read_request(&q, 10, 3000);
	ack(&q, 10);
	read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, 10, 1024);
	assert_int_equal(stats()->challenge_hits, 0);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, 10, 1024);
	assert_int_equal(stats()->challenge_hits, 1);
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_FETCH_ADD, .psn = 13});
	assert_false(asked());
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ATOMIC_ACK, .psn = 13});
	assert_true(info(&q).paired);
}

/* Two queue pairs at the same PSNs: natural answers would come from both, so one is forced. */
static void rule_15_forced_in_lockstep(void **state)
{
	struct qp q[2] = {make_qp(0), make_qp(1)};
	uint32_t forced = 0;

	for (uint32_t psn = 0; psn < 400 && stats()->paired_challenge < 2; psn++) {
		rig.nwire = 0;
		for (unsigned i = 0; i < 2; i++) {
			bool end = psn % 16 == 15;

			if (end)
				last(&q[i], psn);
			else
				middle(&q[i], psn);
			if (!asked())
				continue;
			forced++;
			assert_false(end);
			ack(&q[i], psn);
			rig.now += 10 * US; /* listens one more round trip */
		}
		if (psn % 16 == 15) {
			ack(&q[0], psn);
			ack(&q[1], psn);
		}
	}
	assert_int_equal(stats()->paired_challenge, 2);
	assert_int_equal(forced, 6);
	assert_int_equal(stats()->challenges, 6);
	assert_int_equal(info(&q[0]).lqpn, q[0].lqpn);
	assert_int_equal(info(&q[1]).lqpn, q[1].lqpn);
	assert_int_equal(stats()->contradictions, 0);
}

/* Forces a challenge in lockstep; returns the PSN that carries it. */
static uint32_t force(const struct qp *q, const struct qp *twin, uint32_t *psn)
{
	for (int i = 0; i < 300; i++) {
		uint32_t at = (*psn)++;

		rig.nwire = 0;
		bool found;

		middle(q, at);
		found = asked();
		middle(twin, at);
		if (found)
			return at;
		if (asked()) /* its turn: let it pass without an answer */
			rig.now += rig.cfg.challenge_timeout_ns;
	}
	fail_msg("no challenge in 300 packets");
	return 0;
}

static void rule_15_two_answers_are_none(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1);
	uint32_t psn = 0, at;

	rig.cfg.challenge_hits = 1;
	rig_configure();
	at = force(&a, &b, &psn);
	rig.now += 10 * US; /* round trip */
	ack(&a, at);
	rig.now += 5 * US;
	ack(&b, at);
	rig.now += 100 * US;
	uint64_t misses = stats()->challenge_misses;
	middle(&a, psn);
	middle(&b, psn++);
	assert_int_equal(stats()->challenge_misses, misses + 1);
	assert_false(info(&a).paired);
	assert_false(info(&b).paired);
	/* The same queue pair answering twice is no second answer. */
	at = force(&a, &b, &psn);
	rig.now += 10 * US;
	ack(&a, at);
	ack(&a, at);
	rig.now += 100 * US;
	middle(&a, psn);
	assert_true(info(&a).paired);
}

static void rule_15_only_the_exact_psn_counts(void **state)
{
	struct qp q = make_qp(0);

	rig.cfg.challenge_hits = 1;
	rig_configure();
	last(&q, 10);
	last(&q, 11);
	ack(&q, 11); /* acknowledges 10 as well, but anybody could say that */
	ack(&q, 9);
	nak(&q, 10);
	rnr(&q, 10);
	assert_int_equal(stats()->challenge_hits, 0);
	assert_false(info(&q).paired);
	ack(&q, 10);
	assert_true(info(&q).paired);
}

static void rule_15_no_answer_is_a_miss(void **state)
{
	struct qp q = make_qp(0);

	rig.cfg.challenge_hits = 1;
	rig_configure();
	last(&q, 10);
	rig.now += 3 * rig.cfg.challenge_timeout_ns;
	ack(&q, 10); /* too late: by now others could have come to this PSN */
	assert_int_equal(stats()->challenge_misses, 1);
	assert_false(info(&q).paired);
	last(&q, 11);
	assert_int_equal(stats()->challenges, 2);
	ack(&q, 11);
	assert_true(info(&q).paired);
}

static void rule_15_contradiction_starts_over(void **state)
{
	struct qp q = make_qp(0), wrong = q;

	wrong.lqpn = 0x7777;
	last(&q, 1);
	ack(&wrong, 1);
	last(&q, 2);
	ack(&wrong, 2);
	last(&q, 3);
	ack(&q, 3);
	assert_int_equal(stats()->contradictions, 1);
	last(&q, 4);
	ack(&q, 4);
	assert_false(info(&q).paired);
	last(&q, 5);
	ack(&q, 5);
	assert_int_equal(info(&q).lqpn, q.lqpn);
}

/* Rule 16: what was answered in the epoch before counts no more, paired or not. */
static void rule_16_epoch_forgets_the_candidate(void **state)
{
	struct qp q = make_qp(0);

	for (uint32_t psn = 1; psn <= 2; psn++) {
		last(&q, psn);
		ack(&q, psn);
	}
	for (uint32_t psn = 500000; psn < 500003; psn++) {
		assert_false(info(&q).paired);
		last(&q, psn);
		ack(&q, psn);
	}
	assert_int_equal(stats()->epochs, 1);
	assert_true(info(&q).paired);
}

static void rule_06_bad_icrc_does_not_count(void **state)
{
	struct qp q = make_qp(0);

	rig.cfg.challenge_hits = 1;
	rig_configure();
	last(&q, 1);
	rig.damage = true;
	ack(&q, 1);
	assert_int_equal(stats()->challenge_hits, 0);
	assert_int_equal(stats()->bad_icrc, 1);
	ack(&q, 1);
	assert_true(info(&q).paired);
}

/* A flow that never asks for acknowledgements: 128 packets later a packet is made to ask. */
static void forced_when_nothing_asks(void **state)
{
	struct qp q = make_qp(0);
	uint32_t psn = 0;

	while (psn < 200) {
		rig.nwire = 0;
		middle(&q, psn++);
		if (asked())
			break;
	}
	assert_in_range(psn, 129, 128 + 1 + rig.cfg.challenge_spread);
	ack(&q, psn - 1);
	assert_int_equal(stats()->challenge_hits, 0); /* listens first */
	rig.now += 10 * US;
	middle(&q, psn);
	assert_int_equal(stats()->challenge_hits, 1);
}

/* Natural answers name their flow by PSN: every flow may wait for one. */
static void natural_challenges_take_no_turns(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1);

	for (uint32_t i = 0; i < 3; i++) {
		last(&a, i);
		last(&b, 900000 + i);
		assert_int_equal(stats()->challenges, 2 * i + 2);
		ack(&b, 900000 + i);
		ack(&a, i);
	}
	assert_int_equal(info(&a).lqpn, a.lqpn);
	assert_int_equal(info(&b).lqpn, b.lqpn);
}

/* One forced challenge at a time per address pair; a flow that falls silent loses its turn. */
static void forced_challenges_take_turns(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1), elsewhere[2] = {make_qp(2), make_qp(3)};
	uint32_t psn = 0, at, there = 0;

	elsewhere[0].remote[3] = elsewhere[1].remote[3] = 77;
	at = force(&a, &b, &psn);
	force(&elsewhere[0], &elsewhere[1], &there);
	assert_int_equal(stats()->challenges, 2);
	for (uint32_t i = 0; i < 50; i++) {
		middle(&b, psn++);
		assert_false(asked());
	}
	rig.now += rig.cfg.challenge_timeout_ns;
	ack(&a, at); /* too late */
	assert_int_equal(stats()->challenge_misses, 1);
	for (uint32_t i = 0; i < rig.cfg.challenge_spread && !asked(); i++)
		middle(&b, psn++);
	assert_true(asked());
	tear_down(&b); /* takes its challenge along */
	for (uint32_t i = 1; i <= rig.cfg.challenge_spread; i++) {
		middle(&a, at + i);
		if (asked())
			break;
	}
	assert_true(asked());
}

static void challenge_switched_off(void **state)
{
	struct qp q = make_qp(0);

	rig.cfg.pair_by_challenge = false;
	rig_configure();
	for (uint32_t i = 0; i < 200; i++) {
		rig.nwire = 0;
		last(&q, i);
		ack(&q, i);
	}
	assert_int_equal(stats()->challenges, 0);
	assert_false(info(&q).paired);
}

/* Injective: what set-up tells wins over what was inferred, for the same and for another flow. */
static void rule_15_setup_wins_over_inference(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1);

	for (uint32_t i = 1; i <= 3; i++) {
		last(&a, i);
		ack(&a, i);
	}
	assert_int_equal(info(&a).pairing, HP3_PAIRING_CHALLENGE);
	b.lqpn = a.lqpn;
	assert_int_equal(set_up(&b), 0);
	assert_false(info(&a).paired);
	assert_int_equal(info(&b).lqpn, a.lqpn);
	assert_int_equal(rig.events[HP3_EV_UNPAIR], 1);
	assert_int_equal(stats()->contradictions, 1);
}

/* A challenge that was under way when set-up told the pairing has no say any more. */
static void rule_15_setup_ends_the_challenge(void **state)
{
	struct qp a = make_qp(0), twin = make_qp(1), wrong = make_qp(0);
	uint32_t psn = 0, at;

	rig.cfg.challenge_hits = 1;
	rig_configure();
	wrong.lqpn = 0x7777;
	at = force(&a, &twin, &psn);
	ack(&wrong, at);
	assert_int_equal(set_up(&a), 0);
	rig.now += 10 * MS;
	middle(&a, 5000);
	middle(&twin, psn);
	assert_int_equal(info(&a).lqpn, a.lqpn);
	assert_int_equal(info(&a).pairing, HP3_PAIRING_EVENT);
	/* Nor one of the epoch before. */
	tear_down(&a);
	last(&a, 700000);
	assert_int_equal(set_up(&twin), 0);
	cm(HERE, &a, HP3_CM_DREQ, 1, 2, a.rqpn);
	ack(&wrong, 700000);
	assert_false(info(&a).paired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(cm_request_from_here),
		RIG_TEST(cm_request_from_the_peer),
		RIG_TEST(cm_datagrams_sent_again_change_nothing),
		RIG_TEST(cm_reply_must_answer_the_request),
		RIG_TEST(cm_switched_off),
		RIG_TEST(cm_many_requests),
		RIG_TEST(rule_16_dreq_is_a_new_epoch),
		CHALLENGE_TEST(rule_15_three_natural_answers),
		CHALLENGE_TEST(rule_15_read_and_atomic_are_natural),
		CHALLENGE_TEST(rule_15_forced_in_lockstep),
		CHALLENGE_TEST(rule_15_two_answers_are_none),
		CHALLENGE_TEST(rule_15_only_the_exact_psn_counts),
		CHALLENGE_TEST(rule_15_no_answer_is_a_miss),
		CHALLENGE_TEST(rule_15_contradiction_starts_over),
		CHALLENGE_TEST(rule_16_epoch_forgets_the_candidate),
		CHALLENGE_TEST(rule_06_bad_icrc_does_not_count),
		CHALLENGE_TEST(forced_when_nothing_asks),
		CHALLENGE_TEST(natural_challenges_take_no_turns),
		CHALLENGE_TEST(forced_challenges_take_turns),
		CHALLENGE_TEST(challenge_switched_off),
		CHALLENGE_TEST(rule_15_setup_wins_over_inference),
		CHALLENGE_TEST(rule_15_setup_ends_the_challenge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
