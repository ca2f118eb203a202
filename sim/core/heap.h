/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CORE_HEAP_H
#define HP3_SIM_CORE_HEAP_H
/*
 * Heap of events by time, four children per node, first in first out among equals (each entry
 * bears a running number). Keys lie in the array itself, so that sifting touches no event.
 * Memory grows as needed; when there is none, the program ends: a simulation cannot go on.
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
/* Of a heap that is not empty. */
struct sim_event *sim_heap_pop(struct sim_heap *h);
static inline uint64_t sim_heap_min(const struct sim_heap *h)
{
	return h->n > 0 ? h->a[0].at : UINT64_MAX;
}
void sim_heap_free(struct sim_heap *h);

#endif
