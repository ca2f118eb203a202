/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests other than the next packet of a flow in steady state. */
#include "engine/flows/pending.h"
#include "engine/pass/pass.h"
#include "engine/pass/steady.h"
#include "engine/spray/spray.h"

static void tx_retransmit(
	struct hp3_turn *t, uint32_t flow, const struct hp3_view *v, struct hp3_verdict *vd)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool first = !(f->flags & HP3_FF_WENT_BACK);

	t->e->stats.retransmits++;
	if (f->retransmits < HP3_RETRANSMITS_MAX)
		f->retransmits++;
	f->flags &= (uint16_t) ~(HP3_FF_LAST_CLOSE | HP3_FF_IDLE_PROOF);
	f->flags |= HP3_FF_WENT_BACK;
	if (hp3_psn_diff(v->psn, f->stream.una) < 0)
		f->watch |= HP3_FW_DOUBT;
	/* an RNIC goes back to the oldest PSN that it waits for, so it has all before */
	else if (first)
		f->watch &= (uint16_t)~HP3_FW_DOUBT;
	if (is_watched(t->e, f))
		hp3_monitor_retransmit(&f->monitor);
	if (!(f->watch & HP3_FW_ARMED) && (f->flags & HP3_FF_PAIRED))
		hp3_active_add(t->e, flow, t->now);
	if (f->watch & HP3_FW_GUARD)
		hp3_guard_tx(t->e, flow, v, hp3_psn_add(v->psn, hp3_request_span(v, f->pmtu_log2)));
	if (is_watched(t->e, f) && !hp3_spray_hides(t->e, flow))
		hp3_loss_seen(t, flow, v, first);
	hp3_move_again(t, flow, v->psn);
	if (f->pairing <= HP3_PAIRING_CHALLENGE)
		hp3_challenge_went_back(t, flow, v->psn, first);
	if ((f->flags & HP3_FF_CLOSE_ACK) && v->psn == f->mark_psn &&
		!(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)))
		vd->flags |= HP3_SET_ACKREQ;
}

static struct hp3_held held_of(const struct hp3_flow *f, const struct hp3_pkt *pkt,
	enum hp3_tx_kind kind, uint8_t vd_flags)
{
	const uint16_t read = HP3_VF_READ | HP3_VF_ATOMIC;
	struct hp3_held h = {.psn = pkt->v.psn,
		.end = hp3_stream_end(&f->stream),
		.len = (uint16_t)(pkt->len < UINT16_MAX ? pkt->len : UINT16_MAX),
		.opcode = pkt->v.opcode};

	if (kind == HP3_TX_RETRANSMIT)
		h.flags |= HP3_HELD_AGAIN;
	if ((pkt->v.flags & (read | HP3_VF_ACKREQ)) || (vd_flags & HP3_SET_ACKREQ))
		h.flags |= HP3_HELD_ASKS;
	if (pkt->v.flags & read)
		h.flags |= HP3_HELD_READ;
	return h;
}

/* Holds the packet. False: no room; the move has ended, and held packets have left. */
static bool hold_packet(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt,
	enum hp3_tx_kind kind, struct hp3_verdict *vd)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_held h = held_of(f, pkt, kind, 0);

	vd->held = hp3_hold_put(t->e, flow, &h);
	if (vd->held == 0) {
		hp3_move_input(t, flow, HP3_RFR_IN_HOLD_FULL);
		return false;
	}
	t->e->moves[f->slot].moved_pkts++;
	t->e->moves[f->slot].moved_bytes += pkt->len;
	vd->kind = HP3_HOLD;
	return true;
}

/* A packet during a move. */
static void tx_moving(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt,
	enum hp3_tx_kind kind, struct hp3_verdict *vd)
{
	const bool read = pkt->v.flags & (HP3_VF_READ | HP3_VF_ATOMIC);
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];

	if (f->state == HP3_RFR_RESUMING) {
		if (!t->e->cfg.verbs && !hp3_resume_tx(t, flow, pkt, kind))
			hold_packet(t, flow, pkt, kind, vd);
		return;
	}
	if (kind == HP3_TX_RETRANSMIT || t->e->cfg.verbs ||
		(f->state == HP3_RFR_CLOSING &&
			(m->held_pkts != 0 || (m->search.kind == HP3_SEARCH_BEHIND_DRAIN && read))))
		return; /* packets that wait for the pacer close first */
	switch (hp3_move_input(t, flow, HP3_RFR_IN_TX_NEW)) {
	case HP3_RFR_DO_CLOSE:
		hp3_move_close(t, flow, f->stream.hi, hp3_stream_end(&f->stream));
		if (!read)
			vd->flags |= HP3_SET_ACKREQ;
		break;
	case HP3_RFR_DO_HOLD:
		hold_packet(t, flow, pkt, kind, vd);
		break;
	default:
		break;
	}
}

/*
 * Replies before the first packet were about another stream. Unless an event announced the first
 * PSN, hp3d may have missed packets before it. A READ may be a repetition, and an ACK behind it has
 * no effect on the RNIC (rule 4).
 */
static void note_first(struct hp3_flow *f, struct hp3_began *began, const struct hp3_view *v)
{
	f->watch &= (uint16_t) ~(HP3_FW_HEARD | HP3_FW_SURE | HP3_FW_UNREAD | HP3_FW_ASK);
	if (began->psn != HP3_NO_PSN) {
		f->watch &= (uint16_t)~HP3_FW_DOUBT;
		return;
	}
	began->psn = v->psn & HP3_PSN_MASK;
	if (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC))
		f->watch |= HP3_FW_DOUBT;
}

