/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/minmax.h"
#include "base/names.h"
#include "p4-testbed/fabric/tm.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "p4-testbed/fabric/topo.h"

#define FIRST_EVENTS 64u

enum tm_kind {
	TM_DEQUEUE, /* the serialiser is free */
	TM_ARRIVE, /* the first frame on a wire is at the far end; what = which wire */
	TM_PAUSE, /* a pause message reached the lane's sender; what = priority */
	TM_RESUME,
};

/* A lane has one event of its own kind at a time and few pauses in the air: the heap grows rarely.
 */
static void add_event(
	struct hp3_tm *tm, uint64_t at, uint32_t lane, enum tm_kind kind, uint32_t what)
{
	struct hp3_heap *h = &tm->events;

	if (h->n == h->cap) {
		h->cap = h->cap > 0 ? 2 * h->cap : FIRST_EVENTS;
		h->a = realloc(h->a, h->cap * sizeof(*h->a));
	}
	if (h->a == NULL) {
		fprintf(stderr, "hp3-fabric: out of memory for %u events\n", h->cap);
		abort();
	}
	hp3_heap_push(h,
		(struct hp3_heap_entry){
			.at = at, .index = lane, .kind = (uint16_t)kind, .what = (uint16_t)what});
}

static void push_frame(struct hp3_fifo *q, struct hp3_frame *f)
{
	f->next = NULL;
	if (q->head == NULL)
		q->head = f;
	else
		q->tail->next = f;
	q->tail = f;
}

static struct hp3_frame *pop_frame(struct hp3_fifo *q)
{
	struct hp3_frame *f = q->head;

	if (f != NULL)
		q->head = f->next;
	return f;
}

int hp3_tm_init(
	struct hp3_tm *tm, uint32_t lanes, uint64_t seed, const struct hp3_tm_ops *ops, void *arg)
{
	*tm = (struct hp3_tm){
		.n_lanes = lanes, .rng = seed * 0x9e3779b97f4a7c15ull | 1, .ops = ops, .arg = arg};
	tm->lane = calloc(lanes, sizeof(*tm->lane));
	if (tm->lane == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < lanes; i++)
		tm->lane[i].up = true;
	return 0;
}

static void drop_frame(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f, enum hp3_tm_drop why)
{
	tm->lane[lane].stats.drops[why]++;
	tm->ops->drop(tm->arg, lane, f, why);
}

/* A host's lane: whoever has to stop, the switch or the NIC's full queue, the host hears of it. */
static void signal_host(struct hp3_tm *tm, uint32_t lane)
{
	struct hp3_lane *l = &tm->lane[lane];
	uint8_t stop = l->paused | l->nic_full;

	if (!l->from_host || stop == l->signaled)
		return;
	l->signaled = stop;
	tm->ops->pause_host(tm->arg, lane, stop);
}

/* Charges bytes to the lane that they came by; the sender there hears of it after the delay. */
static void charge_ingress(struct hp3_tm *tm, const struct hp3_frame *f, bool in)
{
	struct hp3_lane *l;
	uint8_t bit = (uint8_t)(1u << f->priority);

	if (f->lane_in == HP3_TM_NO_LANE)
		return;
	l = &tm->lane[f->lane_in];
	if (in)
		l->inside[f->priority] += f->bytes;
	else
		l->inside[f->priority] -= f->bytes;
	if (!tm->lossless)
		return;
	if (!(l->asked & bit) && l->inside[f->priority] > tm->xoff) {
		l->asked |= bit;
		add_event(tm, tm->now + l->delay_ns, f->lane_in, TM_PAUSE, f->priority);
	} else if ((l->asked & bit) && l->inside[f->priority] <= tm->xon) {
		l->asked &= (uint8_t)~bit;
		add_event(tm, tm->now + l->delay_ns, f->lane_in, TM_RESUME, f->priority);
	}
}

