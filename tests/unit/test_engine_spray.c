/* SPDX-License-Identifier: BSD-3-Clause */
/* What begins an agreement to spray a queue pair, and what does not (docs/spray.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "rfr/spraying.h"

#define LARGE 4096u
#define LONG  64u /* packets: far more than LARGE bytes */

static struct qp q;
static uint32_t psn;

static enum hp3_spray_state state(void)
{
	const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
	struct hp3_flow_info info;

	assert_int_equal(
		hp3_flow_info(rig.e, hp3_flow_find(rig.e, &ends, q.rqpn), rig.now, &info), 0);
	return (enum hp3_spray_state)info.spray;
}

/* A queue pair that has sent, and whose path MTU is known. */
static void ready(void)
{
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4,
		.lanes = 8,
		.bytes = LARGE,
		.beat_ns = MS,
		.wait_ns = MS,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig_configure();
	q = make_qp(0);
	psn = 100;
	set_up(&q);
	middle(&q, psn++);
	ack(&q, psn - 1);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
}

/* All leave as they came. */
static void emit(uint8_t opcode, uint32_t dma_len)
{
	static const uint8_t payload[PMTU];
	const struct hp3_fields f = {.opcode = opcode,
		.psn = psn++,
		.dma_len = dma_len,
		.payload = payload,
		.payload_len = opcode == HP3_OP_RC_READ_REQUEST ? 0 : PMTU};

	assert_int_equal(request(&q, &f), HP3_PASS);
	assert_int_equal(rig.vd.sport, q.home);
}

static void a_large_write_does(void **state_)
{
	ready();
	emit(HP3_OP_RC_WRITE_FIRST, LARGE - 1);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
	emit(HP3_OP_RC_WRITE_LAST, 0);
	emit(HP3_OP_RC_WRITE_FIRST, LARGE);
	assert_int_equal(state(), HP3_SPRAY_ASKING);
}

/* Its length is on no packet of it. */
static void a_send_does_not(void **state_)
{
	ready();
	emit(HP3_OP_RC_SEND_FIRST, 0);
	for (uint32_t i = 0; i < LONG; i++)
		emit(HP3_OP_RC_SEND_MIDDLE, 0);
	emit(HP3_OP_RC_SEND_LAST, 0);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
}

/* What is large about a READ comes from the other side. */
static void a_read_does_not(void **state_)
{
	ready();
	emit(HP3_OP_RC_READ_REQUEST, LARGE);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
}

/* Responses leave on the port of the replies: an acknowledgement must not overtake them. */
static void responses_take_one_path(void **state_)
{
	static const uint8_t payload[PMTU];

	ready();
	emit(HP3_OP_RC_WRITE_FIRST, LARGE); /* its requests are to be sprayed */
	for (uint32_t i = 0; i < LONG; i++) {
		const struct hp3_fields f = {
			.opcode = i == 0 ? HP3_OP_RC_READ_RESP_FIRST : HP3_OP_RC_READ_RESP_MIDDLE,
			.psn = 500 + i,
			.syndrome = 0x1f,
			.payload = payload,
			.payload_len = PMTU};

		assert_int_equal(request(&q, &f), HP3_PASS);
		assert_int_equal(rig.vd.sport, q.home);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_large_write_does),
		RIG_TEST(a_send_does_not),
		RIG_TEST(a_read_does_not),
		RIG_TEST(responses_take_one_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
