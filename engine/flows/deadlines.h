/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Deadlines of numbered items: a heap with four children per node and an index by item. An item has
 * one deadline at most. Setting or removing a deadline takes log4(items) steps; reading the
 * earliest deadline takes one step.
 *
 * Times are ns. The caller provides the memory: `heap` and `place` with one entry per item, `place`
 * all 0.
 */
#include <stddef.h>
#include <stdint.h>

struct hp3_deadline {
	uint64_t at;
	uint32_t item;
};

struct hp3_deadlines {
	struct hp3_deadline *heap;
	uint32_t *place; /* by item: position in the heap + 1; 0: no deadline */
	uint32_t n;
};

/* UINT64_MAX removes the deadline. */
void hp3_deadline_set(struct hp3_deadlines *d, uint32_t item, uint64_t at);

/* Deadline of the item; UINT64_MAX: none. */
static inline uint64_t hp3_deadline_of(const struct hp3_deadlines *d, uint32_t item)
{
	return d->place[item] != 0 ? d->heap[d->place[item] - 1].at : UINT64_MAX;
}

/*
 * _next: the earliest deadline; UINT64_MAX: none. _item: the item with the earliest deadline. Call
 * _item only if an item has a deadline.
 */
static inline uint64_t hp3_deadline_next(const struct hp3_deadlines *d)
{
	return d->n != 0 ? d->heap[0].at : UINT64_MAX;
}

static inline uint32_t hp3_deadline_item(const struct hp3_deadlines *d)
{
	return d->heap[0].item;
}
