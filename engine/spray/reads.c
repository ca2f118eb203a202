/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READ responses for the local RNIC: they take several paths if the peer agrees, and hp3d
 * resequences them here. The READs that leave show which responses will arrive. The first large
 * READ makes hp3d send an OFFER. hp3d answers YES only after the first response to a counted READ
 * has arrived. All responses before that one took one path, so none of them is in flight any more.
 */
#include "engine/spray/receive.h"
#include "engine/spray/send.h"

#define READS_SHORT_RUN 256 /* PSNs: if the RNIC goes back after fewer ... */
#define FULL_NS         1000000000u
#define READS_STRIKES   4u /* ... this many times in a row, one path is better */

/* After a refusal, READs of the pair request no place until FULL_NS have passed. */
static bool has_place(struct hp3_turn *t, const struct hp3_flow *f)
{
	struct hp3_pair *p = &t->e->pairs.pairs[f->pair];

	if (hp3_in_has_place(t->e, HP3_ENDS(p), t->e->cfg.spray.flows))
		return true;
	p->full_at = t->now + FULL_NS;
	t->e->stats.agreements_refused++;
	return false;
}

static bool may_begin(struct hp3_turn *t, const struct hp3_flow *f, const struct hp3_view *v)
{
	const struct hp3_engine *e = t->e;
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return (v->flags & HP3_VF_READ) && v->dma_len >= e->cfg.spray.bytes && e->cfg.spray.reads &&
	       !(f->flags & HP3_FF_WENT_BACK) && p->reads_at <= t->now && p->full_at <= t->now &&
	       hp3_out_may_agree(t, f) &&
	       hp3_in_find(t->e, f->addr, f->vlan, f->flags & HP3_FF_IPV6, f->lqpn, true) == NULL &&
	       has_place(t, f);
}

void hp3_spray_reads_taken(struct hp3_engine *e, struct hp3_spray_in *in, uint32_t flow)
{
	in->flow = flow;
	in->doubts = false;
	e->spraying->of[flow].reads = e->spraying->ins[in->at];
	e->flows[flow].watch |= HP3_FW_READS;
}

static struct hp3_spray_in *begin_reads(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_ends *ends = HP3_ENDS(&t->e->pairs.pairs[f->pair]);
	struct hp3_spray_in *in = hp3_in_add(t, ends, f->lqpn);

	in->reads = true;
	t->e->spraying->quotas.peer[in->quota].read_ins++;
	hp3_in_link_back(t->e->spraying, in, f->rqpn);
	in->evs = t->e->cfg.spray.evs;
	in->keepalive_ns = t->e->cfg.spray.keepalive_ns;
	in->from = in->end = in->top = v->psn;
	in->heard = t->now;
	hp3_spray_reads_taken(t->e, in, flow);
	hp3_in_wake(t->e, in, t->now);
	return in;
}

/*
 * The RNIC went back to this PSN. After READS_STRIKES such times, sends NO, so that the peer takes
 * one path.
 */
static void count_strike(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t psn)
{
	bool soon = hp3_psn_diff(psn, in->back_to) < READS_SHORT_RUN;

	in->strikes = soon && in->strikes != 0 ? in->strikes + 1 : 1;
	in->back_to = psn;
	if (in->strikes < READS_STRIKES || in->unwanted)
		return;
	in->unwanted = true;
	t->e->stats.sprays_given_up++;
	hp3_in_put_off(t, in);
	hp3_spray_send_msg_in(t, in, HP3_AGREE_NO, 0);
}

/* The RNIC goes back: it waits for the response with the first PSN that it requests. */
static void goes_back(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t psn, bool first)
{
	in->again = true;
	in->again_at = t->now;
	if (first)
		count_strike(t, in, psn);
	if (hp3_psn_diff(psn, in->reseq.expected) > 0) {
		if (first)
			hp3_reseq_skip(&in->reseq, psn);
	} else if (!hp3_reseq_repeated(&in->reseq, psn, t->now)) {
		hp3_in_empty(t, in, HP3_ACT_DISCARD); /* the RNIC requests all of it again */
		hp3_reseq_repeated(&in->reseq, psn, t->now);
	}
}

/* Is a response before una missing at the RNIC? hp3d holds it, or it has not arrived. */
static bool is_response_missing(const struct hp3_spray_in *in, const struct hp3_flow *f)
{
	return in->reseq.held != 0 || in->ack.held != 0 ||
	       (in->owed.n != 0 && hp3_psn_diff(in->owed.range[0].first, f->stream.una) < 0);
}

/*
 * Rule 4: while a response is missing, the RNIC gets no NAK. Other reasons for HP3_FW_DOUBT do not
 * end here. The RNIC gets a held response long after una advanced. If it then loses the response,
 * it shows the loss only after the next ACK that advances una.
 */
