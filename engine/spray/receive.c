/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of peers that are sprayed: hp3d resequences them before the local RNIC gets them. */
#include "engine/spray/receive.h"
#include "engine/flows/keys.h"

#define MARK_SAMPLES 64u /* packets in the average share of marked packets */
#define CHECK_NS     50000u /* between two checks of all EVs */
#define IN_FLIGHT    16384 /* most PSNs in flight of a queue pair */
#define LEAP         32 /* PSNs ahead of all others: rare without a damaged PSN */

/*
 * Learns the PSN that the RNIC expects from two consecutive packets, while the sender uses one
 * path. A single packet may be a retransmission or a late duplicate.
 */
static void learn_from_request(
	struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt)
{
	uint32_t next = hp3_psn_add(pkt->v.psn, hp3_request_span(&pkt->v, in->pmtu_log2));

	if (!hp3_in_sized(in, &pkt->v) || !hp3_pkt_icrc_ok(t->e, pkt))
		return;
	if (pkt->v.psn != in->reseq.expected) {
		in->reseq.expected = next;
		return;
	}
	hp3_reseq_init(&in->reseq, next);
	if (in->any_acked)
		hp3_reseq_acknowledged(&in->reseq, in->acked, t->now);
	in->ready = in->sure = true;
	t->e->stats.resequenced++;
	hp3_in_answer(t, in);
}

/* Is the packet's EV slow, or marked more than others? */
static void judge_ev(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_view *v)
{
	const struct hp3_spread_params *all = &t->e->spraying->spread;
	struct hp3_spread_params params;
	uint32_t ev = (uint32_t)(v->sport ^ in->port);
	bool ce = (v->flags & HP3_VF_CE) != 0;
	uint64_t slow, marked;

	if (ev >= in->evs)
		return;
	t->e->spraying->marked +=
		(ce ? HP3_SPRAY_MARKED / MARK_SAMPLES : 0) - t->e->spraying->marked / MARK_SAMPLES;
	if (ce)
		t->e->spraying->marked_at = t->now;
	hp3_lateness_seen(&in->late, ev, hp3_reseq_lateness(&in->reseq, v->psn, t->now), ce,
		v->sport != in->in_use);
	if (t->now - in->checked_at < CHECK_NS || !hp3_lateness_suspects(&in->late, all, ev, ce))
		return;
	in->checked_at = t->now;
	params = *all;
	params.evs = in->evs;
	slow = hp3_lateness_slow(&in->late, &params);
	if (slow != 0) {
		t->e->stats.evs_slow++;
		hp3_spray_send_msg_in(t, in, HP3_AGREE_SLOW, slow);
	}
	marked = hp3_lateness_marked(&in->late, &params);
	if (marked != 0) {
		t->e->stats.evs_marked++;
		hp3_spray_send_msg_in(t, in, HP3_AGREE_MARKED, marked);
	}
}

bool hp3_in_room(struct hp3_turn *t, const struct hp3_spray_in *in, const struct hp3_pkt *pkt)
{
	struct hp3_engine *e = t->e;
	const struct hp3_spraying *s = e->spraying;
	const struct hp3_quota *peer = &s->quotas.peer[in->quota];

	if (in->bytes + pkt->len > s->hold_bytes ||
		e->hold_bytes + pkt->len > s->hold_bytes_total || e->hold_packets >= e->hold_most) {
		e->stats.reseq_full++;
		return false;
	}
	if (hp3_quota_allows(peer->packets, 1, e->hold_most - e->hold_packets) &&
		hp3_quota_allows(peer->bytes, pkt->len, s->hold_bytes_total - e->hold_bytes))
		return true;
	e->stats.reseq_share++;
	return false;
}

/* Is the PSN plausible? */
static bool is_likely(struct hp3_turn *t, const struct hp3_spray_in *in, const struct hp3_pkt *pkt)
{
	return hp3_reseq_leap(&in->reseq, pkt->v.psn) <= LEAP || hp3_pkt_icrc_ok(t->e, pkt);
}

/* Counts how long held packets waited for this one, and how far ahead of the expected PSN it is. */
static void count_arrival(
	struct hp3_stats *s, const struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	uint64_t late = hp3_reseq_lateness(r, psn, now);
	int32_t ahead = hp3_psn_diff(psn, r->expected);

	if (r->held != 0 && ahead == 0) {
		s->reseq_gaps++;
		s->reseq_waited += late;
		if (late > 10000) {
			s->reseq_gaps_10us++;
			s->reseq_gaps_100us += late > 100000;
			s->reseq_gaps_1ms += late > 1000000;
			s->reseq_gaps_10ms += late > 10000000;
		}
	} else if (ahead >= 8 && ahead < (int32_t)HP3_RESEQ_WINDOW) {
		s->reseq_ahead_8++;
		s->reseq_ahead_64 += ahead >= 64;
	}
}

