/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of queue pairs between two addresses, paired by challenge (rule 15): nobody is paired
 * wrongly, and a queue pair of many takes hardly more of its own packets than one of 16.
 * With an argument, a number of queue pairs: prints what it took, and cycles per packet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/random.h"
#include "engine/engine.h"
#include "roce/build.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define MOST       4096u
#define PACKET_NS  100u /* all share one link */
#define RTT_NS     20000u
#define IN_FLIGHT  65536u
#define LOCKSTEP   16u
#define FRAME_MOST 256u

enum shape { SHAPE_SINGLE, SHAPE_MESSAGES, SHAPE_MIXED, SHAPE_LOCKSTEP };

struct queue_pair {
	uint32_t rqpn, lqpn, psn, left, sent, paired_after;
	bool lockstep, paired;
};

struct answer {
	uint32_t qp, psn;
	uint64_t due;
};

static struct many {
	struct hp3_engine *e;
	void *mem;
	struct queue_pair qp[MOST];
	uint32_t n, paired;
	enum shape shape;
	struct answer flight[IN_FLIGHT];
	uint32_t head, tail;
	uint64_t now, rng, cycles, packets;
	struct hp3_verdict vd;
	struct hp3_acts acts;
} m;

static uint64_t cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return 0;
#endif
}

static void start(uint32_t n, enum shape shape, uint64_t seed)
{
	struct hp3_engine_config cfg = {.max_flows = 65536,
		.max_pairs = 16,
		.max_moves = 64,
		.hold_packets = 64,
		.seed = seed,
		.hash_seed = seed + 1,
		.pair_by_challenge = true,
		.challenge_timeout_ns = 200000000,
		.challenge_hits = 3,
		.challenge_spread = 16,
		.idle_age_ns = UINT64_MAX / 4,
		.dead_age_ns = UINT64_MAX / 4,
		.moves_allowed = true};
	size_t size = hp3_engine_size(&cfg);

	m = (struct many){.n = n, .shape = shape, .rng = seed, .now = 1000000000};
	m.mem = aligned_alloc(64, size);
	m.e = hp3_engine_create(m.mem, size, &cfg);
	assert_non_null(m.e);
	for (uint32_t i = 0; i < n; i++) {
		struct queue_pair *q = &m.qp[i];

		q->rqpn = 0x1000 + i;
		q->lqpn = 0x400000 + (i * 1021u & (MOST - 1));
		q->lockstep = shape == SHAPE_LOCKSTEP || (shape == SHAPE_MIXED && i < LOCKSTEP);
		q->psn = q->lockstep ? 0 : (uint32_t)hp3_random(&m.rng) & HP3_PSN_MASK;
	}
}

static void finish(void)
{
	free(m.mem);
}

static uint32_t message(const struct queue_pair *q)
{
	if (m.shape == SHAPE_SINGLE)
		return 1;
	return q->lockstep ? 64 : 1 + hp3_random_below(&m.rng, 64);
}

static void pass(const struct hp3_addressing *a, const struct hp3_fields *f, bool leaves)
{
	uint8_t frame[FRAME_MOST] = {0};
	struct hp3_pkt pkt = {.frame = frame};
	uint64_t began;
	int len = hp3_build(frame, sizeof(frame), a, f);

	assert_true(len > 0);
	pkt.len = (uint32_t)len;
	began = cycles();
	if (leaves) {
		hp3_see_burst(m.e, &pkt, 1, HP3_DIR_TX);
		hp3_burst(m.e, &pkt, 1, HP3_DIR_TX, m.now, &m.vd, &m.acts);
	} else {
		hp3_see_burst(m.e, &pkt, 1, HP3_DIR_RX);
		hp3_burst(m.e, &pkt, 1, HP3_DIR_RX, m.now, &m.vd, &m.acts);
	}
	m.cycles += cycles() - began;
	m.packets++;
}

static struct hp3_addressing between(bool leaves)
{
	struct hp3_addressing a = {.ttl = 64, .sport = 50000, .pkey = 0xffff};
	const uint8_t here[4] = {10, 0, 0, 1}, there[4] = {10, 0, 0, 2};

	memcpy(a.src_ip, leaves ? here : there, 4);
	memcpy(a.dst_ip, leaves ? there : here, 4);
	return a;
}

/* A pairing that the engine tells of is the right one. */
static void check(uint32_t i)
{
	const struct hp3_addressing a = between(true);
	const struct hp3_ends ends = {.local = a.src_ip, .remote = a.dst_ip};
	struct queue_pair *q = &m.qp[i];
	struct hp3_flow_info info;

	assert_int_equal(hp3_flow_info(m.e, hp3_flow_find(m.e, &ends, q->rqpn), m.now, &info), 0);
	if (!info.paired)
		return;
	assert_int_equal(info.lqpn, q->lqpn);
	q->paired = true;
	q->paired_after = q->sent;
	m.paired++;
}

