/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which local QPN do replies to a flow carry? Nobody may tell; then by challenge (rule 15): a
 * packet is chosen, it asks for its acknowledgement, and its exact PSN must come back to one local
 * queue pair only, several times.
 *
 * Natural challenges are free: a packet that carries AckReq by itself (and any READ or ATOMIC).
 * Queue pairs that run in lockstep at equal PSNs would all answer alike, so one is used only when
 * no other flow of the pair is anywhere near that PSN, neither when it leaves nor when it is
 * answered. Each flow may have one under way.
 *
 * Forced challenges serve the rest: AckReq is set on a packet in the middle of a message, drawn at
 * random; the others have no reason to answer just there. No other flow that is not paired has been
 * at that PSN before, and if one comes there and asks, too, nobody is believed. One at a time per
 * address pair, and the answer is believed only after listening for a second one.
 *
 * All of this speaks of flows that have a record. Whoever has none may be answered as well, for
 * challenge_quiet_ns at most after its last request, so for that long nothing is inferred: from the
 * first packet of an address pair on (hp3d may have started in the middle of everything), and when
 * a flow starts over or is removed whose PSNs others are near.
 */
#include "engine/life/life.h"

#define NATURAL_WAIT 128 /* packets to wait for a natural challenge before forcing one */
#define MISSES       3u /* challenges in a row, unanswered though the flow goes on */

static void miss(struct hp3_turn *t, struct hp3_pair *p)
{
	uint32_t flow = p->ch_flow;
	struct hp3_flow *f = &t->e->flows[flow];
	bool goes_on = !(f->flags & HP3_FF_WENT_BACK) && f->stream.nxt != hp3_psn_add(p->ch_psn, 1);

	t->e->stats.challenge_misses++;
	hp3_challenge_stop(p);
	if (p->ch_ambiguous || !goes_on || ++f->unpaired.misses < MISSES)
		return;
	f->unpaired.misses = 0;
	hp3_void_near(t, flow);
}

/* A PSN of the flow was answered, as three were before: so much has arrived. */
static void begin_at(struct hp3_stream *s, uint32_t psn)
{
	uint32_t una = hp3_psn_add(psn, 1);

	if (hp3_psn_diff(una, s->una) > 0 && hp3_psn_diff(una, hp3_stream_end(s)) <= 0)
		s->una = una;
	s->win = (s->nxt - s->una) & HP3_PSN_MASK;
}

/* Exactly one local queue pair answered for the flow. */
static void hit(struct hp3_turn *t, uint32_t flow, uint32_t lqpn, uint32_t psn)
{
	struct hp3_flow *f = &t->e->flows[flow];

	t->e->stats.challenge_hits++;
	f->unpaired.misses = 0;
	if (f->unpaired.cand_hits > 0 && f->unpaired.cand_lqpn != lqpn) {
		t->e->stats.contradictions++;
		f->unpaired.cand_hits = 0;
	}
	f->unpaired.cand_lqpn = lqpn;
	f->unpaired.cand_hits++;
	if (f->unpaired.cand_hits < t->e->cfg.challenge_hits)
		return;
	if (hp3_flow_pair(t, flow, lqpn, HP3_PAIRING_CHALLENGE))
		begin_at(&f->stream, psn);
	else
		f->unpaired.cand_hits = 0;
}

/* The time to hear a second answer to a forced challenge is over. */
static void settle(struct hp3_turn *t, struct hp3_pair *p)
{
	uint32_t flow = p->ch_flow;

	if (p->ch_ambiguous) {
		miss(t, p);
		return;
	}
	hp3_challenge_stop(p);
	hit(t, flow, p->ch_lqpn, p->ch_psn);
}

/* What time alone decides. */
static void expire(struct hp3_turn *t, struct hp3_pair *p)
{
	if (p->ch_state == HP3_CH_IDLE || t->now < p->ch_until)
		return;
	if (p->ch_state == HP3_CH_ANSWERED)
		settle(t, p);
	else if (p->ch_state == HP3_CH_ARMED)
		miss(t, p);
	else
		hp3_challenge_stop(p);
}

