/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of queue pairs at random: late, twice and in any order, of moved, draining and paced
 * flows whose local QPNs return (rule 16). Judged: each PSN leaves behind those that its RNIC
 * emitted before, and none is missing; no port changes while packets of the flow are on their way;
 * no two flows have one local QPN; nothing is held for ever.
 *
 * unit-engine_events_random [SEEDS [FIRST]]; a seed that fails is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "cc/dcqcn.h"
#include "packets.h"

#define QPS     4u
#define LATE    64u /* events that are still to be told */
#define NUMBERS 64u /* local QPNs */
#define STEPS   1500u
#define PSNS    21 /* log2: PSNs of one queue pair, so that a PSN tells whose it is */
#define PAUSE   (190 * MS) /* what left so long ago has arrived */

static struct one {
	struct qp qp;
	uint32_t nxt; /* of its RNIC */
	uint32_t began; /* first PSN of this life */
	uint32_t arrived; /* all before it was acknowledged */
	uint32_t seen; /* newest that left */
	uint16_t port; /* by which that left */
	uint64_t at; /* when */
} ones[QPS];

static struct late {
	struct qp qp;
	struct hp3_qp_event event;
	bool used;
} late[LATE];

static uint64_t random_state;
static unsigned seeds = 100, first_seed = 1;
static uint64_t switches, epochs;

static uint32_t draw(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static const char *judge_packet(struct one *o, uint32_t p, uint16_t port)
{
	bool first = o->at == 0;

	if (!first && p <= o->seen)
		return "left again or too late";
	if (!first && p != o->seen + 1 && p != o->began)
		return "left before what its RNIC emitted earlier";
	if (!first && port != o->port && o->arrived <= o->seen && rig.now - o->at < PAUSE)
		return "left by another port while packets were on their way";
	o->seen = p;
	o->port = port;
	o->at = rig.now;
	return NULL;
}

static const char *judge_pairings(void)
{
	struct hp3_flow_info x, y;

	for (uint32_t a = 0; a < QPS; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint32_t fa = flow_of(&ones[a].qp), fb = flow_of(&ones[b].qp);

			if (fa == HP3_NO_FLOW || fb == HP3_NO_FLOW)
				continue;
			hp3_flow_info(rig.e, fa, rig.now, &x);
			hp3_flow_info(rig.e, fb, rig.now, &y);
			if (x.paired && y.paired && x.lqpn == y.lqpn)
				return "two flows have one local QPN";
		}
	return NULL;
}

static void judge(unsigned seed)
{
	const char *why = NULL;
	uint32_t p = 0;

	for (uint32_t i = 0; i < rig.nwire && why == NULL; i++) {
		p = rig.wire[i].psn;
		why = judge_packet(&ones[p >> PSNS & (QPS - 1)], p, rig.wire[i].port);
	}
	if (why == NULL)
		why = judge_pairings();
	if (why != NULL)
		fail_msg("seed %u: PSN %#x %s", seed, p, why);
	rig.nwire = rig.nprobes = 0;
}

/* It takes the place of another one, which is told now. */
static void report_later(const struct qp *qp, enum hp3_qp_kind kind, bool known, uint32_t psn)
{
	struct late *l = &late[draw(LATE)];

	if (l->used)
		report_event(&l->qp, &l->event);
	*l = (struct late){.qp = *qp,
		.used = true,
		.event = {.kind = (uint8_t)kind,
			.source = HP3_QP_SOURCE_KERNEL,
			.psn = psn,
			.psn_known = known}};
}

static void report_one(void)
{
	struct late *l = &late[draw(LATE)];

	if (!l->used)
		return;
	report_event(&l->qp, &l->event);
	l->used = draw(8) == 0; /* once more, later */
}

static void next_life(struct one *o)
{
	report_later(&o->qp, HP3_QP_DOWN, false, 0);
	if (draw(2))
		o->qp.lqpn = 0x1000 + draw(NUMBERS);
	o->nxt += 1000 + draw(2) * 50000;
	o->began = o->nxt;
	report_later(&o->qp, HP3_QP_UP, draw(3) != 0, o->nxt);
}

static void acknowledge(struct one *o)
{
	if (o->at == 0 || o->arrived > o->seen)
		return;
	o->arrived += draw(2) ? o->seen + 1 - o->arrived : draw(o->seen + 2 - o->arrived);
	ack(&o->qp, o->arrived - 1);
}

static void step(bool paces)
{
	struct one *o = &ones[draw(QPS)];
	uint32_t what = draw(100);

	if (what < 50) {
		for (uint32_t n = 1 + draw(6); n > 0; n--) {
			if (draw(5) == 0)
				last(&o->qp, o->nxt++);
			else
				middle(&o->qp, o->nxt++);
		}
	} else if (what < 70) {
		acknowledge(o);
	} else if (what < 80) {
		if (flow_of(&o->qp) != HP3_NO_FLOW)
			move(&o->qp, (uint16_t)(60000 + draw(8)));
	} else if (what < 88) {
		report_one();
	} else if (what < 92) {
		next_life(o);
	} else if (what < 94 && paces) {
		response(&o->qp, &(struct hp3_fields){.opcode = HP3_OP_CNP, .becn = true});
	} else if (what < 99) {
		pass_time(draw(200) * US);
	} else {
		pass_time(draw(300) * MS);
	}
}

static void world(unsigned seed, bool paces)
{
	random_state = seed * 7919u + paces;
	rig.cfg.idle_age_ns = 60000 * MS;
	rig.cfg.cc.mode = paces ? HP3_CC_DCQCN : HP3_CC_OFF;
	rig.cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	rig.cfg.cc.rp.rpg_max_rate = 1000;
	rig.cfg.cc.max_rtt_ns = 200 * US;
	rig_configure();
	memset(late, 0, sizeof(late));
	for (uint32_t i = 0; i < QPS; i++) {
		uint32_t p = (i << PSNS) + 100;

		ones[i] = (struct one){
			.qp = make_qp(i), .nxt = p, .began = p, .arrived = p, .seen = p - 1};
		set_up_at(&ones[i].qp, p);
	}
	for (unsigned i = 0; i < STEPS; i++) {
		step(paces);
		judge(seed);
	}
	for (unsigned i = 0; i < 400; i++) {
		pass_time(50 * MS);
		judge(seed);
	}
	assert_int_equal(rig.held, 0);
	switches += rig.events[HP3_EVENT_SWITCH] + rig.events[HP3_EVENT_IDLE_SWITCH];
	epochs += stats()->epochs;
}

static void worlds(bool paces)
{
	switches = epochs = 0;
	for (unsigned i = 0; i < seeds; i++)
		world(first_seed + i, paces);
	assert_true(switches > 3 * seeds && epochs > 20 * seeds);
}

static void rule_16_moved_flows(void **state)
{
	worlds(false);
}

static void rule_16_paced_flows(void **state)
{
	worlds(true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_16_moved_flows),
		RIG_TEST(rule_16_paced_flows),
	};

	if (argc > 1)
		seeds = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		first_seed = (unsigned)strtoul(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
