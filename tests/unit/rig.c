/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define SLOTS 64u

struct rig rig;

/* By flow: this file checks that packets leave in order, without the engine's help. */
static struct hold {
	struct left queue[WIRE_MAX];
	uint32_t number[WIRE_MAX]; /* the engine's */
	uint32_t n;
} holds[SLOTS];

static const struct hp3_engine_config defaults = {
	.seed = 1,
	.max_flows = 64,
	.max_pairs = 8,
	.max_moves = SLOTS,
	.idle_age_ns = 1000 * MS,
	.dead_age_ns = 10000 * MS,
	.max_hold_ns = 1 * MS,
	.close_timeout_ns = 10 * MS,
	.hold_bytes = 1 << 20,
	.hold_bytes_total = 4 << 20,
	.hold_packets = 1000,
	.challenge_timeout_ns = 1 * MS,
	.challenge_hits = 3,
	.challenge_spread = 4,
	.pair_by_cm = true,
	.moves_allowed = true,
	.refute_ns = MS,
	.pin_ns = 60000 * MS,
};

void rig_configure(void)
{
	struct hp3_engine_config cfg = rig.cfg;
	size_t size = hp3_engine_size(&cfg);

	free(rig.e);
	memset(holds, 0, sizeof(holds));
	rig = (struct rig){.cfg = cfg, .now = 5 * MS};
	rig.e = hp3_engine_create(aligned_alloc(64, size), size, &cfg);
	assert_non_null(rig.e);
}

void rig_allow_moves(bool allowed)
{
	rig.cfg.moves_allowed = allowed;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
}

int rig_setup(void **state)
{
	rig.cfg = defaults;
	rig_configure();
	return 0;
}

/* No test may leave packets behind that nobody accounts for, or get near the end of the list. */
int rig_teardown(void **state)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < SLOTS; i++)
		held += holds[i].n;
	assert_int_equal(held, rig.held);
	assert_in_range(rig.nacts_max, 0, HP3_ACTS_MAX - 4);
	free(rig.e);
	rig = (struct rig){0};
	return 0;
}

struct qp make_qp(unsigned i)
{
	return (struct qp){.local = {10, 9, 0, 1},
		.remote = {10, 9, 0, 2},
		.lqpn = 0x1000 + i,
		.rqpn = 0x2000 + i,
		.home = (uint16_t)(50000 + i)};
}

static void leave(struct left l)
{
	assert_true(rig.nwire < WIRE_MAX);
	rig.wire[rig.nwire++] = l;
}

/* The first packets of a FIFO leave, or are dropped; the rest moves up. */
static void empty_hold(const struct hp3_act *a)
{
	struct hold *h = &holds[a->flow];
	uint32_t number = a->held;

	assert_true(a->flow < SLOTS && a->count > 0 && a->count <= h->n);
	for (uint32_t k = 0; k < a->count; k++) {
		struct left l = h->queue[k];

		assert_int_equal(h->number[k], number);
		number = hp3_held_next(rig.e, number);
		l.port = a->port;
		if (k + 1 == a->count && (a->flags & HP3_SET_ACKREQ))
			l.ackreq = true;
		if (a->kind == HP3_ACT_RELEASE)
			leave(l);
		else
			rig.discarded++;
	}
	memmove(h->queue, h->queue + a->count, (h->n - a->count) * sizeof(h->queue[0]));
	memmove(h->number, h->number + a->count, (h->n - a->count) * sizeof(h->number[0]));
	h->n -= a->count;
	rig.held -= a->count;
}

static void carry_out(const struct hp3_acts *acts)
{
	if (acts->n > rig.nacts_max)
		rig.nacts_max = acts->n;
	for (uint32_t i = 0; i < acts->n; i++) {
		const struct hp3_act *a = &acts->act[i];

		rig.acts[a->kind]++;
		if (a->kind == HP3_ACT_RELEASE || a->kind == HP3_ACT_DISCARD) {
			if (a->flow != HP3_NO_FLOW) /* else it came from the network */
				empty_hold(a);
			continue;
		}
		rig.act = *a;
		if (a->kind == HP3_ACT_EVENT) {
			rig.last = a->event;
			rig.newest[a->event.type] = a->event;
			rig.events[a->event.type]++;
		} else if (a->kind == HP3_ACT_PROBE) {
			assert_true(rig.nprobes < 64);
			rig.probe_ids[rig.nprobes] = a->probe_id;
			rig.probe_psns[rig.nprobes] = a->psn;
			rig.probe_pads[rig.nprobes] = a->pad;
			rig.probe_ports[rig.nprobes++] = a->port;
		} else if (a->kind == HP3_ACT_TRACE) {
			rig.trace[(rig.acts[HP3_ACT_TRACE] - 1) % 32] = *a;
		} else {
			rig.other = *a;
		}
	}
}

