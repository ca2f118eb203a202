/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of events that wait for proof. Flows share them. */
#include "engine/flows/pending.h"
#include "engine/part.h"

static struct hp3_pending *pending_place_of(const struct hp3_engine *e, uint32_t flow)
{
	return &e->pending[flow % e->npending];
}

static bool is_pending_of(const struct hp3_pending *p, const struct hp3_engine *e, uint32_t flow)
{
	return p->flow == flow && p->rqpn == e->flows[flow].rqpn;
}

const struct hp3_pending *hp3_pending_of(const struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_pending *p = pending_place_of(e, flow);

	return e->flows[flow].pending && is_pending_of(p, e, flow) ? p : NULL;
}

bool hp3_pending_end(const struct hp3_engine *e, uint32_t flow, uint32_t len)
{
	const struct hp3_pending *p = hp3_pending_of(e, flow);

	return p != NULL && p->end && e->flows[flow].bytes == p->bytes + len;
}

const struct hp3_pending *hp3_pending_next(const struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_pending *p = hp3_pending_of(e, flow);
	bool pairs = p != NULL && p->pairing != HP3_PAIRING_NONE && !p->contested;

	return pairs && p->after ? p : NULL;
}

bool hp3_pending_may_begin_at(const struct hp3_engine *e, uint32_t flow, uint32_t psn)
{
	const struct hp3_pending *p = hp3_pending_of(e, flow);
	const struct hp3_flow *f = &e->flows[flow];

	return p != NULL && (p->end || p->went_on) && (f->flags & HP3_FF_STARTED) &&
	       hp3_psn_diff(f->stream.una, p->next) <= 0 &&
	       hp3_psn_diff(psn, f->stream.una) >= -2 * (int32_t)f->stream.win &&
	       hp3_psn_diff(psn, f->stream.nxt) <= 0;
}

static struct hp3_pending *take_pending(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_pending *p = pending_place_of(e, flow);

	if (hp3_pending_of(e, flow) != NULL)
		return p;
	if (p->flow < e->cfg.max_flows && hp3_pending_of(e, p->flow) != NULL) {
		e->flows[p->flow].pending = false;
		e->stats.setups_ignored += p->end || p->pairing != HP3_PAIRING_NONE;
	}
	*p = (struct hp3_pending){.flow = flow, .rqpn = e->flows[flow].rqpn};
	e->flows[flow].pending = true;
	return p;
}

/* Frees a record in which nothing waits. */
static void settle_pending(struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_pending *p = pending_place_of(e, flow);

	e->flows[flow].pending = p->end || p->went_on || p->pairing != HP3_PAIRING_NONE;
}

static void setup_drop(struct hp3_pending *p)
{
	p->pairing = HP3_PAIRING_NONE;
	p->after = p->contested = p->gone = p->rival_gone = false;
}

void hp3_pending_end_add(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_pending *p;

	if (!hp3_pending_end(e, flow, 0))
		hp3_pending_end_drop(e, flow); /* an older end: more has left since */
	p = take_pending(e, flow);
	p->end = true;
	p->went_on = false;
	p->bytes = e->flows[flow].bytes;
	p->next = e->flows[flow].stream.nxt & HP3_PSN_MASK;
}

void hp3_pending_end_done(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_pending *p = pending_place_of(e, flow);

	if (hp3_pending_of(e, flow) == NULL)
		return;
	p->end = p->after = p->went_on = false;
	settle_pending(e, flow);
}

void hp3_pending_end_drop(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_pending *p = pending_place_of(e, flow);
	bool reported;

	if (hp3_pending_of(e, flow) == NULL)
		return;
	reported = p->end || p->went_on;
	if (p->psn == HP3_NO_PSN || (p->after && p->lqpn == e->flows[flow].lqpn))
		setup_drop(p);
	hp3_pending_end_done(e, flow);
	p->went_on = reported;
	settle_pending(e, flow);
}

/* Does the flow's place have an end of another flow? */
static bool has_an_end_of_another(const struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_pending *p = pending_place_of(e, flow);

	return hp3_pending_of(e, flow) == NULL && p->flow < e->cfg.max_flows && p->end &&
	       hp3_pending_of(e, p->flow) == p;
}

static bool may_be_equal(uint32_t psn, uint32_t other)
{
	return psn == other || psn == HP3_NO_PSN || other == HP3_NO_PSN;
}

void hp3_pending_setup_add(
	struct hp3_engine *e, uint32_t flow, const struct hp3_qp_event *event, enum hp3_pairing how)
{
	uint32_t psn = event->psn_known ? event->psn : HP3_NO_PSN;
	struct hp3_pending *p;

	if (has_an_end_of_another(e, flow))
		return;
	p = take_pending(e, flow);
	if (p->contested && (p->lqpn == event->lqpn || p->rival == event->lqpn)) {
		p->gone &= p->lqpn != event->lqpn;
		p->rival_gone &= p->rival != event->lqpn;
		return;
	}
	if (p->contested && !may_be_equal(p->psn, psn))
		setup_drop(p); /* a third one, with another PSN */
	if (p->pairing != HP3_PAIRING_NONE && p->lqpn != event->lqpn) {
		if (!p->contested && may_be_equal(p->psn, psn)) {
			p->contested = true;
			p->rival = event->lqpn & HP3_QPN_MASK;
		}
		if (p->contested || (p->after && p->lqpn == e->flows[flow].lqpn))
			return;
	}
	p->lqpn = event->lqpn;
	p->psn = psn;
	p->pairing = (uint8_t)how;
	p->after = p->end;
}

void hp3_pending_setup_ended(struct hp3_engine *e, uint32_t flow, uint32_t lqpn)
{
	struct hp3_pending *p = pending_place_of(e, flow);

	if (hp3_pending_of(e, flow) == NULL || p->pairing == HP3_PAIRING_NONE)
		return;
	p->gone |= p->lqpn == lqpn;
	p->rival_gone |= p->contested && p->rival == lqpn;
	if (p->gone && p->rival_gone == p->contested)
		hp3_pending_setup_drop(e, flow);
}

void hp3_pending_setup_drop(struct hp3_engine *e, uint32_t flow)
{
	if (hp3_pending_of(e, flow) == NULL)
		return;
	setup_drop(pending_place_of(e, flow));
	settle_pending(e, flow);
}

static void take_places(struct hp3_engine *e, struct hp3_arena *a)
{
	e->npending = hp3_min_u32(e->cfg.max_flows, HP3_PENDING);
	HP3_TAKE(a, e->pending, e->npending);
}

static void init_places(struct hp3_engine *e)
{
	for (uint32_t i = 0; i < e->npending; i++)
		e->pending[i].flow = HP3_NO_FLOW;
}

const struct hp3_part hp3_pending_part = {.take = take_places, .init = init_places};
