/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pair numbers that return. An application starts again: two queue pairs change their local
 * ends, both begin anew at PSNs near the old ones or where they always begin, and nobody tells.
 * One of them may stay silent for long. And set-up events that come late, and more than once.
 *
 * What is believed of a queue pair may be wrong until its next life shows. It must never decide
 * anything then, and must not live on while either end makes progress.
 */
#include "world_internal.h"

#define UPS          3u /* how often a queue pair is announced */
#define LONG         4096u /* PSNs acknowledged; until then a wrong pairing has been contradicted */
#define NEAR_PSNS    65536
#define FOREIGN_QPNS 0x6000u /* world_hostile.c */
#define SETUP_NS     (1000 * US) /* a connection is not set up in less */

uint32_t world_start_psn(struct world *w)
{
	uint32_t before;

	if (w->p.lockstep)
		return 0;
	if (w->p.near)
		return 5000 + rnd(w, 2000);
	if (rnd(w, 2))
		return rnd(w, 1 << 24);
	before = rnd(w, RING); /* 2^23 or 2^24, soon */
	return (HP3_PSN_MASK >> before % 2) - before;
}

static uint32_t next_start(struct world *w, const struct qp *q)
{
	static const int32_t off[] = {-1, 1, 77, -300, 1 << 23, -(1 << 23)};
	uint32_t kind = rnd(w, 8);

	/* Exactly the next PSN looks like the next packet: rules-pairing.md names the limit. */
	if (kind < 6)
		return wire(q, q->high) + (uint32_t)off[kind];
	return kind == 6 ? q->first_start : world_start_psn(w);
}

void world_begin_again(struct world *w, uint32_t i, bool exact, uint64_t quiet)
{
	struct qp *q = &w->qps[i];
	uint32_t start = next_start(w, q);

	if (exact)
		start = wire(q, q->high);
	else if (start == wire(q, q->high))
		start++;
	world_setup_qp(w, i, start & HP3_PSN_MASK);
	q->send_timer++;
	world_at(w, SETUP_NS + quiet, EVENT_SEND, i, q->send_timer);
}

void world_rewire(struct world *w)
{
	uint32_t i = rnd(w, w->p.qps), k = rnd(w, w->p.qps);
	uint32_t lqpn = w->qps[i].lqpn;

	world_at(w, (1 + rnd(w, 2 * w->p.rewire_every_us)) * US, EVENT_REWIRE, 0, 0);
	if (i == k || w->qps[i].high == RING || w->qps[k].high == RING)
		return;
	w->qps[i].lqpn = w->qps[k].lqpn;
	w->qps[k].lqpn = lqpn;
	world_begin_again(w, i, false, rnd(w, 3000) * US);
	world_begin_again(w, k, false, rnd(w, 3) == 0 ? 30000 * US : rnd(w, 3000) * US);
	w->r.rewired += 2;
}

void world_announce_late(struct world *w, uint32_t i)
{
	for (unsigned n = 0; n < UPS; n++)
		world_at(w, rnd(w, w->p.up_late_us) * US, EVENT_UP, i, w->qps[i].epoch);
}

void world_announced(struct world *w, const struct event *event)
{
	if (event->gen != w->qps[event->qp].epoch)
		return;
	w->announcing = true;
	world_announce(w, event->qp);
	w->announcing = false;
	w->r.announced++;
}

/* What an event says has been decided by a pairing; a queue pair that sent nothing yet in this life
 * has shown nothing either. */
void world_check_wired(struct world *w, const struct qp *q, const struct hp3_event *event)
{
	/* world_reconnect.c: a foreign queue pair may be taken for the next one */
	bool may_err = w->p.reconnect_every_us != 0 && event->lqpn >= FOREIGN_QPNS;

	if (q->started && world_is_reported(q) && event->lqpn != q->lqpn && !may_err)
		VIOLATION(w, "%s of 0x%x by a wrong pairing: with 0x%x, not 0x%x",
			hp3_event_name(event->type), event->rqpn, event->lqpn, q->lqpn);
}

static bool is_long(const struct qp *q)
{
	return q->started && q->una - RING > LONG;
}

/* Until its PSNs pass what the claimant has sent, its replies look like old ones of that. */
static bool looks_old(const struct qp *owner, const struct hp3_flow_info *f)
{
	int32_t behind = hp3_psn_diff(f->nxt, wire(owner, owner->una));

	return behind >= 0 && behind < NEAR_PSNS;
}

static void check_claim(struct world *w, const struct hp3_flow_info *f)
{
	const struct qp *q = &w->qps[world_qp_at(w, f->flow, f->rqpn)];

	if (f->lqpn == q->lqpn)
		return;
	for (uint32_t i = 0; i < w->p.qps; i++) {
		const struct qp *owner = &w->qps[i];

		if (owner->lqpn == f->lqpn &&
			(is_long(q) || (is_long(owner) && !looks_old(owner, f))))
			VIOLATION(w, "0x%x is believed to belong to 0x%x still", f->lqpn, f->rqpn);
	}
}

void world_check_claims(struct world *w)
{
	struct hp3_flow_info f;

	for (uint32_t i = 0; (i = hp3_flow_next(w->e, i)) != HP3_NO_FLOW; i++) {
		if (hp3_flow_info(w->e, i, w->now, &f) == 0 && f.paired)
			check_claim(w, &f);
	}
}
