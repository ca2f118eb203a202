/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of a world: of connections, rails, control channels and nodes. */
#include "tests/xfer/core/world.h"

enum fault { FAULT_BREAK, FAULT_FLAP, FAULT_RAIL_UP, FAULT_STALL, FAULT_SLOW, FAULT_DEATH };
#define FAULT_RETURN 1000u
#define FAULT_CANCEL 2000u

static void fault_plan(struct world *w, enum fault what, uint32_t n)
{
	for (; n > 0; n--)
		world_event(w, world_time(w, w->now, w->faults_end - w->p.faults_ns / 10),
			EVENT_FAULT, what, NULL);
}

void faults_begin(struct world *w)
{
	fault_plan(w, FAULT_BREAK, (uint32_t)(w->p.breaks * w->p.faults_ns / SECOND));
	fault_plan(w, FAULT_FLAP, w->p.flaps);
	fault_plan(w, FAULT_STALL, w->p.stalls);
	fault_plan(w, FAULT_DEATH, w->p.deaths);
	fault_plan(w, FAULT_SLOW, w->p.breaks != 0 ? 3 : 0);
}

static struct link *link_draw(struct world *w)
{
	return w->link[hp3_random_below(&w->random, w->n_links)];
}

static uint32_t paths_of(const struct world *w)
{
	return w->p.rails * w->p.paths_per_rail;
}

static void rail_tell(struct world *w, uint32_t node, uint32_t rail, bool up)
{
	if (w->node[node].dead || !world_chance(w, 7000))
		return; /* nobody notices */
	hp3x_core_rail(w->node[node].core, w->now, rail, up);
	world_drain(w, node);
}

static void rail_flap(struct world *w)
{
	uint32_t node = hp3_random_below(&w->random, w->p.nodes);
	uint32_t rail = hp3_random_below(&w->random, w->p.rails);

	if ((w->p.healthy && rail == 0) || w->node[node].dead || w->node[node].rail_down[rail])
		return;
	w->node[node].rail_down[rail] = true;
	rail_tell(w, node, rail, false);
	world_event(w, world_time(w, w->now, w->now + 100 * MS), EVENT_FAULT, FAULT_RAIL_UP,
		(void *)(uintptr_t)(node * RAILS + rail));
}

static void rail_return(struct world *w, uint32_t which)
{
	uint32_t node = which / RAILS, rail = which % RAILS;

	w->node[node].rail_down[rail] = false;
	if (w->node[node].dead)
		return;
	hp3x_core_rail(w->node[node].core, w->now, rail, true);
	world_drain(w, node);
}

static void node_kill(struct world *w)
{
	uint32_t node = hp3_random_below(&w->random, w->p.nodes);

	if (w->node[node].dead)
		return;
	for (uint32_t i = 0; i < w->n_links; i++) {
		struct link *l = w->link[i];
		uint32_t end = l->node[1] == node;

		if (l->node[end] != node || l->life[end] != w->node[node].life)
			continue;
		for (uint32_t n = 0; n < PATHS; n++)
			if (l->conn[n] != NULL)
				network_break(w, l->conn[n]);
		world_event(w, world_time(w, w->now, w->now + 500 * MS), EVENT_LOST, 1 - end, l);
	}
	w->node[node].dead = true;
	world_event(w, world_time(w, w->now, w->now + 100 * MS), EVENT_FAULT, FAULT_RETURN,
		(void *)(uintptr_t)node);
}

void faults_event(struct world *w, uint32_t what, void *data)
{
	struct link *l = link_draw(w);
	uint32_t path = hp3_random_below(&w->random, paths_of(w));
	struct world_op *op = data;

	switch (what) {
	case FAULT_BREAK:
		if (l->conn[path] != NULL && !(w->p.healthy && path == 0))
			network_break(w, l->conn[path]);
		break;
	case FAULT_FLAP:
		rail_flap(w);
		break;
	case FAULT_RAIL_UP:
		rail_return(w, (uint32_t)(uintptr_t)data);
		break;
	case FAULT_STALL:
		l->channel[path % 2].stalled = world_time(w, w->now, w->now + 300 * MS);
		break;
	case FAULT_SLOW:
		if (!(w->p.healthy && path == 0))
			l->slow_until[path] = world_time(w, w->now, w->now + 200 * MS);
		break;
	case FAULT_DEATH:
		node_kill(w);
		break;
	case FAULT_RETURN:
		for (uint32_t i = 0; i < w->p.nodes; i++)
			if (i != (uint32_t)(uintptr_t)data && !w->node[i].dead)
				network_connect(w,
					i < (uint32_t)(uintptr_t)data ? i
								      : (uint32_t)(uintptr_t)data,
					i < (uint32_t)(uintptr_t)data ? (uint32_t)(uintptr_t)data
								      : i);
		break;
	case FAULT_CANCEL:
		if (!w->node[op->node].dead && w->node[op->node].life == op->life) {
			hp3x_core_cancel(w->node[op->node].core, w->now, op->op);
			world_drain(w, op->node);
		}
		break;
	}
}
