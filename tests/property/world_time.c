/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to happen, in order of time; what comes first of the same moment was said first. */
#include "world_internal.h"

static bool before(const struct ev *a, const struct ev *b)
{
	return a->t < b->t || (a->t == b->t && a->seq < b->seq);
}

void world_push(struct world *w, struct ev ev)
{
	uint32_t i = w->nheap++;

	if (w->nheap > w->cap) {
		w->cap = w->cap ? 2 * w->cap : 1024;
		w->heap = realloc(w->heap, w->cap * sizeof(*w->heap));
	}
	ev.seq = w->seq++;
	for (; i > 0 && before(&ev, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = ev;
}

struct ev world_pop(struct world *w)
{
	struct ev top = w->heap[0], last = w->heap[--w->nheap];
	uint32_t i = 0;

	for (;;) {
		uint32_t c = 2 * i + 1;

		if (c >= w->nheap)
			break;
		if (c + 1 < w->nheap && before(&w->heap[c + 1], &w->heap[c]))
			c++;
		if (!before(&w->heap[c], &last))
			break;
		w->heap[i] = w->heap[c];
		i = c;
	}
	w->heap[i] = last;
	return top;
}

void world_at(struct world *w, uint64_t delay, enum ev_kind kind, uint32_t qp, uint32_t gen)
{
	world_push(
		w, (struct ev){.t = w->now + delay, .kind = (uint8_t)kind, .qp = qp, .gen = gen});
}
