/* SPDX-License-Identifier: BSD-3-Clause */
/* cc = native: CNPs of a flow that searches for a better path wait for the result (rule 30). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

#define BOUND (5 * RTT)

static void config(enum hp3_cc_mode mode)
{
	probing_config();
	rig.cfg.cc.mode = mode;
	rig.cfg.cc.withhold_percent = 500;
	rig.cfg.max_hold_ns = 4 * BOUND;
	rig.cfg.cc.max_rtt_ns = 0; /* no shield: what ends here is withheld */
}

static void expect_cnps(uint32_t withheld, uint32_t owed)
{
	assert_int_equal(stats()->cnps_withheld, withheld);
	assert_int_equal(stats()->cnps_owed, owed);
	assert_int_equal(rig.acts[HP3_ACT_CNP_OWED], owed);
}

static void expect_cnp(enum hp3_verdict_kind kind)
{
	cnp();
	assert_int_equal(rig.vd.kind, kind);
}

/* The first CNP sets off a round of probes; another one comes while it is out. */
static void searching(void)
{
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	assert_int_equal(rig.nprobes, 0);
	expect_cnp(HP3_CONSUME);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	assert_int_equal(rig.nprobes, ASKED);
	expect_cnp(HP3_CONSUME);
	assert_int_equal(rig.nprobes, ASKED);
}

static void rule_30_the_first_cnp_sets_off_a_search(void **state)
{
	config(HP3_CC_NATIVE);
	searching();
	expect_cnps(2, 0);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_CNP);
	pass_time(TIMEOUT);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].cause, HP3_CAUSE_CNP);
}

static void rule_30_the_rnic_keeps_the_rate_of_a_flow_that_leaves(void **state)
{
	config(HP3_CC_NATIVE);
	searching();
	middle(&q, psn++);
	pass_time(RTT / 2);
	others_answer();
	last(&q, psn++);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	pass_time(2 * BOUND); /* all is held: nobody has to slow down */
	expect_cnp(HP3_CONSUME);
	ack(&q, psn - 1);
	assert_true(info(&q).moved);
	expect_cnps(3, 0);
	expect_cnp(HP3_PASS);
}

static void rule_30_a_flow_that_stays_gets_one_of_them(void **state)
{
	config(HP3_CC_NATIVE);
	searching();
	pass_time(TIMEOUT);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	expect_cnps(2, 1);
	assert_int_equal(rig.other.kind, HP3_ACT_CNP_OWED);
	assert_int_equal(rig.other.flow, flow_of(&q));
	expect_cnp(HP3_PASS);
}

/* A drain that a loss ends has led nowhere. */
static void rule_30_fast_recovery_pays_what_is_owed(void **state)
{
	config(HP3_CC_NATIVE);
	rig.cfg.probing = false;
	rig_configure();
	draining(2);
	expect_cnp(HP3_CONSUME);
	nak(&q, 100);
	assert_int_equal(rig.last.type, HP3_EVENT_RECOVER);
	expect_cnps(1, 1);
	expect_cnp(HP3_PASS);
}

static void rule_30_nobody_waits_longer_than_the_bound(void **state)
{
	config(HP3_CC_NATIVE);
	rig.cfg.round.timeout_ns = 4 * BOUND;
	searching();
	pass_time(BOUND - 10 * US);
	expect_cnps(2, 0);
	pass_time(10 * US + RTT / 2);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	expect_cnps(2, 1);
	expect_cnp(HP3_PASS);
}

static void rule_30_of_a_queue_pair_that_is_gone_nobody_is_told(void **state)
{
	config(HP3_CC_NATIVE);
	searching();
	assert_int_equal(tear_down(&q), 0);
	pass_time(2 * BOUND);
	assert_int_equal(rig.acts[HP3_ACT_CNP_OWED], 0);
}

/* Nothing waits: switched off, and where the RNIC is told of no CNP anyway (rule 5). */
static void rule_05_only_an_rnic_with_congestion_control_is_owed_any(void **state)
{
	config(HP3_CC_NATIVE);
	rig.cfg.cc.withhold_percent = 0;
	probing_engine();
	congest();
	expect_cnp(HP3_PASS);
	expect_cnps(0, 0);
	rig_setup(state);
	config(HP3_CC_OFF);
	probing_engine();
	congest();
	expect_cnp(HP3_CONSUME);
	pass_time(2 * BOUND);
	expect_cnps(0, 0);
}

/* Where hp3d reacts itself it slows the flow down, and looks for a better path as soon. */
static void a_cnp_sets_off_a_search_where_hp3d_reacts(void **state)
{
	config(HP3_CC_DCQCN);
	rig.cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	rig.cfg.cc.max_rtt_ns = 200 * US;
	searching();
	expect_cnps(0, 0);
	pass_time(2 * BOUND);
	expect_cnps(0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_30_the_first_cnp_sets_off_a_search),
		RIG_TEST(rule_30_the_rnic_keeps_the_rate_of_a_flow_that_leaves),
		RIG_TEST(rule_30_a_flow_that_stays_gets_one_of_them),
		RIG_TEST(rule_30_fast_recovery_pays_what_is_owed),
		RIG_TEST(rule_30_nobody_waits_longer_than_the_bound),
		RIG_TEST(rule_30_of_a_queue_pair_that_is_gone_nobody_is_told),
		RIG_TEST(a_cnp_sets_off_a_search_where_hp3d_reacts),
		RIG_TEST(rule_05_only_an_rnic_with_congestion_control_is_owed_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
