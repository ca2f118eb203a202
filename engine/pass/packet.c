/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handling of one packet. In steady state: one look-up, one cache line of the record, one
 * comparison of PSNs. All other packets (first packets, pairing, moves, errors) branch off early.
 */
#include "base/likely.h"
#include "engine/flows/near.h"
#include "engine/pass/burst.h"
#include "engine/pass/steady.h"
#include "engine/spray/spray.h"

#define EARLIER     1024 /* PSNs behind una: responses to earlier READs; may be forged */
#define SHORT_FRAME 160u /* replies up to this length are checked first */

static uint32_t first_packet(struct hp3_turn *t, const struct hp3_pkt *pkt)
{
	const struct hp3_ends ends = hp3_pkt_ends(pkt, HP3_DIR_TX);
	uint32_t flow = hp3_flow_add(t, &ends, pkt->v.dest_qpn);

	if (flow == HP3_NO_FLOW)
		hp3_challenge_untracked(t, &ends, &pkt->v);
	return flow;
}

/*
 * Fragments have no UDP ports to rewrite. While the local RNIC sends fragments, their address pair
 * is pinned (rule 17). Only the first fragment of a datagram shows whether it is RoCE.
 */
static void fragment_leaves(struct hp3_turn *t, const struct hp3_pkt *pkt)
{
	const struct hp3_ends ends = hp3_pkt_ends(pkt, HP3_DIR_TX);
	uint32_t pair = hp3_pairs_find(&t->e->pairs, &ends);

	if (pair != HP3_NO_PAIR)
		t->e->pairs.pairs[pair].pinned_until = t->now + t->e->cfg.pin_ns;
}

static void other_packet(struct hp3_turn *t, const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	if (pkt->v.class == HP3_CLASS_CM)
		hp3_cm_seen(t, pkt, dir);
	else if (pkt->v.class == HP3_CLASS_OTHER && pkt->v.reason == HP3_PARSE_FRAGMENT &&
		 pkt->v.udp_off != 0 && dir == HP3_DIR_TX)
		fragment_leaves(t, pkt);
}

static void read_leaves(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	uint32_t flow = hp3_pkt_flow(t->e, pkt, HP3_DIR_TX);

	if (flow != HP3_NO_FLOW)
		hp3_spray_read_leaves(t, flow, pkt, vd);
}

static inline void reply_leaves(struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts)
{
	if (e->np != NULL)
		hp3_reply_leaves(e, pkt, now, vd);
	if (HP3_UNLIKELY(e->nreplies != 0))
		hp3_reply_reroute(e, pkt, now, vd);
	if (HP3_UNLIKELY(e->nspray_in != 0))
		hp3_spray_replies(&(struct hp3_turn){e, now, acts}, pkt);
	if (HP3_UNLIKELY(e->nspray_reads != 0) && (pkt->v.flags & HP3_VF_READ))
		read_leaves(&(struct hp3_turn){e, now, acts}, pkt, vd);
}

/* Sets AckReq if the peer's acknowledgement is wanted (search/dead.c). */
static void request_ack(struct hp3_flow *f, const struct hp3_view *v, struct hp3_verdict *vd)
{
	if (vd->kind != HP3_PASS)
		return;
	f->watch &= (uint16_t)~HP3_FW_ASK;
	if (!(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)))
		vd->flags |= HP3_SET_ACKREQ;
}

/* The last step for a request, after all other decisions. */
static inline void finish_request(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	struct hp3_flow *f = &t->e->flows[flow];

	if (HP3_UNLIKELY(f->watch & HP3_FW_ASK))
		request_ack(f, &pkt->v, vd);
	if (HP3_UNLIKELY((f->watch & (HP3_FW_SPRAY | HP3_FW_READS)) ||
			 (pkt->v.dma_len >= t->e->large && t->e->spraying != NULL))) {
		hp3_spray_leaves(t, flow, pkt, vd);
		if ((f->watch & HP3_FW_READS) || (pkt->v.flags & HP3_VF_READ))
			hp3_spray_reads(t, flow, pkt);
	}
}

