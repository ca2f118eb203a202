/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes that an ordinary RNIC answers (rule 2), and those at queue-pair setup. */
#include "run.h"

static struct world_params probes_base(uint8_t probes)
{
	struct world_params p = run_base();

	p.probing = p.cm = p.no_peer = true;
	p.probes = probes;
	p.hot_paths = 4;
	p.gap_us = 5;
	return p;
}

/* Flows leave congested paths behind a drain, whatever RNIC answers. */
static void rule_2_three_responders(void **state)
{
	for (uint8_t kind = WORLD_AT_ONCE; kind <= WORLD_AFTER_READ; kind++) {
		struct world_params p = probes_base(HP3_PROBES_STANDARD);
		struct world_result r;

		p.responder = kind;
		p.reads = kind == WORLD_AFTER_READ;
		if (p.reads)
			p.packets = 6 * run_packets; /* few drains without a READ */
		r = run(p);
		assert_sum(r.probes_standard > run_seeds);
		assert_int_equal(r.probes, r.probes_standard);
		assert_sum(r.rounds_won > (p.reads ? 0 : run_seeds / 4));
		assert_int_equal(r.retransmitted, 0);
	}
}

static void rule_2_loss_reads_and_rnr(void **state)
{
	for (uint8_t kind = WORLD_AT_ONCE; kind <= WORLD_AFTER_READ; kind++) {
		struct world_params p = probes_base(HP3_PROBES_STANDARD);
		struct world_result r;

		p.responder = kind;
		p.reads = p.rnr = p.resets = p.invalidate = true;
		p.msg_packets = 20;
		p.loss_ppm = 1000;
		r = run(p);
		assert_sum(r.probes_standard > run_seeds);
		p.damage_ppm = p.behind_ppm = 1000;
		run(p);
	}
}

/* AUTO finds out that nobody answers peer probes; with nothing but round trips to go by it suspends
 * nobody, for these have many causes. Marks, which come of the peer's hp3d here, do not come. */
static void auto_suspends_nobody_for_round_trips(void **state)
{
	struct world_params p = probes_base(HP3_PROBES_AUTO);
	struct world_result r = run(p);

	assert_sum(r.probes_at_rnic > run_seeds);
	assert_int_equal(r.probes_standard + r.switched, 0);
	p.no_peer = false;
	r = run(p);
	assert_int_equal(r.probes_standard, 0);
	assert_sum(r.rounds_won > run_seeds);
}

/* Between set-up and first data there is time for a round: the first packet takes its port. */
static void setup_finds_a_path_before_the_first_data(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.probing = true;
	p.qps = 32;
	p.lead_us = 3000;
	r = run(p);
	assert_int_equal(r.setups, 32 * run_seeds);
	assert_sum(r.placed > 25 * run_seeds);
	assert_sum(r.first_elsewhere > 25 * run_seeds);
}

/* Data that comes before the answers leaves at once, from home. */
static void late_data_leaves_at_once(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.probing = true;
	p.qps = 32;
	p.lead_us = 200;
	r = run(p);
	assert_sum(r.placed_late > 5 * run_seeds);
	assert_sum(r.placed > run_seeds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_2_three_responders),
		cmocka_unit_test(rule_2_loss_reads_and_rnr),
		cmocka_unit_test(auto_suspends_nobody_for_round_trips),
		cmocka_unit_test(setup_finds_a_path_before_the_first_data),
		cmocka_unit_test(late_data_leaves_at_once),
		cmocka_unit_test(bursts_were_long),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
