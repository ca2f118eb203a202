/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of a queue pair: it was set up, or has ended. An event may come before the packets of the
 * queue pair or between them, and may contradict them. life/qp_sources.h defines which source may
 * change what.
 */
#include <errno.h>
#include "engine/flows/announced.h"
#include "engine/flows/pending.h"
#include "engine/life/qp_sources.h"
#include "engine/pass/pass.h"
#include "engine/spray/spray.h"

/* Is the event about the flow's own local queue pair, as far as is known? */
static bool is_own(const struct hp3_flow *f, const struct hp3_qp_event *event)
{
	if (event->source != HP3_QP_SOURCE_LIBRARY)
		return (f->flags & HP3_FF_PAIRED) && f->lqpn == event->lqpn;
	return hp3_is_announced(f) && f->unsent.who == HP3_FROM_LIBRARY &&
	       f->unsent.lqpn == event->lqpn && f->unsent.owner == event->owner;
}

/*
 * Rule 16: connection management, the verbs, and a watcher that starts late may all report one
 * queue pair, before and after its first data. Equal QPNs and an equal first PSN mean the same
 * epoch. At most the source of the pairing improves.
 */
static bool is_known_life(
	const struct hp3_engine *e, uint32_t flow, const struct hp3_qp_event *event)
{
	return event->psn_known && e->began[flow].psn == event->psn;
}

/*
 * True: nothing else to do for this event. While an end waits for proof, the event may be about the
 * next queue pair, which begins at the same PSN.
 */
static bool confirm_epoch(struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool paired = f->flags & HP3_FF_PAIRED;

	if (!is_known_life(t->e, flow, event) || hp3_pending_end(t->e, flow, 0))
		return false;
	if (event->source == HP3_QP_SOURCE_LIBRARY)
		return is_own(f, event);
	if (paired && f->lqpn != event->lqpn)
		return false;
	if (!paired && !(f->flags & HP3_FF_STARTED))
		return false;
	if (!paired)
		hp3_flow_pair(t, flow, event->lqpn, hp3_pairing_of(event->source));
	else if (f->pairing < hp3_pairing_of(event->source))
		f->pairing = (uint8_t)hp3_pairing_of(event->source);
	return true;
}

/*
 * No packet of this epoch has left. `fresh`: none of an earlier one either, so the port can change
 * without a drain.
 */
static void begin_epoch(
	struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event, bool fresh)
{
	struct hp3_engine *e = t->e;
	struct hp3_flow *f = &e->flows[flow];

	e->began[flow].psn = HP3_NO_PSN; /* an earlier value is of another source */
	if (!event->psn_known)
		return;
	hp3_stream_reset(&f->stream, event->psn);
	e->began[flow].psn = event->psn & HP3_PSN_MASK;
	if (!fresh)
		return;
	if (e->spraying != NULL)
		hp3_spray_setup(t, flow);
	if (e->cfg.probing && f->state == HP3_RFR_STEADY) /* else a probe might be no duplicate */
		hp3_setup(t, flow);
}

/* Any local process can cause this event, so it may be wrong. */
static bool place_announced_flow(
	struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event, bool fresh)
{
	struct hp3_flow *f = &t->e->flows[flow];

	if (!hp3_is_announced(f))
		return false; /* a more reliable source has reported the queue pair */
	f->unsent.lqpn = event->lqpn & HP3_QPN_MASK;
	f->unsent.owner = event->owner;
	begin_epoch(t, flow, event, fresh);
	return true;
}

static int pair_flow(
	struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event, bool fresh)
{
	if (!hp3_flow_pair(t, flow, event->lqpn, hp3_pairing_of(event->source)))
		return -ENOSPC;
	hp3_pending_end_done(t->e, flow);
	begin_epoch(t, flow, event, fresh);
	return 0;
}

/*
 * Packets may be in flight, of that queue pair or already of the next one, and applying the event
 * now would reorder them. Exception: the path is dead, and nothing else may release the held
 * packets.
 */
static bool may_be_late(const struct hp3_turn *t, uint32_t flow)
{
	if (t->e->flows[flow].state == HP3_RFR_RESUMING)
		return false;
	if (hp3_pending_end(t->e, flow, 0) || hp3_spray_is_under_way(t, flow))
		return true;
	return hp3_flow_keeps_its_place(t->e, flow) && hp3_flow_is_under_way(t->e, flow, t->now);
}

/* In verbs mode, hp3d sees no packets, and the owner of the queue pair reports in time. */
static bool put_off(struct hp3_turn *t, uint32_t flow)
{
	if (t->e->cfg.verbs || !may_be_late(t, flow))
		return false;
	hp3_pending_end_add(t->e, flow);
	return true;
}

