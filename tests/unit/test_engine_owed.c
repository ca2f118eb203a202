/* SPDX-License-Identifier: BSD-3-Clause */
/* Which READ responses hp3d waits for, and when it stops (docs/internals/spray-reads.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "probes/agree.h"
#include "rfr/resequencer.h"

#define LARGE   4096u
#define READ    200u /* PSN of the first READ, which takes four */
#define WAIT    MS /* longest wait for a packet */
#define TICK    (WAIT / 8)
#define GIVE_UP 48u /* ticks: longer than any packet is held */

static struct qp q;
static bool agrees;

static void message(enum hp3_agree_kind kind, uint32_t turn)
{
	const struct hp3_agree what = {.kind = (uint8_t)kind,
		.reads = true,
		.pmtu_log2 = 10,
		.evs = 8,
		.port = 0xd008,
		.responder = q.lqpn,
		.requester = q.rqpn,
		.number = 1,
		.turn = turn,
		.next = HP3_NO_PSN,
		.keepalive_us = 1000};
	struct hp3_acts acts = {.n = 0};

	hp3_agree_received(rig.e, HP3_ENDS(&q), &what, rig.now, &acts);
	agrees = acts.n != 0 && acts.act[0].kind == HP3_ACT_AGREE &&
		 acts.act[0].agree.what.kind == HP3_AGREE_YES;
}

/* A READ of four responses has left, and the peer has asked. */
static void asked(void)
{
	rig.cfg.cc.mode = HP3_CC_OFF; /* packets that arrive may be held */
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4,
		.evs = 8,
		.bytes = LARGE,
		.keepalive_ns = MS,
		.wait_ns = WAIT,
		.reads = true,
		.alike = 150,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig_configure();
	q = make_qp(0);
	set_up_at(&q, READ - 1);
	middle(&q, READ - 1);
	ack(&q, READ - 1);
	read_request(&q, READ, LARGE);
	message(HP3_AGREE_ASK, 1);
	assert_false(agrees);
}

static void data(uint32_t psn, enum hp3_verdict_kind verdict)
{
	read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, psn, PMTU);
	assert_int_equal(rig.vd.kind, verdict);
}

/* ... and the first response has come. */
static void agreed(void)
{
	asked();
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, READ, PMTU);
	message(HP3_AGREE_SPRAYING, 2);
	assert_true(agrees);
}

static void acked(uint32_t psn, enum hp3_verdict_kind verdict)
{
	ack(&q, psn);
	assert_int_equal(rig.vd.kind, verdict);
}

/* The peer's hp3d goes on to send keep-alive messages. */
static void pass_ticks(unsigned n)
{
	static uint32_t turn = 2;

	while (n-- > 0) {
		message(HP3_AGREE_SPRAYING, ++turn);
		pass_time(TICK);
	}
}

static void assert_held(uint32_t n)
{
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), n);
}

/* hp3d hands over all that it held behind two lost responses: ACKs do not wait for these. */
static void an_ack_waits_for_no_response_that_was_given_up(void **state)
{
	agreed();
	middle(&q, READ + 4);
	data(READ + 3, HP3_HOLD);
	pass_ticks(GIVE_UP);
	assert_held(0);
	acked(READ + 4, HP3_PASS);
}

/* The RNIC got an ACK before the responses: later ACKs tell it nothing new. */
static void one_ack_waits_for_lost_responses(void **state)
{
	agreed();
	last(&q, READ + 4);
	last(&q, READ + 5);
	acked(READ + 4, HP3_HOLD);
	pass_ticks(9);
	assert_held(0);
	acked(READ + 5, HP3_PASS);
}

/* The RNIC lacked them: it sends the READ again, and the responses are resequenced. */
static void a_read_that_is_sent_again_is_waited_for(void **state)
{
	one_ack_waits_for_lost_responses(state);
	last(&q, READ + 6);
	read_request(&q, READ + 1, 3 * PMTU);
	acked(READ + 6, HP3_HOLD);
	data(READ + 2, HP3_HOLD);
	data(READ + 1, HP3_PASS);
	assert_held(1); /* the ACK */
	data(READ + 3, HP3_PASS);
	assert_held(0);
}

/* It had done so before it got the ACK: the responses are on their way. */
static void a_read_that_was_sent_again_is_waited_for(void **state)
{
	agreed();
	last(&q, READ + 4);
	acked(READ + 4, HP3_HOLD);
	read_request(&q, READ + 1, 3 * PMTU);
	pass_ticks(9);
	assert_held(0);
	data(READ + 2, HP3_HOLD);
	data(READ + 1, HP3_PASS);
	assert_held(0);
}

