/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Future events in order of time; events of the same time in the order in which they were added.
 * Items can have any type that begins with struct heap_when. The caller passes the size of the
 * type, which must be the same in all calls.
 *
 * Items do not move: only `order`, a heap of their positions, changes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct heap_when {
	uint64_t t, seq; /* seq is set by the heap */
};

/* First member of an item, so that it has fields t and seq. */
#define HEAP_WHEN                                                                                  \
	union {                                                                                    \
		struct heap_when when;                                                             \
		struct {                                                                           \
			uint64_t t, seq;                                                           \
		};                                                                                 \
	}

#define HEAP_CHILDREN 4u

struct heap_entry {
	struct heap_when when;
	uint32_t at; /* in items */
};

struct heap {
	struct heap_entry *order; /* entries from the n-th on: `at` is a free item */
	char *items;
	uint32_t n, cap;
	uint64_t seq;
};

/* The i-th item. Item 0 is the next in time; the others are in heap order. */
static inline void *heap_item(const struct heap *h, uint32_t i, size_t size)
{
	return h->items + h->order[i].at * size;
}

/* Time of the first item; there must be one. */
static inline uint64_t heap_next(const struct heap *h)
{
	return h->order[0].when.t;
}

static inline bool heap_before(const struct heap_when *a, const struct heap_when *b)
{
	return a->t != b->t ? a->t < b->t : a->seq < b->seq;
}

static inline void heap_grow(struct heap *h, size_t size)
{
	uint32_t cap = h->cap != 0 ? 2 * h->cap : 1024;

	h->order = realloc(h->order, cap * sizeof(*h->order));
	h->items = realloc(h->items, cap * size);
	for (; h->cap < cap; h->cap++)
		h->order[h->cap].at = h->cap;
}

/* Adds a copy of *item, which already has its number, item->seq. */
static inline void heap_put_numbered(struct heap *h, const struct heap_when *item, size_t size)
{
	struct heap_entry new;
	uint32_t i, up;

	if (h->n == h->cap)
		heap_grow(h, size);
	new = (struct heap_entry){*item, h->order[h->n].at};
	memcpy(heap_item(h, h->n, size), item, size);
	for (i = h->n++; i > 0; i = up) {
		up = (i - 1) / HEAP_CHILDREN;
		if (!heap_before(&new.when, &h->order[up].when))
			break;
		h->order[i] = h->order[up];
	}
	h->order[i] = new;
}

/* Sets item->seq and adds a copy of *item. */
static inline void heap_put(struct heap *h, struct heap_when *item, size_t size)
{
	item->seq = h->seq++;
	heap_put_numbered(h, item, size);
}

static inline uint32_t heap_first_child(const struct heap *h, uint32_t i)
{
	uint32_t first = HEAP_CHILDREN * i + 1, c = first;

	for (uint32_t k = first + 1; k < first + HEAP_CHILDREN && k < h->n; k++)
		if (heap_before(&h->order[k].when, &h->order[c].when))
			c = k;
	return c;
}

/* Removes the first item; there must be one. */
static inline void heap_take(struct heap *h, struct heap_when *item, size_t size)
{
	const uint32_t at = h->order[0].at;
	const struct heap_entry last = h->order[--h->n];
	uint32_t i = 0, c;

	memcpy(item, h->items + at * size, size);
	while ((c = heap_first_child(h, i)) < h->n && heap_before(&h->order[c].when, &last.when)) {
		h->order[i] = h->order[c];
		i = c;
	}
	h->order[i] = last;
	h->order[h->n].at = at;
}

static inline void heap_free(struct heap *h)
{
	free(h->order);
	free(h->items);
}
