/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ports.h"
#include <stdio.h>
#include <string.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define POOL_CACHE 256u
#define RING_SIZE  1024u
#define ETH_EXTRA  (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 2 * RTE_VLAN_HLEN)

static struct hp3d_rail_ports rails[HP3_CONFIG_RAILS_MAX];
static unsigned n_rails;
static uint16_t started[2 * HP3_CONFIG_RAILS_MAX];
static unsigned n_started;

struct where {
	const char *rail, *side, *devargs;
};

static int fail(const struct where *w, const char *what, int err, const char *fix)
{
	fprintf(stderr, "hp3d: [rail.%s] %s = \"%s\": %s: %s; %s\n", w->rail, w->side, w->devargs,
		what, rte_strerror(-err), fix);
	return -1;
}

static int probe(const struct where *w, uint16_t *port)
{
	char name[HP3_CONFIG_DEVARGS_MAX];
	int ret = rte_dev_probe(w->devargs);

	if (ret < 0 && ret != -EEXIST)
		return fail(w, "no such device", ret,
			"check the driver's name, its arguments, that the interface exists and "
			"that we may use it");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(w->devargs, ","), w->devargs);
	ret = rte_eth_dev_get_port_by_name(name, port);
	if (ret < 0)
		return fail(w, "the device made no Ethernet port", ret,
			"use a network driver (net_...)");
	return 0;
}

/* Frames must fit one buffer: RoCE packets in pieces could not be held or rewritten. */
static int check_mtu(const struct where *w, uint16_t port, uint32_t mbuf_bytes)
{
	uint16_t mtu;
	uint32_t room = mbuf_bytes - RTE_PKTMBUF_HEADROOM;

	if (rte_eth_dev_get_mtu(port, &mtu) != 0 || (uint32_t)mtu + ETH_EXTRA <= room)
		return 0;
	fprintf(stderr,
		"hp3d: [rail.%s] %s: MTU %u does not fit one buffer of %u bytes; set [eal] "
		"mbuf_bytes to at least %u or "
		"lower the interface's MTU\n",
		w->rail, w->side, mtu, room, (unsigned)(mtu + ETH_EXTRA + RTE_PKTMBUF_HEADROOM));
	return -1;
}

static int start(const struct where *w, const struct hp3_config *cfg, struct rte_mempool *pool,
	uint16_t *port)
{
	struct rte_eth_conf conf = {0};
	uint16_t rx = RING_SIZE, tx = RING_SIZE;
	int ret;

	if (probe(w, port) < 0)
		return -1;
	ret = rte_eth_dev_configure(*port, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(*port, &rx, &tx);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(
			*port, 0, rx, (unsigned)rte_eth_dev_socket_id(*port), NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(
			*port, 0, tx, (unsigned)rte_eth_dev_socket_id(*port), NULL);
	if (ret < 0)
		return fail(w, "queues cannot be set up", ret,
			"for net_af_packet framesz must fit mbuf_bytes; for others lower mbufs or "
			"mbuf_bytes");
	if (check_mtu(w, *port, cfg->eal.mbuf_bytes) < 0)
		return -1;
	ret = rte_eth_dev_start(*port);
	if (ret < 0)
		return fail(w, "does not start", ret, "see the driver's lines above");
	started[n_started++] = *port;
	/* Some virtual devices know no promiscuous mode: they deliver everything anyway. */
	ret = rte_eth_promiscuous_enable(*port);
	if (ret < 0 && ret != -ENOTSUP)
		return fail(w, "cannot be made promiscuous", ret,
			"hp3d needs packets that are not addressed to it");
	return 0;
}

int hp3d_ports_start(const struct hp3_config *cfg)
{
	for (unsigned i = 0; i < cfg->n_rails; i++) {
		const struct hp3_config_rail *r = &cfg->rails[i];
		struct where rnic = {r->name, "rnic", r->rnic}, net = {r->name, "net", r->net};
		char name[RTE_MEMPOOL_NAMESIZE];

		snprintf(name, sizeof(name), "hp3d_%s", r->name);
		rails[i].pool = rte_pktmbuf_pool_create(name, cfg->eal.mbufs, POOL_CACHE, 0,
			(uint16_t)cfg->eal.mbuf_bytes, SOCKET_ID_ANY);
		if (rails[i].pool == NULL) {
			fprintf(stderr,
				"hp3d: [rail.%s]: no memory for %u packet buffers of %u bytes; "
				"raise [eal] memory_mb or "
				"lower mbufs\n",
				r->name, cfg->eal.mbufs, cfg->eal.mbuf_bytes);
			hp3d_ports_stop();
			return -1;
		}
		n_rails = i + 1;
		if (start(&rnic, cfg, rails[i].pool, &rails[i].in[HP3_DIR_TX]) < 0 ||
			start(&net, cfg, rails[i].pool, &rails[i].in[HP3_DIR_RX]) < 0) {
			hp3d_ports_stop();
			return -1;
		}
	}
	return 0;
}

void hp3d_ports_stop(void)
{
	while (n_started > 0) {
		uint16_t port = started[--n_started];

		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
}

const struct hp3d_rail_ports *hp3d_rail_ports(unsigned rail)
{
	return &rails[rail];
}

unsigned hp3d_rail_count(void)
{
	return n_rails;
}
