/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's workloads: how many messages, when, on which queue pairs, and the reported times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen_world.h"

#define S  UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static struct world w;

static void start(uint32_t qps, const struct gen_workload_params *load, uint64_t until)
{
	struct gen_endpoint_params p = world_params();

	world_open(&w, &p, qps, false, 1);
	world_run(&w, load, until);
}

static void closed_keeps_its_depth(void **state)
{
	struct gen_workload_params load = {
		.load = GEN_LOAD_CLOSED, .weight = {1}, .size = 1000000, .depth = 3, .messages = 7};

	start(2, &load, 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(gen_requester_open(&w.end[0].qps[i].requester), 3);
	world_go_on(&w, UINT64_MAX);
	assert_int_equal(w.load[0].completed, 14);
	assert_int_equal(w.load[0].time[GEN_WRITE].n, 14);
	assert_true(gen_workload_done(&w.load[0]));
	world_close(&w);
}

/* Offered load, number and exponential gaps; times count from the arrival. */
static void poisson_offers_its_load(void **state)
{
	struct gen_workload_params load = {.load = GEN_LOAD_POISSON,
		.weight = {3, 0, 0, 1},
		.size = 10000,
		.bps = 80000000, /* 1000 messages a second */
		.seed = 5};

	start(4, &load, 20 * S);
	assert_in_range(w.load[0].total, 20000 - 450, 20000 + 450); /* 3 sigma */
	assert_in_range(w.load[0].time[GEN_READ].n * 100 / w.load[0].completed, 23, 27);
	for (int i = 0; i < 4; i++)
		assert_in_range(w.load[0].posted[i], 4600, 5400);
	gen_workload_stop(&w.load[0]);
	world_go_on(&w, 21 * S);
	assert_true(gen_workload_done(&w.load[0]));
	assert_int_equal(w.load[0].completed, w.load[0].total);
	world_close(&w);
	load.messages = 77;
	start(4, &load, UINT64_MAX);
	assert_int_equal(w.load[0].completed, 77);
	assert_true(gen_workload_done(&w.load[0]));
	world_close(&w);
}

static void the_same_seed_gives_the_same_load(void **state)
{
	struct gen_workload_params load = {.load = GEN_LOAD_POISSON,
		.weight = {1, 1, 1, 1},
		.size = 10000,
		.bps = 80000000,
		.seed = 5};
	uint64_t sums[3];

	for (int i = 0; i < 3; i++) {
		load.seed = i < 2 ? 5 : 6;
		start(4, &load, S);
		sums[i] = w.load[0].all.sum ^ w.load[0].total << 40;
		world_close(&w);
	}
	assert_true(sums[0] == sums[1]);
	assert_true(sums[0] != sums[2]);
}

static void rounds_wait_for_all(void **state)
{
	struct gen_workload_params load = {.load = GEN_LOAD_ROUNDS,
		.weight = {0, 0, 0, 1},
		.size = 50000,
		.messages = 5,
		.gap_ns = 3 * MS};

	start(6, &load, MS);
	assert_int_equal(w.load[0].completed, 6);
	world_go_on(&w, 3 * MS);
	assert_int_equal(w.load[0].total, 6); /* the pause */
	world_go_on(&w, UINT64_MAX);
	assert_int_equal(w.load[0].completed, 30);
	assert_int_equal(w.load[0].rounds, 5);
	assert_int_equal(w.load[0].round.n, 5);
	assert_true(w.load[0].round.min >= w.load[0].all.min);
	assert_true(gen_workload_done(&w.load[0]));
	world_close(&w);
}

/* Two hosts in a ring of two: queue pair 0 leads from each to the other's queue pair 1. */
static void allreduce_steps_wait_for_the_step_before(void **state)
{
	struct gen_workload_params load = {.load = GEN_LOAD_ALLREDUCE,
		.weight = {1},
		.size = 100000,
		.ranks = 2,
		.messages = 10};
	struct gen_endpoint_params p = world_params();

	world_open(&w, &p, 2, false, 1);
	for (int e = 0; e < 2; e++) {
		w.end[e].qps[e].loads = true;
		w.end[e].qps[!e].loads = false;
		for (int i = 0; i < 2; i++)
			w.end[e].qps[i].channel = 0;
	}
	/* One begins before the other. */
	assert_int_equal(gen_workload_start(&w.load[0], &load, &w.end[0], 0), 0);
	world_go_on(&w, MS);
	assert_int_equal(w.load[0].completed, 1);
	assert_int_equal(gen_workload_start(&w.load[1], &load, &w.end[1], w.now), 0);
	world_go_on(&w, UINT64_MAX);
	for (int e = 0; e < 2; e++) {
		assert_true(gen_workload_done(&w.load[e]));
		assert_int_equal(w.load[e].rounds, 10);
		assert_int_equal(w.load[e].completed, 10 * 2); /* 2 (ranks - 1) steps each */
		assert_int_equal(w.load[e].time[GEN_WRITE_IMM].n, 20);
		assert_int_equal(w.load[e].arrived[0], 20);
		/* Two steps, each at least the way of a chunk. */
		assert_true(w.load[e].round.min >= 2 * w.delay_ns);
	}
	world_close(&w);
}

static void what_the_peer_has_no_memory_for_is_refused(void **state)
{
	struct gen_endpoint_params p = world_params();
	struct gen_workload_params load = {
		.load = GEN_LOAD_CLOSED, .weight = {1}, .size = 1001, .depth = 1};

	world_open(&w, &p, 1, false, 1);
	w.end[0].qps[0].memory_size = 1000;
	assert_true(gen_workload_start(&w.load[0], &load, &w.end[0], 0) < 0);
	gen_workload_free(&w.load[0]);
	load.size = 1000;
	load.messages = 3;
	world_run(&w, &load, UINT64_MAX);
	assert_int_equal(w.load[0].completed, 3);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_keeps_its_depth),
		cmocka_unit_test(poisson_offers_its_load),
		cmocka_unit_test(the_same_seed_gives_the_same_load),
		cmocka_unit_test(rounds_wait_for_all),
		cmocka_unit_test(allreduce_steps_wait_for_the_step_before),
		cmocka_unit_test(what_the_peer_has_no_memory_for_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
