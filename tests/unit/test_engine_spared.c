/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases without a search for dead paths, or without an effect of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

/* A queue pair that was never answered may not be ready to receive. */
static void rule_13_not_before_the_peer_was_heard(void **state)
{
	stall_config();
	probing_engine();
	last(&q, psn++);
	steps(10 * STALL);
	assert_int_equal(rig.nprobes, 0);
	last(&q, psn - 1);
	ack(&q, psn - 1);
	last(&q, psn++);
	until_asked();
}

/* The same QPN again: what the queue pair before it has heard does not count. */
static void rule_16_nobody_was_heard_in_the_new_epoch(void **state)
{
	stall_config();
	silence();
	assert_int_equal(set_up(&q), 0);
	psn = 5000;
	last(&q, psn++);
	steps(10 * STALL);
	assert_int_equal(rig.nprobes, 0);
}

static void rule_10_no_verdict_while_the_receiver_is_not_ready(void **state)
{
	stall_config();
	silence();
	rnr(&q, psn - 2);
	steps(10 * STALL);
	assert_int_equal(rig.nprobes, 0);
	/* Nor when it says so while probes are out. */
	stalled();
	lose_a_round();
	rnr(&q, psn - 2);
	lose_a_round();
	steps(10 * STALL);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* Rule 28: a READ may take its time at the responder; the RNIC's own timer says when it is too
 * long.
 */
static void rule_28_a_read_is_waited_for(void **state)
{
	stall_config();
	silence();
	ack(&q, psn - 1);
	read_request(&q, psn++, PMTU);
	steps(8 * STALL);
	assert_int_equal(rig.nprobes, 0);
	read_request(&q, psn - 1, PMTU); /* sent again */
	until_asked();
	assert_int_equal(rig.act.op, HP3_PROBE_PEER);
}

/* Nobody stands in front of the peer's RNIC: after four silent rounds it is known, and nobody asks;
 * a watch has three. */
static void rule_02_a_peer_without_hp3d_is_left_alone(void **state)
{
	stall_config();
	rig.cfg.peer_ns = 100 * MS;
	stalled();
	steps(30 * STALL);
	assert_int_equal(rig.nprobes, 3 * ASKED);
	last(&q, psn - 1); /* the RNIC's time-out: the flow is looked at again */
	steps(20 * STALL);
	assert_int_equal(rig.nprobes, 6 * ASKED);
	last(&q, psn - 1);
	steps(20 * STALL);
	assert_int_equal(rig.nprobes, 6 * ASKED);
	assert_false(info(&q).moved);
}

static void observe_tells_and_does_nothing(void **state)
{
	stall_config();
	rig.cfg.observe = true;
	rig.cfg.moves_allowed = false;
	stalled();
	for (unsigned i = 0; i < 3; i++)
		lose_a_round();
	assert_int_equal(seen(HP3_EVENT_WOULD), 1);
	assert_int_equal(rig.newest[HP3_EVENT_WOULD].cause, HP3_CAUSE_DEAD);
	assert_true(rig.newest[HP3_EVENT_WOULD].nak);
	assert_int_not_equal(rig.newest[HP3_EVENT_WOULD].to, q.home);
	assert_int_equal(rig.acts[HP3_ACT_NAK], 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	steps(10 * STALL); /* once is enough */
	assert_int_equal(seen(HP3_EVENT_WOULD), 1);
}

static void where_nothing_may_move_nobody_asks(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		rig_setup(state);
		stall_config();
		rig.cfg.moves_allowed = i != 0;
		if (i == 1)
			rig.cfg.stall_ns = 0;
		if (i == 2)
			rig.cfg.probes = HP3_PROBES_STANDARD; /* behind a drain only */
		silence();
		if (i == 3)
			fragment(HP3_DIR_TX, &q); /* rule 17 */
		steps(10 * STALL);
		assert_int_equal(rig.nprobes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_13_not_before_the_peer_was_heard),
		RIG_TEST(rule_16_nobody_was_heard_in_the_new_epoch),
		RIG_TEST(rule_10_no_verdict_while_the_receiver_is_not_ready),
		RIG_TEST(rule_28_a_read_is_waited_for),
		RIG_TEST(rule_02_a_peer_without_hp3d_is_left_alone),
		RIG_TEST(observe_tells_and_does_nothing),
		RIG_TEST(where_nothing_may_move_nobody_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
