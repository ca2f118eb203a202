/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pair numbers that return without an event: pairings by challenge that are no longer true
 * (rules 15 and 16). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "challenge.h"
#include "scene.h"

#define QUIET (2 * MS)

static void talk(const struct qp *p, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		rig.nwire = 0;
		last(p, first + i);
		ack(p, first + i);
	}
}

static void paired_by_challenge(const struct qp *p, uint32_t first)
{
	talk(p, first, 3);
	assert_true(info(p).paired);
	assert_int_equal(info(p).lqpn, p->lqpn);
}

/* What was acknowledged so far is known as soon as the pairing is. */
static void rule_15_the_last_answer_counts_as_progress(void **state)
{
	q = make_qp(0);
	paired_by_challenge(&q, 100);
	assert_int_equal(info(&q).una, 103);
	assert_int_equal(info(&q).inflight, 0);
	middle(&q, 103);
	assert_int_equal(info(&q).inflight, 1);
}

/* The local QPN returns with another remote one, whose answers nobody may claim. */
static void rule_15_the_local_number_returns(void **state)
{
	struct qp old = make_qp(0), new = old;

	new.rqpn = old.rqpn + 1;
	paired_by_challenge(&old, 0x400000);
	talk(&new, 0x200000, 3);
	assert_false(info(&old).paired);
	assert_true(info(&new).paired);
	assert_int_equal(info(&new).lqpn, new.lqpn);
	assert_int_equal(stats()->contradictions, 1);
	assert_int_equal(rig.events[HP3_EVENT_UNPAIR], 1);
}

/* The same where set-up events told of the old one, and nobody of its end. */
static void rule_15_a_pairing_by_event_yields_to_what_is_seen(void **state)
{
	struct qp old = make_qp(0), new = old;

	new.rqpn = old.rqpn + 1;
	assert_int_equal(set_up(&old), 0);
	talk(&old, 0x400000, 3);
	talk(&new, 0x200000, 3);
	assert_false(info(&old).paired);
	assert_true(info(&new).paired);
}

/* ... but an old answer, or one with a wrong ICRC, is no contradiction. */
static void rule_15_other_replies_contradict_nothing(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1);

	paired_by_challenge(&a, 0x400000);
	talk(&a, 0x400003, 5);
	ack(&a, 0x400003);
	last(&b, 0x200000);
	ack(&a, 0x400001);
	ack(&a, 0x400007);
	rig.damage = true;
	ack(&a, 0x200000);
	assert_true(info(&a).paired);
	assert_int_equal(stats()->contradictions, 0);
	ack(&b, 0x200000);
	assert_int_equal(stats()->challenge_hits, 4);
}

/* A flow is never answered with what lies far behind it: its local QPN is another one's now. */
static void rule_15_far_replies_contradict(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1);

	paired_by_challenge(&a, 0x400000);
	assert_int_equal(set_up(&b), 0);
	ack(&a, 0x400000 - 65500);
	assert_true(info(&a).paired);
	rig.damage = true;
	ack(&a, 0x3e0000);
	assert_true(info(&a).paired);
	ack(&a, 0x3e0000); /* may be forged */
	assert_true(info(&a).paired);
	contradict(&a, 0x3e0000);
	assert_false(info(&a).paired);
	assert_int_equal(stats()->contradictions, 4);
}

/* A reply that nobody claims, and that only one flow can wait for, which is believed elsewhere. */
static void rule_15_replies_that_come_elsewhere(void **state)
{
	struct qp moved_on = make_qp(1), near = make_qp(2);

	q = make_qp(0);
	paired_by_challenge(&q, 100);
	moved_on.lqpn = 0x7777;
	for (uint32_t i = 103; i < 106; i++)
		middle(&q, i);
	ack(&moved_on, 102); /* not waited for */
	ack(&moved_on, 106);
	last(&near, 104);
	ack(&moved_on, 104); /* whose? */
	assert_true(info(&q).paired);
	pass_time(5 * rig.cfg.challenge_timeout_ns);
	middle(&q, 106);
	ack(&moved_on, 105);
	assert_false(info(&q).paired);
	assert_int_equal(stats()->contradictions, 1);
}

/* Near the old PSNs a forced challenge tells. */
static void rule_15_the_local_number_returns_near(void **state)
{
	struct qp old = make_qp(0), new = old;
	uint32_t p = 1000, unpaired;

	new.rqpn = old.rqpn + 1;
	paired_by_challenge(&old, 0);
	talk(&old, 3, 4997);
	for (unpaired = 0; unpaired == 0 && p < 1200; p++) {
		rig.nwire = 0;
		middle(&new, p);
		if (asked())
			ack(&new, p);
		unpaired = rig.events[HP3_EVENT_UNPAIR];
	}
	assert_false(info(&old).paired);
}

/*
 * A job starts again within the age of its flows, cross-wired: a's remote queue pair now talks to
 * b's local one and the other way round, both from PSN 0 on. What a's local QPN is answered is b's.
 */
