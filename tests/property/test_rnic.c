/* SPDX-License-Identifier: BSD-3-Clause */
/* Crashes, restarts and stops: an RNIC never completes what was not done (rules 1, 2, 11). */
#include "run.h"

static struct world_params rnic_base(void)
{
	struct world_params p = run_base();

	p.probing = true;
	p.stall_us = 1000;
	p.hot_paths = 3;
	p.reads = true;
	p.gap_us = 5;
	return p;
}

/* What it held is lost, probes and answers are in the air, its successor knows nothing. */
static void rule_11_our_hp3d_crashes_at_any_step(void **state)
{
	struct world_params p = rnic_base();
	struct world_result r;

	p.crash_every_us = 2000;
	r = run(p);
	assert_sum(r.crashes > 5 * run_seeds);
	p.probing = false;
	p.move_every_us = 20; /* few of a millisecond's moves are over before the next crash */
	p.crash_every_us = 1000;
	r = run(p);
	assert_sum(r.discarded > 10 * run_seeds);
	assert_sum(r.switched > 10 * run_seeds);
}

/* It hangs or dies, somebody stands in, it goes on or another begins: order holds all along. */
static void rule_19_somebody_stands_in(void **state)
{
	struct world_params p = rnic_base();
	struct world_result r;

	p.hang_every_us = 4000;
	p.loss_ppm = 200;
	r = run(p);
	assert_sum(r.hangs > 5 * run_seeds);
	p.probing = false;
	p.move_every_us = 20;
	p.hang_every_us = 2000;
	r = run(p);
	assert_sum(r.restored > 5 * run_seeds);
	assert_sum(r.switched > 10 * run_seeds);
	p = rnic_base();
	p.kill_paths = p.rnr = p.resets = true;
	p.pairs = 3;
	p.hang_every_us = 4000;
	p.probes = HP3_PROBES_STANDARD;
	r = run(p);
	assert_sum(r.hangs > 5 * run_seeds);
}

/* Probes of kind PEER reach the RNIC, which drops them. */
static void rule_1_the_peers_hp3d_crashes_at_any_step(void **state)
{
	struct world_params p = rnic_base();
	struct world_result r;

	p.cm = true;
	p.peer_crash_every_us = 2000;
	p.kill_paths = true;
	r = run(p);
	assert_sum(r.peer_crashes > 5 * run_seeds);
	assert_sum(r.probes_at_rnic > 5 * run_seeds);
}

static void both_crash(void **state)
{
	struct world_params p = rnic_base();
	struct world_result r;

	p.rnr = p.resets = p.kill_paths = p.invalidate = true;
	p.loss_ppm = 2000;
	p.pairs = 3;
	p.ipv6 = p.any_pmtu = true;
	p.crash_every_us = 5000;
	p.peer_crash_every_us = 2000;
	r = run(p);
	assert_sum(r.crashes > 2 * run_seeds);
	p.probes = HP3_PROBES_STANDARD;
	r = run(p);
	assert_sum(r.crashes > 2 * run_seeds);
}

/* Flows are moved home in order before hp3d goes; the next one begins anew. */
static void rule_11_a_clean_stop_reorders_nothing(void **state)
{
	struct world_params p = rnic_base();
	struct world_result r;

	p.probing = false;
	p.hot_paths = 0;
	p.stop_every_us = 5000;
	r = run(p);
	assert_sum(r.stops > 2 * run_seeds);
	assert_int_equal(r.forced_stops, 0);
	assert_sum(r.switched > 20 * run_seeds);
	p.loss_ppm = 1000;
	p.damage_ppm = p.behind_ppm = 1000;
	p.rnr = true;
	r = run(p);
	assert_sum(r.stops > r.forced_stops);
}

/* Rule 11: evicted flows had nothing in flight; they come back at home, and are paired again. */
static void rule_11_evicted_flows_come_back(void **state)
{
	struct world_params p = rnic_base();
	struct world_result r;

	p.probing = false;
	p.hot_paths = 0;
	p.evict = true;
	p.pause_us = 2000000;
	p.move_every_us = 2000;
	p.msg_packets = 60;
	r = run(p);
	assert_sum(r.aged > 5 * run_seeds);
	assert_sum(r.switched + r.idle > 5 * run_seeds);
}

/* Rule 11: what nobody knows takes the port and the hold of its flow. */
static void rule_11_unknown_opcodes_of_moved_flows(void **state)
{
	struct world_params p = rnic_base();
	struct world_result r;

	p.probing = false;
	p.odd_opcodes = true;
	r = run(p);
	assert_sum(r.odd_moved > 10 * run_seeds);
}

static void send_with_invalidate_behind_duplicated_reads(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.reads = p.invalidate = p.kill_paths = true;
	p.loss_ppm = 5000;
	p.msg_packets = 8;
	p.move_every_us = 30;
	p.cm = true;
	r = run(p);
	assert_sum(r.invalidations > 1000 * run_seeds);
	assert_sum(r.switched > 50 * run_seeds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_11_our_hp3d_crashes_at_any_step),
		cmocka_unit_test(rule_19_somebody_stands_in),
		cmocka_unit_test(rule_1_the_peers_hp3d_crashes_at_any_step),
		cmocka_unit_test(both_crash),
		cmocka_unit_test(rule_11_a_clean_stop_reorders_nothing),
		cmocka_unit_test(rule_11_evicted_flows_come_back),
		cmocka_unit_test(rule_11_unknown_opcodes_of_moved_flows),
		cmocka_unit_test(send_with_invalidate_behind_duplicated_reads),
		cmocka_unit_test(bursts_were_long),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
