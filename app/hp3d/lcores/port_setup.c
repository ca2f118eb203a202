/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/ports.h"
#include <errno.h>
#include <string.h>
#include <rte_ethdev.h>

#define RING_SIZE 1024u
#define TABLE_MAX 4096u /* entries of an indirection table that are filled */

const char *hp3d_port_unsupported(uint16_t port, unsigned lcores)
{
	struct rte_eth_dev_info info;

	if (lcores == 1)
		return "there is one lcore";
	if (rte_eth_dev_info_get(port, &info) != 0)
		return "the driver reports no capabilities";
	return hp3d_rss_unsupported(&info, lcores);
}

/* How a port is set up. */
struct shape {
	unsigned queues; /* for Rx, and for Tx */
	bool interrupts; /* received packets are to wake a sleeping lcore */
};

/* *what: the last DPDK call. */
static int make_queues(
	uint16_t port, const struct shape *sh, const struct hp3d_port_wish *wish, const char **what)
{
	unsigned socket = (unsigned)rte_eth_dev_socket_id(port);
	uint8_t key[UINT8_MAX];
	uint16_t rx = RING_SIZE, tx = RING_SIZE, n = (uint16_t)sh->queues;
	struct rte_eth_conf conf = {
		.rxmode.mtu = wish->mtu, .intr_conf.rxq = sh->interrupts ? 1 : 0};
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port, &info);

	*what = "rte_eth_dev_info_get";
	if (ret == 0 && sh->queues > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_key_len = hp3d_rss_key(&info, key);
		conf.rx_adv_conf.rss_conf.rss_key = key;
		conf.rx_adv_conf.rss_conf.rss_hf = hp3d_rss_types(&info);
	}
	if (ret == 0) {
		*what = "rte_eth_dev_configure";
		ret = rte_eth_dev_configure(port, n, n, &conf);
	}
	if (ret == 0) {
		*what = "rte_eth_dev_adjust_nb_rx_tx_desc";
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx);
	}
	for (uint16_t q = 0; q < n && ret == 0; q++) {
		*what = "rte_eth_rx_queue_setup";
		ret = rte_eth_rx_queue_setup(port, q, rx, socket, NULL, wish->pool);
		if (ret != 0)
			break;
		*what = "rte_eth_tx_queue_setup";
		ret = rte_eth_tx_queue_setup(port, q, tx, socket, NULL);
	}
	return ret;
}

/* True: the port has that key, or does not report one. */
static bool has_key(uint16_t port, const struct rte_eth_rss_conf *wanted)
{
	uint8_t key[UINT8_MAX] = {0}; /* not every driver writes it */
	struct rte_eth_rss_conf rss = {.rss_key = key, .rss_key_len = sizeof(key)};

	return rte_eth_dev_rss_hash_conf_get(port, &rss) != 0 ||
	       memcmp(key, wanted->rss_key, wanted->rss_key_len) == 0;
}

/* Some drivers accept the key when the port is configured, others only when the port runs. */
static int take_key(uint16_t port, const struct rte_eth_dev_info *info)
{
	uint8_t key[UINT8_MAX];
	struct rte_eth_rss_conf rss = {.rss_key = key,
		.rss_key_len = hp3d_rss_key(info, key),
		.rss_hf = hp3d_rss_types(info)};

	if (has_key(port, &rss))
		return 0;
	if (rte_eth_dev_rss_hash_update(port, &rss) != 0 || !has_key(port, &rss))
		return -ENOTSUP;
	return 0;
}

/* Sets hp3d's key and indirection table. */
static int take_rss(uint16_t port, const struct hp3d_spread *s)
{
	struct rte_eth_rss_reta_entry64 table[TABLE_MAX / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port, &info);

	if (ret != 0 || info.reta_size > TABLE_MAX)
		return -ENOTSUP;
	memset(table, 0, sizeof(table));
	for (unsigned i = 0; i < info.reta_size; i++) {
		table[i / RTE_ETH_RETA_GROUP_SIZE].mask |= 1ull << i % RTE_ETH_RETA_GROUP_SIZE;
		table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] =
			s->owner[i & (s->table - 1)];
	}
	ret = rte_eth_dev_rss_reta_update(port, table, info.reta_size);
	return ret != 0 ? ret : take_key(port, &info);
}

static int try_shape(
	uint16_t port, const struct shape *sh, const struct hp3d_port_wish *wish, const char **what)
{
	int ret = make_queues(port, sh, wish, what);

	/* A start of the port sets the requested modes. So it turns promiscuous mode off unless
	 * this mode was requested before. Then an interface that forwards frames without hp3d would
	 * lose some. */
	if (ret == 0) {
		*what = "rte_eth_dev_start";
		(void)rte_eth_promiscuous_enable(port);
		ret = rte_eth_dev_start(port);
	}
	if (ret != 0 || sh->queues == 1)
		return ret;
	ret = take_rss(port, wish->spread);
	if (ret != 0)
		rte_eth_dev_stop(port);
	return ret;
}

int hp3d_port_setup(
	uint16_t port, const struct hp3d_port_wish *wish, const char **reason, const char **what)
{
	unsigned lcores = wish->spread->workers;
	struct shape sh = {.queues = 1, .interrupts = wish->interrupts};
	int ret;

	*reason = wish->one_queue ? "one queue was requested" : hp3d_port_unsupported(port, lcores);
	if (*reason == NULL)
		sh.queues = lcores;
	ret = try_shape(port, &sh, wish, what);
	if (ret != 0 && sh.queues > 1) {
		*reason = "the driver refused the RSS key or indirection table";
		sh.queues = 1;
		ret = try_shape(port, &sh, wish, what);
	}
	if (ret != 0 && sh.interrupts && !wish->virtual) {
		sh.interrupts = false;
		ret = try_shape(port, &sh, wish, what);
	}
	return ret;
}
