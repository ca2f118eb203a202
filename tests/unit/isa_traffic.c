/* SPDX-License-Identifier: BSD-3-Clause */
#include "isa_traffic.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/hash.h"
#include "roce/build.h"

#define LQPN 0x1000u
#define RQPN 0x2000u

uint32_t congestion;

/* Fields of the next packets of a queue pair. */
struct qp {
	uint32_t nxt, una; /* as its RNIC has them */
};

static struct qp qps[QPS];
static uint64_t rng;

uint32_t draw(uint32_t n)
{
	return hp3_random_below(&rng, n);
}

void traffic_begin(uint64_t seed)
{
	rng = seed;
	for (uint32_t i = 0; i < QPS; i++)
		qps[i].nxt = qps[i].una = draw(1u << 24);
}

/* The flows of a probing engine look for other paths, and solicit ACKs from peers that fall silent.
 */
static void let_probe(struct hp3_engine_config *cfg)
{
	cfg->probing = true;
	cfg->probes = HP3_PROBES_PEER;
	cfg->candidates = 3;
	cfg->max_concurrent = QPS;
	cfg->cooldown_ns = 1000000;
	cfg->verify_ns = 1000000;
	cfg->stall_ns = 500000;
	cfg->max_moves = QPS;
	cfg->peer_ns = 10000000000u;
	cfg->round = (struct hp3_round_params){.timeout_ns = 1000000,
		.guard_ns = 200000,
		.backoff_after = 1,
		.backoff_min_ns = 1000000,
		.backoff_max_ns = 4000000,
		.probes_per_second = 1000000,
		.probe_burst = 255,
		.improve = 80};
	cfg->paths = (struct hp3_paths_params){.fresh_ns = 100000000,
		.recheck_ns = 1000000000,
		.retry_ns = 50000000,
		.window_ns = 200000,
		.rtt_factor = 200,
		.ecn_fraction = 25,
		.losses = 3,
		.equal = 20};
}

struct hp3_engine *make_engine(enum hp3_cc_mode cc, bool probing)
{
	struct hp3_engine_config cfg = {.seed = ISA_SEED,
		.max_flows = 64,
		.max_pairs = 16,
		.max_moves = 8,
		.idle_age_ns = 1000000000,
		.dead_age_ns = 1000000000,
		.max_hold_ns = 20000000,
		.close_timeout_ns = 10000000,
		.hold_bytes = 1 << 20,
		.hold_bytes_total = 4 << 20,
		.hold_packets = 1000,
		.challenge_timeout_ns = 1000000,
		.challenge_hits = 3,
		.challenge_spread = 4,
		.pair_by_cm = true,
		.pair_by_challenge = true,
		.moves_allowed = true,
		.monitor = {.cycle_ns = 100000,
			.rtt_factor = 200,
			.ecn_fraction = 50,
			.congestion_tolerance = 3,
			.base_age_log2 = 30},
		.cc = {.mode = cc, .notify = cc == HP3_CC_DCQCN, .max_rtt_ns = 1000000}};
	struct hp3_engine *e;
	size_t size;

	cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	cfg.cc.rp.rpg_max_rate = 1000;
	cfg.cc.rp.rate_to_set_on_first_cnp = 1;
	cfg.cc.np.min_time_between_cnps = 50;
	cfg.cc.burst_bytes = 65536;
	if (probing)
		let_probe(&cfg);
	size = hp3_engine_size(&cfg);
	e = hp3_engine_create(aligned_alloc(64, size), size, &cfg);
	assert_non_null(e);
	return e;
}

/* One tag, or two. */
static uint32_t vlan_of(uint32_t i)
{
	if (i % 8 != 6)
		return 0;
	return i % 16 == 6 ? 100 : HP3_VLAN_AD | 20 << HP3_VLAN_INNER_SHIFT | 100;
}

static void addresses(uint32_t i, struct hp3_addressing *a, bool out)
{
	uint8_t local[16] = {10, 9, 0, 1}, remote[16] = {10, 9, 1, (uint8_t)(i % 5)};

	a->ipv6 = i % 8 == 7;
	hp3_tags_make(vlan_of(i), 0, a->tag);
	memcpy(a->src_ip, out ? local : remote, 16);
	memcpy(a->dst_ip, out ? remote : local, 16);
}

