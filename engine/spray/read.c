/* SPDX-License-Identifier: BSD-3-Clause */
/* READ responses of the local RNIC: which of them leave by which path. The requester's hp3d has
 * offered to put them in order (reads.c). */
#include "engine/spray/send.h"

/* Of a peer that believes us; a host that only responds has a flow for it. */
bool hp3_spray_offered(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];

	f->last = (uint32_t)(t->now >> HP3_TICK_SHIFT);
	if (!(f->watch & HP3_FW_READ) && hp3_flow_may_leave(t->e, f, t->now) &&
		t->e->pairs.pairs[f->pair].reads_at <= t->now)
		hp3_out_begin_read(t, flow);
	return f->watch & HP3_FW_READ;
}

bool hp3_spray_reads_put_off(const struct hp3_turn *t, const struct hp3_ends *ends)
{
	uint32_t pair = hp3_pairs_find(&t->e->pairs, ends);

	return pair != HP3_NO_PAIR && t->e->pairs.pairs[pair].reads_at > t->now;
}

/* May this peer's READs take one more record? */
static bool has_place(struct hp3_engine *e, const struct hp3_ends *ends)
{
	const struct hp3_spraying *s = e->spraying;
	uint16_t peer = hp3_quota_find(&s->quotas, ends);
	uint32_t used = peer != HP3_NO_QUOTA ? s->quotas.peer[peer].reads : 0;
	bool place = s->nout < e->cfg.spray.flows &&
		     hp3_quota_allows(used, 1, e->cfg.spray.flows - s->nout);

	e->stats.agreements_refused += !place;
	return place;
}

bool hp3_spray_wants_reads(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t flow)
{
	struct hp3_engine *e = t->e;

	if (e->spraying == NULL || !e->cfg.spray.reads || !hp3_spray_is_allowed(e) ||
		e->cfg.unkeyed)
		return false;
	return (flow != HP3_NO_FLOW && (e->flows[flow].watch & HP3_FW_READ)) || has_place(e, ends);
}

/*
 * Nothing but its length tells a large one, and no response bears that: what the one before it was
 * is believed, until it has shown what it is.
 */
static void measure(const struct hp3_engine *e, struct hp3_spray_out *o, const struct hp3_view *v)
{
	if (v->flags & HP3_VF_FIRST)
		o->so_far = 0;
	o->so_far += v->payload_len;
	if (o->so_far >= e->cfg.spray.bytes)
		o->large = true;
	else if (v->flags & HP3_VF_LAST)
		o->large = false;
}

void hp3_spray_read_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_spray_out *o;
	bool sprayed;

	if (!(f->watch & HP3_FW_READ) || !(v->flags & HP3_VF_READ))
		return;
	f->last = (uint32_t)(t->now >> HP3_TICK_SHIFT);
	o = hp3_out_of_read(t->e, flow);
	sprayed = o->large &&
		  (v->flags & (HP3_VF_FIRST | HP3_VF_LAST)) != (HP3_VF_FIRST | HP3_VF_LAST);
	measure(t->e, o, v);
	if (o->large)
		o->large_at = t->now;
	if (!hp3_out_trusted(t, o))
		hp3_out_input(t, o, HP3_SPRAY_IN_SILENT);
	else if (o->state == HP3_SPRAY_NARROW && o->heard > o->narrowed)
		hp3_out_input(t, o, HP3_SPRAY_IN_CAUGHT_UP);
	if (o->state != HP3_SPRAY_SPRAYING || !sprayed || vd->kind != HP3_PASS)
		return;
	t->e->stats.sprayed_reads++;
	hp3_out_spread(t, o, vd);
}
