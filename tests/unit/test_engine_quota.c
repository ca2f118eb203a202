/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Authenticated peers share agreements and space for held packets (engine/spray/quota.h): one that
 * uses its whole share leaves enough to each other one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "engine/engine.h"
#include "engine/spray/spray.h"
#include "engine/policy.h"
#include "roce/opcode.h"

#define NOW    3600000000000ull
#define LEN    (58 + 1024)
#define GREEDY 66u
#define FLOWS  64u
#define HOLDS  8192u

static struct hp3_engine *e;
static struct hp3_engine_config cfg;
static struct hp3_acts acts;
static uint64_t now;
static uint32_t vlan; /* in which peers talk */
static uint32_t number, number_of[65536][256];
static const uint8_t here[4] = {10, 9, 0, 1};

static void address(uint8_t to[4], uint32_t peer)
{
	to[0] = 10;
	to[1] = (uint8_t)(16 + (peer >> 16));
	to[2] = (uint8_t)(peer >> 8);
	to[3] = (uint8_t)peer;
}

static void begin(uint64_t hold_bytes_total)
{
	struct hp3_engine_config table;
	size_t n;

	hp3_policy_defaults(&table);
	table.spray.mode = HP3_SPRAY_ALL;
	table.spray.flows = FLOWS;
	table.hold_packets = HOLDS;
	table.hold_bytes_total = hold_bytes_total;
	cfg = hp3_policy_settled(&table);
	n = (hp3_engine_size(&cfg) + 63) & ~(size_t)63;
	free(e);
	e = hp3_engine_create(aligned_alloc(64, n), n, &cfg);
	assert_non_null(e);
	now = NOW;
}

/* The answer's kind; HP3_AGREE_KIND_MAX: there is none. */
static int says(uint32_t peer, const struct hp3_agree *what)
{
	uint8_t remote[4];
	struct hp3_ends ends = {.vlan = vlan, .local = here, .remote = remote};

	address(remote, peer);
	acts.n = 0;
	hp3_agree_received(e, &ends, what, now, &acts);
	for (uint32_t i = 0; i < acts.n; i++)
		if (acts.act[i].kind == HP3_ACT_AGREE)
			return acts.act[i].agree.what.kind;
	return HP3_AGREE_KIND_MAX;
}

/* The peer asks for its queue pair to be resequenced, from `next` on. */
static bool agrees(uint32_t peer, uint32_t qpn, uint32_t next)
{
	struct hp3_agree ask = {.kind = HP3_AGREE_ASK,
		.pmtu_log2 = 10,
		.evs = 64,
		.port = 0xc000,
		.responder = qpn,
		.requester = qpn,
		.number = ++number,
		.turn = 1,
		.next = next,
		.keepalive_us = 1000000};
	int answer = says(peer, &ask);

	number_of[peer & 0xffff][qpn & 0xff] = number;
	assert_int_equal(
		answer, answer == HP3_AGREE_NO || next == HP3_NO_PSN ? answer : HP3_AGREE_YES);
	return answer != HP3_AGREE_NO;
}

/* The peer says that it is over. Numbers only grow. */
static void ends(uint32_t peer, uint32_t qpn)
{
	struct hp3_agree over = {.kind = HP3_AGREE_OVER,
		.evs = 64,
		.port = 0xc000,
		.responder = qpn,
		.requester = qpn,
		.number = number_of[peer & 0xffff][qpn & 0xff],
		.turn = 2,
		.next = HP3_NO_PSN,
		.keepalive_us = 1000000};

	says(peer, &over);
}

/* A queue pair of this host to the peer is set up: is it asked to resequence that? */
static bool asks(uint32_t peer, uint32_t qpn)
{
	struct hp3_qp_event up = {.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_KERNEL,
		.lqpn = 0x1000 + qpn,
		.rqpn = 0x20000 + qpn,
		.psn = 100,
		.psn_known = true};

	memcpy(up.local, here, 4);
	address(up.remote, peer);
	acts.n = 0;
	hp3_qp(e, &up, now, &acts);
	return hp3_spray_state_of(e, hp3_flow_next(e, hp3_engine_flows(e) - 1)) != HP3_SPRAY_SINGLE;
}

