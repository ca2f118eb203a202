/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out the actions of rfr/transitions.h: how a move begins, closes the old path, and ends.
 */
#include "engine/moves/moves.h"

#define LOSSY_DRAIN 4u /* round trips */

void hp3_set_port(struct hp3_engine *e, struct hp3_flow *f, uint16_t port)
{
	e->nmoved -= !!(f->flags & HP3_FF_MOVED);
	f->port = port;
	f->flags &= (uint16_t)~HP3_FF_MOVED;
	if (port != f->home)
		f->flags |= HP3_FF_MOVED;
	e->nmoved += !!(f->flags & HP3_FF_MOVED);
}

static void act_at_once(struct hp3_turn *t, const struct hp3_move *m)
{
	struct hp3_act *a = hp3_act(t, HP3_ACT_MOVE, m->flow);

	a->port = m->to;
	a->op = m->search.kind == HP3_SEARCH_DEAD ? HP3_MOVE_DEAD : 0;
}

/* Ends everything that was attributed to the old path. */
static void take_new_path(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];
	struct hp3_losses *l = hp3_losses_find(t->e, flow);
	bool active = f->path != HP3_NO_PATH;
	uint32_t first = m->t_close != 0 ? m->closing.end : hp3_stream_end(&f->stream);

	hp3_cnps_end(t, m, true);
	hp3_path_leave(t->e, flow, t->now);
	hp3_set_port(t->e, f, m->to);
	if (active)
		hp3_path_enter(t->e, flow, t->now);
	if (m->use & HP3_USE_REPROBE)
		hp3_slot_drop(t->e, flow, HP3_USE_REPROBE);
	f->flags &= (uint16_t)~HP3_FF_SEVERE;
	f->flags |= HP3_FF_FRESH;
	if (m->t_close == 0)
		hp3_outcome_prepare(t, m);
	if (f->flags & HP3_FF_PAIRED) /* else it was only set up, and has no monitor */
		hp3_monitor_moved(&f->monitor);
	if (l != NULL)
		l->level = l->cycles = l->tries = 0;
	hp3_shield_switch(&m->shield, first, m->search.kind != HP3_SEARCH_DEAD,
		t->e->cfg.cc.max_rtt_ns, t->now);
	if (f->moves < UINT8_MAX)
		f->moves++;
	if (m->t_close == 0)
		hp3_rate_suspend(t, flow);
	hp3_rate_raise(t, flow);
	if (t->e->cfg.verbs && !m->suspended) /* at set-up, or off a dead path: at once */
		act_at_once(t, m);
}

/* Leaves a dead path at once. Held and new packets wait for the RNIC to go back. */
static void fail_over(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];

	m->search.dead.resume = f->stream.una;
	take_new_path(t, flow);
	hp3_slot_timer(t->e, m, &m->move_at, t->now + t->e->cfg.close_timeout_ns);
	if (m->held_pkts != 0)
		hp3_rate_schedule(t, flow); /* packets that waited for the pacer go on waiting */
	t->e->stats.failovers++;
}

/* A drain of a sprayed queue pair, which stays on its port (hp3_move_drain()). */
static bool is_same_port(const struct hp3_move *m)
{
	return m->search.cause == HP3_CAUSE_SPRAY;
}

void hp3_move_suspend(struct hp3_turn *t, struct hp3_move *m)
{
	static const uint8_t kind_of[] = {[HP3_PEER_HOLD_NONE] = HP3_SUSPEND_TO_MOVE,
		[HP3_PEER_HOLD_GRANTED] = HP3_SUSPEND_PEER_HELD,
		[HP3_PEER_HOLD_HOLDS] = HP3_SUSPEND_FOR_PEER};
	struct hp3_act *act = hp3_act(t, HP3_ACT_SUSPEND, m->flow);

	m->suspended = true;
	act->port = m->from;
	act->op = kind_of[m->peer_hold.state];
	act->count = hp3_peer_hold_ms(m);
}

static enum hp3_event_type event_type(enum hp3_rfr_action action, const struct hp3_move *m)
{
	switch (action) {
	case HP3_RFR_DO_DISCARD:
		return HP3_EVENT_EPOCH;
	case HP3_RFR_DO_RECOVER:
		return HP3_EVENT_RECOVER;
	case HP3_RFR_DO_SUPERSEDE:
		return is_same_port(m) ? HP3_EVENT_RECOVER : HP3_EVENT_RESUME;
	case HP3_RFR_DO_RESUME:
		return HP3_EVENT_RESUME;
	default:
		return m->t_close == 0 ? HP3_EVENT_IDLE_SWITCH : HP3_EVENT_SWITCH;
	}
}