void hp3_tx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd,
	struct hp3_acts *acts)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_flow *f;
	uint32_t flow;

	acts->n = 0;
	*vd = (struct hp3_verdict){.kind = HP3_PASS, .sport = v->sport, .flow = HP3_NO_FLOW};
	if (v->class != HP3_CLASS_RC_REQUEST) {
		if (v->class != HP3_CLASS_RC_REPLY)
			other_packet(&(struct hp3_turn){e, now, acts}, pkt, HP3_DIR_TX);
		else
			reply_leaves(e, pkt, now, vd, acts);
		return;
	}
	e->stats.tx_requests++;
	flow = hp3_pkt_flow(e, pkt, HP3_DIR_TX);
	if (HP3_UNLIKELY(flow == HP3_NO_FLOW)) {
		flow = first_packet(&(struct hp3_turn){e, now, acts}, pkt);
		if (flow == HP3_NO_FLOW) {
			e->stats.untracked++;
			return;
		}
	}
	vd->flow = flow;
	f = &e->flows[flow];
	if (HP3_UNLIKELY(e->near_kept))
		hp3_near_note(e, flow, v->psn, now);
	f->last = (uint32_t)(now >> HP3_TICK_SHIFT);
	f->bytes += pkt->len - v->l3_off;
	if (HP3_UNLIKELY(
		    f->state != HP3_RFR_STEADY ||
		    (f->flags & (HP3_FF_STARTED | HP3_FF_PAIRED | HP3_FF_PACED |
					HP3_FF_IDLE_PROOF)) != (HP3_FF_STARTED | HP3_FF_PAIRED) ||
		    v->psn != f->stream.nxt || f->stream.open_len != 0 || f->pmtu_log2 == 0)) {
		hp3_tx_slow(&(struct hp3_turn){e, now, acts}, flow, pkt, vd);
		f->home = v->sport;
		finish_request(&(struct hp3_turn){e, now, acts}, flow, pkt, vd);
		return;
	}
	hp3_stream_emit(&f->stream, v, f->pmtu_log2);
	note_new(e, flow, v);
	watch_sent(e, flow, v, now);
	f->home = v->sport;
	if (f->flags & HP3_FF_MOVED)
		vd->sport = f->port;
	finish_request(&(struct hp3_turn){e, now, acts}, flow, pkt, vd);
}

/*
 * A reply during a move. If it would change anything, its ICRC is checked (rule 6); `sound`: it has
 * been checked.
 */
static void rx_moving(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, bool sound,
	struct hp3_verdict *vd)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];
	struct hp3_stream after = f->stream;
	enum hp3_rfr_input input = hp3_rfr_reply(f->state, &after, &m->closing, &pkt->v);

	if (f->state == HP3_RFR_PROBING && sound && hp3_search_reply(t, flow, &pkt->v))
		return;
	/* Idle is no proof while a retransmission may be in flight (rule 7). */
	if (input == HP3_RFR_IN_DRAINED && f->state == HP3_RFR_CLOSING &&
		((f->flags & HP3_FF_WENT_BACK) || m->search.kind == HP3_SEARCH_BEHIND_DRAIN))
		input = HP3_RFR_IN_NONE;
	if (input == HP3_RFR_IN_DRAINED && t->e->cfg.verbs)
		input = HP3_RFR_IN_NONE; /* the actuator reports that */
	if ((input != HP3_RFR_IN_NONE || f->state == HP3_RFR_RESUMING) && !sound &&
		!hp3_pkt_icrc_ok(t->e, pkt))
		return;
	f->stream = after;
	if (input == HP3_RFR_IN_CONTRADICTION) {
		if (hp3_is_refuted(t, flow))
			hp3_flow_unpair(t, flow);
	} else if (input == HP3_RFR_IN_DRAINED && m->search.kind == HP3_SEARCH_BEHIND_DRAIN) {
		if (hp3_move_input(t, flow, HP3_RFR_IN_ASK) == HP3_RFR_DO_PROBE)
			hp3_search_after_drain(t, flow);
	} else if (input != HP3_RFR_IN_NONE) {
		hp3_move_input(t, flow, input);
	}
}