static struct hp3_may rights_of_event(
	const struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event)
{
	enum hp3_traffic traffic = hp3_flow_traffic(t->e, flow, t->now);

	return hp3_may[event->source][traffic][is_own(&t->e->flows[flow], event)];
}

/*
 * An end event came, and another queue pair was set up at a PSN that is in flight, next, or
 * slightly behind. That queue pair sends now, or will. hp3d treats both as one stream, so it drops
 * no held packet.
 */
static bool takes_over(const struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	return event->psn_known && event->source != HP3_QP_SOURCE_LIBRARY &&
	       (f->flags & HP3_FF_PAIRED) && f->lqpn != event->lqpn &&
	       hp3_pending_may_begin_at(t->e, flow, event->psn);
}

static int take_over(struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event)
{
	struct hp3_stream *s = &t->e->flows[flow].stream;

	hp3_flow_unpair(t, flow); /* ends a move: replies to the other queue pair prove no drain */
	hp3_pending_end_done(t->e, flow);
	hp3_pending_setup_drop(t->e, flow);
	s->una = event->psn;
	if (((s->nxt - s->una) & HP3_PSN_MASK) > s->win)
		hp3_stream_widen(s);
	t->e->began[flow].psn = event->psn;
	return hp3_flow_pair(t, flow, event->lqpn, hp3_pairing_of(event->source)) ? 0 : -ENOSPC;
}

/* The event waits for proof together with the end of the queue pair before. */
static bool wait_for_end(struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event)
{
	if (!put_off(t, flow))
		return false;
	hp3_pending_setup_add(t->e, flow, event, hp3_pairing_of(event->source));
	return true;
}

static int apply_setup(struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool fresh = !(f->flags & HP3_FF_MOVED) && /* else it has a path already */
		     (f->bytes == 0 || hp3_flow_has_paused(t->e, flow, t->now));

	if (confirm_epoch(t, flow, event))
		return 0;
	if (takes_over(t, flow, event))
		return take_over(t, flow, event);
	switch ((enum hp3_up)rights_of_event(t, flow, event).up) {
	case HP3_UP_PLACE:
		if (place_announced_flow(t, flow, event, fresh))
			return 0;
		break;
	case HP3_UP_PAIR:
		return pair_flow(t, flow, event, fresh);
	case HP3_UP_RELEASE:
		if ((is_own(f, event) || hp3_spray_is_under_way(t, flow)) &&
			wait_for_end(t, flow, event))
			return 0;
		hp3_flow_over(t, flow);
		return pair_flow(t, flow, event, false);
	case HP3_UP_DISCARD:
		if (wait_for_end(t, flow, event))
			return 0;
		hp3_flow_epoch(t, flow, true);
		return pair_flow(t, flow, event, false);
	case HP3_UP_NOTE:
		if (event->psn_known || hp3_pending_end(t->e, flow, 0))
			hp3_pending_setup_add(t->e, flow, event, hp3_pairing_of(event->source));
		break;
	default:
		break;
	}
	t->e->stats.setups_ignored++;
	return 0;
}

/* Gives the flow to the queue pair that was set up since; else removes the flow. */
static void end_flow(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_pending *p = hp3_pending_next(t->e, flow);
	struct hp3_qp_event next;

	hp3_spray_down(t, flow);
	if (p == NULL) {
		hp3_path_leave(t->e, flow, t->now); /* while the results of replies are known */
		/* the event may be late, about the earlier queue pair */
		hp3_flow_epoch(t, flow, false);
		hp3_flow_remove(t, flow);
		return;
	}
	next = (struct hp3_qp_event){
		.source = p->pairing == HP3_PAIRING_CM ? HP3_QP_SOURCE_CM : HP3_QP_SOURCE_KERNEL,
		.lqpn = p->lqpn,
		.psn = p->psn,
		.psn_known = p->psn != HP3_NO_PSN};
	hp3_pending_setup_drop(t->e, flow);
	hp3_flow_epoch(t, flow, true);
	pair_flow(t, flow, &next, false);
}

/* The queue pair whose set-up waits has ended: the next packets are from another one. */
static void drop_setup(struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event)
{
	if (event->source != HP3_QP_SOURCE_LIBRARY)
		hp3_pending_setup_ended(t->e, flow, event->lqpn);
}

static void apply_end(struct hp3_turn *t, uint32_t flow, const struct hp3_qp_event *event)
{
	drop_setup(t, flow, event);
	if (!rights_of_event(t, flow, event).down) {
		t->e->stats.setups_ignored++;
		return;
	}
	if (!put_off(t, flow))
		end_flow(t, flow);
}

