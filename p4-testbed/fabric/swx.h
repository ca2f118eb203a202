/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * One switch: an SWX pipeline that runs the program of ../spec. The pipeline has ports of a type
 * that swx.c defines. The input port provides one packet at a time, and the output port passes the
 * packet to the traffic manager's queues. So the pipeline processes each packet at the nominal time
 * of the packet's arrival, in the traffic manager's order of events.
 *
 * SWX requires that the number of input ports is a power of two. Ports that exist only for this
 * reason receive no packets. The program does not use the instruction `drop`. It counts a packet
 * that it drops, and sends the packet to output port HP3_PROGRAM_DROP_PORT, which frees the packet.
 *
 * The switch removes bytes after the IP datagram (padding, or the rest of a packet that an ICMP
 * error quotes).
 */
#include <rte_mbuf.h>
#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>
#include "p4-testbed/fabric/entries.h"
#include "p4-testbed/fabric/tm.h"
#include "p4-testbed/spec/externs.h"

struct hp3_swx;

struct hp3_swx_ops {
	/* Puts the packet into the queue of this port and priority. */
	void (*out)(void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority,
		struct rte_mbuf *m);
	/* The depth of the queue of this port and priority, in bytes. */
	uint32_t (*depth)(void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority);
};

struct hp3_swx_port {
	struct hp3_swx *sw;
	uint32_t port;
};

struct hp3_swx {
	uint32_t index; /* index of the switch in struct hp3_net */
	uint32_t n_ports, n_inputs;
	struct rte_swx_pipeline *pipeline;
	struct rte_swx_ctl_pipeline *ctl;
	struct hp3_swx_port in[HP3_NET_PORTS], out[HP3_NET_PORTS];
	struct hp3_queue_view view;
	struct rte_mbuf *slot; /* the packet to process, received by slot_port */
	uint32_t slot_port, priority;
	bool busy;
	const struct hp3_swx_ops *ops;
	void *arg;
};

/* The traffic manager's part of a packet buffer: the private area of the buffer. */
static inline struct hp3_frame *hp3_frame_of(struct rte_mbuf *m)
{
	return (struct hp3_frame *)rte_mbuf_to_priv(m);
}

static inline struct rte_mbuf *hp3_mbuf_of(struct hp3_frame *f)
{
	return (struct rte_mbuf *)((char *)f - sizeof(struct rte_mbuf));
}

/* Builds the pipeline with the network's table entries. Returns 0, or a negative errno with a
 * message on stderr. */
int hp3_swx_open(struct hp3_swx *sw, const struct hp3_net *net, uint32_t index,
	const struct hp3_swx_ops *ops, void *arg);
void hp3_swx_close(struct hp3_swx *sw);

/*
 * Adds a table entry, which takes effect at once. Returns 0, or a negative errno with a message on
 * stderr.
 */
int hp3_swx_add(struct hp3_swx *sw, const struct hp3_entry *e);

/* Updates the switch's ECMP groups; call it after hp3_net_route(). */
int hp3_swx_reroute(struct hp3_swx *sw, const struct hp3_net *net);

/*
 * Processes a packet that arrived by a port. The function passes the packet to ops->out(), or drops
 * and counts the packet, before it returns.
 */
void hp3_swx_process(struct hp3_swx *sw, uint32_t port, struct rte_mbuf *m);

/* Value of a counter, for example "port_tx_packets". */
uint64_t hp3_swx_counter(const struct hp3_swx *sw, const char *name, uint32_t index);