/* The first packet of a queue pair, or of its next epoch. */
static void start_epoch(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_flow *f = &t->e->flows[flow];

	hp3_check_begin(t, flow, v);
	hp3_stream_reset(&f->stream, v->psn);
	note_first(f, &t->e->began[flow], v);
	t->e->began[flow].dscp = hp3_dscp(pkt->frame, v) & (HP3_DSCPS - 1);
	f->flags |= HP3_FF_STARTED;
	f->home = v->sport;
	if (f->flags & HP3_FF_MOVED)
		hp3_set_port(t->e, f, f->port); /* the chosen port may be the RNIC's own */
	if (f->state == HP3_RFR_SEARCHING)
		hp3_setup_late(t, flow);
}

/* If the path MTU is known, it bounds the length. */
static void note_size(struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_pkt *pkt)
{
	struct hp3_pair *p = &e->pairs.pairs[f->pair];
	uint32_t len = pkt->len - pkt->v.l3_off;

	if (len > p->longest)
		p->longest = (uint16_t)hp3_min_u32(len, UINT16_MAX);
}

static enum hp3_tx_kind stream_tx(struct hp3_flow *f, const struct hp3_view *v)
{
	uint8_t pmtu_log2 = f->pmtu_log2;
	enum hp3_tx_kind kind = hp3_stream_tx(&f->stream, v, &pmtu_log2);

	f->pmtu_log2 = pmtu_log2;
	return kind;
}

/*
 * An RNIC goes back to the oldest PSN that it waits for. So a packet with a later PSN in flight is
 * the first one of another queue pair, if that was set up at this PSN.
 */
static bool begins_in_mid_flight(struct hp3_turn *t, uint32_t flow, uint32_t psn)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_pending *p = hp3_pending_of(t->e, flow);

	if ((f->flags & HP3_FF_WENT_BACK) || f->state == HP3_RFR_RESUMING ||
		hp3_psn_diff(psn, f->stream.una) <= 0)
		return false;
	return (p != NULL && p->pairing != HP3_PAIRING_NONE && p->psn == psn) ||
	       hp3_cm_agreed(t->e, flow, psn) != NULL;
}

/*
 * Is the packet from the next queue pair? `ends`: an end waits. Then all are, except the next
 * packet of the stream, and a retransmission if the set-up has another first PSN.
 */
static bool begins_anew(
	struct hp3_turn *t, uint32_t flow, uint32_t psn, enum hp3_tx_kind kind, bool ends)
{
	const struct hp3_pending *p = hp3_pending_next(t->e, flow);

	if (kind == HP3_TX_RETRANSMIT)
		return (ends && (p == NULL || p->psn == psn || p->psn == HP3_NO_PSN)) ||
		       begins_in_mid_flight(t, flow, psn);
	return ends && kind != HP3_TX_NEW;
}

/* Everything but the next packet of a paired, unpaced flow in steady state. */
void hp3_tx_slow(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool ends = hp3_pending_end(t->e, flow, pkt->len - pkt->v.l3_off), anew;
	enum hp3_tx_kind kind;
	struct hp3_held h;

	if (f->pending && !ends)
		hp3_pending_end_drop(t->e, flow); /* more has left since */
	if (f->pmtu_log2 == 0)
		note_size(t->e, f, pkt);
	if (!(f->flags & (HP3_FF_STARTED | HP3_FF_PAIRED))) {
		hp3_cm_began(t, flow, pkt->v.psn);
		hp3_noted_began(t, flow, pkt->v.psn);
	}
	if (!(f->flags & HP3_FF_STARTED))
		start_epoch(t, flow, pkt);
	else if ((f->flags & HP3_FF_IDLE_PROOF) && f->state == HP3_RFR_STEADY &&
		 pkt->v.psn == f->stream.nxt && !hp3_spray_hides(t->e, flow))
		hp3_message_start(t, flow, &pkt->v);
	kind = stream_tx(f, &pkt->v);
	anew = begins_anew(t, flow, pkt->v.psn, kind, ends);
	if (kind == HP3_TX_EPOCH || anew) {
		if (anew)
			hp3_spray_down(t, flow);
		hp3_flow_epoch(t, flow, anew && kind == HP3_TX_EPOCH);
		hp3_cm_began(t, flow, pkt->v.psn);
		hp3_noted_began(t, flow, pkt->v.psn);
		start_epoch(t, flow, pkt);
		kind = stream_tx(f, &pkt->v);
	} else if (ends) {
		hp3_pending_end_drop(t->e, flow); /* the event was late: the stream goes on */
	}
	if (kind == HP3_TX_RETRANSMIT)
		tx_retransmit(t, flow, &pkt->v, vd);
	else
		note_new(t->e, flow, &pkt->v);
	if (f->state > HP3_RFR_SEARCHING) {
		tx_moving(t, flow, pkt, kind, vd);
	} else if (kind == HP3_TX_NEW) {
		watch_sent(t->e, flow, &pkt->v, t->now);
		if (!(f->flags & HP3_FF_PAIRED) && hp3_challenge_tx(t, flow, pkt))
			vd->flags |= HP3_SET_ACKREQ;
	}
	vd->sport = f->flags & HP3_FF_MOVED ? f->port : pkt->v.sport;
	/* In DRAINING, only the closing packet passes; in RESUMING, only the packets that leave
	 * first. */
	if ((f->flags & HP3_FF_PACED) && vd->kind == HP3_PASS && f->state <= HP3_RFR_CLOSING) {
		h = held_of(f, pkt, kind, vd->flags);
		hp3_rate_tx(t, flow, &h, vd);
	}
}
