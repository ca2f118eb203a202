/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records from others' announcements: peers' reports and offers, local processes by the library's
 * watcher. They have a share of the table and a quota per address pair, and are evicted first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

#define FLOWS 128u
#define PAIRS 32u
#define QUOTA 16u

static int announced_setup(void **state)
{
	rig_setup(state);
	stall_config();
	rig.cfg.max_flows = FLOWS;
	rig.cfg.max_pairs = PAIRS;
	rig_configure();
	return 0;
}

#define ANNOUNCED_TEST(name) cmocka_unit_test_setup_teardown(name, announced_setup, rig_teardown)

/* Queue pair i of peer k. */
static struct qp qp_of(unsigned k, unsigned i)
{
	struct qp p = make_qp(i);

	p.remote[3] = (uint8_t)(10 + k);
	return p;
}

static int report(const struct qp *p)
{
	struct hp3_acts acts = {0};

	return hp3_peer_report(rig.e, HP3_ENDS(p), p->rqpn, rig.now, &acts);
}

static int library(const struct qp *p, enum hp3_qp_kind kind, uint32_t owner, uint32_t first)
{
	return report_event(p, &(struct hp3_qp_event){.kind = (uint8_t)kind,
				       .source = HP3_QP_SOURCE_LIBRARY,
				       .psn = first,
				       .psn_known = true,
				       .owner = owner});
}

/* As many peers as it takes. */
static void fill_by_reports(void)
{
	for (unsigned k = 0; k < PAIRS; k++)
		for (unsigned i = 0; i < 2 * QUOTA; i++) {
			struct qp p = qp_of(k, i);

			report(&p);
		}
}

static void a_peer_has_a_quota(void **state)
{
	struct qp p;

	for (unsigned i = 0; i < 3 * QUOTA; i++) {
		p = qp_of(0, i);
		assert_int_equal(report(&p), i < QUOTA ? 0 : -ENOSPC);
	}
	assert_int_equal(hp3_engine_flows(rig.e), QUOTA);
	assert_int_equal(stats()->announced_refused, 2 * QUOTA);
	p = qp_of(1, 0); /* others have theirs */
	assert_int_equal(report(&p), 0);
	p = qp_of(0, 0); /* a record that is there is used */
	pass_time(10 * MS);
	assert_int_equal(report(&p), 0);
}

static void a_process_has_another_one(void **state)
{
	struct qp p;

	for (unsigned i = 0; i < 2 * QUOTA; i++) {
		p = qp_of(0, i);
		assert_int_equal(library(&p, HP3_QP_UP, 7, 0), i < QUOTA ? 0 : -ENOSPC);
	}
	p = qp_of(0, 100);
	assert_int_equal(report(&p), 0);
}

static void half_of_the_table_is_never_theirs(void **state)
{
	fill_by_reports();
	assert_int_equal(hp3_engine_flows(rig.e), FLOWS / 2);
	assert_int_equal(stats()->flows_full, 0);
	for (unsigned i = 0; i < FLOWS / 2; i++) {
		q = qp_of(100, i);
		assert_int_equal(set_up(&q), 0);
	}
	assert_int_equal(stats()->announced_dropped, 0);
}

/* Neither do they keep a queue pair of ours out, which is set up or just sends. */
static void they_are_the_first_to_go(void **state)
{
	fill_by_reports();
	for (unsigned i = 0; i < FLOWS; i++) {
		q = qp_of(100, i);
		if (i % 2)
			assert_int_equal(set_up(&q), 0);
		else
			assert_int_equal(middle(&q, 1), HP3_PASS);
		assert_int_not_equal(flow_of(&q), HP3_NO_FLOW);
	}
	assert_int_equal(stats()->announced_dropped, FLOWS / 2);
	assert_int_equal(stats()->flows_full, 0);
	q = qp_of(0, 0);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	assert_int_equal(report(&q), -ENOSPC);
	assert_int_equal(stats()->flows_full, 1);
}

/* The same for address pairs. */
static void nor_pairs(void **state)
{
	for (unsigned k = 0; k < 2 * PAIRS; k++) {
		q = qp_of(k, 0);
		report(&q);
	}
	assert_int_equal(hp3_engine_flows(rig.e), PAIRS / 2);
	for (unsigned k = 0; k < PAIRS; k++) {
		q = qp_of(100 + k, 0);
		assert_int_equal(middle(&q, 1), HP3_PASS);
		assert_int_not_equal(flow_of(&q), HP3_NO_FLOW);
	}
	assert_int_equal(stats()->announced_dropped, PAIRS / 2);
	assert_int_equal(stats()->pairs_full, 0);
}

/* Whose queue pair sends, or is set up by its own host, stays. */
static void who_sends_is_no_more_among_them(void **state)
{
	struct qp sends = qp_of(0, 0), up = qp_of(0, 1);

	assert_int_equal(report(&sends), 0);
	assert_int_equal(report(&up), 0);
	middle(&sends, 1);
	assert_int_equal(set_up(&up), 0);
	fill_by_reports();
	for (unsigned i = 0; i < FLOWS - 2; i++) {
		q = qp_of(100, i);
		assert_int_equal(set_up(&q), 0);
	}
	assert_int_not_equal(flow_of(&sends), HP3_NO_FLOW);
	assert_int_not_equal(flow_of(&up), HP3_NO_FLOW);
	q = qp_of(100, FLOWS);
	assert_int_equal(set_up(&q), -ENOSPC);
}