/* It sends a large message: is the peer asked by then? */
static bool writes(uint32_t peer, uint32_t qpn)
{
	static uint8_t frame[128];
	struct hp3_pkt p = {.frame = frame,
		.trusted = true,
		.len = LEN,
		.v = {.class = hp3_opcodes[HP3_OP_RC_WRITE_FIRST].class,
			.opcode = HP3_OP_RC_WRITE_FIRST,
			.flags = hp3_opcodes[HP3_OP_RC_WRITE_FIRST].flags,
			.l3_off = 14,
			.udp_off = 34,
			.icrc_off = 54,
			.sport = 0xc800,
			.payload_len = 1024,
			.dma_len = 1u << 20,
			.dest_qpn = 0x20000 + qpn,
			.psn = 100}};
	struct hp3_verdict vd;

	memcpy(frame + 26, here, 4);
	address(frame + 30, peer);
	acts.n = 0;
	hp3_find_burst(e, &p, 1, HP3_DIR_TX);
	hp3_tx(e, &p, now, &vd, &acts);
	return hp3_spray_state_of(e, vd.flow) != HP3_SPRAY_SINGLE;
}

/* It reads much: is the peer offered to resequence that? */
static bool reads(uint32_t peer, uint32_t qpn, uint32_t psn)
{
	static uint8_t frame[128];
	struct hp3_pkt p = {.frame = frame,
		.trusted = true,
		.len = 78,
		.v = {.class = hp3_opcodes[HP3_OP_RC_READ_REQUEST].class,
			.opcode = HP3_OP_RC_READ_REQUEST,
			.flags = hp3_opcodes[HP3_OP_RC_READ_REQUEST].flags,
			.l3_off = 14,
			.udp_off = 34,
			.icrc_off = 54,
			.sport = 0xc800,
			.dma_len = 1u << 20,
			.dest_qpn = 0x20000 + qpn,
			.psn = psn}};
	struct hp3_verdict vd;

	memcpy(frame + 26, here, 4);
	address(frame + 30, peer);
	acts.n = 0;
	hp3_find_burst(e, &p, 1, HP3_DIR_TX);
	hp3_tx(e, &p, now, &vd, &acts);
	for (uint32_t i = 0; i < acts.n; i++)
		if (acts.act[i].kind == HP3_ACT_AGREE &&
			acts.act[i].agree.what.kind == HP3_AGREE_OFFER)
			return true;
	return false;
}

static bool offers(uint32_t peer, uint32_t qpn)
{
	struct hp3_agree offer = {.kind = HP3_AGREE_OFFER,
		.reads = true,
		.evs = 64,
		.port = 0xc000,
		.responder = qpn,
		.requester = qpn,
		.next = HP3_NO_PSN,
		.keepalive_us = 1000000};

	return says(peer, &offer) != HP3_AGREE_OVER;
}

/* Pairs of hosts have keys, or none: that with a peer of an even number does. */
static const uint8_t *even(const void *table, const struct hp3_pair_ends *ends)
{
	static const uint8_t key[HP3_KEY_LEN] = {1};

	assert_memory_equal(ends->src, here, 4);
	return ends->dst[3] % 2 == 0 ? key : NULL;
}

static void who_has_no_key_takes_no_part(void **state)
{
	static const struct hp3_probe_key key = {.agreed = even};

	begin(1u << 30);
	cfg.key = &key;
	hp3_engine_reconfigure(e, &cfg);
	for (uint32_t peer = 2; peer < 6; peer++) {
		const bool has = peer % 2 == 0;

		assert_int_equal(asks(peer, 8 * peer), has);
		assert_int_equal(writes(peer, 8 * peer), has);
		assert_int_equal(agrees(peer, 8 * peer + 2, HP3_NO_PSN), has);
		assert_int_equal(offers(peer, 8 * peer + 3), has);
	}
}