static void account_frame(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f, bool in)
{
	struct hp3_lane *l = &tm->lane[lane];
	uint8_t bit = (uint8_t)(1u << f->priority);

	if (in) {
		l->depth[f->priority] += f->bytes;
		l->waiting += f->bytes;
		if (l->waiting > l->stats.peak_bytes)
			l->stats.peak_bytes = l->waiting;
	} else {
		l->depth[f->priority] -= f->bytes;
		l->waiting -= f->bytes;
	}
	if (l->from_host && tm->lossless) {
		if (l->depth[f->priority] > tm->xoff)
			l->nic_full |= bit;
		else if (l->depth[f->priority] <= tm->xon)
			l->nic_full &= (uint8_t)~bit;
		signal_host(tm, lane);
	}
	charge_ingress(tm, f, in);
}

static bool is_stopped(const struct hp3_lane *l, uint32_t priority, uint64_t now)
{
	return (l->paused >> priority & 1) || now < l->pause_until[priority];
}

/* The queue to serve next: highest priority that may send; -1: none. */
static int next_queue(const struct hp3_lane *l, uint64_t now)
{
	for (int p = HP3_TM_PRIORITIES - 1; p >= 0; p--)
		if (l->queue[p].head != NULL && !is_stopped(l, (uint32_t)p, now))
			return p;
	return -1;
}

static void schedule_dequeue(struct hp3_tm *tm, uint32_t lane)
{
	struct hp3_lane *l = &tm->lane[lane];

	if (l->dequeue_due || !l->up || next_queue(l, tm->now) < 0)
		return;
	l->dequeue_due = true;
	add_event(tm, hp3_max_u64(l->free_at, tm->now), lane, TM_DEQUEUE, 0);
}

/* Why the lane does not take a frame, or -1. */
static int refusal_of_frame(struct hp3_tm *tm, uint32_t lane, const struct hp3_frame *f)
{
	const struct hp3_lane *l = &tm->lane[lane];
	int why = l->up ? hp3_impair_drop(tm, lane, f) : HP3_TM_DROP_DOWN;

	return why < 0 && l->waiting + f->bytes > l->buffer_bytes ? HP3_TM_DROP_FULL : why;
}

void hp3_tm_enqueue(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f, uint32_t priority)
{
	int why = refusal_of_frame(tm, lane, f);

	if (why >= 0) {
		drop_frame(tm, lane, f, (enum hp3_tm_drop)why);
		return;
	}
	f->priority = priority % HP3_TM_PRIORITIES;
	push_frame(&tm->lane[lane].queue[f->priority], f);
	tm->frames++;
	account_frame(tm, lane, f, true);
	schedule_dequeue(tm, lane);
}

static void put_on_wire(
	struct hp3_tm *tm, uint32_t lane, uint32_t wire, struct hp3_frame *f, uint64_t at)
{
	struct hp3_wire *w = &tm->lane[lane].wire[wire];

	/* The delay may have been shortened: nothing overtakes on a wire. */
	f->at = hp3_max_u64(at, w->last);
	w->last = f->at;
	push_frame(&w->q, f);
	if (!w->due) {
		w->due = true;
		add_event(tm, f->at, lane, TM_ARRIVE, wire);
	}
}

static void dequeue_frame(struct hp3_tm *tm, uint32_t lane)
{
	struct hp3_lane *l = &tm->lane[lane];
	int p = next_queue(l, tm->now);
	struct hp3_frame *f;
	uint64_t longer;

	l->dequeue_due = false;
	if (p < 0 || !l->up)
		return;
	f = pop_frame(&l->queue[p]);
	account_frame(tm, lane, f, false);
	l->free_at =
		tm->now + (uint64_t)(f->bytes + HP3_TOPO_WIRE) * 8 * 1000000000ull / l->rate_bps;
	l->stats.packets++;
	l->stats.bytes += f->bytes;
	longer = hp3_impair_delay(tm, lane);
	put_on_wire(tm, lane, longer > 0, f, l->free_at + l->delay_ns + longer);
	schedule_dequeue(tm, lane);
}

