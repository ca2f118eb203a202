/* SPDX-License-Identifier: BSD-3-Clause */
/* A path before the first data: a round between queue-pair setup and the first packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

#define FIRST 100u /* PSN of the first packet, told by the set-up event */

static void config(void)
{
	probing_config();
	rig.cfg.setup_probing = true;
	rig.cfg.setup_rounds = 1;
}

/* Probes are out, no data yet. */
static void setting_up(void)
{
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up_at(&q, FIRST), 0);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&q).state, HP3_RFR_SEEKING);
}

static void expect_home(void)
{
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(middle(&q, FIRST), HP3_PASS);
	expect_left(0, FIRST, q.home, false);
	assert_false(info(&q).moved);
	assert_int_equal(stats()->placed, 0);
}

static void a_round_before_the_first_data(void **state)
{
	config();
	setting_up();
	for (unsigned i = 1; i < ASKED; i++) /* nothing is in use: all ports are candidates */
		assert_int_not_equal(rig.probe_ports[i], rig.probe_ports[i - 1]);
	pass_time(10 * US);
	probe_reply(2, false);
	assert_int_equal(rig.newest[HP3_EV_ROUND].cause, HP3_CAUSE_SETUP);
	assert_int_equal(rig.newest[HP3_EV_ROUND].to, rig.probe_ports[2]);
	assert_int_equal(rig.last.type, HP3_EV_IDLE_SWITCH);
	assert_int_equal(rig.last.cause, HP3_CAUSE_SETUP);
	assert_int_equal(stats()->placed, 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

static void the_first_packet_leaves_on_the_chosen_port(void **state)
{
	config();
	setting_up();
	probe_reply(1, false);
	assert_int_equal(middle(&q, FIRST), HP3_PASS);
	expect_left(0, FIRST, rig.probe_ports[1], false);
	assert_int_equal(info(&q).home, q.home);
	assert_int_equal(hp3_engine_moved(rig.e), 1);
	assert_int_equal(info(&q).inflight, 1);
}

static void perhaps_just_where_the_rnic_would_go(void **state)
{
	config();
	setting_up();
	probe_reply(1, false);
	q.home = rig.probe_ports[1];
	middle(&q, FIRST);
	expect_left(0, FIRST, q.home, false);
	assert_false(info(&q).moved);
	assert_int_equal(hp3_engine_moved(rig.e), 0);
}

static void a_marked_answer_does_not_decide(void **state)
{
	config();
	setting_up();
	probe_reply(0, true);
	probe_reply(1, true);
	assert_int_equal(info(&q).state, HP3_RFR_SEEKING);
	probe_reply(3, false);
	assert_int_equal(info(&q).port, rig.probe_ports[3]);
}

static void marks_everywhere_leave_it_at_home(void **state)
{
	config();
	setting_up();
	for (uint32_t i = 0; i < ASKED; i++)
		probe_reply(i, true);
	pass_time(rig.cfg.round.timeout_ns);
	expect_home();
}

static void nobody_answers(void **state)
{
	config();
	setting_up();
	pass_time(rig.cfg.round.timeout_ns);
	assert_int_equal(rig.newest[HP3_EV_ROUND].cause, HP3_CAUSE_SETUP);
	expect_home();
	probe_reply(1, false);
	assert_int_equal(stats()->probe_strays, 1);
}

/* The application did not wait: its packet does not wait either. */
static void data_that_comes_first_leaves_at_once(void **state)
{
	config();
	setting_up();
	assert_int_equal(middle(&q, FIRST), HP3_PASS);
	expect_left(0, FIRST, q.home, false);
	assert_int_equal(stats()->placed_late, 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	probe_reply(1, false);
	assert_int_equal(stats()->probe_strays, 1);
	assert_int_equal(middle(&q, FIRST + 1), HP3_PASS);
	expect_left(1, FIRST + 1, q.home, false);
}

static void a_fresh_path_table_needs_no_round(void **state)
{
	struct qp other = make_qp(1);

	config();
	setting_up();
	probe_reply(1, false);
	assert_int_equal(set_up_at(&other, 7), 0);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&other).state, HP3_RFR_STEADY);
	middle(&other, 7);
	expect_left(0, 7, rig.probe_ports[1], false);
	assert_int_equal(stats()->placed, 2);
	/* It gets old. */
	assert_int_equal(tear_down(&other), 0);
	pass_time(rig.cfg.paths.fresh_ns + MS);
	assert_int_equal(set_up_at(&other, 7), 0);
	assert_int_equal(rig.nprobes, 2 * ASKED);
}

/* Without the queue pair's PSN a probe might be news to an RNIC whose hp3d has just gone. */
static void rule_02_no_probe_without_a_psn(void **state)
{
	struct qp other = make_qp(1);

	config();
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	peer_alive(&q);
	assert_int_equal(set_up(&other), 0);
	assert_int_equal(rig.nprobes, 0);
}

/* CM tells the first PSN: each side's is in what the other one sent. The verbs tell it again:
 * placed once. */
static void cm_places_what_no_watcher_sees(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		enum hp3_dir asks = i == 0 ? HP3_DIR_TX : HP3_DIR_RX;

		config();
		rig.nprobes = 0;
		rig.cfg.paths.fresh_ns = 1; /* a round each time */
		rig_configure();
		q = make_qp(i);
		rig.cm_psn = i == 0 ? FIRST + 7 : FIRST;
		cm(asks, &q, HP3_CM_REQ, 0xaaa, 0, i == 0 ? q.lqpn : q.rqpn);
		assert_int_equal(rig.nprobes, 0);
		rig.cm_psn = i == 0 ? FIRST : FIRST + 7;
		cm(i == 0 ? HP3_DIR_RX : HP3_DIR_TX, &q, HP3_CM_REP, 0xbbb, 0xaaa,
			i == 0 ? q.rqpn : q.lqpn);
		assert_int_equal(rig.nprobes, ASKED);
		assert_int_equal(rig.probe_psns[0], FIRST - 1);
		probe_reply(2, false);
		assert_int_equal(info(&q).port, rig.probe_ports[2]);
		assert_int_equal(set_up_at(&q, FIRST), 0);
		assert_int_equal(rig.nprobes, ASKED);
		rig.nwire = 0;
		assert_int_equal(middle(&q, FIRST), HP3_PASS);
		expect_left(0, FIRST, rig.probe_ports[2], false);
	}
}

