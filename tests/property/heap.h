/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_HEAP_H
#define HP3_TESTS_HEAP_H
/*
 * What is to happen, in order of time; what comes first of the same moment was said first. Items
 * are of any type that begins with struct heap_when; who calls gives its size, the same each time.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct heap_when {
	uint64_t t, seq; /* seq is the heap's */
};

/* For their first member: its fields are the item's. */
#define HEAP_WHEN                                                                                  \
	union {                                                                                    \
		struct heap_when when;                                                             \
		struct {                                                                           \
			uint64_t t, seq;                                                           \
		};                                                                                 \
	}

struct heap {
	void *items;
	uint32_t n, cap;
	uint64_t seq;
};

static inline struct heap_when *heap_item(const struct heap *h, uint32_t i, size_t size)
{
	return (struct heap_when *)((char *)h->items + i * size);
}

static inline bool heap_before(const struct heap_when *a, const struct heap_when *b)
{
	return a->t != b->t ? a->t < b->t : a->seq < b->seq;
}

/* *item gets its number, and is copied. */
static inline void heap_put(struct heap *h, struct heap_when *item, size_t size)
{
	uint32_t i = h->n++;

	if (h->n > h->cap) {
		h->cap = h->cap != 0 ? 2 * h->cap : 1024;
		h->items = realloc(h->items, h->cap * size);
	}
	item->seq = h->seq++;
	for (; i > 0 && heap_before(item, heap_item(h, (i - 1) / 2, size)); i = (i - 1) / 2)
		memcpy(heap_item(h, i, size), heap_item(h, (i - 1) / 2, size), size);
	memcpy(heap_item(h, i, size), item, size);
}

/* The first one; there is one. */
static inline void heap_take(struct heap *h, struct heap_when *item, size_t size)
{
	const struct heap_when *last = heap_item(h, --h->n, size);
	uint32_t i = 0, c;

	memcpy(item, h->items, size);
	while ((c = 2 * i + 1) < h->n) {
		if (c + 1 < h->n && heap_before(heap_item(h, c + 1, size), heap_item(h, c, size)))
			c++;
		if (!heap_before(heap_item(h, c, size), last))
			break;
		memcpy(heap_item(h, i, size), heap_item(h, c, size), size);
		i = c;
	}
	memmove(heap_item(h, i, size), last, size);
}

#endif
