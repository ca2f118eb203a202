/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two engines see the same packets: one burst by burst, with the loops of one level of the
 * instruction set, one packet by packet. Verdicts, actions, counters and records must be equal. The
 * parser's fast path of each level is also compared with its slow path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "engine/pass/burst.h"
#include "isa_traffic.h"
#include "roce/parse_plain.h"

#define BURST  64u
#define ROUNDS 3000u

static uint8_t frames[BURST][FRAME] __attribute__((aligned(64)));
static uint32_t asked[256], n_asked; /* probes that wait for their answers */

static void same_actions(const struct hp3_acts *a, const struct hp3_acts *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct hp3_act *x = &a->act[i], *y = &b->act[i];

		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->flow, y->flow);
		if (x->kind == HP3_ACT_RELEASE || x->kind == HP3_ACT_DISCARD) {
			assert_int_equal(x->held, y->held);
			assert_int_equal(x->count, y->count);
			assert_int_equal(x->port, y->port);
			assert_int_equal(x->flags, y->flags);
		} else if (x->kind == HP3_ACT_PROBE || x->kind == HP3_ACT_SOLICIT_ACK ||
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
		assert_int_equal(a->flows[f].watch, b->flows[f].watch);
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
	bool obey = false, many = false;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *f = frames[i];
		uint32_t len = damage(f,
			dir == HP3_DIR_TX ? draw_request(f, draw(QPS)) : draw_reply(f, draw(QPS)));

		pkts[i] = (struct hp3_pkt){.frame = f, .len = len, .trusted = draw(8) == 0};
		if (draw(dir == HP3_DIR_TX ? 3000 : 100) == 0)
			pkts[i].frame = NULL;
	}
	others = hp3_see_burst(a, pkts, n, dir);
	for (uint32_t i = 0; i < n; i++) {
		struct hp3_pkt p = {
			.frame = pkts[i].frame, .len = pkts[i].len, .trusted = pkts[i].trusted};
		struct hp3_verdict vd;

		if (p.frame == NULL)
			p.v = (struct hp3_view){.class = HP3_CLASS_OTHER};
		else
			hp3_parse_any(p.frame, p.len, &p.v);
		assert_memory_equal(&p.v, &pkts[i].v, sizeof(p.v));
		expected += p.v.class !=
			    (dir == HP3_DIR_TX ? HP3_CLASS_RC_REQUEST : HP3_CLASS_RC_REPLY);
		if (i == at) {
			many = n - i > HP3_FEW;
			at += hp3_burst(a, pkts + i, n - i, dir, now, vds + i, &acts);
			assert_in_range(at, i + 1, n);
			obey = false;
		}
		hp3_find_burst(b, &p, 1, dir);
		if (dir == HP3_DIR_TX)
			hp3_tx(b, &p, now, &vd, &single);
		else if (many)
			hp3_rx_of_many(b, &p, now, &vd, &single);
		else
			hp3_rx(b, &p, now, &vd, &single);
		assert_int_equal(vd.kind, vds[i].kind);
		assert_int_equal(vd.flags, vds[i].flags);
		assert_int_equal(vd.sport, vds[i].sport);
		assert_int_equal(vd.flow, vds[i].flow);
		obey |= vd.kind != HP3_PASS || (vd.flags & HP3_CHANGES) != 0 ||
			vd.sport != p.v.sport;
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

static void command(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_cmd cmd = {.kind = HP3_CMD_MOVE, .port = (uint16_t)(0xc000 + now % 1000)};
	struct hp3_acts acts = {0};

	cmd.flow = flow;
	hp3_command(e, &cmd, now, &acts);
}

static void isa_agrees(unsigned isa, enum hp3_cc_mode cc, bool probing)
{
	struct hp3_engine *a = make_engine(cc, probing), *b = make_engine(cc, probing);
	uint64_t now = 5000000;
	const struct hp3_stats *s;

	if (hp3_isa_use(a, isa) != 0) {
		print_message("this CPU has no %s\n", hp3_isa_name(isa));
		free(a);
		free(b);
		return;
	}
	assert_string_equal(hp3_isa_in_use(a), hp3_isa_name(isa));
	traffic_begin(ISA_SEED + isa);
	n_asked = 0;
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
		      "severe, %llu probes, %llu ACK solicitations\n",
		hp3_isa_name(isa), cc, probing ? ", probing" : "",
		(unsigned long long)s->tx_requests, (unsigned long long)s->retransmits,
		(unsigned long long)s->epochs, (unsigned long long)s->moves_switched,
		(unsigned long long)s->severe, (unsigned long long)s->probes,
		(unsigned long long)s->ack_solicitations);
	assert_true(s->tx_requests - s->retransmits > 10000);
	assert_true(s->moves_switched > (probing ? 0 : 10) && s->severe > 10 && s->epochs > 10);
	assert_int_equal(s->paced > 0, cc == HP3_CC_DCQCN);
	assert_int_equal(s->probes > 100, probing);
	assert_int_equal(s->ack_solicitations > 10, probing);
	free(a);
	free(b);
}

static void isas_agree(void **state)
{
	for (unsigned isa = 0; hp3_isa_name(isa) != NULL; isa++) {
		isa_agrees(isa, HP3_CC_NATIVE, false);
		isa_agrees(isa, HP3_CC_DCQCN, false);
		isa_agrees(isa, HP3_CC_NATIVE, true);
	}
}

/* The best one that this CPU has is in use, and one that it has not is refused. */
static void choice(void **state)
{
	struct hp3_engine *e = make_engine(HP3_CC_OFF, false);
	const char *first = hp3_isa_in_use(e), *last = NULL;
	unsigned n = 0;

	for (; hp3_isa_name(n) != NULL; n++) {
		if (hp3_isa_use(e, n) == 0)
			last = hp3_isa_in_use(e);
	}
	assert_string_equal(first, last);
	assert_int_equal(hp3_isa_use(e, 0), 0);
	assert_string_equal(hp3_isa_in_use(e), "base");
	assert_true(hp3_isa_use(e, n) < 0);
	assert_string_equal(hp3_isa_in_use(e), "base");
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(isas_agree),
		cmocka_unit_test(choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
