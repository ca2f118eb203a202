/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTBED_SWX_H
#define HP3_TESTBED_SWX_H
/*
 * One switch: an SWX pipeline that runs the program of ../spec. Its ports are of our own type: the
 * input hands over the one packet in hand, the output passes it on to the queues. So a packet goes
 * through at the nominal time of its arrival, and the order of events is the traffic manager's.
 *
 * SWX demands a power of two of input ports (the rest never have a packet). Drops leave by output
 * port HP3_PROGRAM_DROP_PORT, so that we see them: the instruction `drop` has a port of its own.
 *
 * A router re-frames: what lies behind the IP datagram (padding, the cut packet that an ICMP error
 * quotes) does not leave.
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
	uint32_t index; /* in the network, too */
	uint32_t n_ports, n_inputs;
	struct rte_swx_pipeline *pipeline;
	struct rte_swx_ctl_pipeline *ctl;
	struct hp3_swx_port in[HP3_NET_PORTS], out[HP3_NET_PORTS];
	struct hp3_queue_view view;
	struct rte_mbuf *slot; /* the packet that waits at port slot_port */
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

/* Builds the pipeline with the table entries of the network. 0 or a negative errno, explained. */
int hp3_swx_open(struct hp3_swx *sw, const struct hp3_net *net, uint32_t index,
	const struct hp3_swx_ops *ops, void *arg);
void hp3_swx_close(struct hp3_swx *sw);

/* One more table entry, at once. 0 or a negative errno, explained. */
int hp3_swx_add(struct hp3_swx *sw, const struct hp3_entry *e);

/* The groups once more, after hp3_net_route(). */
int hp3_swx_reroute(struct hp3_swx *sw, const struct hp3_net *net);

/* One packet, in by a port; it leaves by ops->out or is dropped and counted before this returns. */
void hp3_swx_process(struct hp3_swx *sw, uint32_t port, struct rte_mbuf *m);

/* Counter "port_tx_packets" and so on. */
uint64_t hp3_swx_counter(const struct hp3_swx *sw, const char *name, uint32_t index);

#endif