static void update_doubt(struct hp3_engine *e, struct hp3_spray_in *in)
{
	struct hp3_flow *f;

	if (in->flow == HP3_NO_FLOW || !in->ready)
		return;
	f = &e->flows[in->flow];
	if (is_response_missing(in, f)) {
		in->doubts |= !(f->watch & HP3_FW_DOUBT);
		f->watch |= HP3_FW_DOUBT;
	} else if (in->doubts) {
		in->doubts = false;
		f->watch &= (uint16_t)~HP3_FW_DOUBT;
		f->watch |= HP3_FW_UNREAD;
	}
}

/* A READ or ATOMIC leaves. False: too many to count, so the expected responses are unknown. */
static bool count_read(struct hp3_spray_in *in, const struct hp3_flow *f, const struct hp3_view *v)
{
	if (f->pmtu_log2 != 0) /* else the flow began anew, most likely with the same MTU */
		in->pmtu_log2 = f->pmtu_log2;
	if (in->from == HP3_NO_PSN)
		in->from = v->psn;
	if (in->ready && in->owed.n == 0 && in->reseq.held == 0)
		in->reseq.expected = v->psn; /* however many WRITEs are between */
	if (hp3_in_sized(in, v))
		return hp3_owed_add(&in->owed, v->psn, hp3_request_span(v, in->pmtu_log2));
	if (in->n_early_reads == HP3_SPRAY_EARLY_READS)
		return false;
	in->early_reads[in->n_early_reads].psn = v->psn;
	in->early_reads[in->n_early_reads++].bytes = v->dma_len;
	return true;
}

/* A response has shown the path MTU. */
static bool count_early_reads(struct hp3_spray_in *in)
{
	bool all = true;

	for (uint32_t i = 0; i < in->n_early_reads; i++)
		all &= hp3_owed_add(&in->owed, in->early_reads[i].psn,
			hp3_read_span(in->early_reads[i].bytes, in->pmtu_log2));
	in->n_early_reads = 0;
	return all;
}

/* The RNIC waits for no response to earlier READs. */
static void owe_nothing(struct hp3_spray_in *in)
{
	in->owed.n = in->n_early_reads = 0;
	in->from = HP3_NO_PSN;
	in->doubts = false; /* HP3_FW_DOUBT itself stays */
}

/*
 * Does the RNIC go back? The flow has recorded that, unless it took the packet for one of another
 * queue pair. A PSN far away belongs to another queue pair. A nearer one may follow packets that
 * were lost on their way to hp3d.
 */
static bool goes_on_behind(struct hp3_spray_in *in, const struct hp3_flow *f, uint32_t psn)
{
	int32_t ahead = in->top != HP3_NO_PSN ? hp3_psn_diff(psn, in->top) : 0;

	if (f->flags & HP3_FF_WENT_BACK)
		return true;
	if (ahead > (int32_t)HP3_RESEQ_WINDOW || ahead < -(int32_t)HP3_OWED_MOST) {
		owe_nothing(in);
		in->top = HP3_NO_PSN;
	}
	return ahead < 0 && ahead >= -(int32_t)HP3_OWED_MOST;
}

/* More READs are outstanding than can be counted. */
static void give_up_reads(struct hp3_turn *t, struct hp3_spray_in *in)
{
	t->e->stats.reads_uncounted++;
	hp3_spray_send_msg_in(t, in, HP3_AGREE_NO, 0);
	hp3_spray_in_end(t, in, false);
}

static void send_offer(struct hp3_turn *t, struct hp3_spray_in *in)
{
	if (t->now < in->offer_at || in->unwanted ||
		(in->numbered && t->now - in->heard < HP3_SPRAY_TRUST * in->keepalive_ns))
		return;
	in->offer_at = t->now + in->keepalive_ns;
	hp3_spray_send_msg_in(t, in, HP3_AGREE_OFFER, 0);
}

