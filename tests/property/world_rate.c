/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rate across moves: fast recovery goes on with the rate from before the suspension, a switch
 * raises it, and marks of the old path do not count against the new one.
 */
#include "engine/pass/pass.h"
#include "tests/search_fits.h"
#include "world_inside.h"

#define LINE_MBPS 10000u
#define WITHHOLD  100u /* % */
#define LATE      (1000 * US) /* hp3d is called that late */

void world_rate_config(const struct world_params *p, struct hp3_cc_params *cc, uint64_t rto_ns)
{
	cc->mode = p->cc;
	cc->rp = hp3_dcqcn_preset("connectx")->rp;
	cc->rp.rpg_max_rate = LINE_MBPS;
	cc->rp.rpg_min_rate = p->min_rate_mbps ? p->min_rate_mbps : 10;
	cc->burst_bytes = 2048;
	cc->rto_ns = rto_ns;
	cc->max_rtt_ns = MAX_RTT;
	cc->withhold_percent = WITHHOLD;
}

uint64_t world_rate_of(const struct world *w, uint32_t flow)
{
	struct hp3_dcqcn rp;

	if (w->e->rates == NULL || flow >= w->cfg.max_flows)
		return 0;
	rp = w->e->rates[flow].rp;
	hp3_dcqcn_advance(&rp, &w->e->cfg.cc.rp, w->now);
	return hp3_dcqcn_rate(&rp);
}

/* The new port has been answered, be it by a reply ahead of CNP `i` in its burst: what comes behind
 * that is heard. */
static bool is_answered(
	const struct world *w, const struct qp *q, const struct burst *b, uint32_t from, uint32_t i)
{
	const struct hp3_flow *f = &w->e->flows[q->flow];
	const struct hp3_shield *s;

	if (f->slot == HP3_NO_SLOT)
		return false;
	s = &w->e->moves[f->slot].shield;
	if (!s->by_reply)
		return false;
	for (uint32_t j = from; j < i; j++)
		if (b->event[j].qp == b->event[i].qp && b->event[j].kind != EVENT_CNP &&
			hp3_psn_diff(b->event[j].view.psn, s->psn) >= 0)
			return true;
	return hp3_psn_diff((f->stream.una - 1) & HP3_PSN_MASK, s->psn) >= 0;
}

bool world_cnp_is_stale(const struct world *w, const struct burst *b, uint32_t from, uint32_t i)
{
	const struct qp *q = &w->qps[b->event[i].qp];
	struct hp3_flow_info info;

	return q->switched_at != 0 && w->now < q->switched_at + MAX_RTT &&
	       hp3_flow_info(w->e, q->flow, w->now, &info) == 0 && info.port != b->event[i].port &&
	       !is_answered(w, q, b, from, i);
}

void world_cnps_kept(struct world *w, const struct burst *b, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct qp *q = &w->qps[b->event[i].qp];
		uint16_t slot = b->vd[i].flow == HP3_NO_FLOW ? HP3_NO_SLOT
							     : w->e->flows[b->vd[i].flow].slot;

		if (b->event[i].kind != EVENT_CNP || b->vd[i].kind != HP3_CONSUME ||
			slot == HP3_NO_SLOT || !w->e->moves[slot].withheld.owed)
			continue;
		w->r.cnps_withheld++;
		if (!q->owed)
			q->owed_since = w->now;
		q->owed = true;
	}
}

void world_cnp_owed(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];
	uint64_t bound = (uint64_t)w->e->flows[q->flow].monitor.base * WITHHOLD / 100;

	w->r.cnps_owed++;
	if (q->owed && w->now > q->owed_since + bound + w->cfg.max_hold_ns + LATE)
		VIOLATION(w, "queue pair %u waits %llu ns for a CNP (rule 30)", i,
			(unsigned long long)(w->now - q->owed_since));
	q->owed = false;
	world_throttle(w, i);
}

