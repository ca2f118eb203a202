/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late and damaged packets: answers to a round that is over, replies with a wrong ICRC. The first
 * three hung, crashed or locked an engine that paced a flow whose receiver was not ready.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>
#include "engine/pass/pass.h"
#include "scene.h"

static void paced_config(void)
{
	rig.cfg.cc.mode = HP3_CC_DCQCN;
	rig.cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	rig.cfg.cc.rp.rpg_max_rate = 1000;
	rig.cfg.cc.rp.rate_to_set_on_first_cnp = 10; /* Mb/s: a packet takes 0.87 ms */
	rig.cfg.cc.rp.rpg_time_reset = 100000;
	rig.cfg.cc.max_rtt_ns = 200 * US;
	rig.cfg.cc.rto_ns = 67109 * US;
	probing_config();
}

static struct hp3_pair *pair_of(const struct qp *q)
{
	return &rig.e->pairs.pairs[rig.e->flows[flow_of(q)].pair];
}

/* A paced flow, severely congested: probes are out, packets wait for the pacer; then RNR. */
static void searching_then_rnr(void)
{
	paced_config();
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	cnp();
	for (unsigned i = 0; i < 20; i++)
		middle(&q, psn++);
	for (unsigned i = 0; i < 10 && info(&q).state == HP3_RFR_STEADY; i++) {
		pass_time(CYCLE);
		cnp();
	}
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	assert_true(rig.held > 0);
	assert_int_equal(rig.nprobes, ASKED);
	rnr(&q, info(&q).una);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_true(rig.held > 0);
}

/* A losing answer: nothing is armed for a round that is over, so time goes by. */
static void rule_10_a_late_answer_arms_nothing(void **state)
{
	searching_then_rnr();
	pass_time(20 * US);
	probe_reply(1, true);
	assert_int_equal(stats()->probe_strays, 1);
	alarm(20); /* hp3_tick() never came back */
	for (unsigned i = 0; i < 10; i++)
		pass_time(50 * US);
	alarm(0);
}

/* A winning one: nothing moves while the receiver is not ready, and the pair is free again. */
static void rule_10_a_late_winner_moves_nothing(void **state)
{
	searching_then_rnr();
	assert_int_equal(pair_of(&q)->nmoves, 0);
	probe_reply(1, false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	for (unsigned i = 0; i < 40; i++)
		pass_time(MS);
	assert_int_equal(pair_of(&q)->nmoves, 0);
	assert_false(info(&q).moved);
}

/* The same with a FIFO that overflows: its slot was given away under a move. */
static void rule_10_a_late_winner_takes_no_slot(void **state)
{
	rig.cfg.hold_packets = 25;
	searching_then_rnr();
	probe_reply(1, false);
	for (unsigned i = 0; i < 12; i++)
		middle(&q, psn++);
	for (unsigned i = 0; i < 40; i++)
		pass_time(MS);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(pair_of(&q)->nmoves, 0);
}

/* The RNIC drops it, and waits for what it acknowledged. */
static void rule_26_a_nak_never_completes_what_was_not_delivered(void **state)
{
	uint32_t first;

	stall_config();
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	first = psn;
	for (unsigned i = 0; i < 10; i++)
		middle(&q, psn++);
	last(&q, psn++);
	rig.damage = true;
	ack(&q, first + 5);
	path_dies();
	assert_int_equal(rig.acts[HP3_ACT_NAK], 1);
	assert_int_equal(rig.other.psn, first);
}

/* una as a long burst leaves it, where nobody looked at the ICRC. */
static void claim(uint32_t una)
{
	struct hp3_flow *f = &rig.e->flows[flow_of(&q)];

	f->stream.una = una;
	f->watch &= (uint16_t)~HP3_FW_SURE;
}

/* Not sure what has arrived: that is asked on the new port first, with a PSN that is surely old. */
static void rule_26_a_nak_waits_for_what_was_checked(void **state)
{
	for (int wrong = 0; wrong < 2; wrong++) {
		uint32_t first;

		rig_setup(state);
		stall_config();
		probing_engine();
		for (unsigned i = 0; i < 4; i++)
			exchange(false);
		first = psn;
		for (unsigned i = 0; i < 10; i++)
			middle(&q, psn++);
		last(&q, psn++);
		claim(first + 6);
		path_dies();
		assert_int_equal(rig.acts[HP3_ACT_NAK], 0);
		assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 1);
		assert_int_equal(rig.other.port, info(&q).port);
		assert_true(hp3_psn_diff(rig.other.psn, first) < 0);
		rig.damage = true;
		ack(&q, first + 8);
		assert_int_equal(rig.acts[HP3_ACT_NAK], 0);
		ack(&q, wrong ? first + 1 : first + 5);
		assert_int_equal(rig.vd.kind, HP3_PASS);
		assert_int_equal(rig.acts[HP3_ACT_NAK], 1);
		assert_int_equal(rig.other.psn, wrong ? first + 2 : first + 6);
	}
}

/* What the pacer holds is not in flight: network and peer are sound, and nobody is told else. */
static void rule_27_pacing_looks_like_no_dead_path(void **state)
{
	uint32_t acked = 0;

	rig.cfg.cc.mode = HP3_CC_DCQCN;
	rig.cfg.cc.rp = hp3_dcqcn_preset("connectx")->rp;
	rig.cfg.cc.rp.rpg_max_rate = 100000;
	rig.cfg.cc.rp.rate_to_set_on_first_cnp = 1;
	rig.cfg.cc.rp.rpg_time_reset = 100000;
	rig.cfg.cc.max_rtt_ns = 200 * US;
	rig.cfg.cc.rto_ns = 4000 * MS; /* IB timeout 20 */
	probing_config();
	rig.cfg.stall_ns = 5 * MS;
	rig.cfg.round.timeout_ns = 500 * US;
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	cnp();
	for (unsigned i = 0; i < 8; i++)
		middle(&q, psn++);
	last(&q, psn++);
	acked = rig.nwire;
	for (unsigned i = 0; i < 2000; i++) {
		pass_time(100 * US);
		if (rig.nwire != acked) {
			acked = rig.nwire;
			ack(&q, rig.wire[rig.nwire - 1].psn);
		}
	}
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK] + rig.acts[HP3_ACT_REPORT], 0);
	assert_int_equal(rig.nprobes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_10_a_late_answer_arms_nothing),
		RIG_TEST(rule_10_a_late_winner_moves_nothing),
		RIG_TEST(rule_10_a_late_winner_takes_no_slot),
		RIG_TEST(rule_26_a_nak_never_completes_what_was_not_delivered),
		RIG_TEST(rule_26_a_nak_waits_for_what_was_checked),
		RIG_TEST(rule_27_pacing_looks_like_no_dead_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
