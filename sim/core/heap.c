/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include "sim/core/memory.h"
#include "sim/core/queue.h"

#define ARITY 4u

static bool is_entry_before(const struct sim_heap_entry *x, const struct sim_heap_entry *y)
{
	return x->at < y->at || (x->at == y->at && x->order < y->order);
}

void sim_heap_push(struct sim_heap *h, struct sim_event *event)
{
	struct sim_heap_entry e = {.at = event->at, .order = h->order++, .event = event};
	uint32_t i = h->n++;

	if (h->n > h->cap) {
		h->cap = h->cap == 0 ? 1024 : h->cap * 2;
		h->a = sim_realloc(h->a, h->cap * sizeof(*h->a));
	}
	while (i > 0 && is_entry_before(&e, &h->a[(i - 1) / ARITY])) {
		h->a[i] = h->a[(i - 1) / ARITY];
		i = (i - 1) / ARITY;
	}
	h->a[i] = e;
}

struct sim_event *sim_heap_pop(struct sim_heap *h)
{
	struct sim_event *event = h->a[0].event;
	struct sim_heap_entry last = h->a[--h->n];
	uint32_t i = 0;

	for (;;) {
		uint32_t first = i * ARITY + 1, least = first;

		if (first >= h->n)
			break;
		for (uint32_t c = first + 1; c < first + ARITY && c < h->n; c++)
			if (is_entry_before(&h->a[c], &h->a[least]))
				least = c;
		if (!is_entry_before(&h->a[least], &last))
			break;
		h->a[i] = h->a[least];
		i = least;
	}
	h->a[i] = last;
	return event;
}

void sim_heap_free(struct sim_heap *h)
{
	free(h->a);
	*h = (struct sim_heap){0};
}