static void answers(void)
{
	const struct hp3_addressing a = between(false);

	for (; m.head != m.tail && m.flight[m.head % IN_FLIGHT].due <= m.now; m.head++) {
		const struct answer *w = &m.flight[m.head % IN_FLIGHT];
		const struct hp3_fields f = {.opcode = HP3_OP_RC_ACK,
			.dest_qpn = m.qp[w->qp].lqpn,
			.psn = w->psn,
			.syndrome = 0x1f};

		pass(&a, &f, false);
		if (!m.qp[w->qp].paired)
			check(w->qp);
	}
}

static void request(uint32_t i)
{
	const struct hp3_addressing a = between(true);
	struct queue_pair *q = &m.qp[i];
	bool first = q->left == 0, asks;
	struct hp3_fields f = {.dest_qpn = q->rqpn, .psn = q->psn};

	if (first)
		q->left = message(q);
	asks = --q->left == 0;
	f.opcode = asks ? (first ? HP3_OP_RC_SEND_ONLY : HP3_OP_RC_SEND_LAST)
			: (first ? HP3_OP_RC_SEND_FIRST : HP3_OP_RC_SEND_MIDDLE);
	f.ackreq = asks;
	pass(&a, &f, true);
	q->sent++;
	if (asks || (m.vd.flags & HP3_SET_ACKREQ))
		m.flight[m.tail++ % IN_FLIGHT] = (struct answer){i, q->psn, m.now + RTT_NS};
	q->psn = hp3_psn_add(q->psn, 1);
	if (!q->paired)
		check(i); /* one that was answered settles with a packet of its own */
	m.now += PACKET_NS;
}

/* Until all are paired, or each has sent so many; the packets of its own that a queue pair took. */
static double mean_packets(uint32_t each)
{
	uint64_t sum = 0, due = m.now;

	for (uint32_t round = 0; round < each && m.paired < m.n; round++)
		for (uint32_t i = 0; i < m.n; i++) {
			answers();
			if (m.now >= due)
				due = hp3_tick(m.e, m.now, &m.acts);
			request(i);
		}
	for (uint32_t i = 0; i < m.n; i++)
		sum += m.qp[i].paired ? m.qp[i].paired_after : each;
	return (double)sum / m.n;
}

static double run(uint32_t n, enum shape shape, uint32_t each)
{
	double mean;

	start(n, shape, 7);
	mean = mean_packets(each);
	print_message(
		"%u queue pairs, shape %d: %u paired; each after %.1f packets, all in %.1f ms; "
		"%.0f cycles per packet\n",
		n, (int)shape, m.paired, mean, (double)(m.now - 1000000000) / 1e6,
		(double)m.cycles / (double)m.packets);
	return mean;
}

/* Who is not paired says what it waits for. */
static void reasons_are_told(void)
{
	uint32_t full = 0;

	for (uint32_t i = 0; i < m.n; i++) {
		struct hp3_flow_info info;

		assert_int_equal(hp3_flow_info(m.e, i, m.now, &info), 0);
		if (info.paired)
			assert_int_equal(info.unpaired, HP3_UNPAIRED_PAIRED);
		else if (info.unpaired != HP3_UNPAIRED_FULL)
			assert_int_equal(info.unpaired, HP3_UNPAIRED_NEAR);
		else
			full++;
	}
	assert_true(full < (m.n - m.paired) / 2); /* most are near another one */
	assert_true(full == 0 || hp3_engine_stats(m.e)->near_full > 0);
	assert_true(hp3_engine_stats(m.e)->challenge_near > m.n - m.paired);
}

static void compare(enum shape shape, uint32_t each)
{
	double few = run(16, shape, each), many;

	assert_int_equal(m.paired, m.n);
	finish();
	many = run(MOST, shape, each);
	assert_int_equal(m.paired, m.n);
	assert_true(many < 2 * few + 100);
	finish();
}

/* Each packet asks, as with storage. All send at one rate, so those that begin near each other stay
 * near: about one of eight has another one within a window of its own. */
static void rule_15_thousands_of_single_packets(void **state)
{
	double few = run(16, SHAPE_SINGLE, 200);

	assert_int_equal(m.paired, m.n);
	finish();
	assert_true(run(MOST, SHAPE_SINGLE, 200) < 2 * few);
	assert_in_range(m.paired, MOST * 3 / 4, MOST);
	reasons_are_told();
	finish();
}

static void rule_15_thousands_of_messages(void **state)
{
	compare(SHAPE_MESSAGES, 1500);
}

/* Sixteen begin at PSN 0 and go on alike, among thousands. */
static void rule_15_lockstep_among_thousands(void **state)
{
	start(MOST / 4, SHAPE_MIXED, 11);
	mean_packets(1500);
	assert_int_equal(m.paired, m.n);
	finish();
}

/* All of them: one after the other, and none wrongly. */
static void rule_15_many_in_lockstep(void **state)
{
	start(512, SHAPE_LOCKSTEP, 13);
	mean_packets(1500);
	assert_in_range(m.paired, 32, 512);
	finish();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_15_thousands_of_single_packets),
		cmocka_unit_test(rule_15_thousands_of_messages),
		cmocka_unit_test(rule_15_lockstep_among_thousands),
		cmocka_unit_test(rule_15_many_in_lockstep),
	};

	if (argc == 3) {
		run((uint32_t)atoi(argv[1]), (enum shape)atoi(argv[2]), 1500);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
