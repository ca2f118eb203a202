/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots and their FIFOs. tick.c handles their deadlines. */
#include "engine/moves/moves.h"
#include "engine/part.h"

#define ROOM_SEARCH 32u

static struct hp3_move *slot_of_flow(struct hp3_engine *e, uint32_t flow)
{
	return &e->moves[e->flows[flow].slot];
}

/*
 * All slots are taken: frees one that only waits to be judged, or for a re-probe. Examines a few
 * slots per call.
 */
static bool free_slot(struct hp3_engine *e)
{
	for (uint32_t n = 0; n < ROOM_SEARCH; n++) {
		uint32_t at = e->room_hand++ % e->nmoves;
		struct hp3_move *m = &e->moves[e->slots[at]];

		if ((m->use & (uint8_t) ~(HP3_USE_VERIFY | HP3_USE_REPROBE)) == 0) {
			e->stats.unjudged += !!(m->use & HP3_USE_VERIFY);
			hp3_slot_drop(e, m->flow, HP3_USE_VERIFY | HP3_USE_REPROBE);
			return true;
		}
	}
	return false;
}

struct hp3_move *hp3_slot_take(struct hp3_engine *e, uint32_t flow, uint8_t use)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m;

	if (f->slot == HP3_NO_SLOT) {
		if (e->nmoves == e->cfg.max_moves && !free_slot(e))
			return NULL;
		f->slot = e->slots[e->nmoves];
		m = &e->moves[f->slot];
		*m = (struct hp3_move){.flow = flow,
			.active = (uint16_t)e->nmoves++,
			.move_at = UINT64_MAX,
			.pace_at = UINT64_MAX,
			.verify_at = UINT64_MAX,
			.guard_at = UINT64_MAX,
			.search_at = UINT64_MAX,
			.cnp_at = UINT64_MAX};
	}
	m = slot_of_flow(e, flow);
	m->use |= use;
	return m;
}

void hp3_slot_drop(struct hp3_engine *e, uint32_t flow, uint8_t use)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = slot_of_flow(e, flow);
	uint16_t slot = f->slot, at = m->active, last;

	m->use &= (uint8_t)~use;
	if (use & HP3_USE_MOVE) {
		hp3_slot_timer(e, m, &m->move_at, UINT64_MAX);
		hp3_slot_timer(e, m, &m->cnp_at, UINT64_MAX);
		m->withheld = (struct hp3_withheld){0};
	}
	if (use & HP3_USE_PACE)
		hp3_slot_timer(e, m, &m->pace_at, UINT64_MAX);
	if (use & HP3_USE_VERIFY)
		hp3_slot_timer(e, m, &m->verify_at, UINT64_MAX);
	if (use & HP3_USE_GUARD)
		hp3_slot_timer(e, m, &m->guard_at, UINT64_MAX);
	if (use & HP3_USE_REPROBE)
		hp3_slot_timer(e, m, &m->search_at, UINT64_MAX);
	if (m->use != 0)
		return;
	last = e->slots[--e->nmoves];
	e->slots[at] = last;
	e->moves[last].active = at;
	e->slots[e->nmoves] = slot;
	hp3_deadline_set(&e->deadlines, slot, UINT64_MAX);
	f->slot = HP3_NO_SLOT;
}

void hp3_slot_timer(struct hp3_engine *e, struct hp3_move *m, uint64_t *timer, uint64_t t)
{
	*timer = t;
	t = hp3_min_u64(hp3_min_u64(m->move_at, m->pace_at),
		hp3_min_u64(hp3_min_u64(m->verify_at, m->guard_at),
			hp3_min_u64(m->cnp_at, m->search_at)));
	hp3_deadline_set(&e->deadlines, (uint32_t)(m - e->moves), t);
}

/* --- FIFOs --- */

