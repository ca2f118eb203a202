/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identity in the path table: which ports are one path, by traces, by an accepted linear hash, by
 * the caller's information about switches; or each port its own path.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "paths_table.h"
#include "sim/fabric/hash.h"

/* Identity by trace: ports that draw one path share one entry, whenever that becomes known. */
static void traced_ports_share_a_path(void **state)
{
	int a, b;

	hp3_paths_identity_trace(&table, &traces);
	assert_int_equal(hp3_paths_id(&table, 0xc001, 0), HP3_PATH_BY_PORT | 0xc001);
	a = hp3_paths_enter(&table, 0xc001, 0, MS);
	b = hp3_paths_enter(&table, 0xc002, 0, MS);
	hp3_paths_reply(&table, a, 30 * US, false, MS);
	hp3_paths_reply(&table, b, 10 * US, true, 2 * MS);
	assert_false(hp3_paths_traced(&table, 0xc001, 0, 7, MS));
	assert_false(hp3_paths_traced(&table, 0xc002, 0, 7, MS));
	assert_false(hp3_paths_traced(&table, 0xc003, 0, 7, MS));

	/* One path, two flows on it; the newer news count, the least RTT of both. */
	assert_int_equal(entry(0xc001, MS), entry(0xc003, MS));
	assert_int_equal(flows_on(0xc003), 2);
	assert_int_equal(quality(0xc003, 2 * MS), HP3_QUALITY_CONGESTED);
	assert_int_equal(table.path[entry(0xc003, MS)].min_rtt, 10 * US);
	/* Both indices still stand for it, whoever leaves first. */
	for (unsigned i = 0; i < 12; i++)
		hp3_paths_reply(&table, b, 10 * US, false, 3 * MS);
	assert_int_equal(quality(0xc001, 3 * MS), HP3_QUALITY_GOOD);
	hp3_paths_leave(&table, b);
	assert_int_equal(flows_on(0xc001), 1);
	hp3_paths_leave(&table, a);
	assert_int_equal(flows_on(0xc001), 0);
	assert_int_equal(quality(0xc002, 3 * MS), HP3_QUALITY_GOOD);
}

/* A failure seen before the path was known fails the path, not only the port. */
static void a_failed_port_fails_its_path(void **state)
{
	unsigned used = 0;
	uint64_t now;

	hp3_paths_identity_trace(&table, &traces);
	reply(0xc002, 15 * US, false, MS); /* good, by another port */
	now = break_path(0xc001, 2 * MS);
	hp3_paths_traced(&table, 0xc002, 0, 7, now);
	assert_int_equal(quality(0xc002, now), HP3_QUALITY_GOOD);
	hp3_paths_traced(&table, 0xc001, 0, 7, now);
	hp3_paths_traced(&table, 0xc003, 0, 7, now);
	assert_int_equal(quality(0xc002, now), HP3_QUALITY_FAILED);
	assert_int_equal(quality(0xc003, now), HP3_QUALITY_FAILED);
	/* One entry is left of the two; 0xc000 has the other. */
	for (unsigned i = 0; i < HP3_PATHS; i++)
		used += table.path[i].id != HP3_PATH_NONE;
	assert_int_equal(used, 2);
	/* A reply that came after the losses wins. */
	reply(0xc004, 15 * US, false, now + 1);
	hp3_paths_traced(&table, 0xc004, 0, 7, now + 1);
	assert_int_equal(quality(0xc001, now + 1), HP3_QUALITY_GOOD);
}

static void a_changed_trace_voids_what_was_learnt(void **state)
{
	int a;

	hp3_paths_identity_trace(&table, &traces);
	a = hp3_paths_enter(&table, 0xc001, 0, MS);
	hp3_paths_traced(&table, 0xc001, 0, 7, MS);
	hp3_paths_traced(&table, 0xc002, 0, 8, MS);
	reply(0xc001, 10 * US, false, MS);
	reply(0xc002, 10 * US, false, MS);
	assert_false(hp3_paths_traced(&table, 0xc001, 0, 7, 2 * MS));
	assert_true(hp3_paths_traced(&table, 0xc001, 0, 9, 3 * MS));
	assert_int_equal(hp3_paths_id(&table, 0xc001, 0), 9);
	assert_int_equal(hp3_paths_id(&table, 0xc002, 0), HP3_PATH_BY_PORT | 0xc002);
	assert_int_equal(quality(0xc001, 3 * MS), HP3_QUALITY_UNKNOWN);
	assert_int_equal(quality(0xc002, 3 * MS), HP3_QUALITY_UNKNOWN);
	assert_int_equal(flows_on(0xc001), 1);
	hp3_paths_leave(&table, a);
	assert_int_equal(flows_on(0xc001), 0);
}