/*
 * The packet must not overtake held packets. The RNIC gets a copy of a packet behind the gap now.
 * At the next tick, the missing packet may have filled the gap. If the dropped packet was the last
 * one, the RNIC would then not request it. While packets may lie unread, the tick decides.
 */
static void drop_behind_gap(struct hp3_turn *t, struct hp3_spray_in *in, struct hp3_verdict *vd)
{
	vd->kind = HP3_DROP;
	if (in->reseq.shown)
		return;
	hp3_reseq_lost(&in->reseq);
	if (!t->e->spraying->unread)
		hp3_in_late(t, in);
}

/*
 * The packet is too far ahead to be held. It must not overtake held packets, so it is dropped, as a
 * go-back-N RNIC does while a packet is missing. A packet further ahead than any queue pair has in
 * flight belongs to the next queue pair, and passes.
 */
static void take_beyond_window(
	struct hp3_turn *t, struct hp3_spray_in *in, uint32_t psn, struct hp3_verdict *vd)
{
	t->e->stats.reseq_beyond++;
	if (in->reseq.held != 0 && hp3_psn_diff(psn, in->reseq.expected) <= IN_FLIGHT)
		drop_behind_gap(t, in, vd);
}

/*
 * There is no room to hold the packet: drops it, too. If only an ASK reports that the queue pair is
 * sprayed, the PSN may be wrong: all held packets go to the RNIC, in PSN order.
 */
static void no_room(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	hp3_reseq_passes(&in->reseq);
	if (in->reseq.held == 0)
		return;
	if (in->sure) {
		drop_behind_gap(t, in, vd);
		return;
	}
	hp3_in_empty(t, in, HP3_ACT_DELIVER);
	hp3_in_behind(t, in, pkt, vd);
	in->ready = false;
}

static bool take_packet(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	uint32_t span, struct hp3_verdict *vd)
{
	const struct hp3_reseq_params *params = hp3_in_params(t->e);
	const struct hp3_view *v = &pkt->v;
	int32_t ahead = hp3_psn_diff(v->psn, in->reseq.expected);

	judge_ev(t, in, v);
	if (ahead > 0 && !is_likely(t, in, pkt)) {
		hp3_reseq_passes(&in->reseq);
		return false;
	}
	if (ahead > 0 && ahead <= (int32_t)params->window && !hp3_in_room(t, in, pkt)) {
		no_room(t, in, pkt, vd);
		return vd->kind != HP3_PASS;
	}
	count_arrival(&t->e->stats, &in->reseq, v->psn, t->now);
	switch (hp3_reseq_arrive(&in->reseq, params, v->psn, span, t->e->free_held, t->now)) {
	case HP3_RESEQ_PASS:
		if (in->reseq.held != 0 || in->reads)
			hp3_in_follow(t, in, span != 0 ? HP3_IN_PIECE : UINT32_MAX);
		break;
	case HP3_RESEQ_HOLD:
		hp3_in_keep(t, in, pkt, vd);
		break;
	case HP3_RESEQ_COPY:
		hp3_in_replace(t, in, pkt, vd);
		break;
	case HP3_RESEQ_BEYOND:
		take_beyond_window(t, in, v->psn, vd);
		break;
	default:
		break;
	}
	return true;
}

/*
 * Hands over all due packets, because the packet in hand cannot be held behind them. If that packet
 * passes, it comes before the packets that follow it.
 */
static bool take_behind(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	uint32_t span, struct hp3_verdict *vd)
{
	struct hp3_acts *acts = t->acts;
	struct hp3_act own;
	uint32_t at;
	bool taken;

	hp3_in_follow(t, in, UINT32_MAX);
	at = acts->n;
	taken = take_packet(t, in, pkt, span, vd);
	if (vd->kind != HP3_PASS)
		return taken;
	hp3_in_behind(t, in, pkt, vd);
	own = acts->act[acts->n - 1];
	memmove(&acts->act[at + 1], &acts->act[at], (acts->n - 1 - at) * sizeof(own));
	acts->act[at] = own;
	return taken;
}