/* A report that changes nothing leaves no record behind. */
static void what_is_refused_makes_no_record(void **state)
{
	q = qp_of(0, 0);
	rig.cfg.filter.dscp = 0;
	rig_configure();
	assert_int_equal(report(&q), 0);
	fragment(HP3_DIR_TX, &q);
	q = qp_of(0, 1);
	assert_int_equal(report(&q), -EPERM);
	assert_int_equal(hp3_engine_flows(rig.e), 1);
}

/* --- what the library's watcher says --- */

static void it_pairs_nobody(void **state)
{
	struct qp other;

	q = qp_of(0, 0);
	assert_int_equal(library(&q, HP3_QP_UP, 7, 100), 0);
	assert_false(info(&q).paired);
	other = q;
	other.lqpn++;
	assert_int_equal(library(&other, HP3_QP_DOWN, 7, 100), 0); /* another queue pair */
	assert_int_equal(library(&q, HP3_QP_DOWN, 8, 100), 0); /* another process */
	assert_int_not_equal(flow_of(&q), HP3_NO_FLOW);
	assert_int_equal(library(&q, HP3_QP_DOWN, 7, 100), 0);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	assert_int_equal(stats()->setups_ignored, 2);
}

/* What the kernel or connection management tells counts more, before and after. */
static void who_knows_counts_more(void **state)
{
	q = qp_of(0, 0);
	assert_int_equal(library(&q, HP3_QP_UP, 7, 100), 0);
	assert_int_equal(set_up_at(&q, 200), 0);
	assert_true(info(&q).paired);
	assert_int_equal(library(&q, HP3_QP_UP, 7, 300), 0);
	assert_int_equal(library(&q, HP3_QP_DOWN, 7, 300), 0);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).una, 200);
	assert_int_equal(stats()->setups_ignored, 2);
}

/* In mid-hold, moved, at rest: nothing that it says changes a flow which has sent. */
static void rule_16_it_ends_no_traffic(void **state)
{
	draining(3);
	for (unsigned n = 0; n < 4; n++) {
		struct qp said = q;

		said.lqpn += n & 1;
		assert_int_equal(library(&said, HP3_QP_UP, 7, 100 + (n & 2)), 0);
		assert_int_equal(library(&said, HP3_QP_DOWN, 7, 100 + (n & 2)), 0);
	}
	assert_int_equal(rig.held, 3);
	assert_int_equal(rig.discarded + (uint32_t)stats()->epochs, 0);
	ack(&q, 100);
	assert_int_equal(rig.held, 0);
	ack(&q, 103);
	pass_time(500 * MS);
	assert_int_equal(library(&q, HP3_QP_UP, 7, 5), 0);
	assert_int_equal(library(&q, HP3_QP_DOWN, 7, 5), 0);
	assert_true(info(&q).paired && info(&q).moved);
	middle(&q, 104);
	expect_left(rig.nwire - 1, 104, NEW_PORT, false);
}

/* --- a path before the first packet --- */

static void placed_by(enum hp3_qp_source who, uint32_t first)
{
	probing_config();
	rig.cfg.setup_probing = true;
	rig_configure();
	q = qp_of(0, 0);
	peer_alive(&q);
	report_event(&q, &(struct hp3_qp_event){.kind = HP3_QP_UP,
				 .source = (uint8_t)who,
				 .psn = first,
				 .psn_known = true});
	peer_alive(&q);
	report_event(&q, &(struct hp3_qp_event){.kind = HP3_QP_UP,
				 .source = (uint8_t)who,
				 .psn = first + 1,
				 .psn_known = true});
	assert_int_not_equal(rig.nprobes, 0);
	probe_reply(0, false);
	pass_time(100 * MS);
}

static void whoever_tells_a_path_is_found(void **state)
{
	placed_by(HP3_QP_SOURCE_LIBRARY, 99);
	assert_true(info(&q).moved);
	assert_false(info(&q).paired);
	middle(&q, 100);
	expect_left(rig.nwire - 1, 100, info(&q).port, false);
	assert_int_not_equal(info(&q).port, q.home);
}

/*
 * A stream that passes unseen, or unknown for want of room, is told of as if it were just set up:
 * it does not begin with that PSN, and stays where it is.
 */
static void rule_16_a_stream_that_is_under_way_is_not_placed(void **state)
{
	static const enum hp3_qp_source who[] = {HP3_QP_SOURCE_LIBRARY, HP3_QP_SOURCE_KERNEL};

	for (unsigned i = 0; i < 2; i++) {
		rig_setup(NULL);
		placed_by(who[i], 99);
		assert_true(info(&q).moved);
		middle(&q, 7000);
		expect_left(rig.nwire - 1, 7000, q.home, false);
		assert_false(info(&q).moved || info(&q).paired);
		assert_int_equal(hp3_engine_moved(rig.e), 0);
		/* Who keeps ports for others (fail-open, the next hp3d) hears of it. */
		assert_int_equal(rig.newest[HP3_EVENT_IDLE_SWITCH].to, q.home);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANNOUNCED_TEST(a_peer_has_a_quota),
		ANNOUNCED_TEST(a_process_has_another_one),
		ANNOUNCED_TEST(half_of_the_table_is_never_theirs),
		ANNOUNCED_TEST(they_are_the_first_to_go),
		ANNOUNCED_TEST(nor_pairs),
		ANNOUNCED_TEST(who_sends_is_no_more_among_them),
		ANNOUNCED_TEST(what_is_refused_makes_no_record),
		RIG_TEST(it_pairs_nobody),
		RIG_TEST(who_knows_counts_more),
		RIG_TEST(rule_16_it_ends_no_traffic),
		RIG_TEST(whoever_tells_a_path_is_found),
		RIG_TEST(rule_16_a_stream_that_is_under_way_is_not_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
