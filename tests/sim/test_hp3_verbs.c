/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3d in verbs mode: it has only the library's data, and no packet is overtaken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "sim/fabric/port.h"
#include "sim/work/traffic.h"
#include "world.h"

static struct sim s;

/*
 * Two elephants on one spine of four; returns when both are through. The second one comes 2 ms
 * later: the first one has learnt by then how long its work takes.
 */
static uint64_t collide(const char *lb, const char *mode, const char *setup, const char *cc)
{
	char err[256] = "";

	WORLD(&s, "fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4",
		"traffic.kind=collision", "traffic.bytes=120000000", "rnic.feedback=cnp",
		"rnic.setup_us=20", "rnic.setup_counts=off", lb, mode, setup, cc);
	assert_int_equal(sim_traffic(&s, err, sizeof(err)), 0);
	s.demand[1].start = 2000 * SIM_US;
	world_run(&s);
	assert_int_equal(s.n.reordered, 0);
	return s.last_end;
}

/* By what ships: who is set up second finds another path. */
static void a_path_before_the_first_data(void **state)
{
	uint64_t off = collide(
			 "run.lb=hp3-verbs", "policy.mode=off", "ppp.setup=on", "rnic.cc=dcqcn"),
		 on;

	assert_true(s.n.marked > 0);
	sim_destroy(&s);
	on = collide("run.lb=hp3-verbs", "policy.mode=on", "ppp.setup=on", "rnic.cc=dcqcn");
	assert_int_equal(s.n.marked + s.n.moves, 0);
	assert_true(s.n.probes > 0);
	assert_true(on * 10 < off * 6);
	sim_destroy(&s);
}

/*
 * Who was there first learns that work takes longer, asks, and leaves. RNICs that slow down leave
 * no queue that probes could find: these do not.
 */
static void elephants_are_parted(void **state)
{
	uint64_t off = collide(
			 "run.lb=hp3-verbs", "policy.mode=off", "ppp.setup=off", "rnic.cc=none"),
		 on;

	sim_destroy(&s);
	on = collide("run.lb=hp3-verbs", "policy.mode=on", "ppp.setup=off", "rnic.cc=none");
	assert_int_equal(s.n.moves, 1);
	assert_true(s.n.probes > 0);
	assert_int_equal(s.n.held_packets, 0);
	assert_true(on * 10 < off * 9);
	sim_destroy(&s);
}

/* Off: not a probe. An application that has so much outstanding and no more is hardly slower. */
static void off_is_ecmp(void **state)
{
	uint64_t ecmp = collide("run.lb=ecmp", "policy.mode=off", "ppp.setup=on", "rnic.cc=dcqcn"),
		 off;

	sim_destroy(&s);
	off = collide("run.lb=hp3-verbs", "policy.mode=off", "ppp.setup=on", "rnic.cc=dcqcn");
	assert_in_range(off, ecmp * 97 / 100, ecmp * 103 / 100);
	assert_int_equal(s.n.moves + s.n.probes, 0);
	sim_destroy(&s);
}

/* More than the uplinks carry: moves by the dozen, and each waits until all before it is done. */
static void nothing_is_overtaken(void **state)
{
	WORLD(&s, "fabric.leaves=4", "fabric.spines=4", "fabric.hosts_per_leaf=8",
		"fabric.core_mbps=50000", "run.lb=hp3-verbs", "rnic.setup_us=20",
		"hp3-verbs.poll_us=100");
	for (uint32_t i = 0; i < 240; i++)
		world_flow(&s, i % 32, (i + 8 + i / 32 * 5) % 32, 4000000, i * 4 * SIM_US);
	world_run(&s);
	assert_true(s.n.moves > 20);
	assert_true(s.n.probes > 240);
	assert_int_equal(s.n.reordered, 0);
	assert_int_equal(s.n.naks, 0);
	assert_int_equal(s.n.again, 0);
	for (unsigned d = 0; d < SIM_DROP_N; d++)
		assert_int_equal(s.n.dropped[d], 0);
	sim_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_before_the_first_data),
		cmocka_unit_test(elephants_are_parted),
		cmocka_unit_test(off_is_ecmp),
		cmocka_unit_test(nothing_is_overtaken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
