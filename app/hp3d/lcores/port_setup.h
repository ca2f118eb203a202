/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PORT_SETUP_H
#define HP3D_PORT_SETUP_H
/*
 * Queues of one port, its RSS, its Rx interrupts. If a device refuses a set-up, a simpler one is
 * tried: one queue without RSS, then no interrupts. The device is not trusted: key and indirection
 * table are set, the key is read back, and workers still check every packet.
 */
#include "app/hp3d/lcores/spread.h"

struct rte_mempool;

struct hp3d_port_wish {
	struct rte_mempool *pool;
	const struct hp3d_spread *spread;
	uint16_t mtu; /* 0: the driver's default */
	bool one_queue; /* one lcore has the whole rail */
	bool interrupts; /* an lcore that sleeps wants to be woken by packets */
	bool virtual; /* ignores unsupported calls instead of failing */
};

/* Why the lcores have to spread a port's packets themselves; NULL: its NIC can. */
const char *hp3d_port_unsupported(uint16_t port, unsigned lcores);

/* 0: the port runs, with an Rx and a Tx queue for every lcore and *reason = NULL, or with one of
 * each and the reason. Else the negative errno of the DPDK call that *what names. */
int hp3d_port_setup(
	uint16_t port, const struct hp3d_port_wish *wish, const char **reason, const char **what);

#endif
