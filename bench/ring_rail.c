/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/ring_rail.h"
#include <errno.h>
#include <stdio.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#define TABLE 128u

static const struct ring_rail *in_use;

static struct rte_ring *make_ring(
	const char *name, const char *what, unsigned dir, unsigned queue, uint32_t size)
{
	char text[RTE_RING_NAMESIZE];

	snprintf(text, sizeof(text), "%s_%s_%u_%u", name, what, dir, queue);
	return rte_ring_create(
		text, size, SOCKET_ID_ANY, RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static int start(uint16_t port, unsigned queues)
{
	struct rte_eth_conf conf = {0};
	int ret = rte_eth_dev_configure(port, (uint16_t)queues, (uint16_t)queues, &conf);

	for (uint16_t q = 0; q < queues && ret == 0; q++) {
		ret = rte_eth_tx_queue_setup(port, q, 512, 0, NULL);
		if (ret == 0)
			ret = rte_eth_rx_queue_setup(port, q, 512, 0, NULL, in_use->ports.pool);
	}
	return ret == 0 ? rte_eth_dev_start(port) : ret;
}

int ring_rail_make(struct ring_rail *r, const char *name, unsigned queues, uint32_t size, bool loop)
{
	*r = (struct ring_rail){.queues = queues};
	for (unsigned i = 0; i < 2 * queues; i++) {
		unsigned dir = i / queues, q = i % queues;

		r->in[dir][q] = make_ring(name, "in", dir, q, size);
		r->out[dir][q] = loop ? r->in[dir][q] : make_ring(name, "out", dir, q, size);
		if (r->in[dir][q] == NULL || r->out[dir][q] == NULL)
			return -rte_errno;
	}
	/* What goes one way comes in by one port and leaves by the other. */
	for (unsigned dir = 0; dir < 2; dir++) {
		char text[RTE_ETH_NAME_MAX_LEN];
		int port;

		snprintf(text, sizeof(text), "%s_%u", name, dir);
		port = rte_eth_from_rings(text, r->in[dir], queues, r->out[!dir], queues, 0);
		if (port < 0)
			return -rte_errno;
		r->ports.in[dir] = (uint16_t)port;
		r->ports.spreads[dir] = queues > 1;
	}
	return 0;
}

int ring_rail_start(struct ring_rail *r, unsigned workers, struct rte_mempool *pool)
{
	int ret;

	r->ports.pool = pool;
	hp3d_spread_init(&r->spread, workers, r->queues > 1 ? TABLE : 0, 1);
	in_use = r;
	ret = start(r->ports.in[0], r->queues);
	return ret == 0 ? start(r->ports.in[1], r->queues) : ret;
}

const struct hp3d_rail_ports *hp3d_rail_ports(unsigned rail)
{
	return &in_use->ports;
}

unsigned hp3d_rail_count(void)
{
	return 1;
}

const struct hp3d_spread *hp3d_ports_spread(void)
{
	return &in_use->spread;
}
