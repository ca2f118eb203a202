/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PORTS_H
#define HP3D_PORTS_H
/*
 * The two ports of each rail: made from devargs, any PMD, promiscuous, since packets of others
 * pass. With several lcores a port has a queue each way for every lcore if its NIC can spread
 * packets by their addresses (spread.h), else one queue. A rail with a port that cannot stays on
 * one lcore as a whole, rail i on lcore i modulo lcores; with spread = software the lcores pass its
 * packets on instead. What a rail does, and why, is said when hp3d starts.
 */
#include "app/hp3d/lcores/spread.h"
#include "config/config.h"
#include "engine/engine.h"

struct rte_mempool;

/* Port through which packets of a direction come in: TX from the RNIC's side, RX from the
 * network's. */
struct hp3d_rail_ports {
	uint16_t in[2];
	bool spreads[2]; /* by direction: queue i of that port, in and out, is worker i's */
	bool whole; /* one worker has all of it */
	bool keeps; /* a driver (net_af_xdp) does not give back the buffers that it was to fill */
	struct rte_mempool *pool;
};

/* 0, or -1 after a message on stderr that names rail, side and fix; what was started is stopped
 * again. More lcores than rails are refused where no rail can be spread over them. */
int hp3d_ports_start(const struct hp3_config *cfg);
void hp3d_ports_stop(void);
const struct hp3d_rail_ports *hp3d_rail_ports(unsigned rail);
unsigned hp3d_rail_count(void);
const struct hp3d_spread *hp3d_ports_spread(void);

#endif
