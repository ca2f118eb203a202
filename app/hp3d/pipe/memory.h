/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_MEMORY_H
#define HP3D_MEMORY_H
/*
 * The two big things in memory, tables and packet buffers, in pages as large as there are.
 *
 * With hugepages, DPDK's heap has them. Without (the default), DPDK's heap has small pages, more
 * than the TLB holds; for memory of our own the kernel may find huge ones (transparent hugepages).
 * [eal] memory_mb bounds what is taken this way for tables, and likewise for packet buffers, as it
 * bounds DPDK's heap.
 *
 * All pages of tables are there from the start (Linux 5.14): no packet waits for one.
 *
 * Both are on the socket that is asked for. What else is small in DPDK's heap (rings, hold queues)
 * is so with hugepages only: without, that heap is one piece.
 *
 * Only at set-up and clean-up; one thread.
 */
#include "config/config.h"

struct rte_mempool;

enum hp3d_memory_use { HP3D_MEMORY_TABLES, HP3D_MEMORY_BUFFERS, HP3D_MEMORY_USES };

/* At least 64-byte aligned, not initialised. NULL: no memory, or beyond memory_mb. */
void *hp3d_memory_get(
	const struct hp3_config *cfg, enum hp3d_memory_use use, size_t size, int socket);
/* `use` and `size` as it was asked for. */
void hp3d_memory_put(void *mem, enum hp3d_memory_use use, size_t size);

/*
 * `n` packet buffers with `cfg->eal.mbuf_bytes` of room. Own memory is used only where all ports
 * are virtual devices that copy packets or take buffers from anywhere: a NIC or a peer process may
 * want to be told of the memory, which DPDK does for its heap alone. NULL: rte_errno says why.
 */
struct rte_mempool *hp3d_packet_pool(
	const struct hp3_config *cfg, const char *name, uint32_t n, uint32_t cache, int socket);

#endif
