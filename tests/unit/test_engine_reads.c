/* SPDX-License-Identifier: BSD-3-Clause */
/* READ responses on several paths: offers, requests and agreements, which responses leave sprayed,
 * and after which of them an ACK or NAK must wait (docs/internals/spray-reads.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/moves/moves.h"
#include "engine/spray/spray.h"
#include "packets.h"
#include "probes/agree.h"
#include "rfr/spraying.h"

#define LARGE 4096u
#define BASE  0xd008u
#define READ  200u /* PSN of the READ in hand, which takes four */

static struct qp q;

static void configure(bool reads)
{
	rig.cfg.cc.mode = HP3_CC_OFF; /* packets that arrive may be held */
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4,
		.evs = 8,
		.bytes = LARGE,
		.keepalive_ns = MS,
		.wait_ns = MS,
		.reads = reads,
		.alike = 150,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig_configure();
	q = make_qp(0);
}

/* The path MTU is known. */
static void ready(bool reads)
{
	configure(reads);
	set_up_at(&q, READ - 1);
	middle(&q, READ - 1);
	ack(&q, READ - 1);
}

static struct hp3_agree message_of(enum hp3_agree_kind kind, uint32_t number, uint32_t turn)
{
	return (struct hp3_agree){.kind = (uint8_t)kind,
		.reads = true,
		.pmtu_log2 = 10,
		.evs = 8,
		.port = BASE,
		.responder = q.lqpn,
		.requester = q.rqpn,
		.number = number,
		.turn = turn,
		.next = HP3_NO_PSN,
		.keepalive_us = 1000};
}

/* The peer says it; what is answered, or kind HP3_AGREE_KIND_MAX. */
static struct hp3_agree hears(struct hp3_agree what)
{
	struct hp3_acts acts = {.n = 0};

	hp3_agree_received(rig.e, HP3_ENDS(&q), &what, rig.now, &acts);
	for (uint32_t i = 0; i < acts.n; i++)
		if (acts.act[i].kind == HP3_ACT_AGREE)
			return acts.act[i].agree.what;
	return (struct hp3_agree){.kind = HP3_AGREE_KIND_MAX};
}

static uint32_t messages(void)
{
	return rig.acts[HP3_ACT_AGREE];
}

static struct hp3_agree newest_message(void)
{
	assert_int_equal(rig.other.kind, HP3_ACT_AGREE);
	return rig.other.agree.what;
}

static void comes(uint8_t opcode, uint32_t psn, enum hp3_verdict_kind verdict)
{
	if (opcode == HP3_OP_RC_ACK)
		ack(&q, psn);
	else
		read_response(&q, opcode, psn, PMTU);
	assert_int_equal(rig.vd.kind, verdict);
}

/* What is given out behind the packet in hand. */
static void follow(uint32_t n)
{
	assert_int_equal(rig.act.kind, HP3_ACT_DELIVER);
	assert_int_equal(rig.act.count, n);
	rig.act.kind = HP3_ACT_EVENT;
}

/* A READ has left, the peer has asked, and the first response has come. */
static void agreed(void)
{
	ready(true);
	read_request(&q, READ, LARGE);
	assert_int_equal(newest_message().kind, HP3_AGREE_OFFER);
	hears(message_of(HP3_AGREE_ASK, 1, 1));
	comes(HP3_OP_RC_READ_RESP_FIRST, READ, HP3_PASS);
	assert_int_equal(newest_message().kind, HP3_AGREE_YES);
}

static void a_large_read_is_offered(void **state)
{
	struct hp3_agree a;

	ready(true);
	read_request(&q, READ, LARGE - 1);
	assert_int_equal(messages(), 0);
	for (uint32_t i = 0; i < 3; i++)
		comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + i, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_PASS);
	read_request(&q, READ + 4, LARGE);
	assert_int_equal(messages(), 1);
	a = newest_message();
	assert_true(a.kind == HP3_AGREE_OFFER && a.reads && a.responder == q.lqpn &&
		    a.requester == q.rqpn && a.number == 0);
	/* What was read before may be on its way: no yes until the first of these has come. */
	a = hears(message_of(HP3_AGREE_ASK, 1, 1));
	assert_int_equal(a.kind, HP3_AGREE_KIND_MAX);
	comes(HP3_OP_RC_READ_RESP_FIRST, READ + 4, HP3_PASS);
	a = newest_message();
	assert_true(a.kind == HP3_AGREE_YES && a.reads && a.number == 1 && a.turn == 1);
}

