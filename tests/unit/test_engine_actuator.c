/* SPDX-License-Identifier: BSD-3-Clause */
/* In verbs mode, the queue pair's own send queue is the hold; an actuator carries out the move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

static void verbs(void)
{
	rig.cfg.verbs = true;
	rig_configure();
}

/* 100 to 102 are in flight, the actuator was told to stop the queue pair. */
static void suspending(void)
{
	verbs();
	in_flight(3);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(rig.other.flow, flow_of(&q));
	assert_int_equal(rig.other.port, q.home);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
}

static void drained(void)
{
	suspending();
	ack(&q, 102);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_MOVE);
	assert_int_equal(rig.other.port, NEW_PORT);
	assert_int_equal(seen(HP3_EVENT_SUSPEND), 1);
}

static void expect_reported(enum hp3_act_kind kind, uint32_t times)
{
	assert_int_equal(rig.acts[kind], times);
}

static void suspend_drained_move_moved(void **state)
{
	drained();
	assert_false(info(&q).moved);
	pass_time(30 * US);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rig.last.to, NEW_PORT);
	assert_int_equal(rig.last.drain_ns, 30 * US);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
	expect_reported(HP3_ACT_SUSPEND, 1);
	expect_reported(HP3_ACT_MOVE, 1);
	expect_reported(HP3_ACT_RESUME, 0);
}

/* What the engine sees are copies: they pass as they are, in every state. */
static void nothing_is_held(void **state)
{
	suspending();
	assert_int_equal(middle(&q, 103), HP3_PASS);
	assert_int_equal(rig.vd.flags, 0);
	assert_int_equal(rig.wire[3].port, q.home);
	ack(&q, 103);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING); /* only the actuator knows (rule 20) */
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(middle(&q, 104), HP3_PASS);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);
	assert_int_equal(middle(&q, 105), HP3_PASS);
	assert_int_equal(rig.held, 0);
	assert_int_equal(stats()->held_packets, 0);
}

static void even_an_idle_queue_pair_is_suspended(void **state)
{
	verbs();
	in_flight(0);
	last(&q, 100);
	ack(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	expect_reported(HP3_ACT_SUSPEND, 1);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
}

/* --- it goes on on the old port, whatever went wrong --- */

static void too_slow_to_drain_resumes(void **state)
{
	suspending();
	pass_time(rig.cfg.close_timeout_ns);
	assert_int_equal(rig.other.kind, HP3_ACT_RESUME);
	assert_int_equal(rig.other.port, q.home);
	assert_int_equal(rig.last.type, HP3_EVENT_RECOVER);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_TIMEOUT);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), -EINVAL); /* too late */
}

static void too_slow_to_move_resumes(void **state)
{
	drained();
	pass_time(rig.cfg.max_hold_ns);
	assert_int_equal(rig.other.kind, HP3_ACT_RESUME);
	assert_int_equal(rig.other.port, q.home);
	assert_int_equal(seen(HP3_EVENT_RECOVER), 1);
	assert_false(info(&q).moved);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), -EINVAL);
}

static void loss_and_cancellation_resume(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		rig_setup(state);
		suspending();
		if (i == 0)
			nak(&q, 101);
		else if (i == 1)
			rnr(&q, 101);
		else if (i == 2)
			middle(&q, 101);
		else
			command(&q, HP3_CMD_CANCEL, 0);
		expect_reported(HP3_ACT_RESUME, 1);
		assert_int_equal(seen(HP3_EVENT_RECOVER), 1);
		assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	}
}

/* FAILED says that it goes on already. */
static void failed_needs_no_resume(void **state)
{
	for (unsigned step = 0; step < 2; step++) {
		rig_setup(state);
		if (step == 0)
			suspending();
		else
			drained();
		assert_int_equal(actuator(&q, HP3_ACTUATOR_FAILED), 0);
		assert_int_equal(rig.last.type, HP3_EVENT_RECOVER);
		expect_reported(HP3_ACT_RESUME, 0);
		assert_false(info(&q).moved);
	}
}

