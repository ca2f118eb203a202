/* SPDX-License-Identifier: BSD-3-Clause */
/* The promises of an agreement to spray a queue pair hold for its whole lease (rule 35); numbers
 * and turns of agreements wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/spray/send.h"
#include "packets.h"
#include "probes/agree.h"

#define FIRST 100u
#define HOUR  (3600 * 1000 * MS)

static struct qp q;
static struct hp3_acts acts;

static void configure(uint64_t now)
{
	rig.cfg.cc.mode = HP3_CC_OFF;
	rig.cfg.moves_allowed = true;
	rig.cfg.idle_age_ns = rig.cfg.dead_age_ns = 100 * HOUR;
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4,
		.evs = 8,
		.bytes = 4096,
		.keepalive_ns = MS,
		.wait_ns = 100 * MS,
		.setup = true,
		.reads = true,
		.alike = 150,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig_configure();
	rig.now = now;
	q = make_qp(0);
}

/* The peer says it of its queue pair; `keepalive_us` is its keep-alive interval. The answer's kind.
 */
static int reported(enum hp3_agree_kind kind, uint32_t number, uint32_t turn, uint32_t keepalive_us)
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
		.keepalive_us = keepalive_us};

	acts.n = 0;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &what, rig.now, &acts);
	for (uint32_t i = 0; i < acts.n; i++)
		if (acts.act[i].kind == HP3_ACT_AGREE)
			return acts.act[i].agree.what.kind;
	return HP3_AGREE_KIND_MAX;
}

static enum hp3_verdict_kind arrives(uint32_t psn, uint8_t ecn)
{
	static uint8_t frame[PMTU + 128], payload[PMTU];
	struct hp3_addressing a = {.ttl = 64, .sport = 0xd001, .pkey = 0xffff, .tclass = ecn};
	const struct hp3_fields f = {.opcode = HP3_OP_RC_WRITE_MIDDLE,
		.dest_qpn = q.lqpn,
		.psn = psn,
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
	return vd.kind;
}

static enum hp3_verdict_kind comes(uint32_t psn)
{
	return arrives(psn, 2);
}

static void comes_marked(uint32_t psn)
{
	arrives(psn, 3);
}

static uint32_t count_messages(enum hp3_agree_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < acts.n; i++)
		n += acts.act[i].kind == HP3_ACT_AGREE && acts.act[i].agree.what.kind == kind;
	return n;
}

static uint32_t copies(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < acts.n; i++)
		n += acts.act[i].kind == HP3_ACT_SHOW;
	return n;
}

static void tick(uint64_t later)
{
	rig.now += later;
	acts.n = 0;
	hp3_tick(rig.e, rig.now, &acts);
}

static void promised(void)
{
	configure(HOUR);
	assert_int_equal(reported(HP3_AGREE_ASK, 1, 1, 1000), HP3_AGREE_YES);
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 2, 1000), HP3_AGREE_YES);
	assert_int_equal(comes(FIRST), HP3_PASS);
	assert_int_equal(comes(FIRST + 2), HP3_HOLD);
}

static void allow(bool allowed)
{
	rig.cfg.moves_allowed = allowed;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
}

/* No at once, and again to each message; it ends with OVER, or ten intervals after the last
 * message. */
static void the_mode_ends_no_promise(void **state)
{
	for (int over = 0; over < 2; over++) {
		promised();
		allow(false);
		tick(0);
		assert_int_equal(count_messages(HP3_AGREE_NO), 1);
		assert_int_equal(comes(FIRST + 3), HP3_HOLD);
		allow(true);
		rig.now += 9 * MS;
		assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 3, 1000), HP3_AGREE_NO);
		assert_int_equal(
			reported(HP3_AGREE_ASK, 2, 1, 1000), HP3_AGREE_YES); /* a new one */
		promised();
		allow(false);
		tick(0);
		assert_int_equal(reported(HP3_AGREE_ASK, 2, 1, 1000), HP3_AGREE_NO);
		assert_int_equal(comes(FIRST + 3), HP3_HOLD); /* ... ends none for that */
		if (over == 0) {
			tick(10 * MS - 1);
			assert_int_equal(comes(FIRST + 4), HP3_HOLD);
			tick(2);
		} else {
			reported(HP3_AGREE_OVER, 1, 4, 1000);
		}
		assert_int_equal(comes(FIRST + 6), HP3_PASS);
	}
}

