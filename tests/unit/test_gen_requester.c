/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's requester: packets, AckReq, going back, timers, READ; a peer is played by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include "content.h"
#include "requester.h"

#define MTU 1024u
#define T   UINT64_C(1048576) /* 4.096 us * 2^8 */

static struct gen_requester_params params;
static struct gen_requester r;

static void begin(uint32_t psn)
{
	params = (struct gen_requester_params){.mtu = MTU,
		.window = 128,
		.ack_every = 64,
		.max_reads = 2,
		.timeout = 8,
		.retry_count = 3,
		.rnr_retry = 2};
	gen_requester_init(&r, &params, psn);
}

static int end(void **state)
{
	gen_requester_free(&r);
	return 0;
}

static struct gen_packet next(uint64_t now)
{
	struct gen_packet p;

	assert_true(gen_requester_ready(&r, now));
	assert_true(gen_requester_next(&r, now, &p));
	return p;
}

static void none(uint64_t now)
{
	struct gen_packet p;

	assert_false(gen_requester_ready(&r, now));
	assert_false(gen_requester_next(&r, now, &p));
}

static struct gen_reply reply(
	uint8_t opcode, uint32_t psn, uint8_t syndrome, uint16_t len, uint64_t now)
{
	struct hp3_view v = {.class = HP3_CLASS_RC_REPLY,
		.opcode = opcode,
		.psn = psn,
		.syndrome = syndrome,
		.flags = hp3_opcodes[opcode].flags,
		.payload_len = len};
	struct gen_reply out;

	gen_requester_reply(&r, &v, now, &out);
	return out;
}

static struct gen_reply ack(uint32_t psn, uint64_t now)
{
	return reply(HP3_OP_RC_ACK, psn, 0x1f, 0, now);
}

static struct gen_reply nak(uint32_t psn, uint64_t now)
{
	return reply(HP3_OP_RC_ACK, psn, HP3_SYN_NAK, 0, now);
}

static uint32_t completed(void)
{
	struct gen_message m;
	uint32_t n = 0;

	while (gen_requester_completed(&r, &m))
		n++;
	return n;
}

static void a_message_becomes_first_middle_last(void **state)
{
	static const uint8_t codes[] = {
		HP3_OP_RC_WRITE_FIRST, HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_WRITE_LAST};
	static const uint32_t lens[] = {MTU, MTU, 100};
	struct gen_packet p;

	begin(0xffffff);
	gen_requester_post(&r, GEN_WRITE, 2 * MTU + 100, 0x5000, 7);
	for (uint32_t i = 0; i < 3; i++) {
		p = next(10);
		assert_int_equal(p.opcode, codes[i]);
		assert_int_equal(p.len, lens[i]);
		assert_int_equal(p.offset, i * MTU);
		assert_int_equal(p.psn, hp3_psn_add(0xffffff, i));
		assert_int_equal(p.ackreq, i == 2);
		assert_int_equal(p.va, 0x5000);
		assert_int_equal(p.dma_len, 2 * MTU + 100);
		assert_int_equal(p.header, gen_header(0, 2 * MTU + 100));
	}
	none(10);
	assert_true(ack(0x000001, 500).rtt == 490);
	assert_int_equal(completed(), 1);
	assert_int_equal(r.n.acked_bytes, 2 * MTU + 100);
	assert_true(gen_requester_deadline(&r) == UINT64_MAX);
}

static void one_packet_is_only_and_nothing_is_a_packet_too(void **state)
{
	static const struct {
		enum gen_op op;
		uint8_t code;
	} kinds[] = {{GEN_WRITE, HP3_OP_RC_WRITE_ONLY}, {GEN_WRITE_IMM, HP3_OP_RC_WRITE_ONLY_IMM},
		{GEN_SEND, HP3_OP_RC_SEND_ONLY}};

	begin(5);
	for (uint32_t i = 0; i < 3; i++) {
		gen_requester_post(&r, kinds[i].op, i * 10, 0, 0);
		struct gen_packet p = next(1);

		assert_int_equal(p.opcode, kinds[i].code);
		assert_int_equal(p.len, i * 10);
		assert_true(p.ackreq);
	}
	ack(7, 2);
	assert_int_equal(completed(), 3);
}

