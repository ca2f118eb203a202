/* SPDX-License-Identifier: BSD-3-Clause */
/* A path before the first data: repeated rounds while there are no data (setup_rounds). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "setup_scene.h"

/* Twice; the latest answer counts, of the round under way when data come only what is there. */
static void asked_again_before_the_first_data(void **state)
{
	setup_config();
	rig.cfg.setup_rounds = 2;
	setting_up();
	pass_time(10 * US);
	probe_reply(1, false);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
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
	setup_config();
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

/* The one that was found is asked again, too, and keeps its place if it is within a tenth. */
static void the_found_path_keeps_its_place(void **state)
{
	for (unsigned late = 0; late < 2; late++) {
		rig_teardown(state);
		rig_setup(state);
		setup_config();
		rig.cfg.setup_rounds = 2;
		rig.cfg.setup_alike = 10;
		setting_up();
		probe_reply(1, false);
		pass_time(US);
		assert_int_equal(rig.probe_ports[ASKED], rig.probe_ports[1]);
		pass_time(20 * US);
		probe_reply(ASKED + 2, false);
		assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
		if (!late)
			probe_reply(ASKED, false);
		pass_time(2 * US);
		assert_int_equal(info(&q).state, HP3_RFR_STEADY);
		assert_int_equal(info(&q).port, rig.probe_ports[late ? ASKED + 2 : 1]);
	}
}

/* Rounds begin 0, 10, 20 us after the set-up, then 40, 80. */
static void the_wait_doubles(void **state)
{
	setup_config();
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
	setup_config();
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
	setup_config();
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
		RIG_TEST(asked_again_before_the_first_data),
		RIG_TEST(data_take_the_path_that_is_known),
		RIG_TEST(the_found_path_keeps_its_place),
		RIG_TEST(the_wait_doubles),
		RIG_TEST(a_found_path_is_not_given_up_for_none),
		RIG_TEST(no_budget_no_second_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
