/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READ responses of the local RNIC: which path each takes. The requester's hp3d has offered to
 * resequence them (reads.c).
 */
#include "engine/flows/keys.h"
#include "engine/flows/pending.h"
#include "engine/spray/send.h"

#define ASKED_SPAN_MOST (1 << 22) /* PSNs between the first one requested and the last */

/* Responses leave in the order of requests. A READ that is sent again sets the start back. */
static void note_asked(struct hp3_spray_out *o, uint32_t psn, uint32_t end)
{
	bool anew = o->asked_first == HP3_NO_PSN ||
		    hp3_psn_diff(end, o->asked_first) > ASKED_SPAN_MOST ||
		    hp3_psn_diff(o->asked_end, psn) > ASKED_SPAN_MOST;

	if (anew || hp3_psn_diff(psn, o->asked_first) < 0)
		o->asked_first = psn;
	if (anew || hp3_psn_diff(end, o->asked_end) > 0)
		o->asked_end = end;
}

/* The agreement about READs from the local queue pair `asked_of`; NULL: none. */
static struct hp3_spray_out *find_asked(
	struct hp3_engine *e, uint64_t addr, uint32_t vlan, bool ipv6, uint32_t asked_of)
{
	struct hp3_spraying *s = e->spraying;
	uint16_t i = s->reads[hp3_spray_chain(s, addr, vlan, asked_of)];

	for (; i != HP3_NO_SPRAY; i = s->out[i].next_read) {
		const struct hp3_flow *f = &e->flows[s->out[i].flow];

		if (s->out[i].asked_of == asked_of && f->addr == addr && f->vlan == vlan &&
			!(f->flags & HP3_FF_IPV6) == !ipv6)
			return &s->out[i];
	}
	return NULL;
}

void hp3_spray_read_asked(struct hp3_turn *t, const struct hp3_pkt *pkt)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_spray_out *o =
		find_asked(t->e, pkt->addr, v->vlan, (v->flags & HP3_VF_IPV6) != 0, v->dest_qpn);

	if (o == NULL || !hp3_pkt_icrc_ok(t->e, pkt))
		return;
	note_asked(o, v->psn,
		hp3_psn_add(v->psn, hp3_request_span(v, t->e->flows[o->flow].pmtu_log2)));
	hp3_out_lost(t, o, v->psn);
}

/*
 * An agreement is about READs by one queue pair of the peer from one local queue pair. If QPNs are
 * reused, another local queue pair may respond to the same remote QPN. So the remote QPN is not
 * enough: the response has to answer a READ that arrived for that queue pair.
 */
static bool was_asked(struct hp3_spray_out *o, uint32_t psn)
{
	if (o->asked_first == HP3_NO_PSN || hp3_psn_diff(psn, o->asked_first) < 0 ||
		hp3_psn_diff(psn, o->asked_end) >= 0)
		return false;
	o->asked_first = psn;
	return true;
}

/*
 * There is an ASK about another pair of queue pairs with this remote QPN. Either the peer answers,
 * or the ASK expires (HP3_SPRAY_BOUND). The peer repeats the OFFER, and hp3d accepts it then. If
 * each OFFER ended the ASK before it, two alternating ones would cost two messages each, and no
 * agreement would begin.
 */
bool hp3_spray_is_asking_of_another(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t flow, uint32_t asked_of)
{
	struct hp3_engine *e = t->e;
	const struct hp3_spray_out *o;

	if (e->spraying == NULL)
		return false;
	if (flow != HP3_NO_FLOW && (e->flows[flow].watch & HP3_FW_READ)) {
		o = hp3_out_of_read(e, flow);
		if (o->asked_of != asked_of && o->state == HP3_SPRAY_ASKING)
			return true;
	}
	o = find_asked(e, hp3_key_addr(e, ends), ends->vlan, ends->ipv6, asked_of);
	return o != NULL && o->flow != flow && o->state == HP3_SPRAY_ASKING;
}

/*
 * A queue pair has one peer at a time, so an agreement about another one ends. False: it has not
 * ended yet, so none begins about this flow. With a record for each peer queue pair, each arriving
 * READ would be looked up among as many records as the peer asks for.
 */
static bool supersede_reads(struct hp3_turn *t, const struct hp3_flow *f, uint32_t asked_of)
{
	struct hp3_spray_out *o =
		find_asked(t->e, f->addr, f->vlan, (f->flags & HP3_FF_IPV6) != 0, asked_of);

	return o == NULL || &t->e->flows[o->flow] == f || !hp3_out_input(t, o, HP3_SPRAY_IN_STOP);
}

