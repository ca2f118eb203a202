/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Heap of events by time, with four children per node. Events of the same time leave in the order
 * in which they were added, because each entry has a running number. The entries contain the times,
 * so that the heap does not read events. The caller owns the array.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_HEAP_ARITY 4u

struct hp3_heap_entry {
	uint64_t at, order;
	union { /* for the caller's use */
		void *event;
		struct {
			uint32_t index;
			uint16_t kind, what;
		};
	};
};

struct hp3_heap {
	struct hp3_heap_entry *a;
	uint32_t n, cap;
	uint64_t order;
};

static inline bool hp3_heap_is_before(
	const struct hp3_heap_entry *x, const struct hp3_heap_entry *y)
{
	return x->at < y->at || (x->at == y->at && x->order < y->order);
}

/* Adds a copy of `e`, and sets `order` in the copy. The array must have room: n < cap. */
static inline void hp3_heap_push(struct hp3_heap *h, struct hp3_heap_entry e)
{
	uint32_t i = h->n++;

	e.order = h->order++;
	while (i > 0 && hp3_heap_is_before(&e, &h->a[(i - 1) / HP3_HEAP_ARITY])) {
		h->a[i] = h->a[(i - 1) / HP3_HEAP_ARITY];
		i = (i - 1) / HP3_HEAP_ARITY;
	}
	h->a[i] = e;
}

/* Removes and returns the first entry. The heap must not be empty. */
static inline struct hp3_heap_entry hp3_heap_pop(struct hp3_heap *h)
{
	struct hp3_heap_entry top = h->a[0], last = h->a[--h->n];
	uint32_t i = 0;

	for (;;) {
		uint32_t first = i * HP3_HEAP_ARITY + 1, least = first;

		if (first >= h->n)
			break;
		for (uint32_t c = first + 1; c < first + HP3_HEAP_ARITY && c < h->n; c++)
			if (hp3_heap_is_before(&h->a[c], &h->a[least]))
				least = c;
		if (!hp3_heap_is_before(&h->a[least], &last))
			break;
		h->a[i] = h->a[least];
		i = least;
	}
	h->a[i] = last;
	return top;
}

/* Time of the first entry; UINT64_MAX: there is none. */
static inline uint64_t hp3_heap_min(const struct hp3_heap *h)
{
	return h->n > 0 ? h->a[0].at : UINT64_MAX;
}
