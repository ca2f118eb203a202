/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's responder: order, duplicates, one NAK for a gap, RNR, READ, refused requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen_responder.h"

static void acks_merge(void **state)
{
	struct gen_packet p;

	begin(0xfffffe);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(only(hp3_psn_add(0xfffffe, i), true, i).message);
	p = answer();
	assert_int_equal(p.opcode, HP3_OP_RC_ACK);
	assert_int_equal(p.psn, 0);
	assert_int_equal(HP3_SYN_KIND(p.syndrome), HP3_SYN_ACK);
	assert_int_equal(p.msn, 3);
	no_answer();
	assert_true(only(1, false, 3).fresh);
	no_answer();
	assert_int_equal(r.n.checked, 4);
	assert_int_equal(r.n.wrong, 0);
}

static void a_gap_draws_one_nak(void **state)
{
	struct gen_packet p;

	begin(10);
	only(10, true, 0);
	assert_false(only(12, true, 2).fresh);
	assert_false(only(13, true, 3).fresh);
	p = answer();
	assert_int_equal(p.psn, 11); /* and so acknowledges 10 */
	assert_int_equal(p.syndrome, HP3_SYN_NAK);
	no_answer();
	only(14, true, 4);
	no_answer();
	only(11, true, 1);
	assert_int_equal(answer().psn, 11);
	only(13, true, 3); /* the next gap is a new one */
	assert_int_equal(answer().psn, 12);
	assert_int_equal(r.n.out_of_seq_request, 2);
	assert_int_equal(r.n.out_of_order, 4);
}

static void duplicates_are_acknowledged_with_the_latest(void **state)
{
	begin(5);
	for (uint32_t i = 0; i < 4; i++)
		only(5 + i, false, i);
	assert_false(only(6, false, 1).fresh);
	assert_int_equal(answer().psn, 8);
	assert_int_equal(r.n.duplicates, 1);
	assert_int_equal(r.n.messages, 4);
}

static void a_message_is_checked_byte_by_byte(void **state)
{
	uint64_t h = gen_header(9, 2 * MTU + 20);

	begin(0);
	for (uint32_t round = 0; round < 2; round++) {
		request(HP3_OP_RC_WRITE_FIRST, 3 * round, false, h, 0, MTU, MTU);
		request(HP3_OP_RC_WRITE_MIDDLE, 3 * round + 1, false, h, MTU, MTU,
			round == 0 ? MTU : 1000);
		assert_true(
			request(HP3_OP_RC_WRITE_LAST_IMM, 3 * round + 2, true, h, 2 * MTU, 20, MTU)
				.immediate);
		assert_int_equal(r.n.checked, round + 1);
		assert_int_equal(r.n.wrong, round);
	}
	/* A header that promises another length. */
	request(HP3_OP_RC_SEND_ONLY, 6, true, gen_header(1, 101), 0, 100, MTU);
	assert_int_equal(r.n.wrong, 2);
	request(HP3_OP_RC_SEND_ONLY, 7, true, gen_header(1, 4), 0, 4, MTU);
	assert_int_equal(r.n.unchecked, 1);
}

static void no_buffer_draws_an_rnr_nak_and_silence(void **state)
{
	struct gen_packet p;

	begin(0);
	params.rnr_every = 2;
	assert_true(only(0, true, 0).fresh);
	answer();
	assert_false(only(1, true, 1).fresh);
	p = answer();
	assert_int_equal(p.psn, 1);
	assert_int_equal(p.syndrome, HP3_SYN_RNR | 12);
	only(2, true, 2);
	no_answer();
	assert_true(only(1, true, 1).fresh);
	assert_int_equal(answer().psn, 1);
	assert_true(only(2, true, 2).fresh);
	assert_false(only(3, true, 3).fresh);
	assert_int_equal(r.n.rnr_naks, 2);
	assert_int_equal(r.n.out_of_seq_request, 0);
}

