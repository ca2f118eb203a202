/* SPDX-License-Identifier: BSD-3-Clause */
/* A long message on an idle queue pair waits for answers to probes, and leaves on the path that
 * they select. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/pass/pass.h"
#include "scene.h"

#define LINE  10000u /* Mb/s: half a round trip (RTT, and a microsecond) is 13,125 bytes */
#define LONG  13200u
#define SHORT 13000u
#define MOST  7u /* probes of a round: twice three candidates, and the port in use */

static void config(void)
{
	probing_config();
	rig.cfg.message_start_percent = 50;
	rig.cfg.cc.rp.rpg_max_rate = LINE;
}

/* A queue pair that has been answered a few times, and rests. */
static void resting(void)
{
	probing_engine();
	peer_alive(&q);
	for (unsigned i = 0; i < 3; i++)
		exchange(false);
	rig.nprobes = 0;
	rig.nwire = 0;
}

static int write_first(uint32_t bytes)
{
	const struct hp3_fields f = {
		.opcode = HP3_OP_RC_WRITE_FIRST, .psn = psn++, .dma_len = bytes};

	return request(&q, &f);
}

/* The first packet of a long message is held, and so is one more. */
static void waiting(void)
{
	resting();
	assert_int_equal(write_first(LONG), HP3_HOLD);
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	assert_int_equal(info(&q).state, HP3_RFR_PROBING);
	assert_int_equal(rig.nprobes, MOST);
	assert_int_equal(rig.probe_ports[0], q.home);
	assert_int_equal(rig.nwire, 0);
}

static void expect_both(uint16_t port)
{
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.held, 0);
	expect_left(0, psn - 2, port, false);
	expect_left(1, psn - 1, port, false);
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	expect_left(2, psn - 1, port, false);
}

static void the_first_unmarked_answer_decides(void **state)
{
	config();
	waiting();
	probe_reply(0, true);
	probe_reply(2, true);
	assert_int_equal(info(&q).state, HP3_RFR_PROBING);
	probe_reply(4, false);
	expect_both(rig.probe_ports[4]);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].cause, HP3_CAUSE_MESSAGE_START);
	assert_int_equal(rig.newest[HP3_EVENT_SWITCH].cause, HP3_CAUSE_MESSAGE_START);
	assert_int_equal(stats()->message_start_searches, 1);
	probe_reply(1, false);
	assert_int_equal(stats()->probe_strays, 1);
}

/* Its queues are as short as those of a path that was moved to. */
static void the_port_in_use_may_be_best_and_is_sped_up(void **state)
{
	const struct hp3_dcqcn *rp;

	config();
	rig.cfg.cc.mode = HP3_CC_DCQCN;
	rig.cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	rig.cfg.cc.rp.rpg_max_rate = LINE;
	rig.cfg.cc.burst_bytes = 1 << 20;
	resting();
	cnp();
	rp = &rig.e->rates[flow_of(&q)].rp;
	assert_int_equal(hp3_dcqcn_rate(rp) / 1000000, LINE / 2);
	write_first(LONG);
	assert_int_equal(info(&q).state, HP3_RFR_PROBING);
	probe_reply(0, false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(hp3_dcqcn_rate(rp) / 1000000, LINE * 3 / 4);
	assert_int_equal(info(&q).moves, 0);
}

static void the_wait_is_bounded_by_two_round_trips(void **state)
{
	config();
	waiting();
	pass_time(RTT);
	assert_int_equal(info(&q).state, HP3_RFR_PROBING);
	pass_time(RTT + 4 * US);
	expect_both(q.home);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].cause, HP3_CAUSE_MESSAGE_START);
}

static void and_by_the_longest_hold(void **state)
{
	config();
	rig.cfg.max_hold_ns = 10 * US;
	waiting();
	pass_time(10 * US);
	expect_both(q.home);
}

/* Nobody answered, or marks came from everywhere: the flow does not ask again at once. */
static void no_answer_no_second_wait(void **state)
{
	config();
	waiting();
	pass_time(3 * RTT);
	assert_int_equal(rig.held, 0);
	ack(&q, psn - 1);
	assert_int_equal(write_first(LONG), HP3_PASS);
	ack(&q, psn - 1);
	pass_time(2 * rig.cfg.round.backoff_min_ns);
	assert_int_equal(write_first(LONG), HP3_HOLD);
}

