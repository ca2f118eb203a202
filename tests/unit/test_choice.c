/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choices from the path table: candidates of a round, picks without a round, choice among equals.
 * Never a failed path, never one path twice, and the flows of one host spread.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "paths_table.h"
#include "sim/fabric/hash.h"

static struct sim_model model;
static const struct sim_stage stage = {.hash = {.kind = SIM_HASH_CRC32, .paths = 8, .seed = 3}};
static struct hp3_tuple pair = {.src = {10, 0, 0, 1}, .dst = {10, 0, 0, 2}, .dport = 4791};

/* All ports have one of 8 known paths. */
static int setup_model(void **state)
{
	paths_setup(state);
	sim_model_init(&model, &stage, 1);
	hp3_paths_identity_model(&table, &model.given, &pair);
	return 0;
}

/* Three losses while `other` answers. */
static void fail_path(uint16_t port, uint16_t other, uint64_t now)
{
	for (unsigned i = 0; i < params.losses + 1u; i++) {
		uint64_t t = now - (params.losses - i) * params.window_ns;

		hp3_paths_lost(&table, hp3_paths_get(&table, port, 0, t), t);
		reply(other, 10 * US, false, t);
	}
}

static uint16_t port_of(uint32_t id)
{
	uint16_t port;

	assert_int_equal(hp3_paths_port(&table, id, 0, &port), 0);
	assert_int_equal(hp3_paths_id(&table, port, 0), id);
	return port;
}

/* Half of the candidates are remembered good ports, the rest was never tried. */
static void half_remembered_half_unexplored(void **state)
{
	uint16_t ports[8];

	for (uint16_t i = 0; i < 10; i++)
		reply(0xc000 + i, 10 * US, i >= 8, MS);
	for (unsigned run = 0; run < 300; run++) {
		unsigned good = 0;

		assert_int_equal(hp3_paths_candidates(&table, 0, 0xc000, ports, 6, MS), 6);
		for (unsigned i = 0; i < 6; i++) {
			assert_true(ports[i] >= HP3_PORT_FIRST);
			assert_true(ports[i] != 0xc000); /* in use */
			assert_true(ports[i] != 0xc008 && ports[i] != 0xc009); /* congested */
			good += ports[i] < 0xc008;
			for (unsigned j = 0; j < i; j++)
				assert_true(ports[i] != ports[j]);
		}
		assert_int_equal(good, 3);
	}
}

static void an_empty_table_explores(void **state)
{
	uint16_t ports[4];

	assert_int_equal(hp3_paths_candidates(&table, 0, 0xc000, ports, 4, MS), 4);
	assert_int_equal(hp3_paths_pick(&table, 0, true, ports, MS), -ENOENT);
}

/* With 8 known paths there are 7 candidates at most, all different; the rest is not made up. */
static void never_one_path_twice(void **state)
{
	uint16_t ports[16];

	for (unsigned run = 0; run < 500; run++) {
		uint16_t in_use = (uint16_t)(0xc000 + run);
		uint32_t seen = 1u << hp3_paths_id(&table, in_use, 0);
		unsigned n = hp3_paths_candidates(&table, 0, in_use, ports, 1 + run % 10, MS);

		assert_int_equal(n, run % 10 < 6 ? 1 + run % 10 : 7);
		for (unsigned i = 0; i < n; i++) {
			uint32_t bit = 1u << hp3_paths_id(&table, ports[i], 0);

			assert_false(seen & bit);
			seen |= bit;
		}
		/* What is remembered differs from run to run. */
		reply(port_of(run % 8), (10 + run % 9) * US, false, MS);
	}
}

/*
 * One low round trip makes all others slow. A flow whose path is marked, or slower, asks the slow
 * ones where no others are left, and only those that are faster than its own.
 */