/* Packets of the network lie unread: words of the sender, and what is missing, may be among them.
 */
static void what_lies_unread_ends_no_promise(void **state)
{
	promised();
	hp3_rx_blocked(rig.e, true, rig.now);
	tick(500 * MS);
	hp3_rx_blocked(rig.e, false, rig.now);
	tick(MS);
	assert_int_equal(comes(FIRST + 3), HP3_HOLD);
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 3, 1000), HP3_AGREE_YES);
	assert_int_equal(comes(FIRST + 1), HP3_PASS);
	tick(10 * MS + 1); /* nothing does now */
	assert_int_equal(comes(FIRST + 6), HP3_PASS);
}

/* Any number of times, also where the sender's message is the first packet that hp3d reads. */
static void no_gap_counts_as_late_while_packets_lie_unread(void **state)
{
	promised(); /* FIRST + 1 is missing */
	for (uint32_t turn = 3; turn < 8; turn++) {
		hp3_rx_blocked(rig.e, true, rig.now);
		for (uint32_t ms = 0; ms < 120; ms++) {
			tick(MS);
			assert_int_equal(acts.n, 0);
		}
		hp3_rx_blocked(rig.e, false, rig.now);
		assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, turn, 1000), HP3_AGREE_YES);
		tick(0);
		assert_int_equal(copies(), 0);
	}
	assert_int_equal(comes(FIRST + 1), HP3_PASS);
}

/* The RNIC's port stops for a moment, again and again: a packet that is lost is asked for. */
static void a_port_that_stops_often_hides_no_loss(void **state)
{
	uint32_t shown = 0, cycles;

	promised(); /* FIRST + 1 is missing, and is waited for 100 ms */
	for (cycles = 0; shown == 0 && cycles < 1000; cycles++) {
		hp3_rx_blocked(rig.e, true, rig.now);
		tick(MS / 8);
		hp3_rx_blocked(rig.e, false, rig.now);
		reported(HP3_AGREE_SPRAYING, 1, 3 + cycles, 1000);
		for (uint32_t i = 0; i < 7; i++) {
			tick(MS / 8);
			shown += copies();
		}
	}
	assert_int_equal(shown, 1);
	assert_in_range(cycles, 100, 3 * 100);
}

/* Where hp3d was descheduled the lease still runs from the sender's last message. */
static void descheduling_shortens_no_lease(void **state)
{
	configure(HOUR);
	rig.cfg.spray.flows = 8;
	rig.cfg.spray.wait_ns = MS;
	rig_configure();
	rig.now = HOUR;
	assert_int_equal(reported(HP3_AGREE_ASK, 1, 1, 1000), HP3_AGREE_YES);
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 2, 1000), HP3_AGREE_YES);
	q = make_qp(1);
	assert_int_equal(reported(HP3_AGREE_ASK, 2, 1, 1000), HP3_AGREE_YES);
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 2, 2, 1000), HP3_AGREE_YES);
	tick(0);
	rig.now += 2 * MS; /* descheduled */
	assert_int_equal(comes(FIRST), HP3_PASS); /* of the other agreement */
	rig.now += MS / 10;
	q = make_qp(0);
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 3, 1000), HP3_AGREE_YES);
	tick(0);
	for (uint32_t i = 0; i < 99; i++)
		tick(MS / 10);
	assert_int_equal(comes(FIRST + 2), HP3_HOLD);
	tick(MS / 10);
	tick(MS / 10);
	assert_int_equal(comes(FIRST + 4), HP3_PASS);
}

/* The RNIC's port takes nothing any more: hp3d stops nevertheless. */
static void who_leaves_waits_for_no_port(void **state)
{
	uint64_t until;

	promised();
	hp3_rx_blocked(rig.e, true, rig.now);
	hp3_spray_stop(rig.e, rig.now);
	tick(0);
	assert_int_equal(count_messages(HP3_AGREE_NO), 1);
	until = hp3_spray_stop(rig.e, rig.now);
	assert_int_equal(until, rig.now + 10 * MS);
	for (uint32_t ms = 0; ms < 20; ms++) {
		tick(MS);
		assert_int_equal(hp3_spray_stop(rig.e, rig.now), until);
	}
	hp3_rx_blocked(rig.e, false, rig.now);
	assert_int_equal(comes(FIRST + 3), HP3_HOLD);
}

