/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of queue pairs that may be late (rule 16): the next packet shows whether the stream
 * continues, or a time without packets does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "scene.h"
#include "probes/agree.h"

#define LARGE 4096u
#define FIRST 100u
#define PAUSE (201 * MS) /* without a packet */

/* Sprayed, with packets in flight or none. */
static void sprayed(bool in_flight)
{
	struct hp3_acts acts = {.n = 0};
	struct hp3_agree ask;

	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4,
		.evs = 8,
		.bytes = LARGE,
		.keepalive_ns = MS,
		.wait_ns = MS,
		.setup = true,
		.alike = 150,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig.cfg.idle_age_ns = 60000 * MS;
	rig_configure();
	q = make_qp(0);
	psn = FIRST;
	assert_int_equal(set_up_at(&q, psn), 0);
	pass_time(1);
	assert_int_equal(rig.other.kind, HP3_ACT_AGREE);
	ask = rig.other.agree.what;
	ask.kind = HP3_AGREE_YES;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &ask, rig.now, &acts);
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_FIRST,
			    .psn = psn++,
			    .dma_len = 64 * LARGE,
			    .payload = (const uint8_t[PMTU]){0},
			    .payload_len = PMTU});
	assert_int_not_equal(rig.vd.sport, q.home);
	for (unsigned i = 0; i < 40; i++)
		middle(&q, psn++);
	if (!in_flight)
		ack(&q, psn - 1);
}

/* A queue pair is reset and connected anew, with the same numbers and the same first PSN. */
static void again(bool in_flight, bool sends)
{
	sprayed(in_flight);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&q, FIRST), 0);
	assert_true(info(&q).paired);
	if (sends)
		middle(&q, FIRST);
	for (unsigned i = 0; i < 5; i++)
		pass_time(MS);
	assert_true(info(&q).paired);
	rests();
	assert_true(info(&q).paired);
}

static void rule_35_the_next_one_begins_at_the_same_psn(void **state)
{
	again(true, true);
	assert_int_equal(rig_setup(state), 0);
	again(false, true);
}

static void rule_35_the_next_one_is_silent_at_first(void **state)
{
	again(true, false);
	assert_int_equal(rig_setup(state), 0);
	again(false, false);
}

/* End and set-up come late: the stream goes on, paired. */
static void rule_35_late_events_of_the_same_psn(void **state)
{
	sprayed(true);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&q, FIRST), 0);
	middle(&q, psn++);
	for (unsigned i = 0; i < 5; i++)
		pass_time(MS);
	assert_true(info(&q).paired);
	assert_int_equal(stats()->epochs, 0);
}

static void rule_16_a_late_end_leaves_the_port(void **state)
{
	uint32_t next = moved_and_sending();

	assert_int_equal(tear_down(&q), 0);
	middle(&q, next);
	expect_left(rig.nwire - 1, next, NEW_PORT, false);
	rests();
	assert_true(info(&q).paired);
	assert_true(info(&q).moved);
}

/* What a move holds leaves behind the closing packet, in order. */
static void rule_16_a_late_end_discards_nothing(void **state)
{
	draining(3);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(middle(&q, 104), HP3_HOLD);
	ack(&q, 100);
	assert_int_equal(rig.held + rig.discarded, 0);
	for (uint32_t i = 0; i < 4; i++)
		expect_left(rig.nwire - 4 + i, 101 + i, NEW_PORT, false);
	assert_true(info(&q).paired);
}

static void rule_16_another_psn_proves_the_end(void **state)
{
	draining(3);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(middle(&q, 5000), HP3_PASS);
	assert_int_equal(rig.discarded, 3);
	assert_false(info(&q).paired);
}

static void rule_16_time_proves_the_end(void **state)
{
	moved_and_sending();
	assert_int_equal(tear_down(&q), 0);
	pass_time(PAUSE / 2);
	assert_int_not_equal(flow_of(&q), HP3_NO_FLOW);
	rests();
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

/* Its local QPN may be another one: it has the flow once the end is proved. */
static void rule_16_the_next_one_was_set_up_meanwhile(void **state)
{
	struct qp other;

	moved_and_sending();
	other = q;
	other.lqpn += 7;
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&other, 7000), 0);
	rests();
	assert_true(info(&other).paired);
	assert_int_equal(info(&other).lqpn, other.lqpn);
	assert_int_equal(middle(&other, 7000), HP3_PASS);
	assert_true(info(&other).paired);
}

