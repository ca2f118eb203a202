/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes, decoded into calls of one engine with rfr.mode = spray: requests of peers,
 * which are resequenced, in any order, repeated, of any length that a RETH can have; requests of
 * the local RNIC, READs included, which are sprayed; the responses to these READs, which are
 * resequenced; responses of the local RNIC; ACKs, NAKs, messages of peers, set-up events, small
 * and large steps of time, restarts. Checks after every call:
 *
 * - a packet of a peer is forwarded, or held, or dropped as a copy of a held packet (a copy with
 *   a correct ICRC replaces a held packet with a wrong one); each held packet is released or
 *   discarded once, several at a time in the order of PSNs; copies are only made of held
 *   packets;
 * - no packet overtakes a held packet of its queue pair, unless this is counted with its reason:
 *   too far ahead, no space, or a wrong ICRC;
 * - no ACK overtakes a held response that it would acknowledge;
 * - a packet of the local RNIC is sprayed only if the peer has agreed within the last three
 *   keep-alive intervals;
 * - at the end, and after a long time without packets, no packet is held.
 */
#include "history.h"
#include "input.h"
#include "memory.h"
#include "engine/engine.h"
#include "engine/policy.h"
#include "rfr/resequencer.h"
#include "roce/opcode.h"

#define QPS          3u /* each way */
#define HELD         96u
#define KEEPALIVE_NS 1000000ull
#define MTU          1024u
#define EVS          8u
#define LONG         (64 * KEEPALIVE_NS)
#define NUMBERS      (HP3_HELD(HELD) + 1)
#define READS        QPS /* held responses to the local RNIC's queue pairs, from here on */
#define FAR          ((int32_t)(HP3_PSN_MASK / 2 + 1 - HP3_RESEQ_WINDOW))
#define OF_OURS      (2 * QPS) /* held packets of the local RNIC's */

static struct hp3_engine *e;
static struct hp3_engine_config cfg;
static uint64_t now, heard[2][QPS], seed; /* of requests, of responses */
static uint32_t next_psn[3][QPS], next_read[QPS], number[2 * QPS], turn[2 * QPS];
static bool is_held[NUMBERS], is_ack[NUMBERS];
static uint32_t whose[NUMBERS], psn_of[NUMBERS], n_held;
static struct hp3_agree asked[2][QPS]; /* of the local RNIC's: the newest message */

static void give(const struct hp3_act *a)
{
	uint32_t h = a->held, last = 0, who = 0;

	MUST(a->count > 0);
	for (uint32_t i = 0; i < a->count; i++, h = hp3_held_next(e, h)) {
		MUST(h < NUMBERS && is_held[h]);
		MUST(i == 0 ||
			(whose[h] == who && hp3_psn_diff(psn_of[h], last) >= (is_ack[h] ? 0 : 1)));
		is_held[h] = false;
		n_held--;
		last = psn_of[h];
		who = whose[h];
	}
	MUST((who == OF_OURS) == (a->kind == HP3_ACT_RELEASE) || a->kind == HP3_ACT_DISCARD);
}

static void take(const struct hp3_acts *acts)
{
	for (uint32_t i = 0; i < acts->n; i++) {
		const struct hp3_act *a = &acts->act[i];

		if (a->kind == HP3_ACT_RELEASE || a->kind == HP3_ACT_DISCARD ||
			a->kind == HP3_ACT_DELIVER)
			give(a);
		else if (a->kind == HP3_ACT_SHOW)
			MUST(a->held < NUMBERS && is_held[a->held] && whose[a->held] != OF_OURS);
		else if (a->kind == HP3_ACT_AGREE && hp3_agree_is_senders(&a->agree.what))
			asked[a->agree.what.reads][a->agree.what.responder % QPS] = a->agree.what;
	}
}

static void tick(void)
{
	struct hp3_acts acts;

	do {
		acts.n = 0;
		hp3_tick(e, now, &acts);
		take(&acts);
	} while (acts.more);
}

/* In steps, as hp3d does; or in one leap, as an hp3d that stood still. */
static void pass_time(uint64_t ns, bool leap)
{
	uint64_t until = now + ns;

	for (uint64_t due = hp3_engine_due(e); !leap && due < until; due = hp3_engine_due(e)) {
		now = due > now ? due : now + 1;
		tick();
	}
	now = until;
	tick();
}

static struct hp3_pkt packet(uint8_t *frame, enum hp3_dir dir, uint32_t i, uint8_t opcode)
{
	const uint8_t ip[2][4] = {{10, 9, 0, 1}, {10, 9, 0, 2}};

