/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PORTS_H
#define HP3D_PORTS_H
/*
 * The two ports of each rail. hp3d creates them from devargs, with any PMD. They are promiscuous,
 * because their packets have the addresses of other hosts. With several lcores, a port has an Rx
 * and a Tx queue for every lcore if its NIC can spread packets by their addresses (spread.h).
 * Otherwise, it has one of each. If a port of a rail cannot spread packets, one lcore handles the
 * whole rail: lcore i mod N for rail i and N lcores. With spread = software, the lcores instead
 * hand the rail's packets to each other. At its start, hp3d prints the choice for each rail, and
 * the reason.
 */
#include "app/hp3d/lcores/spread.h"
#include "config/config.h"
#include "engine/engine.h"

struct rte_mempool;

/* `in`: the port that receives packets of a direction: TX from the RNIC's side, RX from the
 * network's. */
struct hp3d_rail_ports {
	uint16_t in[2];
	bool spreads[2]; /* by direction: Rx and Tx queue i of that port are worker i's */
	bool whole; /* one worker handles the whole rail */
	bool keeps; /* a port's driver (net_af_xdp) does not free its empty receive buffers */
	struct rte_mempool *pool;
};

/* 0, or -1 after a message on stderr that names rail, side and fix; started ports are stopped
 * again. More lcores than rails are refused if no rail can be spread over them. */
int hp3d_ports_start(const struct hp3_config *cfg);
void hp3d_ports_stop(void);
const struct hp3d_rail_ports *hp3d_rail_ports(unsigned rail);
unsigned hp3d_rail_count(void);
const struct hp3d_spread *hp3d_ports_spread(void);

#endif
