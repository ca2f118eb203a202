/* SPDX-License-Identifier: BSD-3-Clause */
/* Section [fleet] of the simulator: information that a single host does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/minmax.h"
#include "sim/work/traffic.h"
#include "world.h"

#define ALONE "ppp.improve=1" /* nothing that hosts find by themselves is good enough */

struct run {
	struct sim_counters n;
	uint64_t last; /* ps: the slower elephant's time */
};

/* Two elephants of two hosts of one leaf, on one of four spines. */
static struct run collide(const char *fleet, const char *more)
{
	char err[256];
	struct sim s;
	struct run r;

	WORLD(&s, "fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=2", "run.lb=hp3",
		"rfr.mode=move", "traffic.kind=collision", "traffic.bytes=20000000",
		"rnic.feedback=cnp", "rnic.setup_us=0", "fleet.hold_us=300", "fleet.delay_us=20",
		ALONE, fleet, more);
	assert_int_equal(sim_traffic(&s, err, sizeof(err)), 0);
	world_run(&s);
	r.n = s.n;
	r.last = hp3_max_u64(s.outcome[0].fct, s.outcome[1].fct);
	sim_destroy(&s);
	return r;
}

static void one_of_two_leaves(void **state)
{
	struct run off = collide("fleet.interval_us=0", "run.seed=1");

	assert_int_equal(off.n.fleet_reports, 0);
	assert_int_equal(off.n.moves, 0);
	for (unsigned seed = 1; seed <= 8; seed++) {
		char text[16] = {0};
		struct run on;

		snprintf(text, sizeof(text), "run.seed=%u", seed);
		off = collide("fleet.interval_us=0", text);
		on = collide("fleet.interval_us=200", text);
		assert_true(on.n.fleet_reports >= 4);
		assert_int_equal(on.n.fleet_moved, 1);
		assert_int_equal(on.n.moves, 1);
		assert_int_equal(on.n.reordered, 0);
		assert_true(on.last * 10 < off.last * 9);
	}
}

static void what_is_lost_moves_nothing(void **state)
{
	struct run r = collide("fleet.interval_us=200", "fleet.lost_percent=100");

	assert_true(r.n.fleet_reports >= 4);
	assert_int_equal(r.n.fleet_moves + r.n.fleet_asked + r.n.moves, 0);
	r = collide("fleet.interval_us=200", "fleet.moves=0");
	assert_int_equal(r.n.fleet_moves, 0);
}

/* Hosts without hp3d report nothing, and are told nothing. */
static void who_runs_no_hp3d_is_not_there(void **state)
{
	struct run r = collide("fleet.interval_us=200", "peers.hp3_percent=0");

	assert_int_equal(r.n.fleet_reports + r.n.fleet_moves, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_two_leaves),
		cmocka_unit_test(what_is_lost_moves_nothing),
		cmocka_unit_test(who_runs_no_hp3d_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
