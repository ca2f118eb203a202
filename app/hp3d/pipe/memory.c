/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/memory.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include "app/hp3d/pipe/sockets.h"

#define HUGE_PAGE ((size_t)2 << 20)

static size_t own[HP3D_MEMORY_USES]; /* bytes outside of DPDK's heap */

static size_t round_to_page(size_t size)
{
	return RTE_ALIGN_CEIL(size, HUGE_PAGE);
}

void *hp3d_memory_get(
	const struct hp3_config *cfg, enum hp3d_memory_use use, size_t size, int socket)
{
	void *mem;

	if (rte_eal_has_hugepages())
		return rte_malloc_socket("hp3d", size, RTE_CACHE_LINE_SIZE, socket);
	if (own[use] + round_to_page(size) > (size_t)cfg->eal.memory_mb << 20)
		return NULL;
	mem = aligned_alloc(HUGE_PAGE, round_to_page(size));
	if (mem != NULL) {
		hp3d_socket_bind(mem, round_to_page(size), socket);
		madvise(mem, round_to_page(size), MADV_HUGEPAGE); /* failure: small pages, slower */
		/* Else the first packet that needs a page waits for a page fault. */
		if (use == HP3D_MEMORY_TABLES)
			madvise(mem, round_to_page(size), MADV_POPULATE_WRITE);
		own[use] += round_to_page(size);
	}
	return mem;
}

void hp3d_memory_put(void *mem, enum hp3d_memory_use use, size_t size)
{
	if (rte_eal_has_hugepages()) {
		rte_free(mem);
	} else if (mem != NULL) {
		own[use] -= round_to_page(size);
		free(mem);
	}
}

static bool takes_any_buffer(const char *devargs)
{
	/* net_af_xdp needs the buffers in one piece of memory that is no longer than they are. */
	static const char *const drivers[] = {"net_af_packet", "net_af_xdp", "net_tap", "net_vhost",
		"net_ring", "net_null", "net_pcap"};

	for (size_t i = 0; i < RTE_DIM(drivers); i++) {
		if (strncmp(devargs, drivers[i], strlen(drivers[i])) == 0)
			return true;
	}
	return false;
}

static bool may_be_ours(const struct hp3_config *cfg)
{
	if (rte_eal_has_hugepages() || rte_eal_iova_mode() != RTE_IOVA_VA)
		return false;
	for (uint32_t i = 0; i < 2 * cfg->n_rails; i++) {
		const struct hp3_config_rail *r = &cfg->rails[i / 2];

		if (!takes_any_buffer(i % 2 == 0 ? r->rnic : r->net))
			return false;
	}
	return true;
}

static void give_back(struct rte_mempool_memhdr *chunk, void *size)
{
	hp3d_memory_put(chunk->addr, HP3D_MEMORY_BUFFERS, (size_t)(uintptr_t)size);
}

/* All buffers in one piece of hp3d's own memory. */
static int populate_pool(
	struct rte_mempool *mp, const struct hp3_config *cfg, uint32_t n, int socket)
{
	size_t chunk, align;
	ssize_t size = rte_mempool_op_calc_mem_size_default(mp, n, 0, &chunk, &align);
	void *mem;
	int got;

	if (size < 0)
		return (int)size;
	mem = hp3d_memory_get(cfg, HP3D_MEMORY_BUFFERS, (size_t)size, socket);
	if (mem == NULL)
		return -ENOMEM;
	got = rte_mempool_populate_iova(mp, mem, (rte_iova_t)(uintptr_t)mem, (size_t)size,
		give_back, (void *)(uintptr_t)size);
	if (got != (int)n) {
		if (got <= 0)
			hp3d_memory_put(mem, HP3D_MEMORY_BUFFERS, (size_t)size);
		return -ENOMEM;
	}
	return 0;
}

struct rte_mempool *hp3d_packet_pool(
	const struct hp3_config *cfg, const char *name, uint32_t n, uint32_t cache, int socket)
{
	struct rte_pktmbuf_pool_private room = {
		.mbuf_data_room_size = (uint16_t)cfg->eal.mbuf_bytes};
	struct rte_mempool *mp;
	int err;

	if (!may_be_ours(cfg))
		return rte_pktmbuf_pool_create(
			name, n, cache, 0, (uint16_t)cfg->eal.mbuf_bytes, socket);
	/* Without the flag, no buffer may cross a small page, and all headers share a cache set. */
	mp = rte_mempool_create_empty(name, n, sizeof(struct rte_mbuf) + cfg->eal.mbuf_bytes, cache,
		sizeof(room), socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (mp == NULL)
		return NULL;
	err = rte_mempool_set_ops_byname(mp, rte_mbuf_best_mempool_ops(), NULL);
	if (err == 0) {
		rte_pktmbuf_pool_init(mp, &room);
		err = populate_pool(mp, cfg, n, socket);
	}
	if (err != 0) {
		rte_mempool_free(mp);
		rte_errno = -err;
		return NULL;
	}
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
}
