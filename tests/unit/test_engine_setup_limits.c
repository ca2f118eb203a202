/* SPDX-License-Identifier: BSD-3-Clause */
/* A path before the first data: where probes and moves are not allowed, and how a round ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "setup_scene.h"

/* Without the queue pair's PSN a probe might be news to an RNIC whose hp3d has just gone. */
static void rule_02_no_probe_without_a_psn(void **state)
{
	struct qp other = make_qp(1);

	setup_config();
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	peer_alive(&q);
	assert_int_equal(set_up(&other), 0);
	assert_int_equal(rig.nprobes, 0);
}

/* Behind the first PSN: a duplicate, should it reach an RNIC (rule 1). */
static void rule_01_the_probe_is_a_duplicate(void **state)
{
	setup_config();
	setting_up();
	for (unsigned i = 0; i < ASKED; i++)
		assert_int_equal(rig.probe_psns[i], FIRST - 1);
}

static void rule_02_no_standard_probe_at_setup(void **state)
{
	setup_config();
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
	setup_config();
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
	setup_config();
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
		setup_config();
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
	setup_config();
	rig.cfg.observe = true;
	setting_up();
	probe_reply(1, false);
	assert_int_equal(rig.newest[HP3_EVENT_WOULD].cause, HP3_CAUSE_SETUP);
	assert_int_equal(rig.newest[HP3_EVENT_WOULD].to, rig.probe_ports[1]);
	expect_home();
}

static void no_slot_no_round(void **state)
{
	struct qp other = make_qp(1);

	setup_config();
	rig.cfg.max_moves = 1;
	setting_up();
	assert_int_equal(set_up_at(&other, 5), 0);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&other).state, HP3_RFR_STEADY);
	assert_true(info(&other).paired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_02_no_probe_without_a_psn),
		RIG_TEST(rule_01_the_probe_is_a_duplicate),
		RIG_TEST(rule_02_no_standard_probe_at_setup),
		RIG_TEST(rule_16_a_new_epoch_is_not_placed),
		RIG_TEST(rule_16_a_queue_pair_that_goes_away_takes_its_round_along),
		RIG_TEST(where_nothing_may_move_nobody_asks),
		RIG_TEST(observe_tells_and_does_nothing),
		RIG_TEST(no_slot_no_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
