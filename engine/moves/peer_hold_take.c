/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the peer about holds (peer_hold.h). */
#include <errno.h>
#include "engine/moves/moves.h"

/* HELD: the peer's queue pair is held, or the peer refuses. */
static void take_held(struct hp3_turn *t, struct hp3_move *m, const struct hp3_agree *a)
{
	struct hp3_peer_hold *p = &m->peer_hold;
	uint64_t from = a->turn == p->turn ? p->asked_last : p->asked;

	if (p->state != HP3_PEER_HOLD_ASKED || a->number != p->number)
		return;
	p->until = from + hp3_min_u64((uint64_t)a->keepalive_us * 1000u, HP3_PEER_HOLD_LONGEST_NS);
	if (a->keepalive_us == 0 || t->now + p->change > p->until) {
		m->error = EPERM;
		hp3_move_input(t, m->flow, HP3_RFR_IN_CANCEL);
		return;
	}
	p->state = HP3_PEER_HOLD_GRANTED;
	hp3_slot_timer(t->e, m, &m->move_at, p->until);
	hp3_move_suspend(t, m);
}

static void begin_hold(struct hp3_turn *t, struct hp3_move *m, const struct hp3_agree *a)
{
	uint64_t change = hp3_peer_hold_change_ns(t->e);

	m->search.cause = HP3_CAUSE_PEER;
	m->peer_hold = (struct hp3_peer_hold){.state = HP3_PEER_HOLD_HOLDS,
		.number = a->number,
		.turn = a->turn,
		.asked = t->now,
		.change = change,
		.until = t->now + HP3_PEER_HOLDS * change};
	t->e->pairs.pairs[t->e->flows[m->flow].pair].nholds++;
	t->e->stats.peer_holds++;
	hp3_search_input(t, m, HP3_SEARCH_IN_GO);
	hp3_slot_timer(t->e, m, &m->move_at, m->peer_hold.until);
}

/* One peer must not take the slots that moves to other peers need. */
static bool is_below_share(const struct hp3_turn *t, const struct hp3_flow *f)
{
	return t->e->pairs.pairs[f->pair].nholds <
	       hp3_max_u32(t->e->cfg.max_moves / HP3_PEER_HOLD_SHARE, 1u);
}

/* HOLD arrives, for the first time or again. */
static void take_hold(struct hp3_turn *t, uint32_t flow, const struct hp3_agree *a)
{
	const struct hp3_ends *ends = HP3_ENDS(&t->e->pairs.pairs[t->e->flows[flow].pair]);
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = f->slot == HP3_NO_SLOT ? NULL : &t->e->moves[f->slot];

	if (m != NULL && m->peer_hold.state == HP3_PEER_HOLD_HOLDS &&
		m->peer_hold.number == a->number) {
		m->peer_hold.turn = a->turn;
		hp3_peer_hold_answer(t, m);
		return;
	}
	m = hp3_peer_rest_allows(t, flow, a->number) && is_below_share(t, f) &&
			    hp3_move_is_possible(t->e, f)
		    ? hp3_search_prepare(t, flow, HP3_SEARCH_OPERATOR)
		    : NULL;
	if (m == NULL)
		hp3_peer_hold_refuse(t, ends, a);
	else
		begin_hold(t, m, a);
}

void hp3_peer_hold_received(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a)
{
	bool answer = a->kind == HP3_AGREE_HELD;
	uint32_t theirs = answer ? a->requester : a->responder;
	uint32_t ours = answer ? a->responder : a->requester;
	uint32_t flow = t->e->cfg.verbs ? hp3_flow_at(t->e, ends, theirs, HP3_DIR_TX) : HP3_NO_FLOW;
	struct hp3_flow *f = flow == HP3_NO_FLOW ? NULL : &t->e->flows[flow];
	struct hp3_move *m;

	if (f == NULL || !(f->flags & HP3_FF_PAIRED) || f->lqpn != ours) {
		if (a->kind == HP3_AGREE_HOLD)
			hp3_peer_hold_refuse(t, ends, a);
		return;
	}
	m = f->slot == HP3_NO_SLOT ? NULL : &t->e->moves[f->slot];
	if (a->kind == HP3_AGREE_HOLD)
		take_hold(t, flow, a);
	else if (m != NULL && answer)
		take_held(t, m, a);
	else if (m != NULL && m->peer_hold.state == HP3_PEER_HOLD_HOLDS &&
		 m->peer_hold.number == a->number)
		hp3_move_input(t, flow, HP3_RFR_IN_CANCEL);
	else if (a->kind == HP3_AGREE_CONTINUE)
		hp3_peer_rest_note(t->e, flow, a->number);
}
