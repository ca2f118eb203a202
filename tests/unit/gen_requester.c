/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen_requester.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct gen_requester_params params;
struct gen_requester r;

void requester_begin(uint32_t psn)
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

int requester_end(void **state)
{
	gen_requester_free(&r);
	return 0;
}

struct gen_packet expect_next(uint64_t now)
{
	struct gen_packet p;

	assert_true(gen_requester_ready(&r, now));
	assert_true(gen_requester_next(&r, now, &p));
	return p;
}

void expect_none(uint64_t now)
{
	struct gen_packet p;

	assert_false(gen_requester_ready(&r, now));
	assert_false(gen_requester_next(&r, now, &p));
}

struct gen_reply reply(uint8_t opcode, uint32_t psn, uint8_t syndrome, uint16_t len, uint64_t now)
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

struct gen_reply ack(uint32_t psn, uint64_t now)
{
	return reply(HP3_OP_RC_ACK, psn, 0x1f, 0, now);
}

struct gen_reply nak(uint32_t psn, uint64_t now)
{
	return reply(HP3_OP_RC_ACK, psn, HP3_SYN_NAK, 0, now);
}

uint32_t completed(void)
{
	struct gen_message m;
	uint32_t n = 0;

	while (gen_requester_completed(&r, &m))
		n++;
	return n;
}
