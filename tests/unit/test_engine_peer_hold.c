/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: a queue pair whose peer may READ moves only while the peer's queue pair is held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "peer_hold_scene.h"

static struct hp3_agree sent;

/* The library refuses to suspend the queue pair, and the engine sends HOLD. */
static void begins_to_ask(void)
{
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

static void asks(void)
{
	verbs_qp();
	begins_to_ask();
}

static void held_for(uint32_t us)
{
	sent.kind = HP3_AGREE_HELD;
	sent.keepalive_us = us;
	agree_arrives(&q, &sent);
}

static void granted(void)
{
	asks();
	held_for(LEASE_US);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(rig.other.op, HP3_SUSPEND_PEER_HELD);
	assert_int_equal(rig.other.count, MAX_HOLD_MS / 2);
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
	pass_time(2100 * MAX_HOLD_MS * US); /* HOLD is sent again */
	held_for(LEASE_US);
	expect_recovered(EPERM, 4);
}

static void late_drains_do_not_move(void **state)
{
	granted();
	pass_time(2100 * MAX_HOLD_MS * US);
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

/* The library has not changed the port, so the peer need not wait for the end of the lease. */
static void failed_moves_free_the_peer_at_once(void **state)
{
	granted();
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_MOVE);
	assert_int_equal(actuator_failed(&q, ETIMEDOUT), 0);
	expect_recovered(ETIMEDOUT, 3); /* HOLD, and CONTINUE twice */
	assert_int_equal(rig.other.agree.what.kind, HP3_AGREE_CONTINUE);
	assert_int_equal(rig.other.agree.what.number, sent.number);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 0);
}

/* Half of the time for the change is a ms at least, because the library counts in ms. */
static void short_holds_last_long_enough_for_a_change(void **state)
{
	verbs_qp();
	rig.cfg.max_hold_ns = 200 * US;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	begins_to_ask();
	held_for(1500); /* the library might change the port a ms after DRAINED */
	expect_recovered(EPERM, 3);
}

static void reloads_do_not_change_a_lease(void **state)
{
	granted();
	rig.cfg.max_hold_ns = 50 * MS;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_MOVE);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);

	rig.cfg.max_hold_ns = 300 * MS; /* the library may change the port 150 ms after DRAINED */
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(complete(&q, &(struct hp3_completions){.home = HOME, .port = HOME}), 0);
	begins_to_ask();
	held_for(400000);
	assert_int_equal(rig.other.count, 150);
	rig.cfg.max_hold_ns = MAX_HOLD_MS * MS;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	pass_time(200 * MS);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.acts[HP3_ACT_MOVE], 0);
}

/* No peer holds its queue pair for longer than a second, whatever HELD says. */
static void leases_end_after_a_second(void **state)
{
	rig.cfg.idle_age_ns = 5000 * MS;
	asks();
	held_for(UINT32_MAX);
	assert_int_equal(rig.other.op, HP3_SUSPEND_PEER_HELD);
	pass_time(1000 * MS); /* the application does not run, so there is no report */
	expect_recovered(0, 3);
	assert_int_equal(rig.acts[HP3_ACT_RESUME], 1);
}

/* The slot still has the previous move, whose outcome was reported when this move began. */
static void outcomes_are_reported_once(void **state)
{
	rig.cfg.verify_ns = 100 * MS;
	rig.cfg.monitor.cycle_ns = 100 * US;
	verbs_qp();
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);
	assert_int_equal(move(&q, HOME), 0);
	assert_int_equal(actuator_failed(&q, EPERM), 0);
	assert_int_equal(seen(HP3_EVENT_OUTCOME), 1);
	pass_time(rig.cfg.max_hold_ns / 2);
	assert_int_equal(rig.other.agree.what.turn, 2);
	assert_int_equal(seen(HP3_EVENT_OUTCOME), 1);
}

static void answers_of_other_moves_do_not_count(void **state)
{
	asks();
	sent.number++;
	held_for(LEASE_US);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(held_drained_moved),
		RIG_TEST(a_refusal_is_eperm),
		RIG_TEST(hold_is_repeated_without_an_answer),
		RIG_TEST(leases_that_are_almost_over_are_useless),
		RIG_TEST(late_drains_do_not_move),
		RIG_TEST(cancelled_moves_do_not_free_the_peer),
		RIG_TEST(failed_moves_free_the_peer_at_once),
		RIG_TEST(short_holds_last_long_enough_for_a_change),
		RIG_TEST(reloads_do_not_change_a_lease),
		RIG_TEST(leases_end_after_a_second),
		RIG_TEST(outcomes_are_reported_once),
		RIG_TEST(answers_of_other_moves_do_not_count),
		RIG_TEST(other_errors_are_reported),
		RIG_TEST(a_refused_first_port_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
