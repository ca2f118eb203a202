/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of operators, and reports of actuators that carry out moves. */
#include <errno.h>
#include "engine/moves/moves.h"

static uint16_t random_port(struct hp3_engine *e, const struct hp3_flow *f)
{
	struct hp3_paths *t = e->paths != NULL ? &e->paths[f->pair] : NULL;
	bool listed = t != NULL && e->pairs.pairs[f->pair].paths_ready && t->n_ports > 1;
	uint16_t port;

	do {
		port = listed ? hp3_paths_draw(t) : hp3_random_port(&e->rng);
	} while (port == hp3_flow_port(f));
	return port;
}

static int begin_operator_move(struct hp3_turn *t, const struct hp3_cmd *cmd, uint16_t to)
{
	struct hp3_move *m = hp3_search_prepare(t, cmd->flow, HP3_SEARCH_OPERATOR);

	if (m == NULL)
		return -ENOSPC;
	m->to = to;
	m->search.cause = cmd->cause;
	m->search.operator.tag = cmd->tag;
	hp3_search_input(t, m, HP3_SEARCH_IN_GO);
	return 0;
}

/*
 * The flow has sent nothing since it was placed, restored or began anew, so nothing is in flight.
 */
static bool is_past(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	uint32_t idle = (uint32_t)(now >> HP3_TICK_SHIFT) - f->last;

	return !e->cfg.verbs && (f->flags & (HP3_FF_STARTED | HP3_FF_MOVED)) == HP3_FF_MOVED &&
	       f->state == HP3_RFR_STEADY &&
	       (uint64_t)idle << HP3_TICK_SHIFT > e->cfg.round.guard_ns;
}

static void put_home(struct hp3_turn *t, const struct hp3_cmd *cmd)
{
	struct hp3_flow *f = &t->e->flows[cmd->flow];
	struct hp3_event *event = hp3_event(t, cmd->flow, HP3_EVENT_IDLE_SWITCH);

	event->cause = cmd->cause;
	event->tag = cmd->tag;
	event->to = f->home;
	hp3_set_port(t->e, f, f->home);
}

/* Reasons that prevent any move, also one home. */
static int not_now(const struct hp3_engine *e, const struct hp3_flow *f, uint16_t to)
{
	if (!(f->flags & HP3_FF_PAIRED))
		return -ENOLINK;
	if (f->state != HP3_RFR_STEADY ||
		(f->slot != HP3_NO_SLOT && e->moves[f->slot].backlog != 0))
		return -EBUSY; /* a flow waits for one move at a time (rule 14) */
	if (f->flags & HP3_FF_RNR)
		return -EAGAIN;
	if (!(f->flags & HP3_FF_STARTED) || to == 0)
		return -ENODATA;
	return to == hp3_flow_port(f) ? -EALREADY : 0;
}

bool hp3_move_is_possible(const struct hp3_engine *e, const struct hp3_flow *f)
{
	int error = not_now(e, f, hp3_flow_port(f) | 1u);

	return error == 0 || error == -EALREADY;
}

int hp3_move_refusal(
	const struct hp3_engine *e, const struct hp3_flow *f, uint16_t to, uint64_t now)
{
	if (!e->cfg.moves_allowed || hp3_is_pinned(&e->pairs.pairs[f->pair], now))
		return -EPERM;
	return hp3_flow_bar(e, f) != HP3_BAR_NONE ? -EACCES : not_now(e, f, to);
}

void hp3_move_drain(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_cmd stay = {.flow = flow, .cause = HP3_CAUSE_SPRAY};
	struct hp3_flow *f = &t->e->flows[flow];
	uint16_t port = hp3_flow_port(f);

	if (not_now(t->e, f, port) == -EALREADY &&
		!hp3_is_pinned(&t->e->pairs.pairs[f->pair], t->now))
		begin_operator_move(t, &stay, port);
}

