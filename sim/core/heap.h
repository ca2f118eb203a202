/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Heap of events by time, with four children per node. Events of the same time leave in the order
 * in which they were added: each entry has a running number. The array itself contains the keys, so
 * that reordering the heap reads no event. The array grows as needed; if no memory is left, the
 * program ends.
 */
#include <stdint.h>

struct sim_event;

struct sim_heap_entry {
	uint64_t at, order;
	struct sim_event *event;
};

struct sim_heap {
	struct sim_heap_entry *a;
	uint32_t n, cap;
	uint64_t order;
};

void sim_heap_push(struct sim_heap *h, struct sim_event *event);
/* The heap must not be empty. */
struct sim_event *sim_heap_pop(struct sim_heap *h);
static inline uint64_t sim_heap_min(const struct sim_heap *h)
{
	return h->n > 0 ? h->a[0].at : UINT64_MAX;
}
void sim_heap_free(struct sim_heap *h);
