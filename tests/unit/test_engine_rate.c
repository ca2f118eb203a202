/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion feedback: its effects, its receivers (rule 5), and the effect of a move on a flow's
 * rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/pass/pass.h"
#include "engine/policy.h"
#include "scene.h"

static void config(enum hp3_cc_mode mode)
{
	rig.cfg.cc.mode = mode;
	rig.cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	rig.cfg.cc.rp.rpg_max_rate = 1000;
	rig.cfg.cc.rp.rpg_time_reset = 100000; /* us: the rate stays where CNPs have put it */
	rig.cfg.cc.burst_bytes = 1 << 20;
	rig.cfg.cc.max_rtt_ns = 200 * US;
	rig.cfg.peer_ns = 100 * MS;
}

static uint64_t rate_mbps(void)
{
	return info(&q).rate / 1000000;
}

static void marked_ack(uint32_t p)
{
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ACK, .becn = true, .psn = p});
}

/* PSN 100 closes the old path; the rate was 500 Mb/s then. */
static void suspended(enum hp3_cc_mode mode)
{
	config(mode);
	rig_configure();
	in_flight(0);
	cnp();
	last(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
}

/* --- whom feedback reaches --- */

static void rule_05_congestion_feedback_stops_in_front_of_the_rnic(void **state)
{
	static const enum hp3_cc_mode modes[] = {HP3_CC_DCQCN, HP3_CC_OFF};
	struct qp unknown = make_qp(5);

	for (unsigned i = 0; i < 2; i++) {
		rig_setup(state);
		config(modes[i]);
		rig_configure();
		in_flight(3);
		cnp();
		assert_int_equal(rig.vd.kind, HP3_CONSUME);
		response(&unknown, &(struct hp3_fields){.opcode = HP3_OP_CNP, .becn = true});
		assert_int_equal(rig.vd.kind, HP3_CONSUME);
		rig.damage = true;
		cnp();
		assert_int_equal(rig.vd.kind, HP3_CONSUME);
		marked_ack(100);
		assert_int_equal(rig.vd.kind, HP3_PASS);
		assert_int_equal(rig.vd.flags, HP3_CLEAR_BECN);
		ack(&q, 101);
		assert_int_equal(rig.vd.flags, 0);
	}
}

/* CNPs end here in every mode; so the flow is slowed down here in every mode. */
static void mode_off_goes_on_to_pace(void **state)
{
	config(HP3_CC_DCQCN);
	rig_configure();
	hp3_policy_mode(&rig.cfg, HP3_POLICY_OFF);
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	in_flight(3);
	assert_int_equal(rate_mbps(), 1000);
	cnp();
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
	assert_in_range(rate_mbps(), 1, 999);
}

/* Rule 6: marks on what was never asked speak of no path. */
static void rule_06_becn_out_of_window_slows_nobody(void **state)
{
	config(HP3_CC_DCQCN);
	rig_configure();
	in_flight(3);
	marked_ack(5000);
	assert_int_equal(rig.vd.flags, HP3_CLEAR_BECN);
	marked_ack(90);
	marked_ack(100 + (1 << 23) - 9);
	assert_int_equal(rate_mbps(), 1000);
	marked_ack(102);
	assert_int_equal(rate_mbps(), 500);
	pass_time(60 * US);
	marked_ack(102); /* said again */
	assert_in_range(rate_mbps(), 240, 260);
}

static void native_feedback_goes_to_the_rnic(void **state)
{
	config(HP3_CC_NATIVE);
	rig_configure();
	in_flight(2);
	cnp();
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_int_equal(info(&q).rate, 0);
	marked_ack(100);
	assert_int_equal(rig.vd.flags, 0);
}

static void cnps_and_marked_acks_reduce_the_rate(void **state)
{
	config(HP3_CC_DCQCN);
	rig_configure();
	in_flight(3);
	assert_int_equal(rate_mbps(), 1000);
	cnp();
	assert_int_equal(rate_mbps(), 500);
	pass_time(60 * US); /* rate_reduce_monitor_period */
	marked_ack(100);
	assert_in_range(rate_mbps(), 240, 260);
	rig.damage = true; /* rule 6 */
	pass_time(60 * US);
	cnp();
	assert_in_range(rate_mbps(), 240, 260);
	pass_time(101 * MS); /* one step of fast recovery, though nothing is sent */
	assert_in_range(rate_mbps(), 360, 380);
}

/* --- a move --- */

static void a_recovery_finds_the_rate_of_before(void **state)
{
	suspended(HP3_CC_DCQCN);
	pass_time(60 * US);
	cnp();
	assert_true(rate_mbps() < 300);
	nak(&q, 100);
	assert_int_equal(rig.last.type, HP3_EVENT_RECOVER);
	assert_int_equal(rate_mbps(), 500);
}

/* Half of what is missing to line rate; marks of the old path are forgotten. */
static void a_switch_raises_the_rate(void **state)
{
	suspended(HP3_CC_DCQCN);
	pass_time(60 * US);
	cnp();
	ack(&q, 100);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rate_mbps(), 750);
}

