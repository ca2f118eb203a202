/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows with packets in flight: checked in turn, counted on their paths, refreshing them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/pass/pass.h"
#include "ppp/paths_internal.h"
#include "scene.h"

/* --- white box: what no interface tells --- */

static struct hp3_paths *paths(void)
{
	return hp3_paths_of(rig.e, rig.e->flows[flow_of(&q)].pair);
}

static uint32_t flows_on(uint16_t port)
{
	return hp3_paths_flows_on(paths(), hp3_paths_id(paths(), port, q.rqpn), q.rqpn);
}

static enum hp3_quality quality_of(uint16_t port)
{
	return hp3_paths_quality(paths(), hp3_paths_get(paths(), port, q.rqpn, rig.now), rig.now);
}

static uint32_t armed(void)
{
	return rig.e->active_n;
}

/* --- the ring --- */

static void a_packet_that_asks_makes_active(void **state)
{
	stall_config();
	probing_engine();
	assert_int_equal(armed(), 0);
	middle(&q, psn++);
	assert_int_equal(armed(), 0); /* nothing will be answered: nothing to wait for */
	last(&q, psn++);
	last(&q, psn++);
	assert_int_equal(armed(), 1); /* once */
	steps(2 * STALL);
	assert_int_equal(armed(), 1);
	ack(&q, psn - 1);
	steps(2 * STALL);
	assert_int_equal(armed(), 0);
	read_request(&q, psn++, PMTU);
	assert_int_equal(armed(), 1);
}

/* Its first response proves that the request arrived, but is not all that is waited for. */
static void a_read_is_active_to_its_last_response(void **state)
{
	stall_config();
	probing_engine();
	read_request(&q, psn, 3 * PMTU);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, psn, PMTU);
	steps(2 * STALL);
	assert_int_equal(armed(), 1);
	read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, psn + 1, PMTU);
	read_response(&q, HP3_OP_RC_READ_RESP_LAST, psn + 2, PMTU);
	steps(2 * STALL);
	assert_int_equal(armed(), 0);
}

static void a_retransmission_makes_active(void **state)
{
	stall_config();
	probing_engine();
	middle(&q, psn);
	middle(&q, psn);
	assert_int_equal(armed(), 1);
}

static void a_flow_that_is_gone_leaves_the_ring(void **state)
{
	stall_config();
	probing_engine();
	last(&q, psn++);
	assert_int_equal(tear_down(&q), 0);
	steps(2 * STALL);
	assert_int_equal(armed(), 0);
}

/* The record is used again before the ring has come to the one before: one entry serves both. */
static void a_record_used_again_is_in_the_ring_once(void **state)
{
	struct qp other = make_qp(1);

	stall_config();
	rig.cfg.max_flows = 1;
	probing_engine();
	for (unsigned i = 0; i < 20; i++) {
		last(&q, psn++);
		assert_int_equal(tear_down(&q), 0);
		assert_int_equal(set_up(&other), 0);
		last(&other, 7);
		assert_int_equal(armed(), 1);
		assert_int_equal(tear_down(&other), 0);
		assert_int_equal(set_up(&q), 0);
	}
	steps(2 * STALL);
	assert_int_equal(armed(), 0);
	last(&q, psn++);
	assert_int_equal(armed(), 1);
}

/* The stall of the queue pair before is not that of the one which has its record now. */
static void a_record_used_again_has_its_own_time(void **state)
{
	stall_config();
	rig.cfg.max_flows = 1;
	probing_engine();
	last(&q, 100);
	steps(STALL - 100 * US);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up(&q), 0);
	last(&q, 99);
	ack(&q, 99);
	last(&q, 100); /* the same PSN is the oldest in flight */
	steps(STALL / 2);
	assert_int_equal(rig.nprobes, 0);
	steps(2 * STALL);
	assert_true(rig.nprobes >= ASKED);
}

static void an_epoch_leaves_the_ring(void **state)
{
	stall_config();
	probing_engine();
	last(&q, psn++);
	middle(&q, psn + 4000);
	assert_false(info(&q).paired);
	steps(2 * STALL);
	assert_int_equal(armed(), 0);
}

