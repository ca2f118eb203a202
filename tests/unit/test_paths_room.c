/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of the path table: which entries new ones replace, and the number of flows of each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "paths_table.h"

/* The oldest news make room; flows never, failures only when they fill half of the table. */
static void what_makes_room(void **state)
{
	int flow[HP3_PATHS];
	uint64_t now = MS;

	reply(0xc000, 10 * US, false, MS);
	for (uint16_t i = 1; i < HP3_PATHS; i++)
		reply(0xc000 + i, 10 * US, false, MS + (i == 5 ? 0 : i));
	int oldest = entry(0xc000, MS);
	hp3_paths_reply(&table, oldest, 10 * US, false, 2 * MS);
	int next = entry(0xc005, MS);
	assert_int_equal(entry(0xd000, 2 * MS), next);

	paths_setup(state);
	for (uint16_t i = 1; i <= 200; i++)
		now = break_path(0xc000 + i, now);
	unsigned failed = 0;
	for (unsigned i = 0; i < HP3_PATHS; i++)
		failed += hp3_paths_quality(&table, (int)i, now) == HP3_QUALITY_FAILED;
	assert_in_range(failed, HP3_PATHS / 4, HP3_PATHS / 2 + 1);

	paths_setup(state);
	for (uint16_t i = 0; i < HP3_PATHS; i++)
		flow[i] = hp3_paths_enter(&table, 0xc000 + i, 0, now);
	assert_int_equal(hp3_paths_enter(&table, 0xd000, 0, now), -ENOSPC);
	assert_int_equal(hp3_paths_enter(&table, 0xc000, 0, now), flow[0]);
	hp3_paths_leave(&table, -ENOSPC);
	hp3_paths_leave(&table, flow[7]);
	assert_int_equal(hp3_paths_enter(&table, 0xd000, 0, now), flow[7]);
	assert_int_equal(flows_on(0xc000), 2);
}

/*
 * Flows per path stay exact through traces, evictions, losses; through route changes and other
 * providers, if the flows are entered anew then.
 */
enum { FLOWS = 40 };
static struct {
	uint16_t port;
	int index;
} flow[FLOWS];
static unsigned flows;

static void enter_anew(uint64_t now)
{
	unsigned n = flows;

	for (unsigned i = 0; i < n; i++)
		hp3_paths_leave(&table, flow[i].index);
	for (unsigned i = flows = 0; i < n; i++) {
		int e = hp3_paths_enter(&table, flow[i].port, 0, now);

		if (e >= 0) {
			flow[flows].port = flow[i].port;
			flow[flows++].index = e;
		}
	}
}

static void assert_counts(unsigned of)
{
	unsigned counted = 0, same = 0;

	for (unsigned p = 0; p < HP3_PATHS; p++) {
		counted += table.path[p].flows;
		assert_true(table.path[p].id != HP3_PATH_NONE || !table.path[p].flows);
	}
	assert_int_equal(counted, flows);
	if (!flows)
		return;
	for (unsigned i = 0; i < flows; i++) {
		same += hp3_paths_id(&table, flow[i].port, 0) ==
			hp3_paths_id(&table, flow[of].port, 0);
	}
	assert_int_equal(flows_on(flow[of].port), same);
}

static void flow_counts_are_exact(void **state)
{
	uint64_t rng = PATHS_SEED, now = MS;
	unsigned changes = 0, full = 0;

	hp3_paths_identity_trace(&table, &traces);
	for (unsigned step = 0; step < 100000; step++, now += MS) {
		uint16_t port = (uint16_t)(0xc000 + hp3_random_below(&rng, 60));
		unsigned i = flows ? hp3_random_below(&rng, flows) : 0;
		int e;

		switch (hp3_random_below(&rng, 8)) {
		case 0:
		case 1:
			e = flows < FLOWS ? hp3_paths_enter(&table, port, 0, now) : -ENOSPC;
			full += flows < FLOWS && e < 0;
			if (e >= 0) {
				flow[flows].port = port;
				flow[flows++].index = e;
			}
			break;
		case 2:
			if (flows) {
				hp3_paths_leave(&table, flow[i].index);
				flow[i] = flow[--flows];
			}
			break;
		case 3:
			if (flows)
				hp3_paths_reply(&table, flow[i].index, 10 * US, step & 1, now);
			break;
		case 4:
			e = hp3_paths_get(&table, port, 0, now);
			if (e >= 0)
				hp3_paths_lost(&table, e, now);
			break;
		case 5:
		case 6:
			if (table.identity == HP3_IDENTITY_TRACE) {
				uint32_t id = port % 7u + (hp3_random_below(&rng, 500) == 0);

				if (hp3_paths_traced(&table, port, 0, id, now)) {
					enter_anew(now);
					changes++;
				}
			}
			break;
		default:
			if (hp3_random_below(&rng, 100) < 2) {
				if (table.identity == HP3_IDENTITY_TRACE)
					hp3_paths_identity_none(&table);
				else
					hp3_paths_identity_trace(&table, &traces);
				enter_anew(now);
			}
		}
		assert_counts(flows ? hp3_random_below(&rng, flows) : 0);
	}
	assert_true(changes > 20 && full > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PATHS_TEST(what_makes_room),
		PATHS_TEST(flow_counts_are_exact),
	};

	print_message("seed %#x\n", PATHS_SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
