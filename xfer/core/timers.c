/* SPDX-License-Identifier: BSD-3-Clause */
#include "xfer/core/timers.h"
#include <stdbool.h>

void hp3xc_timers_init(struct hp3xc_timers *t, uint32_t n_ids)
{
	t->n = 0;
	for (uint32_t i = 0; i < n_ids; i++)
		t->place[i] = UINT32_MAX;
}

static bool is_before(const struct hp3xc_timer *a, const struct hp3xc_timer *b)
{
	return a->at < b->at || (a->at == b->at && a->id < b->id);
}

static void put_at(struct hp3xc_timers *t, uint32_t i, struct hp3xc_timer timer)
{
	t->heap[i] = timer;
	t->place[timer.id] = i;
}

/* Finds the place of `timer`, beginning at the free place i. */
static void sift_timer(struct hp3xc_timers *t, uint32_t i, struct hp3xc_timer timer)
{
	while (i > 0 && is_before(&timer, &t->heap[(i - 1) / 2])) {
		put_at(t, i, t->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < t->n && is_before(&t->heap[child + 1], &t->heap[child]))
			child++;
		if (child >= t->n || !is_before(&t->heap[child], &timer))
			break;
		put_at(t, i, t->heap[child]);
		i = child;
	}
	put_at(t, i, timer);
}

void hp3xc_timer_set(struct hp3xc_timers *t, uint32_t id, uint64_t at)
{
	uint32_t i = t->place[id] != UINT32_MAX ? t->place[id] : t->n++;

	sift_timer(t, i, (struct hp3xc_timer){.at = at, .id = id});
}

void hp3xc_timer_stop(struct hp3xc_timers *t, uint32_t id)
{
	uint32_t i = t->place[id];

	if (i == UINT32_MAX)
		return;
	t->place[id] = UINT32_MAX;
	if (i != --t->n)
		sift_timer(t, i, t->heap[t->n]);
}
