/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of the host tell of queue pairs that are not theirs, at any moment (rule 16). The world
 * sees to order and completeness, to what is held, and that nothing is decided by a wrong pairing;
 * and flows are moved as if nobody had said anything.
 */
#include "run.h"

static struct world_params hostile(void)
{
	struct world_params p = run_base();

	p.forge_every_us = 100;
	return p;
}

static void rule_16_made_up_set_ups_end_nothing(void **state)
{
	run_forged(hostile());
}

static void rule_16_nor_those_of_other_queue_pairs(void **state)
{
	struct world_params p = hostile();
	struct world_result r;

	p.cm = p.rnic_users = true;
	p.lead_us = 500;
	p.probing = false;
	r = run(p);
	assert_sum(r.forged > 200 * run_seeds);
	assert_sum(r.switched + r.idle > 30 * run_seeds);
}

/* Where nobody tells the truth, and every queue pair begins at PSN 0 and goes in lockstep. */
static void rule_15_nor_are_they_paired_by_it(void **state)
{
	struct world_params p = hostile();
	struct world_result r;

	p.lockstep = true;
	r = run(p);
	assert_sum(r.forged > 200 * run_seeds);
	assert_sum(r.paired > 5 * run_seeds);
	assert_sum(r.switched + r.idle > 2 * run_seeds);
}

/* Losses, resets and queue pairs that begin anew, among all of it. */
static void rule_16_while_numbers_return(void **state)
{
	struct world_params p = hostile();
	struct world_result r;

	p.rewire_every_us = 2000;
	p.msg_packets = 60;
	p.any_pmtu = p.reads = true;
	p.loss_ppm = 1000;
	r = run(p);
	assert_sum(r.rewired > 2 * run_seeds);
	assert_sum(r.unpaired > run_seeds);
}

/*
 * hp3d starts again and again in the middle of streams, finds paths for what it takes for new, and
 * streams go on meanwhile.
 */
static void rule_16_streams_that_pass_unseen(void **state)
{
	struct world_params p = hostile();
	struct world_result r;

	p.probing = true;
	p.lead_us = 300;
	p.crash_every_us = 800;
	p.forge_every_us = 20;
	r = run(p);
	assert_sum(r.forged > 500 * run_seeds);
	assert_sum(r.crashes > 5 * run_seeds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_16_made_up_set_ups_end_nothing),
		cmocka_unit_test(rule_16_nor_those_of_other_queue_pairs),
		cmocka_unit_test(rule_15_nor_are_they_paired_by_it),
		cmocka_unit_test(rule_16_while_numbers_return),
		cmocka_unit_test(rule_16_streams_that_pass_unseen),
		cmocka_unit_test(bursts_were_long),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
