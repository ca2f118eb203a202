/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PORT_SETUP_H
#define HP3D_PORT_SETUP_H
/*
 * Sets up the queues of one port, its RSS and its Rx interrupts. If the device refuses a set-up,
 * hp3d tries a simpler one: one queue without RSS, then no interrupts. hp3d sets the RSS key and
 * the indirection table, and reads the key back. Workers also check
 * the queue of every packet, in case the device hashes otherwise.
 */
#include "app/hp3d/lcores/spread.h"

struct rte_mempool;

struct hp3d_port_wish {
	struct rte_mempool *pool;
	const struct hp3d_spread *spread;
	uint16_t mtu; /* 0: the driver's default */
	bool one_queue; /* one lcore has the whole rail */
	bool interrupts; /* received packets are to wake a sleeping lcore */
	bool virtual; /* a virtual device: calls that its driver does not support are no failures */
};

/* Why the lcores have to spread a port's packets themselves; NULL: the port's NIC can. */
const char *hp3d_port_unsupported(uint16_t port, unsigned lcores);

/* 0: the port runs. If *reason is NULL, it has an Rx and a Tx queue for every lcore; otherwise, it
 * has one of each, and *reason is why. On failure, returns the negative errno of the DPDK call that
 * *what names. */
int hp3d_port_setup(
	uint16_t port, const struct hp3d_port_wish *wish, const char **reason, const char **what);

#endif