/* More flows than one call looks at: all of them are seen in time. */
static void many_flows_take_turns(void **state)
{
	stall_config();
	rig.cfg.candidates = 1;
	rig.cfg.max_moves = 1;
	probing_engine();
	for (unsigned i = 0; i < 40; i++) {
		struct qp other = make_qp(i);

		if (i > 0)
			assert_int_equal(set_up(&other), 0);
		last(&other, 7);
		ack(&other, 7);
	}
	assert_int_equal(armed(), 40);
	for (unsigned i = 0; i < 40; i++) /* within a look's period, gaps of 20 us between eight */
		pass_time(20 * US);
	assert_int_equal(armed(), 0);
	assert_int_equal(rig.nprobes, 0);
}

/* --- counts per path --- */

static void active_flows_count_on_their_path(void **state)
{
	struct qp other = make_qp(1);

	stall_config();
	probing_engine();
	other.home = q.home;
	assert_int_equal(set_up(&other), 0);
	last(&q, psn++);
	assert_int_equal(flows_on(q.home), 1);
	last(&other, 7);
	assert_int_equal(flows_on(q.home), 2);
	ack(&other, 7);
	steps(2 * STALL);
	assert_int_equal(flows_on(q.home), 1);
	assert_int_equal(tear_down(&other), 0);
	assert_int_equal(flows_on(q.home), 1);
	ack(&q, psn - 1);
	steps(2 * STALL);
	assert_int_equal(flows_on(q.home), 0);
}

static void a_move_takes_its_count_along(void **state)
{
	stall_config();
	probing_engine();
	last(&q, psn++);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(flows_on(q.home), 1);
	ack(&q, psn - 1);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_int_equal(flows_on(q.home), 0);
	assert_int_equal(flows_on(NEW_PORT), 1);
	steps(2 * STALL);
	assert_int_equal(flows_on(NEW_PORT), 0);
	exchange(false);
	steps(2 * STALL);
	assert_int_equal(move(&q, 61000), 0); /* idle: counts nowhere */
	assert_int_equal(info(&q).port, 61000);
	assert_int_equal(flows_on(61000), 0);
	last(&q, psn++);
	assert_int_equal(flows_on(61000), 1);
}

/* --- what data says of a path --- */

/* Data comes through, and something stays in flight. */
static void carry(unsigned cycles, bool marked)
{
	rig.nwire = 0;
	for (unsigned i = 0; i < cycles; i++) {
		struct hp3_fields f = {.opcode = HP3_OP_RC_ACK, .becn = marked, .psn = psn};

		last(&q, psn++);
		middle(&q, psn++);
		pass_time(RTT);
		response(&q, &f);
		pass_time(CYCLE);
	}
}

static void data_refreshes_the_path_table(void **state)
{
	stall_config();
	rig.cfg.stall_ns = 0; /* looked at all the same */
	probing_engine();
	assert_int_equal(quality_of(q.home), HP3_QUALITY_UNKNOWN);
	carry(50, false);
	assert_int_equal(quality_of(q.home), HP3_QUALITY_GOOD);
	rig_allow_moves(false);
	carry(100, true);
	assert_int_equal(quality_of(q.home), HP3_QUALITY_CONGESTED);
}

static void what_nobody_uses_gets_old(void **state)
{
	stall_config();
	probing_engine();
	carry(20, false);
	assert_int_equal(quality_of(q.home), HP3_QUALITY_GOOD);
	ack(&q, psn - 1);
	steps(2 * STALL);
	pass_time(rig.cfg.paths.fresh_ns);
	assert_int_equal(quality_of(q.home), HP3_QUALITY_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_packet_that_asks_makes_active),
		RIG_TEST(a_read_is_active_to_its_last_response),
		RIG_TEST(a_retransmission_makes_active),
		RIG_TEST(a_flow_that_is_gone_leaves_the_ring),
		RIG_TEST(a_record_used_again_is_in_the_ring_once),
		RIG_TEST(a_record_used_again_has_its_own_time),
		RIG_TEST(an_epoch_leaves_the_ring),
		RIG_TEST(many_flows_take_turns),
		RIG_TEST(active_flows_count_on_their_path),
		RIG_TEST(a_move_takes_its_count_along),
		RIG_TEST(data_refreshes_the_path_table),
		RIG_TEST(what_nobody_uses_gets_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
