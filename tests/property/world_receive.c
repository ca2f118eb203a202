/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes from the network: through the engine to the RNIC. On their way to hp3d replies may be
 * damaged (the RNIC drops them then), and behind it they may be lost: so hp3d may know more than
 * the RNIC, and what it seems to know may be wrong (rules 6, 24, 26).
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

static void check_consumed(struct world *w, const struct ev *ev, bool damaged)
{
	w->r.consumed++;
	HARM(w, "a reply for queue pair %u is consumed", ev->qp);
	if (damaged)
		VIOLATION(w, "consumes a reply whose ICRC is wrong (rule 6), qp %u", ev->qp);
	else if (w->p.news && world_is_news(w, ev->qp, &ev->view))
		VIOLATION(w,
			"consumes what the RNIC has not seen (rule 24), qp %u: opcode 0x%x, "
			"syndrome 0x%x, PSN %llu, RNIC expects %llu",
			ev->qp, ev->view.opcode, ev->view.syndrome,
			(unsigned long long)linear(
				&w->qps[ev->qp], ev->view.psn, w->qps[ev->qp].una),
			(unsigned long long)w->qps[ev->qp].una);
}

void world_reply_seen(struct world *w, const struct ev *ev)
{
	struct qp *q = &w->qps[ev->qp];
	bool damaged = w->p.damage_ppm != 0 && chance(w, w->p.damage_ppm);
	struct hp3_pkt pkt = {.v = ev->view};
	struct hp3_verdict vd;
	struct hp3_acts acts;

	world_pkt(w, ev->qp, HP3_DIR_RX, &pkt);
	if (w->p.damage_ppm != 0)
		world_frame(w, ev, damaged, &pkt);
	w->becn = pkt.v.flags & HP3_VF_BECN;
	hp3_find_burst(w->e, &pkt, 1, HP3_DIR_RX);
	world_engage(w, &pkt, HP3_DIR_RX, &vd, &acts);
	if (pkt.v.opcode == HP3_OP_RC_ACK)
		q->probe_until = 0;
	if (w->becn && !damaged && w->p.cc != HP3_CC_NATIVE && vd.flow != HP3_NO_FLOW &&
		!(vd.flags & HP3_CLEAR_BECN) && vd.kind == HP3_PASS)
		VIOLATION(w, "BECN reaches an RNIC that does not know it (rule 5)");
	if (!damaged && ev->gen == q->epoch)
		note_heard(q, &ev->view);
	world_carry_out(w, &acts);
	w->becn = false;
	if (vd.kind == HP3_CONSUME && ev->gen == q->epoch)
		check_consumed(w, ev, damaged);
	w->r.damaged += damaged;
	if (damaged)
		q->hurt = w->now;
	if (vd.kind != HP3_PASS || ev->gen != q->epoch || damaged)
		return;
	if (w->p.behind_ppm != 0 && chance(w, w->p.behind_ppm)) {
		w->r.lost_behind++;
		q->hurt = w->now;
		return;
	}
	world_rnic_reply(w, ev->qp, &ev->view, ev->ours);
}

void world_cnp_seen(struct world *w, const struct ev *ev)
{
	struct qp *q = &w->qps[ev->qp];
	struct hp3_pkt pkt = {.v = view_of(HP3_OP_CNP)};
	bool stale = world_cnp_is_stale(w, q, ev->port);
	uint64_t before, after;
	struct hp3_verdict vd;
	struct hp3_acts acts;

	pkt.v.dest_qpn = q->lqpn;
	world_pkt(w, ev->qp, HP3_DIR_RX, &pkt);
	hp3_find_burst(w->e, &pkt, 1, HP3_DIR_RX);
	before = world_rate_of(w, q->flow);
	world_engage(w, &pkt, HP3_DIR_RX, &vd, &acts);
	after = world_rate_of(w, q->flow);
	w->r.cnps++;
	w->r.stale_cnps += stale;
	if (stale && after < before)
		VIOLATION(w, "a CNP of the old path reduces queue pair %u to %llu bit/s", ev->qp,
			(unsigned long long)after);
	if (vd.kind != HP3_CONSUME && w->p.cc != HP3_CC_NATIVE)
		VIOLATION(w, "a CNP reaches an RNIC that does not know it (rule 5)");
	if (vd.kind == HP3_PASS)
		world_throttle(w, ev->qp);
	world_carry_out(w, &acts);
}

void world_answer_seen(struct world *w, uint32_t id, bool ce)
{
	struct hp3_acts acts = {0};

	if (w->p.model)
		hp3_load_told_by(w->e, id, w->told, w->p.paths, w->now);
	hp3_probe_reply(w->e, id, ce, w->now, &acts);
	world_carry_out(w, &acts);
}
