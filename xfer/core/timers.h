/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Timers: one for each number below a limit, in a heap that knows the place of each. A timer can be
 * set, changed and stopped at any time; this takes O(log n) steps. Timers of the same time end in
 * the order of their numbers.
 */
#include <stdint.h>

struct hp3xc_timer {
	uint64_t at;
	uint32_t id;
};

struct hp3xc_timers {
	struct hp3xc_timer *heap;
	uint32_t *place; /* by id; UINT32_MAX: does not run */
	uint32_t n;
};

void hp3xc_timers_init(struct hp3xc_timers *t, uint32_t n_ids);
void hp3xc_timer_set(struct hp3xc_timers *t, uint32_t id, uint64_t at);
void hp3xc_timer_stop(struct hp3xc_timers *t, uint32_t id);

/* Sets a timer that does not run, or would end later. */
static inline void hp3xc_timer_hasten(struct hp3xc_timers *t, uint32_t id, uint64_t at)
{
	if (t->place[id] == UINT32_MAX || t->heap[t->place[id]].at > at)
		hp3xc_timer_set(t, id, at);
}

/* UINT64_MAX: no timer runs. */
static inline uint64_t hp3xc_timers_min(const struct hp3xc_timers *t)
{
	return t->n > 0 ? t->heap[0].at : UINT64_MAX;
}
