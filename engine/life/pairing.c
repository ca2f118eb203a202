/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which local QPN do replies to a flow carry? If no event reports it, the engine finds it by
 * challenge (rule 15). It chooses a packet that requests an acknowledgement (the challenge). The
 * reply must have exactly the PSN of this packet. Several times in a row, only one and the same
 * local queue pair may get such a reply.
 *
 * Natural challenges are free: packets that carry AckReq already, and any READ or ATOMIC. But queue
 * pairs that send equal PSNs at the same time would all get the same replies. So no other flow of
 * the pair may be near that PSN, neither when the packet leaves nor when the reply arrives.
 *
 * Forced challenges are for all other cases: the engine sets AckReq in a random packet in the
 * middle of a message. Other flows are unlikely to get a reply with just that PSN. The engine
 * chooses a PSN that no other unpaired flow has sent before. If another one sends it later and
 * requests an ACK, too, the engine cancels the challenge. After the first answer, the engine waits
 * for another round trip. An answer with another local QPN in this time cancels the challenge.
 *
 * Each flow may have one challenge of each kind outstanding, at different PSNs. flows/near.h
 * records which flow was near which PSN, so no code here visits all flows of a pair.
 *
 * All this covers flows with a record. A queue pair without a record may get replies, too, for
 * challenge_quiet_ns at most after its last request. So the engine sends no challenges for that
 * long in two cases: after the first packet of an address pair, as hp3d may have started during
 * traffic; and after a flow began a new epoch or was removed while other flows were near its PSNs.
 */
#include "engine/life/life.h"

#define NATURAL_WAIT 128 /* packets to wait for a natural challenge before forcing one */
#define MISSES       3u /* challenges in a row without an answer though the flow makes progress */

static void note_miss(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_unpaired *u = &f->unpaired;
	bool goes_on = !(f->flags & HP3_FF_WENT_BACK) && f->stream.nxt != hp3_psn_add(u->ch_psn, 1);
	bool ambiguous = u->ch_ambiguous;

	hp3_challenge_missed(t, f);
	hp3_challenge_stop(f);
	if (ambiguous || !goes_on || ++u->misses < MISSES)
		return;
	u->misses = 0;
	hp3_void_near(t, flow);
}

/* A PSN of the flow was answered, as three were before: packets up to it have arrived. */
static void begin_at(struct hp3_stream *s, uint32_t psn)
{
	uint32_t una = hp3_psn_add(psn, 1);

	if (hp3_psn_diff(una, s->una) > 0 && hp3_psn_diff(una, hp3_stream_end(s)) <= 0)
		s->una = una;
	s->win = (s->nxt - s->una) & HP3_PSN_MASK;
}

