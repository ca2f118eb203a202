/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_FABRIC_SWITCH_H
#define HP3_SIM_FABRIC_SWITCH_H
/*
 * An output-queued switch with one shared buffer and two classes: control (ACKs; strict priority,
 * unlimited, a few bytes) and data (lossless with PFC, or lossy).
 *
 * Buffer, after Broadcom's scheme as ns-3's RDMA models have it: of the whole, each port keeps
 * headroom (2 x link delay x rate + 2 packets) and 8 packets; the rest is shared. Ingress: a port
 * whose packets occupy more than 2 packets + alpha x what is free of the shared part pauses its
 * sender; every packet that arrives above this renews the pause, and with pause_renew half of its
 * time does (without, as in ns-3, a pause that is shorter than the congestion lets packets through
 * in between, and a small buffer may overflow); it ends by time or, below, when a packet of the
 * port leaves. When the shared part is used up, headroom takes the rest. Egress, without PFC: a
 * queue holds at most alpha x what is free, what exceeds it is dropped.
 *
 * ECN: decided when a packet leaves, by the bytes then left in its queue: none below Kmin, Pmax at
 * Kmax rising linearly between, all above Kmax.
 */
#include "sim/fabric/port.h"

struct sim_switch {
	uint32_t node;
	uint32_t buffer; /* bytes, all */
	uint32_t shared; /* ingress pool */
	uint32_t out_shared; /* egress pool */
	uint32_t used; /* bytes of data in the switch */
	uint64_t icmp_spent; /* fabric.icmp_per_second, see probes/limit.h */
	uint32_t out_used; /* of these: beyond each queue's own packet */
};

int sim_switch_init(struct sim *s, struct sim_switch *sw, uint32_t node);

/* A packet came in by `in`. */
void sim_switch_receive(struct sim *s, struct sim_port *in, struct sim_packet *p);
/* Towards its host by next hops, hash where there are several. */
struct sim_port *sim_switch_hash_port(
	struct sim *s, struct sim_switch *sw, const struct sim_packet *p);
/* Into the queue of `out`; p->to names the port it came in by. May drop it. */
void sim_switch_send(
	struct sim *s, struct sim_switch *sw, struct sim_port *out, struct sim_packet *p);
/* Half of a pause has passed: asks for more if the port is still above its limit. */
void sim_switch_renew(struct sim *s, struct sim_event *event);
/* A data packet begins to leave by `out`: frees its buffer, marks it, ends pauses. */
void sim_switch_leaves(struct sim *s, struct sim_port *out, struct sim_packet *p);

static inline struct sim_switch *sim_switch_of(struct sim *s, const struct sim_port *port)
{
	return &s->sw[port->node - s->topo.hosts];
}

/* Node that the packet travels to: a host. */
uint32_t sim_packet_target(const struct sim_packet *p);

#endif
