/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps packet buffers free: held packets must not keep hp3d from receiving. */
#include <rte_lcore.h>
#include <rte_mempool.h>
#include "app/hp3d/pipe/internal.h"

#define SPARE 8u /* this part of a pool is never held */

void hp3d_pipe_buffers(struct hp3d_pipe *p, struct rte_mempool *pool, unsigned sharers)
{
	p->pool = pool;
	p->sharers = sharers;
}

/* rte_mempool_avail_count() would walk the caches of all lcores, which this lcore cannot use. */
void hp3d_pipe_make_room(struct hp3d_pipe *p)
{
	const struct rte_mempool_cache *own;
	uint32_t n, spare;

	p->unroomed = 0;
	if (p->pool == NULL)
		return;
	own = rte_mempool_default_cache(p->pool, rte_lcore_id());
	n = rte_mempool_get_ops(p->pool->ops_index)->get_count(p->pool) +
	    (own != NULL ? own->len : 0);
	spare = p->pool->size / SPARE;
	hp3_hold_room(p->engine, n > spare ? (n - spare) / p->sharers : 0);
}