static void slow_paths_are_asked_last(void **state)
{
	uint16_t ports[8];

	reply(port_of(0), 50 * US, true, MS); /* in use */
	reply(port_of(1), 40 * US, true, MS);
	reply(port_of(2), 10 * US, false, MS);
	reply(port_of(3), 30 * US, false, MS);
	reply(port_of(4), 49 * US, false, MS);
	for (uint32_t id = 5; id < 8; id++)
		reply(port_of(id), 50 * US, false, MS);
	assert_int_equal(quality(port_of(3), MS), HP3_QUALITY_CONGESTED);
	for (unsigned run = 0; run < 100; run++) {
		uint32_t seen = 0;

		assert_int_equal(hp3_paths_candidates(&table, 0, port_of(0), ports, 8, MS), 3);
		assert_int_equal(hp3_paths_id(&table, ports[0], 0), 2);
		for (unsigned i = 0; i < 3; i++)
			seen |= 1u << hp3_paths_id(&table, ports[i], 0);
		assert_int_equal(seen, 1u << 2 | 1u << 3 | 1u << 4);
		assert_int_equal(hp3_paths_candidates(&table, 0, port_of(3), ports, 8, MS), 1);
	}
	/* Other paths were never asked: first these. */
	paths_setup(NULL);
	reply(0xc000, 50 * US, true, MS);
	reply(0xc001, 10 * US, false, MS);
	reply(0xc002, 30 * US, false, MS);
	assert_int_equal(hp3_paths_candidates(&table, 0, 0xc000, ports, 8, MS), 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_not_equal(ports[i], 0xc002);
}

/* By port, by trace and by model: a failed path is no candidate and no pick. */
static void never_a_failed_path(void **state)
{
	uint16_t ports[8], port;
	uint64_t now = 100 * MS;

	for (uint32_t failed = 1; failed < 8; failed++) {
		uint16_t bad = port_of(failed), in_use = port_of(0);

		reply(bad, 10 * US, false, now - 10 * MS); /* it was good once */
		fail_path(bad, in_use, now);
		for (unsigned run = 0; run < 100; run++) {
			unsigned n = hp3_paths_candidates(&table, 0, in_use, ports, 8, now);

			assert_int_equal(n, 7 - failed);
			for (unsigned i = 0; i < n; i++)
				assert_true(hp3_paths_id(&table, ports[i], 0) > failed);
			assert_int_equal(hp3_paths_pick(&table, 0, true, &port, now), 0);
			assert_int_equal(hp3_paths_id(&table, port, 0), 0);
		}
	}
	/* After the retry time they may be tried again. */
	assert_int_equal(
		hp3_paths_candidates(&table, 0, port_of(0), ports, 8, now + params.retry_ns), 7);
}

static void never_a_failed_port(void **state)
{
	uint16_t ports[8];

	for (uint16_t i = 0; i < 8; i++) {
		reply(0xc100 + i, 10 * US, false, 90 * MS);
		fail_path(0xc100 + i, 0xc000, 100 * MS);
	}
	for (unsigned run = 0; run < 1000; run++) {
		assert_int_equal(hp3_paths_candidates(&table, 0, 0xc000, ports, 8, 100 * MS), 8);
		for (unsigned i = 0; i < 8; i++)
			assert_false(ports[i] >= 0xc100 && ports[i] < 0xc108);
	}
}

/* Of equally good paths each flow takes those with fewer flows of ours: no herd. */
static void flows_of_one_host_spread(void **state)
{
	enum { HOST_FLOWS = 800 };
	unsigned most = 0;

	for (uint32_t id = 0; id < 8; id++)
		reply(port_of(id), (100 + id) * US, false, MS);
	for (unsigned i = 0; i < HOST_FLOWS; i++) {
		uint16_t port;

		assert_int_equal(hp3_paths_pick(&table, 0, true, &port, MS), 0);
		assert_true(hp3_paths_enter(&table, port, 0, MS) >= 0);
	}
	for (uint32_t id = 0; id < 8; id++) {
		unsigned flows = flows_on(port_of(id));

		if (flows > most)
			most = flows;
	}
	/* Unweighted, the fullest of 8 would bear about 114 of 800 (mean 100, deviation 9.4). */
	assert_in_range(most, 100, 104);
}

/* Weight 1 / (1 + excess): beside a path with 3 flows more the other is drawn four times as often.
 */
static void weights_of_choice(void **state)
{
	unsigned hits = 0;
	uint16_t port;

	reply(0xc001, 10 * US, false, MS);
	reply(0xc002, 10 * US, false, MS);
	for (unsigned i = 0; i < 5; i++)
		hp3_paths_enter(&table, i < 1 ? 0xc002 : 0xc001, 0, MS);
	for (unsigned i = 0; i < 10000; i++) {
		assert_int_equal(hp3_paths_pick(&table, 0, true, &port, MS), 0);
		hits += port == 0xc001;
	}
	assert_in_range(hits, 1850, 2150);
}

/* A pick takes what is within `equal` percent of the best RTT, fresh and good; nothing else. */
static void picks_are_fresh_good_and_near_the_best(void **state)
{
	uint16_t port;
	unsigned seen = 0;

	reply(0xc001, 100 * US, false, 50 * MS);
	reply(0xc002, 120 * US, false, 50 * MS);
	reply(0xc003, 121 * US, false, 50 * MS);
	reply(0xc004, 100 * US, true, 50 * MS);
	reply(0xc005, 0, false, 50 * MS); /* never timed */
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(hp3_paths_pick(&table, 0, true, &port, 50 * MS), 0);
		seen |= 1u << (port - 0xc000);
	}
	assert_int_equal(seen, 1u << 1 | 1u << 2);
	assert_int_equal(hp3_paths_pick(&table, 0, true, &port, 151 * MS), -ENOENT);
}