/* In turn by hp3_tx() or hp3_rx() and by hp3_burst() of every level: they must agree. */
static void engage(struct hp3_pkt *pkt, enum hp3_dir dir, struct hp3_acts *acts)
{
	unsigned isa = rig.turn++ % 4;

	if (isa == 3 || hp3_isa_use(rig.e, isa) != 0) {
		hp3_find_burst(rig.e, pkt, 1, dir);
		if (dir == HP3_DIR_TX)
			hp3_tx(rig.e, pkt, rig.now, &rig.vd, acts);
		else
			hp3_rx(rig.e, pkt, rig.now, &rig.vd, acts);
		return;
	}
	hp3_see_burst(rig.e, pkt, 1, dir);
	assert_int_equal(hp3_burst(rig.e, pkt, 1, dir, rig.now, &rig.vd, acts), 1);
	assert_int_equal(acts->obey, rig.vd.kind != HP3_PASS || (rig.vd.flags & HP3_CHANGES) != 0 ||
					     rig.vd.sport != pkt->v.sport);
}

int rig_transmit(struct hp3_pkt *pkt)
{
	struct hp3_acts acts;
	struct left l = {.psn = pkt->v.psn};

	rig.pkt = *pkt;
	engage(pkt, HP3_DIR_TX, &acts);
	carry_out(&acts);
	l.port = rig.vd.sport;
	l.ackreq = (pkt->v.flags & HP3_VF_ACKREQ) || (rig.vd.flags & HP3_SET_ACKREQ);
	if (rig.vd.kind == HP3_HOLD) {
		struct hold *h = &holds[rig.vd.flow];

		assert_true(rig.vd.flow < SLOTS && h->n < WIRE_MAX);
		h->number[h->n] = rig.vd.held;
		h->queue[h->n++] = l;
		rig.held++;
	} else if (rig.vd.kind == HP3_DROP) {
		rig.dropped++;
	} else {
		assert_int_equal(rig.vd.kind, HP3_PASS);
		leave(l);
	}
	return rig.vd.kind;
}

void rig_receive(struct hp3_pkt *pkt)
{
	struct hp3_acts acts;

	engage(pkt, HP3_DIR_RX, &acts);
	carry_out(&acts);
	/* The local RNIC gets it unchanged, unless it answers a probe or speaks of congestion. */
	if (!rig.cfg.probing && rig.cfg.cc.mode == HP3_CC_NATIVE && pkt->v.class != HP3_CLASS_CNP) {
		assert_int_equal(rig.vd.kind, HP3_PASS);
		assert_int_equal(rig.vd.flags & HP3_CHANGES, 0);
	}
	assert_int_equal(rig.vd.sport, pkt->v.sport);
}

int report_event(const struct qp *q, const struct hp3_qp_event *what)
{
	struct hp3_qp_event event = *what;
	struct hp3_acts acts = {0};
	int ret;

	event.ipv6 = q->ipv6;
	event.vlan = q->vlan;
	event.lqpn = q->lqpn;
	event.rqpn = q->rqpn;
	memcpy(event.local, q->local, 16);
	memcpy(event.remote, q->remote, 16);
	ret = hp3_qp(rig.e, &event, rig.now, &acts);
	carry_out(&acts);
	return ret;
}

static int qp_event(const struct qp *q, enum hp3_qp_kind kind, bool known, uint32_t psn)
{
	return report_event(q, &(struct hp3_qp_event){.kind = (uint8_t)kind,
				       .source = HP3_QP_SOURCE_KERNEL,
				       .psn = psn,
				       .psn_known = known});
}

