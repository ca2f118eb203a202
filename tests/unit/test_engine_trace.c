/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Path identity by traces: what the engine learns of a fabric, when it learns nothing, and its
 * limits; traces that an operator requests. When identities become invalid:
 * test_engine_trace_changes.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "trace_fabric.h"

/* --- what is learnt --- */

static void a_few_traces_tell_all_ports(void **state)
{
	trace_config();
	trace_begin();
	trace_run(300 * MS);
	expect_all_reported(&q);
	assert_int_equal(pair_info(&q).ttl, 2);
	assert_in_range(net.answered, 50, 130);
	assert_int_equal(stats()->trace_linear, 1);
	net.answered = 1;
	trace_run(RECHECK / 2);
	assert_int_equal(net.answered, 1); /* and then it is quiet */
	trace_run(RECHECK);
	assert_in_range(net.answered, 1 + HP3_TRACE_CHECKS, 1 + HP3_TRACE_CHECKS);
	expect_all_reported(&q);
}

static void with_ipv6_too(void **state)
{
	trace_config();
	rig_configure();
	q = make_qp(0);
	q.ipv6 = true;
	speak(&q, 100);
	trace_run(300 * MS);
	expect_all_reported(&q);
}

static void rule_01_a_trace_bears_an_old_psn(void **state)
{
	trace_config();
	trace_begin();
	trace_run(20 * MS);
	assert_in_range(rig.acts[HP3_ACT_TRACE], 5, 32);
	for (uint32_t i = 0; i < rig.acts[HP3_ACT_TRACE]; i++)
		assert_int_equal(rig.trace[i].psn, 100);
}

/* Nobody but an hp3d is to get what a trace may become: a duplicate. */
static void rule_02_only_where_an_hp3d_answers(void **state)
{
	trace_config();
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	peer_alive(&q);
	trace_run(50 * MS);
	assert_int_equal(rig.acts[HP3_ACT_TRACE], 0); /* no PSN is known to be old */
	rig_configure();
	assert_int_equal(set_up(&q), 0);
	last(&q, 100);
	ack(&q, 100);
	trace_run(50 * MS);
	assert_int_equal(rig.acts[HP3_ACT_TRACE], 0);
	peer_alive(&q);
	trace_run(50 * MS);
	assert_int_not_equal(rig.acts[HP3_ACT_TRACE], 0);
	for (unsigned i = 0; i < 3; i++) {
		trace_config();
		rig.cfg.trace = i != 0;
		rig.cfg.moves_allowed = i != 1;
		trace_begin();
		if (i == 2) /* rule 17 */
			fragment(HP3_DIR_TX, &q);
		trace_run(50 * MS);
		assert_int_equal(rig.acts[HP3_ACT_TRACE], 0);
	}
}

static void the_rate_is_kept(void **state)
{
	trace_config();
	rig.cfg.traces = (struct hp3_limit){50, 1};
	trace_begin();
	trace_run(2000 * MS);
	assert_in_range(rig.acts[HP3_ACT_TRACE], 60, 101);
}

/* A hash modulo 3 is not linear: what was traced is told, the rest is not guessed. */
static void no_linear_map_no_prediction(void **state)
{
	uint32_t known = 0;

	trace_config();
	net.spines = 3;
	trace_begin();
	trace_run(300 * MS);
	assert_int_equal(pair_info(&q).tracing, HP3_TRACE_TRACES);
	assert_int_equal(pair_info(&q).identity, HP3_IDENTITY_TRACE);
	assert_int_not_equal(pair_info(&q).reason, HP3_LINEAR_WHY_NONE);
	assert_int_equal(stats()->trace_refused, 1);
	for (uint32_t port = HP3_PORT_FIRST; port <= UINT16_MAX; port++) {
		uint32_t spine = spine_reported(&q, (uint16_t)port);

		known += spine != 0;
		assert_true(spine == 0 || spine == spine_of(&q, (uint16_t)port, q.rqpn));
	}
	assert_in_range(known, HP3_DEPTH_PORTS, HP3_TRACES);
}

/* TRACES: a port that comes into use is traced soon. */
static void ports_in_use_are_traced(void **state)
{
	struct qp other = make_qp(1);

	trace_config();
	net.spines = 3;
	trace_begin();
	trace_run(300 * MS);
	for (other.home = 50000; spine_reported(&q, other.home) != 0; other.home++)
		;
	assert_int_equal(set_up(&other), 0);
	net.ends[net.nends++] = &other;
	last(&other, 100);
	last(&other, 101);
	trace_run(RECHECK / 8);
	assert_int_equal(spine_reported(&q, other.home), spine_of(&q, other.home, q.rqpn));
}