/* Every 64th packet, the last, and the one that fills the window. */
static void ackreq_keeps_the_window_moving(void **state)
{
	begin(0);
	gen_requester_post(&r, GEN_SEND, 200 * MTU, 0, 0);
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(next(0).ackreq, i == 63 || i == 127);
	none(0);
	ack(63, 1);
	for (uint32_t i = 128; i < 192; i++)
		assert_int_equal(next(1).ackreq, i == 191);
	none(1);
	params.window = 3; /* half of it is one packet */
	ack(191, 2);
	for (uint32_t i = 192; i < 195; i++)
		assert_true(next(2).ackreq);
	none(2);
}

static void a_sequence_nak_goes_back_to_its_psn(void **state)
{
	struct gen_packet p;

	begin(100);
	gen_requester_post(&r, GEN_WRITE, 10 * MTU, 0, 0);
	for (int i = 0; i < 10; i++)
		assert_false(next(0).again);
	assert_true(nak(104, 5).progress);
	for (uint32_t i = 4; i < 10; i++) {
		p = next(6);
		assert_int_equal(p.psn, 100 + i);
		assert_true(p.again);
		assert_int_equal(p.offset, i * MTU);
	}
	assert_int_equal(r.n.again, 6);
	/* An answer may be to either copy: no round trip follows from it. */
	assert_true(ack(109, 9).rtt == 0);
	assert_int_equal(completed(), 1);
}

/* The ACK of the first copy arrives after going back: what it covers is not sent again. */
static void an_ack_beyond_nxt_moves_on(void **state)
{
	begin(0);
	gen_requester_post(&r, GEN_WRITE, 4 * MTU, 0, 0);
	gen_requester_post(&r, GEN_WRITE, 4 * MTU, 0, 0);
	for (int i = 0; i < 8; i++)
		next(0);
	nak(1, 1);
	assert_int_equal(next(1).psn, 1);
	ack(5, 2);
	assert_int_equal(completed(), 1);
	assert_int_equal(next(2).psn, 6);
	assert_int_equal(next(2).psn, 7);
	none(2);
	ack(7, 3);
	assert_int_equal(completed(), 1);
}

static void replies_outside_the_window_mean_nothing(void **state)
{
	begin(50);
	gen_requester_post(&r, GEN_WRITE, 3 * MTU, 0, 0);
	next(0);
	next(0);
	assert_false(ack(49, 1).progress);
	assert_false(ack(52, 1).progress); /* never sent */
	assert_false(nak(52, 1).progress);
	assert_int_equal(r.n.stale, 3);
	assert_int_equal(r.una, 50);
	assert_int_equal(next(1).psn, 52);
}

static void the_timer_runs_from_ackreq_and_from_progress(void **state)
{
	begin(0);
	gen_requester_post(&r, GEN_WRITE, 2 * MTU, 0, 0);
	next(10);
	assert_true(gen_requester_deadline(&r) == UINT64_MAX); /* nothing must be answered yet */
	next(20);
	assert_true(gen_requester_deadline(&r) == 20 + T);
	gen_requester_timer(&r, 19 + T);
	assert_int_equal(r.n.timeouts, 0);
	gen_requester_timer(&r, 20 + T);
	assert_int_equal(r.n.timeouts, 1);
	assert_int_equal(next(21 + T).psn, 0);
	ack(0, 50 + T);
	assert_true(gen_requester_deadline(&r) == UINT64_MAX); /* the rest goes again first */
	next(60 + T);
	assert_true(gen_requester_deadline(&r) == 60 + 2 * T);
}

