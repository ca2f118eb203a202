/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PORT_SETUP_H
#define HP3D_PORT_SETUP_H
/*
 * Queues of one port, its RSS, its Rx interrupts. What a device does not take is tried in a simpler
 * way: without RSS and with one queue, then without interrupts. Nothing is believed: key and
 * indirection table are set, the key is read back, and workers still look at every packet.
 */
#include "app/hp3d/lcores/spread.h"

struct rte_mempool;

struct hp3d_port_wish {
	struct rte_mempool *pool;
	const struct hp3d_spread *spread;
	uint16_t mtu; /* 0: as the driver likes */
	bool one_queue; /* one lcore has the whole rail */
	bool interrupts; /* an lcore that sleeps wants to be woken by packets */
	bool virtual; /* ignores what it does not know, rather than fail */
};

/* Why the lcores have to spread a port's packets themselves; NULL: its NIC can. */
const char *hp3d_port_unsupported(uint16_t port, unsigned lcores);

/* 0, then the port runs, with a queue each way for every lcore and *reason = NULL, or with one and
 * *reason says why. Else a negative errno, of the call of DPDK that *what names. */
int hp3d_port_setup(
	uint16_t port, const struct hp3d_port_wish *wish, const char **reason, const char **what);

#endif