/* One marked packet is enough, until a reply without a mark. Rounds may still probe the port. */
static void what_was_marked_is_not_picked(void **state)
{
	uint16_t port;

	reply(0xc001, 100 * US, false, 50 * MS);
	hp3_paths_spoil(&table, hp3_paths_get(&table, 0xc001, 0, 50 * MS));
	assert_int_equal(hp3_paths_pick(&table, 0, true, &port, 50 * MS), -ENOENT);
	assert_int_equal(hp3_paths_pick(&table, 0, false, &port, 50 * MS), 0);
	assert_int_equal(
		hp3_paths_quality(&table, hp3_paths_get(&table, 0xc001, 0, 50 * MS), 50 * MS),
		HP3_QUALITY_GOOD);
	reply(0xc001, 100 * US, false, 51 * MS);
	assert_int_equal(hp3_paths_pick(&table, 0, true, &port, 51 * MS), 0);
	assert_int_equal(port, 0xc001);
}

/* Same seed, same table: same choices. Another seed: others. */
static void choices_are_reproducible(void **state)
{
	uint16_t a[8], b[8], c[8];

	hp3_paths_candidates(&table, 0, 0xc000, a, 8, MS);
	paths_setup(state);
	hp3_paths_candidates(&table, 0, 0xc000, b, 8, MS);
	hp3_paths_init(&table, &params, PATHS_SEED + 1);
	hp3_paths_candidates(&table, 0, 0xc000, c, 8, MS);
	assert_memory_equal(a, b, sizeof(a));
	assert_memory_not_equal(a, c, sizeof(a));
}

/* A port for a path: from the table, from traces, by drawing from the model, or the port itself. */
static void a_port_for_a_path(void **state)
{
	uint16_t port;

	for (uint32_t id = 0; id < 8; id++)
		port_of(id);
	assert_int_equal(hp3_paths_port(&table, 8, 0, &port), -ENOENT);

	paths_setup(state);
	assert_int_equal(port_of(HP3_PATH_BY_PORT | 0xc123), 0xc123);
	assert_int_equal(hp3_paths_port(&table, HP3_PATH_NONE, 0, &port), -ENOENT);
	assert_int_equal(hp3_paths_port(&table, 3, 0, &port), -ENOENT);
	hp3_paths_identity_trace(&table, &traces);
	assert_int_equal(hp3_paths_port(&table, 3, 0, &port), -ENOENT);
	hp3_paths_traced(&table, 0xc222, 0, 3, MS);
	assert_int_equal(port_of(3), 0xc222);
}

