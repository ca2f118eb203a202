/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: a queue pair whose peer may READ moves only while the peer's queue pair is held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/moves/peer_hold.h"
#include "scene.h"

#define HOME 0xd001

static struct hp3_agree sent;

static void verbs_qp(void)
{
	rig.cfg.verbs = true;
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(complete(&q, &(struct hp3_completions){.home = HOME, .port = HOME}), 0);
}

static void message_arrives(const struct hp3_agree *what)
{
	agree_arrives(&q, what);
}

/* The library refuses to suspend the queue pair, and the engine sends HOLD. */
static void asks(void)
{
	verbs_qp();
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(rig.other.op, HP3_SUSPEND_TO_MOVE);
	assert_int_equal(actuator_failed(&q, EPERM), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_AGREE);
	sent = rig.other.agree.what;
	assert_int_equal(sent.kind, HP3_AGREE_HOLD);
	assert_int_equal(sent.responder, q.lqpn);
	assert_int_equal(sent.requester, q.rqpn);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
}

static void held_for(uint32_t us)
{
	sent.kind = HP3_AGREE_HELD;
	sent.keepalive_us = us;
	message_arrives(&sent);
}

static void granted(void)
{
	asks();
	held_for(3000);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(rig.other.op, HP3_SUSPEND_PEER_HELD);
	assert_int_equal(rig.other.count, 1); /* half of max_hold, in ms, rounded up */
}

static void expect_recovered(uint16_t error, uint32_t continues)
{
	assert_int_equal(seen(HP3_EVENT_RECOVER), 1);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].error, error);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(info(&q).port, HOME);
	assert_int_equal(rig.acts[HP3_ACT_AGREE], continues);
}

static void held_drained_moved(void **state)
{
	granted();
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_MOVE);
	assert_int_equal(rig.other.port, NEW_PORT);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);
	assert_int_equal(rig.other.agree.what.kind, HP3_AGREE_CONTINUE);
	assert_int_equal(rig.other.agree.what.number, sent.number);
	assert_int_equal(rig.acts[HP3_ACT_AGREE], 3); /* HOLD, and CONTINUE twice */
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_int_equal(stats()->peer_holds_asked, 1);
}

static void a_refusal_is_eperm(void **state)
{
	asks();
	held_for(0);
	expect_recovered(EPERM, 3);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 0); /* it was never suspended */
}

static void hold_is_repeated_without_an_answer(void **state)
{
	asks();
	for (uint32_t i = 1; i < HP3_PEER_HOLD_TRIES; i++) {
		pass_time(rig.cfg.max_hold_ns / 2);
		assert_int_equal(rig.other.agree.what.kind, HP3_AGREE_HOLD);
		assert_int_equal(rig.other.agree.what.number, sent.number);
		assert_int_equal(rig.other.agree.what.turn, i + 1);
	}
	pass_time(rig.cfg.max_hold_ns / 2);
	expect_recovered(EPERM, HP3_PEER_HOLD_TRIES + 2);
}

/* The lease counts from the HOLD that is answered, not from the arrival of HELD. */
static void leases_that_are_almost_over_are_useless(void **state)
{
	asks();
	pass_time(2100 * US); /* HOLD is sent again */
	held_for(3000);
	expect_recovered(EPERM, 4);
}

static void late_drains_do_not_move(void **state)
{
	granted();
	pass_time(2100 * US);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.acts[HP3_ACT_MOVE], 0);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 1);
	expect_recovered(ETIMEDOUT, 3);
}

/* MOVE may be under way in the library: the peer stays held until its lease ends. */
static void cancelled_moves_do_not_free_the_peer(void **state)
{
	granted();
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0);
	expect_recovered(0, 1);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 1);
}

static void answers_of_other_moves_do_not_count(void **state)
{
	asks();
	sent.number++;
	held_for(3000);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 1);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), -EINVAL);
}

static void other_errors_are_reported(void **state)
{
	verbs_qp();
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(actuator_failed(&q, ENOBUFS), 0);
	expect_recovered(ENOBUFS, 0);
}

/* The library refuses the first port, because the queue pair is in RTS already. */
static void a_refused_first_port_is_reported(void **state)
{
	verbs_qp();
	assert_int_equal(actuator_failed(&q, EPERM), 0);
	expect_recovered(EPERM, 0);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].cause, HP3_CAUSE_SETUP);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), -EINVAL);
}

