/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages about a queue pair, other than its set-up and end (qp.c). A peer reports that it
 * receives no replies (moves/replies.c). The caller restores ports from the state of an earlier
 * hp3d. The caller reports that packets bypassed hp3d. A peer sends a message about spraying.
 */
#include <errno.h>
#include "engine/pass/pass.h"
#include "engine/spray/spray.h"

#define ACTS_PER_FLOW 10u /* most actions for the end of one flow's epoch */
/*
 * One call of hp3_missed() visits at most PIECE flows. A flow that begins a new epoch counts as
 * FORGOTTEN flows.
 */
#define PIECE     256u
#define FORGOTTEN 16u

int hp3_flow_restore(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn,
	uint16_t port, uint16_t replies, uint64_t now)
{
	struct hp3_turn t = {e, now, NULL};
	uint32_t flow = hp3_flow_find(e, ends, rqpn);

	if (rqpn > HP3_QPN_MASK || (port == 0 && replies == 0))
		return -EINVAL;
	if (e->cfg.verbs)
		return -EPERM;
	if (flow == HP3_NO_FLOW)
		flow = hp3_flow_add(&t, ends, rqpn);
	if (flow == HP3_NO_FLOW)
		return -ENOSPC;
	if ((e->flows[flow].flags & HP3_FF_STARTED) || e->flows[flow].state != HP3_RFR_STEADY)
		return -EEXIST;
	e->flows[flow].last = (uint32_t)(now >> HP3_TICK_SHIFT); /* it may have sent just now */
	if (port != 0) {
		hp3_set_port(e, &e->flows[flow], port);
		/* packets may be in flight on this port */
		e->flows[flow].flags &= (uint16_t)~HP3_FF_FRESH;
	}
	hp3_replies_restore(e, flow, replies);
	return 0;
}

/* False: the flow had sent nothing and had no search or move. */
static bool forget_flow(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool began =
		(f->flags & HP3_FF_STARTED) || f->state != HP3_RFR_STEADY || f->slot != HP3_NO_SLOT;

	if (began)
		hp3_flow_epoch(t, flow, true); /* no agreements any more */
	hp3_set_port(t->e, f, f->home);
	hp3_replies_home(t->e, flow);
	return began;
}

/* False: there are more. */
static bool end_sprays(struct hp3_turn *t)
{
	struct hp3_spraying *s = t->e->spraying;

	for (uint32_t n = 0; t->e->nspray_in != 0; n += FORGOTTEN) {
		if (t->acts->n == HP3_ACTS_MAX || n >= PIECE)
			return false;
		hp3_spray_in_end(t, &s->in[s->ins[t->e->nspray_in - 1]], true);
	}
	return true;
}

uint32_t hp3_missed(struct hp3_engine *e, uint32_t from, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};

	e->forgetting = true;
	e->pacing_ended = false;
	e->untracked_until = now + e->cfg.challenge_quiet_ns;
	hp3_spray_go_on(e);
	if (!end_sprays(&t))
		return from;
	for (uint32_t n = 0; from < e->cfg.max_flows; n++, from++) {
		if (n >= PIECE || acts->n + ACTS_PER_FLOW > HP3_ACTS_MAX)
			return from;
		if ((e->flows[from].flags & HP3_FF_USED) && forget_flow(&t, from))
			n += FORGOTTEN - 1;
	}
	e->forgetting = false;
	return HP3_NO_FLOW;
}

int hp3_peer_report(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn, uint64_t now,
	struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	uint32_t flow = hp3_flow_find(e, ends, rqpn);
	bool made;

	e->stats.reports_taken++;
	if (e->replies == NULL || !e->cfg.moves_allowed || e->cfg.observe)
		return -EPERM;
	if (e->cfg.verbs)
		return flow == HP3_NO_FLOW ? -EPERM : hp3_failover_for_replies(&t, flow);
	made = flow == HP3_NO_FLOW;
	if (made)
		flow = hp3_flow_announce(&t, ends, rqpn, HP3_FROM_NETWORK);
	if (flow == HP3_NO_FLOW)
		return -ENOSPC;
	if (!hp3_flow_may_leave(e, &e->flows[flow], now)) {
		if (made)
			hp3_flow_remove(&t, flow);
		return -EPERM;
	}
	if (hp3_replies_moved(e, flow, now))
		return -EALREADY; /* the report crossed the move */
	hp3_replies_leave(&t, flow);
	return 0;
}

/*
 * READ responses that the peer offers to resequence leave on a flow, which may send nothing else. A
 * new record is added only when it is needed, and removed if no agreement begins. False: the offer
 * is refused.
 */
static bool accept_offer(struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a)
{
	uint32_t flow = hp3_flow_at(t->e, ends, a->responder, HP3_DIR_TX);
	bool made = flow == HP3_NO_FLOW;

	if (hp3_spray_is_asking_of_another(t, ends, flow, a->requester))
		return true;
	if (!hp3_spray_wants_reads(t, ends, flow) || (made && hp3_spray_reads_put_off(t, ends)))
		return false;
	if (made)
		flow = hp3_flow_announce(t, ends, a->responder, HP3_FROM_NETWORK);
	if (flow == HP3_NO_FLOW)
		return false;
	if (hp3_spray_offered(t, flow, a->requester))
		return true;
	if (made)
		hp3_flow_remove(t, flow);
	return false;
}

void hp3_agree_received(struct hp3_engine *e, const struct hp3_ends *ends,
	const struct hp3_agree *a, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	uint32_t flow;

	if (a->kind >= HP3_AGREE_HOLD) {
		hp3_peer_hold_received(&t, ends, a);
		return;
	}
	if (hp3_agree_is_senders(a)) {
		if (e->spraying != NULL)
			hp3_spray_asked(&t, ends, a);
		else if (a->kind <= HP3_AGREE_SPRAYING)
			hp3_spray_refuse(&t, ends, a);
		return;
	}
	if (a->kind == HP3_AGREE_OFFER) {
		if (accept_offer(&t, ends, a))
			return;
		e->stats.offers_refused++;
		hp3_spray_refuse(&t, ends, a);
		return;
	}
	flow = hp3_flow_at(e, ends, a->responder, HP3_DIR_TX);
	if (e->spraying != NULL && flow != HP3_NO_FLOW)
		hp3_spray_answer(&t, flow, a);
}