/* Natural: the packet will be answered by itself. True if nobody else will say the same. */
static bool arm_natural(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_flow *f = &t->e->flows[flow];

	if (hp3_natural_under_way(t, f))
		return true;
	if (hp3_others_near(t->e, flow, v->psn, t->now) || !hp3_ask_naturally(t, flow, v))
		return false;
	f->unpaired.ch_wait = 0;
	t->e->stats.challenges++;
	return true;
}

static void arm_forced(struct hp3_turn *t, struct hp3_pair *p, const struct hp3_view *v)
{
	p->ch_state = HP3_CH_ARMED;
	p->ch_ambiguous = false;
	p->ch_psn = v->psn;
	p->ch_sent = t->now;
	p->ch_until = t->now + t->e->cfg.challenge_timeout_ns;
	t->e->stats.challenges++;
}

/* Forced: the flow takes its turn, if nobody has it, and draws a packet without AckReq. */
static bool choose_forced(
	struct hp3_turn *t, struct hp3_pair *p, uint32_t flow, const struct hp3_view *v)
{
	if (p->ch_state == HP3_CH_IDLE && !hp3_pair_is_barred(t->e, p) &&
		!hp3_others_ahead(t->e, flow, v->psn, t->now)) {
		p->ch_state = HP3_CH_CHOOSING;
		p->ch_flow = flow;
		p->ch_count = 1 + hp3_random_below(&t->e->rng, t->e->cfg.challenge_spread);
		p->ch_until = t->now + t->e->cfg.challenge_timeout_ns;
	}
	if (p->ch_state != HP3_CH_CHOOSING || p->ch_flow != flow ||
		(p->ch_count > 0 && --p->ch_count > 0) ||
		hp3_others_ahead(t->e, flow, v->psn, t->now))
		return false;
	arm_forced(t, p, v);
	return true;
}

/* Where nothing is moved only what has to come home is asked: a drain needs its replies. */
static bool is_wanted(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return e->cfg.moves_allowed || e->cfg.observe || (f->flags & HP3_FF_MOVED);
}

bool hp3_challenge_tx(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_pair *p = &t->e->pairs.pairs[f->pair];
	const struct hp3_view *v = &pkt->v;
	const bool asks = v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC);

	if (!t->e->cfg.pair_by_challenge || t->now < p->untracked_until)
		return false;
	expire(t, p);
	if (asks && p->ch_state >= HP3_CH_ARMED && p->ch_flow != flow && p->ch_psn == v->psn)
		p->ch_ambiguous = true;
	if ((f->flags & HP3_FF_PAIRED) || !is_wanted(t->e, f) || (asks && arm_natural(t, flow, v)))
		return false;
	if (asks) {
		f->unpaired.ch_wait = NATURAL_WAIT; /* others are near: only force helps */
		return false;
	}
	if (f->unpaired.ch_wait < NATURAL_WAIT) {
		f->unpaired.ch_wait++;
		return false;
	}
	return choose_forced(t, p, flow, v);
}

/* A reply to a local queue pair that no flow claims. */
void hp3_challenge_rx(struct hp3_turn *t, const struct hp3_pkt *pkt)
{
	const struct hp3_ends ends = hp3_pkt_ends(pkt, HP3_DIR_RX);
	uint32_t pair = hp3_pairs_find(&t->e->pairs, &ends), flow;
	struct hp3_pair *p;

	if (pair == HP3_NO_PAIR || t->now < t->e->pairs.pairs[pair].untracked_until)
		return;
	p = &t->e->pairs.pairs[pair];
	expire(t, p);
	flow = hp3_asked_naturally(t, pair, &pkt->v);
	if (flow == HP3_NO_FLOW && !hp3_is_forced_answer(p, &pkt->v)) {
		hp3_void_elsewhere(t, p, pkt);
		return;
	}
	if (!hp3_pkt_icrc_ok(t->e, pkt))
		return;
	if (flow != HP3_NO_FLOW) {
		hp3_natural_drop(&t->e->flows[flow]);
		hit(t, flow, pkt->v.dest_qpn, pkt->v.psn);
		return;
	}
	if (p->ch_state == HP3_CH_ANSWERED) {
		p->ch_ambiguous |= p->ch_lqpn != pkt->v.dest_qpn;
		return;
	}
	p->ch_state = HP3_CH_ANSWERED;
	p->ch_lqpn = pkt->v.dest_qpn;
	/* Others in lockstep would answer about now: listen one more round trip. */
	p->ch_until = t->now + (t->now - p->ch_sent);
}

