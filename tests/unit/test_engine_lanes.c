/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two engines see the same packets: one burst by burst, with the loops of one level of the
 * instruction set, one packet by packet. Verdicts, actions, counters and records must not differ.
 * The parser's short way, as each level has it, is held against the long one in passing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/engine.h"
#include "engine/hash.h"
#include "roce/build.h"
#include "roce/parse_plain.h"

#define SEED   20260711u
#define QPS    40u
#define BURST  64u
#define GROUP  8u /* as many as a loop may take at a time */
#define ROUNDS 3000u
#define FRAME  1200u
#define LQPN   0x1000u
#define RQPN   0x2000u

/* What the next packets of a queue pair look like: mostly legal, so that the steady path is met. */
struct qp {
	uint32_t nxt, una; /* as its RNIC has them */
};

static struct qp qps[QPS];
static uint8_t frames[2][BURST][FRAME] __attribute__((aligned(64)));
static uint64_t rng;
static uint32_t congestion; /* marked replies, of 20 */
static uint32_t asked[256], n_asked; /* probes that wait for their answers */

static uint32_t draw(uint32_t n)
{
	return hp3_random_below(&rng, n);
}

/* The flows of a probing engine look for other paths, and urge peers that fall silent. */
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

static struct hp3_engine *make_engine(enum hp3_cc_mode cc, bool probing)
{
	struct hp3_engine_config cfg = {.seed = SEED,
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

static void addresses(uint32_t i, struct hp3_addressing *a, bool out)
{
	uint8_t local[16] = {10, 9, 0, 1}, remote[16] = {10, 9, 1, (uint8_t)(i % 5)};

	a->ipv6 = i % 8 == 7;
	a->vlan = i % 8 == 6 ? 100 : 0;
	memcpy(a->src_ip, out ? local : remote, 16);
	memcpy(a->dst_ip, out ? remote : local, 16);
}

static void announce(struct hp3_engine *e, uint64_t now)
{
	struct hp3_acts acts = {0};

	for (uint32_t i = 0; i < QPS; i++) {
		struct hp3_addressing a;
		struct hp3_qp_event ev = {
			.pairing = HP3_PAIRING_EVENT, .lqpn = LQPN + i, .rqpn = RQPN + i};

		addresses(i, &a, true);
		ev.ipv6 = a.ipv6;
		ev.vlan = a.vlan;
		memcpy(ev.local, a.src_ip, 16);
		memcpy(ev.remote, a.dst_ip, 16);
		acts.n = 0;
		if (i % 10 != 9) /* others are paired by what they send, or never */
			assert_int_equal(hp3_qp(e, &ev, now, &acts), 0);
	}
}

static uint32_t request(uint8_t *frame, uint32_t i)
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

static uint32_t reply(uint8_t *frame, uint32_t i)
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
static uint32_t damage(uint8_t *frame, uint32_t len)
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

static void same_actions(const struct hp3_acts *a, const struct hp3_acts *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct hp3_act *x = &a->act[i], *y = &b->act[i];

		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->flow, y->flow);
		if (x->kind == HP3_ACT_RELEASE || x->kind == HP3_ACT_DISCARD) {
			assert_int_equal(x->slot, y->slot);
			assert_int_equal(x->count, y->count);
			assert_int_equal(x->port, y->port);
			assert_int_equal(x->flags, y->flags);
		} else if (x->kind == HP3_ACT_PROBE || x->kind == HP3_ACT_URGE ||
			   x->kind == HP3_ACT_REPORT || x->kind == HP3_ACT_NAK) {
			assert_int_equal(x->port, y->port);
			assert_int_equal(x->psn, y->psn);
			assert_int_equal(x->probe_id, y->probe_id);
			if (x->kind == HP3_ACT_PROBE && n_asked < sizeof(asked) / sizeof(asked[0]))
				asked[n_asked++] = x->probe_id;
		} else if (x->kind == HP3_ACT_EVENT) {
			assert_int_equal(x->event.type, y->event.type);
			assert_int_equal(x->event.id, y->event.id);
			assert_int_equal(x->event.reason, y->event.reason);
			assert_memory_equal(&x->event.path, &y->event.path, sizeof(x->event.path));
		}
	}
}

