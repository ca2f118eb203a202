/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3d's poll-mode loop. Packets of RNICs and network wait in the rings of two ports. Every poll
 * takes up to a burst of each, in order of arrival, the RNIC's side first, and processes it exactly
 * as app/hp3d/pipe/pipe.c does. At random, a poll is late, as after a long burst or a sleep.
 *
 * With bursts of one packet, each goes through the engine when it arrives.
 */
#include "world_internal.h"
#include <string.h>
#include "engine/pass/burst.h"

#define POLL_MIN 200u /* ns between two polls */
#define POLL_MAX 3000u
#define LATE_MAX 30000u
#define LATE_ONE 16u /* of so many */

static bool polls(const struct world *w)
{
	return w->p.burst > 1;
}

/* A verdict that changes nothing. */
static bool is_pass(const struct burst *b, uint32_t i)
{
	return b->vd[i].kind == HP3_PASS && (b->vd[i].flags & HP3_CHANGES) == 0 &&
	       b->vd[i].sport == b->pkt[i].v.sport;
}

/* The engine's levels in turn, and for single packets hp3_tx() or hp3_rx(): they must agree. */
static uint32_t hand_over(struct world *w, struct burst *b, uint32_t from, struct hp3_acts *acts)
{
	unsigned isa = w->turn++ % (polls(w) ? 3 : 4);

	if (isa != 3 && (hp3_isa_use(w->e, isa) == 0 || polls(w)))
		return hp3_burst(
			w->e, &b->pkt[from], b->n - from, b->dir, w->now, &b->vd[from], acts);
	if (b->dir == HP3_DIR_TX)
		hp3_tx(w->e, &b->pkt[from], w->now, &b->vd[from], acts);
	else
		hp3_rx(w->e, &b->pkt[from], w->now, &b->vd[from], acts);
	acts->obey = true;
	return 1;
}

static void obey_all(struct world *w, struct burst *b, uint32_t from, uint32_t to, uint32_t end)
{
	for (uint32_t i = from; i < to; i++) {
		if (b->dir == HP3_DIR_TX)
			world_tx_obey(w, b, i, i + 1 == end);
		else
			world_rx_obey(w, b, i);
	}
}

static void count(struct world *w, const struct burst *b, uint32_t from, uint32_t to)
{
	bool is_long = b->dir == HP3_DIR_RX && b->n - from > HP3_FEW;

	w->r.bursts += b->n - from > 1;
	w->r.bursts_rx += b->dir == HP3_DIR_RX && b->n - from > 1;
	w->r.long_rx += is_long;
	w->r.interrupted += to != b->n;
	for (uint32_t i = from; is_long && i < to; i++)
		w->r.unseen += b->pkt[i].v.opcode == HP3_OP_RC_ACK && !b->pkt[i].trusted;
}

/* As run_engine() of pipe.c: actions leave before the packet they came with, behind all others. */
static void engage(struct world *w, struct burst *b)
{
	struct hp3_acts acts;

	world_make_room(w);
	hp3_find_burst(w->e, b->pkt, b->n, b->dir);
	for (uint32_t from = 0, to; from < b->n; from = to) {
		if (b->dir == HP3_DIR_TX)
			world_tx_before(w, b, from, b->n);
		else
			world_rx_before(w, b, from, b->n);
		to = from + hand_over(w, b, from, &acts);
		count(w, b, from, to);
		if (to == from || to > b->n || (to < b->n && acts.n == 0)) {
			VIOLATION(w, "%u of %u packets handled", to - from, b->n - from);
			return;
		}
		for (uint32_t i = from; i < to && acts.n == 0 && !acts.obey; i++) {
			if (!is_pass(b, i))
				VIOLATION(w, "a burst passes as it came, but for packet %u", i);
		}
		if (b->dir == HP3_DIR_TX)
			world_tx_seen(w, b, from, to, acts.n != 0);
		else
			world_rx_seen(w, b, from, to);
		obey_all(w, b, from, to - 1, to);
		w->becn = b->dir == HP3_DIR_RX && (b->pkt[to - 1].v.flags & HP3_VF_BECN);
		world_carry_out(w, &acts);
		if (b->dir == HP3_DIR_RX)
			world_cnps_kept(w, b, from, to);
		w->becn = false;
		obey_all(w, b, to - 1, to, to);
	}
}

