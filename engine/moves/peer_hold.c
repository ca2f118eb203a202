/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/moves/peer_hold.h"
#include <errno.h>
#include "base/random.h"
#include "engine/moves/moves.h"

#define HOLD_MS_NS    1000000u
#define HOLD_LEAST_NS (2u * HOLD_MS_NS) /* the actuator counts half of this time in ms */

uint64_t hp3_peer_hold_change_ns(const struct hp3_engine *e)
{
	return hp3_min_u64(hp3_max_u64(e->cfg.max_hold_ns, HOLD_LEAST_NS),
		HP3_PEER_HOLD_LONGEST_NS / HP3_PEER_HOLDS);
}

static uint32_t round_up_to_ms(uint64_t ns)
{
	return (uint32_t)((ns + HOLD_MS_NS - 1u) / HOLD_MS_NS);
}

static void send_message(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *what)
{
	struct hp3_act *a = hp3_act(t, HP3_ACT_AGREE, HP3_NO_FLOW);

	a->agree = (struct hp3_act_agree){.ipv6 = ends->ipv6, .vlan = ends->vlan, .what = *what};
	a->agree.what.evs = 1; /* a message without EVs is malformed */
	a->agree.what.next = HP3_NO_PSN;
	hp3_ends_copy(ends, a->agree.local, a->agree.remote);
}

static void send_to_peer_of(
	struct hp3_turn *t, const struct hp3_move *m, const struct hp3_agree *what)
{
	send_message(t, HP3_ENDS(&t->e->pairs.pairs[t->e->flows[m->flow].pair]), what);
}

/* HOLD and CONTINUE: this queue pair moves, so it is the responder. */
static void send_as_mover(struct hp3_turn *t, const struct hp3_move *m, enum hp3_agree_kind kind)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	const struct hp3_agree what = {.kind = (uint8_t)kind,
		.responder = f->lqpn,
		.requester = f->rqpn,
		.number = m->peer_hold.number,
		.turn = m->peer_hold.turn};

	send_to_peer_of(t, m, &what);
}

/* Returns the lease that remains, and 0 if this queue pair is not held. */
static uint64_t remaining_ns(const struct hp3_turn *t, const struct hp3_move *m)
{
	return t->e->flows[m->flow].state == HP3_RFR_DRAINING && m->peer_hold.until > t->now
		       ? m->peer_hold.until - t->now
		       : 0;
}

static void send_held(struct hp3_turn *t, const struct hp3_move *m, uint64_t lease)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	const struct hp3_agree what = {.kind = HP3_AGREE_HELD,
		.responder = f->rqpn,
		.requester = f->lqpn,
		.number = m->peer_hold.number,
		.turn = m->peer_hold.turn,
		.keepalive_us = (uint32_t)(lease / 1000u)};

	send_to_peer_of(t, m, &what);
}

void hp3_peer_hold_refuse(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *asked)
{
	struct hp3_agree what = *asked;

	what.kind = HP3_AGREE_HELD;
	what.keepalive_us = 0;
	t->e->stats.peer_holds_refused++;
	send_message(t, ends, &what);
}

static void ask_again(struct hp3_turn *t, struct hp3_move *m)
{
	m->peer_hold.turn++;
	m->peer_hold.asked_last = t->now;
	hp3_slot_timer(t->e, m, &m->move_at, t->now + m->peer_hold.change / 2u);
	send_as_mover(t, m, HP3_AGREE_HOLD);
}

bool hp3_peer_hold_ask(struct hp3_turn *t, struct hp3_move *m)
{
	if (m->peer_hold.state != HP3_PEER_HOLD_NONE ||
		t->e->flows[m->flow].state != HP3_RFR_CLOSING)
		return false;
	m->suspended = false;
	m->peer_hold = (struct hp3_peer_hold){.state = HP3_PEER_HOLD_ASKED,
		.number = (uint32_t)hp3_random(&t->e->rng) | 1u,
		.change = hp3_peer_hold_change_ns(t->e),
		.asked = t->now};
	t->e->stats.peer_holds_asked++;
	ask_again(t, m);
	return true;
}

bool hp3_peer_hold_due(struct hp3_turn *t, struct hp3_move *m)
{
	if (m->peer_hold.state != HP3_PEER_HOLD_ASKED)
		return false;
	if (m->peer_hold.turn < HP3_PEER_HOLD_TRIES) {
		ask_again(t, m);
		return true;
	}
	m->error = EPERM;
	return false;
}

bool hp3_peer_hold_lasts(const struct hp3_turn *t, const struct hp3_move *m)
{
	return m->peer_hold.state != HP3_PEER_HOLD_GRANTED ||
	       t->now + m->peer_hold.change <= m->peer_hold.until;
}

uint32_t hp3_peer_hold_ms(const struct hp3_move *m)
{
	if (m->peer_hold.state == HP3_PEER_HOLD_HOLDS)
		return round_up_to_ms(HP3_PEER_HOLDS * m->peer_hold.change);
	return m->peer_hold.state == HP3_PEER_HOLD_GRANTED
		       ? (uint32_t)(m->peer_hold.change / 2u / HOLD_MS_NS)
		       : 0;
}

/*
 * The actuator may be changing the port now, although the engine no longer wants the move. It is
 * not if it has reported that the move failed: `suspended` is false then.
 */
static bool may_change_port(const struct hp3_move *m, bool switched)
{
	bool commanded = m->peer_hold.state == HP3_PEER_HOLD_GRANTED && m->t_close != 0;

	return commanded && m->suspended && !switched;
}

void hp3_peer_hold_end(struct hp3_turn *t, struct hp3_move *m, bool switched)
{
	const bool asked = m->peer_hold.state == HP3_PEER_HOLD_ASKED ||
			   m->peer_hold.state == HP3_PEER_HOLD_GRANTED;

	for (unsigned i = 0; i < 2 && asked && !may_change_port(m, switched); i++)
		send_as_mover(t, m, HP3_AGREE_CONTINUE);
	if (m->peer_hold.state == HP3_PEER_HOLD_HOLDS && m->t_close == 0) {
		t->e->stats.peer_holds_refused++;
		send_held(t, m, 0);
	}
	if (m->peer_hold.state == HP3_PEER_HOLD_HOLDS) {
		hp3_peer_rest_begin(t, m);
		t->e->pairs.pairs[t->e->flows[m->flow].pair].nholds--;
	}
	m->peer_hold = (struct hp3_peer_hold){0};
}

void hp3_peer_hold_answer(struct hp3_turn *t, const struct hp3_move *m)
{
	if (remaining_ns(t, m) != 0)
		send_held(t, m, remaining_ns(t, m));
}

void hp3_peer_hold_drained(struct hp3_turn *t, struct hp3_move *m)
{
	hp3_slot_timer(t->e, m, &m->move_at, m->peer_hold.until);
	send_held(t, m, remaining_ns(t, m));
}