static void rule_16_cross_wired(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1), a2 = a, b2 = b;

	a2.lqpn = b.lqpn;
	b2.lqpn = a.lqpn;
	paired_by_challenge(&a, 0);
	for (uint32_t i = 3; i < 64; i++)
		middle(&a, i);
	last(&a, 64);
	ack(&a, 64);
	paired_by_challenge(&b, 200000);
	rig.nwire = 0;
	for (uint32_t i = 0; i < 65; i++) {
		middle(&a2, i);
		middle(&b2, i);
	}
	assert_false(info(&a2).paired);
	assert_int_equal(move(&a2, NEW_PORT), -ENOLINK);
	last(&a2, 65);
	last(&b2, 65);
	ack(&b2, 65);
	assert_int_equal(rig.held, 0);
	assert_false(info(&a2).paired);
}

/* In mid-drain: what is held leaves on the old port, and then what the queue pair sends. */
static void rule_16_going_back_in_mid_drain(void **state)
{
	q = make_qp(0);
	paired_by_challenge(&q, 100);
	rig.nwire = 0;
	last(&q, 103);
	assert_int_equal(move(&q, NEW_PORT), 0);
	for (uint32_t i = 104; i < 107; i++)
		assert_int_equal(middle(&q, i), HP3_HOLD);
	assert_int_equal(middle(&q, 100), HP3_PASS);
	for (uint32_t i = 0; i < 3; i++)
		expect_left(1 + i, 104 + i, q.home, false);
	expect_left(4, 100, q.home, false);
	assert_false(info(&q).paired);
	assert_int_equal(info(&q).una, 100);
	assert_int_equal(rig.discarded, 0);
}

/* With nobody near going back over what is in flight is nothing but a loss. */
static void rule_16_a_loss_does_not_unpair(void **state)
{
	struct qp far = make_qp(1), near = make_qp(2);

	q = make_qp(0);
	paired_by_challenge(&q, 100);
	paired_by_challenge(&far, 500000);
	middle(&q, 103);
	middle(&q, 104);
	middle(&q, 103);
	middle(&q, 104);
	assert_true(info(&q).paired);
	assert_int_equal(set_up(&near), 0);
	middle(&near, 300);
	middle(&q, 105);
	middle(&q, 103); /* it could be the next life of this QPN, answered as `near` is */
	assert_false(info(&q).paired);
	assert_true(info(&near).paired); /* an event said so */
	middle(&near, 301);
	middle(&near, 300);
	assert_true(info(&near).paired);
}

/* An RNIC goes back to the oldest PSN that it waits for, and hp3d knows which one that is. */
static void rule_16_a_packet_in_mid_flight_is_of_the_next_one(void **state)
{
	struct qp next;

	q = make_qp(0);
	next = q;
	next.lqpn += 7;
	paired_by_challenge(&q, 100);
	for (uint32_t i = 103; i < 133; i++)
		middle(&q, i);
	nak(&q, 110);
	middle(&q, 110); /* a loss */
	assert_true(info(&q).paired);
	for (uint32_t i = 111; i < 134; i++)
		middle(&q, i);
	middle(&next, 132); /* nobody has asked for it */
	assert_false(info(&q).paired);
	talk(&next, 134, 3);
	assert_true(info(&next).paired);
	assert_int_equal(info(&next).lqpn, next.lqpn);
}

/* A failover waits for the RNIC to go back. */
static void rule_16_a_failover_does_not_unpair(void **state)
{
	struct qp near = make_qp(1);

	stall_config();
	rig.cfg.pair_by_challenge = true;
	rig_configure();
	q = make_qp(0);
	paired_by_challenge(&q, 100);
	psn = 103;
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	middle(&q, psn++);
	last(&q, psn++);
	middle(&near, psn);
	path_dies();
	middle(&q, psn - 2);
	middle(&q, psn - 1);
	assert_true(info(&q).paired);
}

/*
 * Somebody claims what is answered to a flow in lockstep, and it looks like its own: the flow's
 * challenges stay unanswered, though it goes on.
 */
static void rule_15_unanswered_challenges_of_a_flow_that_goes_on(void **state)
{
	struct qp liar = make_qp(0), victim = make_qp(1);
	uint32_t unanswered = 0, p = 3;

	paired_by_challenge(&liar, 0);
	for (; p < 3000 && info(&liar).paired; p++) {
		rig.nwire = 0;
		middle(&liar, p);
		middle(&victim, p);
		if (asked()) {
			unanswered++;
			ack(&liar, p); /* it is the victim's local QPN */
			rig.now += 2 * rig.cfg.challenge_timeout_ns;
		}
	}
	assert_false(info(&liar).paired);
	assert_int_equal(unanswered, 3);
}

