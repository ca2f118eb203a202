/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* A belt: the packets that circulate during a measurement. */
#include <rte_ethdev.h>
#include "bench/load.h"

/*
 * A belt is a net_ring port: packets that it sends are the packets that it receives next. Without a
 * ring, a belt is a net_null port, which takes buffers from the pool and returns them to the pool.
 * The pool is a plain FIFO, so that buffers circulate in order.
 */
struct belt {
	enum load_kind kind;
	uint32_t n;
	struct rte_mbuf **m; /* in the order in which they circulate */
	struct rte_ring *ring;
	struct rte_mempool *pool;
	uint16_t port;
	uint64_t lost;
	uint64_t spent; /* cycles in the measured stage, if the stage is only a part of the pass */
	struct hp3_pkt pkts[LOAD_BURST];
};

static inline uint16_t belt_receive(struct belt *b, struct rte_mbuf **m)
{
	return rte_eth_rx_burst(b->port, 0, m, LOAD_BURST);
}

/* `ring`: true: net_ring, false: net_null. Returns 0 or a negative errno. */
int belt_init(struct belt *b, enum load_kind kind, uint32_t n, bool ring, const char *name,
	const struct hp3_config *cfg);
/* Removes all packets from the belt. True: no packet was missing, and the packets were in order. */
bool belt_complete(const struct belt *b);
/* Makes each packet the next packet of a flow drawn at random. */
void belt_refresh(struct belt *b, struct load *l);
/* A function of type hp3d_send_fn: puts n packets back onto the belt `ctx`. */
void belt_send(void *ctx, struct rte_mbuf **m, uint16_t n);
