/* SPDX-License-Identifier: BSD-3-Clause */
/* KV caches: layers that become ready one after the other, and their pages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "sim/work/traffic.h"
#include "world.h"

static struct sim s;

#define KVCACHE(...)                                                                               \
	WORLD(&s, "fabric.leaves=1", "fabric.spines=1", "fabric.hosts_per_leaf=8",                 \
		"fabric.grain_ps=1", "traffic.kind=kvcache", "traffic.bytes=100000",               \
		"traffic.more_bytes=10000", "traffic.layers=3", "traffic.pages=4",                 \
		"traffic.layer_us=100", __VA_ARGS__)

static void start_traffic(void)
{
	char err[256] = "";

	if (sim_traffic(&s, err, sizeof(err)) < 0)
		fail_msg("%s", err);
}

/*
 * A layer has 440,000 bytes in 440 packets, which take 36.9 us of the 100 us until the next layer.
 * So each layer takes as long as a message of this size alone in one rack.
 */
static void layers_arrive_one_after_the_other(void **state)
{
	const uint64_t alone = 4 * SIM_US + 2 * 83840 + 2 * 4800 + 439 * UINT64_C(83840);
	struct sim_job_results r;

	KVCACHE("run.lb=ecmp", "rnic.qps=kept");
	start_traffic();
	world_run(&s);
	assert_int_equal(s.n_demands, 3 * 4 * 2);
	for (uint32_t i = 0; i < s.n_demands; i++) {
		const struct sim_demand *d = &s.demand[i];

		assert_int_equal(d->bytes, i % 2 == 0 ? 100000 : 10000);
		assert_int_equal(d->start, (1 + i / 8) * 100 * SIM_US);
		assert_int_equal(d->src, s.demand[0].src);
		assert_int_equal(d->dst, s.demand[0].dst);
	}
	assert_true(sim_job_results(&s, false, &r));
	assert_int_equal(r.rounds, 1);
	assert_int_equal(r.layers, 3);
	assert_true(r.layer_avg_us >= (double)alone / SIM_US && r.layer_p99_us >= r.layer_avg_us);
	assert_true(r.layer_p99_us < (double)alone / SIM_US * 1.01);
	/* The last layer is ready after 300 us. */
	assert_true(r.jct_avg_us > 300 + r.layer_avg_us * 0.99 &&
		    r.jct_avg_us < 300 + r.layer_p99_us * 1.01);
	assert_true(r.bus_gbps > 3 * 440000 * 8 / r.jct_avg_us / 1000 * 0.999);
	sim_destroy(&s);
}

/* Layers that are ready at once wait for each other: the last one takes as long as all three. */
static void late_layers_count_from_when_they_are_ready(void **state)
{
	struct sim_job_results r;

	KVCACHE("run.lb=ecmp", "rnic.qps=kept", "traffic.layer_us=0", "traffic.more_bytes=0");
	start_traffic();
	world_run(&s);
	assert_int_equal(s.n_demands, 3 * 4);
	assert_true(sim_job_results(&s, false, &r));
	assert_true(r.jct_avg_us == r.layer_p99_us);
	/* About a third, two thirds, and all of the time: two thirds on average. */
	assert_true(r.layer_avg_us > r.layer_p99_us * 0.66);
	assert_true(r.layer_avg_us < r.layer_p99_us * 0.71);
	sim_destroy(&s);
}

/* Decode hosts by round of each prefill host; returns how many of the 4 x 8 rounds changed it. */
static uint32_t draw_receivers(const char *lb, uint32_t *to)
{
	uint32_t changed = 0, seen[8] = {0}, rounds[8] = {0};
	bool sends[8] = {0}, receives[8] = {0};

	KVCACHE("traffic.jobs=4", "traffic.repeat=8", "traffic.pairing=random", "traffic.layers=1",
		"traffic.pages=1", "traffic.more_bytes=0", lb);
	start_traffic();
	world_run(&s);
	assert_int_equal(s.n_demands, 4 * 8);
	for (uint32_t i = 0; i < s.n_demands; i++) {
		const struct sim_demand *d = &s.demand[i];

		sends[d->src] = receives[d->dst] = true;
		changed += rounds[d->src] > 0 && seen[d->src] != d->dst;
		seen[d->src] = d->dst;
		to[d->src * 8 + rounds[d->src]++] = d->dst;
	}
	for (uint32_t h = 0; h < 8; h++) {
		assert_false(sends[h] && receives[h]);
		assert_true(rounds[h] == 0 || rounds[h] == 8);
	}
	sim_destroy(&s);
	return changed;
}

static void decode_hosts_are_drawn_for_each_round(void **state)
{
	uint32_t ecmp[64] = {0}, hp3x[64] = {0};

	assert_in_range(draw_receivers("run.lb=ecmp", ecmp), 12, 27);
	draw_receivers("run.lb=hp3x", hp3x);
	assert_memory_equal(ecmp, hp3x, sizeof(ecmp));
}

static void each_job_needs_two_hosts(void **state)
{
	char err[256] = "";

	KVCACHE("traffic.jobs=5");
	assert_int_equal(sim_traffic(&s, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "need 10 hosts of 8: lower jobs"));
	sim_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_arrive_one_after_the_other),
		cmocka_unit_test(late_layers_count_from_when_they_are_ready),
		cmocka_unit_test(decode_hosts_are_drawn_for_each_round),
		cmocka_unit_test(each_job_needs_two_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