/* Behind the first PSN: a duplicate, should it reach an RNIC (rule 1). */
static void rule_01_the_probe_is_a_duplicate(void **state)
{
	config();
	setting_up();
	for (unsigned i = 0; i < ASKED; i++)
		assert_int_equal(rig.probe_psns[i], FIRST - 1);
}

static void rule_02_no_standard_probe_at_setup(void **state)
{
	config();
	rig.cfg.probes = HP3_PROBES_STANDARD;
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up_at(&q, FIRST), 0);
	assert_int_equal(rig.nprobes, 0);
	expect_home();
}

/* Packets of the queue pair before it may still travel on the port in use. */
static void rule_16_a_new_epoch_is_not_placed(void **state)
{
	config();
	setting_up();
	probe_reply(1, false);
	middle(&q, FIRST);
	assert_int_equal(set_up_at(&q, 900), 0);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(stats()->placed, 1);
	middle(&q, 900);
	expect_left(1, 900, rig.probe_ports[1], false);
}

static void rule_16_a_queue_pair_that_goes_away_takes_its_round_along(void **state)
{
	config();
	setting_up();
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
	probe_reply(1, false);
	assert_int_equal(stats()->probe_strays, 1);
	assert_int_equal(hp3_engine_flows(rig.e), 0);
}

static void where_nothing_may_move_nobody_asks(void **state)
{
	struct qp other = make_qp(1);

	for (unsigned i = 0; i < 3; i++) {
		rig_setup(state);
		config();
		rig.cfg.setup_probing = i != 0;
		rig.cfg.moves_allowed = i != 1;
		rig_configure();
		q = make_qp(0);
		if (i == 2) { /* rule 17 */
			middle(&other, 1);
			fragment(HP3_DIR_TX, &q);
		}
		assert_int_equal(set_up_at(&q, FIRST), 0);
		assert_int_equal(rig.nprobes, 0);
	}
}

static void observe_tells_and_does_nothing(void **state)
{
	config();
	rig.cfg.observe = true;
	setting_up();
	probe_reply(1, false);
	assert_int_equal(rig.newest[HP3_EV_WOULD].cause, HP3_CAUSE_SETUP);
	assert_int_equal(rig.newest[HP3_EV_WOULD].to, rig.probe_ports[1]);
	expect_home();
}

static void no_slot_no_round(void **state)
{
	struct qp other = make_qp(1);

	config();
	rig.cfg.max_moves = 1;
	setting_up();
	assert_int_equal(set_up_at(&other, 5), 0);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&other).state, HP3_RFR_STEADY);
	assert_true(info(&other).paired);
}

