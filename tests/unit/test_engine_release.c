/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets held for a missing one are released in pieces (docs/internals/spray.md). Packets that
 * arrive meanwhile keep their place, however the rest leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "probes/agree.h"
#include "rfr/resequencer.h"

#define FIRST 0xffff80u
#define PIECE 32u /* packets that the call for a packet hands over */
#define HELD  400u
#define LAST  (HELD + 1)

static struct qp q;
static struct hp3_acts acts;
static uint32_t number_of[65536]; /* by handle: which packet is held */
static uint32_t next; /* packet that the RNIC is to get */
static uint32_t place; /* not 0: of the packet in hand, among those handed over */

/* The engine has handed these over: in order. */
static void take(const struct hp3_act *a)
{
	uint32_t handle = a->held;

	if (a->kind != HP3_ACT_DELIVER)
		return;
	for (uint32_t n = 0; n < a->count; n++, handle = hp3_held_next(rig.e, handle))
		assert_int_equal(number_of[handle], next++);
}

/* A request of the peer, FIRST + i. */
static uint8_t comes(uint32_t i)
{
	static uint8_t frame[PMTU + 128], payload[PMTU];
	struct hp3_addressing a = {.ttl = 64, .sport = 0xd00d, .pkey = 0xffff};
	const struct hp3_fields f = {.opcode = HP3_OP_RC_WRITE_MIDDLE,
		.dest_qpn = q.lqpn,
		.psn = hp3_psn_add(FIRST, i),
		.payload = payload,
		.payload_len = PMTU};
	struct hp3_pkt pkt = {.frame = frame, .flow = HP3_NO_FLOW};
	struct hp3_verdict vd;

	memcpy(a.src_ip, q.remote, 16);
	memcpy(a.dst_ip, q.local, 16);
	pkt.len = (uint32_t)hp3_build(frame, sizeof(frame), &a, &f);
	hp3_parse(frame, pkt.len, &pkt.v);
	acts.n = 0;
	hp3_find_burst(rig.e, &pkt, 1, HP3_DIR_RX);
	hp3_rx(rig.e, &pkt, rig.now, &vd, &acts);
	if (vd.kind == HP3_HOLD)
		number_of[vd.held] = place != 0 ? place : i;
	if (vd.kind == HP3_PASS && i == next)
		next++;
	for (uint32_t n = 0; n < acts.n; n++)
		take(&acts.act[n]);
	return vd.kind;
}

static void reported(enum hp3_agree_kind kind, uint32_t number)
{
	struct hp3_agree what = {.kind = (uint8_t)kind,
		.pmtu_log2 = 10,
		.evs = 8,
		.port = 0xd00d,
		.responder = q.lqpn,
		.requester = q.rqpn,
		.number = number,
		.turn = 1,
		.next = FIRST,
		.keepalive_us = 1000000};

	acts.n = 0;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &what, rig.now, &acts);
	for (uint32_t n = 0; n < acts.n; n++)
		take(&acts.act[n]);
}

/* Packets 2 to LAST are held, and the first two arrive: a piece has left. */
static void a_gap_closes(void)
{
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4,
		.evs = 8,
		.bytes = 4096,
		.keepalive_ns = MS,
		.wait_ns = MS,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig_configure();
	q = make_qp(0);
	next = 0;
	reported(HP3_AGREE_ASK, 7);
	hp3_tick(rig.e, rig.now, &acts);
	assert_int_equal(comes(0), HP3_PASS);
	for (uint32_t i = 2; i <= LAST; i++)
		assert_int_equal(comes(i), HP3_HOLD);
	assert_int_equal(comes(1), HP3_PASS);
	assert_int_equal(next, 2 + PIECE);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), HELD - PIECE);
	assert_int_equal(hp3_engine_due(rig.e), rig.now);
}

/* The rest leaves with calls of hp3_tick(), each of which is due at once. */
static void the_rest_leaves(void)
{
	while (hp3_engine_held(rig.e, HP3_DIR_RX) != 0) {
		uint32_t before = next;

		assert_true(hp3_engine_due(rig.e) <= rig.now);
		acts.n = 0;
		hp3_tick(rig.e, rig.now++, &acts);
		for (uint32_t n = 0; n < acts.n; n++)
			take(&acts.act[n]);
		assert_in_range(next - before, 1, 8 * PIECE);
	}
	assert_true(hp3_engine_due(rig.e) > rig.now);
}