static enum hp3_verdict_kind comes(uint32_t peer, uint32_t qpn, uint32_t psn)
{
	static uint8_t frame[128];
	struct hp3_pkt p = {.frame = frame,
		.trusted = true,
		.len = LEN,
		.v = {.class = hp3_opcodes[HP3_OP_RC_WRITE_MIDDLE].class,
			.opcode = HP3_OP_RC_WRITE_MIDDLE,
			.flags = hp3_opcodes[HP3_OP_RC_WRITE_MIDDLE].flags,
			.l3_off = 14,
			.udp_off = 34,
			.icrc_off = 54,
			.sport = (uint16_t)(0xc000 + psn % 64),
			.payload_len = 1024,
			.dest_qpn = qpn,
			.psn = psn & HP3_PSN_MASK}};
	struct hp3_verdict vd;

	address(frame + 26, peer);
	memcpy(frame + 30, here, 4);
	acts.n = 0;
	hp3_find_burst(e, &p, 1, HP3_DIR_RX);
	hp3_rx(e, &p, now, &vd, &acts);
	return vd.kind;
}

/* Agreements that the peer gets when it asks for `most`. */
static uint32_t takes(uint32_t peer, uint32_t most, uint32_t next)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < most; i++)
		n += agrees(peer, 0x1000 + i, next);
	return n;
}

/* Packets of the peer's queue pairs that are held, when all but the first of each come. */
static uint32_t fills(uint32_t peer, uint32_t qps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < qps; i++)
		for (uint32_t psn = 101; psn < 100 + 2047; psn++)
			n += comes(peer, 0x1000 + i, psn) == HP3_HOLD;
	return n;
}

static void one_peer_does_not_take_all_agreements(void **state)
{
	uint32_t greedy;

	begin(UINT64_MAX / 4);
	greedy = takes(GREEDY, 4 * FLOWS, HP3_NO_PSN);
	assert_in_range(greedy, FLOWS / 2, FLOWS * 7 / 12 + 1); /* most of it, alone */
	assert_int_equal(hp3_engine_stats(e)->agreements_refused, 4 * FLOWS - greedy);
	for (uint32_t peer = 1; peer <= FLOWS / 4; peer++)
		assert_true(agrees(peer, 0x3000, HP3_NO_PSN));
	assert_false(agrees(GREEDY, 0x9000, HP3_NO_PSN));
}

/* Nor by its VLANs, of which it has as many as it likes. */
static void vlans_of_a_peer_have_one_share(void **state)
{
	uint32_t n = 0;

	begin(UINT64_MAX / 4);
	for (vlan = 1; vlan <= 2 * FLOWS; vlan++)
		n += agrees(GREEDY, 0x1000, HP3_NO_PSN);
	vlan = 0;
	assert_in_range(n, FLOWS / 2, FLOWS * 7 / 12 + 1);
	for (uint32_t peer = 1; peer <= FLOWS / 4; peer++)
		assert_true(agrees(peer, 0x3000, HP3_NO_PSN));
}

/*
 * A peer begins in one VLAN after the other, and ends each at once: of each hp3d remembers for a
 * second that its first question has come. Others' first questions count nevertheless, and what
 * this host sends to them is sprayed.
 */
static void vlans_of_a_peer_leave_records_of_evs(void **state)
{
	begin(UINT64_MAX / 4);
	for (vlan = 1; vlan <= 4094; vlan++) {
		struct hp3_agree message = {.kind = HP3_AGREE_ASK,
			.pmtu_log2 = 10,
			.evs = 64,
			.port = 0xc000,
			.responder = 0x1000,
			.requester = 0x1000,
			.number = ++number,
			.turn = 1,
			.next = 100,
			.keepalive_us = 1000000};

		says(GREEDY, &message);
		message.kind = HP3_AGREE_OVER;
		says(GREEDY, &message);
		now += 100000;
	}
	vlan = 0;
	for (uint32_t peer = 1; peer <= FLOWS / 8; peer++) {
		assert_true(agrees(peer, 0x3000, 100));
		asks(peer + 0x100, 0x100 + peer);
		assert_true(writes(peer + 0x100, 0x100 + peer));
	}
	assert_int_equal(hp3_engine_stats(e)->agreements_refused, 0);
}