/* A move that has paid off waits out its cool-down; where there is nothing to drain it need not. */
static void each_long_message_waits(void **state)
{
	config();
	waiting();
	probe_reply(4, false);
	ack(&q, psn - 1);
	assert_int_equal(write_first(LONG), HP3_HOLD);
	assert_int_equal(rig.probe_ports[MOST], rig.probe_ports[4]);
	assert_int_equal(stats()->message_start_searches, 2);
	probe_reply(MOST, false);
	assert_int_equal(rig.held, 0);
}

static void short_messages_do_not_wait(void **state)
{
	config();
	resting();
	assert_int_equal(write_first(SHORT), HP3_PASS);
	ack(&q, psn - 1);
	rig.cfg.message_start_percent = 0;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	assert_int_equal(write_first(1u << 30), HP3_PASS);
	assert_int_equal(rig.nprobes, 0);
}

/* Length unknown, or the long way is that of the answers. */
static void only_writes_wait(void **state)
{
	struct hp3_fields send = {.opcode = HP3_OP_RC_SEND_FIRST};

	config();
	resting();
	send.psn = psn++;
	assert_int_equal(request(&q, &send), HP3_PASS);
	ack(&q, psn - 1);
	assert_int_equal(read_request(&q, psn, 1 << 20), HP3_PASS);
	assert_int_equal(rig.nprobes, 0);
}

static void rule_07_only_where_nothing_is_in_flight(void **state)
{
	config();
	resting();
	last(&q, psn++);
	assert_int_equal(write_first(LONG), HP3_PASS);
	assert_int_equal(rig.nprobes, 0);
}

/* Its duplicates may still travel. */
static void rule_07_not_behind_a_retransmission(void **state)
{
	config();
	resting();
	last(&q, psn);
	last(&q, psn);
	ack(&q, psn++);
	assert_int_equal(write_first(LONG), HP3_PASS);
	assert_int_equal(rig.nprobes, 0);
}

/* What the RNIC sends again begins nothing, and ends the wait: in the order it was emitted. */
static void rule_07_a_retransmission_ends_the_wait(void **state)
{
	config();
	waiting();
	psn -= 2;
	assert_int_equal(write_first(LONG), HP3_PASS);
	psn++;
	assert_int_equal(rig.held, 0);
	expect_left(0, psn - 2, q.home, false);
	expect_left(1, psn - 1, q.home, false);
	expect_left(2, psn - 2, q.home, false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	probe_reply(3, false);
	assert_int_equal(stats()->probe_strays, 1);
	assert_false(info(&q).moved);
}

/* A reply that is damaged proves nothing. */
static void rule_06_idleness_is_proven(void **state)
{
	config();
	resting();
	last(&q, psn);
	rig.damage = true;
	ack(&q, psn++);
	assert_int_equal(write_first(LONG), HP3_PASS);
	assert_int_equal(rig.nprobes, 0);
}

/* Nothing that could be refused is in flight, and what has arrived is not refused any more. */
static void rule_06_an_rnr_nak_of_the_past_means_nothing(void **state)
{
	config();
	waiting();
	rnr(&q, psn - 3);
	assert_int_equal(rig.held, 2);
	assert_int_equal(stats()->rnrs, 0);
	assert_int_equal(info(&q).state, HP3_RFR_PROBING);
	probe_reply(0, false);
	assert_int_equal(rig.held, 0);
}

/* READ data are on their way: the ACK of a probe that reached an RNIC would overtake them. */
static void rule_02_not_before_the_data_of_a_read(void **state)
{
	config();
	resting();
	read_request(&q, psn, 4 * PMTU);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, psn, PMTU);
	psn += 4;
	assert_int_equal(write_first(LONG), HP3_PASS);
	assert_int_equal(rig.nprobes, 0);
}

/* Old PSNs, as everywhere: a duplicate, should the peer's hp3d be gone. */
static void rule_01_the_probe_is_a_duplicate(void **state)
{
	config();
	waiting();
	for (unsigned i = 0; i < MOST; i++)
		assert_int_equal(rig.probe_psns[i], psn - 3);
}

/* Nothing behind the newest packet has left: who acknowledges it speaks of another queue pair. */
static void rule_15_a_reply_to_what_is_held_contradicts(void **state)
{
	config();
	waiting();
	ack(&q, psn - 2);
	assert_int_equal(stats()->contradictions, 1);
	assert_int_equal(rig.held, 2);
	contradict(&q, psn);
	assert_false(info(&q).paired);
	assert_int_equal(rig.held, 0);
}

