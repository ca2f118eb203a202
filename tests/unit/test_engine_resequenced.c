/* SPDX-License-Identifier: BSD-3-Clause */
/* The PSN that the RNIC of a sprayed queue pair is assumed to expect, and which packets are held if
 * their PSN may be damaged (docs/internals/spray.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "probes/agree.h"
#include "rfr/resequencer.h"

#define FIRST 0xfffffeu

static struct qp q;
static struct hp3_acts acts;
static uint32_t ev; /* that the next one comes by */
static bool ce; /* it is marked */
static uint32_t room; /* bytes that may be held; 0: as usual */

static uint8_t link_of_next; /* on which the next one arrives */
static uint16_t in_use; /* the peer's port in use, as its messages say */

/* A request of the peer, FIRST + i. */
static struct hp3_verdict comes(uint32_t i, bool damaged)
{
	static uint8_t frame[PMTU + 128], payload[PMTU];
	struct hp3_addressing a = {.ttl = 64, .sport = (uint16_t)(0xd00d ^ ev), .pkey = 0xffff};
	const struct hp3_fields f = {.opcode = HP3_OP_RC_WRITE_MIDDLE,
		.dest_qpn = q.lqpn,
		.psn = hp3_psn_add(FIRST, i),
		.payload = payload,
		.payload_len = PMTU};
	struct hp3_pkt pkt = {.frame = frame, .flow = HP3_NO_FLOW, .link = link_of_next};
	struct hp3_verdict vd;
	int len;

	memcpy(a.src_ip, q.remote, 16);
	memcpy(a.dst_ip, q.local, 16);
	len = hp3_build(frame, sizeof(frame), &a, &f);
	assert_true(len > 0);
	pkt.len = (uint32_t)len;
	frame[len - 1] ^= damaged;
	hp3_parse(frame, pkt.len, &pkt.v);
	if (ce)
		pkt.v.flags |= HP3_VF_CE;
	rig.now += US;
	acts.n = 0;
	hp3_find_burst(rig.e, &pkt, 1, HP3_DIR_RX);
	hp3_rx(rig.e, &pkt, rig.now, &vd, &acts);
	return vd;
}

/* The peer asks. */
static void asked(void)
{
	struct hp3_agree ask = {.kind = HP3_AGREE_ASK,
		.pmtu_log2 = 10,
		.evs = 8,
		.port = 0xd00d,
		.in_use = in_use,
		.number = 1,
		.turn = 1,
		.next = HP3_NO_PSN,
		.keepalive_us = 1000};

	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4,
		.evs = 8,
		.bytes = 4096,
		.keepalive_ns = MS,
		.wait_ns = MS,
		.late_ns = 20 * US,
		.rest_ns = MS};
	if (room != 0)
		rig.cfg.hold_bytes = room;
	room = 0;
	rig_configure();
	q = make_qp(0);
	ask.responder = q.lqpn;
	ask.requester = q.rqpn;
	acts.n = 0;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &ask, rig.now, &acts);
}

/* Packets that go to the RNIC behind the one in hand, or are that one. */
static uint32_t delivered(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < acts.n; i++)
		n += acts.act[i].kind == HP3_ACT_DELIVER ? acts.act[i].count : 0;
	return n;
}

/* What the RNIC waits for is known: FIRST + 1. */
static void ready(void)
{
	asked();
	assert_int_equal(comes(HP3_PSN_MASK, false).kind, HP3_PASS);
	assert_int_equal(comes(0, false).kind, HP3_PASS);
}

/* The peer says this of an agreement before whose first packet nothing had left. */
static void told(enum hp3_agree_kind kind, uint32_t number, uint32_t turn)
{
	struct hp3_agree what = {.kind = (uint8_t)kind,
		.pmtu_log2 = 10,
		.evs = 8,
		.port = 0xd000,
		.responder = q.lqpn,
		.requester = q.rqpn,
		.number = number,
		.turn = turn,
		.next = FIRST,
		.keepalive_us = 1000};

	acts.n = 0;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &what, rig.now, &acts);
}

/* Rule 17: packets that arrive on several links of a bond go to the RNIC by one. */
static void all_packets_take_the_link_of_the_first(void **state)
{
	const uint8_t by_3 = HP3_IN_ORDER | 3u << HP3_LINK_SHIFT;

	rig_configure();
	q = make_qp(0);
	assert_int_equal(comes(0, false).flags, 0); /* nobody asked */
	link_of_next = 3;
	ready();
	for (uint32_t i = 1; i <= 64; i++) {
		struct hp3_verdict vd;

		link_of_next = i % 4;
		ev = i % 8;
		vd = comes(((i - 1) ^ 1) + 1, false);
		assert_int_equal(vd.kind, i % 2 != 0 ? HP3_HOLD : HP3_PASS);
		assert_int_equal(vd.flags, by_3);
	}
	link_of_next = 0;
	ev = 0;
}

