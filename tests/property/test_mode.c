/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kill switch, turned in the middle of everything (world_mode.c): order, completeness and
 * liveness as ever, and where nothing may move nothing is moved, held, sent or withheld.
 */
#include "run.h"

/* Every state that a flow can be in was one that the switch was turned in. */
static void met(const struct world_result *r, bool searching, bool closing, bool probing)
{
	assert_sum(r->mode_changes > 4 * run_seeds);
	assert_sum(!searching || r->off_searching > 0);
	assert_sum(!closing || r->off_closing > 0);
	assert_sum(!probing || r->off_probing > 0);
	assert_sum(r->restless * 20 <= r->mode_changes);
}

static void operators_moves(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.mode_every_us = 300;
	r = run(p);
	met(&r, false, true, false);
	p.loss_ppm = 2000;
	p.reads = p.rnr = p.resets = true;
	r = run(p);
	met(&r, false, true, false);
}

static void congested_paths(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.hot_paths = 3;
	p.gap_us = 4;
	p.cm = p.probing = p.reads = true;
	p.mode_every_us = 300;
	p.move_every_us = 1000000;
	r = run(p);
	met(&r, true, false, false);
	assert_sum(r.off_draining > 0);
	p.loss_ppm = 2000;
	p.probes = HP3_PROBES_STANDARD;
	r = run(p);
	met(&r, false, true, true);
	assert_sum(r.off_draining > 0);
}

/* CNPs wait for what becomes of a search, and none is swallowed when that is called off. */
static void cnps(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.cc = HP3_CC_NATIVE;
	p.throttle_us = 100;
	p.gap_us = 4;
	p.cm = p.probing = p.reads = true;
	p.move_every_us = 500;
	p.mode_every_us = 2000;
	p.hot_paths = p.paths;
	r = run(p);
	met(&r, true, false, false);
	assert_sum(r.cnps_withheld > run_seeds && r.cnps_owed > run_seeds);
	p.loss_ppm = 2000;
	p.rnr = p.resets = true;
	r = run(p);
	met(&r, true, false, false);
	assert_sum(r.cnps_owed > 0);
	p.probing = p.rnr = p.resets = false; /* operators move, and all comes home among CNPs */
	p.mode_every_us = 300;
	r = run(p);
	met(&r, false, true, false);
	assert_sum(r.switched > 5 * run_seeds);
}

static void dead_paths(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.probing = p.cm = p.kill_paths = true;
	p.stall_us = 1000;
	p.rto_us = 20000;
	p.dead_us = 30000;
	p.gap_us = 20;
	p.msg_packets = 40;
	p.mode_every_us = 8000;
	p.move_every_us = 1000000;
	r = run(p);
	met(&r, true, false, false);
	assert_sum(r.failovers > 0);
	assert_sum(r.off_resuming > 0);
}

static void long_messages_wait(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.cm = p.probing = true;
	p.message_start_percent = 10;
	p.move_every_us = 0;
	p.msg_packets = 20;
	p.pause_us = 2000;
	p.hot_paths = 3;
	p.mode_every_us = 1000;
	r = run(p);
	met(&r, false, false, true);
	assert_sum(r.message_start_searches > 10 * run_seeds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_moves),
		cmocka_unit_test(congested_paths),
		cmocka_unit_test(cnps),
		cmocka_unit_test(dead_paths),
		cmocka_unit_test(long_messages_wait),
		cmocka_unit_test(bursts_were_long),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