/* VLANs are the peer's choice, as QPNs are: a packet is looked up among few. */
static void vlans_of_a_peer_share_no_chain(void **state)
{
	const struct hp3_spraying *s;
	uint32_t longest = 0;

	configure(HOUR);
	rig.cfg.spray.flows = 256;
	rig_configure();
	for (uint32_t i = 0; i < 64; i++) {
		q.vlan = i;
		assert_int_equal(reported(HP3_AGREE_ASK, 1, 1, 1000), HP3_AGREE_YES);
	}
	s = rig.e->spraying;
	for (uint32_t i = 0; i < s->nheads; i++) {
		uint32_t n[2] = {0};

		for (uint16_t k = s->heads[i]; k != HP3_NO_SPRAY; k = s->in[k].next)
			n[0]++;
		for (uint16_t k = s->backs[i]; k != HP3_NO_SPRAY; k = s->in[k].next_back)
			n[1]++;
		longest = n[0] > longest ? n[0] : longest;
		longest = n[1] > longest ? n[1] : longest;
	}
	assert_in_range(longest, 1, 8);
}

static void who_leaves_waits_until_all_is_over(void **state)
{
	uint64_t until;

	promised();
	assert_int_equal(hp3_spray_stop(rig.e, rig.now), rig.now + 10000 * MS); /* of the longest */
	tick(0);
	assert_int_equal(count_messages(HP3_AGREE_NO), 1);
	until = hp3_spray_stop(rig.e, rig.now);
	assert_int_equal(until, rig.now + 10 * MS);
	rig.now += MS;
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 3, 1000), HP3_AGREE_NO);
	assert_int_equal(hp3_spray_stop(rig.e, rig.now), until); /* however long it goes on */
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 4, 100), HP3_AGREE_NO);
	assert_int_equal(hp3_spray_stop(rig.e, rig.now), until); /* and what it states now */
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 5, 1000), HP3_AGREE_NO);
	assert_int_equal(comes(FIRST + 3), HP3_HOLD);
	q.rqpn++; /* nobody else is promised anything */
	q.lqpn++;
	assert_int_equal(reported(HP3_AGREE_ASK, 7, 1, 1000), HP3_AGREE_NO);
	q.rqpn--;
	q.lqpn--;
	reported(HP3_AGREE_OVER, 1, 6, 1000);
	assert_int_equal(hp3_spray_stop(rig.e, rig.now), 0);
	hp3_spray_go_on(rig.e);
	assert_int_equal(reported(HP3_AGREE_ASK, 7, 1, 1000), HP3_AGREE_YES);
}

/* Who leaves asks again and again: ticks look at agreements in pieces, and the longest one counts.
 */
static void who_leaves_looks_at_all_in_pieces(void **state)
{
	uint64_t begun;
	uint32_t calls = 0;

	configure(HOUR);
	rig.cfg.spray.flows = 600;
	rig_configure();
	rig.now = HOUR;
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t keepalive_us = i == 7 ? 50000 : 1000;

		q.rqpn = 0x1000 + i;
		q.lqpn = 0x2000 + i;
		memcpy(&q.remote[2], &i, 2); /* each peer has its share */
		assert_int_equal(reported(HP3_AGREE_ASK, i + 1, 1, keepalive_us), HP3_AGREE_YES);
	}
	tick(0);
	begun = rig.now;
	while (hp3_spray_stop(rig.e, rig.now) != begun + 500 * MS && calls++ < 100) {
		assert_int_equal(hp3_spray_stop(rig.e, rig.now), rig.now + 10000 * MS);
		tick(0);
	}
	assert_in_range(calls, 4, 99); /* 32 agreements each, and not all at once */
	for (uint32_t ms = 0; ms < 499; ms++) {
		pass_time(MS);
		assert_int_equal(hp3_spray_stop(rig.e, rig.now), begun + 500 * MS);
	}
	pass_time(2 * MS);
	assert_int_equal(hp3_spray_stop(rig.e, rig.now), 0);
}

