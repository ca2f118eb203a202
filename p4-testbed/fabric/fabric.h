/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The whole fabric in one process and one thread: switches (swx.h), which lanes (tm.h) connect, and
 * a DPDK port for every host. A lane is one direction of a link. A frame from a host enters the
 * lane of the host's link when the process reads the frame from the host's port. A frame for a host
 * leaves by the host's port when, in the model's time, the frame has reached the end of its lane.
 *
 * The loop sleeps between events. While frames are in the fabric, and for 100 ms afterwards, a
 * sleep takes at most 50 us; otherwise, at most 1 ms. A frame may wait twice for the end of a
 * sleep: when the frame enters the fabric, and when it leaves the fabric.
 */
#include <rte_mempool.h>
#include "p4-testbed/fabric/swx.h"

#define HP3_FABRIC_BURST 64u

struct hp3_fabric_host {
	uint16_t port; /* DPDK port */
	struct rte_mbuf *out[HP3_FABRIC_BURST];
	unsigned n_out;
	uint8_t stop; /* bitmap: priorities that this host must not send now */
	uint64_t refresh; /* when to repeat the PFC frame */
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes, tx_lost, pfc_sent, pfc_seen;
};

struct hp3_fabric {
	struct hp3_net net;
	struct hp3_tm tm;
	struct hp3_swx *sw;
	struct hp3_fabric_host *host;
	struct rte_mempool *pool;
	uint64_t reroute_at; /* when to update routes; HP3_TM_NEVER: they are up to date */
	/*
	 * busy_at: last time at which frames were in the fabric (before: time of opening); loops:
	 * number of turns of the loop
	 */
	uint64_t busy_at, loops;
	uint64_t no_mbuf; /* frames lost because no buffer was free */
};

/*
 * Makes lanes, switches and packet buffers. The traffic manager's clock starts at `now`. Returns 0,
 * or a negative errno with a message on stderr.
 */
int hp3_fabric_open(struct hp3_fabric *f, const struct hp3_topo *topo, uint64_t now);
void hp3_fabric_close(struct hp3_fabric *f);

/*
 * Makes the DPDK ports of all hosts. In `devargs`, %s stands for the host's name; NULL: the ports
 * are as in the topology. Sockets of vhost and memif ports are made in `dir`, with the names
 * HOST.vhost and HOST.memif. Returns 0, or a negative errno with a message on stderr.
 */
int hp3_fabric_attach(struct hp3_fabric *f, const char *devargs, const char *dir);
void hp3_fabric_detach(struct hp3_fabric *f);

/* Runs one turn of the loop, at time `now`. Returns how long to sleep, in ns. */
uint64_t hp3_fabric_turn(struct hp3_fabric *f, uint64_t now);

/*
 * Sets a link down or up. Routes change after delay_ns; HP3_TM_NEVER: they do not change (a silent
 * failure).
 */
void hp3_fabric_set_link(struct hp3_fabric *f, uint32_t link, bool up, uint64_t delay_ns);

/* hosts.c */
void hp3_fabric_receive(struct hp3_fabric *f, uint64_t now);
void hp3_fabric_send(struct hp3_fabric *f, uint32_t host, struct rte_mbuf *m);
void hp3_fabric_flush(struct hp3_fabric *f);
void hp3_fabric_pause_host(struct hp3_fabric *f, uint32_t host, uint8_t priorities, uint64_t now);
void hp3_fabric_refresh_pauses(struct hp3_fabric *f, uint64_t now);

/*
 * Size of a frame's buffer in bytes. An af_packet ring needs the largest buffer: a slot has the
 * frame, and 66 bytes that the kernel writes before the frame.
 */
static inline uint32_t hp3_fabric_frame_bytes(const struct hp3_topo *topo)
{
	return RTE_ALIGN(topo->shape.mtu + 14 + 4 + 66, 256);
}

/* The lane from a host to its leaf, and the lane from the leaf to the host. */
static inline uint32_t hp3_lane_up(const struct hp3_net_host *h)
{
	return 2 * h->link;
}

static inline uint32_t hp3_lane_down(const struct hp3_net_host *h)
{
	return 2 * h->link + 1;
}
