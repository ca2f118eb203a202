/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PORTS_H
#define HP3D_PORTS_H
/* The two ports of each rail: made from devargs, any PMD, one queue each way; promiscuous, since
 * packets of others pass. */
#include <rte_mempool.h>
#include "config/config.h"
#include "engine/engine.h"

/* Port through which packets of a direction come in: TX from the RNIC's side, RX from the
 * network's. */
struct hp3d_rail_ports {
	uint16_t in[2];
	struct rte_mempool *pool;
};

/* 0, or -1 after a message on stderr that names rail, side and fix; what was started is stopped
 * again. */
int hp3d_ports_start(const struct hp3_config *cfg);
void hp3d_ports_stop(void);
const struct hp3d_rail_ports *hp3d_rail_ports(unsigned rail);
unsigned hp3d_rail_count(void);

#endif