int hp3_command(
	struct hp3_engine *e, const struct hp3_cmd *cmd, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	struct hp3_flow *f;
	uint16_t to;
	int ret;

	if (cmd->flow >= e->cfg.max_flows || !(e->flows[cmd->flow].flags & HP3_FF_USED))
		return -ENOENT;
	f = &e->flows[cmd->flow];
	if (cmd->kind == HP3_CMD_CANCEL) {
		if (f->slot == HP3_NO_SLOT || !hp3_peer_hold_is_promised(&e->moves[f->slot]))
			hp3_move_input(&t, cmd->flow, HP3_RFR_IN_CANCEL);
		return 0;
	}
	e->stats.moves_requested++;
	if (cmd->kind == HP3_CMD_HOME && is_past(e, f, now)) {
		put_home(&t, cmd);
		return 0;
	}
	to = cmd->kind == HP3_CMD_HOME ? f->home : cmd->port;
	if (to == 0 && cmd->kind == HP3_CMD_MOVE)
		to = random_port(e, f);
	ret = cmd->kind == HP3_CMD_HOME ? not_now(e, f, to) : hp3_move_refusal(e, f, to, now);
	if (ret == 0)
		ret = begin_operator_move(&t, cmd, to);
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
		return "if the mode is off or observe, type hp3ctl mode on; if it is on, the RNIC "
		       "sent IP fragments: hp3d moves the flow a minute later";
	case EACCES:
		return "[filter] bars it by its peer, DSCP or QPN (hp3ctl why FLOW shows which): "
		       "change [filter], and reload";
	case ENOLINK:
		return "the flow is not paired: hp3ctl why FLOW shows the reason, and what helps";
	case EBUSY:
		return "a move of this flow is under way, or its packets still wait for the "
		       "pacer: wait for its event, then try again";
	case EAGAIN:
		return "the receiver is not ready (RNR NAK pending): try again when it has "
		       "recovered";
	case ENODATA:
		return "no data packet was seen yet, so its port is unknown";
	case EALREADY:
		return "the flow is on that port already";
	case EOPNOTSUPP:
		return "advice needs probes, and the peer's hp3d answers none: see probe in "
		       "[ppp], and whether hp3d runs there";
	case EHOSTUNREACH:
		return "the path of that port has failed lately: name another one, or try again "
		       "when it has recovered";
	case EDQUOT:
		return "the result of its last move is not known yet, or searches of flows to "
		       "this peer are under way: wait a second";
	case ENOSPC:
		return "too many moves at a time: wait a second";
	default:
		return "unknown error";
	}
}

/*
 * Verbs mode: the queue pair's own send queue holds the work, so the engine holds nothing. The
 * actuator decides when the queue pair is drained (rules 20 to 22).
 */
static void suspended_flow_drained(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = &t->e->moves[f->slot];

	if (!hp3_peer_hold_lasts(t, m)) {
		m->error = ETIMEDOUT;
		hp3_move_input(t, flow, HP3_RFR_IN_CANCEL);
		return;
	}
	hp3_move_input(t, flow, HP3_RFR_IN_TX_NEW);
	hp3_move_close(t, flow, f->stream.hi, hp3_stream_end(&f->stream));
	if (m->peer_hold.state == HP3_PEER_HOLD_HOLDS)
		hp3_peer_hold_drained(t, m);
	else
		hp3_act(t, HP3_ACT_MOVE, flow)->port = m->to;
}

/* The queue pair goes on sending already. */
static void suspended_flow_failed(struct hp3_turn *t, uint32_t flow, uint16_t error)
{
	struct hp3_move *m = &t->e->moves[t->e->flows[flow].slot];

	if (error == EPERM && hp3_peer_hold_ask(t, m))
		return;
	m->suspended = false;
	m->error = error;
	hp3_move_input(t, flow, HP3_RFR_IN_CANCEL);
}

/*
 * The first port of a queue pair, which the engine does not wait for. hp3_completions() reports the
 * port in use.
 */
static void place_failed(struct hp3_turn *t, uint32_t flow, uint16_t error)
{
	struct hp3_event *event = hp3_event(t, flow, HP3_EVENT_RECOVER);

	event->cause = HP3_CAUSE_SETUP;
	event->reason = HP3_RFR_IN_CANCEL;
	event->error = error;
	event->from = event->to = hp3_flow_port(&t->e->flows[flow]);
	t->e->stats.moves_recovered++;
}

int hp3_actuator(struct hp3_engine *e, uint32_t flow, struct hp3_actuated what, uint64_t now,
	struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	struct hp3_flow *f;
	struct hp3_move *m;

	if (flow >= e->cfg.max_flows || !(e->flows[flow].flags & HP3_FF_USED))
		return -ENOENT;
	f = &e->flows[flow];
	if (!e->cfg.verbs)
		return -EINVAL;
	if (f->state < HP3_RFR_CLOSING && what.report == HP3_ACTUATOR_FAILED && what.error != 0) {
		place_failed(&t, flow, what.error);
		return 0;
	}
	if (f->state < HP3_RFR_CLOSING)
		return -EINVAL;
	m = &e->moves[f->slot];
	if (what.report == HP3_ACTUATOR_DRAINED && f->state == HP3_RFR_CLOSING && m->suspended)
		suspended_flow_drained(&t, flow);
	else if (what.report == HP3_ACTUATOR_MOVED && f->state == HP3_RFR_DRAINING)
		hp3_move_input(&t, flow, HP3_RFR_IN_DRAINED);
	else if (what.report == HP3_ACTUATOR_FAILED && f->state == HP3_RFR_RESUMING) {
		m->error = what.error;
		hp3_move_input(
			&t, flow, HP3_RFR_IN_CANCEL); /* hp3_completions() reports its port */
	} else if (what.report == HP3_ACTUATOR_FAILED && m->suspended)
		suspended_flow_failed(&t, flow, what.error);
	else
		return -EINVAL;
	return 0;
}
