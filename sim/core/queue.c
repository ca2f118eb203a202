/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include "sim/core/memory.h"
#include "sim/core/queue.h"

#define SHORT_RUN 12u
#define FIRST_FAR 1024u

void sim_queue_init(struct sim_queue *q)
{
	*q = (struct sim_queue){.open_cap = 256};
	q->ring = sim_alloc(SIM_BUCKETS, sizeof(*q->ring));
	q->open = sim_alloc(q->open_cap, sizeof(*q->open));
	q->spare = sim_alloc(q->open_cap, sizeof(*q->spare));
}

void sim_queue_free(struct sim_queue *q)
{
	free(q->ring);
	free(q->open);
	free(q->spare);
	free(q->far.a);
	*q = (struct sim_queue){0};
}

static void append_open(struct sim_queue *q, struct sim_event *event)
{
	if (q->open_n == q->open_cap) {
		q->open_cap *= 2;
		q->open = sim_realloc(q->open, q->open_cap * sizeof(*q->open));
		q->spare = sim_realloc(q->spare, q->open_cap * sizeof(*q->spare));
	}
	q->open[q->open_n++] = (struct sim_due){.at = event->at, .event = event};
}

/* Entry i moves up, behind all from `first` on that are not later. */
static void sink_entry(struct sim_due *a, uint32_t first, uint32_t i)
{
	struct sim_due x = a[i];

	for (; i > first && a[i - 1].at > x.at; i--)
		a[i] = a[i - 1];
	a[i] = x;
}

/* Merge sort, stable; short runs by insertion. */
static void sort_entries(struct sim_due *a, struct sim_due *spare, uint32_t n)
{
	uint32_t half = n / 2, l = 0, r = half;

	if (n <= SHORT_RUN) {
		for (uint32_t i = 1; i < n; i++)
			sink_entry(a, 0, i);
		return;
	}
	sort_entries(a, spare, half);
	sort_entries(a + half, spare, n - half);
	if (a[half - 1].at <= a[half].at)
		return;
	memcpy(spare, a, half * sizeof(*a));
	for (uint32_t i = 0; l < half; i++)
		a[i] = r < n && a[r].at < spare[l].at ? a[r++] : spare[l++];
}

static void add_ring(struct sim_queue *q, struct sim_event *event, uint64_t bucket)
{
	uint32_t slot = bucket & (SIM_BUCKETS - 1);
	struct sim_bucket *b = &q->ring[slot];

	event->next = NULL;
	if (b->head == NULL) {
		b->head = event;
		q->used[slot / 64] |= UINT64_C(1) << (slot % 64);
	} else {
		b->tail->next = event;
	}
	b->tail = event;
}

/* Few events are that far: not part of its caller, which is hot. */
static __attribute__((noinline)) void add_far(struct sim_queue *q, struct sim_event *event)
{
	struct hp3_heap *far = &q->far;

	if (far->n == far->cap) {
		far->cap = far->cap == 0 ? FIRST_FAR : 2 * far->cap;
		far->a = sim_realloc(far->a, far->cap * sizeof(*far->a));
	}
	hp3_heap_push(far, (struct hp3_heap_entry){.at = event->at, .event = event});
}

void sim_queue_add(struct sim_queue *q, struct sim_event *event)
{
	uint64_t bucket = event->at >> SIM_BUCKET_BITS;

	q->pending++;
	if (bucket <= q->bucket) {
		append_open(q, event);
		sink_entry(q->open, q->open_at, q->open_n - 1);
	} else if (bucket < q->bucket + SIM_BUCKETS) {
		add_ring(q, event, bucket);
	} else {
		add_far(q, event);
	}
}

/* Number of the next bucket that is not empty, UINT64_MAX if the ring is. */
static uint64_t next_used(const struct sim_queue *q)
{
	uint32_t slot = (q->bucket + 1) & (SIM_BUCKETS - 1), word = slot / 64;
	uint64_t bits = q->used[word] & (~UINT64_C(0) << (slot % 64));

	for (uint32_t i = 0; i <= SIM_BUCKETS / 64; i++) {
		if (bits != 0) {
			uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);

			return q->bucket + 1 + ((found - slot) & (SIM_BUCKETS - 1));
		}
		word = (word + 1) & (SIM_BUCKETS / 64 - 1);
		bits = q->used[word];
	}
	return UINT64_MAX;
}

/*
 * Advances to the next bucket that holds an event. The far events that the ring now reaches move
 * there before anything can be added behind them: equal times keep their order.
 */
static void advance_bucket(struct sim_queue *q)
{
	uint64_t bucket = next_used(q);
	uint32_t slot;
	struct sim_event *event;

	if (bucket == UINT64_MAX)
		bucket = hp3_heap_min(&q->far) >> SIM_BUCKET_BITS;
	q->bucket = bucket;
	while (q->far.n > 0 && hp3_heap_min(&q->far) >> SIM_BUCKET_BITS < q->bucket + SIM_BUCKETS) {
		event = hp3_heap_pop(&q->far).event;
		add_ring(q, event, event->at >> SIM_BUCKET_BITS);
	}
	slot = bucket & (SIM_BUCKETS - 1);
	event = q->ring[slot].head;
	q->ring[slot].head = NULL;
	q->used[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
	q->open_at = 0;
	q->open_n = 0;
	for (; event != NULL; event = event->next)
		append_open(q, event);
	sort_entries(q->open, q->spare, q->open_n);
}

struct sim_event *sim_queue_pop(struct sim_queue *q)
{
	if (q->pending == 0)
		return NULL;
	if (q->open_at == q->open_n)
		advance_bucket(q);
	q->pending--;
	q->fired++;
	return q->open[q->open_at++].event;
}
