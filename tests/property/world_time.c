/* SPDX-License-Identifier: BSD-3-Clause */
#include "epochs.h"
#include "world_internal.h"

#define WITHIN (4000 * US) /* of the wrap of a clock */

/* Each host has its own. */
void world_clocks(struct world *w)
{
	w->began = w->now = epoch_of(w->p.seed, 0, WITHIN);
	w->ahead = epoch_of(w->p.seed, 1, WITHIN) - w->began;
}

void world_push(struct world *w, struct event event)
{
	heap_put(&w->heap, &event.when, sizeof(event));
}

struct event world_pop(struct world *w)
{
	struct event event;

	heap_take(&w->heap, &event.when, sizeof(event));
	return event;
}

void world_at(struct world *w, uint64_t delay, enum event_kind kind, uint32_t qp, uint32_t gen)
{
	world_push(w,
		(struct event){.t = w->now + delay, .kind = (uint8_t)kind, .qp = qp, .gen = gen});
}
