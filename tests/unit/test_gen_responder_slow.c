/* SPDX-License-Identifier: BSD-3-Clause */
/* roce-gen's responder with configured delays: READ service, coalesced ACKs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen_responder.h"

#define MS UINT64_C(1000000)

static void a_read_is_served_in_its_time(void **state)
{
	begin(0);
	params.read_service_ns = 50 * MS;
	read_request(0, 0, 2 * MTU);
	no_answer();
	assert_int_equal(gen_responder_deadline(&r), now + 50 * MS);
	now += 50 * MS - 1;
	no_answer();
	now++;
	assert_int_equal(answer().opcode, HP3_OP_RC_READ_RESP_FIRST);
	assert_int_equal(answer().opcode, HP3_OP_RC_READ_RESP_LAST);
	assert_int_equal(gen_responder_deadline(&r), UINT64_MAX);
}

/* An ACK behind the READ would say that its data were lost; one before it need not wait. */
static void acks_keep_their_side_of_a_read(void **state)
{
	begin(0);
	params.read_service_ns = 50 * MS;
	only(0, true, 0);
	read_request(1, 0, MTU);
	assert_int_equal(answer().psn, 0);
	only(2, true, 1);
	no_answer();
	now += 50 * MS;
	assert_int_equal(answer().opcode, HP3_OP_RC_READ_RESP_ONLY);
	assert_int_equal(answer().psn, 2);
	no_answer();
}

static void acks_wait_for_others_from_the_first_on(void **state)
{
	begin(0);
	params.ack_delay_ns = 10 * MS;
	only(0, true, 0);
	now += 6 * MS;
	only(1, true, 1);
	no_answer();
	assert_int_equal(gen_responder_deadline(&r), now + 4 * MS);
	now += 4 * MS;
	assert_int_equal(answer().psn, 1);
	no_answer();
	only(2, true, 2);
	assert_int_equal(gen_responder_deadline(&r), now + 10 * MS);
}

static void naks_wait_for_nothing(void **state)
{
	begin(0);
	params.ack_delay_ns = 10 * MS;
	only(0, true, 0);
	only(2, true, 2);
	assert_int_equal(answer().syndrome, HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE);
	no_answer();
	begin(0);
	params.ack_delay_ns = 10 * MS;
	params.rnr_every = 1;
	only(0, true, 0);
	assert_int_equal(answer().syndrome, HP3_SYN_RNR | 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_is_served_in_its_time),
		cmocka_unit_test(acks_keep_their_side_of_a_read),
		cmocka_unit_test(acks_wait_for_others_from_the_first_on),
		cmocka_unit_test(naks_wait_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
