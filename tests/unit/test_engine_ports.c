/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports for applications that choose their own: on different paths by traces, by a map, by
 * comparison; or the reason why there are none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/paths/paths.h"
#include "ppp/ports.h"
#include "trace_fabric.h"

static struct hp3_port_info port[HP3_PORTS_MAX];
static uint32_t paths;

static int apart(uint32_t want, bool distinct)
{
	return hp3_ports_apart(rig.e, pair_info(&q).pair, want, distinct, rig.now, port, &paths);
}

static void count_spines(int n, uint32_t *on, uint32_t spines)
{
	memset(on, 0, spines * sizeof(*on));
	for (int i = 0; i < n; i++) {
		uint32_t spine = spine_of(&q, port[i].port, q.rqpn);

		assert_in_range(spine, 1, spines);
		assert_true(port[i].named);
		assert_int_equal(port[i].hop.addr[3], spine);
		for (int j = 0; j < i; j++)
			assert_int_not_equal(port[i].port, port[j].port);
		on[spine - 1]++;
	}
}

static void a_map_names_one_of_each_path(void **state)
{
	uint32_t on[4];

	trace_config();
	trace_begin();
	trace_run(300 * MS);
	expect_all_reported(&q);
	assert_int_equal(apart(4, true), 4);
	count_spines(4, on, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(on[i], 1);
	assert_int_equal(port[0].evidence, HP3_EVIDENCE_LINEAR);
	assert_in_range(port[0].age_ns, 1, 300 * MS);
	assert_int_equal(paths, 4);
	assert_int_equal(apart(5, true), 4); /* there are no more */
	assert_int_equal(apart(2, true), 2);
	assert_int_equal(apart(8, false), 8); /* two of each */
	count_spines(8, on, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(on[i], 2);
	assert_int_equal(apart(HP3_PORTS_MAX, false), HP3_PORTS_MAX);
}

/* Three paths have no linear map: what was traced is told. */
static void traces_alone_tell_too(void **state)
{
	uint32_t on[3];

	trace_config();
	net.spines = 3;
	trace_begin();
	trace_run(500 * MS);
	assert_int_equal(pair_info(&q).tracing, HP3_TRACE_TRACES);
	assert_int_equal(apart(3, true), 3);
	count_spines(3, on, 3);
	assert_int_equal(on[0] + on[1] + on[2], 3);
	assert_int_equal(on[0], on[1]);
	assert_int_equal(port[0].evidence, HP3_EVIDENCE_TRACE);
}

/* Probes on `port` were lost, in windows in which another one answered. */
static void fail_path(uint16_t lost, uint16_t good)
{
	struct hp3_paths *t = hp3_paths_of(rig.e, pair_info(&q).pair);

	for (unsigned i = 0; i < 3; i++) {
		hp3_paths_lost(t, hp3_paths_get(t, lost, q.rqpn, rig.now), rig.now);
		pass_time(US);
		hp3_paths_reply(t, hp3_paths_get(t, good, q.rqpn, rig.now), RTT, false, rig.now);
		pass_time(MS);
	}
}

static void what_has_failed_is_left_out(void **state)
{
	trace_config();
	trace_begin();
	trace_run(300 * MS);
	assert_int_equal(apart(4, true), 4);
	fail_path(port[1].port, port[0].port);
	assert_int_equal(apart(4, true), 3);
}

static void nothing_known_is_said(void **state)
{
	trace_config();
	net.silent = true;
	trace_begin();
	trace_run(100 * MS);
	assert_int_equal(apart(1, true), -ENODATA);
	assert_int_equal(
		hp3_ports_apart(rig.e, rig.cfg.max_pairs, 1, true, rig.now, port, &paths), -ENOENT);
}

static void rule_18_no_port_is_a_path_where_the_qpn_is_hashed(void **state)
{
	struct qp other = make_qp(1);

	trace_config();
	net.qpn = true;
	trace_begin();
	net.ends[net.nends++] = &other;
	speak(&other, 7);
	trace_run(400 * MS);
	assert_int_equal(apart(1, true), -EXDEV);
}

static void switches_that_hash_the_opcode_are_found_out(void **state)
{
	unsigned found = 0;

	for (uint32_t seed = 0; seed < 200; seed++) {
		rig_setup(state);
		trace_config();
		net.seed = seed;
		if (!opcode_hash(1) && !opcode_hash(2) && !opcode_hash(4) && !opcode_hash(8))
			continue; /* requests do not differ in other bits */
		found++;
		net.opcode = true;
		trace_begin();
		trace_run(300 * MS);
		assert_int_equal(pair_info(&q).tracing, HP3_TRACE_BY_OPCODE);
		assert_int_equal(pair_info(&q).identity, HP3_IDENTITY_NONE);
		assert_int_equal(stats()->trace_by_opcode, 1);
		assert_int_equal(apart(1, true), -EPROTO);
	}
	assert_true(found > 180);
	net.answered = 1;
	trace_run(3 * RECHECK);
	assert_int_equal(net.answered, 1);
}

static void a_changed_route_is_no_hash_of_the_opcode(void **state)
{
	for (uint32_t turn = 1; turn < 40; turn++) {
		rig_setup(state);
		trace_config();
		trace_begin();
		trace_run(turn * 5 * MS);
		net.seed = 7;
		trace_run(3 * RECHECK);
		assert_int_equal(stats()->trace_by_opcode, 0);
		expect_all_reported(&q);
	}
}

/* --- comparison --- */

static uint32_t queue[4];

/* All that was sent is answered, after what its path's queue takes. */
static void answer_burst(void)
{
	uint32_t of[64], n = rig.nprobes;

	for (unsigned i = 0; i < 4; i++)
		queue[i] = hp3_random_below(&rig.cfg.seed, 100);
	for (uint32_t i = 0; i < n; i++)
		of[i] = 20 + queue[rig.probe_ports[i] % 4];
	for (uint32_t at = 1; at < 130; at++) {
		pass_time(US);
		for (uint32_t i = 0; i < n; i++)
			if (of[i] == at)
				probe_reply(i, false);
	}
	rig.nprobes = 0;
}

static void ports_are_compared(void **state)
{
	static const uint16_t asked[] = {50000, 50001, 50002, 50003, 50004, 50005, 50006, 50007};
	struct hp3_selftest_tally tally;
	uint8_t chosen[HP3_COMPARE_PORTS];
	struct hp3_compare c;
	uint64_t age;
	uint32_t pair;

	probing_config();
	rig.cfg.probes = HP3_PROBES_PEER;
	probing_engine();
	pair = hp3_pair_of(rig.e, flow_of(&q));
	assert_int_equal(
		hp3_compare_ask(rig.e, pair, asked, 8, rig.now), -ENODATA); /* nothing was sent */
	exchange(false);
	assert_int_equal(hp3_compare_result(rig.e, pair, rig.now, &c, &age), -ENODATA);
	assert_int_equal(hp3_compare_ask(rig.e, pair, asked, 8, rig.now), 8);
	assert_int_equal(hp3_compare_ask(rig.e, pair, asked, 8, rig.now), -EBUSY);
	for (unsigned burst = 0; burst < HP3_COMPARE_BURSTS; burst++) {
		while (rig.nprobes == 0)
			pass_time(100 * US);
		assert_int_equal(rig.nprobes, 16);
		assert_int_equal(hp3_compare_result(rig.e, pair, rig.now, &c, &age), -EBUSY);
		answer_burst();
	}
	pass_time(5 * MS);
	assert_int_equal(hp3_compare_result(rig.e, pair, rig.now, &c, &age), 0);
	assert_int_equal(hp3_compare_distinct(&c, chosen, &tally), 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(c.port[chosen[i]], asked[i]); /* ports i and i + 4 share a queue */
	assert_int_equal(hp3_compare_ask(rig.e, pair, asked, 8, rig.now), 8); /* once more */
}

/* Beside an RNIC that has few ports: of others nobody would hear anything. */
static void only_ports_that_there_are_are_compared(void **state)
{
	static const uint16_t real[] = {0xe001, 0xe002, 0xe003, 0xe004},
			      asked[] = {0xe003, 50001, 50002};
	uint32_t pair;

	probing_config();
	rig.cfg.probes = HP3_PROBES_PEER;
	probing_engine();
	exchange(false);
	pair = hp3_pair_of(rig.e, flow_of(&q));
	assert_int_equal(hp3_qp_ports(rig.e, HP3_ENDS(&q), real, 4), 0);
	assert_int_equal(hp3_compare_ask(rig.e, pair, asked, 3, rig.now), 3);
	while (rig.nprobes == 0)
		pass_time(100 * US);
	for (uint32_t i = 0; i < rig.nprobes; i++)
		assert_in_range(rig.probe_ports[i], 0xe001, 0xe004);
}

static void a_comparison_ends_without_answers(void **state)
{
	static const uint16_t asked[] = {50000, 50001};
	struct hp3_compare c;
	uint64_t age, began;
	uint32_t pair;

	probing_config();
	rig.cfg.probes = HP3_PROBES_PEER;
	probing_engine();
	exchange(false);
	pair = hp3_pair_of(rig.e, flow_of(&q));
	assert_int_equal(hp3_compare_ask(rig.e, pair, asked, 2, rig.now), 2);
	began = rig.now;
	while (hp3_compare_result(rig.e, pair, rig.now, &c, &age) == -EBUSY) {
		pass_time(MS);
		rig.nprobes = 0;
		assert_true(rig.now - began < 1000 * MS);
	}
	assert_int_equal(c.bursts, HP3_COMPARE_BURSTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_map_names_one_of_each_path),
		RIG_TEST(traces_alone_tell_too),
		RIG_TEST(what_has_failed_is_left_out),
		RIG_TEST(nothing_known_is_said),
		RIG_TEST(rule_18_no_port_is_a_path_where_the_qpn_is_hashed),
		RIG_TEST(switches_that_hash_the_opcode_are_found_out),
		RIG_TEST(a_changed_route_is_no_hash_of_the_opcode),
		RIG_TEST(ports_are_compared),
		RIG_TEST(only_ports_that_there_are_are_compared),
		RIG_TEST(a_comparison_ends_without_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
