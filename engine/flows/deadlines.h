/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_DEADLINES_H
#define HP3_ENGINE_DEADLINES_H
/*
 * Deadlines of numbered items, the earliest first: a heap with four children per node that knows
 * where each item is. An item has one deadline at most. Setting one, or taking it away, takes
 * log4(items) steps; the earliest is at hand.
 *
 * Times are ns. The memory is the caller's: `most` entries and `most` places, places all 0.
 */
#include <stddef.h>
#include <stdint.h>

struct hp3_deadline {
	uint64_t at;
	uint32_t item;
};

struct hp3_deadlines {
	struct hp3_deadline *heap;
	uint32_t *place; /* by item: where it is in the heap, + 1; 0: it has none */
	uint32_t n;
};

/* UINT64_MAX: the item has none any more. */
void hp3_deadline_set(struct hp3_deadlines *d, uint32_t item, uint64_t at);

/* Of the item; UINT64_MAX: it has none. */
static inline uint64_t hp3_deadline_of(const struct hp3_deadlines *d, uint32_t item)
{
	return d->place[item] != 0 ? d->heap[d->place[item] - 1].at : UINT64_MAX;
}

/* The earliest, UINT64_MAX: there is none; whose it is, if there is one. */
static inline uint64_t hp3_deadline_next(const struct hp3_deadlines *d)
{
	return d->n != 0 ? d->heap[0].at : UINT64_MAX;
}

static inline uint32_t hp3_deadline_item(const struct hp3_deadlines *d)
{
	return d->heap[0].item;
}

#endif
