/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes, decoded into calls of one engine: requests and replies with PSNs near those
 * that the engine expects or far from them, complete frames, connection management, set-up
 * events, commands, answers to probes, time. caller.h has the checks after every call.
 */
#include <errno.h>
#include "caller.h"
#include "history.h"
#include "roce/build.h"
#include "roce/icrc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define QPS   16u /* more than there is room for */
#define BURST 4u

static struct caller c;
static uint32_t who; /* queue pair of the newest event */

static uint32_t vlan_of(uint32_t i)
{
	if (i % 8 != 2 && i % 8 != 5)
		return 0;
	return i % 8 == 2 ? 100 : HP3_VLAN_AD | 20 << HP3_VLAN_INNER_SHIFT | 100;
}

/* Queue pair i: two address pairs with eight each, one in four IPv6, one in eight with a VLAN tag,
 * one in eight with another one inside. */
static struct hp3_qp_event qp(uint32_t i)
{
	struct hp3_qp_event q = {.ipv6 = i % 4 == 3,
		.vlan = vlan_of(i),
		.local = {10, 9, 0, 1},
		.remote = {10, 9, 0, (uint8_t)(2 + i / 8)},
		.lqpn = 0x1000 + i,
		.rqpn = 0x2000 + i};
	return q;
}

/* Mostly the same one again, lest every history be short. */
static struct hp3_qp_event some_qp(void)
{
	uint8_t other = u8();

	if (other >= 0xc0)
		who = other % QPS;
	return qp(who);
}

static uint32_t flow_of(const struct hp3_qp_event *q)
{
	return hp3_flow_find(c.e, HP3_ENDS(q), q->rqpn);
}

static struct hp3_addressing addressing(const struct hp3_qp_event *q, enum hp3_dir dir)
{
	struct hp3_addressing a = {.ipv6 = q->ipv6, .ttl = 64, .sport = 0xc000, .pkey = 0xffff};

	hp3_tags_make(q->vlan, 0, a.tag);
	memcpy(a.src_ip, dir == HP3_DIR_TX ? q->local : q->remote, 16);
	memcpy(a.dst_ip, dir == HP3_DIR_TX ? q->remote : q->local, 16);
	return a;
}

/* Near what the engine knows of the flow, mostly right on it. */
static uint32_t some_psn(uint32_t flow, bool next)
{
	struct hp3_flow_info i = {0};
	uint8_t how = u8();
	uint32_t at;

	hp3_flow_info(c.e, flow, c.now, &i);
	at = next ? i.nxt : i.nxt - 1;
	if (how < 0xe0)
		return at & HP3_PSN_MASK;
	if (how < 0xf0)
		return (i.una + (how & 3)) & HP3_PSN_MASK;
	if (how < 0xfe)
		return (at + (how & 31) - 16) & HP3_PSN_MASK;
	return (at + (u16() << 8)) & HP3_PSN_MASK;
}

static void parse(struct hp3_pkt *pkt, const void *frame, int len)
{
	MUST(len > 0);
	*pkt = (struct hp3_pkt){.frame = frame, .len = (uint32_t)len};
	hp3_parse(frame, (uint32_t)len, &pkt->v);
}

