/* SPDX-License-Identifier: BSD-3-Clause */
/* Accounting of one requester stream by PSN: new packets, retransmissions, acknowledged packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "rfr/stream.h"
#include "roce/opcode.h"

#define WRAP 0x1000000u

static struct hp3_stream s;
static uint8_t pmtu;

static struct hp3_view packet(uint8_t opcode, uint32_t psn, uint16_t payload)
{
	return (struct hp3_view){.class = hp3_opcodes[opcode].class,
		.opcode = opcode,
		.flags = hp3_opcodes[opcode].flags,
		.psn = psn & HP3_PSN_MASK,
		.payload_len = payload};
}

static void start(uint32_t psn, uint8_t pmtu_log2)
{
	hp3_stream_reset(&s, psn & HP3_PSN_MASK);
	pmtu = pmtu_log2;
}

static enum hp3_tx_kind tx(uint32_t psn)
{
	struct hp3_view v = packet(HP3_OP_RC_SEND_ONLY, psn, 64);

	return hp3_stream_tx(&s, &v, &pmtu);
}

static enum hp3_tx_kind tx_read(uint32_t psn, uint32_t bytes)
{
	struct hp3_view v = packet(HP3_OP_RC_READ_REQUEST, psn, 0);

	v.dma_len = bytes;
	return hp3_stream_tx(&s, &v, &pmtu);
}

static enum hp3_reply_kind rx(uint8_t syndrome, uint32_t psn)
{
	struct hp3_view v = packet(HP3_OP_RC_ACK, psn, 0);

	v.syndrome = syndrome;
	return hp3_stream_reply(&s, &v);
}

static enum hp3_reply_kind rx_ack(uint32_t psn)
{
	return rx(HP3_SYN_ACK, psn);
}

/* FLUSH and ATOMIC WRITE take one PSN each, as the READ RESPONSE ONLY that answers them. */
static void flush_and_atomic_write_take_one_psn(void **state)
{
	struct hp3_view flush = packet(HP3_OP_RC_FLUSH, 100, 0),
			write = packet(HP3_OP_RC_ATOMIC_WRITE, 101, 8),
			answer = packet(HP3_OP_RC_READ_RESP_ONLY, 101, 0);

	write.dma_len = 8;
	start(100, 0);
	assert_int_equal(hp3_stream_tx(&s, &flush, &pmtu), HP3_TX_NEW);
	assert_int_equal(hp3_stream_tx(&s, &write, &pmtu), HP3_TX_NEW);
	assert_int_equal(s.nxt, 102);
	assert_int_equal(hp3_stream_end(&s), 102);
	assert_int_equal(pmtu, 0);
	assert_int_equal(hp3_stream_reply(&s, &answer), HP3_REPLY_PROGRESS);
	assert_true(hp3_stream_idle(&s));
}

/* What was before the first packet seen is in flight until a reply at or behind it (rule 11). */
static void first_packet_has_unknown_history(void **state)
{
	start(500, 10);
	assert_int_equal(tx(500), HP3_TX_NEW);
	assert_false(hp3_stream_idle(&s));
	assert_int_equal(rx_ack(499), HP3_REPLY_STALE);
	assert_int_equal(rx_ack(300), HP3_REPLY_STALE);
	assert_false(hp3_stream_idle(&s));
	assert_int_equal(rx_ack(500), HP3_REPLY_PROGRESS);
	assert_true(hp3_stream_idle(&s));
}

