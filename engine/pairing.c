/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which local QPN do replies to a flow carry? Learnt from connection management, or by challenge
 * (rule 15): a packet is chosen, it asks for its acknowledgement, and its exact PSN must come back
 * to one local queue pair only, several times.
 *
 * Natural challenges are free: a packet that carries AckReq by itself (and any READ or ATOMIC).
 * Queue pairs that run in lockstep at equal PSNs would all answer alike, so one is used only when
 * no other flow of the pair is anywhere near that PSN. Each flow may have one under way.
 *
 * Forced challenges serve the rest: AckReq is set on a packet in the middle of a message, drawn at
 * random; the others have no reason to answer just there. One at a time per address pair, and the
 * answer is believed only after listening for a second one.
 */
#include "engine/internal.h"

#define NEAR_PSNS      65536 /* flows closer than this could answer with the same PSN */
#define NATURAL_WAIT   128 /* packets to wait for a natural challenge before forcing one */
#define NEAR_FLOWS_MAX 256u /* flows of a pair looked at; more count as near */

static bool others_near(const struct hp3_engine *e, uint32_t flow, uint32_t psn)
{
	const struct hp3_flow *f = &e->flows[flow];
	uint32_t n = 0;

	for (uint32_t i = e->pairs.pairs[f->pair].flows; i != HP3_NO_FLOW; i = e->flows[i].next) {
		const struct hp3_flow *g = &e->flows[i];

		if (++n > NEAR_FLOWS_MAX)
			return true;
		if (i == flow || !(g->flags & HP3_FF_STARTED))
			continue;
		if (hp3_psn_diff(psn, g->stream.una) > -NEAR_PSNS &&
			hp3_psn_diff(psn, hp3_stream_end(&g->stream)) < NEAR_PSNS)
			return true;
	}
	return false;
}

void hp3_challenge_stop(struct hp3_pair *p)
{
	p->ch_state = HP3_CH_IDLE;
	p->ch_flow = HP3_NO_FLOW;
}

static void miss(struct hp3_engine *e, struct hp3_pair *p)
{
	e->stats.challenge_misses++;
	hp3_challenge_stop(p);
}

/* Exactly one local queue pair answered for the flow. */
static void hit(
	struct hp3_engine *e, uint32_t flow, uint32_t lqpn, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];

	e->stats.challenge_hits++;
	if (f->court.cand_hits > 0 && f->court.cand_lqpn != lqpn) {
		e->stats.contradictions++;
		f->court.cand_hits = 0;
	}
	f->court.cand_lqpn = lqpn;
	f->court.cand_hits++;
	if (f->court.cand_hits >= e->cfg.challenge_hits &&
		!hp3_flow_pair(e, flow, lqpn, HP3_PAIRING_CHALLENGE, now, acts))
		f->court.cand_hits = 0;
}

/* The time to hear a second answer to a forced challenge is over. */
static void settle(struct hp3_engine *e, struct hp3_pair *p, uint64_t now, struct hp3_acts *acts)
{
	uint32_t flow = p->ch_flow;

	if (p->ch_ambiguous) {
		miss(e, p);
		return;
	}
	hp3_challenge_stop(p);
	hit(e, flow, p->ch_lqpn, now, acts);
}

/* What time alone decides. */
static void expire(struct hp3_engine *e, struct hp3_pair *p, uint64_t now, struct hp3_acts *acts)
{
	if (p->ch_state == HP3_CH_IDLE || now < p->ch_until)
		return;
	if (p->ch_state == HP3_CH_ANSWERED)
		settle(e, p, now, acts);
	else if (p->ch_state == HP3_CH_ARMED)
		miss(e, p);
	else
		hp3_challenge_stop(p);
}

static void drop_natural(struct hp3_flow *f)
{
	f->flags &= (uint16_t) ~(HP3_FF_NATURAL | HP3_FF_NATURAL_RD);
}

/* True while an answer counts. Later, another queue pair may have come to the same PSN. */
static bool natural_under_way(struct hp3_engine *e, struct hp3_flow *f, uint64_t now)
{
	uint32_t age = (uint32_t)(now >> HP3_TICK_SHIFT) - f->court.nat_sent;

	if (!(f->flags & HP3_FF_NATURAL))
		return false;
	if (age <= e->cfg.challenge_timeout_ns >> HP3_TICK_SHIFT)
		return true;
	e->stats.challenge_misses++;
	drop_natural(f);
	return false;
}