/* hp3d starts while queue pairs run that it has not heard of: they are answered, too. */
static void rule_15_older_requests_may_be_answered(void **state)
{
	struct qp unseen = make_qp(1);

	rig.cfg.challenge_quiet_ns = QUIET;
	rig_configure();
	q = make_qp(0);
	for (uint32_t i = 0; i < 10; i++) {
		last(&q, 100 + i);
		ack(&unseen, 100 + i); /* asked before we came */
	}
	assert_int_equal(stats()->challenges, 0);
	pass_time(QUIET);
	paired_by_challenge(&q, 110);
}

/* The same for a queue pair near it that starts over, or is gone. */
static void rule_16_older_requests_of_an_epoch_may_be_answered(void **state)
{
	struct qp other = make_qp(1), far = make_qp(2);

	rig.cfg.challenge_quiet_ns = QUIET;
	rig_configure();
	q = make_qp(0);
	middle(&q, 499);
	pass_time(QUIET);
	middle(&q, 500);
	last(&other, 501);
	last(&other, 900000);
	assert_int_equal(stats()->epochs, 1);
	last(&q, 501);
	ack(&other, 501);
	assert_int_equal(stats()->challenges, 0);
	pass_time(QUIET);
	talk(&q, 502, 1);
	assert_int_equal(stats()->challenge_hits, 1);
	/* One that is far, or was silent for so long, says nothing that could be mistaken. */
	last(&far, 5000000);
	tear_down(&far);
	tear_down(&other);
	talk(&q, 503, 1);
	assert_int_equal(stats()->challenge_hits, 2);
	last(&other, 504);
	tear_down(&other);
	talk(&q, 504, 5);
	assert_int_equal(stats()->challenge_hits, 2);
	pass_time(QUIET);
	talk(&q, 509, 1);
	assert_true(info(&q).paired);
}

/* A queue pair wakes near a PSN that is being asked for: its answer would be the same. */
static void rule_15_somebody_comes_near(void **state)
{
	struct qp sleeper = make_qp(1);

	rig.cfg.challenge_hits = 1;
	rig_configure();
	q = make_qp(0);
	last(&q, 100);
	last(&sleeper, 100);
	ack(&sleeper, 100);
	assert_int_equal(stats()->challenge_hits, 0);
	assert_false(info(&q).paired);
	assert_false(info(&sleeper).paired);
	/* Silent again for longer than an answer takes, it is in nobody's way. */
	pass_time(5 * rig.cfg.challenge_timeout_ns);
	last(&q, 101);
	ack(&q, 101);
	assert_true(info(&q).paired);
}

/* Forced: who has been at that PSN before may be answered with it still. */
static void rule_15_the_first_at_a_psn_is_asked(void **state)
{
	struct qp ahead = make_qp(1);
	uint64_t misses;
	uint32_t p;

	q = make_qp(0);
	for (p = 0; p < 600; p++) {
		rig.nwire = 0;
		last(&ahead, p + 10);
		assert_false(asked());
		middle(&q, p);
		assert_false(asked());
	}
	/* It passes; and who asks at the same PSN then makes the answer worthless. */
	for (unsigned tries = 0; tries < 700 && !asked(); tries++) {
		rig.nwire = 0;
		middle(&q, p++);
	}
	assert_true(asked());
	misses = stats()->challenge_misses;
	for (uint32_t i = 610; i < p; i++) {
		rig.nwire = 0;
		last(&ahead, i);
	}
	rig.now += 10 * US;
	ack(&ahead, p - 1);
	rig.now += 100 * US;
	middle(&q, p++);
	assert_int_equal(stats()->challenge_hits, 0);
	assert_int_equal(stats()->challenge_misses, misses + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHALLENGE_TEST(rule_15_the_last_answer_counts_as_progress),
		CHALLENGE_TEST(rule_15_the_local_number_returns),
		CHALLENGE_TEST(rule_15_a_pairing_by_event_yields_to_what_is_seen),
		CHALLENGE_TEST(rule_15_other_replies_contradict_nothing),
		CHALLENGE_TEST(rule_15_far_replies_contradict),
		CHALLENGE_TEST(rule_15_replies_that_come_elsewhere),
		CHALLENGE_TEST(rule_15_the_local_number_returns_near),
		CHALLENGE_TEST(rule_16_cross_wired),
		CHALLENGE_TEST(rule_16_going_back_in_mid_drain),
		CHALLENGE_TEST(rule_16_a_loss_does_not_unpair),
		CHALLENGE_TEST(rule_16_a_packet_in_mid_flight_is_of_the_next_one),
		CHALLENGE_TEST(rule_16_a_failover_does_not_unpair),
		CHALLENGE_TEST(rule_15_unanswered_challenges_of_a_flow_that_goes_on),
		CHALLENGE_TEST(rule_15_older_requests_may_be_answered),
		CHALLENGE_TEST(rule_16_older_requests_of_an_epoch_may_be_answered),
		CHALLENGE_TEST(rule_15_somebody_comes_near),
		CHALLENGE_TEST(rule_15_the_first_at_a_psn_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