	memset(frame, 0, 64);
	memcpy(frame + 26, ip[dir == HP3_DIR_RX], 4);
	memcpy(frame + 30, ip[dir != HP3_DIR_RX], 4);
	return (struct hp3_pkt){.frame = frame,
		.trusted = true,
		.len = 58 + MTU,
		.v = {.class = hp3_opcodes[opcode].class,
			.opcode = opcode,
			.flags = (uint16_t)hp3_opcodes[opcode].flags,
			.l3_off = 14,
			.udp_off = 34,
			.icrc_off = 54,
			.sport = (uint16_t)(0xc000 + 64 * i),
			.payload_len = MTU,
			.dest_qpn = (dir == HP3_DIR_RX ? 0x3000 : 0x6000) + i}};
}

static uint32_t some_psn(uint32_t near)
{
	uint8_t how = u8();

	if (how < 0xd0)
		return hp3_psn_add(near, how & 7);
	if (how < 0xf0)
		return (near - (how & 31)) & HP3_PSN_MASK;
	return how < 0xfc ? hp3_psn_add(near, 64 * (how & 31)) : u32() & HP3_PSN_MASK;
}

/* The PSN of a packet; of an ACK or NAK the last one that it speaks for. */
static uint32_t spoken_for(const struct hp3_view *v)
{
	bool refuses = v->opcode == HP3_OP_RC_ACK && HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK;

	return (v->psn - refuses) & HP3_PSN_MASK;
}

static struct hp3_verdict handle(struct hp3_pkt *pkt, enum hp3_dir dir)
{
	struct hp3_acts acts = {.n = 0};
	struct hp3_verdict vd;

	hp3_find_burst(e, pkt, 1, dir);
	if (dir == HP3_DIR_TX)
		hp3_tx(e, pkt, now, &vd, &acts);
	else
		hp3_rx(e, pkt, now, &vd, &acts);
	if (vd.kind == HP3_HOLD) { /* it may be given out at once, behind others */
		MUST(vd.held < NUMBERS && !is_held[vd.held]);
		is_held[vd.held] = true;
		whose[vd.held] = dir == HP3_DIR_TX           ? OF_OURS
				 : pkt->v.dest_qpn >= 0x3ffc ? READS + pkt->v.dest_qpn - 0x3ffc
							     : pkt->v.dest_qpn - 0x3000;
		is_ack[vd.held] = pkt->v.opcode == HP3_OP_RC_ACK;
		psn_of[vd.held] = spoken_for(&pkt->v);
		n_held++;
	}
	take(&acts);
	MUST(n_held <= HELD);
	for (uint32_t h = 0; h < NUMBERS && vd.kind == HP3_HOLD && dir == HP3_DIR_RX; h++)
		MUST(h == vd.held || !is_held[h] || whose[h] != whose[vd.held] ||
			psn_of[h] != psn_of[vd.held] || is_ack[h] != is_ack[vd.held]);
	return vd;
}

/*
 * What of the queue pair stays held: did this packet have to wait, too? One that lies behind what
 * is expected by nearly half of all PSNs lies before what is held by more than that, so that its
 * distance says nothing.
 */
static void check_passed(uint32_t i, uint32_t psn, bool counted)
{
	for (uint32_t h = 0; h < NUMBERS; h++) {
		int32_t ahead = hp3_psn_diff(psn, psn_of[h]);

		if (is_held[h] && whose[h] == i)
			MUST(counted || ahead < 0 || ahead >= FAR);
	}
}

static bool holds_some(uint32_t i)
{
	for (uint32_t h = 0; h < NUMBERS; h++)
		if (is_held[h] && whose[h] == i)
			return true;
	return false;
}