/*
 * Peers that take all that they may, one after the other, leave places for an eighth as many others
 * as there are places.
 */
static void many_greedy_peers_leave_places(void **state)
{
	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < FLOWS; i++)
		for (uint32_t peer = 0; peer < 6; peer++)
			agrees(GREEDY + peer, 0x1000 + i, HP3_NO_PSN);
	for (uint32_t peer = 1; peer <= FLOWS / 8; peer++)
		assert_true(agrees(peer, 0x3000, HP3_NO_PSN));
	assert_false(agrees(1, 0x3001, HP3_NO_PSN));
}

static void many_greedy_peers_leave_places_for_offers(void **state)
{
	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < FLOWS; i++)
		for (uint32_t peer = 0; peer < 6; peer++)
			offers(GREEDY + peer, 0x1000 + i);
	for (uint32_t peer = 1; peer <= FLOWS / 8; peer++)
		assert_true(offers(peer, 0x3000));
}

/* Queue pairs of this host that are set up to one peer: they have half of the table. */
static void one_peer_does_not_take_all_of_our_own(void **state)
{
	uint32_t n = 0;

	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < FLOWS; i++)
		n += asks(GREEDY, i);
	assert_in_range(n, FLOWS / 4, FLOWS * 7 / 24 + 1);
	assert_int_equal(hp3_engine_stats(e)->agreements_refused, FLOWS - n);
	for (uint32_t peer = 1; peer <= FLOWS / 16; peer++)
		assert_true(asks(peer, 0x100 + peer));
}

/* ... and what large messages and offers of the same peer take is of the same share. */
static void nor_by_large_messages_and_offers(void **state)
{
	uint32_t set_up = 0, sent = 0, offered = 0;

	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < FLOWS; i++)
		set_up += asks(GREEDY, i);
	for (uint32_t i = 0; i < FLOWS / 8; i++)
		offered += offers(GREEDY, 0x3000 + i);
	for (uint32_t i = 0; i < FLOWS; i++)
		sent += writes(GREEDY, i);
	assert_int_equal(offered, FLOWS / 8);
	assert_true(sent > set_up); /* those of set-up are among these */
	assert_in_range(sent + offered, FLOWS / 2, FLOWS * 7 / 12 + 1);
	assert_false(offers(GREEDY, 0x4000));
	for (uint32_t peer = 1; peer <= FLOWS / 8; peer++) {
		asks(peer, 0x100 + peer);
		assert_true(writes(peer, 0x100 + peer));
	}
	now += 2000000000; /* longer than a refusal counts */
	assert_false(writes(GREEDY, FLOWS - 1));
}

/* A refusal keeps the pair from another look, and another count, for a while. */
static void a_message_is_refused_once_a_second(void **state)
{
	uint64_t before;

	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < FLOWS; i++)
		asks(GREEDY, i);
	for (uint32_t i = 0; i < FLOWS; i++)
		writes(GREEDY, i);
	before = hp3_engine_stats(e)->agreements_refused;
	assert_false(writes(GREEDY, FLOWS - 1));
	assert_int_equal(hp3_engine_stats(e)->agreements_refused, before);
	now += 1000000001;
	assert_false(writes(GREEDY, FLOWS - 1));
	assert_int_equal(hp3_engine_stats(e)->agreements_refused, before + 1);
}