/* The interval is the one that was stated last; a longer one counts at once. */
static void another_interval_is_taken_over(void **state)
{
	promised();
	reported(HP3_AGREE_SPRAYING, 1, 3, 50000);
	assert_int_equal(acts.act[0].agree.what.keepalive_us, 50000);
	tick(499 * MS);
	assert_int_equal(comes(FIRST + 3), HP3_HOLD);
	reported(HP3_AGREE_SPRAYING, 1, 4, 100);
	tick(MS + 1);
	assert_int_equal(comes(FIRST + 9), HP3_PASS);
}

/* Less room is for those to whom nothing was promised yet. */
static void no_room_is_taken_back(void **state)
{
	promised();
	rig.cfg.hold_bytes = rig.cfg.hold_bytes_total = 16;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	assert_int_equal(comes(FIRST + 3), HP3_HOLD);
	reported(HP3_AGREE_OVER, 1, 3, 1000);
	reported(HP3_AGREE_ASK, 2, 1, 1000);
	assert_int_equal(comes(FIRST), HP3_PASS);
	assert_int_equal(comes(FIRST + 2), HP3_PASS);
}

/* The newest message of our own; what it is answered. */
static struct hp3_agree said(uint64_t later)
{
	struct hp3_agree what = {.kind = HP3_AGREE_KIND_MAX};

	tick(later);
	for (uint32_t i = 0; i < acts.n; i++)
		if (acts.act[i].kind == HP3_ACT_AGREE)
			what = acts.act[i].agree.what;
	return what;
}

static void hears(struct hp3_agree what, enum hp3_agree_kind kind)
{
	what.kind = (uint8_t)kind;
	acts.n = 0;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &what, rig.now, &acts);
}

static struct hp3_spray_out *own(void)
{
	return hp3_out_of(rig.e, hp3_flow_find(rig.e, HP3_ENDS(&q), q.rqpn));
}

static struct hp3_agree spraying(uint64_t now)
{
	struct hp3_agree ask;

	configure(now);
	set_up_at(&q, FIRST);
	ask = said(0);
	assert_int_equal(ask.kind, HP3_AGREE_ASK);
	hears(ask, HP3_AGREE_YES);
	assert_int_equal(own()->state, HP3_SPRAY_SPRAYING);
	return ask;
}

/* Until the peer has said that it heard of the longer one, the shorter one counts. */
static void an_interval_counts_once_it_is_confirmed(void **state)
{
	struct hp3_agree a = spraying(HOUR);

	hears(said(0), HP3_AGREE_YES);
	rig.cfg.spray.keepalive_ns = 50 * MS;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	a = said(MS);
	assert_int_equal(a.keepalive_us, 50000);
	a.keepalive_us = 1000;
	hears(a, HP3_AGREE_YES); /* to the one before, as far as it says */
	assert_int_equal(said(MS).keepalive_us, 50000); /* a millisecond later */
	tick(2 * MS);
	assert_int_equal(own()->state, HP3_SPRAY_NARROW);
	spraying(HOUR);
	rig.cfg.spray.keepalive_ns = 50 * MS;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	hears(said(MS), HP3_AGREE_YES);
	hears(said(MS), HP3_AGREE_YES);
	assert_int_equal(said(50 * MS - 1).kind, HP3_AGREE_KIND_MAX);
	assert_int_equal(own()->state, HP3_SPRAY_SPRAYING);
}

/* However long hp3d runs, a later agreement has a later number; 0 says that there is none. */
static void numbers_are_later_whatever_the_clock_shows(void **state)
{
	static const uint64_t from[] = {1, 1ull << 47, 1ull << 48, 3ull << 47, 1ull << 49};
	struct hp3_agree before, a;

	for (uint32_t i = 0; i < 5; i++) {
		before = spraying(from[i] - 1);
		tear_down(&q);
		for (uint32_t k = 0; k < 3; k++) {
			set_up_at(&q, FIRST);
			a = said(1);
			assert_int_equal(a.kind, HP3_AGREE_ASK);
			assert_true((int32_t)(a.number - before.number) > 0);
			assert_int_not_equal(a.number, 0);
			hears(a, HP3_AGREE_YES);
			assert_int_equal(own()->state, HP3_SPRAY_SPRAYING);
			tear_down(&q);
			before = a;
		}
		rig.now += 40 * HOUR; /* nothing is agreed on meanwhile */
		set_up_at(&q, FIRST);
		a = said(1);
		assert_int_equal(a.number, (uint32_t)(rig.now >> 16));
	}
}

