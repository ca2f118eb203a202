/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: a queue pair is held for the move of the peer's queue pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "peer_hold_scene.h"

static void hold_arrives(uint32_t number, uint32_t turn)
{
	agree_arrives(&q, &(struct hp3_agree){.kind = HP3_AGREE_HOLD,
				  .responder = q.rqpn,
				  .requester = q.lqpn,
				  .number = number,
				  .turn = turn});
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

static void continue_arrives(uint32_t number)
{
	agree_arrives(&q, &(struct hp3_agree){.kind = HP3_AGREE_CONTINUE,
				  .responder = q.rqpn,
				  .requester = q.lqpn,
				  .number = number});
}

static void holds(void)
{
	verbs_qp();
	hold_arrives(7, 1);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(rig.other.op, HP3_SUSPEND_FOR_PEER);
	assert_int_equal(rig.other.count, HP3_PEER_HOLDS * MAX_HOLD_MS);
	pass_time(100 * US);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.acts[HP3_ACT_MOVE], 0);
}

/* The lease counts from the command on, not from the report. */
static void hold_held_continue(void **state)
{
	holds();
	expect_held(1, LEASE_US - 200, LEASE_US - 100);
	pass_time(500 * US);
	hold_arrives(7, 2); /* repeated */
	expect_held(2, LEASE_US - 700, LEASE_US - 600);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 1);
	continue_arrives(7);
	assert_int_equal(rig.other.kind, HP3_ACT_RESUME);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].cause, HP3_CAUSE_PEER);
	assert_int_equal(stats()->moves_recovered, 0);
	assert_int_equal(stats()->peer_holds, 1);
}

static void only_this_move_s_continue_ends_it(void **state)
{
	holds();
	continue_arrives(8);
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 0);
	pass_time(LEASE_US * US);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 1); /* the lease is over */
}

/* The peer asks as often as it can: the queue pair is held for a fifth of the time at most. */
static void held_queue_pairs_rest(void **state)
{
	uint64_t held = 0, since = 0;
	const uint64_t whole = 400 * MS, step = 250 * US;

	verbs_qp();
	for (uint64_t at = 0; at < whole; at += step) {
		uint32_t suspends = rig.acts[HP3_ACT_SUSPEND], resumes = rig.acts[HP3_ACT_RESUME];

		hold_arrives(1000 + (uint32_t)(at / step), 1);
		if (rig.acts[HP3_ACT_SUSPEND] != suspends) {
			since = at;
			assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
		}
		pass_time(step);
		if (rig.acts[HP3_ACT_RESUME] != resumes)
			held += at + step - since;
	}
	assert_in_range(held, whole / 8, whole / 5 + LEASE_US * US);
	assert_true(stats()->peer_holds >= 10);
	assert_true(stats()->peer_holds_too_soon > 100);
	assert_int_equal(stats()->peer_holds_late, 0);
}

/* Holds that end at once are rare, too: each one costs a drain. */
static void short_holds_are_rare(void **state)
{
	verbs_qp();
	for (uint32_t i = 0; i < 1000; i++) {
		hold_arrives(2 * i + 1, 1);
		continue_arrives(2 * i + 1);
		pass_time(100 * US);
	}
	assert_in_range(stats()->peer_holds, 20, 100); /* in 100 ms */
}

static void rests_end(void **state)
{
	holds();
	continue_arrives(7);
	hold_arrives(9, 1);
	expect_held(1, 0, 0);
	assert_int_equal(stats()->peer_holds_too_soon, 1);
	assert_int_equal(stats()->peer_holds_refused, 1);
	pass_time(3 * MS);
	hold_arrives(11, 1);
	assert_int_equal(rig.other.op, HP3_SUSPEND_FOR_PEER);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 2);
}

static void expect_late(uint32_t number, uint32_t suspends)
{
	pass_time(50 * MS);
	hold_arrives(number, 2);
	expect_held(2, 0, 0);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], suspends);
	assert_int_equal(stats()->peer_holds_late, 1);
}

static void late_holds_are_refused(void **state)
{
	rig.cfg.idle_age_ns = 5000 * MS;
	holds();
	continue_arrives(7);
	expect_late(7, 1);
}

/* CONTINUE overtakes HOLD. */
static void holds_after_their_continue_are_refused(void **state)
{
	rig.cfg.idle_age_ns = 5000 * MS;
	verbs_qp();
	continue_arrives(7);
	expect_late(7, 0);
	hold_arrives(9, 1); /* the next move of the peer */
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 1);
}

/* Both hosts are off, and their queue pairs return to their home ports by such moves. */
static void mode_off_grants_holds(void **state)
{
	rig.cfg.moves_allowed = false;
	holds();
	expect_held(1, LEASE_US - 200, LEASE_US - 100);
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

/* A peer with many queue pairs does not get all slots of moves. */
static void a_peer_holds_a_part_of_the_slots(void **state)
{
	rig.cfg.max_moves = HP3_PEER_HOLD_SHARE;
	verbs_qp();
	hold_arrives(7, 1);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 1);
	q = make_qp(1);
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(complete(&q, &(struct hp3_completions){.home = HOME, .port = HOME}), 0);
	hold_arrives(8, 1);
	expect_held(1, 0, 0);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 1);
	pass_time(LEASE_US * US); /* the first hold ends */
	hold_arrives(9, 1);
	assert_int_equal(rig.acts[HP3_ACT_SUSPEND], 2);
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
		RIG_TEST(hold_held_continue),
		RIG_TEST(only_this_move_s_continue_ends_it),
		RIG_TEST(held_queue_pairs_rest),
		RIG_TEST(short_holds_are_rare),
		RIG_TEST(rests_end),
		RIG_TEST(late_holds_are_refused),
		RIG_TEST(holds_after_their_continue_are_refused),
		RIG_TEST(mode_off_grants_holds),
		RIG_TEST(queue_pairs_that_move_are_not_held),
		RIG_TEST(a_peer_holds_a_part_of_the_slots),
		RIG_TEST(unknown_queue_pairs_are_not_held),
		RIG_TEST(queue_pairs_that_cannot_be_held_are_refused),
		RIG_TEST(inline_hosts_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
