/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion feedback: effects of CNPs, BECN and CE, and whether the engine forwards or consumes
 * them (rule 5).
 */
#include "engine/part.h"
#include "engine/pass/steady.h"
#include "engine/spray/spray.h"

static void report_congestion(struct hp3_turn *t, uint32_t flow, enum hp3_event_type type)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_monitor *m = &f->monitor;
	struct hp3_event *event = hp3_event(t, flow, type);

	event->n_cycles = (uint8_t)hp3_monitor_evidence(m, event->cycles);
	event->cause = hp3_cause_reported(t->e, f, event->cycles, event->n_cycles);
	hp3_monitor_estimates(m, &t->e->cfg.monitor, &event->path);
}

/* Reports severe congestion once per spell. Each cycle of the spell may start a search. */
void hp3_severe(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool known = f->flags & HP3_FF_SEVERE;

	if (hp3_spray_hides(t->e, flow))
		return;
	f->flags |= HP3_FF_SEVERE;
	if (!known) {
		t->e->stats.severe++;
		report_congestion(t, flow, HP3_EVENT_SEVERE);
		if (t->e->cfg.observe && t->e->cfg.silent)
			report_congestion(t, flow, HP3_EVENT_WOULD);
	}
	if (t->e->cfg.probing)
		hp3_search_better_path(t, flow);
}
/* CNPs and BECN of the old path after a move (cc/shield.h). */
static bool is_stale(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	struct hp3_move *m;

	if (f->slot == HP3_NO_SLOT)
		return false;
	m = &e->moves[f->slot];
	hp3_shield_reply(&m->shield, (f->stream.una - 1) & HP3_PSN_MASK);
	return hp3_shield_cnp(&m->shield, now) == HP3_CNP_CONSUME;
}

static bool is_withheld(struct hp3_turn *t, const struct hp3_flow *f, const struct hp3_pkt *pkt)
{
	return f->slot != HP3_NO_SLOT && hp3_withheld_cnp(&t->e->moves[f->slot].withheld,
						 pkt->v.pkey, t->now) == HP3_CNP_CONSUME;
}

/*
 * A reaction point halves its rate with each CNP, and regains it after hundreds of microseconds. A
 * flow that waits until congestion control has reacted would move with a low rate. So the first CNP
 * starts a search if probes cost the flow nothing. Until that search ends, hp3d withholds CNPs from
 * an RNIC that reacts itself (rule 30).
 */
static bool is_at_once(struct hp3_turn *t, const struct hp3_flow *f)
{
	return t->e->cfg.cc.mode != HP3_CC_OFF && t->e->cfg.cc.withhold_percent != 0 &&
	       f->monitor.cnp && hp3_peer_is_asked(t, f->pair);
}

/* Rule 5: if the RNIC does no congestion control, CNPs and BECN stop here. */
void hp3_cnp_seen(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	struct hp3_engine *e = t->e;
	uint32_t flow = hp3_pkt_flow(e, pkt, HP3_DIR_RX);
	struct hp3_flow *f;

	e->stats.cnps++;
	vd->flow = flow;
	if (e->cfg.cc.mode != HP3_CC_NATIVE)
		vd->kind = HP3_CONSUME;
	if (flow == HP3_NO_FLOW || !hp3_pkt_icrc_ok(e, pkt))
		return;
	f = &e->flows[flow];
	if (is_stale(e, f, t->now)) {
		e->stats.cnps_stale++;
		vd->kind = HP3_CONSUME;
		return;
	}
	if (f->state == HP3_RFR_PROBING)
		hp3_search_marked(&e->moves[f->slot]);
	hp3_rate_marked(e, flow, t->now);
	if (is_watched(e, f) &&
		(hp3_monitor_cnp(&f->monitor, &e->cfg.monitor, t->now) || is_at_once(t, f)))
		hp3_severe(t, flow);
	if (is_withheld(t, f, pkt)) {
		e->stats.cnps_withheld++;
		vd->kind = HP3_CONSUME;
	}
}

void hp3_becn_seen(
	struct hp3_engine *e, uint32_t flow, bool in_window, uint64_t now, struct hp3_verdict *vd)
{
	if (e->cfg.cc.mode == HP3_CC_NATIVE)
		return;
	vd->flags |= HP3_CLEAR_BECN;
	if (!in_window || is_stale(e, &e->flows[flow], now))
		return;
	hp3_rate_marked(e, flow, now);
}

/* Only towards a peer whose hp3d is alive (rule 5). */
static bool peer_listens(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	uint64_t seen = e->pairs.pairs[f->pair].peer_seen;

	return seen != 0 && now - seen < e->cfg.peer_ns;
}

/* A request of the peer arrived marked. */
void hp3_ce_seen(struct hp3_turn *t, const struct hp3_pkt *pkt)
{
	uint32_t flow = hp3_pkt_flow(t->e, pkt, HP3_DIR_RX);
	struct hp3_flow *f;
	struct hp3_act *a;

	if (flow == HP3_NO_FLOW)
		return;
	f = &t->e->flows[flow];
	t->e->stats.ce_seen++;
	if (hp3_np_ce(&t->e->np[flow], &t->e->cfg.cc.np, peer_listens(t->e, f, t->now), t->now) !=
		HP3_NP_SEND_CNP)
		return;
	a = hp3_act(t, HP3_ACT_CNP, flow);
	a->pkey = pkt->v.pkey;
	a->port = hp3_flow_port(f);
	t->e->stats.cnps_made++;
}

void hp3_reply_leaves(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd)
{
	uint32_t flow;

	if (!(pkt->v.flags & HP3_VF_AETH))
		return;
	flow = hp3_pkt_flow(e, pkt, HP3_DIR_TX);
	if (flow != HP3_NO_FLOW &&
		hp3_np_ack(&e->np[flow], &e->cfg.cc.np, peer_listens(e, &e->flows[flow], now)) ==
			HP3_NP_SET_BECN)
		vd->flags |= HP3_SET_BECN;
}

static bool has_np(const struct hp3_engine_config *cfg)
{
	return cfg->cc.notify;
}

static void take_np(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->np, e->cfg.max_flows);
}

static void init_np(struct hp3_engine *e)
{
	memset(e->np, 0, e->cfg.max_flows * sizeof(*e->np));
}

const struct hp3_part hp3_np_part = {.is_on = has_np, .take = take_np, .init = init_np};
