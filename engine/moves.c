/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries out what the transition table of rfr says: slots, deadlines, hold accounting, events. */
#include "engine/internal.h"
#include <errno.h>

#define RANDOM_PORT_MIN 0xc000u /* where RNICs put their source ports; 16,384 of them */
#define RANDOM_PORTS    0x4000u

static uint16_t take_slot(struct hp3_engine *e)
{
	uint16_t slot = e->slots[e->nmoves];

	e->moves[slot].active = (uint16_t)e->nmoves++;
	return slot;
}

static void free_slot(struct hp3_engine *e, uint16_t slot)
{
	uint16_t at = e->moves[slot].active, last = e->slots[--e->nmoves];

	e->slots[at] = last;
	e->moves[last].active = at;
	e->slots[e->nmoves] = slot;
}

void hp3_move_deadline(struct hp3_engine *e, struct hp3_move *m, uint64_t t)
{
	m->deadline = t;
	if (t < e->move_due)
		e->move_due = t;
}

static void set_port(struct hp3_engine *e, struct hp3_flow *f, uint16_t port)
{
	e->nmoved -= !!(f->flags & HP3_FF_MOVED);
	f->port = port;
	f->flags &= (uint16_t)~HP3_FF_MOVED;
	if (port != f->home)
		f->flags |= HP3_FF_MOVED;
	e->nmoved += !!(f->flags & HP3_FF_MOVED);
}

static enum hp3_event_type event_type(
	enum hp3_rfr_action action, enum hp3_rfr_input input, const struct hp3_move *m)
{
	if (action == HP3_RFR_DO_DISCARD)
		return HP3_EV_EPOCH;
	if (action == HP3_RFR_DO_RECOVER)
		return HP3_EV_RECOVER;
	return m->t_close == 0 ? HP3_EV_IDLE_SWITCH : HP3_EV_SWITCH;
}

/* A move of our own is over: how long until the flow may be looked after again. */
static void settle_sought(struct hp3_engine *e, struct hp3_flow *f, const struct hp3_move *m,
	enum hp3_rfr_action action, uint64_t now)
{
	e->pairs.pairs[f->pair].nmoves--;
	if (action == HP3_RFR_DO_SWITCH) {
		f->backoff = (struct hp3_backoff){.until = (now + e->cfg.cooldown_ns) >> 6};
		hp3_monitor_offer_base(&f->monitor, m->round.probe[m->round.winner].rtt_ns);
	} else {
		hp3_backoff_fruitless(
			&f->backoff, &e->cfg.round, (uint32_t)hp3_random(&e->rng), now);
	}
}

static void end_move(struct hp3_engine *e, uint32_t flow, enum hp3_rfr_action action,
	enum hp3_rfr_input input, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = &e->moves[f->slot];
	uint16_t slot = f->slot;
	struct hp3_act *a;

	switch (action) {
	case HP3_RFR_DO_SWITCH:
		set_port(e, f, m->to);
		f->flags &= (uint16_t)~HP3_FF_SEVERE;
		f->flags |= HP3_FF_FRESH;
		hp3_monitor_moved(&f->monitor);
		if (f->moves < UINT16_MAX)
			f->moves++;
		if (m->t_close == 0)
			e->stats.moves_idle++;
		else
			e->stats.moves_switched++;
		break;
	case HP3_RFR_DO_RECOVER:
		e->stats.moves_recovered++;
		break;
	default:
		e->stats.moves_discarded++;
		break;
	}
	if (m->held_pkts > 0) {
		a = hp3_act(acts, action == HP3_RFR_DO_DISCARD ? HP3_ACT_DISCARD : HP3_ACT_RELEASE,
			flow);
		a->slot = slot;
		a->port = action == HP3_RFR_DO_SWITCH ? m->to : m->from;
		e->hold_packets -= m->held_pkts;
		e->hold_bytes -= m->held_bytes;
	}
	a = hp3_act(acts, HP3_ACT_EVENT, flow);
	a->slot = slot;
	a->event = (struct hp3_event){
		.t_ns = now,
		.type = (uint8_t)event_type(action, input, m),
		.cause = m->cause,
		.reason = (uint8_t)input,
		.pairing = f->pairing,
		.from = m->from,
		.to = m->to,
		.flow = flow,
		.rqpn = f->rqpn,
		.lqpn = f->lqpn,
		.pair = f->pair,
		.wait_ns = (m->t_close != 0 ? m->t_close : now) - m->t_ask,
		.drain_ns = m->t_close != 0 ? now - m->t_close : 0,
		.close_psn = m->closing.psn,
		.held_pkts = m->held_pkts,
		.held_bytes = m->held_bytes,
		.tag = m->tag,
	};
	if (m->sought)
		settle_sought(e, f, m, action, now);
	f->slot = HP3_NO_SLOT;
	free_slot(e, slot);
}

enum hp3_rfr_action hp3_move_input(struct hp3_engine *e, uint32_t flow, enum hp3_rfr_input input,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_rfr_step step = hp3_rfr_step(f->state, input);

	f->state = step.next;
	if (step.action == HP3_RFR_DO_SWITCH || step.action == HP3_RFR_DO_RECOVER ||
		step.action == HP3_RFR_DO_DISCARD)
		end_move(e, flow, step.action, input, now, acts);
	return step.action;
}

/* The newest packet of the stream closes the old path. */
void hp3_move_close(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = &e->moves[f->slot];

	m->closing = (struct hp3_closing){.psn = f->stream.hi, .end = hp3_stream_end(&f->stream)};
	m->t_close = now;
	f->mark_psn = f->stream.hi;
	f->flags |= HP3_FF_CLOSE_ACK;
	hp3_move_deadline(e, m, now + e->cfg.max_hold_ns);
}

