/* SPDX-License-Identifier: BSD-3-Clause */
/* cc = dcqcn: pacing, moves and the RNIC's timer (rules 5 and 14); marks of the old path. */
#include "run.h"

static struct world_params rate_base(void)
{
	struct world_params p = run_base();

	p.cc = HP3_CC_DCQCN;
	p.cm = true;
	p.hot_paths = 3;
	return p;
}

/* At the least rate nothing waits so long that the RNIC takes it for lost. */
static void rule_14_pacing_never_looks_like_loss(void **state)
{
	struct world_params p = rate_base();
	struct world_result r;

	p.hot_paths = p.paths;
	p.min_rate_mbps = 1;
	p.move_every_us = 500;
	r = run(p);
	assert_sum(r.held > 100000 / 8 * run_seeds);
	assert_int_equal(r.rtos, 0);
	assert_int_equal(r.retransmitted, 0);
	assert_sum(r.switched > 10 * run_seeds);
}

/* One FIFO for pacing and moves: order across both, with loss and retransmissions. */
static void rule_14_pacing_moves_and_recovery_keep_order(void **state)
{
	struct world_params p = rate_base();
	struct world_result r;

	p.reads = p.rnr = true;
	p.move_every_us = 50;
	r = run(p);
	assert_sum(r.switched > 20 * run_seeds);
	p.move_every_us = 400;
	p.loss_ppm = 2000;
	p.pairs = 3;
	p.ipv6 = p.any_pmtu = true;
	p.fatal_ppm = 300;
	p.damage_ppm = p.behind_ppm = 1000;
	p.resets = p.kill_paths = true;
	r = run(p);
	assert_sum(r.recovered > 5 * run_seeds);
	assert_sum(r.rollbacks > run_seeds);
	assert_sum(r.superseded + r.given_up > 0);
}

/*
 * Losses while packets wait for the pacer. The RNIC goes back, and what waits gives way to its
 * copies: else the receiver is sent, at the pacer's rate, what it cannot take, and the packet that
 * it lacks waits behind all that. Who repeats selectively leaves out what waits; so it stays.
 */
static void rule_14_what_waits_gives_way_when_the_rnic_goes_back(void **state)
{
	struct world_params p = rate_base();
	struct world_result r;

	p.hot_paths = p.paths;
	p.move_every_us = 1000000;
	p.loss_ppm = 1000;
	r = run(p);
	assert_sum(r.lost > 10 * run_seeds);
	assert_sum(r.given_up > 100 * run_seeds);
	assert_sum(r.retransmitted < 160 * r.lost);
	p.selective = true;
	r = run(p);
	assert_sum(r.lost > 10 * run_seeds);
	assert_sum(r.retransmitted < 4 * r.lost);
}

/* The same with moves, dead paths and queue pairs that start over, however the RNIC sends again. */
static void rule_14_order_holds_while_what_waits_gives_way(void **state)
{
	struct world_params p = rate_base();

	p.loss_ppm = 3000;
	p.move_every_us = 300;
	p.reads = p.rnr = p.resets = p.kill_paths = true;
	assert_sum(run(p).given_up > 100 * run_seeds);
	p.reads = p.rnr = p.resets = false;
	p.selective = true;
	run(p);
}

/* Marks of the old path that arrive after the switch do not reduce the rate of the new one. */
static void stale_cnps_are_not_charged_to_the_new_path(void **state)
{
	struct world_params p = rate_base();
	struct world_result r = run(p);

	assert_sum(r.cnps > 100 * run_seeds);
	assert_sum(r.stale_cnps > run_seeds);
	assert_sum(r.raises > 10 * run_seeds);
}

/* What ends in fast recovery goes on with the rate from before. */
static void recovery_restores_the_rate(void **state)
{
	struct world_params p = rate_base();
	struct world_result r;

	p.hold_bytes = 32768;
	p.window = 256;
	r = run(p);
	assert_sum(r.rollbacks > 10 * run_seeds);
}

/* Probing for better paths while paced, and dead paths on top. */
static void paced_flows_leave_bad_paths(void **state)
{
	struct world_params p = rate_base();
	struct world_result r;

	p.probing = true;
	p.stall_us = 1000;
	r = run(p);
	assert_sum(r.switched + r.idle > run_seeds);
	p.kill_paths = true;
	p.gap_us = 25;
	p.msg_packets = 40;
	p.dead_us = 30000;
	p.rto_us = 67000;
	r = run(p);
	assert_sum(r.failovers > run_seeds);
	p.reads = p.rnr = true;
	p.loss_ppm = 1000;
	p.pause_paths = true;
	run(p);
}

/* cc = native: no CNP is lost to a flow that stays, whatever ends its search or its drain. */
static void rule_30_who_stays_hears_of_congestion(void **state)
{
	struct world_params p = rate_base();
	struct world_result r;

	p.cc = HP3_CC_NATIVE;
	p.throttle_us = 100;
	p.probing = true;
	r = run(p);
	assert_sum(r.cnps_withheld > 3 * run_seeds); /* some path is better: they leave */
	p.hot_paths = p.paths;
	p.reads = p.rnr = true;
	p.loss_ppm = 2000;
	p.stall_us = 1000;
	p.kill_paths = p.resets = true;
	r = run(p);
	assert_sum(r.cnps_owed > 10 * run_seeds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_14_pacing_never_looks_like_loss),
		cmocka_unit_test(rule_14_pacing_moves_and_recovery_keep_order),
		cmocka_unit_test(rule_14_what_waits_gives_way_when_the_rnic_goes_back),
		cmocka_unit_test(rule_14_order_holds_while_what_waits_gives_way),
		cmocka_unit_test(stale_cnps_are_not_charged_to_the_new_path),
		cmocka_unit_test(recovery_restores_the_rate),
		cmocka_unit_test(paced_flows_leave_bad_paths),
		cmocka_unit_test(bursts_were_long),
		cmocka_unit_test(rule_30_who_stays_hears_of_congestion),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