static void an_idle_switch_raises_the_rate(void **state)
{
	config(HP3_CC_DCQCN);
	rig_configure();
	in_flight(0);
	last(&q, 100);
	cnp();
	ack(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.last.type, HP3_EVENT_IDLE_SWITCH);
	assert_int_equal(rate_mbps(), 750);
}

/* --- CNPs name a queue pair, not a path --- */

static void cnps_of_the_old_path_are_not_charged_to_the_new_one(void **state)
{
	for (unsigned native = 0; native < 2; native++) {
		rig_setup(state);
		suspended(native ? HP3_CC_NATIVE : HP3_CC_DCQCN);
		ack(&q, 100);
		cnp();
		assert_int_equal(rig.vd.kind, HP3_CONSUME);
		assert_int_equal(stats()->cnps_stale, 1);
		if (!native)
			assert_int_equal(rate_mbps(), 750);
		/* A reply to a packet of the new port: from now on they speak of the new path. */
		last(&q, 101);
		cnp();
		assert_int_equal(stats()->cnps_stale, 2);
		ack(&q, 101);
		cnp();
		assert_int_equal(rig.vd.kind, native ? HP3_PASS : HP3_CONSUME);
		assert_int_equal(stats()->cnps_stale, 2);
		if (!native)
			assert_true(rate_mbps() < 750);
	}
}

static void stale_is_nothing_after_the_longest_round_trip(void **state)
{
	suspended(HP3_CC_NATIVE);
	ack(&q, 100);
	pass_time(rig.cfg.cc.max_rtt_ns - 10 * US);
	cnp();
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
	pass_time(10 * US);
	cnp();
	assert_int_equal(rig.vd.kind, HP3_PASS);
}

/* --- the notification point --- */

static void listening(uint8_t mode)
{
	config(HP3_CC_NATIVE);
	rig.cfg.cc.notify = true;
	rig.cfg.cc.np = (struct hp3_np_params){.min_time_between_cnps = 50, .mode = mode};
	rig_configure();
	in_flight(1);
}

static void rule_05_nothing_is_said_to_a_peer_without_hp3d(void **state)
{
	listening(HP3_NP_CNP);
	peer_request(&q, 7, true);
	assert_int_equal(rig.acts[HP3_ACT_CNP], 0);
	peer_alive(&q);
	peer_request(&q, 8, false);
	assert_int_equal(rig.acts[HP3_ACT_CNP], 0);
	peer_request(&q, 9, true);
	assert_int_equal(rig.acts[HP3_ACT_CNP], 1);
	assert_int_equal(rig.other.flow, flow_of(&q));
	assert_int_equal(rig.other.port, q.home);
	assert_int_equal(rig.other.pkey, 0xffff);
	peer_request(&q, 10, true); /* within 50 us */
	assert_int_equal(rig.acts[HP3_ACT_CNP], 1);
	pass_time(50 * US);
	peer_request(&q, 11, true);
	assert_int_equal(rig.acts[HP3_ACT_CNP], 2);
	pass_time(rig.cfg.peer_ns); /* it may be gone */
	peer_request(&q, 12, true);
	assert_int_equal(rig.acts[HP3_ACT_CNP], 2);
	assert_int_equal(stats()->ce_seen, 5);
	assert_int_equal(stats()->cnps_made, 2);
}

static void becn_rides_on_the_next_ack(void **state)
{
	listening(HP3_NP_BECN);
	peer_alive(&q);
	peer_request(&q, 7, true);
	assert_int_equal(rig.acts[HP3_ACT_CNP], 0);
	ack_leaves(&q, 7);
	assert_int_equal(rig.vd.flags, HP3_SET_BECN);
	ack_leaves(&q, 8);
	assert_int_equal(rig.vd.flags, 0);
	peer_request(&q, 9, true); /* for a queue pair that goes away */
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up(&q), 0);
	peer_alive(&q);
	ack_leaves(&q, 1);
	assert_int_equal(rig.vd.flags, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_05_congestion_feedback_stops_in_front_of_the_rnic),
		RIG_TEST(mode_off_goes_on_to_pace),
		RIG_TEST(rule_06_becn_out_of_window_slows_nobody),
		RIG_TEST(native_feedback_goes_to_the_rnic),
		RIG_TEST(cnps_and_marked_acks_reduce_the_rate),
		RIG_TEST(a_recovery_finds_the_rate_of_before),
		RIG_TEST(a_switch_raises_the_rate),
		RIG_TEST(an_idle_switch_raises_the_rate),
		RIG_TEST(cnps_of_the_old_path_are_not_charged_to_the_new_one),
		RIG_TEST(stale_is_nothing_after_the_longest_round_trip),
		RIG_TEST(rule_05_nothing_is_said_to_a_peer_without_hp3d),
		RIG_TEST(becn_rides_on_the_next_ack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