static void rx_steady(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, bool sound,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	enum hp3_reply_kind kind = hp3_stream_reply(&f->stream, &pkt->v);

	if (HP3_LIKELY(kind == HP3_REPLY_PROGRESS)) {
		if (sound && hp3_stream_idle(&f->stream) && !(f->flags & HP3_FF_WENT_BACK))
			f->flags |= HP3_FF_IDLE_PROOF;
	} else if (kind == HP3_REPLY_BEYOND && (f->flags & HP3_FF_STARTED) &&
		   (sound || hp3_pkt_icrc_ok(e, pkt)) &&
		   hp3_is_refuted(&(struct hp3_turn){e, now, acts}, flow)) {
		hp3_flow_unpair(&(struct hp3_turn){e, now, acts}, flow);
	}
}

/* It acknowledges a PSN in flight, or repeats the last acknowledgement (rule 6). */
static inline bool is_in_window(const struct hp3_flow *f, const struct hp3_view *v)
{
	return hp3_psn_diff(v->psn, f->stream.una) >= -1 &&
	       hp3_psn_diff(v->psn, hp3_stream_end(&f->stream)) < 0;
}

/* No PSN before una is refused, if a checked reply has set una (rule 26). */
static bool is_refusable(const struct hp3_flow *f, uint32_t psn)
{
	int32_t back = f->watch & HP3_FW_SURE ? 0 : (int32_t)f->stream.win;

	return hp3_psn_diff(psn, f->stream.una) >= -back;
}

static bool is_beyond(const struct hp3_flow *f, uint32_t psn)
{
	return hp3_psn_diff(psn, hp3_stream_end(&f->stream)) > 0;
}

static void note_refusal(struct hp3_engine *e, struct hp3_flow *f, const struct hp3_view *v)
{
	if (HP3_SYN_KIND(v->syndrome) == HP3_SYN_RNR) {
		e->stats.rnrs++;
		if (!(f->flags & HP3_FF_CLOSE_ACK) || hp3_psn_diff(v->psn, f->mark_psn) > 0) {
			/* it proves that an earlier closing PSN has arrived */
			f->mark_psn = v->psn;
			f->flags &= (uint16_t)~HP3_FF_CLOSE_ACK;
		}
		f->flags |= HP3_FF_RNR;
	} else if (HP3_SYN_KIND(v->syndrome) == HP3_SYN_NAK) {
		e->stats.naks++;
	}
}

/*
 * A READ response may follow a lost one. The RNIC then has less than the PSNs show. An ACK does not
 * change that: it may make the RNIC request the data again. Data that passed hp3d, checked or not,
 * may be lost on the way to the RNIC. The RNIC waits until an ACK shows that loss. If hp3d
 * resequences responses, spray/reads.c decides.
 */
static inline void note_progress(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v,
	uint32_t una_before, bool sound)
{
	struct hp3_flow *f = &e->flows[flow];
	uint32_t acked = (f->stream.una - una_before) & HP3_PSN_MASK;
	bool data = v->flags & (HP3_VF_READ | HP3_VF_ATOMIC);

	f->watch &= (uint16_t) ~(HP3_FW_SURE | HP3_FW_ASK | (sound && !data ? HP3_FW_UNREAD : 0));
	f->watch |= (sound ? HP3_FW_SURE : 0) | (data ? HP3_FW_UNREAD : 0);
	if (v->flags & HP3_VF_AETH)
		f->watch |= HP3_FW_HEARD;
	if (HP3_UNLIKELY((v->flags & (HP3_VF_READ | HP3_VF_FIRST)) == HP3_VF_READ))
		f->watch |= acked > 1 && !hp3_spray_reads_ready(e, flow) ? HP3_FW_DOUBT : 0;
}

/*
 * A response to a READ or ATOMIC that left before hp3d saw the flow's first packet. Other responses
 * from that time may be missing at the RNIC. It may have requested them again before hp3d saw the
 * flow (rule 4).
 */
