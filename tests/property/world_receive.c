/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets from the network, through the engine to the RNIC. Replies may be damaged before hp3d (the
 * RNIC then drops them), or lost after it: so hp3d may have newer state than the RNIC, and its
 * state may be wrong (rules 6, 24, 26).
 */
#include "world_internal.h"
#include <string.h>

/* What a reply that hp3d sees undamaged proves: all before it has arrived. */
static void note_heard(struct qp *q, const struct hp3_view *v)
{
	bool ack = !(v->flags & HP3_VF_AETH) || HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK;
	uint64_t lin = linear(q, v->psn, q->heard) + ack;

	if (lin > q->heard && lin <= q->high)
		q->heard = lin;
}

static void check_consumed(struct world *w, const struct event *event, bool damaged)
{
	w->r.consumed++;
	HARM(w, "a reply for queue pair %u is consumed", event->qp);
	if (damaged)
		VIOLATION(w, "consumes a reply whose ICRC is wrong (rule 6), qp %u", event->qp);
	else if (w->p.news && world_is_news(w, event->qp, &event->view))
		VIOLATION(w,
			"consumes what the RNIC has not seen (rule 24), qp %u: opcode 0x%x, "
			"syndrome 0x%x, PSN %llu, RNIC expects %llu",
			event->qp, event->view.opcode, event->view.syndrome,
			(unsigned long long)linear(
				&w->qps[event->qp], event->view.psn, w->qps[event->qp].una),
			(unsigned long long)w->qps[event->qp].una);
}

static void make_cnp(struct world *w, struct burst *b, uint32_t i)
{
	struct hp3_pkt *pkt = &b->pkt[i];

	*pkt = (struct hp3_pkt){.v = view_of(HP3_OP_CNP)};
	pkt->v.dest_qpn = w->qps[b->event[i].qp].lqpn;
	world_pkt(w, b->event[i].qp, HP3_DIR_RX, pkt);
}

void world_rx_make(struct world *w, struct burst *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		b->damaged[i] = false;
		if (b->event[i].kind == EVENT_CNP) {
			make_cnp(w, b, i);
			continue;
		}
		b->damaged[i] = w->p.damage_ppm != 0 && chance(w, w->p.damage_ppm);
		b->pkt[i] = (struct hp3_pkt){.v = b->event[i].view};
		world_pkt(w, b->event[i].qp, HP3_DIR_RX, &b->pkt[i]);
		if (w->p.damage_ppm != 0 || w->p.burst > 1)
			world_frame(w, b, i);
	}
}

void world_rx_before(struct world *w, struct burst *b, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct qp *q = &w->qps[b->event[i].qp];

		if (b->event[i].kind != EVENT_CNP)
			continue;
		b->was[i].stale = world_cnp_is_stale(w, b, from, i);
		b->was[i].rate = world_rate_of(w, q->flow);
	}
}

/* May something among packets [from, to) reduce the rate of this queue pair? */
static bool may_reduce(const struct burst *b, uint32_t from, uint32_t to, uint32_t qp)
{
	for (uint32_t i = from; i < to; i++) {
		bool marked = b->event[i].kind == EVENT_CNP ? !b->was[i].stale
							    : b->pkt[i].v.flags & HP3_VF_BECN;

		if (b->event[i].qp == qp && marked)
			return true;
	}
	return false;
}

static void check_stale(struct world *w, const struct burst *b, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t qp = b->event[i].qp;
		uint64_t after;

		if (b->event[i].kind != EVENT_CNP)
			continue;
		w->r.cnps++;
		w->r.stale_cnps += b->was[i].stale;
		if (!b->was[i].stale || may_reduce(b, from, to, qp))
			continue;
		after = world_rate_of(w, w->qps[qp].flow);
		if (after < b->was[i].rate)
			VIOLATION(w, "a CNP of the old path reduces queue pair %u to %llu bit/s",
				qp, (unsigned long long)after);
	}
}

void world_rx_seen(struct world *w, struct burst *b, uint32_t from, uint32_t to)
{
	check_stale(w, b, from, to);
	for (uint32_t i = from; i < to; i++) {
		struct qp *q = &w->qps[b->event[i].qp];

		if (b->event[i].kind == EVENT_CNP)
			continue;
		if (b->pkt[i].v.opcode == HP3_OP_RC_ACK)
			q->probe_until = 0;
		if (!b->damaged[i] && b->event[i].gen == q->epoch)
			note_heard(q, &b->event[i].view);
	}
}

static void obey_cnp(struct world *w, const struct burst *b, uint32_t i)
{
	if (b->vd[i].kind != HP3_CONSUME && w->p.cc != HP3_CC_NATIVE)
		VIOLATION(w, "a CNP reaches an RNIC that does not know it (rule 5)");
	if (b->vd[i].kind == HP3_PASS)
		world_throttle(w, b->event[i].qp);
}

void world_rx_obey(struct world *w, struct burst *b, uint32_t i)
{
	const struct event *event = &b->event[i];
	const struct hp3_verdict *vd = &b->vd[i];
	struct qp *q = &w->qps[event->qp];
	bool damaged = b->damaged[i], becn = b->pkt[i].v.flags & HP3_VF_BECN;

	if (event->kind == EVENT_CNP) {
		obey_cnp(w, b, i);
		return;
	}
	if (becn && !damaged && w->p.cc != HP3_CC_NATIVE && vd->flow != HP3_NO_FLOW &&
		!(vd->flags & HP3_CLEAR_BECN) && vd->kind == HP3_PASS)
		VIOLATION(w, "BECN reaches an RNIC that does not know it (rule 5)");
	if (vd->kind == HP3_CONSUME && event->gen == q->epoch)
		check_consumed(w, event, damaged);
	w->r.damaged += damaged;
	if (damaged)
		q->hurt = w->now;
	if (vd->kind != HP3_PASS || event->gen != q->epoch || damaged)
		return;
	if (w->p.behind_ppm != 0 && chance(w, w->p.behind_ppm)) {
		w->r.lost_behind++;
		q->hurt = w->now;
		return;
	}
	world_rnic_reply(w, event->qp, &event->view, event->ours);
}

void world_answer_seen(struct world *w, uint32_t id, bool ce)
{
	struct hp3_acts acts = {0};

	hp3_probe_reply(w->e, id, ce, w->now, &acts);
	world_carry_out(w, &acts);
}
