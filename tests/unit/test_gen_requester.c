/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's requester without losses: messages as packets, AckReq, the queue. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "content.h"
#include "gen_requester.h"

static void a_message_becomes_first_middle_last(void **state)
{
	static const uint8_t codes[] = {
		HP3_OP_RC_WRITE_FIRST, HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_WRITE_LAST};
	static const uint32_t lens[] = {MTU, MTU, 100};
	struct gen_packet p;

	requester_begin(0xffffff);
	gen_requester_post(&r, GEN_WRITE, 2 * MTU + 100, 0x5000, 7);
	for (uint32_t i = 0; i < 3; i++) {
		p = expect_next(10);
		assert_int_equal(p.opcode, codes[i]);
		assert_int_equal(p.len, lens[i]);
		assert_int_equal(p.offset, i * MTU);
		assert_int_equal(p.psn, hp3_psn_add(0xffffff, i));
		assert_int_equal(p.ackreq, i == 2);
		assert_int_equal(p.va, 0x5000);
		assert_int_equal(p.dma_len, 2 * MTU + 100);
		assert_int_equal(p.header, gen_header(0, 2 * MTU + 100));
	}
	expect_none(10);
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

	requester_begin(5);
	for (uint32_t i = 0; i < 3; i++) {
		gen_requester_post(&r, kinds[i].op, i * 10, 0, 0);
		struct gen_packet p = expect_next(1);

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
	requester_begin(0);
	gen_requester_post(&r, GEN_SEND, 200 * MTU, 0, 0);
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(expect_next(0).ackreq, i == 63 || i == 127);
	expect_none(0);
	ack(63, 1);
	for (uint32_t i = 128; i < 192; i++)
		assert_int_equal(expect_next(1).ackreq, i == 191);
	expect_none(1);
	params.window = 3; /* half of it is one packet */
	ack(191, 2);
	for (uint32_t i = 192; i < 195; i++)
		assert_true(expect_next(2).ackreq);
	expect_none(2);
}

static void the_queue_grows_to_its_bound(void **state)
{
	requester_begin(0);
	assert_int_equal(gen_requester_post(&r, GEN_WRITE, GEN_LEN_MAX + 1, 0, 0), -EINVAL);
	for (uint32_t i = 0; i < GEN_QUEUE_MAX; i++)
		assert_int_equal(gen_requester_post(&r, GEN_WRITE, i, 0, i), 0);
	assert_int_equal(gen_requester_post(&r, GEN_WRITE, 1, 0, 0), -ENOBUFS);
	assert_int_equal(gen_requester_open(&r), GEN_QUEUE_MAX);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(expect_next(0).header, gen_header(i, i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		REQUESTER_TEST(a_message_becomes_first_middle_last),
		REQUESTER_TEST(one_packet_is_only_and_nothing_is_a_packet_too),
		REQUESTER_TEST(ackreq_keeps_the_window_moving),
		REQUESTER_TEST(the_queue_grows_to_its_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