/* Held packets are due: holds this packet behind them, also if it is a copy. */
static __attribute__((noinline)) bool take_meanwhile(struct hp3_turn *t, struct hp3_spray_in *in,
	const struct hp3_pkt *pkt, uint32_t span, struct hp3_verdict *vd)
{
	int32_t ahead = hp3_psn_diff(pkt->v.psn, in->reseq.expected);

	if (ahead < 0)
		return take_packet(t, in, pkt, span, vd);
	if (ahead > (int32_t)hp3_in_params(t->e)->window || !is_likely(t, in, pkt) ||
		!hp3_in_room(t, in, pkt))
		return take_behind(t, in, pkt, span, vd);
	if (ahead > 0)
		return take_packet(t, in, pkt, span, vd);
	hp3_in_replace(t, in, pkt, vd);
	return true;
}

bool hp3_in_take(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	uint32_t span, struct hp3_verdict *vd)
{
	if (HP3_UNLIKELY(hp3_reseq_follows(&in->reseq)))
		return take_meanwhile(t, in, pkt, span, vd);
	return take_packet(t, in, pkt, span, vd);
}

/*
 * Until `sure`, the expected PSN comes only from an ASK at set-up. A packet from another port, or
 * SPRAYING from the sender, shows that the queue pair is sprayed. False: not sprayed; all packets
 * took one path.
 */
static bool is_sprayed(struct hp3_spray_in *in, const struct hp3_view *v)
{
	int32_t ahead = hp3_psn_diff(v->psn, in->reseq.expected);

	if (in->sure || ahead < 0)
		return true;
	in->sure = ahead == 0 || (in->reseq.held != 0 && v->sport != in->first);
	in->first = v->sport;
	return in->sure || ahead < (int32_t)HP3_RESEQ_WINDOW;
}

void hp3_spray_arrives(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_spray_in *in =
		hp3_in_find(t->e, pkt->addr, v->vlan, v->flags & HP3_VF_IPV6, v->dest_qpn, false);

	if (in == NULL)
		return;
	hp3_in_order(in, pkt, vd);
	if (in->ready && !is_sprayed(in, v)) {
		hp3_in_before(t, in, pkt, vd);
		in->ready = false;
	}
	if (!in->ready) {
		learn_from_request(t, in, pkt);
		return;
	}
	if ((v->flags & HP3_VF_READ) && !hp3_pkt_icrc_ok(t->e, pkt))
		return; /* its number of PSNs may be damaged: the RNIC drops it */
	hp3_spray_look(t);
	hp3_in_look(t, in);
	in->reseq.again = v->sport == in->in_use; /* the port of an RNIC that goes back */
	if (!hp3_in_take(t, in, pkt, hp3_in_span(in, v), vd))
		return;
	in->arrived += v->payload_len;
	hp3_in_came(t, in, v);
	in->unsized |= !hp3_in_sized(in, v);
	if (in->unsized && in->reseq.held == 0) /* its sender has stopped spraying */
		in->ready = in->unsized = false;
	if (in->reseq.held != 0)
		hp3_in_wake(t->e, in, hp3_in_due(t, in));
}

/*
 * A NAK or RNR NAK shows which PSN the RNIC expects. hp3d may have handed over that PSN already: a
 * packet was lost on the way to the RNIC, or found no receive buffer.
 */
static void apply_nak(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t psn)
{
	if (!hp3_reseq_refused(&in->reseq, psn, t->now)) {
		hp3_in_empty(t, in, HP3_ACT_DELIVER);
		hp3_reseq_refused(&in->reseq, psn, t->now);
	}
}

/* False: an earlier reply acknowledged more. */
static bool note_acked(struct hp3_spray_in *in, uint32_t psn)
{
	if (in->any_acked && hp3_psn_diff(psn, in->acked) < 0)
		return false;
	in->any_acked = true;
	in->acked = psn;
	return true;
}

/*
 * Replies of the RNIC count more than hp3d's record of packets handed over. ACKs, responses and
 * NAKs acknowledge all before them (IBTA 9.7.5.1.2).
 */
void hp3_spray_replies(struct hp3_turn *t, const struct hp3_pkt *pkt)
{
	const struct hp3_view *v = &pkt->v;
	const struct hp3_ends ends = hp3_pkt_ends(pkt, HP3_DIR_TX);
	bool no = (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK;
	uint32_t psn = no ? v->psn : hp3_psn_add(v->psn, 1);
	struct hp3_spray_in *in = hp3_in_find_back(t->e, hp3_key_addr(t->e, &ends), v->vlan,
		v->flags & HP3_VF_IPV6, v->dest_qpn, false);

	if (in == NULL || !note_acked(in, psn) || !in->ready)
		return;
	hp3_in_look(t, in);
	if (no)
		apply_nak(t, in, psn);
	else if (!hp3_reseq_acknowledged(&in->reseq, psn, t->now))
		return;
	hp3_in_forget(t, in);
	hp3_in_follow(t, in, HP3_IN_PIECE);
	hp3_in_wake(t->e, in, hp3_in_due(t, in));
}
