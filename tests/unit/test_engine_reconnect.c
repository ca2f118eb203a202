/* SPDX-License-Identifier: BSD-3-Clause */
/* A sprayed queue pair is connected anew while packets are in flight (rules 16 and 35): by
 * connection management, or on a host that only responds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "scene.h"
#include "probes/agree.h"

#define LARGE 4096u
#define FIRST 100u
#define HERE  HP3_DIR_TX /* who sends a CM datagram */
#define PEER  HP3_DIR_RX

/* All requests have left, in order; a CM datagram has PSN 0. */
static void assert_in_order(uint32_t first)
{
	uint32_t p = rig.wire[first].psn;

	assert_int_equal(rig.held + rig.discarded, 0);
	for (uint32_t i = first; i < rig.nwire; i++)
		if (rig.wire[i].psn != 0)
			assert_int_equal(rig.wire[i].psn, p++);
}

/* --- connection management --- */

static void spray_config(void)
{
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
}

/* Connected by REQ and REP, and sprayed: 41 packets are in flight. */
static void connected_and_sprayed(void)
{
	struct hp3_acts acts = {.n = 0};
	struct hp3_agree ask;

	spray_config();
	rig_configure();
	q = make_qp(0);
	psn = rig.cm_psn = FIRST;
	cm(HERE, &q, HP3_CM_REQ, 0xaaa, 0, q.lqpn);
	cm(PEER, &q, HP3_CM_REP, 0xbbb, 0xaaa, q.rqpn);
	assert_paired_with(&q);
	pass_time(1);
	assert_int_equal(rig.other.kind, HP3_ACT_AGREE);
	ask = rig.other.agree.what;
	ask.kind = HP3_AGREE_YES;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &ask, rig.now, &acts);
	cm(HERE, &q, HP3_CM_RTU, 0xaaa, 0xbbb, 0);
	rig.nwire = 0;
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_FIRST,
			    .psn = psn++,
			    .dma_len = 64 * LARGE,
			    .payload = (const uint8_t[PMTU]){0},
			    .payload_len = PMTU});
	assert_int_not_equal(rig.vd.sport, q.home);
	for (unsigned i = 0; i < 40; i++)
		middle(&q, psn++);
}

static bool is_over(void)
{
	return rig.other.kind == HP3_ACT_AGREE && rig.other.agree.what.kind == HP3_AGREE_OVER;
}

static void disconnected(enum hp3_dir who)
{
	if (who == HERE)
		cm(HERE, &q, HP3_CM_DREQ, 0xaaa, 0xbbb, q.rqpn);
	else
		cm(PEER, &q, HP3_CM_DREQ, 0xbbb, 0xaaa, q.lqpn);
}

/* The peer's hp3d resequences what is on its way until it has arrived. */
static void rule_35_a_dreq_lets_no_packet_overtake(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		connected_and_sprayed();
		disconnected(i ? PEER : HERE);
		assert_false(is_over());
		middle(&q, psn++); /* it left its RNIC before the DREQ was known there */
		assert_false(is_over());
		assert_in_order(0);
		for (unsigned n = 0; n < 30 && !is_over(); n++)
			pass_time(MS);
		assert_int_equal(rig_teardown(state), 0);
		assert_int_equal(rig_setup(state), 0);
	}
}

