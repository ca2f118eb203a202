/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4-testbed/fabric/tm.h"
#include <stdio.h>
#include <stdlib.h>

static bool is_event_before(const struct hp3_tm_event *a, const struct hp3_tm_event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void swap_events(struct hp3_tm_event *a, struct hp3_tm_event *b)
{
	struct hp3_tm_event t = *a;

	*a = *b;
	*b = t;
}

/* A lane has one event of its own kind at a time and few pauses in the air: this grows rarely. */
static void grow_heap(struct hp3_tm *tm)
{
	size_t cap = tm->cap_heap > 0 ? 2 * tm->cap_heap : 64;
	struct hp3_tm_event *heap = realloc(tm->heap, cap * sizeof(*heap));

	if (heap == NULL) {
		fprintf(stderr, "hp3-fabric: out of memory for %zu events\n", cap);
		abort();
	}
	tm->heap = heap;
	tm->cap_heap = cap;
}

void hp3_tm_at(struct hp3_tm *tm, uint64_t at, uint32_t lane, enum hp3_tm_kind kind, uint32_t what)
{
	size_t i = tm->n_heap;

	if (tm->n_heap == tm->cap_heap)
		grow_heap(tm);
	tm->heap[tm->n_heap++] =
		(struct hp3_tm_event){at, tm->seq++, lane, (uint16_t)kind, (uint16_t)what};
	for (; i > 0 && is_event_before(&tm->heap[i], &tm->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap_events(&tm->heap[i], &tm->heap[(i - 1) / 2]);
}

bool hp3_tm_pop(struct hp3_tm *tm, uint64_t until, struct hp3_tm_event *e)
{
	size_t i = 0;

	if (tm->n_heap == 0 || tm->heap[0].at > until)
		return false;
	*e = tm->heap[0];
	tm->heap[0] = tm->heap[--tm->n_heap];
	for (;;) {
		size_t least = i, l = 2 * i + 1, r = l + 1;

		if (l < tm->n_heap && is_event_before(&tm->heap[l], &tm->heap[least]))
			least = l;
		if (r < tm->n_heap && is_event_before(&tm->heap[r], &tm->heap[least]))
			least = r;
		if (least == i)
			return true;
		swap_events(&tm->heap[i], &tm->heap[least]);
		i = least;
	}
}