/* How many PSNs a READ takes is told by its first response. */
static void the_path_mtu_is_not_known_yet(void **state)
{
	configure(true);
	set_up_at(&q, READ);
	read_request(&q, READ, LARGE);
	read_request(&q, READ + 4, LARGE);
	assert_int_equal(newest_message().kind, HP3_AGREE_OFFER);
	hears(message_of(HP3_AGREE_ASK, 1, 1));
	comes(HP3_OP_RC_READ_RESP_FIRST, READ, HP3_PASS);
	assert_int_equal(newest_message().kind, HP3_AGREE_YES);
	comes(HP3_OP_RC_READ_RESP_FIRST, READ + 4, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	follow(3);
}

static void nobody_asks(void **state)
{
	ready(false);
	read_request(&q, READ, LARGE);
	assert_int_equal(messages(), 0);
	ready(true);
	read_request(&q, READ, LARGE);
	assert_int_equal(messages(), 1);
	hears(message_of(HP3_AGREE_OVER, 0, 0)); /* it will not */
	for (uint32_t i = 0; i < 4; i++)
		comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + i, HP3_PASS);
	rig.now += 900 * MS;
	read_request(&q, READ + 4, LARGE);
	assert_int_equal(messages(), 1);
	rig.now += 200 * MS;
	read_request(&q, READ + 8, LARGE);
	assert_int_equal(messages(), 2);
}

/* That it does not want READs says nothing of requests. */
static void requests_are_asked_about(void **state)
{
	static const uint8_t payload[PMTU];
	const struct hp3_fields f = {.opcode = HP3_OP_RC_WRITE_FIRST,
		.psn = READ + 4,
		.dma_len = LARGE,
		.payload = payload,
		.payload_len = PMTU};

	ready(true);
	read_request(&q, READ, LARGE);
	hears(message_of(HP3_AGREE_OVER, 0, 0));
	request(&q, &f);
	pass_time(1);
	assert_true(newest_message().kind == HP3_AGREE_ASK && !newest_message().reads);
}

static void responses_come_in_order(void **state)
{
	agreed();
	middle(&q, READ + 4); /* a WRITE between two READs */
	read_request(&q, READ + 5, LARGE);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_FIRST, READ + 5, HP3_HOLD); /* WRITEs lack nothing */
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	follow(3);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS); /* again, late */
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 6, HP3_PASS);
}

/*
 * The RNIC asks again for a part of what it got, while responses behind are held: these stay behind
 * the answer. What came before, and comes once more, moves nothing.
 */
static void what_is_asked_for_again_comes_before_what_waits(void **state)
{
	agreed();
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 1);
	read_request(&q, READ, PMTU);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS); /* came before */
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_HOLD);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 2);
	comes(HP3_OP_RC_READ_RESP_ONLY, READ, HP3_PASS);
	follow(2);
}

/* It speaks for the READ before it, and must not come sooner. */
static void an_ack_waits(void **state)
{
	agreed();
	last(&q, READ + 4);
	read_request(&q, READ + 5, LARGE);
	comes(HP3_OP_RC_ACK, READ + 4, HP3_HOLD);
	comes(HP3_OP_RC_ACK, READ + 4, HP3_CONSUME); /* once more */
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	follow(1);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_PASS);
	follow(1); /* the ACK */
	comes(HP3_OP_RC_ACK, READ + 4, HP3_PASS);
}

static void a_nak_waits(void **state)
{
	agreed();
	middle(&q, READ + 4);
	nak(&q, READ + 4);
	assert_int_equal(rig.vd.kind, HP3_HOLD);
	for (uint32_t i = 3; i > 1; i--)
		comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + i, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	follow(3);
}

