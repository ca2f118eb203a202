/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen_responder.h"

struct gen_responder_params params;
struct gen_responder r;
uint64_t now;

void begin(uint32_t psn)
{
	params = (struct gen_responder_params){
		.mtu = MTU, .rkey = RKEY, .rnr_timer = 12, .check = true};
	now = 1000000;
	gen_responder_init(&r, &params, psn);
}

/* A request as a frame: `len` bytes of the message with this header from `offset` on. */
struct gen_arrival request(uint8_t opcode, uint32_t psn, bool ackreq, uint64_t header,
	uint32_t offset, uint32_t len, uint32_t damage)
{
	static const struct hp3_addressing to = {.ttl = 64, .sport = 50000, .pkey = 0xffff};
	uint8_t payload[MTU + 4], frame[MTU + 200];
	struct hp3_fields f = {.opcode = opcode,
		.ackreq = ackreq,
		.psn = psn,
		.va = GEN_MEMORY_BASE + offset,
		.rkey = RKEY,
		.dma_len = (uint32_t)header,
		.payload = payload,
		.payload_len = (uint16_t)len};
	struct gen_arrival out;
	struct hp3_view v;
	int n;

	gen_message_fill(payload, header, offset, len);
	if (damage < len)
		payload[damage] ^= 1;
	n = hp3_build(frame, sizeof(frame), &to, &f);
	assert_true(n > 0);
	hp3_parse(frame, (uint32_t)n, &v);
	gen_responder_request(&r, frame, &v, now, &out);
	return out;
}

struct gen_arrival only(uint32_t psn, bool ackreq, uint32_t number)
{
	return request(HP3_OP_RC_SEND_ONLY, psn, ackreq, gen_header(number, 100), 0, 100, MTU);
}

struct gen_arrival read_request(uint32_t psn, uint32_t offset, uint32_t len)
{
	return request(HP3_OP_RC_READ_REQUEST, psn, false, len, offset, 0, MTU);
}

struct gen_packet answer(void)
{
	struct gen_packet p;

	assert_true(gen_responder_next(&r, now, &p));
	return p;
}

void no_answer(void)
{
	assert_int_equal(gen_responder_ready(&r, now), GEN_NO_ANSWER);
}