/* Of what this host reads, too. */
static void a_read_is_refused_once_a_second(void **state)
{
	uint64_t before;
	uint32_t n = 0;

	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < FLOWS; i++) {
		asks(GREEDY, i);
		n += reads(GREEDY, i, 100);
	}
	assert_in_range(n, FLOWS / 2, FLOWS * 7 / 12 + 1);
	before = hp3_engine_stats(e)->agreements_refused;
	assert_true(before > 0);
	assert_false(reads(GREEDY, FLOWS - 1, 356));
	assert_int_equal(hp3_engine_stats(e)->agreements_refused, before);
	now += 1000000001;
	assert_false(reads(GREEDY, FLOWS - 1, 612));
	assert_int_equal(hp3_engine_stats(e)->agreements_refused, before + 1);
}

/* An offer that is refused is counted, whatever the reason. */
static void refused_offers_are_counted(void **state)
{
	uint32_t n = 0;

	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < FLOWS; i++)
		n += !offers(GREEDY, 0x1000 + i);
	assert_true(n > 0);
	assert_int_equal(hp3_engine_stats(e)->offers_refused, n);
}

/* However agreements come and go: who has none gets one while an eighth of the places at most is
 * with peers that have one. */
static void who_has_none_gets_one(void **state)
{
	uint64_t rng = 11;

	begin(UINT64_MAX / 4);
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t fresh = 0x4000 + round * 16;

		for (uint32_t i = 0; i < 64; i++)
			agrees(GREEDY + (uint32_t)(hp3_random(&rng) >> 33) % 12,
				0x1000 + (uint32_t)(hp3_random(&rng) >> 33) % 64, HP3_NO_PSN);
		for (uint32_t i = 0; i < FLOWS / 8; i++)
			assert_true(agrees(fresh + i, 0x3000, HP3_NO_PSN));
		for (uint32_t i = 0; i < FLOWS / 8; i++)
			ends(fresh + i, 0x3000);
		for (uint32_t i = 0; i < 32; i++)
			ends(GREEDY + (uint32_t)(hp3_random(&rng) >> 33) % 12,
				0x1000 + (uint32_t)(hp3_random(&rng) >> 33) % 64);
	}
}

/* Questions at set-up have half of the table. */
static void one_peer_does_not_take_all_that_is_for_set_up(void **state)
{
	uint32_t greedy;

	begin(UINT64_MAX / 4);
	greedy = takes(GREEDY, FLOWS, 100);
	assert_in_range(greedy, FLOWS / 4, FLOWS / 3 + 1);
	for (uint32_t peer = 1; peer <= FLOWS / 8; peer++)
		assert_true(agrees(peer, 0x3000, 100));
}

/* What an agreement took comes back when it ends. */
static void a_share_comes_back(void **state)
{
	uint32_t first;

	begin(UINT64_MAX / 4);
	first = takes(GREEDY, FLOWS, HP3_NO_PSN);
	assert_false(agrees(GREEDY, 0x9000, HP3_NO_PSN));
	now += 20 * 1000000000ull; /* longer than ten intervals */
	do {
		acts.n = 0;
		hp3_tick(e, now, &acts);
	} while (acts.more);
	assert_int_equal(takes(GREEDY, FLOWS, HP3_NO_PSN), first);
}

static void one_peer_does_not_take_all_offers(void **state)
{
	uint32_t n = 0;

	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < 4 * FLOWS; i++)
		n += offers(GREEDY, 0x1000 + i);
	assert_in_range(n, 16, FLOWS * 2 / 3 + 1);
	for (uint32_t peer = 1; peer <= FLOWS / 4; peer++)
		assert_true(offers(peer, 0x3000));
}

static void one_peer_does_not_hold_all(void **state)
{
	uint32_t held;

	begin(UINT64_MAX / 4);
	assert_int_equal(takes(GREEDY, 8, 100), 8);
	for (uint32_t peer = 1; peer <= 4; peer++)
		assert_true(agrees(peer, 0x1000, 100));
	held = fills(GREEDY, 8);
	assert_in_range(held, HOLDS / 2, HOLDS * 2 / 3 + 1);
	assert_int_equal(hp3_engine_stats(e)->reseq_share, 8 * 2046 - held);
	assert_int_equal(hp3_engine_stats(e)->reseq_full, 0);
	for (uint32_t peer = 1; peer <= 4; peer++)
		for (uint32_t psn = 101; psn <= 200; psn++)
			assert_int_equal(comes(peer, 0x1000, psn), HP3_HOLD);
	assert_int_equal(comes(GREEDY, 0x1007, 2000), HP3_PASS);
}

