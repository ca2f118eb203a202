/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that drop long packets (rule 33): probes as long as data, and their evaluation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/paths/paths.h"
#include "scene.h"

#define WAIT (2 * MS)
#define PAD  (LEN - 14 - 60) /* a probe is as long as a middle() then */
#define HEAD 16u /* that a probe has in common with the first packet of a WRITE */

static enum hp3_quality quality_of(uint16_t port)
{
	struct hp3_paths *t = hp3_paths_of(rig.e, 0);

	return hp3_paths_quality(t, hp3_paths_get(t, port, q.rqpn, rig.now), rig.now);
}

/* The flow sends packets of 1,024 bytes, as who watches sees. */
static void sends_middles(void)
{
	middle(&q, psn++);
	last(&q, psn++);
	pass_time(RTT);
	ack(&q, psn - 1);
	pass_time(CYCLE);
}

/* A congested flow has found a better path, by short probes; the re-probe is out. */
static void reprobe_is_out(void)
{
	probing_config();
	rig.cfg.move_wait_ns = WAIT;
	rig.cfg.move_wait_rtts = 6;
	rig.cfg.paths.lossy_ns = 1000 * MS;
	probing_engine();
	sends_middles();
	congest();
	assert_int_equal(rig.nprobes, ASKED);
	for (unsigned i = 0; i < ASKED; i++)
		assert_int_equal(rig.probe_pads[i], 0);
	pass_time(10 * US);
	others_answer();
	pass_time(100 * US);
	probe_reply(0, true);
	for (unsigned i = 0; i < 100 && rig.nprobes == ASKED; i++)
		marked_reply();
	assert_int_equal(rig.nprobes, ASKED + 2);
}

static void rule_33_a_reprobe_is_as_long_as_data(void **state)
{
	reprobe_is_out();
	for (unsigned i = ASKED; i < ASKED + 2; i++) /* as long as the first one of a WRITE */
		assert_int_equal(rig.probe_pads[i], PAD + HEAD);
}

static void rule_33_who_swallows_it_is_left_alone(void **state)
{
	uint16_t port;

	reprobe_is_out();
	port = rig.probe_ports[ASKED + 1];
	pass_time(50 * US);
	probe_reply(ASKED, true);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING); /* does the other one answer? */
	steps(2 * TIMEOUT);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
	assert_int_equal(stats()->swallowed, 1);
	assert_int_equal(quality_of(port), HP3_QUALITY_LOSSY);
	/* no short answer ends that, and from now on no probe is short */
	hp3_paths_reply(hp3_paths_of(rig.e, 0),
		hp3_paths_get(hp3_paths_of(rig.e, 0), port, q.rqpn, rig.now), 1000, false, rig.now);
	assert_int_equal(quality_of(port), HP3_QUALITY_LOSSY);
	for (unsigned i = 0; i < 1000 && rig.nprobes == ASKED + 2; i++)
		marked_reply();
	assert_true(rig.nprobes > ASKED + 2);
	for (uint32_t i = ASKED + 2; i < rig.nprobes; i++) {
		assert_int_equal(rig.probe_pads[i], PAD + HEAD);
		assert_int_not_equal(rig.probe_ports[i], port);
	}
}

/* Nobody answers: that is no path. */
static void rule_33_an_unanswered_reprobe_says_nothing(void **state)
{
	reprobe_is_out();
	steps(2 * TIMEOUT);
	assert_int_equal(stats()->swallowed, 0);
}

/* Answers of short probes come, those of long ones do not: as dead as can be. */
static void rule_33_a_path_in_use_is_left(void **state)
{
	uint16_t port;

	stall_config();
	rig.cfg.paths.lossy_ns = 1000 * MS;
	probing_engine();
	sends_middles();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	middle(&q, psn++);
	last(&q, psn++);
	until_asked();
	port = rig.probe_ports[0];
	assert_int_equal(rig.probe_pads[0], 0);
	others_answer();
	probe_reply(0, false);
	for (unsigned i = 0, n = rig.nprobes; i < 200 && seen(HP3_EVENT_FAILOVER) == 0; i++) {
		pass_time(50 * US);
		if (rig.nprobes == n)
			continue;
		assert_int_equal(rig.probe_pads[n], PAD + HEAD);
		others_answer();
		n = rig.nprobes;
	}
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 1);
	assert_int_equal(rig.newest[HP3_EVENT_FAILOVER].from, port);
	assert_int_equal(rig.acts[HP3_ACT_NAK], 1);
	assert_int_equal(stats()->swallowed, 1);
	assert_int_equal(quality_of(port), HP3_QUALITY_LOSSY);
}

/* Probes are of no help; the RNIC has gone back to one packet for long. */
static void rule_33_who_was_moved_comes_home(void **state)
{
	for (unsigned peer = 0; peer < 2; peer++) {
		rig_setup(state);
		stall_config();
		rig.cfg.probes = peer ? HP3_PROBES_AUTO : HP3_PROBES_STANDARD;
		rig.cfg.paths.lossy_ns = 1000 * MS;
		probing_engine();
		sends_middles();
		assert_int_equal(move(&q, NEW_PORT), 0);
		last(&q, psn);
		ack(&q, psn++);
		middle(&q, psn);
		assert_int_equal(info(&q).port, NEW_PORT);
		for (unsigned i = 0; i < 3; i++) {
			pass_time(2 * STALL);
			middle(&q, psn);
			assert_int_equal(
				rig.wire[rig.nwire - 1].port, i != 0 && !peer ? q.home : NEW_PORT);
		}
		assert_int_equal(seen(HP3_EVENT_FAILOVER), !peer);
		assert_int_equal(rig.acts[HP3_ACT_NAK], 0);
		if (!peer) {
			assert_int_equal(rig.newest[HP3_EVENT_FAILOVER].cause, HP3_CAUSE_LOSS);
			assert_int_equal(quality_of(NEW_PORT), HP3_QUALITY_LOSSY);
		}
		rig_teardown(state);
	}
	rig_setup(state);
}

/* What goes on is not stuck, however often the RNIC goes back. */
static void rule_33_progress_keeps_it_there(void **state)
{
	stall_config();
	rig.cfg.probes = HP3_PROBES_STANDARD;
	probing_engine();
	sends_middles();
	assert_int_equal(move(&q, NEW_PORT), 0);
	last(&q, psn);
	ack(&q, psn++);
	for (unsigned i = 0; i < 8; i++) {
		middle(&q, psn);
		pass_time(2 * STALL);
		last(&q, psn);
		ack(&q, psn++);
	}
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
	assert_int_equal(info(&q).port, NEW_PORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_33_a_reprobe_is_as_long_as_data),
		RIG_TEST(rule_33_who_swallows_it_is_left_alone),
		RIG_TEST(rule_33_an_unanswered_reprobe_says_nothing),
		RIG_TEST(rule_33_a_path_in_use_is_left),
		RIG_TEST(rule_33_who_was_moved_comes_home),
		RIG_TEST(rule_33_progress_keeps_it_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
