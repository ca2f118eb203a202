/* SPDX-License-Identifier: BSD-3-Clause */
/* From severe congestion over a round of probes to a move, or back to steady state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/info.h"
#include "engine/state.h"
#include "scene.h"

static void searching_engine(void)
{
	probing_config();
	probing_engine();
}

/* The path in use is severely congested: probes are out. */
static void congested(void)
{
	searching_engine();
	congest();
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

static void a_round_probes_the_port_in_use_and_others(void **state)
{
	congested();
	assert_int_equal(rig.probe_ports[0], q.home);
	for (unsigned i = 1; i < 4; i++) {
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(rig.probe_ports[i], rig.probe_ports[k]);
		assert_int_equal(rig.probe_ids[i], rig.probe_ids[0] + i);
	}
}

static void traffic_flows_on_while_probes_are_out(void **state)
{
	uint32_t before;

	congested();
	before = rig.nwire;
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	assert_int_equal(last(&q, psn++), HP3_PASS);
	ack(&q, psn - 1);
	assert_int_equal(rig.nwire, before + 2);
	assert_int_equal(rig.wire[before].port, q.home);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	assert_int_equal(info(&q).inflight, 0);
}

static void the_first_good_reply_wins(void **state)
{
	congested();
	middle(&q, psn++); /* in flight: the old path must be drained */
	pass_time(5 * US);
	probe_reply(2, false);
	assert_int_equal(rig.events[HP3_EVENT_ROUND], 1);
	assert_int_equal(rig.last.type, HP3_EVENT_ROUND);
	assert_int_equal(rig.last.outcome, HP3_ROUND_WINNER);
	assert_int_equal(rig.last.to, rig.probe_ports[2]);
	assert_in_range(rig.last.n_cycles, 3, 8);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	last(&q, psn++); /* closes */
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	ack(&q, psn - 2);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rig.last.cause, HP3_CAUSE_ECN);
	assert_int_equal(info(&q).port, rig.probe_ports[2]);
	expect_left(rig.nwire - 1, psn - 1, rig.probe_ports[2], false);
}

static void a_marked_reply_does_not_win(void **state)
{
	congested();
	pass_time(5 * US);
	probe_reply(1, true);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	probe_reply(2, true);
	probe_reply(3, true);
	probe_reply(0, true);
	assert_int_equal(rig.events[HP3_EVENT_ROUND], 1);
	assert_int_equal(rig.events[HP3_EVENT_RECOVER], 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
	assert_int_equal(rig.held, 0);
	assert_int_equal(stats()->searches_fruitless, 1);
	assert_int_equal(stats()->moves_recovered, 0);
}

static void nobody_answers(void **state)
{
	congested();
	pass_time(300 * US);
	assert_int_equal(rig.events[HP3_EVENT_ROUND], 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	probe_reply(1, false); /* too late */
	assert_int_equal(stats()->probe_strays, 1);
	assert_false(info(&q).moved);
}

/* Rule 10: no move until the refused packet is acknowledged, whatever the probes say. */
static void rule_10_rnr_ends_the_round(void **state)
{
	congested();
	last(&q, psn++);
	rnr(&q, psn - 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.events[HP3_EVENT_RECOVER], 1);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_RNR);
	probe_reply(2, false);
	assert_int_equal(stats()->probe_strays, 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
}

static void a_lost_queue_pair_is_not_moved(void **state)
{
	congested();
	last(&q, psn++);
	reply(&q, HP3_SYN_NAK | 2, psn - 1); /* remote access error */
	assert_int_equal(rig.events[HP3_EVENT_RECOVER], 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	probe_reply(2, false);
	assert_false(info(&q).moved);
}

/* Loss on the path in use speaks for leaving it. */
static void a_nak_does_not_end_the_round(void **state)
{
	congested();
	last(&q, psn++);
	nak(&q, psn - 1);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

/* Fruitless rounds become rare. */
static void back_off(void **state)
{
	uint32_t first, second;

	congested();
	for (unsigned i = 0; i < 40; i++)
		exchange(true);
	first = rig.nprobes;
	for (unsigned i = 0; i < 40; i++)
		exchange(true);
	second = rig.nprobes - first;
	assert_in_range(first, 8, 24);
	assert_true(second < first);
	assert_int_equal(info(&q).moves, 0);
}

static void one_flow_of_a_pair_at_a_time(void **state)
{
	struct qp other = make_qp(1);
	uint32_t p = 500;

	congested();
	assert_int_equal(set_up(&other), 0);
	for (unsigned i = 0; i < 2; i++) { /* too short for a verdict, and the slot is taken */
		struct hp3_fields f = {.opcode = HP3_OP_RC_ACK, .becn = true, .psn = p};

		last(&other, p++);
		response(&other, &f);
	}
	assert_int_equal(rig.nprobes, 4);
	assert_int_equal(command(&q, HP3_CMD_MOVE, 60000), -EBUSY);
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
}

static void moves_off_means_no_probe(void **state)
{
	searching_engine();
	rig_allow_moves(false);
	for (unsigned i = 0; i < 12; i++)
		exchange(true);
	assert_int_equal(rig.events[HP3_EVENT_SEVERE], 1);
	assert_int_equal(rig.nprobes, 0);
}

/* Ids that were never given out change nothing. */
static void forged_replies(void **state)
{
	struct hp3_acts acts = {0};

	congested();
	for (uint32_t id = 0; id < 4096; id++) {
		uint32_t forged = id << 20 ^ id;

		if ((forged & ~7u) != (rig.probe_ids[0] & ~7u))
			hp3_probe_reply(rig.e, forged, false, rig.now, &acts);
		assert_int_equal(acts.n, 0);
	}
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	assert_int_equal(stats()->probe_replies, 0);
}

/* An answer is a sign of life once: seen on the wire and sent again it is none. */
static void rule_36_an_answer_is_new_once(void **state)
{
	struct hp3_pair_info pair;
	struct hp3_acts acts = {0};

	congested();
	for (unsigned again = 0; again < 3; again++) {
		assert_int_equal(hp3_probe_timed(rig.e, rig.probe_ids[1], true, 0, rig.now, &acts),
			again == 0);
		assert_int_equal(hp3_pair_info(rig.e, 0, rig.now, &pair), 0);
		assert_int_equal(pair.peer_seen_ns, again * MS);
		pass_time(MS);
	}
	probe_reply(0, true); /* the round is over, or will be: one that is late counts once, too */
	steps(2 * TIMEOUT);
	for (unsigned again = 0; again < 2; again++)
		assert_int_equal(hp3_probe_timed(rig.e, rig.probe_ids[2], true, 0, rig.now, &acts),
			again == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_round_probes_the_port_in_use_and_others),
		RIG_TEST(traffic_flows_on_while_probes_are_out),
		RIG_TEST(the_first_good_reply_wins),
		RIG_TEST(a_marked_reply_does_not_win),
		RIG_TEST(nobody_answers),
		RIG_TEST(rule_10_rnr_ends_the_round),
		RIG_TEST(a_lost_queue_pair_is_not_moved),
		RIG_TEST(a_nak_does_not_end_the_round),
		RIG_TEST(back_off),
		RIG_TEST(one_flow_of_a_pair_at_a_time),
		RIG_TEST(moves_off_means_no_probe),
		RIG_TEST(forged_replies),
		RIG_TEST(rule_36_an_answer_is_new_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