/* Set-up has said what leaves first; a question that comes once more, when all is over, says no
 * more than any other. */
static void a_question_at_setup_counts_once(void **state)
{
	asked();
	told(HP3_AGREE_ASK, 7, 1);
	assert_int_equal(acts.act[0].agree.what.kind, HP3_AGREE_YES);
	assert_int_equal(comes(1, false).kind, HP3_HOLD);
	assert_int_equal(comes(0, false).kind, HP3_PASS);
	told(HP3_AGREE_OVER, 7, 2);
	told(HP3_AGREE_ASK, 7, 1);
	assert_int_equal(acts.n, 0);
	assert_int_equal(comes(9, false).kind, HP3_PASS);
	told(HP3_AGREE_OVER, 7, 3);
	told(HP3_AGREE_ASK, 8, 1); /* this one is new */
	assert_int_equal(acts.act[0].agree.what.kind, HP3_AGREE_YES);
	assert_int_equal(comes(1, false).kind, HP3_HOLD);
}

/* However many peers ask: of whom no record can be kept it does not count at all. */
static void who_is_not_remembered_is_not_believed(void **state)
{
	uint32_t believed = 0;

	asked();
	for (unsigned i = 0; i < 40; i++) {
		q.remote[0] = (uint8_t)i;
		told(HP3_AGREE_ASK, 7, 1);
		believed += acts.n;
		told(HP3_AGREE_OVER, 7, 2);
	}
	assert_in_range(believed, 16, 39);
	for (unsigned i = 0; i < 40; i++) {
		q.remote[0] = (uint8_t)i;
		told(HP3_AGREE_ASK, 7, 1);
		assert_int_equal(acts.n, 0);
		told(HP3_AGREE_OVER, 7, 2);
	}
}

/* It was void when it came: all has come by one path, and goes on in that order. */
static void a_void_question_holds_nothing_for_long(void **state)
{
	asked();
	told(HP3_AGREE_ASK, 7, 1);
	hp3_tick(rig.e, rig.now, &acts);
	assert_int_equal(comes(5, false).kind, HP3_HOLD);
	assert_int_equal(comes(6, false).kind, HP3_HOLD);
	rig.now += MS / 4 + US;
	acts.n = 0;
	hp3_tick(rig.e, rig.now, &acts);
	assert_int_equal(acts.n, 1);
	assert_int_equal(acts.act[0].kind, HP3_ACT_DELIVER);
	assert_int_equal(acts.act[0].count, 2);
	assert_int_equal(comes(7, false).kind, HP3_PASS);
}

/* One alone may be old. */
static void two_in_a_row_tell_what_is_waited_for(void **state)
{
	asked();
	assert_int_equal(comes(100, false).kind, HP3_PASS);
	assert_int_equal(acts.n, 0);
	assert_int_equal(
		comes(20, false).kind, HP3_PASS); /* had come before, and comes once more */
	assert_int_equal(comes(101, true).kind, HP3_PASS); /* nor is it this one */
	assert_int_equal(comes(101, false).kind, HP3_PASS);
	assert_int_equal(acts.n, 0);
	assert_int_equal(comes(102, false).kind, HP3_PASS);
	assert_int_equal(acts.n, 1);
	assert_int_equal(acts.act[0].kind, HP3_ACT_AGREE);
	assert_int_equal(acts.act[0].agree.what.kind, HP3_AGREE_YES);
	assert_int_equal(comes(104, false).kind, HP3_HOLD);
	assert_int_equal(comes(103, false).kind, HP3_PASS);
	assert_int_equal(acts.n, 1);
}

/* The RNIC gets these, in this order, behind the packet in hand. */
static void follow(uint32_t n, ...)
{
	uint32_t handle = acts.act[0].held;
	va_list list;

	assert_int_equal(acts.n, 1);
	assert_int_equal(acts.act[0].kind, HP3_ACT_DELIVER);
	assert_int_equal(acts.act[0].count, n);
	va_start(list, n);
	for (uint32_t i = 0; i < n; i++, handle = hp3_held_next(rig.e, handle))
		assert_int_equal(handle, va_arg(list, uint32_t));
	va_end(list);
}