/* None lasts so long that its number and a later one cannot be compared. */
static void an_agreement_ends_in_time(void **state)
{
	struct hp3_agree a = spraying(HOUR);

	for (uint32_t i = 0; i < 40; i++) { /* half an hour each */
		assert_int_equal(a.kind, i == 0 ? HP3_AGREE_ASK : HP3_AGREE_SPRAYING);
		rig.now += HOUR / 2;
		own()->heard = own()->yes_to = own()->large_at = rig.now; /* as if all went on */
		a = said(0);
		assert_int_equal(own()->state, i < 39 ? HP3_SPRAY_SPRAYING : HP3_SPRAY_ENDING);
	}
}

/* Turns are counted by messages, and wrap in weeks. */
static void turns_wrap(void **state)
{
	static const uint32_t from[] = {INT32_MAX - 4, UINT32_MAX - 4};

	for (uint32_t i = 0; i < 2; i++) {
		spraying(HOUR);
		own()->turn = own()->answered = from[i];
		for (uint32_t k = 0; k < 40; k++) {
			struct hp3_agree a = said(MS);

			assert_int_equal(a.turn, from[i] + k + 1);
			hears(a, HP3_AGREE_YES);
			assert_int_equal(own()->heard, rig.now);
			assert_int_equal(own()->state, HP3_SPRAY_SPRAYING);
		}
		configure(HOUR);
		reported(HP3_AGREE_ASK, 1, from[i], 1000);
		for (uint32_t k = 1; k < 40; k++) {
			rig.now += 9 * MS;
			assert_int_equal(
				reported(HP3_AGREE_SPRAYING, 1, from[i] + k, 1000), HP3_AGREE_YES);
			assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, from[i] + k, 1000),
				HP3_AGREE_KIND_MAX); /* once */
		}
	}
}

/* The newest YES. */
static bool objects(uint32_t turn)
{
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, turn, 1000), HP3_AGREE_YES);
	for (uint32_t i = 0; i < acts.n; i++)
		if (acts.act[i].kind == HP3_ACT_AGREE)
			return acts.act[i].agree.what.slow & HP3_AGREE_OBJECTS;
	return false;
}

/* Packets that are late here: senders compare paths before they spray. */
static void a_late_packet_makes_the_receiver_object(void **state)
{
	promised();
	assert_false(objects(3));
	tick(2 * MS); /* FIRST + 1 is missing */
	assert_int_equal(count_messages(HP3_AGREE_MISSING), 1);
	assert_true(objects(4));
	comes(FIRST + 1);
	tick(HP3_PRESUME_REST - 1);
	assert_true(objects(5));
	tick(1);
	assert_false(objects(6));
}

/* ... also if most packets are marked. */
static void marks_make_the_receiver_object(void **state)
{
	uint32_t psn = FIRST + 1;

	promised();
	comes(psn);
	for (psn += 2; psn < FIRST + 200; psn++)
		comes_marked(psn);
	assert_true(objects(3));
	for (; psn < FIRST + 400; psn++)
		comes(psn);
	assert_false(objects(4));
}

/* The peer asks for an agreement about its n-th queue pair. */
static void asks(uint32_t n)
{
	q = make_qp(n);
	assert_int_equal(reported(HP3_AGREE_ASK, n + 1, 1, 1000), HP3_AGREE_YES);
}

/* Of the YES in `acts`, how many object? */
static uint32_t objections(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < acts.n; i++)
		n += acts.act[i].kind == HP3_ACT_AGREE &&
		     acts.act[i].agree.what.kind == HP3_AGREE_YES &&
		     acts.act[i].agree.what.slow == HP3_AGREE_OBJECTS;
	return n;
}

static void incast_configured(void)
{
	configure(HOUR);
	rig.cfg.spray.flows = 64;
	rig.cfg.spray.short_bytes = 4096;
	rig_configure();
	rig.now = HOUR;
}