/*
 * One response is always missing, and comes in time: the ACK behind all of them goes on with those
 * that are held, after the longest time that any packet is held.
 */
static void an_ack_is_held_no_longer_than_responses(void **state)
{
	uint64_t came;
	uint32_t next = READ + 1;

	ready(true);
	read_request(&q, READ, 200 * PMTU);
	hears(message_of(HP3_AGREE_ASK, 1, 1));
	comes(HP3_OP_RC_READ_RESP_FIRST, READ, HP3_PASS);
	last(&q, READ + 200);
	comes(HP3_OP_RC_ACK, READ + 200, HP3_HOLD);
	came = rig.now;
	comes(HP3_OP_RC_READ_RESP_MIDDLE, next + 1, HP3_HOLD);
	for (;;) {
		hears(message_of(HP3_AGREE_SPRAYING, 1, next));
		for (unsigned i = 0; i < 5 && rig.act.kind != HP3_ACT_DELIVER; i++)
			pass_time(MS / 10);
		if (rig.act.kind == HP3_ACT_DELIVER)
			break;
		assert_true(rig.now - came <= 11 * MS / 2);
		comes(HP3_OP_RC_READ_RESP_MIDDLE, next + 3, HP3_HOLD);
		comes(HP3_OP_RC_READ_RESP_MIDDLE, next, HP3_PASS);
		follow(1);
		next += 2;
	}
	follow(2);
	assert_in_range(rig.now - came, 5 * MS, 11 * MS / 2 + MS / 8);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 0);
}

/* All responses are lost: the RNIC sees that by the ACK, after the longest wait. */
static void an_ack_does_not_wait_for_ever(void **state)
{
	agreed();
	last(&q, READ + 4);
	comes(HP3_OP_RC_ACK, READ + 4, HP3_HOLD);
	for (unsigned i = 0; i < 9; i++)
		pass_time(MS / 8);
	follow(1);
}

/* The RNIC's port stops for a moment: packets lie unread meanwhile, but not all of them. */
static void is_blocked(bool blocked)
{
	hp3_rx_blocked(rig.e, blocked, rig.now);
	pass_time(0);
}

/* The one before it had its time, and responses and ACKs arrive between those that lie unread. */
static void an_ack_comes_while_packets_lie_unread(void **state)
{
	agreed();
	last(&q, READ + 4);
	read_request(&q, READ + 5, LARGE);
	last(&q, READ + 9);
	last(&q, READ + 10);
	comes(HP3_OP_RC_ACK, READ + 4, HP3_HOLD);
	for (unsigned i = 0; i < 2; i++) {
		is_blocked(true);
		pass_time(MS / 8);
		is_blocked(false);
		pass_time(MS / 8);
	}
	is_blocked(true);
	pass_time(MS / 2);
	comes(HP3_OP_RC_ACK, READ + 9, HP3_HOLD);
	for (uint32_t i = 1; i < 4; i++)
		comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + i, HP3_PASS);
	comes(HP3_OP_RC_ACK, READ + 10, HP3_HOLD);
	rig.act.kind = HP3_ACT_EVENT;
	pass_time(MS / 2);
	is_blocked(false);
	pass_time(MS / 8);
	assert_int_equal(rig.act.kind, HP3_ACT_EVENT); /* not before the second READ's responses */
	for (uint32_t i = 5; i < 8; i++)
		comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + i, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 8, HP3_PASS);
	follow(1);
}

static void time_passes(unsigned eighths)
{
	while (eighths-- > 0)
		pass_time(MS / 8);
}

/* ACKs of two WRITEs, each behind a READ, the second one seven eighths of a millisecond later. */
static void two_acks(void)
{
	agreed();
	last(&q, READ + 4);
	read_request(&q, READ + 5, LARGE);
	last(&q, READ + 9);
	comes(HP3_OP_RC_ACK, READ + 4, HP3_HOLD);
	time_passes(7);
	comes(HP3_OP_RC_ACK, READ + 9, HP3_HOLD);
	rig.act.kind = HP3_ACT_EVENT;
}