/* --- for the move of the peer's queue pair --- */

static void hold_arrives(uint32_t number, uint32_t turn)
{
	message_arrives(&(struct hp3_agree){.kind = HP3_AGREE_HOLD,
		.responder = q.rqpn,
		.requester = q.lqpn,
		.number = number,
		.turn = turn});
}

static void holds(void)
{
	verbs_qp();
	hold_arrives(7, 1);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(rig.other.op, HP3_SUSPEND_FOR_PEER);
	assert_int_equal(rig.other.count, 3); /* ms: HP3_PEER_HOLDS times max_hold */
	pass_time(100 * US);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.acts[HP3_ACT_MOVE], 0);
}

static void expect_held(uint32_t turn, uint32_t least_us, uint32_t most_us)
{
	const struct hp3_agree *what = &rig.other.agree.what;

	assert_int_equal(rig.other.kind, HP3_ACT_AGREE);
	assert_int_equal(what->kind, HP3_AGREE_HELD);
	assert_int_equal(what->turn, turn);
	assert_int_equal(what->responder, q.rqpn);
	assert_in_range(what->keepalive_us, least_us, most_us);
}

/* The lease counts from the command on, not from the report. */
static void hold_held_continue(void **state)
{
	holds();
	expect_held(1, 2800, 2900);
	pass_time(500 * US);
	hold_arrives(7, 2); /* repeated */
	expect_held(2, 2300, 2400);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 1);
	message_arrives(&(struct hp3_agree){
		.kind = HP3_AGREE_CONTINUE, .responder = q.rqpn, .requester = q.lqpn, .number = 7});
	assert_int_equal(rig.other.kind, HP3_ACT_RESUME);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].cause, HP3_CAUSE_PEER);
	assert_int_equal(stats()->moves_recovered, 0);
	assert_int_equal(stats()->peer_holds, 1);
}

static void only_this_move_s_continue_ends_it(void **state)
{
	holds();
	message_arrives(&(struct hp3_agree){
		.kind = HP3_AGREE_CONTINUE, .responder = q.rqpn, .requester = q.lqpn, .number = 8});
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 0);
	pass_time(3000 * US);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 1); /* the lease is over */
}

static void queue_pairs_that_move_are_not_held(void **state)
{
	verbs_qp();
	assert_int_equal(move(&q, NEW_PORT), 0);
	hold_arrives(7, 1);
	expect_held(1, 0, 0);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 1);
	assert_int_equal(stats()->peer_holds_refused, 1);
}

static void unknown_queue_pairs_are_not_held(void **state)
{
	verbs_qp();
	q.lqpn++;
	hold_arrives(7, 1);
	expect_held(1, 0, 0);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 0);
}

static void queue_pairs_that_cannot_be_held_are_refused(void **state)
{
	verbs_qp();
	hold_arrives(7, 1);
	assert_int_equal(actuator_failed(&q, ENODATA), 0);
	assert_int_equal(rig.other.agree.what.kind, HP3_AGREE_HELD);
	expect_held(1, 0, 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* Inline, hp3d reorders nothing of the responses: it holds nothing for a peer. */
static void inline_hosts_refuse(void **state)
{
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	hold_arrives(7, 1);
	expect_held(1, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(held_drained_moved),
		RIG_TEST(a_refusal_is_eperm),
		RIG_TEST(hold_is_repeated_without_an_answer),
		RIG_TEST(leases_that_are_almost_over_are_useless),
		RIG_TEST(late_drains_do_not_move),
		RIG_TEST(cancelled_moves_do_not_free_the_peer),
		RIG_TEST(answers_of_other_moves_do_not_count),
		RIG_TEST(other_errors_are_reported),
		RIG_TEST(a_refused_first_port_is_reported),
		RIG_TEST(hold_held_continue),
		RIG_TEST(only_this_move_s_continue_ends_it),
		RIG_TEST(queue_pairs_that_move_are_not_held),
		RIG_TEST(unknown_queue_pairs_are_not_held),
		RIG_TEST(queue_pairs_that_cannot_be_held_are_refused),
		RIG_TEST(inline_hosts_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