static void deliver_frame(struct hp3_tm *tm, uint32_t lane, uint32_t wire)
{
	struct hp3_wire *w = &tm->lane[lane].wire[wire];
	struct hp3_frame *f = NULL, *copy;

	w->due = false;
	if (w->q.head != NULL && w->q.head->at <= tm->now) { /* else the link went down between */
		f = pop_frame(&w->q);
		tm->frames--;
	}
	if (w->q.head != NULL) {
		w->due = true;
		add_event(tm, w->q.head->at, lane, TM_ARRIVE, wire);
	}
	if (f == NULL)
		return;
	f->lane_in = lane;
	copy = hp3_impair_arrival(tm, lane, f);
	tm->ops->deliver(tm->arg, lane, f);
	if (copy != NULL)
		tm->ops->deliver(tm->arg, lane, copy);
}

static void set_paused(struct hp3_tm *tm, uint32_t lane, uint32_t priority, bool on)
{
	struct hp3_lane *l = &tm->lane[lane];
	uint8_t before = l->paused, bit = (uint8_t)(1u << priority);

	l->paused = on ? before | bit : before & (uint8_t)~bit;
	if (l->paused == before)
		return;
	if (on)
		l->stats.pauses++;
	if (before == 0)
		l->paused_since = tm->now;
	if (l->paused == 0)
		l->stats.paused_ns += tm->now - l->paused_since;
	signal_host(tm, lane);
	schedule_dequeue(tm, lane);
}

void hp3_tm_host_pause(struct hp3_tm *tm, uint32_t lane, uint32_t priority, uint64_t ns)
{
	struct hp3_lane *l = &tm->lane[lane];

	if (ns > 0 && l->pause_until[priority] <= tm->now)
		l->stats.pauses++;
	l->pause_until[priority] = tm->now + ns;
	add_event(tm, l->pause_until[priority], lane, TM_RESUME, HP3_TM_PRIORITIES);
}

void hp3_tm_run(struct hp3_tm *tm, uint64_t until)
{
	while (tm->events.n > 0 && hp3_heap_min(&tm->events) <= until) {
		struct hp3_heap_entry e = hp3_heap_pop(&tm->events);

		tm->now = hp3_max_u64(e.at, tm->now);
		if (e.kind == TM_DEQUEUE)
			dequeue_frame(tm, e.index);
		else if (e.kind == TM_ARRIVE)
			deliver_frame(tm, e.index, e.what);
		else if (e.what == HP3_TM_PRIORITIES)
			schedule_dequeue(tm, e.index); /* a timed pause may be over */
		else
			set_paused(tm, e.index, e.what, e.kind == TM_PAUSE);
	}
	tm->now = hp3_max_u64(until, tm->now);
}

static void empty_queues(struct hp3_tm *tm, uint32_t lane)
{
	struct hp3_lane *l = &tm->lane[lane];
	struct hp3_frame *f;

	for (uint32_t p = 0; p < HP3_TM_PRIORITIES; p++) {
		while ((f = pop_frame(&l->queue[p])) != NULL) {
			account_frame(tm, lane, f, false);
			tm->frames--;
			drop_frame(tm, lane, f, HP3_TM_DROP_DOWN);
		}
	}
	for (uint32_t i = 0; i < HP3_TM_WIRES; i++) {
		while ((f = pop_frame(&l->wire[i].q)) != NULL) {
			tm->frames--;
			drop_frame(tm, lane, f, HP3_TM_DROP_DOWN);
		}
		l->wire[i].last = 0;
	}
}

void hp3_tm_set_up(struct hp3_tm *tm, uint32_t lane, bool up)
{
	struct hp3_lane *l = &tm->lane[lane];

	if (!up && l->up)
		empty_queues(tm, lane);
	l->up = up;
}

void hp3_tm_free(struct hp3_tm *tm)
{
	for (uint32_t i = 0; tm->lane != NULL && i < tm->n_lanes; i++)
		empty_queues(tm, i);
	free(tm->lane);
	tm->lane = NULL;
	free(tm->events.a);
	tm->events = (struct hp3_heap){0};
}

const char *hp3_tm_drop_name(enum hp3_tm_drop d)
{
	static const char *const names[] = {
#define X(sym, text) [HP3_TM_DROP_##sym] = text,
		HP3_TM_DROPS(X)
#undef X
	};

	return HP3_NAME(names, d);
}