/* It was, and a packet comes that is too far ahead to be held: it has come behind the others. */
static void what_is_held_in_vain_stays_before_what_follows(void **state)
{
	uint32_t held[3];

	asked();
	told(HP3_AGREE_ASK, 7, 1);
	for (uint32_t i = 0; i < 3; i++) {
		struct hp3_verdict vd = comes(HP3_RESEQ_WINDOW - 2 + i, false);

		assert_int_equal(vd.kind, HP3_HOLD);
		held[i] = vd.held;
	}
	follow(3, held[0], held[1], held[2]);
	assert_int_equal(comes(HP3_RESEQ_WINDOW + 1, false).kind, HP3_PASS);
	assert_int_equal(acts.n, 1); /* two in a row */
}

/* The peer is told of an EV that alone is marked. */
static void a_marked_ev_is_reported(void **state)
{
	uint64_t reported_evs = 0;

	ready();
	for (uint32_t i = 1; i < 1000; i++) {
		ev = i % 8;
		ce = ev == 5;
		assert_int_equal(comes(i, false).kind, HP3_PASS);
		for (uint32_t k = 0; k < acts.n; k++) {
			assert_int_equal(acts.act[k].kind, HP3_ACT_AGREE);
			assert_int_equal(acts.act[k].agree.what.kind, HP3_AGREE_MARKED);
			reported_evs |= acts.act[k].agree.what.slow;
		}
	}
	assert_true(reported_evs == 1u << 5);
	ev = 0;
	ce = false;
}

/* While the peer uses one path, no other EV is reported as silent. */
static void one_path_makes_no_ev_silent(void **state)
{
	for (uint32_t spread = 0; spread < 2; spread++) {
		uint64_t reported = 0;

		ev = 3;
		in_use = (uint16_t)(0xd00d ^ (ev + spread));
		ready();
		for (uint32_t i = 1; i < 1000; i++) {
			assert_int_equal(comes(i, false).kind, HP3_PASS);
			for (uint32_t k = 0; k < acts.n; k++) {
				assert_int_equal(acts.act[k].agree.what.kind, HP3_AGREE_SLOW);
				reported |= acts.act[k].agree.what.slow;
			}
		}
		assert_int_equal(reported, spread ? 0xf7 : 0);
	}
	in_use = 0;
	ev = 0;
}

/* It was another packet: the one that it takes the place of is not lost. */
static void the_right_one_of_two_is_held(void **state)
{
	struct hp3_verdict wrong, right, third;

	ready();
	wrong = comes(2, true);
	assert_int_equal(wrong.kind, HP3_HOLD);
	right = comes(2, false);
	assert_int_equal(right.kind, HP3_HOLD);
	assert_int_not_equal(right.held, wrong.held);
	assert_int_equal(acts.n, 1);
	assert_int_equal(acts.act[0].kind, HP3_ACT_DISCARD);
	assert_int_equal(acts.act[0].held, wrong.held);
	assert_int_equal(acts.act[0].count, 1);
	assert_int_equal(comes(2, true).kind, HP3_DROP);
	assert_int_equal(acts.n, 0);
	third = comes(3, false);
	assert_int_equal(comes(1, false).kind, HP3_PASS);
	follow(2, right.held, third.held);
}

/* Far ahead of all others it is looked at: nothing waits for what it says that it is. */
static void a_packet_far_ahead_is_checked(void **state)
{
	struct hp3_verdict near, far;

	ready();
	assert_int_equal(comes(40, true).kind, HP3_PASS);
	near = comes(20, true);
	assert_int_equal(near.kind, HP3_HOLD);
	assert_int_equal(comes(60, true).kind, HP3_PASS);
	far = comes(60, false);
	assert_int_equal(far.kind, HP3_HOLD);
	assert_int_equal(comes(1, false).kind, HP3_PASS);
	assert_int_equal(acts.n, 0);
}

