/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "standard_scene.h"

uint32_t closing;
bool standard_short;

/* Without AckReq. */
static int plain(uint32_t p)
{
	const struct hp3_fields f = {
		.opcode = HP3_OP_RC_SEND_ONLY, .psn = p & HP3_PSN_MASK, .payload_len = 100};

	return standard_short ? request(&q, &f) : middle(&q, p);
}

void standard_config(void)
{
	probing_config();
	rig.cfg.probes = HP3_PROBES_STANDARD;
}

void standard_congested_behind(int (*newest)(uint32_t psn))
{
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	for (unsigned i = 0; info(&q).state == HP3_RFR_STEADY && i < 10; i++) {
		struct hp3_fields f = {.opcode = HP3_OP_RC_ACK, .becn = true, .psn = psn};

		last(&q, psn++);
		newest(psn++);
		pass_time(RTT);
		response(&q, &f);
		if (info(&q).state == HP3_RFR_STEADY)
			pass_time(CYCLE);
	}
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	assert_int_equal(rig.nprobes, 0);
}

void standard_congested(void)
{
	standard_congested_behind(plain);
}

void standard_asking(void)
{
	standard_congested();
	closing = psn++;
	assert_int_equal(plain(closing), HP3_PASS);
	assert_int_equal(plain(psn++), HP3_HOLD);
	pass_time(RTT);
	ack(&q, closing);
	assert_int_equal(info(&q).state, HP3_RFR_PROBING);
	assert_int_equal(rig.nprobes, 1);
}

void standard_mine(void)
{
	pass_time(RTT);
	ack(&q, closing);
	assert_int_equal(rig.nprobes, 2);
}