/* A packet of a queue pair: built, then in places not as it should be. */
static void some_packet(struct hp3_pkt *pkt, uint8_t *frame, size_t cap, enum hp3_dir dir)
{
	static const uint8_t requests[] = {7, 7, 7, 8, 6, 10, 12, 12, 19, 4, 1, 22, 17};
	static const uint8_t replies[] = {17, 17, 17, 17, 17, 17, 13, 14, 15, 16, 18, 0x81, 10};
	static const uint8_t syndromes[] = {31, 31, 31, 31, 0x60, 0x60, 0x2c, 0x61, 0x63, 0x40};
	static const uint8_t zeros[1024];
	struct hp3_qp_event q = some_qp();
	uint8_t what = u8(), how = u8();
	struct hp3_addressing a = addressing(&q, dir);
	struct hp3_fields f = {.payload = zeros, .becn = how & 2, .ackreq = how & 1};
	uint32_t flow = flow_of(&q);

	if (dir == HP3_DIR_TX) {
		f.opcode = requests[what % sizeof(requests)];
		f.dest_qpn = q.rqpn;
		f.dma_len = how & 4 ? 1u << (how >> 3) : how * 100u;
	} else {
		f.opcode = replies[what % sizeof(replies)];
		f.syndrome = syndromes[(what >> 4) % sizeof(syndromes)];
		f.dest_qpn = (how & 0xf0) == 0xf0 ? 0x1000u + how % QPS : q.lqpn;
	}
	a.tclass = what & 0x80 ? 3 : 2; /* CE: for the notification point */
	f.psn = some_psn(flow, dir == HP3_DIR_TX);
	if (f.opcode != HP3_OP_RC_READ_REQUEST && f.opcode != HP3_OP_CNP &&
		hp3_opcodes[f.opcode].ext_len < 28 && f.opcode != HP3_OP_RC_ACK &&
		f.opcode != HP3_OP_RC_ATOMIC_ACK)
		f.payload_len = hp3_opcodes[f.opcode].flags & HP3_VF_LAST ? how : 1024;
	parse(pkt, frame,
		f.opcode == HP3_OP_CNP ? hp3_build_cnp(frame, cap, &a, f.dest_qpn)
				       : hp3_build(frame, cap, &a, &f));
	pkt->trusted = (how & 0xc) != 0xc;
	if ((how & 0xdc) == 0xdc) { /* wrong ICRC, or an opcode of the reserved ones */
		frame[pkt->len - 1] ^= 1;
		if (how & 0x20)
			frame[pkt->v.udp_off + 8] |= 0x18;
		parse(pkt, frame, (int)pkt->len);
	}
}

static void packets(enum hp3_dir dir)
{
	static uint8_t frames[BURST][1200];
	struct hp3_pkt pkts[BURST];
	uint32_t n = 1 + u8() % BURST;

	for (uint32_t i = 0; i < n; i++)
		some_packet(&pkts[i], frames[i], sizeof(frames[i]), dir);
	hp3_find_burst(c.e, pkts, n, dir);
	for (uint32_t i = 0; i < n; i++) {
		caller_packet(&c, &pkts[i], dir);
		c.now += 200;
	}
}

static void raw_frame(void)
{
	enum hp3_dir dir = u8() & 1 ? HP3_DIR_TX : HP3_DIR_RX;
	size_t len = u8(), left = (size_t)(end - in);
	struct hp3_pkt pkt;
	uint8_t *frame;

	len = len < left ? len : left;
	frame = malloc(len ? len : 1); /* a block of its own: ASan sees the first byte beyond */
	MUST(frame);
	memcpy(frame, in, len);
	in += len;
	pkt = (struct hp3_pkt){.frame = frame, .len = (uint32_t)len};
	hp3_parse(frame, (uint32_t)len, &pkt.v);
	if (pkt.v.class != HP3_CLASS_OTHER)
		hp3_icrc_store(frame, &pkt.v);
	hp3_find_burst(c.e, &pkt, 1, dir);
	caller_packet(&c, &pkt, dir);
	free(frame);
}

/* REQ, REP, DREQ with few different ids, so that they match; or a fragment. */
static void datagram(void)
{
	static const uint8_t attributes[] = {0x10, 0x13, 0x15, 0x10, 0x13, 0x14};
	struct hp3_qp_event q = some_qp();
	uint8_t mad[256] = {1, 7, 2, 3}, frame[400], what = u8();
	enum hp3_dir dir = what & 0x80 ? HP3_DIR_TX : HP3_DIR_RX;
	struct hp3_addressing a = addressing(&q, dir);
	uint32_t qpn = dir == HP3_DIR_TX ? q.lqpn : q.rqpn;
	struct hp3_pkt pkt;

	mad[17] = attributes[what % sizeof(attributes)];
	mad[27] = what >> 5 & 1;
	mad[31] = what >> 4 & 1;
	hp3_put_be24(mad + 24 + 32, qpn);
	hp3_put_be24(mad + 24 + 12, qpn);
	if (mad[17] == 0x15)
		hp3_put_be24(mad + 24 + 8, dir == HP3_DIR_TX ? q.rqpn : q.lqpn);
	parse(&pkt, frame,
		hp3_build(frame, sizeof(frame), &a,
			&(struct hp3_fields){.opcode = HP3_OP_UD_SEND_ONLY,
				.dest_qpn = 1,
				.src_qpn = 1,
				.payload = mad,
				.payload_len = sizeof(mad)}));
	if (what == 0xff) {
		frame[pkt.v.l3_off + 6] = q.ipv6 ? 44 : 0x20;
		parse(&pkt, frame, (int)pkt.len);
	}
	hp3_find_burst(c.e, &pkt, 1, dir);
	caller_packet(&c, &pkt, dir);
}