uint32_t hp3_hold_put(struct hp3_engine *e, uint32_t flow, const struct hp3_held *h)
{
	struct hp3_move *m = slot_of_flow(e, flow);
	uint32_t i = e->free_held;

	if (m->held_bytes + h->len > e->cfg.hold_bytes ||
		e->hold_bytes + h->len > e->cfg.hold_bytes_total || e->hold_packets >= e->hold_most)
		return 0;
	e->free_held = e->held[i].next;
	e->held[i] = *h;
	e->held[i].next = 0;
	if (m->head == 0)
		m->head = i;
	else
		e->held[m->tail].next = i;
	m->tail = i;
	m->held_pkts++;
	m->held_bytes += h->len;
	e->hold_packets++;
	e->hold_bytes += h->len;
	e->stats.held_packets++;
	e->stats.held_bytes += h->len;
	return i;
}

uint32_t hp3_engine_held(const struct hp3_engine *e, enum hp3_dir dir)
{
	return dir == HP3_DIR_RX ? e->hold_rx : e->hold_packets - e->hold_rx;
}

void hp3_hold_room(struct hp3_engine *e, uint32_t more)
{
	e->hold_most = more < e->cfg.hold_packets - e->hold_packets ? e->hold_packets + more
								    : e->cfg.hold_packets;
}

/*
 * Moves packets from the FIFO to the end of the free list, because the caller still follows their
 * links.
 */
static void take_out(struct hp3_engine *e, struct hp3_move *m, uint32_t count)
{
	uint32_t last = 0;

	e->held[e->last_free].next = m->head;
	for (; count > 0; count--) {
		last = m->head;
		m->head = e->held[last].next;
		m->held_pkts--;
		m->backlog -= m->backlog != 0;
		m->held_bytes -= e->held[last].len;
		e->hold_packets--;
		e->hold_bytes -= e->held[last].len;
	}
	e->held[last].next = 0;
	e->last_free = last;
}

void hp3_hold_release(struct hp3_turn *t, uint32_t flow, uint32_t count, uint8_t flags)
{
	struct hp3_move *m = slot_of_flow(t->e, flow);
	struct hp3_act *a;

	count = hp3_min_u32(count, m->held_pkts);
	if (count == 0)
		return;
	a = hp3_act(t, HP3_ACT_RELEASE, flow);
	a->held = m->head;
	a->port = hp3_flow_port(&t->e->flows[flow]);
	a->flags = flags;
	a->count = count;
	t->e->flows[flow].last = (uint32_t)(t->now >> HP3_TICK_SHIFT); /* they leave only now */
	take_out(t->e, m, count);
}

void hp3_hold_shed(struct hp3_turn *t, uint32_t flow, uint32_t count)
{
	struct hp3_move *m = slot_of_flow(t->e, flow);
	struct hp3_act *a;

	if (count == 0)
		return;
	a = hp3_act(t, HP3_ACT_DISCARD, flow);
	a->held = m->head;
	a->count = count;
	take_out(t->e, m, count);
}

void hp3_hold_discard(struct hp3_turn *t, uint32_t flow)
{
	hp3_hold_shed(t, flow, slot_of_flow(t->e, flow)->held_pkts);
}

uint32_t hp3_held_next(const struct hp3_engine *e, uint32_t held)
{
	return e->held[held].next;
}

static void take_slots(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->moves, e->cfg.max_moves);
	HP3_TAKE(a, e->slots, e->cfg.max_moves);
	HP3_TAKE(a, e->held, (size_t)HP3_HELD(e->cfg.hold_packets) + 1);
	HP3_TAKE(a, e->deadlines.heap, e->cfg.max_moves);
	HP3_TAKE(a, e->deadlines.place, e->cfg.max_moves);
}

static void init_slots(struct hp3_engine *e)
{
	for (uint32_t i = 0; i < e->cfg.max_moves; i++)
		e->slots[i] = (uint16_t)i;
	memset(e->deadlines.place, 0, e->cfg.max_moves * sizeof(*e->deadlines.place));
	e->hold_most = e->cfg.hold_packets;
	e->free_held = 1;
	e->last_free = HP3_HELD(e->cfg.hold_packets);
	for (uint32_t i = 1; i <= e->last_free; i++)
		e->held[i].next = i < e->last_free ? i + 1 : 0;
}

const struct hp3_part hp3_slots_part = {.take = take_slots, .init = init_slots};