/* The peer shares a key with this host. A host that only responds has a flow record for it. */
bool hp3_spray_offered(struct hp3_turn *t, uint32_t flow, uint32_t asked_of)
{
	struct hp3_flow *f = &t->e->flows[flow];

	if ((f->watch & HP3_FW_READ) && hp3_out_of_read(t->e, flow)->asked_of != asked_of)
		hp3_out_input(t, hp3_out_of_read(t->e, flow), HP3_SPRAY_IN_STOP);
	f->last = (uint32_t)(t->now >> HP3_TICK_SHIFT);
	if (!(f->watch & HP3_FW_READ) && hp3_flow_may_leave(t->e, f, t->now) &&
		t->e->pairs.pairs[f->pair].reads_at <= t->now && supersede_reads(t, f, asked_of))
		hp3_out_begin_read(t, flow, asked_of);
	return f->watch & HP3_FW_READ;
}

bool hp3_spray_reads_put_off(const struct hp3_turn *t, const struct hp3_ends *ends)
{
	uint32_t pair = hp3_pairs_find(&t->e->pairs, ends);

	return pair != HP3_NO_PAIR && t->e->pairs.pairs[pair].reads_at > t->now;
}

bool hp3_spray_wants_reads(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t flow)
{
	struct hp3_engine *e = t->e;

	if (e->spraying == NULL || !e->cfg.spray.reads || !hp3_spray_is_allowed(e) ||
		!hp3_out_may_compare(e) || !hp3_has_key(e, ends))
		return false;
	return (flow != HP3_NO_FLOW && (e->flows[flow].watch & HP3_FW_READ)) ||
	       hp3_out_has_place(e, ends, e->cfg.spray.flows);
}

/*
 * A response does not carry its length. So hp3d assumes the length of the response before, until
 * the response's own packets show it.
 */
static void measure_response(
	const struct hp3_turn *t, struct hp3_spray_out *o, const struct hp3_view *v)
{
	if (v->flags & HP3_VF_FIRST)
		o->so_far = 0;
	o->so_far += v->payload_len;
	if (o->so_far >= hp3_out_least(t, o))
		o->large = true;
	else if (v->flags & HP3_VF_LAST)
		o->large = false;
}

/* Is this response a repetition? */
static bool is_repetition(struct hp3_spray_out *o, uint32_t psn)
{
	bool again = o->sent != HP3_NO_PSN && hp3_psn_diff(psn, o->sent) <= 0;

	if (!again)
		o->sent = psn;
	return again;
}

/* An event ended the queue pair: the next response shows whether the event was late. */
static bool goes_on(struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn)
{
	if (!t->e->flows[o->flow].pending || !hp3_pending_end(t->e, o->flow, 0))
		return true;
	hp3_pending_end_drop(t->e, o->flow);
	if (hp3_psn_diff(psn, o->asked_first) > 0 && hp3_psn_diff(psn, o->asked_end) < 0)
		return true;
	return hp3_out_input(t, o, HP3_SPRAY_IN_STOP);
}

void hp3_spray_read_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_spray_out *o;
	bool sprayed, again;

	if (!(f->watch & HP3_FW_READ) || !(v->flags & HP3_VF_READ))
		return;
	f->last = (uint32_t)(t->now >> HP3_TICK_SHIFT);
	o = hp3_out_of_read(t->e, flow);
	again = is_repetition(o, v->psn);
	if (again)
		hp3_out_again(o, v->psn);
	else if (vd->kind == HP3_PASS)
		hp3_port_log_put(&o->log, v->psn, vd->sport);
	if (!goes_on(t, o, v->psn))
		return;
	sprayed = was_asked(o, v->psn) && o->large &&
		  (v->flags & (HP3_VF_FIRST | HP3_VF_LAST)) != (HP3_VF_FIRST | HP3_VF_LAST);
	measure_response(t, o, v);
	if (o->large)
		o->large_at = t->now;
	if (!hp3_out_trusted(t, o))
		hp3_out_input(t, o, HP3_SPRAY_IN_SILENT);
	else if (o->state == HP3_SPRAY_NARROW && o->heard > o->narrowed)
		hp3_out_input(t, o, HP3_SPRAY_IN_CAUGHT_UP);
	if (o->state != HP3_SPRAY_SPRAYING || !sprayed || vd->kind != HP3_PASS ||
		!hp3_out_may_spread(t, o))
		return;
	t->e->stats.sprayed_reads++;
	hp3_out_spread(t, o, v->psn, vd);
	if (again)
		hp3_out_again(o, v->psn);
}
