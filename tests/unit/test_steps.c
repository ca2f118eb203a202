/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many steps one call of the engine takes at most (docs/architecture.md, "Bounded work"). A
 * step is a basic block: this library is compiled so that each calls __sanitizer_cov_trace_pc(), so
 * no loop can be left out. Each row is counted with a small and with the largest configuration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/engine.h"
#include "engine/policy.h"
#include "roce/opcode.h"

#define MS    1000000ull
#define HOUR  (3600000 * MS)
#define LANE0 0xc000u
#define FEW   64u
#define MANY  4096u /* rfr.spray_flows at most */
#define WALK  40u /* steps that the heap of MANY deadlines may take more than that of FEW */

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;
static struct hp3_engine *e;
static struct hp3_acts acts;
static uint64_t now;
static const uint8_t here[4] = {10, 9, 0, 1}, there[4] = {10, 9, 0, 2};

void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

static void begin(uint32_t flows)
{
	struct hp3_engine_config table, cfg;
	size_t n;

	hp3_policy_defaults(&table);
	table.spray.mode = HP3_SPRAY_ALL;
	table.spray.flows = (uint16_t)flows;
	table.max_flows = 16384;
	table.max_moves = (uint16_t)flows;
	cfg = hp3_policy_settled(&table);
	n = (hp3_engine_size(&cfg) + 63) & ~(size_t)63;
	free(e);
	e = hp3_engine_create(aligned_alloc(64, n), n, &cfg);
	assert_non_null(e);
	now = HOUR;
}

/* The peer asks for its queue pair `requester` to be put in order, from `next` on. */
static void asked(uint32_t requester, uint32_t next)
{
	struct hp3_ends ends = {.local = here, .remote = there};
	struct hp3_agree ask = {.kind = HP3_AGREE_ASK,
		.pmtu_log2 = 10,
		.lanes = 64,
		.port = LANE0,
		.responder = 0x2000 + requester,
		.requester = requester,
		.number = requester,
		.turn = 1,
		.next = next,
		.beat_us = 1000000};

	acts.n = 0;
	hp3_agree_told(e, &ends, &ask, now, &acts);
}

static struct hp3_pkt packet(
	uint8_t *frame, enum hp3_dir dir, uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	const struct hp3_opcode_info *op = &hp3_opcodes[opcode];

	memcpy(frame + 26, dir == HP3_DIR_TX ? here : there, 4);
	memcpy(frame + 30, dir == HP3_DIR_TX ? there : here, 4);
	return (struct hp3_pkt){.frame = frame,
		.trusted = true,
		.len = 58 + 1024,
		.v = {.class = op->class,
			.opcode = opcode,
			.flags = op->flags,
			.l3_off = 14,
			.udp_off = 34,
			.icrc_off = 54,
			.sport = (uint16_t)(LANE0 + psn % 64),
			.dest_qpn = qpn,
			.psn = psn & HP3_PSN_MASK,
			.syndrome = 0x1f,
			.payload_len = op->flags & HP3_VF_READ ? 0 : 1024}};
}

/* Steps of one packet. */
static uint64_t passes(enum hp3_dir dir, struct hp3_pkt *p)
{
	struct hp3_verdict vd;

	acts.n = 0;
	steps = 0;
	hp3_find_burst(e, p, 1, dir);
	if (dir == HP3_DIR_TX)
		hp3_tx(e, p, now, &vd, &acts);
	else
		hp3_rx(e, p, now, &vd, &acts);
	return steps;
}

/* A request of the peer's queue pair; a READ of `bytes`. */
static uint64_t comes(uint32_t requester, uint32_t psn, uint32_t bytes)
{
	static uint8_t frame[128];
	struct hp3_pkt p = packet(frame, HP3_DIR_RX,
		bytes != 0 ? HP3_OP_RC_READ_REQUEST : HP3_OP_RC_WRITE_MIDDLE, 0x2000 + requester,
		psn);

	p.v.dma_len = bytes;
	return passes(HP3_DIR_RX, &p);
}

static uint64_t nak(uint32_t requester, uint32_t psn)
{
	static uint8_t frame[128];
	struct hp3_pkt p = packet(frame, HP3_DIR_TX, HP3_OP_RC_ACK, requester, psn);

	p.v.syndrome = HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE;
	p.v.payload_len = 0;
	return passes(HP3_DIR_TX, &p);
}

/* Ticks until nothing more is due: steps of the longest one. */
static uint64_t ticks(uint32_t *n)
{
	uint64_t most = 0;

	*n = 0;
	do {
		acts.n = 0;
		steps = 0;
		hp3_tick(e, now, &acts);
		most = steps > most ? steps : most;
		++*n;
	} while (acts.more);
	return most;
}

static void agreements(uint32_t flows)
{
	begin(flows);
	for (uint32_t i = 1; i <= flows; i++) {
		asked(i, HP3_NO_PSN);
		comes(i, 100, 0);
		comes(i, 101, 0);
	}
}

/* --- rows --- */

/* One is held 2,046 PSNs ahead, and packets come in order; a READ takes all PSNs between. */
static void a_packet_does_not_walk_over_psns(void **state)
{
	uint64_t near, far, spans;

	begin(FEW);
	asked(1, 100);
	comes(1, 102, 0);
	comes(1, 100, 0);
	near = comes(1, 101, 0);
	comes(1, 103 + 2046, 0);
	far = comes(1, 103, 0);
	spans = comes(1, 104, 2045 * 1024);
	print_message(
		"in order, held next to it: %lu steps; 2,046 ahead: %lu; a READ up to it: %lu\n",
		(unsigned long)near, (unsigned long)far, (unsigned long)spans);
	assert_true(far <= near + 20);
	assert_true(spans <= near + 40);
}

