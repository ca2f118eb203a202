/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic: sizes and rates as configured, jobs that wait for each other, faults on time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "sim/results/uplinks.h"
#include "sim/work/cdf.h"
#include "sim/work/traffic.h"
#include "world.h"

static struct sim s;

static void traffic(void)
{
	char err[256] = "";

	if (sim_traffic(&s, err, sizeof(err)) < 0)
		fail_msg("%s", err);
}

static void sizes_follow_the_cdf(void **state)
{
	static struct sim_cdf c;
	char err[256];
	uint64_t rng = 3, sum = 0, below = 0, mean;

	assert_int_equal(sim_cdf_load(&c, "AliStorage2019", err, sizeof(err)), 0);
	mean = hp3_cdf_mean(&c.cdf);
	for (unsigned i = 0; i < 200000; i++) {
		uint64_t size = sim_cdf_draw(&c, &rng);

		assert_in_range(size, 1, 2000000);
		below += size < 8000;
		sum += size;
	}
	assert_in_range(below, 200000 * 0.6921 - 1100, 200000 * 0.6921 + 1100); /* 5 sigma */
	assert_in_range(sum / 200000, mean * 97 / 100, mean * 103 / 100);
}

/* 60 % of what lies above the leaves: 8 x 100 Gb/s for 16 hosts, so 30 Gb/s per host. */
static void load_is_as_asked(void **state)
{
	uint64_t bytes = 0;

	WORLD(&s, "traffic.load_percent=60", "traffic.cdf=Solar2022", "traffic.duration_us=5000");
	traffic();
	for (uint32_t i = 0; i < s.n_demands; i++) {
		assert_int_not_equal(s.demand[i].src, s.demand[i].dst);
		assert_true(s.demand[i].start < 5000 * SIM_US);
		bytes += s.demand[i].bytes;
	}
	/* 128 hosts x 30 Gb/s x 5 ms = 2.4 GB */
	assert_in_range(bytes, UINT64_C(2400000000) * 97 / 100, UINT64_C(2400000000) * 103 / 100);
	sim_destroy(&s);
}

static double number(const json_t *j, const char *name)
{
	return json_number_value(json_object_get(j, name));
}

/* Results of `connections` to the other leaf, over two uplinks that are half as fast as hosts. */
static json_t *uplinks(const char *lb, const char *n)
{
	struct sim_uplinks *u;
	json_t *j;

	WORLD(&s, "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=2",
		"fabric.core_mbps=50000", "fabric.grain_ps=1", "rnic.recovery=unordered",
		"rnic.cc=none", "traffic.kind=connections", "traffic.bytes=1000000", lb, n);
	traffic();
	assert_int_equal(s.demand[0].src, 0);
	assert_int_equal(s.demand[0].dst, 2);
	u = sim_uplinks_start(&s);
	world_run(&s);
	j = sim_uplinks_json(&s, u);
	sim_uplinks_free(u);
	sim_destroy(&s);
	return j;
}

/* A flow that has one uplink fills it, and its queue grows to half of what is sent. */
static void use_of_uplinks_is_measured(void **state)
{
	json_t *one = uplinks("run.lb=ecmp", "traffic.fan_in=1");
	json_t *all = uplinks("run.lb=ar", "traffic.fan_in=16");

	assert_true(number(one, "spread") == 2.0); /* (all - nothing) / half */
	assert_true(number(one, "spread_percent") > 92 && number(one, "spread_percent") < 100);
	assert_in_range(number(one, "queue_max_bytes"), 480000, 530000);
	/* One of two uplinks, and the other leaf's two: a triangle of 500 KB, on one of four. */
	assert_in_range(number(one, "queue_mean_bytes"), 55000, 65000);
	assert_true(number(all, "spread") < 0.01 && number(all, "spread_percent") < 1);
	json_decref(one);
	json_decref(all);
}

/*
 * A ring of four in one rack: six steps, each a chunk of 250 packets. The links of the ring are
 * disjoint, so a step takes what a flow alone takes.
 */
static void rings_take_their_steps(void **state)
{
	struct sim_job_results r;
	uint64_t step = 4 * SIM_US + 2 * 83840 + 2 * 4800 + 249 * UINT64_C(83840);

	WORLD(&s, "fabric.leaves=1", "fabric.spines=1", "fabric.hosts_per_leaf=4",
		"fabric.grain_ps=1", "traffic.kind=allreduce", "traffic.ranks=4",
		"traffic.bytes=1000000", "traffic.repeat=3");
	traffic();
	world_run(&s);
	assert_int_equal(s.n_demands, 3 * 6 * 4);
	assert_true(sim_job_results(&s, false, &r));
	assert_int_equal(r.rounds, 3);
	/* ACKs share the links with data, 4.8 ns for each 83.84. */
	assert_true(r.jct_avg_us >= (double)(6 * step) / SIM_US);
	assert_true(r.jct_avg_us < (double)(6 * step) / SIM_US * 1.07);
	sim_destroy(&s);
}