static void arrive(void)
{
	static const uint32_t lengths[] = {0, 1, 1024, 1u << 20, 1u << 31, UINT32_MAX};
	static const uint8_t opcodes[] = {HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_WRITE_ONLY,
		HP3_OP_RC_SEND_ONLY, HP3_OP_RC_READ_REQUEST};
	uint8_t frame[64], what = u8();
	uint32_t i = what % QPS;
	struct hp3_pkt pkt = packet(frame, HP3_DIR_RX, i, opcodes[what >> 6]);
	struct hp3_stats was = *hp3_engine_stats(e);
	struct hp3_verdict vd;
	const struct hp3_stats *s = hp3_engine_stats(e);

	pkt.v.psn = some_psn(next_psn[0][i]);
	pkt.trusted = pkt.v.psn % 5 != 0 || u8() < 0x80; /* else its ICRC is wrong */
	pkt.v.sport ^= what >> 3 & (EVS - 1);
	if (pkt.v.flags & HP3_VF_READ)
		pkt.v.dma_len = lengths[u8() % (sizeof(lengths) / sizeof(lengths[0]))];
	vd = handle(&pkt, HP3_DIR_RX);
	if (vd.kind == HP3_DROP && s->reseq_beyond + s->reseq_full + s->reseq_share !=
					   was.reseq_beyond + was.reseq_full + was.reseq_share) {
		MUST(holds_some(i)); /* else it passes: the RNIC sees the gap by itself */
	} else if (vd.kind == HP3_DROP) {
		uint32_t h = 0;

		MUST(!pkt.trusted);
		while (h < NUMBERS && !(is_held[h] && whose[h] == i && psn_of[h] == pkt.v.psn))
			h++;
		MUST(h < NUMBERS);
	} else if (vd.kind == HP3_PASS) {
		check_passed(i, pkt.v.psn,
			s->reseq_beyond + s->bad_icrc != was.reseq_beyond + was.bad_icrc);
		next_psn[0][i] = hp3_psn_add(pkt.v.psn, 1);
	} else {
		MUST(vd.kind == HP3_HOLD);
	}
}

/* The local RNIC waits for a PSN, it says. */
static void refuse(void)
{
	uint8_t frame[64], what = u8();
	struct hp3_pkt pkt = packet(frame, HP3_DIR_TX, what % QPS, HP3_OP_RC_ACK);

	pkt.v.dest_qpn = 0x5000 + what % QPS;
	pkt.v.psn = some_psn(next_psn[0][what % QPS]);
	pkt.v.syndrome = what & 0x40 ? HP3_SYN_RNR : HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE;
	handle(&pkt, HP3_DIR_TX);
}

/* A sender's messages about one of its queue pairs, or about what the local RNIC reads. */
static void said(bool reads)
{
	static const uint8_t addr[2][4] = {{10, 9, 0, 1}, {10, 9, 0, 2}};
	const struct hp3_ends ends = {.local = addr[0], .remote = addr[1]};
	uint8_t what = u8(), i = what % QPS;
	uint32_t n = reads ? READS + i : i;
	struct hp3_agree a = {.kind = what >> 2 & 7,
		.reads = reads,
		.pmtu_log2 = what & 0x10 ? 10 : 0,
		.evs = EVS,
		.port = (uint16_t)(0xc000 + 64 * i),
		.responder = (reads ? 0x3ffcu : 0x3000u) + i,
		.requester = (reads ? 0x6000u : 0x5000u) + i,
		.next = what >> 7 ? some_psn(next_psn[0][i]) : HP3_NO_PSN,
		.keepalive_us = KEEPALIVE_NS / 1000};
	struct hp3_acts acts = {.n = 0};

	if (a.kind == HP3_AGREE_LEFT) {
		a.next = some_psn(next_psn[0][i]);
		a.in_use = (uint16_t)(a.port ^ (what >> 5 & (EVS - 1)));
	}
	if (a.kind > HP3_AGREE_LEFT)
		a.kind = what & 4 ? HP3_AGREE_ASK : HP3_AGREE_SPRAYING;
	number[n] += (what & 0x60) == 0x60;
	a.number = number[n];
	a.turn = turn[n] += (what & 0x40) == 0;
	hp3_agree_received(e, &ends, &a, now, &acts);
	take(&acts);
}

/* The peer's answer about one of ours; now and then an offer. */
static void answered(bool reads)
{
	static const uint8_t addr[2][4] = {{10, 9, 0, 1}, {10, 9, 0, 2}};
	const struct hp3_ends ends = {.local = addr[0], .remote = addr[1]};
	uint8_t what = u8(), i = what % QPS;
	struct hp3_agree a = asked[reads][i];
	struct hp3_acts acts = {.n = 0};

	a.kind = what & 0x30 ? HP3_AGREE_YES
		 : what & 4  ? HP3_AGREE_NO
		 : what & 8  ? HP3_AGREE_MARKED
		 : what & 64 ? HP3_AGREE_MISSING
			     : HP3_AGREE_SLOW;
	a.turn -= what >> 7;
	a.slow = a.kind >= HP3_AGREE_SLOW ? u8() : 0;
	if (a.kind == HP3_AGREE_MISSING)
		a.next = some_psn(next_psn[reads ? 2 : 1][i]);
	a.responder = 0x6000u + i;
	if (a.kind == HP3_AGREE_YES)
		heard[reads][i] = now;
	a.reads = reads;
	if (reads && (what & 0x38) == 0x38) {
		a.kind = HP3_AGREE_OFFER;
		a.evs = EVS;
	}
	hp3_agree_received(e, &ends, &a, now, &acts);
	take(&acts);
}