static void a_pair_behind_the_same_switch_is_a_shift(void **state)
{
	struct qp other = make_qp(1);

	trace_config();
	trace_begin();
	trace_run(300 * MS);
	other.remote[3] = 77;
	net.ends[net.nends++] = &other;
	net.answered = 1;
	speak(&other, 7);
	trace_run(100 * MS);
	expect_all_reported(&other);
	/* The same hash of other addresses is the same map, shifted. */
	assert_int_equal(net.answered, 1 + HP3_DEPTH_PORTS + 8);
	expect_all_reported(&q);
}

/* --- what is not --- */

static void where_nothing_names_a_path_the_port_is_the_path(void **state)
{
	for (unsigned i = 0; i < 6; i++) {
		rig_setup(state);
		trace_config();
		net.silent = i == 0;
		net.deaf = i == 1 ? 2 : 0; /* one of four */
		net.odd = i == 2;
		net.drunk = i == 3;
		net.flat = i == 4;
		net.spines = i == 5 ? 1 : 4;
		trace_begin();
		trace_run(600 * MS);
		expect_none_reported(&q);
		assert_int_equal(stats()->trace_nothing, 1);
		/* Switches may be told to answer. */
		net = (struct fabric){.spines = 4, .seed = 0xbeef};
		trace_run(RECHECK + 300 * MS);
		expect_all_reported(&q);
	}
}

static void traces_that_are_never_told_of(void **state)
{
	trace_config();
	trace_begin();
	for (unsigned i = 0; i < 600; i++)
		pass_time(MS);
	expect_none_reported(&q);
	assert_int_equal(stats()->trace_sent, 2 * (HP3_DEPTH_MISSING + 1) * HP3_DEPTH_TRIES);
}

static void an_answer_that_nobody_asked_for(void **state)
{
	const uint8_t hop[16] = {10, 8, 2, 9};

	trace_config();
	trace_begin();
	trace_run(300 * MS);
	for (uint32_t id = 0; id < 1000; id++)
		hp3_hop_reported(rig.e, id * 4999u, HP3_TRACE_HOP, false, hop, rig.now);
	expect_all_reported(&q);
}

/* --- operators --- */

static void ports_that_an_operator_names(void **state)
{
	struct hp3_trace_answer answers[HP3_TRACE_WANTED];
	uint16_t port[HP3_TRACE_WANTED];
	uint32_t missing;

	trace_config();
	trace_begin();
	for (uint32_t i = 0; i < HP3_TRACE_WANTED; i++)
		port[i] = (uint16_t)(60000 + i);
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 0, port, 3, rig.now), -ENODATA);
	trace_run(300 * MS);
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 0, port, HP3_TRACE_WANTED, rig.now),
		HP3_TRACE_WANTED);
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 0, port, 1, rig.now), -EBUSY);
	assert_int_equal(hp3_trace_answers(rig.e, answers, &missing), HP3_TRACE_WANTED);
	assert_int_equal(missing, HP3_TRACE_WANTED);
	trace_run(100 * MS);
	hp3_trace_answers(rig.e, answers, &missing);
	assert_int_equal(missing, 0);
	for (uint32_t i = 0; i < HP3_TRACE_WANTED; i++) {
		assert_int_equal(answers[i].port, port[i]);
		assert_int_equal(answers[i].outcome, HP3_TRACE_HOP);
		assert_int_equal(answers[i].hop[3], spine_of(&q, port[i], q.rqpn));
	}
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 1, port, 1, rig.now), 1);
	trace_run(10 * MS);
	assert_int_equal(hp3_trace_answers(rig.e, answers, &missing), 1);
	assert_int_equal(answers[0].hop[2], 1); /* the leaf */
	assert_int_equal(hp3_trace_ask(rig.e, 999, 1, port, 1, rig.now), -ENOENT);
	assert_int_equal(hp3_trace_ask(rig.e, flow_of(&q), 2, port, 2, rig.now), 2);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(hp3_trace_answers(rig.e, answers, &missing), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_few_traces_tell_all_ports),
		RIG_TEST(with_ipv6_too),
		RIG_TEST(rule_01_a_trace_bears_an_old_psn),
		RIG_TEST(rule_02_only_where_an_hp3d_answers),
		RIG_TEST(the_rate_is_kept),
		RIG_TEST(no_linear_map_no_prediction),
		RIG_TEST(ports_in_use_are_traced),
		RIG_TEST(a_pair_behind_the_same_switch_is_a_shift),
		RIG_TEST(where_nothing_names_a_path_the_port_is_the_path),
		RIG_TEST(traces_that_are_never_told_of),
		RIG_TEST(an_answer_that_nobody_asked_for),
		RIG_TEST(ports_that_an_operator_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
