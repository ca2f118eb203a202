/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts of requests that arrive out of order: the RNIC gets them in the order of their PSNs. Held
 * packets that follow a packet in the middle of a burst are in its verdict, and the burst
 * continues, unless an entry of theirs could be reused before the caller has handled it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "engine/pass/burst.h"
#include "packets.h"
#include "probes/agree.h"

#define QPS    4u
#define BLOCK  4u /* packets of a queue pair among which the network changes the order */
#define BURST  32u
#define ROUNDS 2000u
#define MANY   512u /* packets that may be held */
#define FEW    20u /* more than are held at a time, fewer than a burst has */

struct tag {
	uint32_t qp, psn;
};

static struct qp q[QPS];
static uint32_t sent[QPS], got[QPS]; /* next PSN of the network's, of the RNIC's */
static uint32_t order[QPS][BLOCK], left[QPS]; /* what is to come of a block */
static struct tag held[HP3_HELD(MANY) + 1];
static bool is_held[HP3_HELD(MANY) + 1];
static uint64_t rng;
static unsigned went_on, ended; /* bursts, behind a packet that others followed */
static uint8_t frames[BURST][PMTU + 128];
static struct hp3_pkt pkts[BURST];
static struct hp3_verdict vds[BURST];
static struct tag tags[BURST];
static struct hp3_acts acts;

static uint32_t next_psn(uint32_t i)
{
	if (left[i] == 0) {
		for (uint32_t k = 0; k < BLOCK; k++) {
			uint32_t at = hp3_random_below(&rng, k + 1);

			order[i][k] = order[i][at];
			order[i][at] = hp3_psn_add(sent[i], k);
		}
		sent[i] = hp3_psn_add(sent[i], BLOCK);
		left[i] = BLOCK;
	}
	return order[i][--left[i]];
}

static void make(uint32_t at, uint32_t i, uint32_t psn)
{
	struct hp3_addressing a = {.ttl = 64, .sport = (uint16_t)(0xd000 + at % 8), .pkey = 0xffff};
	const struct hp3_fields f = {.opcode = HP3_OP_RC_WRITE_MIDDLE,
		.dest_qpn = q[i].lqpn,
		.psn = psn,
		.payload_len = 0};
	int len;

	memcpy(a.src_ip, q[i].remote, 16);
	memcpy(a.dst_ip, q[i].local, 16);
	len = hp3_build(frames[at], sizeof(frames[at]), &a, &f);
	assert_true(len > 0);
	pkts[at] = (struct hp3_pkt){.frame = frames[at], .len = (uint32_t)len, .flow = HP3_NO_FLOW};
	tags[at] = (struct tag){i, psn};
}

static void rnic_gets(struct tag k)
{
	assert_int_equal(k.psn, got[k.qp]);
	got[k.qp] = hp3_psn_add(got[k.qp], 1);
}

static void give(uint32_t number, uint32_t count)
{
	for (uint32_t n = 0; n < count; n++, number = hp3_held_next(rig.e, number)) {
		assert_true(number <= HP3_HELD(MANY) && is_held[number]);
		is_held[number] = false;
		rnic_gets(held[number]);
	}
}

static void obey(uint32_t i)
{
	const struct hp3_verdict *vd = &vds[i];

	if (vd->kind == HP3_HOLD) {
		assert_true(vd->held <= HP3_HELD(MANY) && !is_held[vd->held]);
		is_held[vd->held] = true;
		held[vd->held] = tags[i];
		return;
	}
	assert_true(vd->kind == HP3_PASS || vd->kind == HP3_PASS_DELIVER);
	rnic_gets(tags[i]);
	if (vd->kind == HP3_PASS_DELIVER)
		give(vd->held, vd->count);
}

/* As app/hp3d/pipe/pipe.c does. */
static void burst(uint32_t n)
{
	hp3_see_burst(rig.e, pkts, n, HP3_DIR_RX);
	for (uint32_t from = 0; from < n;) {
		uint32_t done = hp3_burst(
			rig.e, pkts + from, n - from, HP3_DIR_RX, rig.now, vds + from, &acts);

		for (uint32_t i = from; i < from + done; i++) {
			went_on += vds[i].kind == HP3_PASS_DELIVER;
			assert_true(vds[i].kind != HP3_PASS_DELIVER || acts.obey);
			obey(i);
		}
		from += done;
		for (uint32_t i = 0; i < acts.n; i++) {
			if (acts.act[i].kind != HP3_ACT_DELIVER)
				continue;
			ended += from < n;
			give(acts.act[i].held, acts.act[i].count);
		}
		assert_true(from == n || acts.n != 0);
	}
}

static void asked(uint32_t i)
{
	const struct hp3_agree ask = {.kind = HP3_AGREE_ASK,
		.pmtu_log2 = 10,
		.evs = 8,
		.port = 0xd000,
		.number = 1 + i,
		.turn = 1,
		.next = HP3_NO_PSN,
		.responder = q[i].lqpn,
		.requester = q[i].rqpn,
		.keepalive_us = 1000000};

	acts.n = 0;
	hp3_agree_received(rig.e, HP3_ENDS(&q[i]), &ask, rig.now, &acts);
	for (uint32_t k = 0; k < 2; k++)
		make(k, i, k);
	burst(2);
}

static void begin(uint32_t hold)
{
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4 * QPS,
		.evs = 8,
		.bytes = 4096,
		.keepalive_ns = 1000 * MS,
		.wait_ns = 1000 * MS,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig.cfg.hold_packets = hold;
	rig_configure();
	memset(is_held, 0, sizeof(is_held));
	went_on = ended = 0;
	for (uint32_t i = 0; i < QPS; i++) {
		q[i] = make_qp(i);
		left[i] = got[i] = 0;
		asked(i);
		sent[i] = 2;
	}
}

static void rounds(unsigned isa)
{
	rng = 7 + isa;
	for (uint32_t r = 0; r < ROUNDS; r++) {
		uint32_t n = 1 + hp3_random_below(&rng, BURST);

		rig.now += US;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = hp3_random_below(&rng, QPS);

			make(i, k, next_psn(k));
		}
		burst(n);
	}
	assert_in_range(got[0], ROUNDS, HP3_PSN_MASK);
}

static void bursts_go_on(void **state)
{
	for (unsigned isa = 0; hp3_isa_name(isa) != NULL; isa++) {
		begin(MANY);
		if (hp3_isa_use(rig.e, isa) != 0)
			continue;
		rounds(isa);
		assert_true(went_on > ROUNDS);
		assert_int_equal(ended, 0);
	}
}

static void no_entry_is_taken_twice(void **state)
{
	for (unsigned isa = 0; hp3_isa_name(isa) != NULL; isa++) {
		begin(FEW);
		if (hp3_isa_use(rig.e, isa) != 0)
			continue;
		rounds(isa);
		assert_true(went_on > 100 && ended > 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bursts_go_on, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(no_entry_is_taken_twice, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
