/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include "sim/core/memory.h"
#include "sim/core/queue.h"

int sim_queue_init(struct sim_queue *q)
{
	*q = (struct sim_queue){.open_cap = 256};
	q->ring = calloc(SIM_BUCKETS, sizeof(*q->ring));
	q->open = malloc(q->open_cap * sizeof(struct sim_event *));
	if (q->ring == NULL || q->open == NULL) {
		sim_queue_free(q);
		return -ENOMEM;
	}
	return 0;
}

void sim_queue_free(struct sim_queue *q)
{
	free(q->ring);
	free(q->open);
	sim_heap_free(&q->far);
	*q = (struct sim_queue){0};
}

/* Into the open bucket: behind all that are not later. */
static void add_open(struct sim_queue *q, struct sim_event *ev)
{
	uint32_t i = q->open_n++;

	if (q->open_n > q->open_cap) {
		q->open_cap *= 2;
		q->open = sim_realloc(q->open, q->open_cap * sizeof(struct sim_event *));
	}
	while (i > q->open_at && q->open[i - 1]->at > ev->at) {
		q->open[i] = q->open[i - 1];
		i--;
	}
	q->open[i] = ev;
}

static void add_ring(struct sim_queue *q, struct sim_event *ev, uint64_t bucket)
{
	uint32_t slot = bucket & (SIM_BUCKETS - 1);
	struct sim_bucket *b = &q->ring[slot];

	ev->next = NULL;
	if (b->head == NULL) {
		b->head = ev;
		q->used[slot / 64] |= UINT64_C(1) << (slot % 64);
	} else {
		b->tail->next = ev;
	}
	b->tail = ev;
}

void sim_queue_add(struct sim_queue *q, struct sim_event *ev)
{
	uint64_t bucket = ev->at >> SIM_BUCKET_BITS;

	q->pending++;
	if (bucket <= q->bucket)
		add_open(q, ev);
	else if (bucket < q->bucket + SIM_BUCKETS)
		add_ring(q, ev, bucket);
	else
		sim_heap_push(&q->far, ev);
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
static void advance(struct sim_queue *q)
{
	uint64_t bucket = next_used(q);
	uint32_t slot;
	struct sim_event *ev;

	if (bucket == UINT64_MAX)
		bucket = sim_heap_min(&q->far) >> SIM_BUCKET_BITS;
	q->bucket = bucket;
	while (q->far.n > 0 && sim_heap_min(&q->far) >> SIM_BUCKET_BITS < q->bucket + SIM_BUCKETS) {
		ev = sim_heap_pop(&q->far);
		add_ring(q, ev, ev->at >> SIM_BUCKET_BITS);
	}
	slot = bucket & (SIM_BUCKETS - 1);
	ev = q->ring[slot].head;
	q->ring[slot].head = NULL;
	q->used[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
	q->open_at = 0;
	q->open_n = 0;
	while (ev != NULL) {
		struct sim_event *next = ev->next;

		add_open(q, ev);
		ev = next;
	}
}

struct sim_event *sim_queue_pop(struct sim_queue *q)
{
	if (q->pending == 0)
		return NULL;
	if (q->open_at == q->open_n)
		advance(q);
	q->pending--;
	q->fired++;
	return q->open[q->open_at++];
}