/* Connection management has ended it. Sprayed packets are resequenced until they have arrived. */
void hp3_qp_disconnected(struct hp3_turn *t, uint32_t flow)
{
	if (!hp3_spray_is_under_way(t, flow) || !put_off(t, flow))
		hp3_flow_over(t, flow);
}

/*
 * False: a set-up of the same local queue pair goes on waiting while nothing is in flight, until
 * the next packet.
 */
static bool is_wanted(const struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_pending *p = hp3_pending_next(e, flow);

	return p == NULL || p->lqpn != e->flows[flow].lqpn ||
	       !hp3_stream_idle(&e->flows[flow].stream);
}

bool hp3_qp_end_is_due(const struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	return hp3_pending_end(e, flow, 0) && !hp3_flow_is_under_way(e, flow, now) &&
	       is_wanted(e, flow);
}

void hp3_qp_ended(struct hp3_turn *t, uint32_t flow)
{
	if (!hp3_pending_end(t->e, flow, 0))
		return;
	if (is_wanted(t->e, flow) && (!hp3_flow_keeps_its_place(t->e, flow) ||
					     !hp3_flow_is_under_way(t->e, flow, t->now)))
		end_flow(t, flow);
	else
		hp3_spray_down(t, flow);
}

/* Records that any local process can create have a quota. */
static uint32_t add_reported_flow(struct hp3_turn *t, const struct hp3_qp_event *event)
{
	if (event->source == HP3_QP_SOURCE_LIBRARY)
		return hp3_flow_announce(t, HP3_ENDS(event), event->rqpn, HP3_FROM_LIBRARY);
	return hp3_flow_add(t, HP3_ENDS(event), event->rqpn);
}

int hp3_qp(
	struct hp3_engine *e, const struct hp3_qp_event *event, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	uint32_t flow = hp3_flow_find(e, HP3_ENDS(event), event->rqpn);

	if (event->psn > HP3_PSN_MASK || event->lqpn > HP3_QPN_MASK || event->rqpn > HP3_QPN_MASK ||
		event->source == HP3_QP_SOURCE_NONE || event->source >= HP3_QP_SOURCES)
		return -EINVAL;
	if (flow != HP3_NO_FLOW && hp3_flow_has_paused(e, flow, now)) {
		hp3_qp_ended(&t, flow);
		flow = hp3_flow_find(e, HP3_ENDS(event), event->rqpn);
	}
	if (event->kind == HP3_QP_DOWN) {
		if (event->source != HP3_QP_SOURCE_LIBRARY)
			hp3_cm_forget(e, event);
		if (flow != HP3_NO_FLOW)
			apply_end(&t, flow, event);
		return 0;
	}
	if (flow == HP3_NO_FLOW)
		flow = add_reported_flow(&t, event);
	return flow == HP3_NO_FLOW ? -ENOSPC : apply_setup(&t, flow, event);
}

void hp3_noted_began(struct hp3_turn *t, uint32_t flow, uint32_t psn)
{
	const struct hp3_pending *p = hp3_pending_of(t->e, flow);

	if (p == NULL || p->pairing == HP3_PAIRING_NONE ||
		(p->psn != psn && p->psn != HP3_NO_PSN) ||
		(t->e->flows[flow].flags & HP3_FF_PAIRED))
		return;
	if (!p->contested)
		hp3_flow_pair(t, flow, p->lqpn, (enum hp3_pairing)p->pairing);
	hp3_pending_setup_drop(t->e, flow);
}

/* No packet has left on the port that was chosen for it. */
static void undo_placement(struct hp3_turn *t, uint32_t flow, uint16_t home)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_event *event = hp3_event(t, flow, HP3_EVENT_IDLE_SWITCH);

	f->home = home;
	hp3_set_port(t->e, f, home);
	event->to = home;
}

void hp3_check_begin(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_began *began = &t->e->began[flow];

	hp3_announced_end(t->e, flow);
	if (began->psn == HP3_NO_PSN || began->psn == v->psn)
		return;
	t->e->stats.setups_ignored++;
	began->psn = HP3_NO_PSN;
	if (f->state == HP3_RFR_SEARCHING)
		hp3_search_input(t, &t->e->moves[f->slot], HP3_SEARCH_IN_STAY);
	if (f->pairing == HP3_PAIRING_EVENT) /* both ends agreed by connection management */
		hp3_flow_unpair(t, flow);
	if ((f->flags & (HP3_FF_FRESH | HP3_FF_MOVED)) == (HP3_FF_FRESH | HP3_FF_MOVED))
		undo_placement(t, flow, v->sport);
}
