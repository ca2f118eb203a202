/* SPDX-License-Identifier: BSD-3-Clause */
/* State that survives hp3d: a flow begins on the port where it was; packets that passed unseen
 * count for nothing (rules 11, 19). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

static int restore(uint16_t port, uint16_t replies)
{
	return hp3_flow_restore(rig.e, HP3_ENDS(&q), q.rqpn, port, replies, rig.now);
}

static void a_flow_begins_where_it_was(void **state)
{
	q = make_qp(0);
	assert_int_equal(restore(NEW_PORT, 0), 0);
	assert_true(info(&q).moved);
	assert_int_equal(hp3_engine_moved(rig.e), 1);
	assert_int_equal(middle(&q, 100), HP3_PASS);
	expect_left(0, 100, NEW_PORT, false);
	assert_int_equal(restore(NEW_PORT + 1, 0), -EEXIST);
	assert_int_equal(info(&q).home, q.home);
	/* A set-up event that comes late gives it no other path. */
	assert_int_equal(set_up_at(&q, 100), 0);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).port, NEW_PORT);
	/* Home by a drain, as any other. */
	last(&q, 101);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), 0);
	assert_int_equal(middle(&q, 102), HP3_HOLD);
	assert_int_equal(info(&q).port, NEW_PORT);
	ack(&q, 101);
	assert_int_equal(rig.held, 0);
	assert_int_equal(info(&q).port, q.home);
}

/* A stop does not wait for a queue pair that sends no more. */
static void one_that_never_sends_is_home_at_once(void **state)
{
	q = make_qp(0);
	assert_int_equal(restore(NEW_PORT, 0), 0);
	assert_int_not_equal(command(&q, HP3_CMD_HOME, 0), 0); /* something may travel still */
	pass_time(rig.cfg.round.guard_ns + 3 * MS);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), 0);
	assert_int_equal(rig.last.type, HP3_EVENT_IDLE_SWITCH);
	assert_int_equal(rig.last.from, NEW_PORT);
	assert_int_equal(hp3_engine_moved(rig.e), 0);
	middle(&q, 100);
	expect_left(0, 100, q.home, false);
}

/* Where moves are off it comes home, and in order: what the one before sent travels where it was.
 */
static void it_comes_home_by_a_drain_where_moves_are_off(void **state)
{
	rig_allow_moves(false);
	q = make_qp(0);
	assert_int_equal(restore(NEW_PORT, 0), 0);
	assert_int_equal(set_up(&q), 0);
	last(&q, 100);
	expect_left(0, 100, NEW_PORT, true);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), 0);
	assert_int_equal(middle(&q, 101), HP3_HOLD);
	ack(&q, 100);
	assert_int_equal(info(&q).port, q.home);
	assert_int_equal(rig.held, 0);
	expect_left(1, 101, q.home, false);
}

static void refusals(void **state)
{
	q = make_qp(0);
	assert_int_equal(restore(0, 0), -EINVAL);
	q.rqpn = HP3_QPN_MASK + 1;
	assert_int_equal(restore(NEW_PORT, 0), -EINVAL);
	for (unsigned i = 0; i < rig.cfg.max_flows; i++) {
		q = make_qp(i);
		assert_int_equal(restore(NEW_PORT, 0), 0);
	}
	q = make_qp(rig.cfg.max_flows);
	assert_int_equal(restore(NEW_PORT, 0), -ENOSPC);
}

/* What was held is old now: the RNIC has to send it again. */
static void what_is_held_never_leaves(void **state)
{
	uint32_t left;

	draining(5);
	left = rig.nwire;
	missed();
	assert_int_equal(rig.discarded, 5);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(info(&q).port, q.home);
	assert_false(info(&q).paired);
	ack(&q, 100); /* late, it ends no drain */
	assert_int_equal(rig.nwire, left);
	assert_int_equal(middle(&q, 300), HP3_PASS);
	expect_left(left, 300, q.home, false);
}

/* Home, unless who let them pass has kept their ports. */
static void ports_are_what_they_were(void **state)
{
	for (unsigned kept = 0; kept < 2; kept++) {
		rig_configure();
		moved(100);
		missed();
		assert_int_equal(hp3_engine_moved(rig.e), 0);
		if (kept)
			assert_int_equal(restore(NEW_PORT, 0), 0);
		rig.nwire = 0;
		middle(&q, 200);
		expect_left(0, 200, kept ? NEW_PORT : q.home, false);
	}
}

/* Nothing was in flight when hp3d looked last; that is no proof any more. */
static void idle_no_more(void **state)
{
	moved(100);
	ack(&q, 100);
	assert_int_equal(info(&q).inflight, 0);
	missed();
	assert_int_equal(restore(NEW_PORT, 0), 0);
	assert_int_not_equal(command(&q, HP3_CMD_HOME, 0), 0);
	assert_int_equal(set_up(&q), 0);
	middle(&q, 150);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), 0);
	assert_int_equal(info(&q).port, NEW_PORT); /* until it has drained */
}

/* What an event told of a queue pair that had sent nothing is as true as before. */
static void a_pairing_by_event_stays(void **state)
{
	q = make_qp(0);
	assert_int_equal(set_up_at(&q, 100), 0);
	missed();
	assert_true(info(&q).paired);
	middle(&q, 7000);
	expect_left(0, 7000, q.home, false);
	assert_int_equal(info(&q).inflight, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_flow_begins_where_it_was),
		RIG_TEST(one_that_never_sends_is_home_at_once),
		RIG_TEST(it_comes_home_by_a_drain_where_moves_are_off),
		RIG_TEST(refusals),
		RIG_TEST(what_is_held_never_leaves),
		RIG_TEST(ports_are_what_they_were),
		RIG_TEST(idle_no_more),
		RIG_TEST(a_pairing_by_event_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