static void responses_and_acks_are_one_stream(void **state)
{
	struct gen_packet p;

	begin(0);
	read_request(0, 4096, 2 * MTU + 8);
	only(3, true, 0);
	for (uint32_t i = 0; i < 3; i++) {
		p = answer();
		assert_int_equal(p.opcode, i == 0   ? HP3_OP_RC_READ_RESP_FIRST
					   : i == 1 ? HP3_OP_RC_READ_RESP_MIDDLE
						    : HP3_OP_RC_READ_RESP_LAST);
		assert_int_equal(p.psn, i);
		assert_int_equal(p.va, GEN_MEMORY_BASE + 4096 + i * MTU);
		assert_int_equal(p.len, i < 2 ? MTU : 8);
		assert_int_equal(p.msn, 2);
	}
	p = answer();
	assert_int_equal(p.opcode, HP3_OP_RC_ACK);
	assert_int_equal(p.psn, 3);
	no_answer();
}

/* The requester went back into the READ: the rest of the old answer would be of no use. */
static void a_repeated_read_takes_the_place_of_the_old_one(void **state)
{
	struct gen_packet p;

	begin(0);
	read_request(0, 0, 4 * MTU);
	read_request(4, 8 * MTU, MTU);
	answer();
	read_request(2, 2 * MTU, 2 * MTU);
	p = answer();
	assert_int_equal(p.opcode, HP3_OP_RC_READ_RESP_FIRST);
	assert_int_equal(p.psn, 2);
	assert_int_equal(answer().psn, 3);
	no_answer();
	read_request(4, 8 * MTU, MTU);
	assert_int_equal(answer().opcode, HP3_OP_RC_READ_RESP_ONLY);
	assert_int_equal(r.n.duplicates, 2);
	assert_int_equal(r.expected, 5);
}

static void reads_beyond_the_queue_are_dropped(void **state)
{
	begin(0);
	for (uint32_t i = 0; i < GEN_READS_MAX + 1; i++)
		read_request(i, 0, MTU);
	assert_int_equal(r.expected, GEN_READS_MAX);
	assert_int_equal(r.n.reads_dropped, 1);
}

static void refused(uint8_t syndrome)
{
	struct gen_packet p = answer();

	assert_int_equal(p.syndrome, syndrome);
	assert_int_equal(p.psn, r.expected);
	assert_true(r.ended);
	only(r.expected, true, 0);
	no_answer();
}

static void what_breaks_the_protocol_is_refused(void **state)
{
	begin(0);
	request(HP3_OP_RC_WRITE_MIDDLE, 0, true, gen_header(0, 3 * MTU), 0, MTU, MTU);
	refused(HP3_SYN_NAK | 1);
	begin(0);
	request(HP3_OP_RC_WRITE_FIRST, 0, true, gen_header(0, 3 * MTU), 0, MTU - 4, MTU);
	refused(HP3_SYN_NAK | 1);
	begin(0);
	request(HP3_OP_RC_WRITE_FIRST, 0, false, gen_header(0, 2 * MTU), 0, MTU, MTU);
	request(HP3_OP_RC_SEND_LAST, 1, true, gen_header(0, 2 * MTU), MTU, MTU, MTU);
	refused(HP3_SYN_NAK | 1);
	begin(0);
	request(HP3_OP_RC_WRITE_ONLY, 0, true, gen_header(0, 99), 0, 100, MTU); /* RETH: 99 */
	refused(HP3_SYN_NAK | 1);
	begin(0);
	params.rkey = RKEY + 1;
	read_request(0, 0, 8);
	refused(HP3_SYN_NAK | 2);
	begin(0);
	read_request(0, 0xfffffff8u, 16); /* ends behind the memory */
	refused(HP3_SYN_NAK | 2);
	begin(0);
	request(HP3_OP_RC_CMP_SWAP, 0, true, 0, 0, 0, MTU);
	refused(HP3_SYN_NAK | 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_merge),
		cmocka_unit_test(a_gap_draws_one_nak),
		cmocka_unit_test(duplicates_are_acknowledged_with_the_latest),
		cmocka_unit_test(a_message_is_checked_byte_by_byte),
		cmocka_unit_test(no_buffer_draws_an_rnr_nak_and_silence),
		cmocka_unit_test(responses_and_acks_are_one_stream),
		cmocka_unit_test(a_repeated_read_takes_the_place_of_the_old_one),
		cmocka_unit_test(reads_beyond_the_queue_are_dropped),
		cmocka_unit_test(what_breaks_the_protocol_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
