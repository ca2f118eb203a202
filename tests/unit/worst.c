/* SPDX-License-Identifier: BSD-3-Clause */
#include "worst.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "engine/engine.h"
#include "engine/policy.h"
#include "roce/opcode.h"

#define MS        1000000ull
#define HOUR      (3600000 * MS)
#define HUGE_PAGE ((size_t)2 << 20)
#define EV0_PORT  0xc000u
#define RESPONDER 0x2000u /* QPNs from here on: of this host, that peers send to */
#define REQUESTED 0x10000u /* ... of the peer that this host sends to */

uint32_t worst_flows = 16384;

static struct hp3_engine *e;
static struct hp3_engine_config cfg;
static struct hp3_acts acts;
static uint64_t now;
static const uint8_t here[4] = {10, 9, 0, 1};

/* Each of a peer's queue pairs has a host of its own: agreements are shared out by hosts. */
static const uint8_t *peer_of(uint32_t requester)
{
	static uint8_t there[4] = {10, 9};

	there[2] = (uint8_t)(1 + (requester >> 8));
	there[3] = (uint8_t)requester;
	return there;
}

/* Huge pages where the kernel has them, as hp3d has (app/hp3d/pipe/memory.c); all there. */
static void *memory(size_t size)
{
	size_t n = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *mem = aligned_alloc(HUGE_PAGE, n);

	if (mem == NULL)
		abort();
	madvise(mem, n, MADV_HUGEPAGE);
	memset(mem, 0xff, n);
	return mem;
}

static void begin(uint32_t flows)
{
	struct hp3_engine_config table;
	size_t n;

	hp3_policy_defaults(&table);
	table.spray.mode = HP3_SPRAY_ALL;
	table.spray.flows = (uint16_t)flows;
	table.max_flows = worst_flows;
	table.max_moves = (uint16_t)flows;
	cfg = hp3_policy_settled(&table);
	n = hp3_engine_size(&cfg);
	free(e);
	e = hp3_engine_create(memory(n), n, &cfg);
	if (e == NULL)
		abort();
	now = HOUR;
}

/* The peer asks for its queue pair `requester` to be resequenced, from `next` on. */
static void asked(uint32_t requester, uint32_t next)
{
	struct hp3_ends ends = {.local = here, .remote = peer_of(requester)};
	struct hp3_agree ask = {.kind = HP3_AGREE_ASK,
		.pmtu_log2 = 10,
		.evs = 64,
		.port = EV0_PORT,
		.responder = RESPONDER + requester,
		.requester = requester,
		.number = requester,
		.turn = 1,
		.next = next,
		.keepalive_us = 1000000};

	acts.n = 0;
	hp3_agree_received(e, &ends, &ask, now, &acts);
}

static struct hp3_pkt packet(
	uint8_t *frame, enum hp3_dir dir, uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	const struct hp3_opcode_info *op = &hp3_opcodes[opcode];

	const uint8_t *there = peer_of(dir == HP3_DIR_RX ? qpn - RESPONDER
				       : qpn < REQUESTED ? qpn
							 : 0);

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
			.sport = (uint16_t)(EV0_PORT + psn % 64),
			.dest_qpn = qpn,
			.psn = psn & HP3_PSN_MASK,
			.syndrome = 0x1f,
			.payload_len = op->flags & HP3_VF_READ ? 0 : 1024}};
}

/* What one packet takes. */
static uint64_t passes(enum hp3_dir dir, struct hp3_pkt *p)
{
	struct hp3_verdict vd;

	uint64_t from;

	acts.n = 0;
	from = worst_count();
	hp3_find_burst(e, p, 1, dir);
	if (dir == HP3_DIR_TX)
		hp3_tx(e, p, now, &vd, &acts);
	else
		hp3_rx(e, p, now, &vd, &acts);
	return worst_count() - from;
}