/* The NAK may be of the queue pair before: this one must not stay suspended. */
static void rule_16_a_fatal_nak_resumes(void **state)
{
	suspending();
	reply(&q, HP3_SYN_NAK | 2, 100);
	assert_int_equal(rig.last.type, HP3_EVENT_RECOVER);
	expect_reported(HP3_ACT_RESUME, 1);
}

static void reports_that_nobody_waits_for(void **state)
{
	struct qp unknown = make_qp(5);

	suspending();
	assert_int_equal(actuator(&unknown, HP3_ACTUATOR_DRAINED), -ENOENT);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), -EINVAL);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), -EINVAL);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_FAILED), -EINVAL);
	rig.cfg.verbs = false; /* inline there is no actuator */
	rig_configure();
	in_flight(1);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), -EINVAL);
}

/* --- moves that need no drain --- */

static void a_path_before_the_first_data_is_told_at_once(void **state)
{
	rig.cfg.verbs = true;
	rig.cfg.setup_probing = true;
	probing_config();
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up_at(&q, 100), 0);
	assert_int_equal(rig.nprobes, ASKED);
	probe_reply(2, false);
	expect_reported(HP3_ACT_MOVE, 1);
	assert_int_equal(rig.other.port, rig.probe_ports[2]);
	expect_reported(HP3_ACT_SUSPEND, 0);
}

/* Nothing can be handed to the RNIC, nothing held back: its own timer makes it go back. */
static void off_a_dead_path_at_once(void **state)
{
	rig.cfg.verbs = true;
	stall_config();
	probing_engine();
	last(&q, psn++);
	ack(&q, psn - 1);
	last(&q, psn++);
	path_dies();
	expect_reported(HP3_ACT_MOVE, 1);
	expect_reported(HP3_ACT_NAK, 0);
	assert_false(rig.newest[HP3_EVENT_FAILOVER].nak);
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	assert_int_equal(last(&q, psn - 2), HP3_PASS);
	ack(&q, psn - 1);
	assert_int_equal(seen(HP3_EVENT_RESUME), 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* Their answers reach the RNIC, too. */
static void rule_02_no_standard_probes_in_verbs_mode(void **state)
{
	rig.cfg.verbs = true;
	probing_config();
	rig.cfg.probes = HP3_PROBES_STANDARD;
	probing_engine();
	congest();
	assert_int_equal(seen(HP3_EVENT_SEVERE), 1);
	expect_reported(HP3_ACT_SUSPEND, 0);
	expect_reported(HP3_ACT_PROBE, 0);
}

static void rule_14_verbs_mode_paces_nothing(void **state)
{
	rig.cfg.cc.mode = HP3_CC_DCQCN;
	rig.cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	rig.cfg.cc.rp.rpg_max_rate = 1000;
	verbs();
	in_flight(1);
	cnp();
	for (uint32_t p = 101; p < 110; p++)
		assert_int_equal(middle(&q, p), HP3_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(suspend_drained_move_moved),
		RIG_TEST(nothing_is_held),
		RIG_TEST(even_an_idle_queue_pair_is_suspended),
		RIG_TEST(too_slow_to_drain_resumes),
		RIG_TEST(too_slow_to_move_resumes),
		RIG_TEST(loss_and_cancellation_resume),
		RIG_TEST(failed_needs_no_resume),
		RIG_TEST(rule_16_a_fatal_nak_resumes),
		RIG_TEST(reports_that_nobody_waits_for),
		RIG_TEST(a_path_before_the_first_data_is_told_at_once),
		RIG_TEST(off_a_dead_path_at_once),
		RIG_TEST(rule_02_no_standard_probes_in_verbs_mode),
		RIG_TEST(rule_14_verbs_mode_paces_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
