/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/flows/losses.h"
#include "engine/part.h"

#define LEAVE_TRIES 64u /* to leave, once a path was found */

static struct hp3_losses *loss_set_of(const struct hp3_engine *e, uint32_t flow)
{
	return &e->losses[flow % HP3_LOSS_SETS * HP3_LOSS_WAYS];
}

struct hp3_losses *hp3_losses_find(const struct hp3_engine *e, uint32_t flow)
{
	struct hp3_losses *set = loss_set_of(e, flow);

	for (uint32_t i = 0; i < HP3_LOSS_WAYS; i++)
		if (set[i].flow == flow)
			return &set[i];
	return NULL;
}

struct hp3_losses *hp3_losses_take(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_losses *set = loss_set_of(e, flow), *l = hp3_losses_find(e, flow);

	if (l != NULL)
		return l;
	l = set;
	for (uint32_t i = 0; i < HP3_LOSS_WAYS && l->flow != HP3_NO_FLOW; i++)
		if (set[i].flow == HP3_NO_FLOW || set[i].at < l->at)
			l = &set[i];
	*l = (struct hp3_losses){.flow = flow, .at = now, .until = now};
	return l;
}

void hp3_losses_forget(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_losses *l = hp3_losses_find(e, flow);

	if (l != NULL)
		*l = (struct hp3_losses){.flow = HP3_NO_FLOW};
}

void hp3_losses_found(struct hp3_engine *e, uint32_t flow, uint16_t to)
{
	struct hp3_losses *l = hp3_losses_find(e, flow);

	if (l == NULL)
		return; /* its record was evicted */
	l->to = to;
	l->tries = LEAVE_TRIES;
}

static void take_losses(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->losses, HP3_LOSS_SETS * HP3_LOSS_WAYS);
}

static void init_losses(struct hp3_engine *e)
{
	for (uint32_t i = 0; i < HP3_LOSS_SETS * HP3_LOSS_WAYS; i++)
		e->losses[i].flow = HP3_NO_FLOW;
}

const struct hp3_part hp3_losses_part = {.take = take_losses, .init = init_losses};
