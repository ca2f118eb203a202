/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that drop long packets, and answer short probes sooner than any other (rule 33). */
#include "engine/policy.h"
#include "run.h"

static struct hp3_engine_config shipped;

/* As it ships. Marks on four paths of seven, and the other three are empty: no long packet passes.
 */
static struct world_params size_base(void)
{
	struct world_params p = run_base();

	p.hot_paths = 4;
	p.short_paths = 3;
	p.rtt_us = 30;
	p.rto_us = 67000;
	p.gap_us = 20;
	p.msg_packets = 40;
	p.cm = p.probing = true;
	p.stall_us = shipped.stall_ns / 1000;
	p.shipped = &shipped;
	return p;
}

static void nobody_goes_where_long_packets_vanish(void **state)
{
	struct world_params p = size_base();
	struct world_result r = run(p);

	assert_sum(r.probes_as_data > 20 * run_seeds);
	assert_sum(r.failovers > run_seeds); /* who was there before leaves */
	assert_int_equal(r.gave_up, 0);
	assert_sum(r.on_hot > r.arrived / 2);
}

/* Which ones changes; READs, RNR, loss, resets beside. */
static void paths_begin_to_swallow_long_packets(void **state)
{
	struct world_params p = size_base();
	struct world_result r;

	p.short_paths_move = true;
	p.short_paths = 3;
	p.hot_paths = 2;
	r = run(p);
	assert_sum(r.failovers > run_seeds);
	assert_sum(r.gave_up <= run_seeds / 4);
	p.reads = p.rnr = p.resets = p.ipv6 = true;
	p.pairs = 3;
	p.loss_ppm = 500;
	p.damage_ppm = p.behind_ppm = 500;
	p.rto_us = 20000;
	r = run(p);
	assert_sum(r.failovers > run_seeds);
}

/* As where the peer has no hp3d: probes are short. Who was moved comes home. */
static void probes_like_duplicates(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.probing = p.cm = true;
	p.probes = HP3_PROBES_STANDARD;
	p.hot_paths = 4;
	p.short_paths = 3;
	p.gap_us = 5;
	p.stall_us = 1000;
	p.rto_us = 4000;
	r = run(p);
	assert_sum(r.switched > run_seeds);
	assert_sum(r.went_home > run_seeds / 2);
	assert_sum(r.went_home >= r.switched * 9 / 10);
	assert_int_equal(r.went_home, r.failovers);
}

/* Queue pairs that were just set up are placed by the first answer: the pair learns. */
static void the_first_data_of_queue_pairs(void **state)
{
	struct world_params p = size_base();
	struct world_result r;

	p.lead_us = 1000;
	p.resets = true;
	p.rto_us = 20000;
	r = run(p);
	assert_sum(r.placed > run_seeds);
	assert_sum(r.failovers > run_seeds);
	assert_sum(r.gave_up <= run_seeds / 4);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_goes_where_long_packets_vanish),
		cmocka_unit_test(paths_begin_to_swallow_long_packets),
		cmocka_unit_test(probes_like_duplicates),
		cmocka_unit_test(the_first_data_of_queue_pairs),
	};
	struct hp3_engine_config table;

	hp3_policy_defaults(&table);
	shipped = hp3_policy_settled(&table);
	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
