/* SPDX-License-Identifier: BSD-3-Clause */
/* A path before the first data: a round between queue-pair setup and the first packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "setup_scene.h"

static void a_round_before_the_first_data(void **state)
{
	setup_config();
	setting_up();
	for (unsigned i = 1; i < ASKED; i++) /* nothing is in use: all ports are candidates */
		assert_int_not_equal(rig.probe_ports[i], rig.probe_ports[i - 1]);
	pass_time(10 * US);
	probe_reply(2, false);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].cause, HP3_CAUSE_SETUP);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].to, rig.probe_ports[2]);
	assert_int_equal(rig.last.type, HP3_EVENT_IDLE_SWITCH);
	assert_int_equal(rig.last.cause, HP3_CAUSE_SETUP);
	assert_int_equal(stats()->placed, 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

static void the_first_packet_leaves_on_the_chosen_port(void **state)
{
	setup_config();
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
	setup_config();
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
	setup_config();
	setting_up();
	probe_reply(0, true);
	probe_reply(1, true);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	probe_reply(3, false);
	assert_int_equal(info(&q).port, rig.probe_ports[3]);
}

static void marks_everywhere_leave_it_at_home(void **state)
{
	setup_config();
	setting_up();
	for (uint32_t i = 0; i < ASKED; i++)
		probe_reply(i, true);
	pass_time(rig.cfg.round.timeout_ns);
	expect_home();
}

static void nobody_answers(void **state)
{
	setup_config();
	setting_up();
	pass_time(rig.cfg.round.timeout_ns);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].cause, HP3_CAUSE_SETUP);
	expect_home();
	probe_reply(1, false);
	assert_int_equal(stats()->probe_strays, 1);
}

/* The application did not wait: its packet does not wait either. */
static void data_that_comes_first_leaves_at_once(void **state)
{
	setup_config();
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

/* After two in a row one set-up does not ask, after three two, then four; an answer in time ends
 * it. */
static void where_data_always_come_first_probes_get_rare(void **state)
{
	static const bool asks[] = {1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};
	struct qp other;

	setup_config();
	rig.cfg.paths.fresh_ns = 1;
	rig_configure();
	for (unsigned i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		other = make_qp(i);
		rig.nprobes = 0;
		assert_int_equal(set_up_at(&other, FIRST), 0);
		assert_int_equal(rig.nprobes, asks[i] ? ASKED : 0);
		middle(&other, FIRST);
		assert_int_equal(tear_down(&other), 0);
		pass_time(10 * MS);
	}
	rig.nprobes = 0;
	for (unsigned i = 0; i <= 8; i++) { /* none of the next eight */
		other = make_qp(i);
		assert_int_equal(set_up_at(&other, FIRST), 0);
		assert_int_equal(rig.nprobes, i < 8 ? 0 : ASKED);
	}
	probe_reply(0, false);
	for (unsigned i = 10; i < 12; i++) {
		pass_time(MS);
		other = make_qp(i);
		assert_int_equal(set_up_at(&other, FIRST), 0);
		assert_int_equal(rig.nprobes, (i - 8) * ASKED);
	}
}

/* Of answers within a tenth the first in the round counts: its port was drawn. */
static void who_is_first_by_chance_does_not_decide(void **state)
{
	setup_config();
	rig.cfg.setup_alike = 10;
	setting_up();
	pass_time(100 * US);
	probe_reply(2, false);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	pass_time(8 * US);
	probe_reply(1, false);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	pass_time(8 * US); /* too late to be alike */
	probe_reply(0, false);
	assert_int_equal(info(&q).port, rig.probe_ports[1]);
}

static void a_fresh_path_table_needs_no_round(void **state)
{
	struct qp other = make_qp(1);

	setup_config();
	setting_up();
	probe_reply(1, false);
	assert_int_equal(set_up_at(&other, 7), 0);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&other).state, HP3_RFR_STEADY);
	middle(&other, 7);
	expect_left(0, 7, rig.probe_ports[1], false);
	assert_int_equal(stats()->placed, 2);
	/* It gets old. */
	ack(&other, 7);
	assert_int_equal(tear_down(&other), 0);
	pass_time(rig.cfg.paths.fresh_ns + MS);
	assert_int_equal(set_up_at(&other, 7), 0);
	assert_int_equal(rig.nprobes, 2 * ASKED);
}

/* A queue pair met another one, and ends. The next one would meet it again: it probes. */
static void the_port_of_a_marked_packet_is_not_taken_again(void **state)
{
	const struct hp3_fields marked = {.opcode = HP3_OP_RC_ACK, .becn = true, .psn = FIRST};
	struct qp other = make_qp(1);

	setup_config();
	setting_up();
	probe_reply(1, false);
	middle(&q, FIRST);
	pass_time(10 * US);
	response(&q, &marked);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&other, 7), 0);
	assert_int_equal(rig.nprobes, 2 * ASKED);
}

/*
 * Packets pass unseen, and hp3_missed() forgets in pieces. A queue pair that is set up between two
 * keeps its port, for its first packets go past hp3d.
 */
static void between_two_pieces_none_is_placed(void **state)
{
	struct hp3_acts acts = {0};
	struct qp other = make_qp(1);
	uint32_t from, pieces = 1;

	setup_config();
	rig.cfg.max_flows = 1024;
	setting_up();
	probe_reply(1, false);
	assert_int_equal(stats()->placed, 1);
	from = hp3_missed(rig.e, 0, rig.now, &acts);
	assert_int_not_equal(from, HP3_NO_FLOW);
	assert_int_equal(set_up_at(&other, 7), 0);
	for (; from != HP3_NO_FLOW; pieces++) {
		acts.n = 0;
		from = hp3_missed(rig.e, from, rig.now, &acts);
	}
	assert_in_range(pieces, 4, 6);
	middle(&other, 7);
	expect_left(0, 7, other.home, false);
	assert_int_equal(stats()->placed, 1);
	other = make_qp(2); /* all is forgotten: as ever */
	assert_int_equal(set_up_at(&other, 7), 0);
	middle(&other, 7);
	expect_left(1, 7, rig.probe_ports[1], false);
}

/* CM tells the first PSN: each side's is in what the other one sent. The verbs tell it again:
 * placed once. */
static void cm_places_what_no_watcher_sees(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		enum hp3_dir asks = i == 0 ? HP3_DIR_TX : HP3_DIR_RX;

		setup_config();
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
		if (i == 1) { /* it asked, and has the answer */
			assert_int_equal(rig.nprobes, 0);
			cm(asks, &q, HP3_CM_RTU, 0xaaa, 0xbbb, 0);
		}
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
		RIG_TEST(where_data_always_come_first_probes_get_rare),
		RIG_TEST(who_is_first_by_chance_does_not_decide),
		RIG_TEST(a_fresh_path_table_needs_no_round),
		RIG_TEST(the_port_of_a_marked_packet_is_not_taken_again),
		RIG_TEST(between_two_pieces_none_is_placed),
		RIG_TEST(cm_places_what_no_watcher_sees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