/* The local RNIC replies to FIRST + i. */
static void replies(uint8_t syndrome, uint32_t i)
{
	const struct hp3_fields f = {.opcode = HP3_OP_RC_ACK,
		.dest_qpn = q.rqpn,
		.psn = hp3_psn_add(FIRST, i),
		.syndrome = syndrome};
	struct hp3_addressing a = {.ttl = 64, .sport = 0xe00d, .pkey = 0xffff};
	static uint8_t frame[256];
	struct hp3_pkt pkt = {.frame = frame, .flow = HP3_NO_FLOW};
	struct hp3_verdict vd;

	memcpy(a.src_ip, q.local, 16);
	memcpy(a.dst_ip, q.remote, 16);
	pkt.len = (uint32_t)hp3_build(frame, sizeof(frame), &a, &f);
	hp3_parse(frame, pkt.len, &pkt.v);
	acts.n = 0;
	hp3_find_burst(rig.e, &pkt, 1, HP3_DIR_TX);
	hp3_tx(rig.e, &pkt, rig.now, &vd, &acts);
	assert_int_equal(vd.kind, HP3_PASS);
}

/* Its NAK is read behind the packet that it asks for: nothing is missing, and nothing waits. */
static void a_nak_may_be_older_than_what_was_given(void **state)
{
	ready();
	for (uint32_t i = 2; i < 6; i++)
		assert_int_equal(comes(i, false).kind, HP3_HOLD);
	acts.n = 0;
	for (uint32_t i = 0; i < 20 && (acts.n == 0 || acts.act[0].kind != HP3_ACT_SHOW); i++) {
		rig.now += MS / 8;
		acts.n = 0;
		hp3_tick(rig.e, rig.now, &acts);
	}
	assert_int_equal(acts.act[0].kind, HP3_ACT_SHOW);
	assert_int_equal(comes(1, false).kind, HP3_PASS);
	replies(HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, 1);
	assert_int_equal(comes(6, false).kind, HP3_PASS);
	replies(0x1f, 6);
	replies(HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, 4); /* before what was acknowledged */
	assert_int_equal(comes(7, false).kind, HP3_PASS);
	replies(HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, 7); /* that was lost behind us */
	assert_int_equal(comes(8, false).kind, HP3_HOLD);
	assert_int_equal(comes(7, false).kind, HP3_PASS);
}

/* Two repeated packets told what it waits for: it has more, as an ACK of it tells, and drops what
 * is held of that. */
static void an_ack_tells_what_the_rnic_has(void **state)
{
	struct hp3_verdict two, third;

	ready();
	two = comes(30, false);
	third = comes(31, false);
	assert_int_equal(two.kind, HP3_HOLD);
	replies(0x1f, 30);
	assert_int_equal(acts.n, 2);
	assert_int_equal(acts.act[0].kind, HP3_ACT_DISCARD);
	assert_int_equal(acts.act[0].held, two.held);
	assert_int_equal(acts.act[1].kind, HP3_ACT_DELIVER);
	assert_int_equal(acts.act[1].held, third.held);
	assert_int_equal(comes(32, false).kind, HP3_PASS);
	assert_int_equal(hp3_engine_stats(rig.e)->reseq_late, 0);
}

/* ... also where that ACK left before it was known what it waits for. */
static void an_ack_before_all_that_counts_too(void **state)
{
	asked();
	replies(0x1f, 50);
	assert_int_equal(comes(20, false).kind, HP3_PASS);
	assert_int_equal(comes(21, false).kind, HP3_PASS);
	assert_int_equal(comes(51, false).kind, HP3_PASS);
	assert_int_equal(comes(53, false).kind, HP3_HOLD);
}

/* What the RNIC has comes again, from an RNIC or from the network: it passes nothing that waits. */
static void what_returns_moves_nothing_that_waits(void **state)
{
	ready();
	ev = 1;
	assert_int_equal(comes(1, false).kind, HP3_PASS);
	assert_int_equal(comes(3, false).kind, HP3_HOLD);
	assert_int_equal(comes(4, false).kind, HP3_HOLD);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(comes(i, false).kind, HP3_PASS);
		assert_int_equal(acts.n, 0);
	}
	assert_int_equal(comes(5, false).kind, HP3_HOLD);
	assert_int_equal(comes(2, false).kind, HP3_PASS);
	assert_int_equal(acts.act[0].kind, HP3_ACT_DELIVER);
	assert_int_equal(acts.act[0].count, 3);
	assert_int_equal(comes(6, false).kind, HP3_PASS);
}

/* The newest question: the PSN that it is about; HP3_NO_PSN: there was none. */
static uint32_t asks_about(void)
{
	for (uint32_t i = 0; i < acts.n; i++)
		if (acts.act[i].kind == HP3_ACT_AGREE &&
			acts.act[i].agree.what.kind == HP3_AGREE_MISSING)
			return acts.act[i].agree.what.next;
	return HP3_NO_PSN;
}