static void note_earlier_read(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt)
{
	struct hp3_flow *f = &e->flows[flow];
	uint32_t first = e->began[flow].psn;

	if (first != HP3_NO_PSN && (hp3_psn_diff(pkt->v.psn, first) >= 0 ||
					   hp3_psn_diff(f->stream.una, pkt->v.psn) > EARLIER))
		return;
	if (!hp3_pkt_icrc_ok(e, pkt))
		return;
	f->watch |= HP3_FW_DOUBT;
	hp3_spray_reads_in_doubt(e, flow);
}

/*
 * A checked ACK that does not advance una: it confirms una. If a NAK is due (`owed`), the ACK
 * corrects una, which an unchecked reply may have advanced too far.
 */
static void confirm_una(struct hp3_engine *e, struct hp3_flow *f, const struct hp3_view *v)
{
	uint32_t next = hp3_psn_add(v->psn, 1);
	int32_t behind = hp3_psn_diff(f->stream.una, next);

	if ((v->flags & (HP3_VF_AETH | HP3_VF_READ | HP3_VF_ATOMIC)) != HP3_VF_AETH ||
		HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK || behind < 0)
		return;
	if (behind != 0) {
		if (f->state != HP3_RFR_RESUMING || !e->moves[f->slot].search.dead.owed ||
			(uint32_t)behind > f->stream.win)
			return;
		f->stream.una = e->moves[f->slot].search.dead.resume = next;
	}
	f->watch |= HP3_FW_SURE;
}

static void learn_pmtu(
	struct hp3_engine *e, struct hp3_flow *f, const struct hp3_pkt *pkt, bool sound)
{
	uint8_t log2 = 0;

	hp3_learn_pmtu(&pkt->v, &log2);
	if (log2 != 0 && (sound || hp3_pkt_icrc_ok(e, pkt)))
		f->pmtu_log2 = log2;
}

/* A reply that answers nothing must not keep a flow whose queue pair has ended. */
static bool keeps_flow(const struct hp3_flow *f, const struct hp3_view *v)
{
	return !f->pending || (is_in_window(f, v) && hp3_psn_diff(v->psn, f->stream.una) >= 0);
}

static void request_arrives(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	if (t->e->np != NULL && (pkt->v.flags & HP3_VF_CE))
		hp3_ce_seen(t, pkt);
	if (HP3_UNLIKELY(t->e->nspray_in != 0))
		hp3_spray_arrives(t, pkt, vd);
	if (HP3_UNLIKELY(t->e->nspray_reads != 0) && (pkt->v.flags & HP3_VF_READ))
		hp3_spray_read_asked(t, pkt);
}

