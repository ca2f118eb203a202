/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies in the peer's name, with right ICRCs and PSNs that are not in flight (rule 6). Order,
 * completeness and truth hold as without them, which the world sees to; and flows stay paired, and
 * are moved.
 */
#include "run.h"

static struct world_params forged(void)
{
	struct world_params p = run_base();

	p.spoof_every_us = 100;
	return p;
}

static void rule_06_forged_replies_block_no_moves(void **state)
{
	run_forged(forged());
}

static void rule_15_nor_pairing_by_challenge(void **state)
{
	struct world_params p = forged();
	struct world_result r;

	r = run(p);
	assert_sum(r.paired > 7 * run_seeds);
	assert_sum(r.switched + r.idle > 30 * run_seeds);
	p.any_pmtu = p.reads = p.rnr = true;
	p.loss_ppm = 2000;
	p.damage_ppm = p.behind_ppm = 1000;
	p.resets = true;
	r = run(p);
	assert_sum(r.forged > 200 * run_seeds);
	assert_sum(r.switched > 10 * run_seeds);
}

/* A wrong pairing is found among forgeries, too. */
static void rule_15_what_is_wrong_is_undone(void **state)
{
	struct world_params p = forged();
	struct world_result r;

	p.rewire_every_us = 2000;
	p.msg_packets = 60;
	r = run(p);
	assert_sum(r.rewired > 2 * run_seeds);
	assert_sum(r.unpaired > run_seeds);
}

static void rule_13_dead_paths_are_left(void **state)
{
	struct world_params p = forged();
	struct world_result r;

	p.cm = p.probing = p.kill_paths = true;
	p.stall_us = 1000;
	p.rto_us = 60000;
	p.spoof_every_us = 1500; /* flows are slow, too */
	p.dead_us = 30000;
	p.gap_us = 20;
	p.msg_packets = 40;
	r = run(p);
	assert_sum(r.failovers >= run_seeds);
	assert_sum(r.unpaired <= run_seeds);
}

static void forged_marks_slow_nobody(void **state)
{
	struct world_params p = forged();
	struct world_result r;

	p.cm = true;
	p.cc = HP3_CC_DCQCN;
	p.move_every_us = 300;
	r = run(p);
	assert_sum(r.forged > 200 * run_seeds);
	assert_int_equal(r.paced, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_06_forged_replies_block_no_moves),
		cmocka_unit_test(rule_15_nor_pairing_by_challenge),
		cmocka_unit_test(rule_15_what_is_wrong_is_undone),
		cmocka_unit_test(rule_13_dead_paths_are_left),
		cmocka_unit_test(forged_marks_slow_nobody),
		cmocka_unit_test(bursts_were_long),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