static void same_state(const struct hp3_engine *a, const struct hp3_engine *b, uint64_t now)
{
	assert_memory_equal(hp3_engine_stats(a), hp3_engine_stats(b), sizeof(struct hp3_stats));
	for (uint32_t f = hp3_flow_next(a, 0); f != HP3_NO_FLOW; f = hp3_flow_next(a, f + 1)) {
		struct hp3_flow_info x = {0}, y = {0};

		assert_int_equal(hp3_flow_info(a, f, now, &x), 0);
		assert_int_equal(hp3_flow_info(b, f, now, &y), 0);
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

/* Burst by burst on `a`, packet by packet on `b`. */
static void one_burst(
	struct hp3_engine *a, struct hp3_engine *b, enum hp3_dir dir, uint32_t n, uint64_t now)
{
	static struct hp3_pkt pkts[BURST];
	static struct hp3_verdict vds[BURST];
	static struct hp3_acts acts, single;
	uint32_t others = 0, expected = 0, at = 0;
	bool obey = false;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *f = frames[0][i];
		uint32_t len =
			damage(f, dir == HP3_DIR_TX ? request(f, draw(QPS)) : reply(f, draw(QPS)));

		pkts[i] = (struct hp3_pkt){.frame = f, .len = len};
		if (draw(dir == HP3_DIR_TX ? 3000 : 100) == 0)
			pkts[i].frame = NULL;
	}
	others = hp3_see_burst(a, pkts, n, dir);
	for (uint32_t i = 0; i < n; i++) {
		struct hp3_pkt p = {.frame = pkts[i].frame, .len = pkts[i].len};
		struct hp3_verdict vd;

		if (p.frame == NULL)
			p.v = (struct hp3_view){.class = HP3_CLASS_OTHER};
		else
			hp3_parse_any(p.frame, p.len, &p.v);
		assert_memory_equal(&p.v, &pkts[i].v, sizeof(p.v));
		expected += p.v.class !=
			    (dir == HP3_DIR_TX ? HP3_CLASS_RC_REQUEST : HP3_CLASS_RC_REPLY);
		if (i == at) {
			at += hp3_burst(a, pkts + i, n - i, dir, now, vds + i, &acts);
			assert_in_range(at, i + 1, n);
			obey = false;
		}
		hp3_find_burst(b, &p, 1, dir);
		if (dir == HP3_DIR_TX)
			hp3_tx(b, &p, now, &vd, &single);
		else
			hp3_rx(b, &p, now, &vd, &single);
		assert_int_equal(vd.kind, vds[i].kind);
		assert_int_equal(vd.flags, vds[i].flags);
		assert_int_equal(vd.sport, vds[i].sport);
		assert_int_equal(vd.flow, vds[i].flow);
		obey |= vd.kind != HP3_PASS || vd.flags != 0 || vd.sport != p.v.sport;
		if (i + 1 < at)
			assert_int_equal(single.n, 0);
		else
			same_actions(&acts, &single);
		if (i + 1 == at)
			assert_int_equal(acts.obey, obey);
	}
	assert_int_equal(others, expected);
}

/* Time passes, and most probes are answered: of silent flows, too, so that their path is not dead.
 */
static void tick_both(struct hp3_engine *a, struct hp3_engine *b, uint64_t now)
{
	static struct hp3_acts x, y;
	uint32_t ids[sizeof(asked) / sizeof(asked[0])], n = n_asked;

	memcpy(ids, asked, sizeof(ids));
	n_asked = 0; /* those that are asked now are answered next time */
	do {
		x.n = y.n = 0;
		hp3_tick(a, now, &x);
		hp3_tick(b, now, &y);
		same_actions(&x, &y);
		assert_int_equal(x.more, y.more);
	} while (x.more);
	for (uint32_t i = 0; i < n; i++) {
		bool ce = draw(8) == 0;

		if (draw(8) == 0)
			continue;
		x.n = y.n = 0;
		hp3_probe_reply(a, ids[i], ce, now, &x);
		hp3_probe_reply(b, ids[i], ce, now, &y);
		same_actions(&x, &y);
	}
}

static void greet(struct hp3_engine *e, uint64_t now)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct hp3_addressing a;

		addresses(i, &a, true);
		hp3_peer_seen(e, a.ipv6, a.vlan, a.src_ip, a.dst_ip, now);
	}
}

static void command(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_cmd cmd = {.kind = HP3_CMD_MOVE, .port = (uint16_t)(0xc000 + now % 1000)};
	struct hp3_acts acts = {0};

	cmd.flow = flow;
	hp3_command(e, &cmd, now, &acts);
}