static uint32_t copies(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < acts.n; i++)
		n += acts.act[i].kind == HP3_ACT_SHOW;
	return n;
}

/* FIRST + i left by this EV, the sender says. */
static void left_by(uint32_t i, uint32_t of_ev, uint32_t number)
{
	const struct hp3_agree left = {.kind = HP3_AGREE_LEFT,
		.evs = 8,
		.responder = q.lqpn,
		.requester = q.rqpn,
		.number = number,
		.next = hp3_psn_add(FIRST, i),
		.in_use = (uint16_t)(0xd00d ^ of_ev)};

	hp3_agree_received(rig.e, HP3_ENDS(&q), &left, rig.now, &acts);
	acts.n = 0;
	rig.now += 1;
	hp3_tick(rig.e, rig.now, &acts);
}

static void wait_for_a_question(void)
{
	rig.now += MS / 64;
	acts.n = 0;
	hp3_tick(rig.e, rig.now, &acts);
}

/* One that another one of its port has overtaken does not come any more: the RNIC asks for it. */
static void what_was_overtaken_on_its_path_is_lost(void **state)
{
	const struct hp3_stats *s;

	ready();
	s = hp3_engine_stats(rig.e);
	ev = 1;
	comes(2, false);
	ev = 2;
	comes(3, false);
	wait_for_a_question();
	assert_int_equal(asks_about(), hp3_psn_add(FIRST, 1));
	left_by(1, 3, 1); /* none has come from there since */
	assert_int_equal(copies(), 0);
	left_by(1, 2, 1);
	assert_int_equal(copies(), 1);
	ev = 3;
	assert_int_equal(comes(4, false).kind, HP3_HOLD);
	assert_int_equal(s->reseq_lost, 1);
	assert_int_equal(s->reseq_asked, 1);
	assert_int_equal(comes(1, false).kind, HP3_PASS);
	assert_int_equal(acts.act[0].count, 3);
}

/* The window is full: no packet passes those that are held, and the RNIC is shown the gap. */
static void what_is_beyond_the_window_passes_none(void **state)
{
	ready();
	assert_int_equal(comes(2, false).kind, HP3_HOLD);
	assert_int_equal(comes(1 + HP3_RESEQ_WINDOW, false).kind, HP3_DROP);
	assert_int_equal(hp3_engine_stats(rig.e)->reseq_beyond, 1);
	assert_int_equal(copies(), 1);
	assert_int_equal(comes(2 + HP3_RESEQ_WINDOW, false).kind, HP3_DROP);
	acts.n = 0;
	hp3_tick(rig.e, ++rig.now, &acts);
	assert_int_equal(copies(), 0); /* once */
	assert_int_equal(comes(1, false).kind, HP3_PASS);
	assert_int_equal(acts.act[0].count, 1);
}

/* ... also if the same call hands over packets: the copy is listed behind them. */
static void what_is_beyond_the_next_gap_shows_that(void **state)
{
	struct hp3_verdict behind;

	ready();
	for (uint32_t i = 2; i < 51; i++)
		assert_int_equal(comes(i, false).kind, HP3_HOLD);
	behind = comes(52, false);
	assert_int_equal(behind.kind, HP3_HOLD);
	assert_int_equal(comes(1, false).kind, HP3_PASS);
	assert_in_range(delivered(), 1, 48); /* the rest follows at the next call */
	assert_int_equal(comes(60 + HP3_RESEQ_WINDOW, false).kind, HP3_DROP);
	assert_int_equal(acts.n, 2);
	assert_int_equal(acts.act[0].kind, HP3_ACT_DELIVER);
	assert_int_equal(acts.act[1].kind, HP3_ACT_SHOW);
	assert_int_equal(acts.act[1].held, behind.held);
	assert_int_equal(comes(51, false).kind, HP3_PASS);
	follow(1, behind.held);
}

/* Nothing is held: it passes, and the RNIC sees the gap by itself. */
static void what_is_beyond_the_window_passes_alone(void **state)
{
	ready();
	assert_int_equal(comes(1 + HP3_RESEQ_WINDOW, false).kind, HP3_PASS);
	assert_int_equal(hp3_engine_stats(rig.e)->reseq_beyond, 1);
}