/* The local RNIC sends: a message large enough, mostly. */
static void leave(void)
{
	static const uint8_t opcodes[] = {HP3_OP_RC_WRITE_FIRST, HP3_OP_RC_WRITE_MIDDLE,
		HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_WRITE_LAST, HP3_OP_RC_SEND_ONLY,
		HP3_OP_RC_READ_REQUEST, HP3_OP_RC_READ_REQUEST, HP3_OP_RC_FETCH_ADD};
	uint8_t frame[64], what = u8();
	uint32_t i = what % QPS, span = 1;
	struct hp3_pkt pkt = packet(frame, HP3_DIR_TX, i, opcodes[(what >> 2) % sizeof(opcodes)]);
	struct hp3_verdict vd;
	bool newer;

	if (pkt.v.opcode == HP3_OP_RC_WRITE_FIRST)
		pkt.v.dma_len = what & 0x80 ? UINT32_MAX : cfg.spray.bytes;
	if (pkt.v.opcode == HP3_OP_RC_READ_REQUEST) {
		span = what & 0x80 ? 1 : cfg.spray.bytes / MTU;
		pkt.v.dma_len = span * MTU;
		pkt.v.payload_len = 0;
	}
	pkt.v.psn = what & 0x40 ? next_psn[1][i] : some_psn(next_psn[1][i]);
	newer = hp3_psn_diff(pkt.v.psn, next_psn[1][i]) >= 0;
	vd = handle(&pkt, HP3_DIR_TX);
	if (newer)
		next_psn[1][i] = hp3_psn_add(pkt.v.psn, span);
	if (vd.kind == HP3_PASS && vd.sport != pkt.v.sport && cfg.moves_allowed)
		MUST(heard[0][i] != 0 && now - heard[0][i] < 3 * KEEPALIVE_NS);
}

/* The local RNIC is read from. */
static void respond(void)
{
	static const uint8_t opcodes[] = {HP3_OP_RC_READ_RESP_FIRST, HP3_OP_RC_READ_RESP_MIDDLE,
		HP3_OP_RC_READ_RESP_MIDDLE, HP3_OP_RC_READ_RESP_LAST};
	uint8_t frame[64], what = u8();
	uint32_t i = what % QPS;
	struct hp3_pkt pkt = packet(frame, HP3_DIR_TX, i, opcodes[what >> 2 & 3]);
	struct hp3_verdict vd;

	pkt.v.psn = some_psn(next_psn[2][i]);
	next_psn[2][i] = hp3_psn_add(pkt.v.psn, 1);
	vd = handle(&pkt, HP3_DIR_TX);
	MUST(vd.kind == HP3_PASS);
	if (vd.sport != pkt.v.sport)
		MUST(heard[1][i] != 0 && now - heard[1][i] < 3 * KEEPALIVE_NS);
}

/* The newest PSN below which the local RNIC may be answered. */
static uint32_t oldest_held(uint32_t i)
{
	uint32_t oldest = HP3_NO_PSN;

	for (uint32_t h = 0; h < NUMBERS; h++)
		if (is_held[h] && whose[h] == READS + i && !is_ack[h] &&
			(oldest == HP3_NO_PSN || hp3_psn_diff(psn_of[h], oldest) < 0))
			oldest = psn_of[h];
	return oldest;
}

/* What it has read. */
static void response(void)
{
	static const uint8_t opcodes[] = {HP3_OP_RC_READ_RESP_FIRST, HP3_OP_RC_READ_RESP_MIDDLE,
		HP3_OP_RC_READ_RESP_MIDDLE, HP3_OP_RC_READ_RESP_LAST};
	uint8_t frame[64], what = u8();
	uint32_t i = what % QPS;
	struct hp3_pkt pkt = packet(frame, HP3_DIR_RX, i, opcodes[what >> 2 & 3]);
	struct hp3_verdict vd;

	pkt.v.dest_qpn = 0x3ffc + i;
	pkt.v.syndrome = 0x1f;
	pkt.v.psn = what & 0x80 ? some_psn((next_psn[1][i] - cfg.spray.bytes / MTU) & HP3_PSN_MASK)
				: some_psn(next_read[i]);
	next_read[i] = hp3_psn_add(pkt.v.psn, 1);
	pkt.trusted = what % 7 != 0;
	pkt.v.sport ^= what >> 3 & (EVS - 1);
	vd = handle(&pkt, HP3_DIR_RX);
	MUST(vd.kind == HP3_PASS || vd.kind == HP3_HOLD || vd.kind == HP3_DROP);
}