/* Natural: true if the packet will be answered by itself, and nobody else will say the same. */
static bool arm_natural(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];

	if (!(v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC)))
		return false;
	if (natural_under_way(e, f, now))
		return true;
	if (others_near(e, flow, v->psn))
		return false;
	f->flags |= HP3_FF_NATURAL;
	if (v->flags & HP3_VF_READ)
		f->flags |= HP3_FF_NATURAL_RD;
	f->court.nat_psn = v->psn;
	f->court.nat_sent = (uint32_t)(now >> HP3_TICK_SHIFT);
	f->court.ch_wait = 0;
	e->stats.challenges++;
	return true;
}

static void arm_forced(
	struct hp3_engine *e, struct hp3_pair *p, const struct hp3_view *v, uint64_t now)
{
	p->ch_state = HP3_CH_ARMED;
	p->ch_ambiguous = false;
	p->ch_psn = v->psn;
	p->ch_sent = now;
	p->ch_until = now + e->cfg.challenge_timeout_ns;
	e->stats.challenges++;
}

/* Forced: the flow takes its turn, if nobody has it, and draws a packet without AckReq. */
static bool choose_forced(struct hp3_engine *e, struct hp3_pair *p, uint32_t flow,
	const struct hp3_view *v, uint64_t now)
{
	if (p->ch_state == HP3_CH_IDLE) {
		p->ch_state = HP3_CH_CHOOSING;
		p->ch_flow = flow;
		p->ch_count = 1 + hp3_random_below(&e->rng, e->cfg.challenge_spread);
		p->ch_until = now + e->cfg.challenge_timeout_ns;
	}
	if (p->ch_state != HP3_CH_CHOOSING || p->ch_flow != flow || --p->ch_count > 0)
		return false;
	arm_forced(e, p, v, now);
	return true;
}

bool hp3_challenge_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_pair *p = &e->pairs.pairs[f->pair];
	const struct hp3_view *v = &pkt->v;

	if (!e->cfg.pair_by_challenge || now < p->untracked_until)
		return false;
	expire(e, p, now, acts);
	if ((f->flags & HP3_FF_PAIRED) || arm_natural(e, flow, v, now))
		return false;
	if (v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC)) {
		f->court.ch_wait = NATURAL_WAIT; /* others are near: only force helps */
		return false;
	}
	if (f->court.ch_wait < NATURAL_WAIT) {
		f->court.ch_wait++;
		return false;
	}
	return choose_forced(e, p, flow, v, now);
}