/* ... or they are not: the response crossed the READ, and the RNIC does not ask a third time. */
static void a_read_that_was_sent_again_is_not_waited_for_for_ever(void **state)
{
	agreed();
	read_request(&q, READ + 1, 3 * PMTU);
	last(&q, READ + 4);
	last(&q, READ + 5);
	acked(READ + 4, HP3_HOLD);
	pass_ticks(GIVE_UP);
	assert_held(0);
	acked(READ + 5, HP3_HOLD);
	pass_ticks(9);
	assert_held(0);
	last(&q, READ + 6);
	acked(READ + 6, HP3_PASS);
	read_request(&q, READ + 7, LARGE);
	data(READ + 7, HP3_PASS);
}

/* The RNIC completes the READ, or sends it again, which hp3d sees. */
static void a_nak_ends_what_is_waited_for(void **state)
{
	agreed();
	middle(&q, READ + 4);
	middle(&q, READ + 5);
	data(READ + 3, HP3_HOLD);
	nak(&q, READ + 5);
	assert_int_equal(rig.vd.kind, HP3_HOLD);
	pass_ticks(GIVE_UP);
	assert_held(0);
	last(&q, READ + 5);
	last(&q, READ + 6);
	acked(READ + 6, HP3_PASS);
}

/* The RNIC sent the READ again before it got the NAK, so the responses are in flight. */
static void an_old_nak_ends_no_wait_for_a_read_sent_again(void **state)
{
	agreed();
	last(&q, READ + 4);
	last(&q, READ + 5);
	read_request(&q, READ + 1, 3 * PMTU);
	hp3_hold_room(rig.e, 0);
	nak(&q, READ + 5);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	hp3_hold_room(rig.e, 64);
	acked(READ + 4, HP3_HOLD);
	data(READ + 2, HP3_HOLD);
	data(READ + 1, HP3_PASS);
	data(READ + 3, HP3_PASS);
	assert_held(0);
}

/* ... while hp3d does not know yet which response comes first. */
static void a_nak_ends_what_is_learnt_from(void **state)
{
	asked();
	middle(&q, READ + 4);
	middle(&q, READ + 5);
	read_request(&q, READ, LARGE);
	nak(&q, READ + 5);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	middle(&q, READ + 5);
	read_request(&q, READ + 6, LARGE);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, READ + 6, PMTU);
	message(HP3_AGREE_SPRAYING, 2);
	assert_true(agrees);
}

/* Responses of a later READ, too far ahead to be held, are resequenced among themselves. */
static void a_later_read_is_resequenced(void **state)
{
	uint32_t psn = READ + 4;

	agreed();
	while (psn < READ + 4 + HP3_RESEQ_WINDOW) {
		middle(&q, psn++);
		rig.nwire = 0;
	}
	read_request(&q, psn, LARGE);
	data(psn, HP3_PASS);
	data(psn + 2, HP3_HOLD);
	data(psn + 1, HP3_PASS);
	assert_held(0);
	assert_int_equal(hp3_engine_stats(rig.e)->reseq_beyond, 0);
}

/* A response far ahead whose PSN was damaged: the RNIC drops it, and still lacks those before. */
static void a_damaged_response_ends_no_wait(void **state)
{
	agreed();
	data(READ + 1, HP3_PASS);
	data(READ + 2, HP3_PASS);
	read_response(&q, HP3_OP_RC_READ_RESP_LAST, READ + 3, PMTU);
	read_request(&q, READ + 4, 4000 * PMTU);
	data(READ + 4, HP3_PASS);
	rig.damage = true;
	data(READ + 4 + 3000, HP3_PASS);
	data(READ + 6, HP3_HOLD);
	data(READ + 5, HP3_PASS);
	assert_held(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(an_ack_waits_for_no_response_that_was_given_up),
		RIG_TEST(one_ack_waits_for_lost_responses),
		RIG_TEST(a_read_that_is_sent_again_is_waited_for),
		RIG_TEST(a_read_that_was_sent_again_is_waited_for),
		RIG_TEST(a_read_that_was_sent_again_is_not_waited_for_for_ever),
		RIG_TEST(a_nak_ends_what_is_waited_for),
		RIG_TEST(an_old_nak_ends_no_wait_for_a_read_sent_again),
		RIG_TEST(a_nak_ends_what_is_learnt_from),
		RIG_TEST(a_later_read_is_resequenced),
		RIG_TEST(a_damaged_response_ends_no_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