/* What the first one waited for has come: the second one waits for its own responses. */
static void a_later_ack_has_its_own_time(void **state)
{
	two_acks();
	for (uint32_t i = 1; i < 3; i++)
		comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + i, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_PASS);
	time_passes(3);
	assert_int_equal(rig.act.kind, HP3_ACT_EVENT);
	comes(HP3_OP_RC_READ_RESP_FIRST, READ + 5, HP3_PASS);
	time_passes(3);
	assert_int_equal(rig.act.kind, HP3_ACT_EVENT);
	time_passes(2);
	follow(1);
}

/* It has not: the RNIC sees that it lacks when the first one's time is over. */
static void a_later_ack_puts_nothing_off(void **state)
{
	two_acks();
	time_passes(2);
	follow(1);
}

/* The RNIC asks again for what was resequenced before: it lost that. */
static void the_rnic_knows_better(void **state)
{
	agreed();
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_PASS);
	read_request(&q, READ + 1, LARGE - PMTU);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_FIRST, READ + 1, HP3_PASS);
	follow(1);
}

/*
 * The record of a flow that was removed: its queue pair may go on, and what it asks for is counted
 * though nobody has paired the new flow yet.
 */
static void who_is_forgotten_goes_on(void **state)
{
	agreed();
	for (uint32_t i = 1; i < 4; i++)
		comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + i, HP3_PASS);
	tear_down(&q);
	assert_int_not_equal(hp3_flow_find(rig.e, HP3_ENDS(&q), q.rqpn), HP3_NO_FLOW);
	time_passes(32); /* and no packet shows that it was told late */
	assert_int_equal(hp3_flow_find(rig.e, HP3_ENDS(&q), q.rqpn), HP3_NO_FLOW);
	assert_int_equal(newest_message().kind, HP3_AGREE_NO);
	read_request(&q, READ + 4, LARGE);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 5, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_FIRST, READ + 4, HP3_PASS);
	follow(1);
}

static enum hp3_spray_state state_there(void)
{
	struct hp3_flow_info f;

	assert_int_equal(
		hp3_flow_info(rig.e, hp3_flow_find(rig.e, HP3_ENDS(&q), q.rqpn), rig.now, &f), 0);
	return (enum hp3_spray_state)f.spray_reads;
}

/* A response of the local RNIC leaves: sprayed? */
static bool response_sprayed(uint8_t opcode, uint32_t psn, uint16_t base)
{
	static const uint8_t payload[PMTU];
	const struct hp3_fields f = {.opcode = opcode,
		.psn = psn,
		.syndrome = 0x1f,
		.payload = payload,
		.payload_len = opcode == HP3_OP_RC_ACK ? 0 : PMTU};

	assert_int_equal(request(&q, &f), HP3_PASS);
	if (rig.vd.sport == q.home)
		return false;
	assert_in_range(rig.vd.sport, base, base + 7);
	return true;
}

/* The peer reads from the local RNIC. */
static void is_read_from(uint32_t qpn, uint32_t psn, uint32_t len)
{
	static uint8_t frame[PMTU];
	struct hp3_addressing a = {.ttl = 64, .sport = 0xd001, .pkey = 0xffff};
	const struct hp3_fields f = {
		.opcode = HP3_OP_RC_READ_REQUEST, .dest_qpn = qpn, .psn = psn, .dma_len = len};
	struct hp3_pkt pkt = {.frame = frame, .flow = HP3_NO_FLOW};

	memcpy(a.src_ip, q.remote, 16);
	memcpy(a.dst_ip, q.local, 16);
	pkt.len = (uint32_t)hp3_build(frame, sizeof(frame), &a, &f);
	hp3_parse(frame, pkt.len, &pkt.v);
	rig_receive(&pkt);
	assert_int_equal(rig.vd.kind, HP3_PASS);
}