void hp3_spray_reads(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_view *v = &pkt->v;
	bool owes = v->flags & (HP3_VF_READ | HP3_VF_ATOMIC), back, first;
	struct hp3_spray_in *in;

	if (f->watch & HP3_FW_READS) {
		in = hp3_in_of_reads(t->e, flow);
		hp3_in_look(t, in);
	} else if (may_begin(t, f, v)) {
		in = begin_reads(t, flow, v);
	} else {
		return;
	}
	if (hp3_psn_diff(v->psn, f->stream.una) < 0)
		in->doubts = false; /* it goes back, so it showed the gap: tx_retransmit() */
	back = goes_on_behind(in, f, v->psn);
	first = back && (!in->back || in->end == HP3_NO_PSN || hp3_psn_diff(v->psn, in->end) < 0);
	in->back = back;
	if (first)
		in->from = HP3_NO_PSN; /* from here on, the RNIC waits for these responses */
	if (owes && !count_read(in, f, v)) {
		give_up_reads(t, in);
		return;
	}
	in->end = hp3_in_sized(in, v) ? hp3_psn_add(v->psn, hp3_request_span(v, in->pmtu_log2))
				      : HP3_NO_PSN;
	if (in->top == HP3_NO_PSN || in->end == HP3_NO_PSN || hp3_psn_diff(in->end, in->top) > 0)
		in->top = in->end;
	if (in->ready && back && (owes || first))
		goes_back(t, in, v->psn, first);
	if (in->ready)
		hp3_in_follow(t, in, HP3_IN_PIECE);
	update_doubt(t->e, in);
	if ((v->flags & HP3_VF_READ) && v->dma_len >= t->e->cfg.spray.bytes)
		send_offer(t, in);
}

/* The response with this PSN has arrived, the last one of its READ. Moves on to the next READ. */
static void next_from(struct hp3_spray_in *in, uint32_t psn)
{
	uint32_t n = 0;

	hp3_owed_done(&in->owed, hp3_psn_add(psn, 1));
	in->from = in->owed.n != 0 ? in->owed.range[0].first : HP3_NO_PSN;
	for (uint32_t i = 0; i < in->n_early_reads; i++) {
		if (hp3_psn_diff(in->early_reads[i].psn, psn) <= 0)
			continue;
		if (in->from == HP3_NO_PSN || hp3_psn_diff(in->early_reads[i].psn, in->from) < 0)
			in->from = in->early_reads[i].psn;
		in->early_reads[n++] = in->early_reads[i];
	}
	in->n_early_reads = n;
}

/* Is this PSN one that an ACK sent just now may acknowledge? */
static bool is_plausible_ack(const struct hp3_turn *t, const struct hp3_spray_in *in, uint32_t psn)
{
	if (in->top != HP3_NO_PSN && hp3_psn_diff(psn, in->top) < 0)
		return true; /* a flow that was unpaired or removed has lost this */
	return in->flow != HP3_NO_FLOW &&
	       hp3_psn_diff(psn, hp3_stream_end(&t->e->flows[in->flow].stream)) < 0;
}

static bool is_nak(const struct hp3_view *v)
{
	return !(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)) &&
	       HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK;
}

/* The RNIC has completed the READ that it waited for, or sends it again. */
static void learn_of_nak(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt)
{
	uint32_t before = (pkt->v.psn - 1) & HP3_PSN_MASK;

	if (in->from != HP3_NO_PSN && hp3_psn_diff(before, in->from) >= 0 &&
		is_plausible_ack(t, in, before) && hp3_pkt_icrc_ok(t->e, pkt))
		next_from(in, before);
}

/*
 * If this is the response that the RNIC waits for, all before it have arrived. Until the path MTU
 * is known, the number of responses is unknown, and the next response shows it.
 */
static void learn_from_response(
	struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt)
{
	const struct hp3_view *v = &pkt->v;

	if (is_nak(v)) {
		learn_of_nak(t, in, pkt);
		return;
	}
	if (in->flow == HP3_NO_FLOW || !(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)) ||
		v->psn != in->from || !hp3_pkt_icrc_ok(t->e, pkt))
		return;
	in->pmtu_log2 = t->e->flows[in->flow].pmtu_log2;
	if (in->pmtu_log2 == 0) {
		if (v->flags & (HP3_VF_LAST | HP3_VF_ATOMIC))
			next_from(in, v->psn);
		else
			in->from = hp3_psn_add(v->psn, 1);
		return;
	}
	if (!count_early_reads(in)) {
		give_up_reads(t, in);
		return;
	}
	hp3_reseq_init(&in->reseq, in->from);
	hp3_in_owes(in);
	in->ready = in->sure = true;
	t->e->stats.resequenced++;
	if (in->numbered)
		hp3_in_answer(t, in);
}

/* Is it behind a missing response? */
static bool is_out_of_order(const struct hp3_spray_in *in, const struct hp3_view *v)
{
	if (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC))
		return hp3_psn_diff(v->psn, in->reseq.expected) > 0;
	return !hp3_in_has_come(in, (v->psn - is_nak(v)) & HP3_PSN_MASK);
}

/* There is no room to hold this ACK or NAK. */
static void ack_passes(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	if (hp3_reseq_follows(&in->reseq)) {
		hp3_in_follow(t, in, UINT32_MAX);
		hp3_in_behind(t, in, pkt, vd);
		if (is_out_of_order(in, &pkt->v))
			hp3_in_gap(t->e, in);
	}
	if (!is_nak(&pkt->v))
		return;
	hp3_in_give_up(t, in, pkt->v.psn);
	hp3_in_forget(t, in);
	hp3_in_follow(t, in, HP3_IN_PIECE);
}