static void only_the_exact_next_psn_is_new(void **state)
{
	start(100, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(tx(100 + i), HP3_TX_NEW);
	assert_int_equal(s.hi, 109);
	assert_int_equal(s.nxt, 110);
	assert_int_equal(hp3_stream_end(&s), 110);
	for (uint32_t i = 0; i < 10; i++) {
		struct hp3_stream before = s;

		assert_int_equal(tx(100 + i), HP3_TX_RETRANSMIT);
		assert_memory_equal(&s, &before, sizeof(s));
	}
	struct hp3_stream before = s;
	assert_int_equal(tx(111), HP3_TX_EPOCH);
	assert_memory_equal(&s, &before, sizeof(s));
	assert_int_equal(tx(110), HP3_TX_NEW);
}

/* Rule 16: W is twice the largest number in flight ever seen. */
static void rule_16_retransmission_window(void **state)
{
	start(1000, 10);
	for (uint32_t i = 0; i < 50; i++)
		tx(1000 + i);
	rx_ack(1049); /* 50 were in flight */
	for (uint32_t i = 50; i < 60; i++)
		tx(1000 + i); /* 10 now */
	assert_int_equal(s.win, 50);
	assert_int_equal(tx(1050), HP3_TX_RETRANSMIT);
	assert_int_equal(tx(1050 - 100), HP3_TX_RETRANSMIT);
	assert_int_equal(tx(1050 - 101), HP3_TX_EPOCH);
	assert_int_equal(tx(1059), HP3_TX_RETRANSMIT);
	assert_int_equal(tx(1061), HP3_TX_EPOCH);
	assert_int_equal(tx(1060 + (1 << 23)), HP3_TX_EPOCH);
	assert_int_equal(tx(1060 + (1 << 23) - 1), HP3_TX_EPOCH);
}

static void span_of_a_read(void **state)
{
	for (uint32_t k = HP3_PMTU_LOG2_MIN; k <= HP3_PMTU_LOG2_MAX; k++) {
		uint32_t m = 1u << k;

		assert_int_equal(hp3_read_span(0, k), 1);
		assert_int_equal(hp3_read_span(1, k), 1);
		assert_int_equal(hp3_read_span(m, k), 1);
		assert_int_equal(hp3_read_span(m + 1, k), 2);
		assert_int_equal(hp3_read_span(7 * m, k), 7);
		assert_int_equal(hp3_read_span(1u << 31, k), 1u << (31 - k));
		start(9, (uint8_t)k);
		assert_int_equal(tx_read(9, 7 * m - 1), HP3_TX_NEW);
		assert_int_equal(s.hi, 9);
		assert_int_equal(s.nxt, 16);
	}
}

/* 10,000 bytes take 40, 20, 10, 5 or 3 PSNs; the next packet tells which. */
static void unknown_pmtu_has_five_candidates(void **state)
{
	static const uint32_t spans[] = {40, 20, 10, 5, 3};

	for (uint32_t d = 1; d <= 42; d++) {
		enum hp3_tx_kind want = d <= 40 ? HP3_TX_RETRANSMIT : HP3_TX_EPOCH;
		uint8_t learnt = 0;

		for (uint32_t k = 0; k < 5; k++) {
			if (spans[k] == d) {
				want = HP3_TX_NEW;
				learnt = (uint8_t)(HP3_PMTU_LOG2_MIN + k);
			}
		}
		start(0xfffff0, 0);
		assert_int_equal(tx_read(0xfffff0, 10000), HP3_TX_NEW);
		assert_int_equal(hp3_stream_end(&s), 0xfffff0 + 40 - WRAP);
		assert_int_equal(tx(0xfffff0 + d), want);
		assert_int_equal(pmtu, learnt);
	}
}

static void span_that_fits_several_pmtus_teaches_nothing(void **state)
{
	start(10, 0);
	tx_read(10, 300); /* 2 at 256, 1 at all others */
	assert_int_equal(tx(11), HP3_TX_NEW);
	assert_int_equal(pmtu, 0);
	tx_read(12, 300);
	assert_int_equal(tx(14), HP3_TX_NEW);
	assert_int_equal(pmtu, 8);
	start(10, 0);
	tx_read(10, 256); /* one PSN whatever the PMTU is */
	assert_int_equal(s.open_len, 0);
	assert_int_equal(tx(11), HP3_TX_NEW);
	assert_int_equal(pmtu, 0);
}

/* IBTA 9.7.2.2: FIRST and MIDDLE are exactly one PMTU long. */
static void pmtu_is_learnt_from_first_and_middle(void **state)
{
	static const uint8_t teach[] = {HP3_OP_RC_SEND_FIRST, HP3_OP_RC_SEND_MIDDLE,
		HP3_OP_RC_WRITE_FIRST, HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_READ_RESP_FIRST,
		HP3_OP_RC_READ_RESP_MIDDLE};

	for (unsigned op = 0; op < 0x20; op++) {
		bool teaches = memchr(teach, (int)op, sizeof(teach)) != NULL;

		for (uint8_t k = 7; k <= 13; k++) {
			struct hp3_view v = packet((uint8_t)op, 0, (uint16_t)(1u << k));

			pmtu = 0;
			hp3_learn_pmtu(&v, &pmtu);
			assert_int_equal(pmtu, teaches && k >= 8 && k <= 12 ? k : 0);
			v.payload_len--;
			pmtu = 0;
			hp3_learn_pmtu(&v, &pmtu);
			assert_int_equal(pmtu, 0);
		}
	}
}

static void a_response_settles_the_open_read(void **state)
{
	struct hp3_view v = packet(HP3_OP_RC_READ_RESP_FIRST, 20, 2048);

	start(20, 0);
	tx_read(20, 10000);
	hp3_learn_pmtu(&v, &pmtu);
	assert_int_equal(hp3_stream_reply(&s, &v), HP3_REPLY_PROGRESS);
	assert_int_equal(tx(23), HP3_TX_RETRANSMIT); /* a candidate before, not now */
	assert_int_equal(tx(25), HP3_TX_NEW);
}

/* The RNIC asks for the rest of a READ with a new request in its middle. */
static void read_asked_again_from_its_middle(void **state)
{
	start(100, 10);
	tx_read(100, 16 * 1024);
	assert_int_equal(tx(116), HP3_TX_NEW);
	assert_int_equal(tx_read(107, 9 * 1024), HP3_TX_RETRANSMIT);
	assert_int_equal(s.hi, 116);
	start(100, 0);
	tx_read(100, 16 * 1024); /* 4, 8, 16, 32 or 64 */
	assert_int_equal(tx_read(107, 9 * 1024), HP3_TX_RETRANSMIT);
	assert_int_equal(s.open_len, 16 * 1024);
	assert_int_equal(tx(116), HP3_TX_NEW);
	assert_int_equal(pmtu, 10);
}

static void replies(void **state)
{
	start(0xfffffe, 10);
	for (uint32_t i = 0; i < 6; i++)
		tx(0xfffffe + i); /* .. 3 */
	assert_int_equal(rx_ack(0xfffffe), HP3_REPLY_PROGRESS);
	assert_int_equal(s.una, 0xffffff);
	assert_int_equal(rx_ack(0xfffffe), HP3_REPLY_STALE);
	/* A NAK or RNR NAK proves all before its PSN, not the PSN itself. */
	assert_int_equal(rx(HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, 0), HP3_REPLY_PROGRESS);
	assert_int_equal(s.una, 0);
	assert_int_equal(rx(HP3_SYN_RNR | 5, 1), HP3_REPLY_PROGRESS);
	assert_int_equal(s.una, 1);
	assert_int_equal(rx(HP3_SYN_RNR | 5, 1), HP3_REPLY_STALE);
	assert_int_equal(rx_ack(4), HP3_REPLY_BEYOND);
	assert_int_equal(s.una, 1);
	assert_int_equal(rx(HP3_SYN_NAK, 5), HP3_REPLY_BEYOND);
	assert_int_equal(rx(HP3_SYN_NAK, 4), HP3_REPLY_PROGRESS);
	assert_true(hp3_stream_idle(&s));
}

/* Rule 9: a READ has arrived when its first response comes; the rest only moves una on. */
static void rule_09_first_response_proves_the_read(void **state)
{
	struct hp3_view v = packet(HP3_OP_RC_READ_RESP_FIRST, 50, 1024);

	start(49, 10);
	tx(49);
	tx_read(50, 4096);
	assert_false(hp3_stream_idle(&s));
	assert_int_equal(hp3_stream_reply(&s, &v), HP3_REPLY_PROGRESS);
	assert_true(hp3_stream_idle(&s));
	for (uint32_t psn = 51; psn < 54; psn++) {
		v = packet(psn == 53 ? HP3_OP_RC_READ_RESP_LAST : HP3_OP_RC_READ_RESP_MIDDLE, psn,
			1024);
		assert_int_equal(hp3_stream_reply(&s, &v), HP3_REPLY_PROGRESS);
		assert_int_equal(s.una, psn + 1);
	}
	v.psn = 54;
	assert_int_equal(hp3_stream_reply(&s, &v), HP3_REPLY_BEYOND);
}

/* A READ whose span is unknown may be answered up to its upper bound. */
static void replies_to_an_open_read(void **state)
{
	struct hp3_view v = packet(HP3_OP_RC_READ_RESP_LAST, 139, 16);

	start(100, 0);
	tx_read(100, 10000);
	assert_int_equal(hp3_stream_reply(&s, &v), HP3_REPLY_PROGRESS);
	v.psn = 140;
	assert_int_equal(hp3_stream_reply(&s, &v), HP3_REPLY_BEYOND);
	/* The next request shows that the span was 10: it is in flight, whatever that reply said.
	 */
	assert_int_equal(tx(110), HP3_TX_NEW);
	assert_false(hp3_stream_idle(&s));
	assert_int_equal(rx_ack(110), HP3_REPLY_PROGRESS);
	assert_true(hp3_stream_idle(&s));
}

/* Three times around the PSN space, with ever changing numbers in flight. */
static void wrap(void **state)
{
	uint64_t sent = 0xfff000, acked = 0xfff000;

	start(0xfff000, 10);
	while (sent < 0xfff000 + 3ull * WRAP) {
		for (uint32_t n = 1 + (uint32_t)(sent % 977); n > 0; n--)
			assert_int_equal(tx((uint32_t)sent++), HP3_TX_NEW);
		assert_int_equal(tx((uint32_t)acked), HP3_TX_RETRANSMIT);
		assert_int_equal(tx((uint32_t)sent + 1), HP3_TX_EPOCH);
		assert_int_equal(rx_ack((uint32_t)sent), HP3_REPLY_BEYOND);
		acked += (sent - acked) * 3 / 4;
		assert_int_equal(rx_ack((uint32_t)acked - 1), HP3_REPLY_PROGRESS);
		assert_int_equal(rx_ack((uint32_t)acked - 1), HP3_REPLY_STALE);
		assert_int_equal(hp3_stream_idle(&s), acked == sent);
	}
}

/*
 * A flow whose replies nobody attributes (unpaired) sends for long: una must not fall so far behind
 * that "before" turns into "after". Never idle, and the first reply that is attributed counts.
 */
static void long_without_replies(void **state)
{
	uint32_t psn = 77;

	start(psn, 10);
	for (uint32_t n = 0; n < WRAP + WRAP / 2; n++) {
		assert_int_equal(tx(psn++), HP3_TX_NEW);
		if (hp3_stream_idle(&s))
			fail_msg("idle after %u packets without a reply", n + 1);
		if ((n & 0xfffff) == 0 || (n & 0xfffff) == 0xfffff) {
			struct hp3_stream before = s;

			if (rx_ack(psn - 1) != HP3_REPLY_PROGRESS)
				fail_msg("an ACK of packet %u is no progress", n + 1);
			assert_true(hp3_stream_idle(&s));
			s = before;
		}
	}
}

/* The first READ takes more PSNs than was counted when it left: what the RNIC lacks of it, it asks
 * for again, whether the path MTU is known by then or not. */
static void the_first_read_is_asked_for_again(void **state)
{
	for (uint8_t log2 = HP3_PMTU_LOG2_MIN; log2 <= HP3_PMTU_LOG2_MAX; log2++) {
		for (uint32_t lost = 0; lost < 64; lost++) {
			start(100, 0);
			assert_int_equal(tx_read(100, 64u << log2), HP3_TX_NEW);
			rx_ack(163);
			pmtu = lost % 2 == 0 ? log2 : 0;
			assert_int_equal(
				tx_read(100 + lost, (64 - lost) << log2), HP3_TX_RETRANSMIT);
			assert_int_equal(tx(164), HP3_TX_NEW);
			assert_int_equal(tx_read(100 + lost, 64u << log2), HP3_TX_RETRANSMIT);
		}
	}
	assert_int_equal(tx(100 - 3 * 64), HP3_TX_EPOCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flush_and_atomic_write_take_one_psn),
		cmocka_unit_test(first_packet_has_unknown_history),
		cmocka_unit_test(only_the_exact_next_psn_is_new),
		cmocka_unit_test(rule_16_retransmission_window),
		cmocka_unit_test(span_of_a_read),
		cmocka_unit_test(unknown_pmtu_has_five_candidates),
		cmocka_unit_test(span_that_fits_several_pmtus_teaches_nothing),
		cmocka_unit_test(pmtu_is_learnt_from_first_and_middle),
		cmocka_unit_test(a_response_settles_the_open_read),
		cmocka_unit_test(read_asked_again_from_its_middle),
		cmocka_unit_test(replies),
		cmocka_unit_test(rule_09_first_response_proves_the_read),
		cmocka_unit_test(replies_to_an_open_read),
		cmocka_unit_test(the_first_read_is_asked_for_again),
		cmocka_unit_test(wrap),
		cmocka_unit_test(long_without_replies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