/* Rule 30: who leaves a path is owed nothing; who stays has got it by then. */
static void settle_cnps(struct world *w, struct qp *q, const struct hp3_event *event)
{
	if (event->type == HP3_EVENT_SWITCH || event->type == HP3_EVENT_IDLE_SWITCH ||
		event->type == HP3_EVENT_FAILOVER || event->type == HP3_EVENT_EPOCH)
		q->owed = false;
	if (event->type == HP3_EVENT_RECOVER && q->owed)
		VIOLATION(w, "queue pair %u stays, and CNPs for it were lost (rule 30)",
			(unsigned)(q - w->qps));
}

void world_rate_event(struct world *w, struct qp *q, const struct hp3_event *event)
{
	uint64_t rate, line = LINE_MBPS * 1000000ull, raised;

	if (event->type == HP3_EVENT_SWITCH || event->type == HP3_EVENT_IDLE_SWITCH ||
		event->type == HP3_EVENT_FAILOVER)
		q->switched_at = w->now;
	settle_cnps(w, q, event);
	if (w->p.cc != HP3_CC_DCQCN)
		return;
	rate = world_rate_of(w, event->flow);
	if (event->type == HP3_EVENT_SUSPEND) {
		q->saved_rate = rate;
		q->suspended = true;
	} else if (event->type == HP3_EVENT_RECOVER && q->suspended) {
		w->r.rollbacks += q->saved_rate < line;
		if (rate < q->saved_rate && !w->becn)
			VIOLATION(w, "recovers with %llu bit/s instead of %llu",
				(unsigned long long)rate, (unsigned long long)q->saved_rate);
	} else if (event->type == HP3_EVENT_SWITCH && q->suspended) {
		raised = q->saved_rate + (line - q->saved_rate) * w->cfg.cc.rp.raise / 100;
		w->r.raises += q->saved_rate < line;
		if (rate < raised)
			VIOLATION(w, "switches with %llu bit/s instead of %llu",
				(unsigned long long)rate, (unsigned long long)raised);
	}
	if (event->type == HP3_EVENT_RECOVER || event->type == HP3_EVENT_SWITCH ||
		event->type == HP3_EVENT_EPOCH)
		q->suspended = false;
}

bool world_round_is_dead(const struct world *w, uint32_t flow)
{
	uint16_t slot = w->e->flows[flow].slot;

	return slot != HP3_NO_SLOT && w->e->moves[slot].search.kind == HP3_SEARCH_DEAD;
}

uint32_t world_dead_rounds(const struct world *w, uint32_t flow)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->e->nmoves; i++) {
		const struct hp3_move *m = &w->e->moves[w->e->slots[i]];

		n += (m->use & HP3_USE_MOVE) && m->search.state != HP3_SEARCH_QUIET &&
		     m->search.kind == HP3_SEARCH_DEAD &&
		     w->e->flows[m->flow].pair == w->e->flows[flow].pair;
	}
	return n;
}

/* Nobody asks, or waits for an answer, whose move is over (search_state.h). */
void world_check_searches(struct world *w)
{
	for (uint32_t i = 0; i < w->e->nmoves; i++) {
		const struct hp3_move *m = &w->e->moves[w->e->slots[i]];

		if (!hp3_search_fits(m->search.kind, m->search.state, w->e->flows[m->flow].state))
			VIOLATION(w, "flow %u: move in %s, search of kind %u in state %u", m->flow,
				hp3_rfr_state_name(w->e->flows[m->flow].state), m->search.kind,
				m->search.state);
	}
}

bool world_is_failed(const struct world *w, uint32_t flow, uint16_t port)
{
	const struct hp3_flow *f = &w->e->flows[flow];
	const struct hp3_paths *t;
	uint32_t id;

	if (w->e->paths == NULL || !w->e->pairs.pairs[f->pair].paths_ready)
		return false;
	t = &w->e->paths[f->pair];
	id = hp3_paths_id(t, port, f->rqpn);
	for (int i = 0; i < (int)HP3_PATHS; i++) {
		if (t->path[i].id == id && t->path[i].lost != w->now &&
			hp3_paths_quality(t, i, w->now) == HP3_QUALITY_FAILED)
			return true;
	}
	return false;
}