/* The cache of traces is bounded; ports in the table keep their path beyond it. */
static void more_ports_than_the_trace_cache_holds(void **state)
{
	hp3_paths_identity_trace(&table, &traces);
	hp3_paths_enter(&table, 0xc000, 0, MS);
	for (uint16_t i = 0; i < 3 * HP3_TRACES; i++)
		assert_false(hp3_paths_traced(&table, 0xc000 + i, 0, i % 8, MS + i));
	assert_int_equal(hp3_paths_id(&table, 0xc000, 0), 0);
	assert_int_equal(hp3_paths_id(&table, 0xc001, 0), HP3_PATH_BY_PORT | 0xc001);
	for (uint16_t i = 2 * HP3_TRACES; i < 3 * HP3_TRACES; i++)
		assert_int_equal(hp3_paths_id(&table, 0xc000 + i, 0), i % 8);
	/* The next trace of a port that only the table remembers still shows a route change. */
	assert_true(hp3_paths_traced(&table, 0xc000, 0, 5, 2 * MS));
}

/* Rule 18: what one QPN learnt of a port says nothing to another one. */
static void rule_18_ports_are_told_apart_by_qpn_once_it_is_hashed(void **state)
{
	int before = hp3_paths_enter(&table, 0xc001, 11, MS), a, b;

	assert_int_equal(before, hp3_paths_get(&table, 0xc001, 22, MS));
	hp3_paths_reply(&table, before, 10 * US, false, MS);
	hp3_paths_by_qpn(&table);
	a = hp3_paths_get(&table, 0xc001, 11, MS);
	b = hp3_paths_get(&table, 0xc001, 22, MS);
	assert_true(a != b && a != before && b != before);
	hp3_paths_reply(&table, b, 10 * US, true, MS);
	assert_int_equal(hp3_paths_quality(&table, a, MS), HP3_QUALITY_UNKNOWN);
	assert_int_equal(hp3_paths_quality(&table, b, MS), HP3_QUALITY_CONGESTED);
	hp3_paths_leave(&table, before);
	assert_int_equal(table.path[before].id, HP3_PATH_NONE);
}

/* By a model, which the caller believes, and by a linear hash all ports have a path at once. */
static void all_ports_at_once(void **state)
{
	const struct sim_stage stage = {.hash = {.kind = SIM_HASH_CRC32, .paths = 8, .seed = 3}};
	struct hp3_tuple t = {.src = {10, 0, 0, 1}, .dst = {10, 0, 0, 2}, .dport = 4791};
	struct hp3_linear linear;
	struct sim_model model;
	uint32_t paths = 0;
	int flow;

	sim_model_init(&model, &stage, 1);
	hp3_linear_init(&linear, HP3_LABELS_INDEX, 8, PATHS_SEED);
	assert_int_equal(hp3_paths_identity_linear(&table, &linear, 0), -EAGAIN);
	flow = hp3_paths_enter(&table, 0xc123, 0, MS);
	while (linear.state != HP3_LINEAR_BELIEVED) {
		t.sport = hp3_linear_next(&linear);
		hp3_linear_add(&linear, t.sport, sim_hash_hop(&stage.hash, &t));
	}
	for (unsigned kind = 0; kind < 2; kind++) {
		if (kind == 0)
			hp3_paths_identity_model(&table, &model.given, &t);
		else
			assert_int_equal(hp3_paths_identity_linear(&table, &linear, 0), 0);
		for (uint32_t port = HP3_PORT_FIRST; port < 65536; port++) {
			t.sport = (uint16_t)port;
			assert_int_equal(hp3_paths_id(&table, (uint16_t)port, 0),
				sim_hash_hop(&stage.hash, &t));
			paths |= 1u << hp3_paths_id(&table, (uint16_t)port, 0);
		}
		assert_int_equal(paths, 0xff);
		assert_int_equal(flows_on(0xc123), 1);
		assert_int_equal(entry(0xc123, MS), flow);
	}
	hp3_paths_identity_none(&table);
	assert_int_equal(hp3_paths_id(&table, 0xc123, 0), HP3_PATH_BY_PORT | 0xc123);
	assert_int_equal(entry(0xc123, MS), flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PATHS_TEST(traced_ports_share_a_path),
		PATHS_TEST(a_failed_port_fails_its_path),
		PATHS_TEST(a_changed_trace_voids_what_was_learnt),
		PATHS_TEST(more_ports_than_the_trace_cache_holds),
		PATHS_TEST(rule_18_ports_are_told_apart_by_qpn_once_it_is_hashed),
		PATHS_TEST(all_ports_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
