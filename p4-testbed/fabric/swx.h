/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTBED_SWX_H
#define HP3_TESTBED_SWX_H
/*
 * One switch: an SWX pipeline that runs the program of ../spec. Its port type is defined here: the
 * input port provides one packet at a time, the output port passes it to the queues. So a packet is
 * processed at the nominal time of its arrival, in the traffic manager's order of events.
 *
 * SWX requires a power of two of input ports; the additional ones have no packets. Drops leave by
 * output port HP3_PROGRAM_DROP_PORT, where they are counted, instead of by the instruction `drop`.
 *
 * Bytes after the IP datagram (padding, the rest of a packet quoted by an ICMP error) are removed.
 */
#include <rte_mbuf.h>
#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>
#include "p4-testbed/fabric/entries.h"
#include "p4-testbed/fabric/tm.h"
#include "p4-testbed/spec/externs.h"

struct hp3_swx;

struct hp3_swx_ops {
	/* The packet leaves by a port, in the queue of a priority. */
	void (*out)(void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority,
		struct rte_mbuf *m);
	/* Depth of that queue. */
	uint32_t (*depth)(void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority);
};

struct hp3_swx_port {
	struct hp3_swx *sw;
	uint32_t port;
};

struct hp3_swx {
	uint32_t index; /* also in struct hp3_net */
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

/* Space that a packet buffer holds for the traffic manager (the pool's private size). */
static inline struct hp3_frame *hp3_frame_of(struct rte_mbuf *m)
{
	return (struct hp3_frame *)rte_mbuf_to_priv(m);
}

static inline struct rte_mbuf *hp3_mbuf_of(struct hp3_frame *f)
{
	return (struct rte_mbuf *)((char *)f - sizeof(struct rte_mbuf));
}

/* Builds the pipeline with the network's table entries. 0 or a negative errno, explained on stderr.
 */
int hp3_swx_open(struct hp3_swx *sw, const struct hp3_net *net, uint32_t index,
	const struct hp3_swx_ops *ops, void *arg);
void hp3_swx_close(struct hp3_swx *sw);

/* Adds a table entry, at once. 0 or a negative errno, explained on stderr. */
int hp3_swx_add(struct hp3_swx *sw, const struct hp3_entry *e);

/* Updates the groups, after hp3_net_route(). */
int hp3_swx_reroute(struct hp3_swx *sw, const struct hp3_net *net);

/* Processes a packet of a port. Before this returns, the packet left by ops->out or was dropped and
 * counted. */
void hp3_swx_process(struct hp3_swx *sw, uint32_t port, struct rte_mbuf *m);

/* Counter "port_tx_packets" and so on. */
uint64_t hp3_swx_counter(const struct hp3_swx *sw, const char *name, uint32_t index);

#endif