struct hp3_event *hp3_move_event(
	struct hp3_turn *t, const struct hp3_move *m, enum hp3_event_type type)
{
	struct hp3_event *event = hp3_event(t, m->flow, type);

	event->cause = m->search.cause;
	event->from = m->from;
	event->to = m->to;
	event->n_cycles = m->search.n_cycles;
	memcpy(event->cycles, m->search.cycles, sizeof(event->cycles));
	return event;
}

static uint64_t report_move(
	struct hp3_turn *t, uint32_t flow, enum hp3_rfr_action action, enum hp3_rfr_input input)
{
	const struct hp3_move *m = &t->e->moves[t->e->flows[flow].slot];
	struct hp3_event *event = hp3_move_event(t, m, event_type(action, m));

	event->reason = (uint8_t)input;
	event->error = m->error;
	event->wait_ns = (m->t_close != 0 ? m->t_close : t->now) - m->t_ask;
	event->drain_ns = m->t_close != 0 ? t->now - m->t_close : 0;
	event->close_psn = m->closing.psn;
	event->held_pkts = (uint32_t)m->moved_pkts;
	event->held_bytes = m->moved_bytes;
	if (m->search.kind == HP3_SEARCH_OPERATOR)
		event->tag = m->search.operator.tag;
	else if (m->search.kind == HP3_SEARCH_ADVISED)
		event->tag = m->search.advised.tag;
	return event->id;
}

/* The flow stayed because no probe won, and nothing was drained. */
static bool is_fruitless(const struct hp3_move *m, enum hp3_rfr_input input)
{
	return input == HP3_RFR_IN_NO_BETTER && m->t_close == 0;
}

static void count_move(struct hp3_engine *e, enum hp3_rfr_action action, const struct hp3_move *m,
	enum hp3_rfr_input input)
{
	switch (action) {
	case HP3_RFR_DO_SWITCH:
		if (m->t_close == 0)
			e->stats.moves_idle++;
		else
			e->stats.moves_switched++;
		break;
	case HP3_RFR_DO_RECOVER:
		if (is_fruitless(m, input))
			e->stats.searches_fruitless++;
		else
			e->stats.moves_recovered += m->search.cause != HP3_CAUSE_PEER;
		break;
	case HP3_RFR_DO_DISCARD:
		e->stats.moves_discarded++;
		break;
	default:
		e->stats.moves_recovered += is_same_port(m);
		e->stats.resumed += !is_same_port(m);
		break;
	}
}

/* A message that waited leaves on the port in use, whose answer came first. */
static bool is_clear(const struct hp3_search *d)
{
	return d->kind == HP3_SEARCH_MESSAGE_START && d->start.clear;
}

static void end_move(
	struct hp3_turn *t, uint32_t flow, enum hp3_rfr_action action, enum hp3_rfr_input input)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];
	bool switched = action == HP3_RFR_DO_SWITCH;
	uint64_t id;

	if (action != HP3_RFR_DO_DISCARD)
		hp3_cnps_end(t, m, switched);

	if (switched)
		take_new_path(t, flow);
	else if (action == HP3_RFR_DO_RECOVER && is_clear(&m->search))
		hp3_rate_raise(t, flow);
	else if (action == HP3_RFR_DO_RECOVER && m->t_close != 0)
		hp3_rate_rollback(t, flow);
	m->search.state = hp3_search_step(m->search.kind, m->search.state, HP3_SEARCH_IN_OVER).next;
	count_move(t->e, action, m, input);
	if (action == HP3_RFR_DO_DISCARD || action == HP3_RFR_DO_SUPERSEDE)
		hp3_hold_discard(t, flow);
	else if (!(f->flags & HP3_FF_PACED))
		hp3_hold_release(t, flow, UINT32_MAX, 0);
	if (m->suspended && action == HP3_RFR_DO_RECOVER)
		hp3_act(t, HP3_ACT_RESUME, flow)->port = m->from;
	hp3_peer_hold_end(t, m, switched);
	id = report_move(t, flow, action, input);
	hp3_search_settle(t, m, switched || event_type(action, m) == HP3_EVENT_RESUME);
	if (switched)
		hp3_outcome_watch(t, flow, id);
	m->backlog = m->held_pkts;
	if (m->held_pkts != 0)
		hp3_rate_schedule(t, flow);
	hp3_search_release(t->e, m, m->held_pkts == 0 ? HP3_USE_PACE : 0);
}