/* There is no room to hold more: likewise. */
static void what_finds_no_room_passes_none(void **state)
{
	room = 3 * PMTU;
	ready();
	assert_int_equal(comes(2, false).kind, HP3_HOLD);
	assert_int_equal(comes(4, false).kind, HP3_HOLD);
	assert_int_equal(comes(5, false).kind, HP3_DROP);
	assert_int_equal(copies(), 1); /* now: the next packet may be the missing one */
	assert_int_equal(comes(2, false).kind, HP3_DROP); /* it is held */
	assert_int_equal(hp3_engine_stats(rig.e)->reseq_full, 2);
	assert_int_equal(comes(6, false).kind, HP3_DROP);
	acts.n = 0;
	hp3_tick(rig.e, ++rig.now, &acts);
	assert_int_equal(copies(), 0); /* once */
	assert_int_equal(comes(1, false).kind, HP3_PASS);
	assert_int_equal(acts.act[0].count, 1);
	assert_int_equal(comes(3, false).kind, HP3_PASS);
	assert_int_equal(comes(5, false).kind, HP3_PASS);
}

/* Nothing is held: it passes, and the RNIC sees the gap by itself. */
static void what_finds_no_room_passes_alone(void **state)
{
	room = PMTU;
	ready();
	assert_int_equal(comes(2, false).kind, HP3_PASS);
	assert_int_equal(hp3_engine_stats(rig.e)->reseq_full, 1);
}

/* The question may be void, so what is held waits for nothing, perhaps: all keeps its order. */
static void a_question_alone_drops_nothing(void **state)
{
	room = 3 * PMTU;
	asked();
	told(HP3_AGREE_ASK, 7, 1);
	assert_int_equal(comes(1, false).kind, HP3_HOLD);
	assert_int_equal(comes(2, false).kind, HP3_HOLD);
	assert_int_equal(comes(3, false).kind, HP3_HOLD);
	assert_int_equal(delivered(), 3);
	assert_int_equal(comes(4, false).kind, HP3_PASS);
}

/* No queue pair has so much in flight: it is of the next one, whose set-up nobody told. */
static void what_is_far_beyond_is_of_the_next_one(void **state)
{
	ready();
	assert_int_equal(comes(2, false).kind, HP3_HOLD);
	assert_int_equal(comes(40000, false).kind, HP3_PASS);
	assert_int_equal(comes(40001, false).kind, HP3_PASS);
	assert_int_equal(comes(1, false).kind, HP3_PASS);
}

/* It waits for a packet of that port, and for nothing else. */
static void a_packet_of_its_port_may_come_later(void **state)
{
	ready();
	ev = 1;
	comes(2, false);
	wait_for_a_question();
	left_by(1, 2, 2); /* of another agreement */
	left_by(2, 1, 1); /* about another packet */
	assert_int_equal(copies(), 0);
	left_by(1, 2, 1);
	assert_int_equal(copies(), 0);
	ev = 3;
	comes(3, false);
	acts.n = 0;
	hp3_tick(rig.e, ++rig.now, &acts);
	assert_int_equal(copies(), 0);
	ev = 2;
	comes(4, false);
	acts.n = 0;
	hp3_tick(rig.e, ++rig.now, &acts);
	assert_int_equal(copies(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(all_packets_take_the_link_of_the_first),
		RIG_TEST(a_question_at_setup_counts_once),
		RIG_TEST(who_is_not_remembered_is_not_believed),
		RIG_TEST(a_void_question_holds_nothing_for_long),
		RIG_TEST(what_is_held_in_vain_stays_before_what_follows),
		RIG_TEST(two_in_a_row_tell_what_is_waited_for),
		RIG_TEST(a_marked_ev_is_reported),
		RIG_TEST(one_path_makes_no_ev_silent),
		RIG_TEST(the_right_one_of_two_is_held),
		RIG_TEST(a_packet_far_ahead_is_checked),
		RIG_TEST(a_nak_may_be_older_than_what_was_given),
		RIG_TEST(what_returns_moves_nothing_that_waits),
		RIG_TEST(what_was_overtaken_on_its_path_is_lost),
		RIG_TEST(what_is_beyond_the_window_passes_none),
		RIG_TEST(what_is_beyond_the_next_gap_shows_that),
		RIG_TEST(what_is_beyond_the_window_passes_alone),
		RIG_TEST(what_finds_no_room_passes_none),
		RIG_TEST(what_finds_no_room_passes_alone),
		RIG_TEST(a_question_alone_drops_nothing),
		RIG_TEST(what_is_far_beyond_is_of_the_next_one),
		RIG_TEST(a_packet_of_its_port_may_come_later),
		RIG_TEST(an_ack_tells_what_the_rnic_has),
		RIG_TEST(an_ack_before_all_that_counts_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
