/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairing by inference: packets with AckReq of their own, and replies with their exact PSN (rule
 * 15). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "challenge.h"

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
	assert_int_equal(rig.last.type, HP3_EVENT_PAIR);
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

/* FLUSH and ATOMIC WRITE are answered by a READ RESPONSE ONLY. An ACK says less. */
static void rule_15_flush_and_atomic_write_are_natural(void **state)
{
	struct qp q = make_qp(0);

	rig.cfg.challenge_hits = 2;
	rig_configure();
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_FLUSH, .psn = 10, .dma_len = 8192});
	assert_false(asked());
	ack(&q, 10);
	assert_int_equal(stats()->challenge_hits, 0);
	read_response(&q, HP3_OP_RC_READ_RESP_ONLY, 10, 0);
	assert_int_equal(stats()->challenge_hits, 1);
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ATOMIC_WRITE,
			    .psn = 11,
			    .dma_len = 8,
			    .payload = "8 bytes",
			    .payload_len = 8});
	assert_false(asked());
	assert_false(info(&q).paired);
	read_response(&q, HP3_OP_RC_READ_RESP_ONLY, 11, 0);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).inflight, 0);
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
	assert_int_equal(rig.events[HP3_EVENT_UNPAIR], 1);
	assert_int_equal(stats()->contradictions, 1);
}

/*
 * Rule 15: an ACK of one queue pair's PSN, sent to another one's number: who sends it cannot end
 * the pairing of a flow that was told of and makes progress. One at rest gives its number up: it
 * may be the other one's now.
 */
static void rule_15_an_answer_of_another_flow_unpairs_nobody_who_makes_progress(void **state)
{
	struct qp reported = make_qp(0), asks = make_qp(1), forged;
	uint32_t psn = 900000;

	set_up(&reported);
	forged = asks;
	forged.lqpn = reported.lqpn;
	for (uint32_t i = 100; i < 110; i++) {
		last(&reported, i);
		last(&asks, psn);
		ack(&forged, psn++);
		assert_true(info(&reported).paired);
		ack(&reported, i);
		pass_time(MS);
	}
	assert_true(stats()->challenges >= 1);
	assert_int_equal(info(&reported).inflight, 0);
	last(&asks, psn);
	ack(&forged, psn);
	assert_false(info(&reported).paired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHALLENGE_TEST(rule_15_three_natural_answers),
		CHALLENGE_TEST(rule_15_read_and_atomic_are_natural),
		CHALLENGE_TEST(rule_15_flush_and_atomic_write_are_natural),
		CHALLENGE_TEST(rule_15_only_the_exact_psn_counts),
		CHALLENGE_TEST(rule_15_no_answer_is_a_miss),
		CHALLENGE_TEST(rule_15_contradiction_starts_over),
		CHALLENGE_TEST(rule_16_epoch_forgets_the_candidate),
		CHALLENGE_TEST(rule_06_bad_icrc_does_not_count),
		CHALLENGE_TEST(natural_challenges_take_no_turns),
		CHALLENGE_TEST(challenge_switched_off),
		CHALLENGE_TEST(rule_15_setup_wins_over_inference),
		CHALLENGE_TEST(rule_15_an_answer_of_another_flow_unpairs_nobody_who_makes_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