/* ... and if many begin at once: senders that got their YES before get another one, once. */
static void an_incast_makes_the_receiver_object(void **state)
{
	incast_configured();
	for (uint32_t n = 0; n < 16; n++) {
		asks(n);
		assert_int_equal(count_messages(HP3_AGREE_YES), n == 2 ? 3 : 1);
		assert_int_equal(objections(), n < 2 ? 0 : n == 2 ? 3 : 1);
	}
	q = make_qp(15); /* with a new number, as if the sender had restarted */
	rig.now += 3 * US;
	assert_int_equal(reported(HP3_AGREE_ASK, 17, 1, 1000), HP3_AGREE_YES);
	assert_int_equal(objections(), 1);
	q = make_qp(0);
	rig.now += MS - 4 * US;
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 2, 1000), HP3_AGREE_YES);
	assert_int_equal(objections(), 1);
	rig.now += US;
	assert_int_equal(reported(HP3_AGREE_SPRAYING, 1, 3, 1000), HP3_AGREE_YES);
	assert_int_equal(objections(), 0);
}

static void an_incast_is_nothing_without_the_key(void **state)
{
	incast_configured();
	rig.cfg.spray.short_bytes = 0;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	for (uint32_t n = 0; n < 16; n++) {
		asks(n);
		assert_int_equal(count_messages(HP3_AGREE_YES), 1);
		assert_int_equal(objections(), 0);
	}
}

/* An agreement that has ended gets no YES, nor does one about which hp3d is not sure any more. */
static void an_incast_tells_only_who_is_there(void **state)
{
	incast_configured();
	asks(0);
	reported(HP3_AGREE_OVER, 1, 2, 1000);
	asks(1);
	reported(HP3_AGREE_OVER, 2, 2, 1000);
	asks(2);
	assert_int_equal(count_messages(HP3_AGREE_YES), 1);
	rig.now += MS;
	for (uint32_t n = 3; n < 5; n++)
		asks(n);
	q = make_qp(3);
	comes(FIRST + 5000); /* of the queue pair before: the ASK may be void */
	asks(5);
	assert_int_equal(count_messages(HP3_AGREE_YES), 2);
	assert_int_equal(objections(), 2);
}

/* One that began long before gets no further YES when others begin at once. */
static void who_began_long_before_is_told_nothing(void **state)
{
	incast_configured();
	asks(0);
	rig.now += 3 * US;
	for (uint32_t n = 1; n < 4; n++)
		asks(n);
	assert_int_equal(count_messages(HP3_AGREE_YES), 3);
	assert_int_equal(objections(), 3);
}

/* A queue pair is expected to send what those before it sent. */
static void what_came_before_counts(void **state)
{
	incast_configured();
	for (uint32_t n = 0; n < 100; n++) {
		asks(n);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(comes(FIRST + i), HP3_PASS);
		reported(HP3_AGREE_OVER, n + 1, 2, 1000);
		rig.now += MS;
	}
	for (uint32_t n = 100; n < 116; n++) {
		asks(n);
		assert_int_equal(objections(), 0);
	}
}

static void who_begins_one_after_the_other_is_no_incast(void **state)
{
	incast_configured();
	for (uint32_t n = 0; n < 16; n++) {
		rig.now += 1001; /* ns: two within 2 us */
		asks(n);
		assert_int_equal(objections(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(the_mode_ends_no_promise),
		RIG_TEST(what_lies_unread_ends_no_promise),
		RIG_TEST(no_gap_counts_as_late_while_packets_lie_unread),
		RIG_TEST(a_port_that_stops_often_hides_no_loss),
		RIG_TEST(descheduling_shortens_no_lease),
		RIG_TEST(who_leaves_waits_for_no_port),
		RIG_TEST(vlans_of_a_peer_share_no_chain),
		RIG_TEST(who_leaves_waits_until_all_is_over),
		RIG_TEST(who_leaves_looks_at_all_in_pieces),
		RIG_TEST(another_interval_is_taken_over),
		RIG_TEST(no_room_is_taken_back),
		RIG_TEST(an_interval_counts_once_it_is_confirmed),
		RIG_TEST(numbers_are_later_whatever_the_clock_shows),
		RIG_TEST(an_agreement_ends_in_time),
		RIG_TEST(turns_wrap),
		RIG_TEST(a_late_packet_makes_the_receiver_object),
		RIG_TEST(marks_make_the_receiver_object),
		RIG_TEST(an_incast_makes_the_receiver_object),
		RIG_TEST(an_incast_is_nothing_without_the_key),
		RIG_TEST(an_incast_tells_only_who_is_there),
		RIG_TEST(who_began_long_before_is_told_nothing),
		RIG_TEST(what_came_before_counts),
		RIG_TEST(who_begins_one_after_the_other_is_no_incast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