static __attribute__((noinline)) void reply_arrives(struct hp3_engine *e, struct hp3_pkt *pkt,
	bool of_many, uint64_t now, struct hp3_verdict *vd, struct hp3_acts *acts)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_flow *f;
	uint32_t flow, una;
	bool refused, sound, in_window;

	e->stats.rx_replies++;
	flow = hp3_pkt_flow(e, pkt, HP3_DIR_RX);
	if (HP3_UNLIKELY(flow == HP3_NO_FLOW)) {
		hp3_challenge_rx(&(struct hp3_turn){e, now, acts}, pkt);
		if (HP3_UNLIKELY(e->nspray_in != 0))
			hp3_spray_stray(&(struct hp3_turn){e, now, acts}, pkt, vd);
		return;
	}
	vd->flow = flow;
	f = &e->flows[flow];
	if (HP3_LIKELY(keeps_flow(f, v)))
		f->last = (uint32_t)(now >> HP3_TICK_SHIFT);
	refused = (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK;
	sound = refused || pkt->trusted ||
		(pkt->len <= SHORT_FRAME && !(of_many && is_plain_progress(f, v)));
	if (sound && !hp3_pkt_icrc_ok(e, pkt))
		return; /* rule 6: no effect on hp3d; the RNIC decides */
	if (refused && !is_refusable(f, v->psn)) {
		if (v->flags & HP3_VF_BECN)
			hp3_becn_seen(e, flow, false, now, vd);
		if (HP3_UNLIKELY(f->watch & HP3_FW_READS))
			hp3_spray_read_arrives(&(struct hp3_turn){e, now, acts}, flow, pkt, vd);
		return;
	}
	if (refused && !is_beyond(f, v->psn))
		note_refusal(e, f, v);
	in_window = is_in_window(f, v);
	if (HP3_UNLIKELY(f->pmtu_log2 == 0) && in_window)
		learn_pmtu(e, f, pkt, sound);
	if (HP3_UNLIKELY(f->watch & HP3_FW_GUARD) && hp3_guard_stops(e, f, v, now)) {
		e->stats.acks_consumed++;
		vd->kind = HP3_CONSUME;
		return;
	}
	una = f->stream.una;
	if (HP3_LIKELY(f->state == HP3_RFR_STEADY) || (f->state == HP3_RFR_SEARCHING && !refused))
		rx_steady(e, flow, pkt, sound, now, acts);
	else
		rx_moving(&(struct hp3_turn){e, now, acts}, flow, pkt, sound, vd);
	if ((v->flags & HP3_VF_AETH) && in_window) { /* for a NAK of ours (rule 4) */
		f->msn = v->msn & HP3_PSN_MASK;
		f->pkey = v->pkey;
	}
	if (f->stream.una != una)
		note_progress(e, flow, v, una, sound);
	else if (sound && !(f->watch & HP3_FW_SURE))
		confirm_una(e, f, v);
	if (HP3_UNLIKELY((v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)) &&
			 (f->stream.una == una || !(f->flags & HP3_FF_STARTED))))
		note_earlier_read(e, flow, pkt);
	if (f->state == HP3_RFR_RESUMING)
		hp3_resume_rx(&(struct hp3_turn){e, now, acts}, flow);
	if (HP3_UNLIKELY(v->flags & HP3_VF_BECN))
		hp3_becn_seen(e, flow, in_window, now, vd);
	watch_reply(e, flow, v, in_window, una, now, acts);
	if (HP3_UNLIKELY(f->flags & (HP3_FF_RNR | HP3_FF_CLOSE_ACK)) &&
		hp3_psn_diff(f->stream.una, f->mark_psn) > 0)
		f->flags &= (uint16_t) ~(HP3_FF_RNR | HP3_FF_CLOSE_ACK);
	if (f->stream.una == una)
		hp3_challenge_claimed(&(struct hp3_turn){e, now, acts}, flow, pkt);
	if (HP3_UNLIKELY(f->watch & HP3_FW_READS))
		hp3_spray_read_arrives(&(struct hp3_turn){e, now, acts}, flow, pkt, vd);
}

static inline void handle_arrival(struct hp3_engine *e, struct hp3_pkt *pkt, bool of_many,
	uint64_t now, struct hp3_verdict *vd, struct hp3_acts *acts)
{
	acts->n = 0;
	*vd = (struct hp3_verdict){.kind = HP3_PASS, .sport = pkt->v.sport, .flow = HP3_NO_FLOW};
	if (HP3_LIKELY(pkt->v.class == HP3_CLASS_RC_REPLY))
		reply_arrives(e, pkt, of_many, now, vd, acts);
	else if (pkt->v.class == HP3_CLASS_RC_REQUEST)
		request_arrives(&(struct hp3_turn){e, now, acts}, pkt, vd);
	else if (pkt->v.class == HP3_CLASS_CNP)
		hp3_cnp_seen(&(struct hp3_turn){e, now, acts}, pkt, vd);
	else
		other_packet(&(struct hp3_turn){e, now, acts}, pkt, HP3_DIR_RX);
}

void hp3_rx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd,
	struct hp3_acts *acts)
{
	handle_arrival(e, pkt, false, now, vd, acts);
}

void hp3_rx_of_many(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd,
	struct hp3_acts *acts)
{
	handle_arrival(e, pkt, true, now, vd, acts);
}