/* A host that only responds. */
static void who_is_read_from(void **state)
{
	struct hp3_agree a = message_of(HP3_AGREE_OFFER, 0, 0), ask;
	uint32_t psn = 500;

	configure(true);
	a.responder = q.rqpn; /* to whom responses go */
	a.requester = q.lqpn;
	hears(a);
	assert_int_equal(state_there(), HP3_SPRAY_ASKING);
	pass_time(1);
	ask = newest_message();
	assert_true(ask.kind == HP3_AGREE_ASK && ask.reads && ask.responder == q.rqpn);
	ask.kind = HP3_AGREE_YES;
	hears(ask);
	assert_int_equal(state_there(), HP3_SPRAY_SPRAYING);
	is_read_from(q.lqpn, psn, 64 * LARGE);
	/* It shows that it is large, and the next one is believed to be. */
	assert_false(response_sprayed(HP3_OP_RC_READ_RESP_FIRST, psn++, ask.port));
	for (unsigned i = 0; i < 3; i++)
		assert_false(response_sprayed(HP3_OP_RC_READ_RESP_MIDDLE, psn++, ask.port));
	assert_true(response_sprayed(HP3_OP_RC_READ_RESP_LAST, psn++, ask.port));
	assert_false(response_sprayed(HP3_OP_RC_ACK, psn, ask.port));
	assert_true(response_sprayed(HP3_OP_RC_READ_RESP_FIRST, psn++, ask.port));
	assert_true(response_sprayed(HP3_OP_RC_READ_RESP_LAST, psn++, ask.port));
	assert_false(response_sprayed(HP3_OP_RC_READ_RESP_ONLY, psn++, ask.port));
	assert_false(response_sprayed(HP3_OP_RC_READ_RESP_FIRST, psn++, ask.port));
	for (unsigned i = 0; i < LARGE / PMTU; i++)
		response_sprayed(HP3_OP_RC_READ_RESP_MIDDLE, psn++, ask.port);
	assert_true(response_sprayed(HP3_OP_RC_READ_RESP_MIDDLE, psn++, ask.port));
	/* Nobody is heard for three keep-alive intervals. */
	rig.now += 4 * MS;
	assert_false(response_sprayed(HP3_OP_RC_READ_RESP_MIDDLE, psn++, ask.port));
	assert_int_equal(state_there(), HP3_SPRAY_NARROW);
	for (unsigned i = 0; i < 40; i++)
		pass_time(MS / 2);
	assert_int_equal(state_there(), HP3_SPRAY_SINGLE);
	assert_int_equal(newest_message().kind, HP3_AGREE_OVER);
}

/* The peer offers to resequence responses of q, and hp3d asks; the peer agrees. */
static struct hp3_agree agreed_there(struct hp3_agree *offer)
{
	struct hp3_agree ask;

	*offer = message_of(HP3_AGREE_OFFER, 0, 0);
	offer->responder = q.rqpn;
	offer->requester = q.lqpn;
	hears(*offer);
	pass_time(1);
	ask = newest_message();
	ask.kind = HP3_AGREE_YES;
	hears(ask);
	return ask;
}

/* No acknowledgement shows when it arrives. */
static void a_missing_response_ends_the_presumption_at_once(void **state)
{
	struct hp3_agree a, ask;
	const uint32_t psn = 500;

	configure(true);
	ask = agreed_there(&a);
	is_read_from(q.lqpn, psn, 64 * LARGE);
	response_sprayed(HP3_OP_RC_READ_RESP_FIRST, psn, ask.port);
	rig.e->spraying->sends.alike = true;
	ask.kind = HP3_AGREE_MISSING;
	ask.next = psn;
	hears(ask);
	assert_false(rig.e->spraying->sends.alike);
}