/* Nobody knows its first PSN: it has the flow once a packet proves that the former one ended. */
static void rule_16_the_next_one_begins_anywhere(void **state)
{
	moved_and_sending();
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(middle(&q, 7000), HP3_PASS);
	assert_true(info(&q).paired);
	assert_int_equal(stats()->epochs, 1);
}

/* ... and not if a packet shows that the stream goes on. */
static void rule_16_a_late_setup_without_a_psn(void **state)
{
	uint32_t next = moved_and_sending();

	assert_int_equal(set_up(&q), 0);
	middle(&q, next);
	expect_left(rig.nwire - 1, next, NEW_PORT, false);
	assert_int_equal(middle(&q, 7000), HP3_PASS);
	assert_false(info(&q).paired);
}

/* Its path is dead, which is why it ends: hp3d holds nothing for it any more. */
static void rule_16_an_end_on_a_dead_path_is_carried_out(void **state)
{
	stall_config();
	stalled();
	path_dies();
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

/* All was acknowledged: nothing is put off. */
static void rule_16_an_end_at_rest_is_carried_out(void **state)
{
	uint32_t next = moved_and_sending();

	ack(&q, next - 1);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

/* hp3d was descheduled for longer than a pause: what a move held leaves only now. */
static void rule_16_held_packets_have_just_left(void **state)
{
	uint32_t next = moved_and_sending(), port;

	assert_int_equal(move(&q, 61000), 0);
	last(&q, next++);
	for (unsigned i = 0; i < 3; i++)
		middle(&q, next++);
	assert_int_equal(rig.held, 3);
	pass_time(240 * MS);
	assert_int_equal(rig.held, 0);
	port = rig.wire[rig.nwire - 1].port;
	assert_int_equal(tear_down(&q), 0);
	middle(&q, next);
	assert_int_equal(rig.wire[rig.nwire - 1].port, port);
}

/* READ responses leave by another port than the RNIC's: some may be on their way. */
static void rule_16_a_late_end_leaves_replies_where_they_are(void **state)
{
	struct hp3_acts acts = {0};
	uint16_t port;

	stall_config();
	probing_engine();
	exchange(false);
	assert_int_equal(hp3_peer_report(rig.e, HP3_ENDS(&q), q.rqpn, rig.now, &acts), 0);
	port = info(&q).replies;
	assert_int_not_equal(port, q.home);
	request(&q, &(struct hp3_fields){
			    .opcode = HP3_OP_RC_READ_RESP_FIRST, .psn = 7, .payload_len = PMTU});
	assert_int_equal(rig.wire[rig.nwire - 1].port, port);
	assert_int_equal(tear_down(&q), 0);
	request(&q, &(struct hp3_fields){
			    .opcode = HP3_OP_RC_READ_RESP_MIDDLE, .psn = 8, .payload_len = PMTU});
	assert_int_equal(rig.wire[rig.nwire - 1].port, port);
	rests();
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

/* Whoever sends them, and whether they are sound or not. */
static void rule_16_replies_to_nothing_keep_no_ended_flow(void **state)
{
	moved_and_sending();
	assert_int_equal(tear_down(&q), 0);
	for (unsigned i = 0; i < 100; i++) {
		ack(&q, 3);
		pass_time(50 * MS);
	}
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_35_the_next_one_begins_at_the_same_psn),
		RIG_TEST(rule_35_the_next_one_is_silent_at_first),
		RIG_TEST(rule_35_late_events_of_the_same_psn),
		RIG_TEST(rule_16_a_late_end_leaves_the_port),
		RIG_TEST(rule_16_a_late_end_discards_nothing),
		RIG_TEST(rule_16_another_psn_proves_the_end),
		RIG_TEST(rule_16_time_proves_the_end),
		RIG_TEST(rule_16_the_next_one_was_set_up_meanwhile),
		RIG_TEST(rule_16_the_next_one_begins_anywhere),
		RIG_TEST(rule_16_a_late_setup_without_a_psn),
		RIG_TEST(rule_16_an_end_on_a_dead_path_is_carried_out),
		RIG_TEST(rule_16_an_end_at_rest_is_carried_out),
		RIG_TEST(rule_16_held_packets_have_just_left),
		RIG_TEST(rule_16_a_late_end_leaves_replies_where_they_are),
		RIG_TEST(rule_16_replies_to_nothing_keep_no_ended_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