static void one_peer_does_not_hold_all_bytes(void **state)
{
	uint32_t held;

	begin(3000 * LEN);
	assert_int_equal(takes(GREEDY, 8, 100), 8);
	assert_true(agrees(1, 0x1000, 100));
	held = fills(GREEDY, 8);
	assert_in_range(held, 1500, 2000);
	for (uint32_t psn = 101; psn <= 600; psn++)
		assert_int_equal(comes(1, 0x1000, psn), HP3_HOLD);
}

/* What is handed over is free for others again, and for the peer. */
static void what_has_left_is_free_again(void **state)
{
	uint32_t held;

	begin(UINT64_MAX / 4);
	takes(GREEDY, 8, 100);
	held = fills(GREEDY, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(comes(GREEDY, 0x1000 + i, 100), HP3_PASS);
	for (; hp3_engine_held(e, HP3_DIR_RX) != 0; now++) {
		assert_true(hp3_engine_due(e) <= now);
		acts.n = 0;
		hp3_tick(e, now, &acts);
	}
	for (uint32_t i = 0; i < 8; i++)
		assert_true(agrees(GREEDY, 0x1000 + i, 100));
	assert_int_equal(fills(GREEDY, 8), held);
}

/*
 * However many peers take what they get: one that holds nothing has a packet held while a place is
 * free, and what is held is what all peers hold.
 */
static void peers_at_random(void **state)
{
	uint64_t rng = 5;
	uint32_t next[32];

	begin(UINT64_MAX / 4);
	for (uint32_t i = 0; i < 32; i++) {
		next[i] = 100;
		assert_true(agrees(i, 0x1000, 100));
	}
	for (uint32_t n = 0; n < 400000; n++) {
		uint32_t peer = (uint32_t)(hp3_random(&rng) >> 33) % 32;
		uint32_t held = hp3_engine_held(e, HP3_DIR_RX);
		uint32_t ahead = 1 + (uint32_t)(hp3_random(&rng) >> 33) % 2000;

		now += 10;
		if (hp3_random(&rng) >> 56 < 2) {
			comes(peer, 0x1000, next[peer]);
			comes(peer, 0x1000, ++next[peer]);
			++next[peer];
			continue;
		}
		comes(peer, 0x1000, next[peer] + ahead);
		assert_in_range(hp3_engine_held(e, HP3_DIR_RX), held, HOLDS - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_no_key_takes_no_part),
		cmocka_unit_test(one_peer_does_not_take_all_agreements),
		cmocka_unit_test(vlans_of_a_peer_have_one_share),
		cmocka_unit_test(vlans_of_a_peer_leave_records_of_evs),
		cmocka_unit_test(many_greedy_peers_leave_places),
		cmocka_unit_test(many_greedy_peers_leave_places_for_offers),
		cmocka_unit_test(one_peer_does_not_take_all_of_our_own),
		cmocka_unit_test(nor_by_large_messages_and_offers),
		cmocka_unit_test(a_message_is_refused_once_a_second),
		cmocka_unit_test(a_read_is_refused_once_a_second),
		cmocka_unit_test(refused_offers_are_counted),
		cmocka_unit_test(who_has_none_gets_one),
		cmocka_unit_test(one_peer_does_not_take_all_that_is_for_set_up),
		cmocka_unit_test(a_share_comes_back),
		cmocka_unit_test(one_peer_does_not_take_all_offers),
		cmocka_unit_test(one_peer_does_not_hold_all),
		cmocka_unit_test(one_peer_does_not_hold_all_bytes),
		cmocka_unit_test(what_has_left_is_free_again),
		cmocka_unit_test(peers_at_random),
	};
	int failed = cmocka_run_group_tests_name("quota", tests, NULL, NULL);

	free(e);
	return failed;
}
