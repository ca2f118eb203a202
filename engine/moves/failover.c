/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaves a dead path (rule 13). A drain is impossible, so the flow takes the new port at once. The
 * first packet on the new port is the oldest packet in flight. hp3d holds later packets until the
 * RNIC has retransmitted this packet, so the receiver may see duplicates but never a gap. If it is
 * safe, hp3d sends the RNIC a NAK, so that the RNIC retransmits now and not when its timer expires
 * (rule 4).
 */
#include "engine/moves/moves.h"

/*
 * Rule 4. With a READ or ATOMIC outstanding, a NAK would end it half done. While an RNR timer runs,
 * a NAK would end it. One NAK per PSN, because each costs the RNIC a retry. It has the oldest PSN
 * in flight, which must also be the RNIC's oldest.
 */
bool hp3_rnic_is_plain(const struct hp3_flow *f)
{
	const uint16_t want = HP3_FW_HEARD | HP3_FW_DOUBT | HP3_FW_UNREAD;

	return (f->watch & want) == HP3_FW_HEARD && !(f->flags & (HP3_FF_READS | HP3_FF_RNR));
}

/*
 * The RNIC's queue pair may have begun anew, connected to another QPN of the peer. Signs: there is
 * an unpaired flow that began after this flow's last packet; or replies contradict the pairing. A
 * NAK would then be about the earlier epoch.
 */
static bool may_have_successor(const struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[flow];
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];
	const struct hp3_refutation *r = &e->unauth_state[flow].refutation;
	uint32_t silent = (uint32_t)(t->now >> HP3_TICK_SHIFT) - f->last;

	return p->nunpaired != 0 &&
	       ((r->stuck != 0 && r->una == f->stream.una) ||
		       (t->now >> HP3_TICK_SHIFT) - (p->began >> HP3_TICK_SHIFT) <= silent);
}

/* Rule 26: if una were beyond what has arrived, a NAK would complete the packets between. */
static bool is_nak_safe(const struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	return hp3_rnic_is_plain(f) && !may_have_successor(t, flow) &&
	       (f->watch & (HP3_FW_NAKED | HP3_FW_SURE)) == HP3_FW_SURE;
}

/* A PSN that has arrived, even if unchecked replies are forged. */
static uint32_t old_psn(const struct hp3_flow *f)
{
	if (f->watch & HP3_FW_SURE)
		return (f->stream.una - 1) & HP3_PSN_MASK;
	return (f->stream.nxt - f->stream.win - 1) & HP3_PSN_MASK;
}

void hp3_solicit_ack(struct hp3_turn *t, uint32_t flow, uint16_t port)
{
	struct hp3_act *a = hp3_act(t, HP3_ACT_SOLICIT_ACK, flow);

	a->port = port;
	a->psn = old_psn(&t->e->flows[flow]);
	t->e->stats.ack_solicitations++;
	hp3_guard_begin(t, flow);
}

/*
 * If it is not certain what has arrived, sends an ACK solicitation on the new port; the NAK waits
 * for its answer.
 */
static bool hand_nak(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];
	struct hp3_act *a;

	if (t->e->cfg.verbs) /* the RNIC gets no packets from hp3d */
		return false;
	if (!is_nak_safe(t, flow)) {
		m->search.dead.owed =
			hp3_rnic_is_plain(f) && !(f->watch & (HP3_FW_NAKED | HP3_FW_SURE));
		if (m->search.dead.owed)
			hp3_solicit_ack(t, flow, m->to);
		return false;
	}
	m->search.dead.owed = false;
	f->watch |= HP3_FW_NAKED;
	a = hp3_act(t, HP3_ACT_NAK, flow);
	a->psn = f->stream.una;
	a->msn = f->msn;
	a->pkey = f->pkey;
	t->e->stats.naks_made++;
	return true;
}

static void report_failover(struct hp3_turn *t, uint32_t flow, enum hp3_event_type type, bool nak)
{
	struct hp3_move *m = &t->e->moves[t->e->flows[flow].slot];
	struct hp3_event *event = hp3_move_event(t, m, type);

	event->wait_ns = t->now - m->search.dead.since;
	event->held_pkts = m->held_pkts;
	event->held_bytes = m->held_bytes;
	event->nak = nak;
	event->outcome = m->search.round.outcome;
	event->n_probes = m->search.round.n;
	memcpy(event->probes, m->search.round.probe, sizeof(event->probes));
	if (type == HP3_EVENT_FAILOVER)
		hp3_outcome_watch(t, flow, event->id);
}

