/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_HOLD_H
#define HP3D_HOLD_H
/*
 * Packets that wait for a drain: one FIFO per move slot, over one pool of nodes that is allocated
 * once. The engine says what is held and how much (its limits and this pool have the same size), so
 * adding cannot fail while the engine's hold_packets is at most `nodes`.
 */
#include <stdint.h>
#include <rte_mbuf.h>

struct hp3d_hold;

/* NULL if there is no memory. */
struct hp3d_hold *hp3d_hold_create(uint32_t slots, uint32_t nodes, int socket);
void hp3d_hold_free(struct hp3d_hold *h);

/* 0, or -ENOSPC: no node left; the packet stays the caller's. */
int hp3d_hold_put(struct hp3d_hold *h, uint16_t slot, struct rte_mbuf *m);
/* The oldest packet of a slot, or NULL. */
struct rte_mbuf *hp3d_hold_get(struct hp3d_hold *h, uint16_t slot);
uint32_t hp3d_hold_peak(const struct hp3d_hold *h);

#endif