void announce(struct hp3_engine *e, uint64_t now)
{
	struct hp3_acts acts = {0};

	for (uint32_t i = 0; i < QPS; i++) {
		struct hp3_addressing a;
		struct hp3_qp_event event = {
			.source = HP3_QP_SOURCE_KERNEL, .lqpn = LQPN + i, .rqpn = RQPN + i};

		addresses(i, &a, true);
		event.ipv6 = a.ipv6;
		event.vlan = vlan_of(i);
		memcpy(event.local, a.src_ip, 16);
		memcpy(event.remote, a.dst_ip, 16);
		acts.n = 0;
		if (i % 10 != 9) /* others are paired by what they send, or never */
			assert_int_equal(hp3_qp(e, &event, now, &acts), 0);
	}
}

void greet(struct hp3_engine *e, uint64_t now)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct hp3_addressing a;

		addresses(i, &a, true);
		hp3_peer_seen(e, &(struct hp3_ends){a.ipv6, vlan_of(i), a.src_ip, a.dst_ip}, now);
	}
}

uint32_t draw_request(uint8_t *frame, uint32_t i)
{
	static const uint8_t payload[1024];
	static const uint8_t opcodes[] = {HP3_OP_RC_WRITE_FIRST, HP3_OP_RC_WRITE_MIDDLE,
		HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_SEND_MIDDLE,
		HP3_OP_RC_WRITE_LAST, HP3_OP_RC_READ_REQUEST, HP3_OP_RC_FETCH_ADD};
	struct qp *q = &qps[i];
	struct hp3_addressing a = {
		.ttl = 64, .sport = (uint16_t)(50000 + i), .pkey = 0xffff, .tclass = 2};
	struct hp3_fields f = {.opcode = opcodes[draw(6 + 2 * (draw(16) == 0))],
		.dest_qpn = RQPN + i,
		.psn = q->nxt,
		.ackreq = draw(8) == 0,
		.dma_len = 1024 * (1 + draw(3)),
		.payload = payload};
	int len;

	addresses(i, &a, true);
	if (hp3_opcodes[f.opcode].ext_len < 28 && f.opcode != HP3_OP_RC_READ_REQUEST)
		f.payload_len =
			hp3_opcodes[f.opcode].flags & HP3_VF_LAST ? (uint16_t)draw(1024) : 1024;
	if (draw(40) == 0 && q->una != q->nxt)
		f.psn = q->una; /* sent again */
	else if (draw(3000) == 0)
		f.psn = hp3_psn_add(q->nxt, draw(1u << 24));
	else
		q->nxt = hp3_psn_add(
			q->nxt, f.opcode == HP3_OP_RC_READ_REQUEST ? f.dma_len / 1024 : 1);
	len = hp3_build(frame, FRAME, &a, &f);
	assert_true(len > 0);
	return (uint32_t)len;
}

uint32_t draw_reply(uint8_t *frame, uint32_t i)
{
	struct qp *q = &qps[i];
	uint32_t open = (q->nxt - q->una) & HP3_PSN_MASK;
	struct hp3_addressing a = {.ttl = 64,
		.sport = 0xd00d,
		.pkey = (uint16_t)(0xffff - draw(2)),
		.tclass = draw(10) == 0 ? 3 : 0};
	struct hp3_fields f = {.opcode = HP3_OP_RC_ACK,
		.dest_qpn = LQPN + i,
		.psn = hp3_psn_add(q->una, open > 1 && draw(2) ? draw(open) : open - 1),
		.becn = draw(20) < congestion,
		.syndrome = (uint8_t)draw(32),
		.msn = draw(1u << 24)};
	int len;

	addresses(i, &a, false);
	if (draw(300) == 0)
		f.syndrome = draw(2) ? HP3_SYN_NAK : HP3_SYN_RNR | 5;
	else if (draw(1500) == 0)
		f.psn = draw(1u << 24);
	else if (open != 0)
		q->una = hp3_psn_add(f.psn, 1);
	if (draw(30) == 0)
		f.opcode = HP3_OP_RC_READ_RESP_ONLY;
	len = draw(200) == 0 ? hp3_build_cnp(frame, FRAME, &a, LQPN + i)
			     : hp3_build(frame, FRAME, &a, &f);
	assert_true(len > 0);
	return (uint32_t)len;
}

/* Now and then a frame that is damaged, cut, padded or none of ours. */
uint32_t damage(uint8_t *frame, uint32_t len)
{
	switch (draw(800)) {
	case 0:
		return draw(len);
	case 1:
		return len + 4 <= FRAME ? len + 4 : len;
	case 2:
		frame[12 + draw(50)] ^= (uint8_t)(1u << draw(8));
		return len;
	case 3:
		frame[len - 1] ^= 1;
		return len;
	default:
		return len;
	}
}