static void lane_agrees(unsigned lane, enum hp3_cc_mode cc, bool probing)
{
	struct hp3_engine *a = make_engine(cc, probing), *b = make_engine(cc, probing);
	uint64_t now = 5000000;
	const struct hp3_stats *s;

	if (hp3_lane_use(a, lane) != 0) {
		print_message("this CPU has no %s\n", hp3_lane_name(lane));
		free(a);
		free(b);
		return;
	}
	assert_string_equal(hp3_lane_in_use(a), hp3_lane_name(lane));
	rng = SEED + lane;
	n_asked = 0;
	for (uint32_t i = 0; i < QPS; i++)
		qps[i].nxt = qps[i].una = draw(1u << 24);
	for (uint32_t r = 0; r < ROUNDS; r++) {
		bool silence = probing && r % 250 >= 150; /* nobody replies */
		enum hp3_dir dir = (r & 1) && !silence ? HP3_DIR_RX : HP3_DIR_TX;

		if (r % 500 == 0) { /* whoever lost its pairing has it again */
			announce(a, now);
			announce(b, now);
			congestion = draw(2) ? 18 : 1;
		}
		if (probing && r % 250 == 0) {
			greet(a, now);
			greet(b, now);
		}
		one_burst(a, b, dir, 1 + draw(silence ? 4 : BURST), now);
		now += draw(silence ? 400000 : 200000);
		if (draw(20) == 0) {
			uint32_t flow = draw(QPS);

			command(a, flow, now);
			command(b, flow, now);
		}
		if (draw(10) == 0 || silence)
			tick_both(a, b, now);
		same_state(a, b, now);
	}
	s = hp3_engine_stats(a);
	print_message("%s, cc %d%s: %llu requests, %llu again, %llu epochs, %llu moves, %llu "
		      "severe, %llu probes, %llu urges\n",
		hp3_lane_name(lane), cc, probing ? ", probing" : "",
		(unsigned long long)s->tx_requests, (unsigned long long)s->retransmits,
		(unsigned long long)s->epochs, (unsigned long long)s->moves_switched,
		(unsigned long long)s->severe, (unsigned long long)s->probes,
		(unsigned long long)s->urges);
	assert_true(s->tx_requests - s->retransmits > 10000);
	assert_true(s->moves_switched > (probing ? 0 : 10) && s->severe > 10 && s->epochs > 10);
	assert_int_equal(s->paced > 0, cc == HP3_CC_DCQCN);
	assert_int_equal(s->probes > 100, probing);
	assert_int_equal(s->urges > 10, probing);
	free(a);
	free(b);
}

static void lanes_agree(void **state)
{
	for (unsigned lane = 0; hp3_lane_name(lane) != NULL; lane++) {
		lane_agrees(lane, HP3_CC_NATIVE, false);
		lane_agrees(lane, HP3_CC_DCQCN, false);
		lane_agrees(lane, HP3_CC_NATIVE, true);
	}
}

/* The best one that this CPU has is in use, and one that it has not is refused. */
static void choice(void **state)
{
	struct hp3_engine *e = make_engine(HP3_CC_OFF, false);
	const char *first = hp3_lane_in_use(e), *last = NULL;
	unsigned n = 0;

	for (; hp3_lane_name(n) != NULL; n++) {
		if (hp3_lane_use(e, n) == 0)
			last = hp3_lane_in_use(e);
	}
	assert_string_equal(first, last);
	assert_int_equal(hp3_lane_use(e, 0), 0);
	assert_string_equal(hp3_lane_in_use(e), "base");
	assert_true(hp3_lane_use(e, n) < 0);
	assert_string_equal(hp3_lane_in_use(e), "base");
	free(e);
}

/* Frames that end where memory does, whole ones and such as are cut near their ICRC. */
static void no_byte_behind_a_frame_is_read(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct hp3_engine *e = make_engine(HP3_CC_NATIVE, false);
	struct hp3_pkt pkts[2 * GROUP];
	uint8_t *ends[2 * GROUP], *mem;

	mem = mmap(
		NULL, 4 * GROUP * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(mem, MAP_FAILED);
	for (unsigned i = 0; i < 2 * GROUP; i++) {
		ends[i] = mem + (2 * i + 1) * page;
		assert_int_equal(mprotect(ends[i], page, PROT_NONE), 0);
	}
	rng = SEED;
	for (unsigned lane = 0; hp3_lane_name(lane) != NULL; lane++) {
		if (hp3_lane_use(e, lane) != 0)
			continue;
		for (unsigned r = 0; r < 200; r++) {
			for (unsigned i = 0; i < 2 * GROUP; i++) {
				uint8_t *f = frames[0][0];
				uint32_t len = r & 1 ? reply(f, draw(QPS)) : request(f, draw(QPS));

				if (draw(8) == 0)
					len = draw(8) == 0 ? draw(len) : 50 + draw(12);
				memcpy(ends[i] - len, f, len);
				pkts[i] = (struct hp3_pkt){.frame = ends[i] - len, .len = len};
			}
			hp3_see_burst(
				e, pkts, 1 + draw(2 * GROUP), r & 1 ? HP3_DIR_RX : HP3_DIR_TX);
		}
	}
	assert_int_equal(munmap(mem, 4 * GROUP * page), 0);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_agree),
		cmocka_unit_test(choice),
		cmocka_unit_test(no_byte_behind_a_frame_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