static void what_arrives_meanwhile_is_held_behind(void **state)
{
	a_gap_closes();
	assert_int_equal(comes(LAST + 1), HP3_HOLD);
	assert_int_equal(comes(LAST + 3), HP3_HOLD);
	assert_int_equal(comes(LAST + 2), HP3_HOLD);
	assert_int_equal(comes(1), HP3_PASS); /* the RNIC has it */
	assert_int_equal(comes(next), HP3_HOLD); /* in the place of its copy */
	assert_int_equal(comes(LAST), HP3_HOLD);
	assert_int_equal(next, 2 + PIECE);
	the_rest_leaves();
	assert_int_equal(next, LAST + 4);
	assert_int_equal(comes(LAST + 4), HP3_PASS);
	assert_int_equal(hp3_engine_stats(rig.e)->reseq_gaps, 1);
}

/* Another gap is waited for once what is before it has left. */
static void the_next_gap_is_waited_for(void **state)
{
	a_gap_closes();
	assert_int_equal(comes(LAST + 2), HP3_HOLD);
	acts.n = 0;
	hp3_tick(rig.e, rig.now, &acts);
	take(&acts.act[0]);
	rig.now++;
	acts.n = 0;
	hp3_tick(rig.e, rig.now, &acts);
	take(&acts.act[0]);
	assert_int_equal(next, LAST + 1);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 1);
	assert_true(hp3_engine_due(rig.e) > rig.now);
	assert_int_equal(comes(LAST + 1), HP3_PASS);
	assert_int_equal(next, LAST + 3);
}

/* Where there is no room for it all that is before it leaves, then it, then what is behind it. */
static void who_finds_no_room_leaves_last(void **state)
{
	a_gap_closes();
	for (uint32_t i = LAST + 2; i < LAST + 2 + PIECE; i++)
		assert_int_equal(comes(i), HP3_HOLD);
	hp3_hold_room(rig.e, 0);
	assert_int_equal(comes(LAST + 1), HP3_HOLD);
	assert_int_equal(acts.n, 3);
	assert_int_equal(next, LAST + 2 + PIECE);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 0);
	assert_int_equal(comes(next), HP3_PASS);
}

static void a_copy_that_finds_no_room(void **state)
{
	a_gap_closes();
	hp3_hold_room(rig.e, 0);
	place = LAST + 1; /* behind all others */
	assert_int_equal(comes(next), HP3_HOLD);
	place = 0;
	assert_int_equal(next--, LAST + 2);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 0);
	assert_int_equal(comes(next), HP3_PASS);
}

/* Too far ahead of what the RNIC has, but near once it has the rest. */
static void who_is_beyond_the_window_is_held_behind(void **state)
{
	a_gap_closes();
	assert_int_equal(comes(next + HP3_RESEQ_WINDOW), HP3_HOLD);
	assert_int_equal(next, LAST + 1);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 1);
	assert_int_equal(hp3_engine_stats(rig.e)->reseq_beyond, 0);
}

static void an_end_hands_over_all(void **state)
{
	a_gap_closes();
	reported(HP3_AGREE_OVER, 7);
	assert_int_equal(next, LAST + 1);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 0);
	assert_int_equal(comes(next), HP3_PASS);
}

/* Its end was lost, and so was the question for the one after it. */
static void the_end_of_a_later_agreement_is_one(void **state)
{
	a_gap_closes();
	reported(HP3_AGREE_OVER, 6);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), HELD - PIECE);
	reported(HP3_AGREE_OVER, 8);
	assert_int_equal(next, LAST + 1);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 0);
	assert_int_equal(comes(LAST + 3), HP3_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(what_arrives_meanwhile_is_held_behind),
		RIG_TEST(the_next_gap_is_waited_for),
		RIG_TEST(who_finds_no_room_leaves_last),
		RIG_TEST(a_copy_that_finds_no_room),
		RIG_TEST(who_is_beyond_the_window_is_held_behind),
		RIG_TEST(an_end_hands_over_all),
		RIG_TEST(the_end_of_a_later_agreement_is_one),
	};

	return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