static void rule_16_a_reset_drops_what_is_held(void **state)
{
	config();
	waiting();
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(rig.held, 2); /* the event may be late: the next packet tells */
	middle(&q, psn + 5000);
	assert_int_equal(rig.discarded, 2);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
}

static void no_room_leaves_at_once(void **state)
{
	config();
	rig.cfg.hold_packets = 1;
	resting();
	assert_int_equal(write_first(LONG), HP3_HOLD);
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	expect_both(q.home);
}

static void nor_without_a_slot_or_budget(void **state)
{
	struct qp other = make_qp(1);

	config();
	rig.cfg.max_moves = 1;
	resting();
	assert_int_equal(set_up(&other), 0);
	last(&other, 7);
	assert_int_equal(move(&other, NEW_PORT), 0);
	assert_int_equal(write_first(LONG), HP3_PASS);
	assert_int_equal(rig.nprobes, 0);
	ack(&other, 7);
	ack(&q, psn - 1);
	rig.cfg.round.probes_per_second = 0;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	assert_int_equal(write_first(LONG), HP3_PASS);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* A peer that never answered would only cost time; in mode observe nothing is held. */
static void nobody_waits_for_nothing(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		rig_setup(state);
		config();
		rig.cfg.observe = i == 1;
		rig.cfg.moves_allowed = i != 2;
		rig.cfg.probes = i == 3 ? HP3_PROBES_STANDARD : HP3_PROBES_PEER;
		probing_engine();
		if (i != 0)
			peer_alive(&q);
		for (unsigned k = 0; k < 3; k++)
			exchange(false);
		assert_int_equal(write_first(LONG), HP3_PASS);
		assert_int_equal(rig.nprobes, 0);
		rig_teardown(state);
	}
	rig_setup(state);
}

/* The path dies while nothing is seen to leave: what was held counts as in flight. */
static void a_path_that_dies_under_the_message_is_left(void **state)
{
	config();
	rig.cfg.stall_ns = STALL;
	waiting();
	assert_int_equal(last(&q, psn++), HP3_HOLD);
	probe_reply(0, false);
	assert_int_equal(rig.held, 0);
	for (unsigned i = 0; i < 20 && stats()->rounds == 1; i++)
		pass_time(100 * US);
	assert_int_equal(stats()->rounds, 2);
}

/* What a flow has learnt stays with the path when it goes: the next one begins elsewhere. */
static void the_next_queue_pair_knows_the_path_of_the_last(void **state)
{
	struct qp next = make_qp(0);

	config();
	rig.cfg.setup_probing = true;
	rig_configure();
	q = make_qp(0);
	psn = 100;
	assert_int_equal(set_up_at(&q, psn), 0);
	probe_reply(1, false);
	for (unsigned i = 0; i < 12; i++)
		exchange(true);
	assert_int_equal(info(&q).port, rig.probe_ports[1]);
	assert_int_equal(tear_down(&q), 0);
	rig.nprobes = 0;
	assert_int_equal(set_up_at(&next, 500), 0);
	assert_int_equal(rig.nprobes, ASKED); /* not just there: it was all marks */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(the_first_unmarked_answer_decides),
		RIG_TEST(the_port_in_use_may_be_best_and_is_sped_up),
		RIG_TEST(the_wait_is_bounded_by_two_round_trips),
		RIG_TEST(and_by_the_longest_hold),
		RIG_TEST(no_answer_no_second_wait),
		RIG_TEST(each_long_message_waits),
		RIG_TEST(short_messages_do_not_wait),
		RIG_TEST(only_writes_wait),
		RIG_TEST(rule_07_only_where_nothing_is_in_flight),
		RIG_TEST(rule_07_not_behind_a_retransmission),
		RIG_TEST(rule_07_a_retransmission_ends_the_wait),
		RIG_TEST(rule_06_idleness_is_proven),
		RIG_TEST(rule_06_an_rnr_nak_of_the_past_means_nothing),
		RIG_TEST(rule_02_not_before_the_data_of_a_read),
		RIG_TEST(rule_01_the_probe_is_a_duplicate),
		RIG_TEST(rule_15_a_reply_to_what_is_held_contradicts),
		RIG_TEST(rule_16_a_reset_drops_what_is_held),
		RIG_TEST(no_room_leaves_at_once),
		RIG_TEST(nor_without_a_slot_or_budget),
		RIG_TEST(nobody_waits_for_nothing),
		RIG_TEST(a_path_that_dies_under_the_message_is_left),
		RIG_TEST(the_next_queue_pair_knows_the_path_of_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
