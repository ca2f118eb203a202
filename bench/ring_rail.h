/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A rail without devices, for the bench and tests of the workers. The rail has two net_ring ports,
 * whose queues are rings that the caller fills and empties. This file replaces
 * app/hp3d/lcores/ports.c. With two queues, the caller acts as a NIC with RSS; with one queue, the
 * workers spread the packets.
 */
#include <rte_ring.h>
#include "app/hp3d/lcores/ports.h"

#define RING_RAIL_QUEUES 2u

struct ring_rail {
	/* indexes: direction of the packets, queue. in: into hp3d; out: out of hp3d */
	struct rte_ring *in[2][RING_RAIL_QUEUES], *out[2][RING_RAIL_QUEUES];
	unsigned queues;
	struct hp3d_rail_ports ports;
	struct hp3d_spread spread;
};

/*
 * `loop`: packets that leave hp3d enter it again, in the same direction. Returns 0 or a negative
 * errno.
 */
int ring_rail_make(
	struct ring_rail *r, const char *name, unsigned queues, uint32_t size, bool loop);
/*
 * Makes *r the only rail of the workers that are created from now on. May be called several times.
 * Returns 0 or a negative errno.
 */
int ring_rail_start(struct ring_rail *r, unsigned workers, struct rte_mempool *pool);
