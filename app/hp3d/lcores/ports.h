/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PORTS_H
#define HP3D_PORTS_H
/*
 * The two ports of each rail: made from devargs, any PMD, promiscuous, because packets for other
 * hosts pass. With several lcores, a port has an Rx and a Tx queue for every lcore if its NIC can
 * spread packets by their addresses (spread.h), else one of each. A rail with a port that cannot is
 * handled as a whole by one lcore, rail i by lcore i modulo lcores. With spread = software, the
 * lcores hand its packets to each other instead. hp3d prints the choice for each rail and the
 * reason at its start.
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
	bool whole; /* one worker has all of it */
	bool keeps; /* a driver (net_af_xdp) does not return buffers that it had to fill */
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
