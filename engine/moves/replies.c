/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder stream of a queue pair (rule 12: READ responses, ACKs, NAKs) leaves on the RNIC's
 * port, whose path may be dead, too. It moves in two cases:
 *
 * - The requests of the same queue pair fail over, and requests and replies left on the same port.
 *   Replies move to the new port of the requests.
 * - The peer's hp3d reports that none of these replies arrives, though its probes are answered
 *   (search/dead.c). Then most likely no reply is in flight that a later reply could overtake (rule
 *   13 names the exception).
 *
 * All later replies leave on the new port, until the flow is removed after a long idle time. A host
 * that only responds gets a flow record for this. No packet shows when replies have arrived, so
 * there is no drain back to the home port. When hp3d stops or crashes, replies may be reordered
 * once (rule 11).
 */
#include "engine/moves/moves.h"
#include "engine/part.h"

static void set_port(struct hp3_engine *e, uint32_t flow, uint16_t port)
{
	struct hp3_reply *r = &e->replies[flow];

	e->nreplies -= r->port != 0;
	r->port = port;
	e->nreplies += r->port != 0;
}

void hp3_replies_home(struct hp3_engine *e, uint32_t flow)
{
	if (e->replies != NULL)
		set_port(e, flow, 0);
}

static void move_replies(struct hp3_turn *t, uint32_t flow, uint16_t from, uint16_t to)
{
	struct hp3_event *event;

	set_port(t->e, flow, to);
	t->e->replies[flow].moved = t->now;
	t->e->stats.replies_moved++;
	event = hp3_event(t, flow, HP3_EVENT_REPLIES);
	event->cause = HP3_CAUSE_DEAD;
	event->from = from;
	event->to = to;
}

/* The port that replies leave on; 0: not known. */
static uint16_t port_of(const struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_reply *r = &e->replies[flow];

	return r->port != 0 ? r->port : e->flows[flow].home;
}

void hp3_replies_restore(struct hp3_engine *e, uint32_t flow, uint16_t port)
{
	if (e->replies != NULL)
		set_port(e, flow, port);
}

void hp3_replies_follow(struct hp3_turn *t, uint32_t flow, uint16_t from, uint16_t to)
{
	if (t->e->replies != NULL && !t->e->cfg.verbs && port_of(t->e, flow) == from)
		move_replies(t, flow, from, to);
}

/* Another path if paths are known; else another port. */
static uint16_t another_port(struct hp3_turn *t, uint32_t flow, uint16_t from)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_paths *paths = hp3_paths_of(t->e, f->pair);
	uint16_t port = from;
	int at;

	if (from != 0) {
		at = hp3_paths_get(paths, from, f->rqpn, t->now);
		if (at >= 0)
			hp3_paths_lost(paths, at, t->now);
		if (hp3_paths_candidates(paths, f->rqpn, from, &port, 1, t->now) == 1)
			return port;
	}
	while (port == from)
		port = hp3_random_port(&t->e->rng);
	return port;
}

bool hp3_replies_moved(const struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	const struct hp3_reply *r = &e->replies[flow];

	return r->port != 0 && now - r->moved < e->cfg.round.timeout_ns;
}

void hp3_replies_leave(struct hp3_turn *t, uint32_t flow)
{
	uint16_t from = port_of(t->e, flow);

	move_replies(t, flow, from, another_port(t, flow, from));
}

void hp3_reply_reroute(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd)
{
	uint32_t flow = hp3_pkt_flow(e, pkt, HP3_DIR_TX);

	if (flow == HP3_NO_FLOW || e->replies[flow].port == 0)
		return;
	e->flows[flow].last = (uint32_t)(now >> HP3_TICK_SHIFT);
	vd->sport = e->replies[flow].port;
}

static void take_replies(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->replies, e->cfg.max_flows);
}

static void init_replies(struct hp3_engine *e)
{
	memset(e->replies, 0, e->cfg.max_flows * sizeof(*e->replies));
}

const struct hp3_part hp3_replies_part = {
	.is_on = hp3_is_probing, .take = take_replies, .init = init_replies};