/* Twice; the latest answer counts, of the round under way when data come only what is there. */
static void asked_again_before_the_first_data(void **state)
{
	config();
	rig.cfg.setup_rounds = 2;
	setting_up();
	pass_time(10 * US);
	probe_reply(1, false);
	assert_int_equal(info(&q).state, HP3_RFR_SEEKING);
	assert_int_equal(rig.nprobes, 2 * ASKED);
	probe_reply(ASKED, true);
	probe_reply(ASKED + 2, false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(stats()->rounds, 2);
	middle(&q, FIRST);
	expect_left(0, FIRST, rig.probe_ports[ASKED + 2], false);
}

static void data_take_the_path_that_is_known(void **state)
{
	config();
	rig.cfg.setup_rounds = 2;
	setting_up();
	probe_reply(1, false);
	assert_int_equal(middle(&q, FIRST), HP3_PASS);
	expect_left(0, FIRST, rig.probe_ports[1], false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(stats()->placed, 1);
	assert_int_equal(stats()->placed_late, 0);
	probe_reply(ASKED + 2, false);
	assert_int_equal(stats()->probe_strays, 1);
	middle(&q, FIRST + 1);
	expect_left(1, FIRST + 1, rig.probe_ports[1], false);
}

/* The one that was found is asked again, too, and keeps its place if it is not much slower. */
static void the_found_path_keeps_its_place(void **state)
{
	for (unsigned late = 0; late < 2; late++) {
		rig_teardown(state);
		rig_setup(state);
		config();
		rig.cfg.setup_rounds = 2;
		setting_up();
		probe_reply(1, false);
		assert_int_equal(rig.probe_ports[ASKED], rig.probe_ports[1]);
		pass_time(20 * US);
		probe_reply(ASKED + 2, false);
		assert_int_equal(info(&q).state, HP3_RFR_SEEKING);
		if (late)
			pass_time(2 * US); /* more than 5 % of 20 us */
		else
			probe_reply(ASKED, false);
		assert_int_equal(info(&q).state, HP3_RFR_STEADY);
		assert_int_equal(info(&q).port, rig.probe_ports[late ? ASKED + 2 : 1]);
	}
}

/* Rounds begin 0, 10, 20 us after the set-up, then 40, 80. */
static void the_wait_doubles(void **state)
{
	config();
	rig.cfg.setup_rounds = 5;
	setting_up();
	for (unsigned i = 1; i < 3; i++) {
		pass_time(10 * US);
		probe_reply((i - 1) * ASKED, false);
		assert_int_equal(stats()->rounds, i + 1);
	}
	pass_time(8 * US);
	probe_reply(2 * ASKED, false);
	assert_int_equal(stats()->rounds, 3);
	pass_time(6 * US);
	assert_int_equal(stats()->rounds, 3);
	pass_time(10 * US);
	assert_int_equal(stats()->rounds, 4);
}

/* The second round finds only marks: the first one's answer holds. */
static void a_found_path_is_not_given_up_for_none(void **state)
{
	config();
	rig.cfg.setup_rounds = 2;
	setting_up();
	probe_reply(1, false);
	for (uint32_t i = 0; i < ASKED; i++)
		probe_reply(ASKED + i, true);
	pass_time(rig.cfg.round.timeout_ns);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	middle(&q, FIRST);
	expect_left(0, FIRST, rig.probe_ports[1], false);
}

/* The budget of the pair is used up: what is known decides. */
static void no_budget_no_second_round(void **state)
{
	config();
	rig.cfg.setup_rounds = 2;
	rig.cfg.round.probe_burst = ASKED;
	rig.cfg.round.probes_per_second = 1;
	setting_up();
	probe_reply(1, false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&q).port, rig.probe_ports[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_round_before_the_first_data),
		RIG_TEST(the_first_packet_leaves_on_the_chosen_port),
		RIG_TEST(perhaps_just_where_the_rnic_would_go),
		RIG_TEST(a_marked_answer_does_not_decide),
		RIG_TEST(marks_everywhere_leave_it_at_home),
		RIG_TEST(nobody_answers),
		RIG_TEST(data_that_comes_first_leaves_at_once),
		RIG_TEST(a_fresh_path_table_needs_no_round),
		RIG_TEST(rule_02_no_probe_without_a_psn),
		RIG_TEST(cm_places_what_no_watcher_sees),
		RIG_TEST(rule_01_the_probe_is_a_duplicate),
		RIG_TEST(rule_02_no_standard_probe_at_setup),
		RIG_TEST(rule_16_a_new_epoch_is_not_placed),
		RIG_TEST(rule_16_a_queue_pair_that_goes_away_takes_its_round_along),
		RIG_TEST(where_nothing_may_move_nobody_asks),
		RIG_TEST(observe_tells_and_does_nothing),
		RIG_TEST(no_slot_no_round),
		RIG_TEST(asked_again_before_the_first_data),
		RIG_TEST(data_take_the_path_that_is_known),
		RIG_TEST(the_found_path_keeps_its_place),
		RIG_TEST(the_wait_doubles),
		RIG_TEST(a_found_path_is_not_given_up_for_none),
		RIG_TEST(no_budget_no_second_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
