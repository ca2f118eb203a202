/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A link is an output for packets: a port, or a ring to the worker that owns the port. Packets that
 * the output does not accept at once wait in a bounded FIFO. While packets wait, later packets
 * queue behind them, so their order does not change. If the FIFO is full, the newest packets are
 * dropped and counted. While a link has a backlog, the worker receives no packets for it. So the
 * FIFO only needs room for one release of all held packets.
 *
 * If the port has a limit, packets that are longer are dropped and counted, before the driver gets
 * them.
 *
 * One worker sends, drains and owns the counter; other threads may read the backlog. While the
 * output accepts all packets at once, no field of the link is written.
 */
#include <stdint.h>
#include "app/hp3d/lcores/bypass.h"
#include "app/hp3d/lcores/sleeper.h"

struct rte_mbuf;
struct rte_ring;

/* The longest frame that a port takes. The control thread writes it, lcores read it. */
struct hp3d_frame_limit {
	uint32_t bytes; /* without VLAN tags; 0: no limit is known. Atomic */
	/* A frame may be longer by an outer 802.1Q tag; if this is true, by two tags of any type.
	 */
	bool two_tags;
};

/* Where packets go: a queue of a port, or a ring and the sleeper of its reader. */
struct hp3d_egress {
	uint16_t port, queue;
	struct rte_ring *ring; /* NULL: to the port */
	struct hp3d_sleeper *reader;
	uint16_t tag; /* mbuf.port for the reader */
	/* bypass of the rail, or NULL; decides whether packets may leave */
	struct hp3d_bypass *bypass;
	uint64_t *bypassed; /* counts packets that may not leave */
	const struct hp3d_frame_limit *limit; /* NULL: none */
	uint64_t *too_long; /* counts dropped packets that are longer than the limit */
};

struct hp3d_link {
	struct hp3d_egress egress;
	uint32_t head, n, cap; /* cap: a power of two */
	struct rte_mbuf **fifo;
	uint64_t *drops; /* counter of the pipe that feeds the link */
};

/* Returns 0 or -ENOMEM. */
int hp3d_link_init(
	struct hp3d_link *l, const struct hp3d_egress *egress, uint32_t cap, uint64_t *drops);
void hp3d_link_free(struct hp3d_link *l); /* frees packets that still wait */
/* The link owns the packets; m[] changes. */
void hp3d_link_send(struct hp3d_link *l, struct rte_mbuf **m, uint16_t n);
/* Hands the waiting packets of `l` to another link, in order. Returns their number. */
uint32_t hp3d_link_pass_on(struct hp3d_link *l, struct hp3d_link *to);
/* Sends waiting packets until the output accepts no more. Returns how many were sent. */
uint32_t hp3d_link_drain(struct hp3d_link *l);

static inline uint32_t hp3d_link_backlog(const struct hp3d_link *l)
{
	return __atomic_load_n(&l->n, __ATOMIC_RELAXED);
}