int set_up(const struct qp *q)
{
	return qp_event(q, HP3_QP_UP, false, 0);
}

int set_up_at(const struct qp *q, uint32_t psn)
{
	return qp_event(q, HP3_QP_UP, true, psn);
}

int tear_down(const struct qp *q)
{
	return qp_event(q, HP3_QP_DOWN, false, 0);
}

void tear_down_at_rest(const struct qp *q)
{
	rig.now += rig.cfg.idle_age_ns + 2 * MS;
	assert_int_equal(set_up(q), 0);
	assert_int_equal(tear_down(q), 0);
	assert_int_equal(flow_of(q), HP3_NO_FLOW);
}

void peer_alive(const struct qp *q)
{
	hp3_peer_seen(rig.e, HP3_ENDS(q), rig.now);
}

int command(const struct qp *q, enum hp3_cmd_kind kind, uint16_t port)
{
	struct hp3_cmd cmd = {
		.kind = (uint8_t)kind, .port = port, .flow = flow_of(q), .tag = 0x7a6};
	struct hp3_acts acts = {0};
	int ret = hp3_command(rig.e, &cmd, rig.now, &acts);

	carry_out(&acts);
	return ret;
}

int advise(const struct qp *q, uint16_t port)
{
	struct hp3_cmd cmd = {.flow = flow_of(q), .port = port, .tag = 77};
	struct hp3_acts acts = {0};
	int ret = hp3_advise(rig.e, &cmd, rig.now, &acts);

	carry_out(&acts);
	return ret;
}

int move(const struct qp *q, uint16_t port)
{
	return command(q, HP3_CMD_MOVE, port);
}

static int actuated(const struct qp *q, struct hp3_actuated what)
{
	struct hp3_acts acts = {0};
	int ret = hp3_actuator(rig.e, flow_of(q), what, rig.now, &acts);

	carry_out(&acts);
	return ret;
}

int actuator(const struct qp *q, enum hp3_actuator_report report)
{
	return actuated(q, (struct hp3_actuated){.report = (uint8_t)report});
}

int actuator_failed(const struct qp *q, uint16_t error)
{
	return actuated(q, (struct hp3_actuated){HP3_ACTUATOR_FAILED, error});
}

void agree_arrives(const struct qp *q, const struct hp3_agree *what)
{
	struct hp3_acts acts = {0};

	hp3_agree_received(rig.e, HP3_ENDS(q), what, rig.now, &acts);
	carry_out(&acts);
}

int complete(const struct qp *q, const struct hp3_completions *what)
{
	struct hp3_acts acts = {0};
	int ret = hp3_completions(rig.e, flow_of(q), what, rig.now, &acts);

	carry_out(&acts);
	return ret;
}

void missed(void)
{
	struct hp3_acts acts;
	uint32_t from = 0;

	do {
		acts.n = 0;
		from = hp3_missed(rig.e, from, rig.now, &acts);
		carry_out(&acts);
	} while (from != HP3_NO_FLOW);
}

void pass_time(uint64_t ns)
{
	struct hp3_acts acts;

	rig.now += ns;
	do {
		acts.n = 0;
		hp3_tick(rig.e, rig.now, &acts);
		assert_in_range(acts.n, 0, HP3_ACTS_MAX);
		for (uint32_t i = 0; i < acts.n; i++) /* one by one: the list may be long */
			carry_out(&(struct hp3_acts){.n = 1, .act[0] = acts.act[i]});
	} while (acts.more);
}

void probe_reply(uint32_t i, bool ce)
{
	struct hp3_acts acts = {0};

	assert_true(i < rig.nprobes);
	hp3_probe_reply(rig.e, rig.probe_ids[i], ce, rig.now, &acts);
	carry_out(&acts);
}

uint32_t flow_of(const struct qp *q)
{
	return hp3_flow_find(rig.e, HP3_ENDS(q), q->rqpn);
}

struct hp3_flow_info info(const struct qp *q)
{
	struct hp3_flow_info i;

	assert_int_equal(hp3_flow_info(rig.e, flow_of(q), rig.now, &i), 0);
	return i;
}

const struct hp3_stats *stats(void)
{
	return hp3_engine_stats(rig.e);
}