static void command(void)
{
	struct hp3_qp_event q = some_qp();
	uint8_t what = u8();
	struct hp3_cmd cmd = {.kind = what % 8 < 6 ? HP3_CMD_MOVE : what % 8 - 5,
		.port = what & 0x80 ? 0 : 0xc000u + (what >> 4),
		.flow = what & 0x40 ? what % QPS : flow_of(&q)};
	struct hp3_acts acts = {0};
	int ret = hp3_command(c.e, &cmd, c.now, &acts);

	caller_acts(&c, &acts, ACTS_MAX);
	MUST(ret == 0 || acts.n == 0);
	MUST(hp3_command_error(ret) != NULL);
}

static void queue_pair(uint32_t i, uint8_t what)
{
	struct hp3_qp_event q = qp(i);
	struct hp3_acts acts = {0};

	q.kind = what & 3 ? HP3_QP_UP : HP3_QP_DOWN;
	q.source = (uint8_t)(HP3_QP_SOURCE_CM + (what >> 2) % (HP3_QP_SOURCES - HP3_QP_SOURCE_CM));
	q.psn_known = what & 8;
	q.psn = what & 16 ? HP3_PSN_MASK : 0;
	if ((what & 0xf8) == 0xf8)
		q.lqpn = 0x1000 + (i + 1) % QPS; /* that of another */
	hp3_qp(c.e, &q, c.now, &acts);
	caller_acts(&c, &acts, ACTS_MAX);
}

/* What actuators and peers say. */
static void say(uint8_t what)
{
	struct hp3_qp_event q = some_qp();
	struct hp3_acts acts = {0};
	uint32_t flow = flow_of(&q);

	if (what & 1) {
		const struct hp3_actuated done = {
			(uint8_t)((what >> 1) % 3), what & 8 ? EPERM : EIO};
		int ret = hp3_actuator(c.e, flow, done, c.now, &acts);

		MUST(ret <= 0 && (c.cfg.verbs || ret != 0));
		caller_acts(&c, &acts, ACTS_MAX);
		return;
	}
	hp3_peer_seen(c.e, HP3_ENDS(&q), c.now);
}

static void probe_reply(void)
{
	uint8_t what = u8();
	uint32_t id = c.probe_ids[what % IDS];
	struct hp3_acts acts = {.n = HP3_ACTS_MAX};

	if (what & 0x20) {
		say(what);
		return;
	}
	id = what & 0x40 ? id ^ u16() : id;
	hp3_probe_timed(c.e, id, what & 0x80, what & 0x10 ? (uint32_t)u16() << (what & 15) : 0,
		c.now, &acts);
	caller_acts(&c, &acts, ACTS_MAX);
}

static void step(void)
{
	uint8_t op = u8();

	if (op < 0x70) {
		packets(HP3_DIR_TX);
	} else if (op < 0xb0) {
		packets(HP3_DIR_RX);
	} else if (op < 0xc8) {
		command();
	} else if (op < 0xd8) {
		uint32_t shift = u8() % 32; /* up to 34 s in all */
		caller_time(&c, (1ull + (op & 15)) << shift);
	} else if (op < 0xe0) {
		uint8_t what = u8();
		queue_pair(op % 8 + (what & 8), what);
	} else if (op < 0xe8) {
		datagram();
	} else if (op < 0xf4) {
		probe_reply();
	} else if (op < 0xfe) {
		raw_frame();
	} else {
		c.cfg.moves_allowed = op & 1;
		hp3_engine_reconfigure(c.e, &c.cfg);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how;

	if (size == 0)
		return 0;
	in = data;
	end = data + size - 1;
	how = *end;
	who = 0;
	caller_start(&c, how);
	for (uint32_t i = 0; i < QPS && how & 32; i++) /* set-up events tell of all */
		queue_pair(i, 1);
	while (in < end)
		step();
	caller_end(&c, how & 64);
	return 0;
}