/* Exactly one local queue pair answered for the flow. */
static void note_hit(struct hp3_turn *t, uint32_t flow, uint32_t lqpn, uint32_t psn)
{
	struct hp3_flow *f = &t->e->flows[flow];

	t->e->stats.challenge_hits++;
	hp3_challenge_answered(f);
	if (f->unpaired.cand_hits > 0 && f->unpaired.cand_lqpn != lqpn) {
		t->e->stats.contradictions++;
		f->unpaired.cand_hits = 0;
		f->unpaired.reason = HP3_UNPAIRED_AMBIGUOUS;
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

/* The time for a second answer to a forced challenge has passed. */
static void settle_challenge(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];

	if (f->unpaired.ch_ambiguous) {
		note_miss(t, flow);
		return;
	}
	hp3_challenge_stop(f);
	note_hit(t, flow, f->unpaired.ch_lqpn, f->unpaired.ch_psn);
}

/* Handles time limits. */
static void expire_challenge(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_pair *p = &t->e->pairs.pairs[f->pair];

	if (f->unpaired.ch_state >= HP3_CH_ARMED &&
		f->unpaired.ch_voids != (p->voids & HP3_CH_VOIDS))
		hp3_challenge_stop(f);
	if (f->unpaired.ch_state == HP3_CH_IDLE || t->now < f->unpaired.ch_until)
		return;
	if (f->unpaired.ch_state == HP3_CH_ANSWERED)
		settle_challenge(t, flow);
	else if (f->unpaired.ch_state == HP3_CH_ARMED)
		note_miss(t, flow);
	else
		hp3_challenge_stop(f);
}

static bool are_flows_near(struct hp3_turn *t, uint32_t flow, uint32_t psn)
{
	if (!hp3_others_near(t->e, flow, psn, t->now))
		return false;
	t->e->stats.challenge_near++;
	t->e->flows[flow].unpaired.reason =
		hp3_is_crowded(t->e, flow, psn, t->now) ? HP3_UNPAIRED_FULL : HP3_UNPAIRED_NEAR;
	return true;
}

static bool are_ahead(struct hp3_turn *t, uint32_t flow, uint32_t psn)
{
	if (!hp3_others_ahead(t->e, flow, psn, t->now))
		return false;
	t->e->stats.challenge_ahead++;
	t->e->flows[flow].unpaired.reason = HP3_UNPAIRED_AHEAD;
	return true;
}

/* Natural: the packet requests a reply itself. True: no other flow can get the same reply. */
static bool arm_natural(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_flow *f = &t->e->flows[flow];

	if (hp3_natural_under_way(t, f))
		return true;
	if (are_flows_near(t, flow, v->psn))
		return false;
	if (!hp3_ask_naturally(t, flow, v)) {
		f->unpaired.reason = HP3_UNPAIRED_FULL;
		return false;
	}
	f->unpaired.ch_wait = 0;
	hp3_challenge_begun(f);
	t->e->stats.challenges++;
	return true;
}

/* Forced: chooses a packet without AckReq. */
static bool choose_forced(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_unpaired *u = &t->e->flows[flow].unpaired;

	if (u->ch_state == HP3_CH_IDLE &&
		!hp3_pair_is_barred(t->e, &t->e->pairs.pairs[t->e->flows[flow].pair]) &&
		!are_ahead(t, flow, v->psn)) {
		u->ch_state = HP3_CH_CHOOSING;
		u->ch_count = 1 + hp3_random_below(&t->e->rng, t->e->cfg.challenge_spread);
		u->ch_until = t->now + t->e->cfg.challenge_timeout_ns;
	}
	if (u->ch_state == HP3_CH_CHOOSING && u->ch_count > 0)
		u->ch_count--;
	if (u->ch_state != HP3_CH_CHOOSING || u->ch_count > 0 || are_ahead(t, flow, v->psn))
		return false;
	if (!hp3_ask_forced(t, flow, v->psn)) {
		u->reason = HP3_UNPAIRED_FULL;
		return false;
	}
	hp3_challenge_begun(&t->e->flows[flow]);
	t->e->stats.challenges++;
	return true;
}

bool hp3_challenge_tx(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt)
{
	struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_view *v = &pkt->v;
	const bool asks = hp3_asks(v);
	uint32_t other;

	if (!t->e->cfg.pair_by_challenge)
		return false;
	if (hp3_pair_is_untracked(t->e, &t->e->pairs.pairs[f->pair], t->now)) {
		t->e->stats.challenge_untracked += !(f->flags & HP3_FF_PAIRED);
		return false;
	}
	expire_challenge(t, flow);
	other = asks ? hp3_forced_at(t, f->pair, v->psn) : HP3_NO_FLOW;
	if (other != HP3_NO_FLOW && other != flow)
		t->e->flows[other].unpaired.ch_ambiguous = true;
	if ((f->flags & HP3_FF_PAIRED) || !hp3_is_pairing_wanted(t->e, f))
		return false;
	f->unpaired.odd_opcode |= (v->flags & HP3_VF_UNKNOWN) != 0;
	if (asks && arm_natural(t, flow, v))
		return false;
	if (asks) {
		/* others are near: only a forced challenge helps */
		f->unpaired.ch_wait = NATURAL_WAIT;
		return false;
	}
	if (f->unpaired.ch_wait < NATURAL_WAIT) {
		f->unpaired.ch_wait++;
		return false;
	}
	return choose_forced(t, flow, v);
}

/* A forced challenge was answered. Another flow in lockstep would be answered about now, too. */
static void forced_answered(struct hp3_turn *t, uint32_t flow, uint32_t lqpn)
{
	struct hp3_unpaired *u = &t->e->flows[flow].unpaired;
	uint32_t rtt = (uint32_t)(t->now >> HP3_CH_SHIFT) - u->ch_sent;

	if (u->ch_state == HP3_CH_ANSWERED) {
		u->ch_ambiguous |= u->ch_lqpn != lqpn;
		return;
	}
	t->e->pairs.pairs[t->e->flows[flow].pair].answered = flow;
	u->ch_state = HP3_CH_ANSWERED;
	u->ch_lqpn = lqpn & HP3_QPN_MASK;
	u->ch_until = t->now + ((uint64_t)rtt << HP3_CH_SHIFT) + 1; /* wait another round trip */
}

/* That time may pass while the flow sends nothing. */
static void settle_answered(struct hp3_turn *t, struct hp3_pair *p)
{
	uint32_t flow = p->answered;
	const struct hp3_flow *f = &t->e->flows[flow];

	if (flow == HP3_NO_FLOW)
		return;
	if ((f->flags & (HP3_FF_USED | HP3_FF_PAIRED)) != HP3_FF_USED ||
		&t->e->pairs.pairs[f->pair] != p || f->unpaired.ch_state != HP3_CH_ANSWERED)
		p->answered = HP3_NO_FLOW;
	else
		expire_challenge(t, flow);
}

/* A reply to an unpaired local QPN. */
void hp3_challenge_rx(struct hp3_turn *t, const struct hp3_pkt *pkt)
{
	const struct hp3_ends ends = hp3_pkt_ends(pkt, HP3_DIR_RX);
	uint32_t pair = hp3_pairs_find(&t->e->pairs, &ends), natural, forced;
	uint32_t at = (uint32_t)(t->now >> HP3_TICK_SHIFT);

	if (pair == HP3_NO_PAIR)
		return;
	t->e->pairs.pairs[pair].unclaimed_at = at != 0 ? at : 1;
	if (hp3_pair_is_untracked(t->e, &t->e->pairs.pairs[pair], t->now))
		return;
	settle_answered(t, &t->e->pairs.pairs[pair]);
	natural = hp3_asked_naturally(t, pair, &pkt->v);
	forced = hp3_asked_by_force(t, pair, &pkt->v);
	if (natural == HP3_NO_FLOW && forced == HP3_NO_FLOW) {
		hp3_void_elsewhere(t, pair, pkt);
		return;
	}
	if (!hp3_pkt_icrc_ok(t->e, pkt)) {
		t->e->flows[natural != HP3_NO_FLOW ? natural : forced].unpaired.bad_icrc = true;
		return;
	}
	if (natural == HP3_NO_FLOW) {
		forced_answered(t, forced, pkt->v.dest_qpn);
		return;
	}
	hp3_natural_drop(&t->e->flows[natural]);
	note_hit(t, natural, pkt->v.dest_qpn, pkt->v.psn);
}

/* A PSN is acknowledged once, so an ACK that answers another flow's challenge is that flow's. */
static bool is_of_another(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	if (hp3_asked_naturally(t, f->pair, v) != HP3_NO_FLOW)
		return true;
	return f->pairing == HP3_PAIRING_CHALLENGE && hp3_psn_diff(v->psn, f->stream.una) < -1 &&
	       hp3_asked_by_force(t, f->pair, v) != HP3_NO_FLOW;
}

/*
 * Is the reply's PSN so old that it cannot be a repeated reply to the flow? PSNs beyond the flow's
 * are handled in pass/packet.c.
 */
static bool is_far_behind(const struct hp3_flow *f, const struct hp3_view *v)
{
	return hp3_psn_diff(v->psn, f->stream.una) < 0 && !hp3_is_near(f, v->psn);
}

/* May another flow of the pair have its local QPN now? */
static bool may_be_wrong(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return p->nflows != 1 && !hp3_pair_is_untracked(e, p, now) && (f->flags & HP3_FF_STARTED);
}

/*
 * Anyone can forge one answer to another flow's challenge. So a pairing by an event, of a flow that
 * waits for replies, ends only as in refuted.c.
 */
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
 * An acknowledged PSN is sent again only if the RNIC lost the acknowledgement. A queue pair that
 * begins anew at its old first PSN does the same, and its replies may arrive at another QPN. An
 * RNIC goes back to the oldest PSN that it waits for, and gets no reply that hp3d has not seen. So
 * a packet from the middle of those in flight is the first of the next queue pair. If other flows
 * are near, their packets look alike, so every return is suspect, except the one that a failover
 * waits for.
 */
void hp3_challenge_went_back(struct hp3_turn *t, uint32_t flow, uint32_t psn, bool first)
{
	struct hp3_flow *f = &t->e->flows[flow];
	int32_t ahead = hp3_psn_diff(psn, f->stream.una);
	bool paired = f->flags & HP3_FF_PAIRED, behind = ahead < 0;
	bool skips = paired && first && ahead > 0;

	if (!paired) {
		hp3_natural_under_way(t, f); /* or it was missed */
		if (f->unpaired.ch_state == HP3_CH_ARMED)
			expire_challenge(t, flow);
	}
	hp3_natural_drop(f);
	hp3_challenge_stop(f); /* it may be of the earlier epoch */
	if (f->state == HP3_RFR_RESUMING ||
		(!behind && !skips &&
			!((first || !paired) && hp3_others_near(t->e, flow, psn, t->now))))
		return;
	t->e->stats.contradictions += paired;
	hp3_flow_unpair(t, flow); /* not paired: discards the results so far */
	if (!behind)
		return;
	f->stream.una = psn; /* acknowledged packets may be of an earlier epoch */
	if (((f->stream.nxt - psn) & HP3_PSN_MASK) > f->stream.win)
		hp3_stream_widen(&f->stream);
}