/* Nothing leaves any more: the agreement has ended an interval later. */
static void rule_35_a_dreq_ends_the_agreement(void **state)
{
	connected_and_sprayed();
	disconnected(PEER);
	for (unsigned n = 0; n < 3 && !is_over(); n++)
		pass_time(MS);
	assert_true(is_over());
	rests();
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

/* An end is told late, and connection management tells once more of the life under way. */
static void rule_16_cm_tells_again_while_an_end_waits(void **state)
{
	connected_and_sprayed();
	tear_down(&q);
	rig.cm_psn = FIRST;
	cm(HERE, &q, HP3_CM_REQ, 0xaac, 0, q.lqpn);
	cm(PEER, &q, HP3_CM_REP, 0xbbd, 0xaac, q.rqpn);
	cm(HERE, &q, HP3_CM_RTU, 0xaac, 0xbbd, 0);
	middle(&q, psn++);
	assert_false(is_over());
	assert_int_equal(stats()->epochs, 0);
	assert_paired_with(&q);
}

/* Connected anew with the same numbers: by the first packet the agreement is over. The same first
 * PSN without a DREQ means a repeated announcement. */
static void rule_16_a_reconnection_by_cm(void **state)
{
	const uint32_t first[] = {7000, FIRST + 3, 7000, FIRST + 3, FIRST};

	for (unsigned i = 0; i < 5; i++) {
		uint32_t p = first[i];

		connected_and_sprayed();
		if (i >= 2)
			disconnected(HERE);
		rig.cm_psn = p;
		cm(HERE, &q, HP3_CM_REQ, 0xaac, 0, q.lqpn);
		cm(PEER, &q, HP3_CM_REP, 0xbbd, 0xaac, q.rqpn);
		cm(HERE, &q, HP3_CM_RTU, 0xaac, 0xbbd, 0);
		assert_false(is_over());
		middle(&q, p);
		assert_true(is_over());
		assert_paired_with(&q);
		assert_int_equal(info(&q).una, p);
		disconnected(HERE); /* the one before: its ids mean nothing any more */
		assert_paired_with(&q);
		assert_int_equal(rig_teardown(state), 0);
		assert_int_equal(rig_setup(state), 0);
	}
}

/* --- a host that only responds --- */

static void peer_reads(uint32_t from, uint32_t bytes)
{
	static uint8_t frame[PMTU];
	const struct hp3_fields f = {.opcode = HP3_OP_RC_READ_REQUEST,
		.dest_qpn = q.lqpn,
		.psn = from,
		.dma_len = bytes};
	struct hp3_addressing at = {.ttl = 64, .sport = 0xd001, .pkey = 0xffff};
	struct hp3_pkt pkt = {.frame = frame, .flow = HP3_NO_FLOW};

	memcpy(at.src_ip, q.remote, 16);
	memcpy(at.dst_ip, q.local, 16);
	pkt.len = (uint32_t)hp3_build(frame, sizeof(frame), &at, &f);
	hp3_parse(frame, pkt.len, &pkt.v);
	rig_receive(&pkt);
}

/* READ responses are sprayed, as the requester's hp3d offered. */
static void responds(void)
{
	struct hp3_acts acts = {.n = 0};
	struct hp3_agree a;

	rig.cfg.cc.mode = HP3_CC_OFF;
	spray_config();
	rig.cfg.spray.reads = true;
	rig_configure();
	q = make_qp(0);
	set_up_at(&q, FIRST);
	a = (struct hp3_agree){.kind = HP3_AGREE_OFFER,
		.reads = true,
		.pmtu_log2 = 10,
		.evs = 8,
		.port = 0xd008,
		.responder = q.rqpn,
		.requester = q.lqpn,
		.next = HP3_NO_PSN,
		.keepalive_us = 1000};
	hp3_agree_received(rig.e, HP3_ENDS(&q), &a, rig.now, &acts);
	pass_time(1);
	assert_int_equal(rig.other.kind, HP3_ACT_AGREE);
	a = rig.other.agree.what;
	assert_int_equal(a.kind, HP3_AGREE_ASK);
	a.kind = HP3_AGREE_YES;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &a, rig.now, &acts);
	psn = 500;
	peer_reads(psn, 64 * LARGE);
	for (unsigned i = 0; i < 10; i++)
		request(&q, &(struct hp3_fields){.opcode = i == 0 ? HP3_OP_RC_READ_RESP_FIRST
								  : HP3_OP_RC_READ_RESP_MIDDLE,
				    .psn = psn++,
				    .payload_len = PMTU});
}

static void rule_16_a_responder_is_set_up_anew(void **state)
{
	responds();
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&q, 900), 0);
	assert_paired_with(&q);
	rests();
	assert_paired_with(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_35_a_dreq_lets_no_packet_overtake),
		RIG_TEST(rule_35_a_dreq_ends_the_agreement),
		RIG_TEST(rule_16_cm_tells_again_while_an_end_waits),
		RIG_TEST(rule_16_a_reconnection_by_cm),
		RIG_TEST(rule_16_a_responder_is_set_up_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