/* Another queue pair of this host responds to the same number: nobody resequences these. */
static void what_was_asked_of_another_one(void **state)
{
	struct hp3_agree a, ask;
	uint32_t psn = 500;

	configure(true);
	ask = agreed_there(&a);
	is_read_from(q.lqpn + 1, psn, 64 * LARGE);
	for (unsigned i = 0; i < 2 * LARGE / PMTU; i++)
		assert_false(response_sprayed(HP3_OP_RC_READ_RESP_MIDDLE, psn++, ask.port));
	is_read_from(q.lqpn, psn, 64 * LARGE);
	assert_true(response_sprayed(HP3_OP_RC_READ_RESP_MIDDLE, psn++, ask.port));
	/* And the offer of one that has the number now ends what was agreed on. */
	a.requester = q.lqpn + 1;
	hears(a);
	assert_int_equal(state_there(), HP3_SPRAY_ENDING);
	assert_false(response_sprayed(HP3_OP_RC_READ_RESP_MIDDLE, psn++, ask.port));
}

/* The peer offers again while an agreement lasts, or the message comes late: a refusal is about the
 * offer, and the peer resequences until the agreement is over. */
static void a_refused_offer_ends_no_agreement(void **state)
{
	struct hp3_agree a = message_of(HP3_AGREE_OFFER, 0, 0);

	configure(true);
	a.responder = q.rqpn;
	a.requester = q.lqpn;
	hears(a);
	pass_time(1);
	a = newest_message();
	a.kind = HP3_AGREE_YES;
	hears(a);
	rig.cfg.spray.reads = false;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	assert_int_equal(state_there(), HP3_SPRAY_SPRAYING);
	a.kind = HP3_AGREE_OFFER;
	a = hears(a);
	assert_true(a.kind == HP3_AGREE_OVER && a.number == 0);
	/* The peer's hp3d. */
	agreed();
	hears(message_of(HP3_AGREE_OVER, 0, 1));
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	follow(1);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_PASS);
}

/* A READ that arrives is looked up among one agreement for each queue pair, whatever a peer offers.
 */
static void one_peer_reads_from_a_queue_pair(void **state)
{
	struct hp3_agree a = message_of(HP3_AGREE_OFFER, 0, 0), ask;
	struct qp first, second = make_qp(1);

	configure(true);
	first = q;
	a.responder = first.rqpn;
	a.requester = first.lqpn;
	hears(a);
	pass_time(1);
	ask = newest_message();
	ask.kind = HP3_AGREE_YES;
	hears(ask);
	assert_int_equal(state_there(), HP3_SPRAY_SPRAYING);
	a.responder = second.rqpn; /* ... reads from the same one */
	assert_int_equal(hears(a).kind, HP3_AGREE_OVER);
	assert_int_equal(hp3_flow_find(rig.e, HP3_ENDS(&q), second.rqpn), HP3_NO_FLOW);
	assert_int_equal(state_there(), HP3_SPRAY_ENDING);
	for (unsigned i = 0; i < 10; i++)
		pass_time(MS / 2);
	assert_int_equal(state_there(), HP3_SPRAY_SINGLE);
	hears(a);
	q = second;
	assert_int_equal(state_there(), HP3_SPRAY_ASKING);
}

/* 1000 offers that name one queue pair, and then another one: messages that come of them. */
static uint32_t offers_in_turn(bool other_reader)
{
	struct hp3_agree a = message_of(HP3_AGREE_OFFER, 0, 0);
	struct qp second = make_qp(1);
	uint32_t before, reported = 0;

	configure(true);
	before = messages();
	for (uint32_t i = 0; i < 1000; i++) {
		a.responder = i % 2 != 0 && other_reader ? second.rqpn : q.rqpn;
		a.requester = i % 2 != 0 && !other_reader ? second.lqpn : q.lqpn;
		reported += hears(a).kind != HP3_AGREE_KIND_MAX;
		pass_time(10 * US);
	}
	assert_in_range(hp3_engine_flows(rig.e), 1, 2);
	return messages() - before + reported;
}

/* Each is asked about in its turn, and not ended by the next offer: 10 ms, 10 intervals. */
static void offers_in_turn_cost_little(void **state)
{
	assert_in_range(offers_in_turn(false), 8, 24);
	assert_in_range(offers_in_turn(true), 8, 24);
}