/*
 * An ACK, NAK or RNR NAK comes behind the responses to all that it acknowledges. At most one is
 * held: a later one acknowledges all that an earlier one did. For responses that both acknowledge,
 * the time limit is that of the earlier one. For those behind, the later one has its own.
 */
static void take_ack(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	struct hp3_engine *e = t->e;
	bool refuses = is_nak(&pkt->v);
	uint32_t psn = (pkt->v.psn - refuses) & HP3_PSN_MASK;
	uint32_t before = in->ack.held;
	int32_t later = hp3_psn_diff(psn, in->ack.psn);

	if (hp3_in_has_come(in, psn) || !is_plausible_ack(t, in, psn) || !hp3_pkt_icrc_ok(e, pkt))
		return;
	if (before != 0 && (later < 0 || (later == 0 && !refuses))) {
		vd->kind = HP3_CONSUME;
		return;
	}
	if (!hp3_in_room(t, in, pkt)) {
		ack_passes(t, in, pkt, vd);
		return;
	}
	hp3_in_ack_counts(in);
	if (before == 0)
		in->ack = (struct hp3_spray_ack){.at = t->now, .until = psn};
	in->ack.held = e->free_held + 1;
	in->ack.psn = psn;
	in->ack.refuses = refuses;
	in->ack.came = t->now;
	hp3_in_keep(t, in, pkt, vd);
	if (before != 0)
		hp3_in_discard(t, in, before - 1);
}

/* The response is too far ahead to be held, and no held packet waits for the missing ones. */
static bool is_alone(const struct hp3_turn *t, const struct hp3_spray_in *in, uint32_t psn)
{
	return in->reseq.held == 0 && in->ack.held == 0 &&
	       hp3_psn_diff(psn, in->reseq.expected) > (int32_t)hp3_in_params(t->e)->window;
}

static void take_response(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	uint32_t psn = pkt->v.psn, expected;

	if (hp3_owed_from(&in->owed, psn) != psn)
		return; /* it arrived before */
	if (is_alone(t, in, psn) && hp3_pkt_icrc_ok(t->e, pkt))
		hp3_in_give_up(t, in, psn);
	expected = in->reseq.expected;
	in->reseq.again = in->again;
	hp3_in_take(t, in, pkt, 1, vd);
	hp3_in_came(t, in, &pkt->v);
	if (psn == expected)
		in->again &= in->reseq.shown;
}

static void take_reply(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	bool out_of_order;

	hp3_in_order(in, pkt, vd);
	if (!in->ready) {
		learn_from_response(t, in, pkt);
		if (!in->ready)
			return;
	}
	hp3_spray_look(t);
	hp3_in_look(t, in);
	out_of_order = is_out_of_order(in, &pkt->v);
	if (pkt->v.flags & (HP3_VF_READ | HP3_VF_ATOMIC))
		take_response(t, in, pkt, vd);
	else
		take_ack(t, in, pkt, vd);
	if (out_of_order && vd->kind == HP3_PASS)
		hp3_in_gap(t->e, in);
	update_doubt(t->e, in);
	hp3_in_wake(t->e, in, hp3_in_due(t, in));
}

void hp3_spray_read_arrives(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	if (vd->kind == HP3_PASS)
		take_reply(t, hp3_in_of_reads(t->e, flow), pkt, vd);
}

void hp3_spray_stray(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_spray_in *in =
		hp3_in_find(t->e, pkt->addr, v->vlan, v->flags & HP3_VF_IPV6, v->dest_qpn, true);

	if (in != NULL)
		take_reply(t, in, pkt, vd);
}

void hp3_spray_reads_gone(struct hp3_turn *t, struct hp3_spray_in *in)
{
	t->e->flows[in->flow].watch &= (uint16_t)~HP3_FW_READS;
	in->flow = HP3_NO_FLOW;
	in->doubts = false;
	in->unwanted = true;
	if (in->numbered)
		hp3_spray_send_msg_in(t, in, HP3_AGREE_NO, 0);
	hp3_in_wake(t->e, in, t->now);
}

void hp3_spray_reads_anew(struct hp3_turn *t, struct hp3_spray_in *in, bool reported)
{
	hp3_in_empty(t, in, HP3_ACT_DISCARD);
	in->doubts = false;
	if (!reported)
		return; /* the next request shows whether it is another queue pair */
	owe_nothing(in);
	in->end = in->top = HP3_NO_PSN;
	in->again = in->back = false;
	in->strikes = 0;
}
