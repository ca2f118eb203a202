/* SPDX-License-Identifier: BSD-3-Clause */
/* The packet buffer pools; apart from the other stats, which stand without DPDK. */
#include <rte_mempool.h>
#include "app/hp3d/control/commands.h"

static void add(struct rte_mempool *pool, void *arg)
{
	json_object_set_new(arg, pool->name,
		json_pack("{s:I, s:I}", "size", (json_int_t)pool->size, "free",
			(json_int_t)rte_mempool_avail_count(pool)));
}

json_t *hp3d_json_pools(void)
{
	json_t *pools = json_object();

	if (pools)
		rte_mempool_walk(add, pools);
	return pools;
}