/* ACKs are not answered again, so one that answers another flow's challenge is that flow's. */
static bool is_of_another(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_pair *p = &t->e->pairs.pairs[f->pair];

	if (hp3_asked_naturally(t, f->pair, v) != HP3_NO_FLOW)
		return true;
	return f->pairing == HP3_PAIRING_CHALLENGE && p->ch_flow != flow &&
	       hp3_is_forced_answer(p, v) && hp3_psn_diff(v->psn, f->stream.una) < -1;
}

/* A flow is answered with an older PSN than the latest only again, and not from far away. What is
 * beyond it has been seen to (pass/packet.c). */
static bool is_far_behind(const struct hp3_flow *f, const struct hp3_view *v)
{
	return hp3_psn_diff(v->psn, f->stream.una) < 0 && !hp3_is_near(f, v->psn);
}

/* Another flow of the pair may have its local queue pair now. */
static bool may_be_wrong(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return p->nflows != 1 && now >= p->untracked_until && (f->flags & HP3_FF_STARTED);
}

/* Anybody can send one answer to another flow's challenge. What was told of a flow that waits for
 * answers itself is refuted as refuted.c says. */
static bool gives_way_at_once(const struct hp3_flow *f)
{
	return f->pairing == HP3_PAIRING_CHALLENGE || hp3_stream_idle(&f->stream);
}

void hp3_challenge_claimed(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	bool at_once;

	if (!t->e->cfg.pair_by_challenge)
		return;
	if (f->flags & HP3_FF_PAIRED) {
		if (!may_be_wrong(t->e, f, t->now))
			return;
		at_once = is_of_another(t, flow, &pkt->v) && gives_way_at_once(f);
		if ((!at_once && !is_far_behind(f, &pkt->v)) || !hp3_pkt_icrc_ok(t->e, pkt))
			return;
		if (!at_once && !hp3_is_refuted(t, flow))
			return;
		t->e->stats.contradictions += at_once;
		hp3_void(t, flow);
	}
	hp3_challenge_rx(t, pkt);
}

/*
 * What was acknowledged is sent again only if the RNIC missed the acknowledgement. A queue pair
 * that begins anew at its old first PSN does the same, and its replies may come elsewhere. Where
 * flows are near, those of one look like those of another, so there all going back is suspect, but
 * for that which a failover waits for.
 */
void hp3_challenge_went_back(struct hp3_turn *t, uint32_t flow, uint32_t psn, bool first)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool behind = hp3_psn_diff(psn, f->stream.una) < 0;
	bool paired = f->flags & HP3_FF_PAIRED;

#ifdef HP3_BREAK_CLAIMS_STAY
	return;
#endif
	f->flags &= (uint16_t) ~(HP3_FF_NATURAL | HP3_FF_NATURAL_RD);
	if (t->e->pairs.pairs[f->pair].ch_flow == flow) /* asked in the life before, perhaps */
		hp3_challenge_stop(&t->e->pairs.pairs[f->pair]);
	if (f->state == HP3_RFR_RESUMING ||
		(!behind && !((first || !paired) && hp3_others_near(t->e, flow, psn, t->now))))
		return;
	t->e->stats.contradictions += paired;
	hp3_flow_unpair(t, flow); /* not paired: what was found so far counts no more */
	if (!behind)
		return;
	f->stream.una = psn; /* what was acknowledged is of another life, perhaps */
	if (((f->stream.nxt - psn) & HP3_PSN_MASK) > f->stream.win)
		hp3_stream_widen(&f->stream);
}