static void too_many_timeouts_end_it_and_progress_forgives(void **state)
{
	uint64_t now = 0;

	begin(0);
	gen_requester_post(&r, GEN_WRITE, 2 * MTU, 0, 0);
	for (int i = 0; i < 3; i++) {
		next(now);
		next(now);
		now += T;
		gen_requester_timer(&r, now);
	}
	next(now);
	next(now);
	ack(0, now + 1);
	for (int i = 0; i < 3; i++) {
		now += T + 1;
		gen_requester_timer(&r, now);
		assert_int_equal(r.failure, GEN_FINE);
		next(now);
	}
	gen_requester_timer(&r, now + T);
	assert_int_equal(r.failure, GEN_RETRY_EXCEEDED);
	none(now + T);
	assert_int_equal(gen_requester_post(&r, GEN_WRITE, 1, 0, now), -EPIPE);
	assert_true(gen_requester_deadline(&r) == UINT64_MAX);
}

static void an_rnr_nak_waits_for_its_time(void **state)
{
	uint64_t wait = gen_rnr_ns(14); /* 1.28 ms */

	assert_int_equal(gen_rnr_ns(1), 10000);
	assert_int_equal(gen_rnr_ns(0), 655360000);
	assert_int_equal(gen_rnr_ns(31), 491520000);
	assert_int_equal(wait, 1280000);
	begin(0);
	for (int i = 0; i < 3; i++)
		gen_requester_post(&r, GEN_SEND, 10, 0, 0);
	for (int i = 0; i < 3; i++)
		next(0);
	reply(HP3_OP_RC_ACK, 1, HP3_SYN_RNR | 14, 0, 100);
	assert_int_equal(completed(), 1);
	none(100 + wait - 1);
	assert_true(gen_requester_deadline(&r) == 100 + wait);
	gen_requester_timer(&r, 100 + wait);
	assert_int_equal(next(100 + wait).psn, 1);
	reply(HP3_OP_RC_ACK, 1, HP3_SYN_RNR | 14, 0, 2 * wait);
	assert_int_equal(r.failure, GEN_FINE);
	next(3 * wait);
	reply(HP3_OP_RC_ACK, 1, HP3_SYN_RNR | 14, 0, 4 * wait);
	assert_int_equal(r.failure, GEN_RNR_EXCEEDED);
}

static void other_naks_are_fatal(void **state)
{
	begin(0);
	gen_requester_post(&r, GEN_WRITE, 10, 0, 0);
	next(0);
	reply(HP3_OP_RC_ACK, 0, HP3_SYN_NAK | 2, 0, 1);
	assert_int_equal(r.failure, GEN_REMOTE_ERROR);
}

static uint8_t response(uint32_t at, uint32_t n)
{
	if (n == 1)
		return HP3_OP_RC_READ_RESP_ONLY;
	return at == 0       ? HP3_OP_RC_READ_RESP_FIRST
	       : at == n - 1 ? HP3_OP_RC_READ_RESP_LAST
			     : HP3_OP_RC_READ_RESP_MIDDLE;
}

static void a_read_takes_as_many_psns_as_answers(void **state)
{
	struct gen_packet p;

	begin(0xfffffe);
	gen_requester_post(&r, GEN_READ, 3 * MTU + 1, 0x9000, 0);
	gen_requester_post(&r, GEN_WRITE, 5, 0, 0);
	p = next(0);
	assert_int_equal(p.opcode, HP3_OP_RC_READ_REQUEST);
	assert_int_equal(p.dma_len, 3 * MTU + 1);
	assert_int_equal(next(0).psn, 2);
	for (uint32_t i = 0; i < 4; i++) {
		struct gen_reply out =
			reply(response(i, 4), hp3_psn_add(0xfffffe, i), 0x1f, i < 3 ? MTU : 1, 5);

		assert_true(out.data);
		assert_int_equal(out.va, 0x9000 + i * MTU);
		assert_int_equal(completed(), i == 3);
	}
	ack(2, 6);
	assert_int_equal(completed(), 1);
	assert_int_equal(r.n.acked_bytes, 3 * MTU + 6);
}

/* READ responses acknowledge what was before them; a gap in them, or an ACK behind them, is an
 * implied NAK, and only the rest is asked for. */