static void all_to_all_is_everyone(void **state)
{
	struct sim_job_results r;
	uint8_t seen[8][8] = {{0}};

	WORLD(&s, "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=4",
		"traffic.kind=alltoall", "traffic.ranks=4", "traffic.jobs=2",
		"traffic.bytes=400000");
	traffic();
	world_run(&s);
	assert_int_equal(s.n_demands, 2 * 4 * 3);
	for (uint32_t i = 0; i < s.n_demands; i++)
		seen[s.demand[i].src][s.demand[i].dst]++;
	for (unsigned a = 0; a < 8; a++)
		for (unsigned b = 0; b < 8; b++)
			assert_true(seen[a][b] <= 1);
	assert_true(sim_job_results(&s, false, &r));
	assert_int_equal(r.rounds, 2);
	sim_destroy(&s);
}

/* Two rounds of a ring, and AllToAlls beside it that come and go until it has ended. */
static void background_comes_and_goes(void **state)
{
	struct sim_job_results r, b;
	uint32_t own = 2 * 2 * 3 * 4;

	WORLD(&s, "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=8",
		"traffic.kind=allreduce", "traffic.ranks=4", "traffic.bytes=4000000",
		"traffic.repeat=2", "traffic.off_us=100", "background.kind=alltoall",
		"background.ranks=4", "background.jobs=2", "background.bytes=100000",
		"background.off_us=50");
	traffic();
	world_run(&s);
	assert_true(sim_job_results(&s, false, &r));
	assert_true(sim_job_results(&s, true, &b));
	assert_int_equal(r.rounds, 2);
	assert_true(b.rounds > 8);
	assert_int_equal(s.n_demands, own + b.rounds * 4 * 3);
	for (uint32_t i = 0; i < s.n_demands; i++)
		own -= !s.demand[i].background;
	assert_int_equal(own, 0);
	/* Off half of the time and more: a round takes some 10 us, the pause 50. */
	assert_true((double)b.rounds * b.jct_avg_us < (double)s.last_end / SIM_US * 2 * 0.6);
	assert_true(s.last_end / SIM_US > (uint64_t)(r.jct_avg_us * 2));
	sim_destroy(&s);
}

static void permutations_hit_everyone_once(void **state)
{
	uint8_t src[16] = {0}, dst[16] = {0};

	WORLD(&s, "fabric.leaves=2", "fabric.hosts_per_leaf=8", "traffic.kind=permutation");
	traffic();
	for (uint32_t i = 0; i < s.n_demands; i++) {
		src[s.demand[i].src]++;
		dst[s.demand[i].dst]++;
	}
	for (unsigned h = 0; h < 16; h++)
		assert_true(src[h] == 1 && dst[h] == 1);
	sim_destroy(&s);
}

/* Two spines, one link down for good half of the time: flows on it stall until routing knows. */
static void failed_links_lose_and_recover(void **state)
{
	char err[256] = "";

	WORLD(&s, "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=4",
		"fault.kind=down", "fault.at_us=50", "fault.for_us=5000", "fault.converge_us=100",
		"rnic.rto_us=500");
	assert_int_equal(sim_faults(&s, err, sizeof(err)), 0);
	for (uint32_t i = 0; i < 16; i++)
		world_flow(&s, i % 4, 4 + i / 4, 200000, i * 10 * SIM_US);
	world_run(&s);
	assert_true(s.n.dropped[SIM_DROP_LINK_DOWN] > 0);
	assert_true(s.n.timeouts > 0);
	assert_true(s.last_end < 3000 * SIM_US);
	sim_destroy(&s);
}

static void black_holes_swallow_whole_flows(void **state)
{
	char err[256] = "";

	WORLD(&s, "fabric.leaves=2", "fabric.spines=1", "fabric.hosts_per_leaf=4",
		"fault.kind=black-hole", "fault.share_permyriad=10000", "fault.links=1",
		"rnic.rto_us=1000", "run.limit_ms=5");
	assert_int_equal(sim_faults(&s, err, sizeof(err)), 0);
	for (uint32_t i = 0; i < 4; i++) {
		world_flow(&s, i, 4 + i, 5000, 0);
		world_flow(&s, 4 + i, i, 5000, 0);
	}
	assert_int_equal(sim_run(&s, s.cfg.run.limit_ms * SIM_MS), -ETIME);
	assert_int_equal(s.finished, 4); /* one direction */
	assert_true(s.n.dropped[SIM_DROP_BLACK_HOLE] > 0);
	sim_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_follow_the_cdf),
		cmocka_unit_test(load_is_as_asked),
		cmocka_unit_test(use_of_uplinks_is_measured),
		cmocka_unit_test(rings_take_their_steps),
		cmocka_unit_test(all_to_all_is_everyone),
		cmocka_unit_test(background_comes_and_goes),
		cmocka_unit_test(permutations_hit_everyone_once),
		cmocka_unit_test(failed_links_lose_and_recover),
		cmocka_unit_test(black_holes_swallow_whole_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