static uint64_t worst_nak(uint32_t flows)
{
	uint64_t most = 0;

	agreements(flows);
	for (uint32_t i = 1; i <= flows; i++) {
		uint64_t n = nak(i, 102);

		most = n > most ? n : most;
	}
	return most;
}

static void a_nak_does_not_walk_over_agreements(void **state)
{
	uint64_t few = worst_nak(FEW), many = worst_nak(MANY);

	print_message("NAK: %lu steps with %u agreements, %lu with %u\n", (unsigned long)few, FEW,
		(unsigned long)many, MANY);
	assert_true(many <= few + WALK);
}

/* All agreements name one queue pair of the peer. */
static void a_peer_makes_no_chains(void **state)
{
	uint64_t n;

	begin(FEW);
	for (uint32_t i = 1; i <= FEW; i++) {
		struct hp3_ends ends = {.local = here, .remote = there};
		struct hp3_agree ask = {.kind = HP3_AGREE_ASK,
			.pmtu_log2 = 10,
			.lanes = 64,
			.port = LANE0,
			.responder = i,
			.requester = 7,
			.number = i,
			.turn = 1,
			.next = HP3_NO_PSN,
			.beat_us = 1000000};

		acts.n = 0;
		hp3_agree_told(e, &ends, &ask, now, &acts);
	}
	n = nak(8, 100);
	assert_true(nak(7, 100) <= n + 20);
}

/* hp3d stood still: what was held is not yet given up, and nothing walks over all to say so. */
static uint64_t after_a_stall(uint32_t flows)
{
	agreements(flows);
	for (uint32_t i = 1; i <= flows; i++)
		comes(i, 104, 0);
	now += 100 * MS;
	return comes(1, 102, 0);
}

static void a_packet_after_a_stall_costs_no_more(void **state)
{
	uint64_t few = after_a_stall(FEW), many = after_a_stall(MANY);

	print_message("first packet after a stall: %lu steps with %u agreements, %lu with %u\n",
		(unsigned long)few, FEW, (unsigned long)many, MANY);
	assert_true(many <= few + WALK);
}

/* All agreements are due at once. */
static uint64_t all_due(uint32_t flows, uint32_t *n)
{
	agreements(flows);
	for (uint32_t i = 1; i <= flows; i++)
		comes(i, 104, 0);
	ticks(n);
	now += 2 * MS;
	return ticks(n);
}

static void a_tick_is_cut_into_pieces(void **state)
{
	uint32_t n_few, n_many;
	uint64_t few = all_due(FEW, &n_few), many = all_due(MANY, &n_many);

	print_message(
		"agreements that are due at once: %lu steps in the longest of %u calls with %u, "
		"%lu in the longest of %u with %u\n",
		(unsigned long)few, n_few, FEW, (unsigned long)many, n_many, MANY);
	assert_true(many <= 2 * few);
	assert_true(n_many <= 2 * (MANY / FEW) * n_few);
}

/* Queue pairs of this host are set up, and moved: each takes a slot with a deadline. */
static void slots(uint32_t n)
{
	begin(n);
	for (uint32_t i = 1; i <= n; i++, now += 1000) {
		struct hp3_qp_event up = {.kind = HP3_QP_UP,
			.teller = HP3_TELLER_KERNEL,
			.lqpn = i,
			.rqpn = 0x10000 + i,
			.psn = 100,
			.psn_known = true};
		static uint8_t frame[128];
		struct hp3_pkt p =
			packet(frame, HP3_DIR_TX, HP3_OP_RC_WRITE_MIDDLE, 0x10000 + i, 100);
		struct hp3_cmd move = {
			.kind = HP3_CMD_MOVE, .cause = HP3_CAUSE_OPERATOR, .port = 0xd123};

		memcpy(up.local, here, 4);
		memcpy(up.remote, there, 4);
		acts.n = 0;
		hp3_qp(e, &up, now, &acts);
		passes(HP3_DIR_TX, &p);
		move.flow = hp3_flow_next(e, i - 1);
		acts.n = 0;
		hp3_command(e, &move, now, &acts);
	}
}

/* One deadline comes after the other, while the others wait. */
static uint64_t slot_due(uint32_t n, uint32_t *open)
{
	uint64_t most = 0;
	uint32_t calls;

	slots(n);
	*open = hp3_engine_slots(e);
	while (hp3_engine_slots(e) > *open - FEW / 2) {
		uint64_t took;

		now = hp3_engine_due(e);
		took = ticks(&calls);
		most = took > most ? took : most;
	}
	return most;
}

static void deadlines_of_moves_are_not_searched(void **state)
{
	uint32_t open_few, open_many;
	uint64_t few = slot_due(FEW, &open_few), many = slot_due(MANY, &open_many);

	print_message("one move is due: %lu steps with %u open, %lu with %u\n", (unsigned long)few,
		open_few, (unsigned long)many, open_many);
	assert_true(open_many > 8 * open_few);
	assert_true(many <= few + few / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_does_not_walk_over_psns),
		cmocka_unit_test(a_nak_does_not_walk_over_agreements),
		cmocka_unit_test(a_peer_makes_no_chains),
		cmocka_unit_test(a_packet_after_a_stall_costs_no_more),
		cmocka_unit_test(a_tick_is_cut_into_pieces),
		cmocka_unit_test(deadlines_of_moves_are_not_searched),
	};
	int failed = cmocka_run_group_tests_name("steps", tests, NULL, NULL);

	free(e);
	return failed;
}
