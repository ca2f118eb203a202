/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairing by inference with queue pairs in lockstep: AckReq on a random packet (rule 15). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "challenge.h"

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

/* It is another reply to the same queue pair that ends the wait for a second answer: it comes to
 * where the flow was just paired, not elsewhere. */
static void rule_15_the_reply_that_settles_contradicts_nothing(void **state)
{
	struct qp q = make_qp(0);
	uint32_t psn = 0, at;

	rig.cfg.challenge_hits = 1;
	rig_configure();
	do {
		at = psn;
		middle(&q, psn++);
	} while (!asked() && psn < 400);
	for (unsigned i = 0; i < 8; i++)
		middle(&q, psn++);
	rig.now += 10 * US; /* round trip */
	ack(&q, at);
	assert_int_equal(stats()->paired_challenge, 0);
	rig.now += 20 * US;
	ack(&q, at + 4);
	assert_int_equal(stats()->paired_challenge, 1);
	assert_int_equal(stats()->contradictions, 0);
	assert_int_equal(info(&q).lqpn, q.lqpn);
}

/* The first of the unpaired flows at its PSN is asked, and those behind it wait; another pair's do
 * not. Who overtakes is the first one, and is asked while the other challenge is under way. */
static void the_first_of_the_unpaired_is_asked(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1), elsewhere[2] = {make_qp(2), make_qp(3)};
	uint32_t psn = 0, at, there = 0, b_psn;

	elsewhere[0].remote[3] = elsewhere[1].remote[3] = 77;
	at = force(&a, &b, &psn);
	force(&elsewhere[0], &elsewhere[1], &there);
	assert_int_equal(stats()->challenges, 2);
	for (uint32_t i = 1; i <= 50; i++)
		middle(&a, at + i);
	for (b_psn = psn; b_psn <= at + 50; b_psn++) {
		middle(&b, b_psn);
		assert_false(asked());
	}
	assert_int_equal(info(&b).unpaired, HP3_UNPAIRED_AHEAD);
	for (uint32_t i = 0; i < rig.cfg.challenge_spread && !asked(); i++)
		middle(&b, b_psn++);
	assert_true(asked());
	assert_int_equal(stats()->challenges, 3);
	assert_int_equal(info(&b).unpaired, HP3_UNPAIRED_ASKING);
	rig.now += rig.cfg.challenge_timeout_ns;
	ack(&a, at); /* too late */
	middle(&a, at + 51);
	assert_int_equal(stats()->challenge_misses, 1);
	assert_int_equal(info(&a).unpaired, HP3_UNPAIRED_AHEAD);
	set_up_at(&b, 0); /* it needs its challenge no more */
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
	assert_int_equal(set_up_at(&a, 0), 0);
	rig.now += 10 * MS;
	middle(&a, at + 1);
	middle(&twin, psn);
	assert_int_equal(info(&a).lqpn, a.lqpn);
	assert_int_equal(info(&a).pairing, HP3_PAIRING_EVENT);
	/* Nor one of the epoch before. */
	tear_down(&a);
	last(&a, 700000);
	assert_int_equal(set_up(&twin), 0);
	middle(&a, 1700000);
	ack(&wrong, 700000);
	assert_false(info(&a).paired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHALLENGE_TEST(rule_15_forced_in_lockstep),
		CHALLENGE_TEST(rule_15_two_answers_are_none),
		CHALLENGE_TEST(forced_when_nothing_asks),
		CHALLENGE_TEST(rule_15_the_reply_that_settles_contradicts_nothing),
		CHALLENGE_TEST(the_first_of_the_unpaired_is_asked),
		CHALLENGE_TEST(rule_15_setup_ends_the_challenge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
