/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * An output-queued switch with one shared buffer and two classes. The class of control has ACKs,
 * which are short; it has strict priority, and no limit. The class of data is lossless (with PFC)
 * or lossy.
 *
 * Buffer: Broadcom's scheme, as in ns-3's RDMA models. Each port has reserved headroom (2 x link
 * delay x rate + 2 packets) and 8 more reserved packets. All ports share the rest.
 *
 * Ingress: a port pauses its sender when the port's packets occupy more than 2 packets + alpha x
 * the free shared bytes. Every packet that arrives above this limit renews the pause. With
 * pause_renew, the switch also renews the pause after half of the pause time. Without pause_renew,
 * as in ns-3, a pause may end before the congestion ends. Packets then arrive until the next pause,
 * and a small buffer may overflow. A pause ends after its time. It ends earlier if the port is
 * below its limit when one of its packets arrives or leaves. When the shared part of the buffer is
 * full, packets use the headroom.
 *
 * Egress, without PFC: a queue has at most alpha x the free bytes. The switch drops packets above
 * this limit.
 *
 * ECN: when a packet leaves, the number of bytes that stay in the queue decides whether the switch
 * marks the packet. Below Kmin, no packet is marked; above Kmax, all packets are marked. Between
 * Kmin and Kmax, the probability rises linearly from 0 to Pmax.
 */
#include "sim/fabric/port.h"

struct sim_switch {
	uint32_t node;
	uint32_t buffer; /* bytes of the whole buffer */
	uint32_t shared; /* bytes of the ingress pool */
	uint32_t out_shared; /* bytes of the egress pool */
	uint32_t used; /* bytes of data in the switch */
	uint64_t icmp_spent; /* state of the limit fabric.icmp_per_second (probes/limit.h) */
	uint32_t out_used; /* how many of `used` exceed the packets reserved for each queue */
};

/* Call this when a packet has arrived by `in`. */
void sim_switch_receive(struct sim *s, struct sim_port *in, struct sim_packet *p);
/*
 * The port towards the packet's destination host. If there are several next hops, the hash chooses
 * one.
 */
struct sim_port *sim_switch_hash_port(
	struct sim *s, struct sim_switch *sw, const struct sim_packet *p);
/* Queues packet p at port `out`, or drops it. p->to is the port by which p arrived. */
void sim_switch_send(
	struct sim *s, struct sim_switch *sw, struct sim_port *out, struct sim_packet *p);
/* Call when half of a pause has passed. Renews the pause if the port is still above its limit. */
void sim_switch_renew(struct sim *s, struct sim_event *event);
/*
 * Call this when a data packet begins to leave by `out`. Frees the packet's buffer space, marks the
 * packet if needed, and ends pauses.
 */
void sim_switch_leaves(struct sim *s, struct sim_port *out, struct sim_packet *p);

static inline struct sim_switch *sim_switch_of(struct sim *s, const struct sim_port *port)
{
	return &s->sw[port->node - s->topo.hosts];
}

/* Destination host of the packet. */
uint32_t sim_packet_target(const struct sim_packet *p);

/*
 * The shared buffer of a switch: admission, PFC pauses, ECN marks. Rules: switch.h. Internal to
 * fabric/.
 */
void sim_mmu_init(struct sim *s, struct sim_switch *sw, uint32_t node);

/*
 * True: the buffer has room, and the packet is counted. False: the caller drops the packet, with
 * *reason.
 */
bool sim_mmu_admit(struct sim *s, struct sim_switch *sw, struct sim_port *in, struct sim_port *out,
	uint32_t bytes, enum sim_drop *reason);
void sim_mmu_release(const struct sim *s, struct sim_switch *sw, struct sim_port *in,
	struct sim_port *out, uint32_t bytes);
bool sim_mmu_must_pause(
	const struct sim *s, const struct sim_switch *sw, const struct sim_port *in);
bool sim_mmu_may_resume(
	const struct sim *s, const struct sim_switch *sw, const struct sim_port *in);
bool sim_mmu_marks(struct sim *s, const struct sim_port *out);