/* ... nor do they keep an agreement from forming. */
static void offers_in_turn_end_no_question(void **state)
{
	struct hp3_agree a = message_of(HP3_AGREE_OFFER, 0, 0), ask;
	struct qp second = make_qp(1);

	for (unsigned other_reader = 0; other_reader < 2; other_reader++) {
		configure(true);
		a.responder = q.rqpn;
		a.requester = q.lqpn;
		hears(a);
		pass_time(1);
		ask = newest_message();
		for (unsigned i = 0; i < 10; i++) {
			a.responder = other_reader ? second.rqpn : q.rqpn;
			a.requester = other_reader ? q.lqpn : second.lqpn;
			assert_int_equal(hears(a).kind, HP3_AGREE_KIND_MAX);
			pass_time(10 * US);
		}
		ask.kind = HP3_AGREE_YES;
		hears(ask);
		assert_int_equal(state_there(), HP3_SPRAY_SPRAYING);
	}
}

static void who_does_not_want_to_says_so(void **state)
{
	struct hp3_agree a = message_of(HP3_AGREE_OFFER, 0, 0);

	a.responder = q.rqpn;
	configure(false);
	assert_int_equal(hears(a).kind, HP3_AGREE_OVER);
	assert_int_equal(hp3_flow_find(rig.e, HP3_ENDS(&q), q.rqpn), HP3_NO_FLOW);
	rig.cfg.spray.mode = HP3_SPRAY_MOVE;
	rig_configure();
	assert_int_equal(hears(a).kind, HP3_AGREE_OVER);
}

/* An RNIC that waits for one READ sends nothing else between: each is asked for from where it lacks
 * the next response. */
static void who_goes_back_often_is_read_by_one_path(void **state)
{
	agreed();
	for (uint32_t i = 1; i < 4; i++) {
		read_request(&q, READ + i, (4 - i) * PMTU);
		assert_int_not_equal(newest_message().kind, HP3_AGREE_NO);
		comes(HP3_OP_RC_READ_RESP_FIRST, READ + i, HP3_PASS);
	}
	read_request(&q, READ + 3, PMTU);
	assert_int_equal(newest_message().kind, HP3_AGREE_NO);
}

/* READs of one packet, whose path MTU no response tells: the second one does. */
static bool is_in_doubt(void)
{
	return rig.e->flows[rig.vd.flow].watch & HP3_FW_DOUBT;
}

static bool is_plain(void)
{
	return hp3_rnic_is_plain(&rig.e->flows[rig.vd.flow]);
}

/* Rule 4: what una says has come is held, so there is no NAK. */
static void rule_04_what_is_held_is_in_doubt(void **state)
{
	agreed();
	middle(&q, READ + 4);
	assert_false(is_in_doubt());
	comes(HP3_OP_RC_ACK, READ + 4, HP3_HOLD);
	assert_true(is_in_doubt());
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS); /* una is beyond, one is missing */
	assert_true(is_in_doubt());
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_PASS);
	follow(2);
	assert_false(is_in_doubt());
}

/*
 * A held ACK moved una when it arrived. The RNIC gets it later, and may only then find out that it
 * lacks READ data. There is no NAK until another ACK moves una.
 */
static void rule_04_an_ack_behind_a_held_one_ends_the_doubt(void **state)
{
	agreed();
	middle(&q, READ + 4);
	comes(HP3_OP_RC_ACK, READ + 4, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_PASS);
	follow(1);
	middle(&q, READ + 5);
	middle(&q, READ + 6);
	assert_false(is_plain());
	comes(HP3_OP_RC_ACK, READ + 4, HP3_PASS);
	assert_false(is_plain());
	comes(HP3_OP_RC_ACK, READ + 5, HP3_PASS);
	assert_true(is_plain());
}

/* An ACK is held alone: what is before it is missing. */
static void rule_04_what_is_owed_is_in_doubt(void **state)
{
	agreed();
	middle(&q, READ + 4);
	comes(HP3_OP_RC_ACK, READ + 4, HP3_HOLD);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	assert_true(is_in_doubt());
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_PASS);
	assert_true(is_in_doubt());
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_PASS);
	follow(1);
	assert_false(is_in_doubt());
}