bool hp3_move_hold(struct hp3_engine *e, uint32_t flow, uint32_t len)
{
	struct hp3_move *m = &e->moves[e->flows[flow].slot];

	if (m->held_bytes + len > e->cfg.hold_bytes ||
		e->hold_bytes + len > e->cfg.hold_bytes_total ||
		e->hold_packets >= e->cfg.hold_packets)
		return false;
	m->held_pkts++;
	m->held_bytes += len;
	e->hold_packets++;
	e->hold_bytes += len;
	e->stats.held_packets++;
	e->stats.held_bytes += len;
	return true;
}

/*
 * Which input a wish to move is. Idle must be proven by a reply with a right ICRC, with nothing
 * sent again since (rule 7). The newest packet can close if it is a first transmission that will be
 * answered, and is not yet.
 */
static enum hp3_rfr_input wish(const struct hp3_flow *f)
{
	bool idle = hp3_stream_idle(&f->stream);

	if (idle && (f->flags & HP3_FF_IDLE_PROOF))
		return HP3_RFR_IN_MOVE_IDLE;
	if (!idle && (f->flags & HP3_FF_LAST_CLOSE))
		return HP3_RFR_IN_MOVE_CLOSED;
	return HP3_RFR_IN_MOVE;
}

struct hp3_move *hp3_move_slot(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m;

	if (e->nmoves == e->cfg.max_moves)
		return NULL;
	f->slot = take_slot(e);
	m = &e->moves[f->slot];
	*m = (struct hp3_move){
		.flow = flow, .from = hp3_flow_port(f), .active = m->active, .t_ask = now};
	return m;
}

/* The target is known: close the old path, or switch at once. */
void hp3_move_start(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];

	hp3_move_deadline(e, &e->moves[f->slot], now + e->cfg.close_timeout_ns);
	if (hp3_move_input(e, flow, wish(f), now, acts) == HP3_RFR_DO_BEHIND)
		hp3_move_close(e, flow, now);
}

int hp3_move_begin(struct hp3_engine *e, uint32_t flow, const struct hp3_cmd *cmd, uint16_t to,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_move *m = hp3_move_slot(e, flow, now);

	if (m == NULL)
		return -ENOSPC;
	m->to = to;
	m->cause = cmd->cause;
	m->tag = cmd->tag;
	hp3_move_start(e, flow, now, acts);
	return 0;
}

static uint16_t random_port(struct hp3_engine *e, const struct hp3_flow *f)
{
	uint16_t port;

	do {
		port = (uint16_t)(RANDOM_PORT_MIN + hp3_random_below(&e->rng, RANDOM_PORTS));
	} while (port == hp3_flow_port(f));
	return port;
}

int hp3_command(
	struct hp3_engine *e, const struct hp3_cmd *cmd, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f;
	uint16_t to;
	int ret = 0;

	if (cmd->flow >= e->cfg.max_flows || !(e->flows[cmd->flow].flags & HP3_FF_USED))
		return -ENOENT;
	f = &e->flows[cmd->flow];
	if (cmd->kind == HP3_CMD_CANCEL) {
		hp3_move_input(e, cmd->flow, HP3_RFR_IN_CANCEL, now, acts);
		return 0;
	}
	e->stats.moves_asked++;
	to = cmd->kind == HP3_CMD_HOME ? f->home : cmd->port;
	if (to == 0 && cmd->kind == HP3_CMD_MOVE)
		to = random_port(e, f);
	if (cmd->kind == HP3_CMD_MOVE && (!e->cfg.moves_allowed || e->pairs.pairs[f->pair].pinned))
		ret = -EPERM;
	else if (!(f->flags & HP3_FF_PAIRED))
		ret = -ENOLINK;
	else if (f->state != HP3_RFR_STEADY)
		ret = -EBUSY;
	else if (f->flags & HP3_FF_RNR)
		ret = -EAGAIN;
	else if (!(f->flags & HP3_FF_STARTED))
		ret = -ENODATA;
	else if (to == hp3_flow_port(f))
		ret = -EALREADY;
	else
		ret = hp3_move_begin(e, cmd->flow, cmd, to, now, acts);
	if (ret != 0)
		e->stats.moves_refused++;
	return ret;
}

const char *hp3_command_error(int err)
{
	switch (-err) {
	case ENOENT:
		return "no such flow: it never sent, or was idle and aged out; list flows again";
	case EPERM:
		return "moves are off (policy mode) or the flow is immovable (IP fragments seen)";
	case ENOLINK:
		return "not paired with its replies yet: try again when the flow has sent some "
		       "more";
	case EBUSY:
		return "a move of this flow is under way: wait for its event";
	case EAGAIN:
		return "the receiver is not ready (RNR NAK pending): try again when it has "
		       "recovered";
	case ENODATA:
		return "no data packet was seen yet: nothing is known about its port";
	case EALREADY:
		return "the flow is on that port already";
	case ENOSPC:
		return "too many moves at a time: raise max_moves in [rfr] or wait";
	default:
		return "unknown error";
	}
}

void hp3_move_timeouts(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts)
{
	uint64_t due = UINT64_MAX;

	if (now < e->move_due)
		return;
	for (uint32_t i = 0; i < e->nmoves;) {
		struct hp3_move *m = &e->moves[e->slots[i]];

		if (m->deadline > now) {
			if (m->deadline < due)
				due = m->deadline;
			i++;
			continue;
		}
		if (acts->n + 4 > HP3_ACTS_MAX) {
			acts->more = true;
			return;
		}
		if (m->seeking)
			hp3_seek_timeout(e, m, now, acts);
		else
			hp3_move_input(e, m->flow, HP3_RFR_IN_TIMEOUT, now, acts);
	}
	e->move_due = due;
}