/* A request of the peer's queue pair; a READ of `bytes`. */
static uint64_t comes(uint32_t requester, uint32_t psn, uint32_t bytes)
{
	static uint8_t frame[128];
	struct hp3_pkt p = packet(frame, HP3_DIR_RX,
		bytes != 0 ? HP3_OP_RC_READ_REQUEST : HP3_OP_RC_WRITE_MIDDLE, RESPONDER + requester,
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

/* Calls until nothing more is due. */
static void settle(void)
{
	do {
		acts.n = 0;
		hp3_tick(e, now, &acts);
	} while (acts.more);
}

/* The longest of the calls so far, this one among them. */
static uint64_t longest(uint64_t most, uint64_t took)
{
	worst_call(took);
	return took > most ? took : most;
}

static uint64_t tick(void)
{
	uint64_t from;

	acts.n = 0;
	from = worst_count();
	hp3_tick(e, now, &acts);
	return worst_count() - from;
}

/* ... what the longest one takes. */
static uint64_t ticks(void)
{
	uint64_t most = 0;

	do {
		most = longest(most, tick());
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

/* A queue pair of this host is set up. */
static void set_up(uint32_t i)
{
	struct hp3_qp_event up = {.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_KERNEL,
		.lqpn = i,
		.rqpn = REQUESTED + i,
		.psn = 100,
		.psn_known = true};

	memcpy(up.local, here, 4);
	memcpy(up.remote, peer_of(0), 4);
	acts.n = 0;
	hp3_qp(e, &up, now, &acts);
}

/* ... and moved: each takes a slot with a deadline. */
static void slots(uint32_t n)
{
	begin(n);
	for (uint32_t i = 1; i <= n; i++, now += 1000) {
		static uint8_t frame[128];
		struct hp3_pkt p =
			packet(frame, HP3_DIR_TX, HP3_OP_RC_WRITE_MIDDLE, REQUESTED + i, 100);
		struct hp3_cmd move = {
			.kind = HP3_CMD_MOVE, .cause = HP3_CAUSE_OPERATOR, .port = 0xd123};

		set_up(i);
		passes(HP3_DIR_TX, &p);
		move.flow = hp3_flow_next(e, i - 1);
		acts.n = 0;
		hp3_command(e, &move, now, &acts);
	}
}

/* Nothing is due any more, and the clock stands where something is next. */
static void until_due(void)
{
	settle();
	now = hp3_engine_due(e);
}

/* One deadline of a move comes after the other, while the others wait. */
static uint64_t slot_due(uint32_t n)
{
	uint64_t most = 0;

	slots(n);
	for (uint32_t closed = 0; closed < WORST_ONE_BY_ONE; until_due()) {
		uint32_t open = hp3_engine_slots(e);
		uint64_t took = tick();

		if (hp3_engine_slots(e) == open)
			continue; /* ageing, or flows that are looked at: rows of their own */
		most = longest(most, took);
		closed++;
	}
	return most;
}

static uint64_t slots_due(uint32_t n)
{
	slots(n);
	now += HOUR;
	return ticks();
}

/* --- packets --- */

static uint64_t in_order(uint32_t n)
{
	begin(n);
	asked(1, 100);
	comes(1, 102, 0);
	comes(1, 100, 0);
	return comes(1, 101, 0);
}

/* One is held 2,046 ahead. */
static uint64_t far_ahead(uint32_t n)
{
	in_order(n);
	comes(1, 103 + 2046, 0);
	return comes(1, 103, 0);
}

/* ... and a READ takes all PSNs between. */
static uint64_t read_between(uint32_t n)
{
	far_ahead(n);
	return comes(1, 104, 2045 * 1024);
}

static uint64_t closes_a_gap(uint32_t n)
{
	begin(n);
	asked(1, 100);
	settle();
	for (uint32_t psn = 101; psn <= 100 + 2046; psn++)
		comes(1, psn, 0);
	return comes(1, 100, 0);
}

/* ... and the rest of them leaves with calls of hp3_tick(). */
static uint64_t the_rest_leaves(uint32_t n)
{
	uint64_t most = 0;

	closes_a_gap(n);
	while (hp3_engine_held(e, HP3_DIR_RX) != 0) {
		uint64_t took = ticks();

		most = took > most ? took : most;
		now++;
	}
	return most;
}

static uint64_t worst_nak(uint32_t n)
{
	uint64_t most = 0;

	agreements(n);
	for (uint32_t i = 1; i <= n; i++)
		most = longest(most, nak(i, 102));
	return most;
}

/* hp3d stood still: what was held is not yet given up, and nothing walks over all to say so. */
static uint64_t after_a_stall(uint32_t n)
{
	agreements(n);
	for (uint32_t i = 1; i <= n; i++)
		comes(i, 104, 0);
	now += 100 * MS;
	return comes(1, 102, 0);
}

/* A NAK where all agreements name one queue pair of a peer. */
uint64_t worst_chain(void)
{
	begin(WORST_FEW);
	for (uint32_t i = 1; i <= WORST_FEW; i++) {
		struct hp3_ends ends = {.local = here, .remote = peer_of(7)};
		struct hp3_agree ask = {.kind = HP3_AGREE_ASK,
			.pmtu_log2 = 10,
			.evs = 64,
			.port = EV0_PORT,
			.responder = i,
			.requester = 7,
			.number = i,
			.turn = 1,
			.next = HP3_NO_PSN,
			.keepalive_us = 1000000};

		acts.n = 0;
		hp3_agree_received(e, &ends, &ask, now, &acts);
	}
	return nak(7, 100);
}

/* --- actions --- */

static uint64_t spray_stops(uint32_t n)
{
	uint64_t from;

	agreements(n);
	from = worst_count();
	hp3_spray_stop(e, now);
	return worst_count() - from;
}

static uint64_t policy_changes(uint32_t n)
{
	uint64_t from;

	agreements(n);
	from = worst_count();
	hp3_engine_reconfigure(e, &cfg);
	return worst_count() - from;
}

/* Each call until all is forgotten. */
static uint64_t packets_are_missed(uint32_t n)
{
	uint64_t most = 0;
	uint32_t at = 0;

	slots(n);
	do {
		uint64_t from = worst_count();

		acts.n = 0;
		at = hp3_missed(e, at, now, &acts);
		most = longest(most, worst_count() - from);
	} while (at != HP3_NO_FLOW);
	return most;
}

/* --- ticks --- */

static uint64_t agreements_due(uint32_t n)
{
	agreements(n);
	for (uint32_t i = 1; i <= n; i++)
		comes(i, 104, 0);
	settle();
	now += 2 * MS;
	return ticks();
}

static uint64_t after_a_change(uint32_t n)
{
	agreements(n);
	settle();
	hp3_engine_reconfigure(e, &cfg);
	return ticks();
}

/* A part of the flow table is looked at, and its flows are old. */
static uint64_t flows_age(uint32_t n)
{
	begin(n);
	for (uint32_t i = 1; i <= worst_flows; i++)
		set_up(i);
	now += HOUR;
	return ticks();
}

/*
 * Thousands of moves are due, and other flows are old. Time passes from call to call, as packets
 * are handled in between.
 */
uint32_t worst_turns(uint32_t *all)
{
	uint32_t aged = 0, n = 0;

	slots(WORST_MANY);
	for (uint32_t i = 1; i <= WORST_MANY; i++)
		set_up(WORST_MANY + i);
	now += HOUR;
	do {
		acts.n = 0;
		hp3_tick(e, now++, &acts);
		n++;
		if (aged == 0 && hp3_engine_stats(e)->flows_aged != 0)
			aged = n;
	} while (acts.more && n < 1000000);
	*all = n;
	return aged;
}

const struct worst worst_cases[] = {
	{"in order, held next to it", WORST_PACKET, in_order, 1},
	{"in order, another one held 2,046 PSNs ahead", WORST_PACKET, far_ahead, 1},
	{"a READ of 2,045 PSNs before a held packet", WORST_PACKET, read_between, 1},
	{"a packet that closes a gap before 2,046 held ones", WORST_PACKET, closes_a_gap, 1},
	{"a NAK of the local RNIC", WORST_PACKET, worst_nak, 40},
	{"the first packet after a stall of hp3d", WORST_PACKET, after_a_stall, 40},
	{"spraying ends (hp3_spray_stop)", WORST_ACTION, spray_stops, 1},
	{"the policy changes (hp3_engine_reconfigure)", WORST_ACTION, policy_changes, 1},
	{"packets passed unseen (hp3_missed), a piece", WORST_TICK, packets_are_missed, 320},
	{"a tick when all agreements are due", WORST_TICK, agreements_due, 3200},
	{"a tick after the policy changed", WORST_TICK, after_a_change, 3200},
	{"a tick when one move is due", WORST_TICK, slot_due, 320},
	{"a tick when all moves are due", WORST_TICK, slots_due, 3200},
	{"a tick that hands over what is behind a gap", WORST_TICK, the_rest_leaves, 1},
	{"a tick that ages flows", WORST_TICK, flows_age, 1},
};
const unsigned worst_n = sizeof(worst_cases) / sizeof(worst_cases[0]);

void worst_end(void)
{
	free(e);
	e = NULL;
}