/* What the engine takes to be the end of what the local RNIC has asked for. */
static uint32_t end_of(uint32_t i)
{
	const uint8_t addr[2][4] = {{10, 9, 0, 1}, {10, 9, 0, 2}};
	const struct hp3_ends ends = {.local = addr[0], .remote = addr[1]};
	struct hp3_flow_info info;

	if (hp3_flow_info(e, hp3_flow_find(e, &ends, 0x6000 + i), now, &info) != 0)
		return 0;
	return info.nxt;
}

static void acknowledge(void)
{
	uint8_t frame[64], what = u8();
	struct hp3_pkt pkt = packet(frame, HP3_DIR_RX, what % QPS, HP3_OP_RC_ACK);

	struct hp3_stats was = *hp3_engine_stats(e);
	uint32_t oldest, psn;
	struct hp3_verdict vd;

	pkt.v.dest_qpn = 0x3ffc + what % QPS;
	pkt.v.psn = what & 0x40 ? some_psn(next_psn[1][what % QPS])
				: (next_psn[1][what % QPS] - 1) & HP3_PSN_MASK;
	pkt.v.syndrome = what & 0x80 ? HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE : 0x1f;
	pkt.len = 62;
	vd = handle(&pkt, HP3_DIR_RX);
	oldest = oldest_held(what % QPS);
	psn = spoken_for(&pkt.v);
	if (vd.kind == HP3_PASS && oldest != HP3_NO_PSN &&
		hp3_engine_stats(e)->reseq_full == was.reseq_full &&
		hp3_engine_stats(e)->reseq_share == was.reseq_share)
		MUST(hp3_psn_diff(psn, oldest) < 0 || hp3_psn_diff(psn, end_of(what % QPS)) >= 0);
}

/* A new engine; what the one before held is lost. */
static void start(void)
{
	struct hp3_engine_config table;
	struct hp3_acts acts = {.n = 0};
	size_t size;

	hp3_policy_defaults(&table);
	table.spray.mode = HP3_SPRAY_ALL;
	table.spray.evs = EVS;
	table.spray.bytes = 16 * MTU;
	table.spray.flows = 2;
	table.max_flows = 16;
	table.max_pairs = 4;
	table.max_moves = 4;
	table.hold_packets = HELD;
	table.hold_bytes = 24 * MTU; /* so that there is no room now and then */
	table.seed = ++seed;
	cfg = hp3_policy_settled(&table);
	cfg.spray.keepalive_ns = KEEPALIVE_NS;
	size = hp3_engine_size(&cfg);
	e = hp3_engine_create(fuzz_memory(size), size, &cfg);
	MUST(e != NULL);
	memset(is_held, 0, sizeof(is_held));
	n_held = 0;
	memset(heard, 0, sizeof(heard));
	for (uint32_t i = 0; i < QPS; i++) {
		const struct hp3_qp_event up = {.kind = HP3_QP_UP,
			.source = HP3_QP_SOURCE_KERNEL,
			.local = {10, 9, 0, 1},
			.remote = {10, 9, 0, 2},
			.lqpn = 0x3ffc + i,
			.rqpn = 0x6000 + i};

		hp3_qp(e, &up, now, &acts);
		take(&acts);
		acts.n = 0;
	}
}

static void step(void)
{
	uint8_t op = u8();

	if (op < 0x40)
		arrive();
	else if (op < 0x60)
		leave();
	else if (op < 0x88)
		response();
	else if (op < 0x94)
		respond();
	else if (op < 0xa0)
		acknowledge();
	else if (op < 0xb8)
		answered(op & 1);
	else if (op < 0xd0)
		said(op & 1);
	else if (op < 0xdc)
		refuse();
	else if (op < 0xfc)
		pass_time((1ull + (op & 3)) << u8() % 28, op & 4);
	else if (op < 0xfe)
		hp3_engine_reconfigure(
			e, (cfg.moves_allowed = !cfg.moves_allowed, &cfg)); /* the kill switch */
	else
		start();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	in = data;
	end = data + size;
	now = 1000000000;
	seed = 0;
	for (uint32_t i = 0; i < QPS; i++) {
		number[i] = turn[i] = number[READS + i] = turn[READS + i] = 1;
		next_psn[0][i] = next_psn[1][i] = (HP3_PSN_MASK - u8()) & HP3_PSN_MASK;
		next_psn[2][i] = next_read[i] = next_psn[1][i];
	}
	memset(asked, 0, sizeof(asked));
	start();
	while (in < end)
		step();
	for (unsigned i = 0; i < 2 && n_held != 0; i++)
		pass_time(LONG, false);
	MUST(n_held == 0);
	return 0;
}