/*
 * The RNIC was given what is behind a gap: it may discard what comes until it has sent the READ
 * again. It lacks nothing where it goes back to what una says is next.
 */
static void rule_04_a_gap_is_in_doubt_until_the_rnic_goes_back(void **state)
{
	agreed();
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_HOLD);
	for (uint32_t i = 0; i < 12; i++)
		pass_time(MS);
	assert_int_equal(hp3_engine_held(rig.e, HP3_DIR_RX), 0);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 1, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_PASS);
	assert_true(is_in_doubt());
	read_request(&q, READ + 1, 3 * PMTU); /* una is READ + 4 */
	comes(HP3_OP_RC_READ_RESP_FIRST, READ + 1, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_MIDDLE, READ + 2, HP3_PASS);
	comes(HP3_OP_RC_READ_RESP_LAST, READ + 3, HP3_PASS);
	assert_true(is_in_doubt());
	middle(&q, READ + 4);
	middle(&q, READ + 5);
	assert_true(is_in_doubt());
	middle(&q, READ + 4);
	assert_false(is_in_doubt());
}

/* It asks for a READ again, and then for what is behind it: that is no proof. */
static void rule_04_what_follows_a_repeated_read_proves_nothing(void **state)
{
	agreed();
	middle(&q, READ + 4);
	middle(&q, READ + 5);
	comes(HP3_OP_RC_ACK, READ + 4, HP3_HOLD);
	read_request(&q, READ + 1, 3 * PMTU);
	middle(&q, READ + 4);
	middle(&q, READ + 5);
	assert_true(is_in_doubt());
}

static void small_reads_do_not_wait(void **state)
{
	configure(true);
	set_up_at(&q, READ);
	for (uint32_t i = 0; i < 8; i++) {
		read_request(&q, READ + i, LARGE);
		hears(message_of(i == 0 ? HP3_AGREE_ASK : HP3_AGREE_SPRAYING, 1, i + 1));
		read_response(&q, HP3_OP_RC_READ_RESP_ONLY, READ + i, LARGE);
		assert_int_equal(rig.vd.kind, HP3_PASS);
		assert_true(i == 0 || newest_message().kind == HP3_AGREE_YES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_large_read_is_offered),
		RIG_TEST(the_path_mtu_is_not_known_yet),
		RIG_TEST(nobody_asks),
		RIG_TEST(requests_are_asked_about),
		RIG_TEST(responses_come_in_order),
		RIG_TEST(what_is_asked_for_again_comes_before_what_waits),
		RIG_TEST(an_ack_waits),
		RIG_TEST(a_nak_waits),
		RIG_TEST(an_ack_is_held_no_longer_than_responses),
		RIG_TEST(an_ack_does_not_wait_for_ever),
		RIG_TEST(an_ack_comes_while_packets_lie_unread),
		RIG_TEST(a_later_ack_has_its_own_time),
		RIG_TEST(a_later_ack_puts_nothing_off),
		RIG_TEST(the_rnic_knows_better),
		RIG_TEST(who_is_forgotten_goes_on),
		RIG_TEST(who_is_read_from),
		RIG_TEST(a_missing_response_ends_the_presumption_at_once),
		RIG_TEST(what_was_asked_of_another_one),
		RIG_TEST(a_refused_offer_ends_no_agreement),
		RIG_TEST(one_peer_reads_from_a_queue_pair),
		RIG_TEST(offers_in_turn_cost_little),
		RIG_TEST(offers_in_turn_end_no_question),
		RIG_TEST(who_does_not_want_to_says_so),
		RIG_TEST(who_goes_back_often_is_read_by_one_path),
		RIG_TEST(small_reads_do_not_wait),
		RIG_TEST(rule_04_what_is_held_is_in_doubt),
		RIG_TEST(rule_04_what_is_owed_is_in_doubt),
		RIG_TEST(rule_04_an_ack_behind_a_held_one_ends_the_doubt),
		RIG_TEST(rule_04_a_gap_is_in_doubt_until_the_rnic_goes_back),
		RIG_TEST(rule_04_what_follows_a_repeated_read_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