/* True for a reply that proves execution of the packet with its PSN itself. */
static bool proves(const struct hp3_view *v, bool read)
{
	if (v->flags & HP3_VF_READ)
		return read && (v->flags & HP3_VF_FIRST);
	return !read && (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK;
}

/* A reply that no flow claims may be the answer to a natural challenge of one flow. */
static bool answers_natural(struct hp3_engine *e, const struct hp3_pair *p,
	const struct hp3_pkt *pkt, uint64_t now, struct hp3_acts *acts)
{
	uint32_t n = 0;

	for (uint32_t i = p->flows; i != HP3_NO_FLOW && n < NEAR_FLOWS_MAX; i = e->flows[i].next) {
		struct hp3_flow *f = &e->flows[i];

		n++;
		if (f->court.nat_psn != pkt->v.psn || !natural_under_way(e, f, now) ||
			!proves(&pkt->v, f->flags & HP3_FF_NATURAL_RD))
			continue;
		if (hp3_pkt_icrc_ok(e, pkt)) {
			drop_natural(f);
			hit(e, i, pkt->v.dest_qpn, now, acts);
		}
		return true;
	}
	return false;
}

/* A reply to a local queue pair that no flow claims. */
void hp3_challenge_rx(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_acts *acts)
{
	const uint8_t *local, *remote;
	struct hp3_pair *p;
	uint32_t pair;

	hp3_pkt_addresses(pkt, HP3_DIR_RX, &local, &remote);
	pair = hp3_pairs_find(&e->pairs, pkt->v.flags & HP3_VF_IPV6, pkt->v.vlan, local, remote);
	if (pair == HP3_NO_PAIR || now < e->pairs.pairs[pair].untracked_until)
		return;
	p = &e->pairs.pairs[pair];
	expire(e, p, now, acts);
	if (answers_natural(e, p, pkt, now, acts))
		return;
	if ((p->ch_state != HP3_CH_ARMED && p->ch_state != HP3_CH_ANSWERED) ||
		pkt->v.psn != p->ch_psn || !proves(&pkt->v, false) || !hp3_pkt_icrc_ok(e, pkt))
		return;
	if (p->ch_state == HP3_CH_ANSWERED) {
		p->ch_ambiguous |= p->ch_lqpn != pkt->v.dest_qpn;
		return;
	}
	p->ch_state = HP3_CH_ANSWERED;
	p->ch_lqpn = pkt->v.dest_qpn;
	/* Others in lockstep would answer about now: listen one more round trip. */
	p->ch_until = now + (now - p->ch_sent);
}

static void remember_request(struct hp3_engine *e, const struct hp3_cm_pending *req)
{
	struct hp3_cm_pending *slot = NULL;

	for (uint32_t i = 0; i < HP3_CM_PENDING && slot == NULL; i++) {
		struct hp3_cm_pending *c = &e->cm[i];

		if (c->used && c->comm_id == req->comm_id && c->from_local == req->from_local &&
			c->vlan == req->vlan && memcmp(c->local, req->local, 32) == 0)
			slot = c; /* sent again */
	}
	if (slot == NULL)
		slot = &e->cm[e->cm_next++ % HP3_CM_PENDING];
	*slot = *req;
}

static void connect(struct hp3_engine *e, struct hp3_cm_pending *req, const struct hp3_cm_msg *m,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_qp_event ev = {.kind = HP3_QP_UP,
		.pairing = HP3_PAIRING_CM,
		.ipv6 = req->ipv6,
		.vlan = req->vlan,
		.lqpn = req->from_local ? req->qpn : m->qpn,
		.rqpn = req->from_local ? m->qpn : req->qpn,
		.psn = req->from_local ? m->psn : req->psn,
		.psn_known = true};

	memcpy(ev.local, req->local, 16);
	memcpy(ev.remote, req->remote, 16);
	hp3_qp(e, &ev, now, acts);
	req->used = false;
}

static void disconnect(
	struct hp3_engine *e, const struct hp3_cm_pending *by, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_key k = {.addr = hp3_key_addr(e, by->ipv6, by->local, by->remote),
		.qpn = by->qpn,
		.vlan = by->vlan,
		.ipv6 = by->ipv6,
		.dir = by->from_local ? HP3_DIR_TX : HP3_DIR_RX};
	uint32_t flow = hp3_key_find(e, &k, by->local, by->remote);

	if (flow != HP3_NO_FLOW)
		hp3_flow_epoch(e, flow, now, acts);
}

void hp3_cm_seen(struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir, uint64_t now,
	struct hp3_acts *acts)
{
	struct hp3_cm_pending c = {.used = true, .from_local = dir == HP3_DIR_TX};
	const uint8_t *local, *remote;
	struct hp3_cm_msg m;

	if (!e->cfg.pair_by_cm)
		return;
	hp3_cm_parse(pkt->frame, &pkt->v, &m);
	if (m.kind == HP3_CM_NONE || !hp3_pkt_icrc_ok(e, pkt))
		return;
	hp3_pkt_addresses(pkt, dir, &local, &remote);
	c.ipv6 = pkt->v.flags & HP3_VF_IPV6;
	c.vlan = pkt->v.vlan;
	c.comm_id = m.local_id;
	c.qpn = m.qpn;
	c.psn = m.psn;
	memcpy(c.local, local, c.ipv6 ? 16 : 4);
	memcpy(c.remote, remote, c.ipv6 ? 16 : 4);
	if (m.kind == HP3_CM_REQ) {
		remember_request(e, &c);
	} else if (m.kind == HP3_CM_DREQ) {
		disconnect(e, &c, now, acts);
	} else if (m.kind == HP3_CM_REP) {
		for (uint32_t i = 0; i < HP3_CM_PENDING; i++) {
			struct hp3_cm_pending *r = &e->cm[i];

			if (r->used && r->comm_id == m.remote_id && r->from_local != c.from_local &&
				r->vlan == c.vlan && memcmp(r->local, c.local, 32) == 0)
				connect(e, r, &m, now, acts);
		}
	}
}
