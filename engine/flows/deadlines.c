/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/flows/deadlines.h"

#define CHILDREN 4u

static void put_deadline(struct hp3_deadlines *d, uint32_t i, const struct hp3_deadline *e)
{
	d->heap[i] = *e;
	d->place[e->item] = i + 1;
}

/* The earliest child of a node; its own number if it has none. */
static uint32_t first_child(const struct hp3_deadlines *d, uint32_t i)
{
	uint32_t c = CHILDREN * i + 1, end = c + CHILDREN < d->n ? c + CHILDREN : d->n, best = c;

	if (c >= d->n)
		return i;
	while (++c < end)
		if (d->heap[c].at < d->heap[best].at)
			best = c;
	return best;
}

/* Entry i is free: *e goes there, or up, or down. */
static void sift_deadline(struct hp3_deadlines *d, uint32_t i, const struct hp3_deadline *e)
{
	uint32_t next;

	while (i != 0 && e->at < d->heap[(i - 1) / CHILDREN].at) {
		put_deadline(d, i, &d->heap[(i - 1) / CHILDREN]);
		i = (i - 1) / CHILDREN;
	}
	while ((next = first_child(d, i)) != i && d->heap[next].at < e->at) {
		put_deadline(d, i, &d->heap[next]);
		i = next;
	}
	put_deadline(d, i, e);
}

void hp3_deadline_set(struct hp3_deadlines *d, uint32_t item, uint64_t at)
{
	uint32_t place = d->place[item], i = place != 0 ? place - 1 : d->n;
	struct hp3_deadline e = {at, item};

	if (at != UINT64_MAX) {
		d->n += place == 0;
	} else if (place == 0) {
		return;
	} else {
		d->place[item] = 0;
		e = d->heap[--d->n];
		if (i == d->n)
			return;
	}
	sift_deadline(d, i, &e);
}
