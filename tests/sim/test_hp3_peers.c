/* SPDX-License-Identifier: BSD-3-Clause */
/* Section [peers]: reports of long flows that the engine receives: wrong, lost, late or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/minmax.h"
#include "engine/engine.h"
#include "world.h"

#define LONG_FLOWS 3u

static struct {
	uint64_t n, first_ns;
	uint32_t most; /* long flows that a peer says it sends here */
} told;

int __real_hp3_longs_from(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_long_counts *c, uint64_t now);
int __wrap_hp3_longs_from(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_long_counts *c, uint64_t now);

int __wrap_hp3_longs_from(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_long_counts *c, uint64_t now)
{
	if (told.n++ == 0)
		told.first_ns = now;
	told.most = hp3_max_u32(told.most, c->out);
	return __real_hp3_longs_from(e, ends, stamp, c, now);
}

/* Long flows of host 0 to host 4; how many reports were sent? */
static uint64_t run(const char *peers)
{
	struct sim s;
	uint64_t sent;

	WORLD(&s, "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=4", "run.lb=hp3",
		"rnic.cc=none", "rnic.feedback=cnp", "rnic.setup_us=20", "cc.mode=dcqcn",
		"cc.share=on", peers);
	for (uint32_t i = 0; i < LONG_FLOWS; i++)
		world_flow(&s, 0, 4, 20000000, 0);
	told.n = told.first_ns = told.most = 0;
	world_run(&s);
	sent = s.n.flow_reports;
	sim_destroy(&s);
	return sent;
}

static void counts_are_wrong_by_so_much(void **state)
{
	run("peers.counts_percent=100");
	assert_int_equal(told.most, LONG_FLOWS);
	run("peers.counts_percent=400");
	assert_int_equal(told.most, 4 * LONG_FLOWS);
	run("peers.counts_percent=50");
	assert_int_equal(told.most, (LONG_FLOWS + 1) / 2); /* never none, where there are some */
}

static void reports_are_lost(void **state)
{
	uint64_t sent = run("peers.reports_lost_percent=0");

	assert_true(sent > 20);
	assert_in_range(told.n, sent - 1, sent); /* the last one is on its way */
	assert_true(run("peers.reports_lost_percent=100") > 0);
	assert_int_equal(told.n, 0);
	sent = run("peers.reports_lost_percent=50");
	assert_in_range(told.n, sent / 4, sent - sent / 4);
}

static void reports_are_late(void **state)
{
	uint64_t at;

	run("peers.reports_late_us=0");
	at = told.first_ns;
	assert_true(at > 0);
	run("peers.reports_late_us=300");
	assert_int_equal(told.first_ns, at + 300000);
}

static void who_runs_no_hp3d_tells_nothing(void **state)
{
	assert_int_equal(run("peers.hp3_percent=0"), 0);
	assert_int_equal(told.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_wrong_by_so_much),
		cmocka_unit_test(reports_are_lost),
		cmocka_unit_test(reports_are_late),
		cmocka_unit_test(who_runs_no_hp3d_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
