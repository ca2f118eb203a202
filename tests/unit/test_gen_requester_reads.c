/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's requester and READ: PSNs; missing and wrong responses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "gen_requester.h"

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

	requester_begin(0xfffffe);
	gen_requester_post(&r, GEN_READ, 3 * MTU + 1, 0x9000, 0);
	gen_requester_post(&r, GEN_WRITE, 5, 0, 0);
	p = expect_next(0);
	assert_int_equal(p.opcode, HP3_OP_RC_READ_REQUEST);
	assert_int_equal(p.dma_len, 3 * MTU + 1);
	assert_int_equal(expect_next(0).psn, 2);
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

	requester_begin(0);
	gen_requester_post(&r, GEN_WRITE, 10, 0, 0);
	gen_requester_post(&r, GEN_READ, 8 * MTU, 0x10000, 0);
	gen_requester_post(&r, GEN_WRITE, 10, 0, 0);
	expect_next(0);
	expect_next(0);
	expect_next(0);
	assert_true(reply(HP3_OP_RC_READ_RESP_FIRST, 1, 0x1f, MTU, 1).data);
	assert_int_equal(completed(), 1);
	assert_true(reply(HP3_OP_RC_READ_RESP_MIDDLE, 2, 0x1f, MTU, 1).data);
	assert_false(reply(HP3_OP_RC_READ_RESP_MIDDLE, 4, 0x1f, MTU, 1).data);
	assert_false(reply(HP3_OP_RC_READ_RESP_MIDDLE, 5, 0x1f, MTU, 1).data);
	assert_int_equal(r.n.implied_naks, 1);
	p = expect_next(2);
	assert_int_equal(p.opcode, HP3_OP_RC_READ_REQUEST);
	assert_int_equal(p.psn, 3);
	assert_int_equal(p.va, 0x10000 + 2 * MTU);
	assert_int_equal(p.dma_len, 6 * MTU);
	assert_true(p.again);
	assert_int_equal(expect_next(2).psn, 9);
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
	requester_begin(0);
	for (int i = 0; i < 3; i++)
		gen_requester_post(&r, GEN_READ, MTU, 0, 0);
	expect_next(0);
	expect_next(0);
	expect_none(0);
	reply(HP3_OP_RC_READ_RESP_ONLY, 0, 0x1f, MTU, 1);
	assert_int_equal(expect_next(1).psn, 2);
}

static void a_read_response_of_a_wrong_length_ends_it(void **state)
{
	requester_begin(0);
	gen_requester_post(&r, GEN_READ, 2 * MTU, 0, 0);
	expect_next(0);
	reply(HP3_OP_RC_READ_RESP_FIRST, 0, 0x1f, MTU - 4, 1);
	assert_int_equal(r.failure, GEN_BAD_RESPONSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		REQUESTER_TEST(a_read_takes_as_many_psns_as_answers),
		REQUESTER_TEST(missing_responses_are_asked_for_again_once),
		REQUESTER_TEST(reads_outstanding_are_bounded),
		REQUESTER_TEST(a_read_response_of_a_wrong_length_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
