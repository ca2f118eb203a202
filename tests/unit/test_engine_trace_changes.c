/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Path identity by traces when it becomes invalid: routes change, switches turn out to hash the
 * queue pair number, pairs come and go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/paths/paths.h"
#include "trace_fabric.h"

/* --- belief ends --- */

static void routes_change(void **state)
{
	trace_config();
	trace_begin();
	trace_run(300 * MS);
	expect_all_reported(&q);
	do { /* not any seed leads elsewhere */
		net.seed++;
	} while (spine_of(&q, 50000, q.rqpn) == spine_reported(&q, 50000));
	trace_run(RECHECK + 300 * MS);
	assert_int_equal(stats()->trace_wrong, 1);
	expect_all_reported(&q);
	net.spines = 3;
	trace_run(RECHECK + 300 * MS);
	assert_int_equal(pair_info(&q).tracing, HP3_TRACE_TRACES);
	net.spines = 4;
	trace_run(2 * RECHECK);
	expect_all_reported(&q);
	net.silent = true;
	trace_run(RECHECK + 300 * MS);
	expect_none_reported(&q);
}

static void a_single_lie_is_not_believed(void **state)
{
	trace_config();
	trace_begin();
	trace_run(300 * MS);
	net.lies = 1;
	trace_run(RECHECK + 100 * MS);
	assert_int_equal(net.lies, 0);
	assert_int_equal(stats()->trace_wrong, 0);
	expect_all_reported(&q);
}

static void a_failed_path_brings_the_check_forward(void **state)
{
	trace_config();
	trace_begin();
	trace_run(300 * MS);
	net.answered = 1;
	hp3_trace_anew(rig.e, 0, rig.now);
	trace_run(rig.cfg.paths.retry_ns / 2);
	assert_int_equal(net.answered, 1);
	trace_run(rig.cfg.paths.retry_ns);
	assert_int_equal(net.answered, 1 + HP3_TRACE_CHECKS);
}

/* --- rule 18: switches that hash the queue pair number --- */

static void rule_18_paths_are_keyed_by_the_qpn(void **state)
{
	struct qp other = make_qp(1);

	trace_config();
	net.qpn = true;
	trace_begin();
	trace_run(300 * MS);
	expect_all_reported(&q); /* it is the only one: who could tell? */
	net.ends[net.nends++] = &other;
	speak(&other, 7);
	trace_run(100 * MS);
	assert_int_equal(pair_info(&q).tracing, HP3_TRACE_BY_QPN);
	assert_int_equal(pair_info(&q).identity, HP3_IDENTITY_NONE);
	assert_int_equal(stats()->trace_by_qpn, 1);
	net.answered = 1;
	trace_run(3 * RECHECK);
	assert_int_equal(net.answered, 1);
}

static void other_queue_pairs_draw_the_same_where_it_is_not_hashed(void **state)
{
	struct qp other = make_qp(1);

	trace_config();
	trace_begin();
	net.ends[net.nends++] = &other;
	speak(&other, 7);
	trace_run(300 * MS);
	expect_all_reported(&q);
	expect_all_reported(&other);
	assert_int_equal(stats()->trace_by_qpn, 0);
}

/* --- life of a pair --- */

static void a_pair_that_is_gone_is_forgotten(void **state)
{
	trace_config();
	trace_begin();
	trace_run(30 * MS); /* in the middle of a search, a trace perhaps under way */
	assert_int_equal(tear_down(&q), 0);
	trace_run(50 * MS);
	speak(&q, 200);
	trace_run(300 * MS);
	expect_all_reported(&q);
	assert_int_equal(tear_down(&q), 0);
	net.answered = 1;
	speak(&q, 300);
	trace_run(100 * MS);
	expect_all_reported(&q);
	/* the map was kept; behind the sample eight of it with another opcode */
	assert_int_equal(net.answered, 1 + HP3_DEPTH_PORTS + 8);
}

static void more_kinds_of_maps_than_there_is_room_for(void **state)
{
	struct qp more[HP3_TRACE_MAPS - 1];
	uint32_t linear = 0;

	trace_config();
	rig.cfg.max_pairs = 16;
	trace_begin();
	trace_run(300 * MS);
	for (uint32_t i = 0; i < HP3_TRACE_MAPS - 1; i++) {
		more[i] = make_qp(1 + i);
		more[i].remote[3] = (uint8_t)(10 + i);
		net.ends[net.nends++] = &more[i];
		net.seed += 0x1111111; /* another switch between each two */
		net.by_interface = i & 1;
		speak(&more[i], 7);
		trace_run(300 * MS);
		linear += pair_info(&more[i]).tracing == HP3_TRACE_LINEAR;
		expect_all_reported(&more[i]);
	}
	assert_int_equal(linear, HP3_TRACE_MAPS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(routes_change),
		RIG_TEST(a_single_lie_is_not_believed),
		RIG_TEST(a_failed_path_brings_the_check_forward),
		RIG_TEST(rule_18_paths_are_keyed_by_the_qpn),
		RIG_TEST(other_queue_pairs_draw_the_same_where_it_is_not_hashed),
		RIG_TEST(a_pair_that_is_gone_is_forgotten),
		RIG_TEST(more_kinds_of_maps_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
