/* SPDX-License-Identifier: BSD-3-Clause */
/* Who belongs to whom while numbers return, hp3d restarts and announcements are late (rules 15,
 * 16).
 */
#include "run.h"

static struct world_params numbers_return(void)
{
	struct world_params p = run_base();

	p.rewire_every_us = 2000;
	p.msg_packets = 60;
	return p;
}

static void rule_15_local_numbers_return(void **state)
{
	struct world_params p = numbers_return();
	struct world_result r;

	r = run(p);
	assert_sum(r.rewired > 2 * run_seeds);
	assert_sum(r.switched > 20 * run_seeds);
	assert_sum(r.unpaired > run_seeds);
	p.loss_ppm = 2000;
	p.reads = p.rnr = true;
	r = run(p);
	assert_sum(r.unpaired > run_seeds);
}

static void rule_16_remote_numbers_return_near(void **state)
{
	struct world_params p = numbers_return();
	struct world_result r;

	p.near = true;
	r = run(p);
	assert_sum(r.rewired > 2 * run_seeds);
	assert_sum(r.switched > 10 * run_seeds);
	p.loss_ppm = 2000;
	p.reads = p.rnr = true;
	r = run(p);
	assert_sum(r.paired > 4 * run_seeds);
	assert_sum(r.unpaired > 2 * run_seeds);
}

/* All begin at PSN 0 each time, and go on alike. */
static void rule_16_lockstep_cross_wired(void **state)
{
	struct world_params p = numbers_return();
	struct world_result r;

	p.lockstep = true;
	p.msg_packets = 128;
	r = run(p);
	assert_sum(r.rewired > 2 * run_seeds);
	assert_sum(r.paired > 7 * run_seeds);
	p.loss_ppm = 2000;
	r = run(p);
	assert_sum(r.rewired > 2 * run_seeds);
}

/* Most are silent while hp3d starts, and wake one by one near the others' PSNs. */
static void rule_15_restarts_near(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.near = true;
	p.crash_every_us = 4000;
	p.pause_us = 4000;
	p.msg_packets = 40;
	r = run(p);
	assert_sum(r.crashes > 10 * run_seeds);
	assert_sum(r.paired > 3 * run_seeds);
	p.loss_ppm = 3000;
	p.reads = p.rnr = p.resets = true;
	p.responder = WORLD_COALESCING;
	r = run(p);
	assert_sum(r.crashes > 5 * run_seeds);
}

static void rule_15_restarts_while_numbers_return(void **state)
{
	struct world_params p = numbers_return();
	struct world_result r;

	p.near = p.probing = p.reads = p.kill_paths = true;
	p.stall_us = 1000;
	p.hot_paths = 3;
	p.loss_ppm = 1000;
	p.damage_ppm = p.behind_ppm = 1000;
	p.crash_every_us = 15000;
	r = run(p);
	assert_sum(r.crashes > run_seeds);
	assert_sum(r.rewired > run_seeds);
	p.lockstep = true;
	r = run(p);
	assert_sum(r.rewired > run_seeds);
}

/* One queue pair has no record, for want of room: the others are paired, and none with what answers
 * that one. */
static void rule_15_one_without_a_record(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.untracked = true;
	r = run(p);
	assert_sum(r.paired > 6 * run_seeds);
	p.reads = p.rnr = p.resets = true;
	p.loss_ppm = 2000;
	p.damage_ppm = p.behind_ppm = 1000;
	p.responder = WORLD_COALESCING;
	r = run(p);
	assert_sum(r.paired > 2 * run_seeds);
	p = numbers_return();
	p.untracked = p.near = true;
	r = run(p);
	assert_sum(r.rewired > 2 * run_seeds);
	p.lockstep = true;
	p.msg_packets = 128;
	r = run(p);
	assert_sum(r.rewired > 2 * run_seeds);
	assert_sum(r.paired > run_seeds);
}

/* Each is announced three times within 20 ms of its set-up, most often after its first data. */
static void rule_16_announcements_late_and_again(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.up_late_us = 20000;
	p.move_every_us = 20;
	r = run(p);
	assert_sum(r.announced > 10 * run_seeds);
	assert_sum(r.held > 1000 * run_seeds);
	assert_int_equal(r.epochs, 0);
	assert_int_equal(r.retransmitted, 0);
	p.lockstep = true;
	p.loss_ppm = 2000;
	p.damage_ppm = p.behind_ppm = 1000;
	p.reads = p.rnr = true;
	r = run(p);
	assert_sum(r.announced > 10 * run_seeds);
}

/* Queue pairs are connected anew, and events of that are late. */
static void rule_16_reconnected(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.cm = true;
	p.reconnect_every_us = 300;
	p.report_late_us = 1000;
	r = run(p);
	assert_sum(r.reconnected > 10 * run_seeds);
	assert_sum(r.switched > 10 * run_seeds);
	p.report_late_us = 6000;
	p.loss_ppm = 2000;
	p.damage_ppm = p.behind_ppm = 1000;
	p.reads = p.rnr = true;
	r = run(p);
	assert_sum(r.reconnected > 10 * run_seeds);
}

/* ... and other processes make queue pairs of their own to the same remote ones. */
static void rule_16_reconnected_among_foreign_qps(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.cm = p.rnic_users = true;
	p.reconnect_every_us = 300;
	p.report_late_us = 3000;
	p.forge_every_us = 1000;
	r = run(p);
	assert_sum(r.reconnected > 10 * run_seeds);
	assert_sum(r.forged > 10 * run_seeds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_15_local_numbers_return),
		cmocka_unit_test(rule_16_remote_numbers_return_near),
		cmocka_unit_test(rule_16_lockstep_cross_wired),
		cmocka_unit_test(rule_15_restarts_near),
		cmocka_unit_test(rule_15_restarts_while_numbers_return),
		cmocka_unit_test(rule_15_one_without_a_record),
		cmocka_unit_test(rule_16_announcements_late_and_again),
		cmocka_unit_test(rule_16_reconnected),
		cmocka_unit_test(rule_16_reconnected_among_foreign_qps),
		cmocka_unit_test(bursts_were_long),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
