/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the flow records, and of what other files store by flow. */
#include "engine/flows/table.h"
#include "engine/part.h"

static void take_flows(struct hp3_engine *e, struct hp3_arena *a)
{
	uint32_t buckets = hp3_table_buckets(2 * (uint64_t)e->cfg.max_flows);

	HP3_TAKE(a, e->table.buckets, buckets);
	e->table.mask = buckets - 1;
	HP3_TAKE(a, e->flows, e->cfg.max_flows);
	HP3_TAKE(a, e->began, e->cfg.max_flows);
	HP3_TAKE(a, e->unauth_state, e->cfg.max_flows);
}

static void init_flows(struct hp3_engine *e)
{
	hp3_table_init(&e->table, e->table.buckets, e->table.mask + 1);
	e->free_flow = e->announced = HP3_NO_FLOW;
	for (uint32_t i = e->cfg.max_flows; i-- > 0;) {
		e->flows[i].flags = 0;
		e->flows[i].watch = 0;
		e->flows[i].pair = e->free_flow;
		e->free_flow = i;
	}
}

const struct hp3_part hp3_flows_part = {.take = take_flows, .init = init_flows};
