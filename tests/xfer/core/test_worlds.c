/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds of cores of libhp3x. Usage: PROGRAM [SEEDS [FIRST_SEED]]; HP3_TEST selects one world. If
 * HP3_SEED_BASE is set and FIRST_SEED is not given, one drawn seed is added for every eight seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "tests/xfer/core/world.h"

static uint64_t first = 1, drawn;
static uint32_t seeds = 8;

static struct world_params world_base(uint64_t seed)
{
	return (struct world_params){.seed = seed,
		.nodes = 2 + (uint32_t)(seed % 3),
		.rails = 1 + (uint32_t)(seed / 3 % 3),
		.paths_per_rail = 1 + (uint32_t)(seed / 2 % 2),
		.ops = 400,
		.length = seed % 4 == 0 ? 100000 : 20000,
		.faults_ns = 2 * SECOND};
}

static void world_runs(struct world_params (*params)(uint64_t seed))
{
	struct world_params p;

	for (uint32_t i = 0; i < seeds; i++) {
		p = params(first + i);
		assert_int_equal(world_run(&p), 0);
	}
	for (uint32_t i = 0; drawn != 0 && i < (seeds + 7) / 8; i++) {
		p = params(drawn + i);
		assert_int_equal(world_run(&p), 0);
	}
}

static struct world_params quiet(uint64_t seed)
{
	return world_base(seed);
}

static void nothing_fails(void **state)
{
	world_runs(quiet);
}

static struct world_params breaks(uint64_t seed)
{
	struct world_params p = world_base(seed);

	p.healthy = seed % 2 == 0;
	p.breaks = 100;
	p.hangs = 20;
	p.stalls = 3;
	p.flaps = 5;
	p.late = seed % 3 == 0;
	return p;
}

static void paths_fail(void **state)
{
	world_runs(breaks);
}

static struct world_params ends(uint64_t seed)
{
	struct world_params p = breaks(seed);

	p.deadlines = p.cancels = p.refusals = true;
	p.slices = seed % 2 == 0 ? 16 : 0;
	return p;
}

static void ops_end_early(void **state)
{
	world_runs(ends);
}

static struct world_params deaths(uint64_t seed)
{
	struct world_params p = ends(seed);

	p.deaths = 4;
	return p;
}

static void nodes_die_and_return(void **state)
{
	world_runs(deaths);
}

int main(int argc, char **argv)
{
	const char *base = getenv("HP3_SEED_BASE");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_fails),
		cmocka_unit_test(paths_fail),
		cmocka_unit_test(ops_end_early),
		cmocka_unit_test(nodes_die_and_return),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	if (argc > 1)
		seeds = (uint32_t)strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first = strtoull(argv[2], NULL, 0);
	else if (base != NULL && *base != '\0')
		drawn = strtoull(base, NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
