/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Memory for the two large users, tables and packet buffers, in the largest pages available.
 *
 * With hugepages, the memory comes from DPDK's heap. Without hugepages (the default), that heap has
 * small pages, more than the TLB holds. So hp3d then allocates memory outside that heap, for which
 * the kernel may use transparent hugepages. [eal] memory_mb bounds the memory of tables and,
 * separately, the memory of packet buffers. The same key bounds DPDK's heap.
 *
 * All pages of tables are populated from the start (Linux 5.14), so no packet waits for a page
 * fault.
 *
 * Tables and packet buffers are on the requested NUMA socket. Small objects in DPDK's heap (rings,
 * hold queues) are on that socket only with hugepages. Without hugepages, that heap is not divided
 * by sockets.
 *
 * One thread calls these functions, only at set-up and clean-up.
 */
#include "config/config.h"

struct rte_mempool;

enum hp3d_memory_use { HP3D_MEMORY_TABLES, HP3D_MEMORY_BUFFERS, HP3D_MEMORY_USES };

/* At least 64-byte aligned, not initialised. NULL: no memory, or beyond memory_mb. */
void *hp3d_memory_get(
	const struct hp3_config *cfg, enum hp3d_memory_use use, size_t size, int socket);
/* `use` and `size`: those given to hp3d_memory_get(). */
void hp3d_memory_put(void *mem, enum hp3d_memory_use use, size_t size);

/*
 * `n` packet buffers with room for `cfg->eal.mbuf_bytes`. The buffers are outside DPDK's heap only
 * if all ports are virtual devices that copy packets or take buffers from anywhere. A NIC or a peer
 * process may need registered memory, and DPDK registers only its heap. NULL: see rte_errno.
 */
struct rte_mempool *hp3d_packet_pool(
	const struct hp3_config *cfg, const char *name, uint32_t n, uint32_t cache, int socket);