void hp3_failover(struct hp3_turn *t, uint32_t flow, uint16_t port)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];
	bool nak;

	m->to = port;
	if (t->e->cfg.observe) {
		report_failover(t, flow, HP3_EVENT_WOULD, is_nak_safe(t, flow));
		f->watch |= HP3_FW_QUIET;
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
		return;
	}
	hp3_search_input(t, m, HP3_SEARCH_IN_GO);
	nak = hand_nak(t, flow);
	report_failover(t, flow, HP3_EVENT_FAILOVER, nak);
	hp3_replies_follow(t, flow, m->from, m->to);
}

/*
 * No packet is missing any more before the held packets and the next one. A packet that a
 * selectively repeating RNIC sent again out of the middle (m->head: AGAIN) waits until none is
 * missing before it. It does not show that none is missing behind it.
 */
static bool is_rnic_caught_up(
	const struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_move *m)
{
	uint32_t psn = m->search.dead.resume;

	for (uint32_t i = m->head; i != 0; i = e->held[i].next) {
		if (hp3_psn_diff(e->held[i].psn, psn) > 0)
			return false;
		if (!(e->held[i].flags & HP3_HELD_AGAIN))
			return true; /* first transmissions follow each other */
		if (e->held[i].psn == psn)
			psn = hp3_psn_add(psn, 1); /* of a READ: one at least */
	}
	return hp3_psn_diff(psn, f->stream.nxt) >= 0;
}

/* Repeated packets at the head leave as soon as none is missing before them. */
static void release_repeated(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_move *m = &t->e->moves[t->e->flows[flow].slot];
	uint32_t n = 0;

	for (uint32_t i = m->head; i != 0 && (t->e->held[i].flags & HP3_HELD_AGAIN) &&
				   hp3_psn_diff(t->e->held[i].psn, m->search.dead.resume) <= 0;
		i = t->e->held[i].next, n++) {
		if (t->e->held[i].psn == m->search.dead.resume)
			m->search.dead.resume = hp3_psn_add(m->search.dead.resume, 1);
	}
	hp3_hold_release(t, flow, n, 0);
}

/*
 * The RNIC may retransmit in three ways. Go-back-N: from the oldest packet over all held ones,
 * which are dropped. Selective repeat: only the missing packets; the held ones follow. Not at all:
 * the old path delivered after all.
 */
bool hp3_resume_tx(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, enum hp3_tx_kind kind)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];
	uint32_t psn = pkt->v.psn;
	int32_t ahead = hp3_psn_diff(psn, m->search.dead.resume);

	if (kind == HP3_TX_NEW && m->head != 0 && is_rnic_caught_up(t->e, f, m)) {
		hp3_move_input(t, flow, HP3_RFR_IN_CAUGHT_UP);
		return true;
	}
	if (ahead > 0 && m->head != 0) {
		release_repeated(t, flow);
		ahead = hp3_psn_diff(psn, m->search.dead.resume);
	}
	if (ahead > 0) {
		hp3_move_input(t, flow, HP3_RFR_IN_TX_AHEAD);
		return false;
	}
	if (ahead < 0)
		return true; /* arrived already: a duplicate */
	if (m->head != 0 && hp3_psn_diff(psn, t->e->held[m->head].psn) >= 0) {
		hp3_move_input(t, flow, HP3_RFR_IN_TX_AGAIN);
		return true;
	}
	hp3_move_input(t, flow, HP3_RFR_IN_TX_WANTED);
	m->search.dead.resume = hp3_psn_add(psn, hp3_request_span(&pkt->v, f->pmtu_log2));
	if (m->head == 0 && is_rnic_caught_up(t->e, f, m))
		hp3_move_input(t, flow, HP3_RFR_IN_CAUGHT_UP);
	return true;
}

void hp3_resume_rx(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];

	if (hp3_psn_diff(f->stream.una, m->search.dead.resume) > 0)
		m->search.dead.resume = f->stream.una;
	if (is_rnic_caught_up(t->e, f, m))
		hp3_move_input(t, flow, HP3_RFR_IN_CAUGHT_UP);
	else
		release_repeated(t, flow);
	if (f->state == HP3_RFR_RESUMING && m->search.dead.owed && (f->watch & HP3_FW_SURE))
		hand_nak(t, flow);
}
