/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Pools of packet buffers that another thread may be creating: rte_mempool_walk() also visits pools
 * that have no memory yet, and DPDK cannot count their buffers.
 */
#include <stdbool.h>
#include <rte_mempool.h>

static inline bool hp3d_pool_is_ready(const struct rte_mempool *pool)
{
	return __atomic_load_n(&pool->populated_size, __ATOMIC_ACQUIRE) == pool->size;
}