static void through(struct world *w, enum hp3_dir dir, const struct event *event, uint32_t n)
{
	struct burst b;

	if (n == 0)
		return;
	b.dir = dir;
	b.n = n;
	b.event = event;
	if (dir == HP3_DIR_TX)
		world_tx_make(w, &b);
	else
		world_rx_make(w, &b);
	engage(w, &b);
}

/* Answers to probes end here; what came before them comes first. */
static void handle(struct world *w, enum hp3_dir dir, const struct event *event, uint32_t n)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (event[i].kind != EVENT_PROBE)
			continue;
		through(w, dir, event + from, i - from);
		world_answer_seen(w, event[i].gen, event[i].ours);
		from = i + 1;
	}
	through(w, dir, event + from, n - from);
}

static void poll_in(struct world *w, uint64_t ns)
{
	if (w->poll_due)
		return;
	w->poll_due = true;
	world_at(w, ns, EVENT_POLL, 0, 0);
}

void world_receive(struct world *w, enum hp3_dir dir, const struct event *event)
{
	struct port_ring *r = &w->ports[dir];

	if (w->away != WORLD_HERE) {
		world_unseen(w, event);
		return;
	}
	if (!polls(w)) {
		handle(w, dir, event, 1);
		return;
	}
	if (r->tail == r->cap && r->head > r->cap / 2) {
		r->tail -= r->head;
		memmove(r->event, &r->event[r->head], r->tail * sizeof(*r->event));
		r->head = 0;
	} else if (r->tail == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 4 * WORLD_BURST;
		r->event = realloc(r->event, r->cap * sizeof(*r->event));
	}
	r->event[r->tail++] = *event;
	poll_in(w, rnd(w, LATE_ONE) == 0 ? POLL_MIN + rnd(w, LATE_MAX)
					 : POLL_MIN + rnd(w, POLL_MAX - POLL_MIN));
}

static void poll_port(struct world *w, enum hp3_dir dir)
{
	struct port_ring *r = &w->ports[dir];
	struct event event[WORLD_BURST];
	uint32_t n = r->tail - r->head;

	n = n < w->p.burst ? n : w->p.burst;
	if (n == 0)
		return;
	memcpy(event, &r->event[r->head], n * sizeof(event[0]));
	r->head += n;
	if (r->head == r->tail)
		r->head = r->tail = 0;
	handle(w, dir, event, n);
}

static bool waits(const struct world *w)
{
	return w->ports[HP3_DIR_TX].tail != 0 || w->ports[HP3_DIR_RX].tail != 0;
}

static void poll_once(struct world *w)
{
	w->polling = true;
	poll_port(w, HP3_DIR_TX);
	poll_port(w, HP3_DIR_RX);
	w->polling = false;
}

void world_poll(struct world *w)
{
	w->poll_due = false;
	poll_once(w);
	if (waits(w))
		poll_in(w, POLL_MIN);
}

void world_poll_all(struct world *w)
{
	while (waits(w) && !w->failed)
		poll_once(w);
}

void world_lose_ports(struct world *w)
{
	struct port_ring *tx = &w->ports[HP3_DIR_TX];

	for (uint32_t i = tx->head; i < tx->tail; i++) {
		w->r.discarded++;
		free(tx->event[i].pkt);
	}
	tx->head = tx->tail = 0;
	w->ports[HP3_DIR_RX].head = w->ports[HP3_DIR_RX].tail = 0;
}
