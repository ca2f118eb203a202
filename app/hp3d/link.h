/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_LINK_H
#define HP3D_LINK_H
/*
 * The sending side of a port, with a bounded FIFO for what the device does not take at once. Order
 * is kept: while something waits, everything queues behind it. Full: the newest packets are dropped
 * and counted. Whoever feeds a link stops receiving while it has a backlog.
 */
#include <stdint.h>
#include <rte_mbuf.h>

struct hp3d_link {
	uint16_t port;
	uint32_t head, n, cap; /* cap: a power of two */
	struct rte_mbuf **fifo;
	uint64_t drops;
};

/* 0 or -ENOMEM. */
int hp3d_link_init(struct hp3d_link *l, uint16_t port, uint32_t cap);
void hp3d_link_free(struct hp3d_link *l); /* frees packets that still wait */
void hp3d_link_send(struct hp3d_link *l, struct rte_mbuf **m, uint16_t n);
void hp3d_link_drain(struct hp3d_link *l);

#endif