static void missing_responses_are_asked_for_again_once(void **state)
{
	struct gen_packet p;

	begin(0);
	gen_requester_post(&r, GEN_WRITE, 10, 0, 0);
	gen_requester_post(&r, GEN_READ, 8 * MTU, 0x10000, 0);
	gen_requester_post(&r, GEN_WRITE, 10, 0, 0);
	next(0);
	next(0);
	next(0);
	assert_true(reply(HP3_OP_RC_READ_RESP_FIRST, 1, 0x1f, MTU, 1).data);
	assert_int_equal(completed(), 1);
	assert_true(reply(HP3_OP_RC_READ_RESP_MIDDLE, 2, 0x1f, MTU, 1).data);
	assert_false(reply(HP3_OP_RC_READ_RESP_MIDDLE, 4, 0x1f, MTU, 1).data);
	assert_false(reply(HP3_OP_RC_READ_RESP_MIDDLE, 5, 0x1f, MTU, 1).data);
	assert_int_equal(r.n.implied_naks, 1);
	p = next(2);
	assert_int_equal(p.opcode, HP3_OP_RC_READ_REQUEST);
	assert_int_equal(p.psn, 3);
	assert_int_equal(p.va, 0x10000 + 2 * MTU);
	assert_int_equal(p.dma_len, 6 * MTU);
	assert_true(p.again);
	assert_int_equal(next(2).psn, 9);
	assert_false(ack(9, 3).progress);
	assert_int_equal(r.n.implied_naks, 1); /* same una */
	for (uint32_t i = 2; i < 8; i++)
		assert_true(reply(response(i - 2, 6), 1 + i, 0x1f, MTU, 4).data);
	assert_int_equal(completed(), 1);
	ack(9, 5);
	assert_int_equal(completed(), 1);
}

static void reads_outstanding_are_bounded(void **state)
{
	begin(0);
	for (int i = 0; i < 3; i++)
		gen_requester_post(&r, GEN_READ, MTU, 0, 0);
	next(0);
	next(0);
	none(0);
	reply(HP3_OP_RC_READ_RESP_ONLY, 0, 0x1f, MTU, 1);
	assert_int_equal(next(1).psn, 2);
}

static void a_read_response_of_a_wrong_length_ends_it(void **state)
{
	begin(0);
	gen_requester_post(&r, GEN_READ, 2 * MTU, 0, 0);
	next(0);
	reply(HP3_OP_RC_READ_RESP_FIRST, 0, 0x1f, MTU - 4, 1);
	assert_int_equal(r.failure, GEN_BAD_RESPONSE);
}

static void the_queue_grows_to_its_bound(void **state)
{
	begin(0);
	assert_int_equal(gen_requester_post(&r, GEN_WRITE, GEN_LEN_MAX + 1, 0, 0), -EINVAL);
	for (uint32_t i = 0; i < GEN_QUEUE_MAX; i++)
		assert_int_equal(gen_requester_post(&r, GEN_WRITE, i, 0, i), 0);
	assert_int_equal(gen_requester_post(&r, GEN_WRITE, 1, 0, 0), -ENOBUFS);
	assert_int_equal(gen_requester_open(&r), GEN_QUEUE_MAX);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(next(0).header, gen_header(i, i));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, end)
	const struct CMUnitTest tests[] = {
		TEST(a_message_becomes_first_middle_last),
		TEST(one_packet_is_only_and_nothing_is_a_packet_too),
		TEST(ackreq_keeps_the_window_moving),
		TEST(a_sequence_nak_goes_back_to_its_psn),
		TEST(an_ack_beyond_nxt_moves_on),
		TEST(replies_outside_the_window_mean_nothing),
		TEST(the_timer_runs_from_ackreq_and_from_progress),
		TEST(too_many_timeouts_end_it_and_progress_forgives),
		TEST(an_rnr_nak_waits_for_its_time),
		TEST(other_naks_are_fatal),
		TEST(a_read_takes_as_many_psns_as_answers),
		TEST(missing_responses_are_asked_for_again_once),
		TEST(reads_outstanding_are_bounded),
		TEST(a_read_response_of_a_wrong_length_ends_it),
		TEST(the_queue_grows_to_its_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