/* Rule 18: the path is good for all QPNs, the port that draws it is each QPN's own. */
static void rule_18_every_qpn_has_ports_of_its_own(void **state)
{
	struct sim_stage hashed = stage;
	uint16_t ports[8];

	hashed.hash.qpn = true;
	sim_model_init(&model, &hashed, 1);
	hp3_paths_by_qpn(&table);
	hp3_paths_identity_model(&table, &model.given, &pair);
	for (uint16_t i = 0; i < 100; i++)
		hp3_paths_reply(&table, hp3_paths_get(&table, 0xc000 + i, 11, MS), 10 * US,
			hp3_paths_id(&table, 0xc000 + i, 11) >= 4, MS);
	for (unsigned run = 0; run < 100; run++) {
		uint32_t qpn = run, seen = 1u << hp3_paths_id(&table, 0xc000, qpn);
		unsigned n = hp3_paths_candidates(&table, qpn, 0xc000, ports, 8, MS);

		for (unsigned i = 0; i < n; i++)
			seen |= 1u << hp3_paths_id(&table, ports[i], qpn);
		/* All good ones, and the one in use, which may be a congested one. */
		assert_int_equal(seen & 0xf, 0xf);
		assert_int_equal(n, __builtin_popcount(seen) - 1);
	}
}

/* Not asked, nor picked; but where there is nothing else they are asked. */
static void lossy_paths_are_the_last_resort(void **state)
{
	uint16_t ports[8], port;
	unsigned n;

	for (uint32_t id = 0; id < 8; id++) {
		reply(port_of(id), 10 * US, false, MS);
		if (id >= 3)
			hp3_paths_lossy(&table, entry(port_of(id), MS), MS);
	}
	for (unsigned run = 0; run < 100; run++) {
		n = hp3_paths_candidates(&table, 0, port_of(0), ports, 6, MS);
		assert_int_equal(n, 2);
		for (unsigned i = 0; i < n; i++)
			assert_in_range(hp3_paths_id(&table, ports[i], 0), 1, 2);
		assert_int_equal(hp3_paths_pick(&table, 0, true, &port, MS), 0);
		assert_in_range(hp3_paths_id(&table, port, 0), 0, 2);
	}
	for (uint32_t id = 0; id < 3; id++)
		hp3_paths_lossy(&table, entry(port_of(id), MS), MS);
	assert_int_equal(hp3_paths_pick(&table, 0, true, &port, MS), -ENOENT);
	n = hp3_paths_candidates(&table, 0, port_of(0), ports, 6, MS);
	assert_int_equal(n, 6);
	for (unsigned i = 0; i < n; i++)
		assert_int_not_equal(hp3_paths_id(&table, ports[i], 0), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, paths_setup)
#define M(f) cmocka_unit_test_setup(f, setup_model)
	const struct CMUnitTest tests[] = {
		T(half_remembered_half_unexplored),
		T(an_empty_table_explores),
		M(never_one_path_twice),
		M(never_a_failed_path),
		M(slow_paths_are_asked_last),
		T(never_a_failed_port),
		M(flows_of_one_host_spread),
		T(weights_of_choice),
		T(picks_are_fresh_good_and_near_the_best),
		T(what_was_marked_is_not_picked),
		T(choices_are_reproducible),
		M(a_port_for_a_path),
		T(rule_18_every_qpn_has_ports_of_its_own),
		cmocka_unit_test_setup(lossy_paths_are_the_last_resort, setup_model),
	};

	print_message("seed %#x\n", PATHS_SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
