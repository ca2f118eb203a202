/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/belt.h"
#include <stdio.h>
#include <stdlib.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include "app/hp3d/pipe/memory.h"
#include "bench/load_spray.h"

static int start_port(struct belt *b)
{
	struct rte_eth_conf conf = {0};
	int ret = rte_eth_dev_configure(b->port, 1, 1, &conf);

	if (ret == 0)
		ret = rte_eth_rx_queue_setup(b->port, 0, 512, 0, NULL, b->pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(b->port, 0, 512, 0, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(b->port);
	return ret;
}

static int ring_port(struct belt *b, const char *name)
{
	int port;

	b->ring = rte_ring_create(
		name, b->n, SOCKET_ID_ANY, RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (b->ring == NULL)
		return -rte_errno;
	port = rte_eth_from_ring(b->ring);
	b->port = (uint16_t)port;
	return port < 0 ? -rte_errno : 0;
}

static int null_port(struct belt *b, const char *name)
{
	char device[48], args[32];
	int ret;

	snprintf(device, sizeof(device), "net_null_%s", name);
	snprintf(args, sizeof(args), "size=%u", b->m[0]->pkt_len);
	ret = rte_eal_hotplug_add("vdev", device, args);
	return ret < 0 ? ret : rte_eth_dev_get_port_by_name(device, &b->port);
}

int belt_init(struct belt *b, enum load_kind kind, uint32_t n, bool ring, const char *name,
	const struct hp3_config *cfg)
{
	int ret;

	*b = (struct belt){.kind = kind, .n = n, .m = calloc(n, sizeof(*b->m))};
	b->pool = hp3d_packet_pool(cfg, name, n, 0, SOCKET_ID_ANY);
	if (b->pool == NULL)
		return -rte_errno;
	if (b->m == NULL)
		return -ENOMEM;
	ret = rte_pktmbuf_alloc_bulk(b->pool, b->m, n);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = load_template(kind, b->m[i]);
	if (ret == 0)
		ret = ring ? ring_port(b, name) : null_port(b, name);
	if (ret == 0)
		ret = start_port(b);
	if (ret != 0)
		return ret;
	if (!ring)
		rte_mempool_put_bulk(b->pool, (void **)b->m, n);
	else if (rte_ring_enqueue_bulk(b->ring, (void **)b->m, n, NULL) != n)
		return -ENOBUFS;
	return 0;
}

/* Every packet is back, in its place. */
bool belt_complete(const struct belt *b)
{
	struct rte_mbuf *m = NULL;

	if (b->lost != 0)
		return false;
	for (uint32_t i = 0; i < b->n; i++) {
		if (b->ring != NULL ? rte_ring_dequeue(b->ring, (void **)&m) != 0
				    : rte_mempool_get(b->pool, (void **)&m) != 0)
			return false;
		if (m != b->m[i])
			return false;
	}
	return true;
}

void belt_send(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	struct belt *b = ctx;

	b->lost += n - rte_eth_tx_burst(b->port, 0, m, n);
}

void belt_refresh(struct belt *b, struct load *l)
{
	if (load_is_agreed(l->mode))
		load_messages(l);
	if (load_is_ordered(b->kind)) {
		load_out_of_order(l, b->kind, b->m, b->n);
		return;
	}
	for (uint32_t i = 0; i < b->n; i++)
		load_refresh(l, b->kind, b->m[i]);
}