/*
 * A flow leaves a lossy path while the RNIC retransmits, so retransmissions must not end the move.
 * Nothing is held yet, and the closing packet will leave behind all retransmissions (rule 7).
 */
static bool is_expected(
	const struct hp3_engine *e, const struct hp3_flow *f, enum hp3_rfr_input input)
{
	if (input != HP3_RFR_IN_TX_RETRANSMIT && input != HP3_RFR_IN_NAK)
		return false;
	if (f->state == HP3_RFR_CLOSING)
		return hp3_search_is_lossy(&e->moves[f->slot].search);
	return f->state == HP3_RFR_DRAINING && is_same_port(&e->moves[f->slot]);
}

/*
 * A drain of a sprayed queue pair goes on while the RNIC retransmits: retransmissions pass, and
 * held packets follow once all before them has arrived. If the RNIC sends the first held packet
 * again, it sends all of them again (go-back-N), and the held ones are dropped. If it sends a later
 * one again (selective repeat), the drain ends, and the held packets leave first.
 */
void hp3_move_again(struct hp3_turn *t, uint32_t flow, uint32_t psn)
{
	struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_move *m;
	int32_t ahead;

	if (f->state != HP3_RFR_DRAINING || !is_same_port(&t->e->moves[f->slot])) {
		hp3_move_input(t, flow, HP3_RFR_IN_TX_RETRANSMIT);
		return;
	}
	m = &t->e->moves[f->slot];
	ahead = m->head != 0 ? hp3_psn_diff(psn, t->e->held[m->head].psn) : -1;
	if (ahead == 0)
		hp3_move_input(t, flow, HP3_RFR_IN_TX_AGAIN);
	else if (ahead > 0)
		hp3_move_input(t, flow, HP3_RFR_IN_CANCEL);
}

enum hp3_rfr_action hp3_move_input(struct hp3_turn *t, uint32_t flow, enum hp3_rfr_input input)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_rfr_step step;

	if (is_expected(t->e, f, input))
		return HP3_RFR_DO_NONE;
	step = hp3_rfr_step(f->state, input);
	t->e->nmoving += (step.next != HP3_RFR_STEADY) - (f->state != HP3_RFR_STEADY);
	f->state = step.next;
	switch ((enum hp3_rfr_action)step.action) {
	case HP3_RFR_DO_SWITCH:
	case HP3_RFR_DO_RECOVER:
	case HP3_RFR_DO_DISCARD:
	case HP3_RFR_DO_SUPERSEDE:
	case HP3_RFR_DO_RESUME:
		end_move(t, flow, step.action, input);
		break;
	case HP3_RFR_DO_FAILOVER:
		fail_over(t, flow);
		break;
	default:
		break;
	}
	return step.action;
}

/*
 * A lossy path may lose the closing packet, too. No packet follows it there, so the receiver sends
 * no NAK, and a long time limit would stall the flow.
 */
static uint64_t time_to_drain(const struct hp3_engine *e, const struct hp3_move *m)
{
	uint64_t rtts = (uint64_t)m->search.before.rtt_ns * LOSSY_DRAIN;

	if (!hp3_search_is_lossy(&m->search) || rtts == 0)
		return e->cfg.max_hold_ns;
	return hp3_min_u64(rtts, e->cfg.max_hold_ns);
}

void hp3_move_close(struct hp3_turn *t, uint32_t flow, uint32_t psn, uint32_t end)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];
	struct hp3_event *event;

	m->closing = (struct hp3_closing){.psn = psn, .end = end};
	m->t_close = t->now;
	hp3_outcome_prepare(t, m);
	f->mark_psn = psn;
	f->flags |= HP3_FF_CLOSE_ACK;
	hp3_slot_timer(t->e, m, &m->move_at, t->now + time_to_drain(t->e, m));
	hp3_cnps_wait(t->e, m, UINT64_MAX);
	hp3_rate_suspend(t, flow);
	event = hp3_move_event(t, m, HP3_EVENT_SUSPEND);
	event->close_psn = psn;
	event->wait_ns = t->now - m->t_ask;
}
