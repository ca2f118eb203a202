/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A port: the end of a link at a switch or host. A port sends queued packets. Control packets
 * (ACKs, PFC) have strict priority over data. PFC frames from the other end pause data. Links are
 * store and forward: a packet that starts to leave at t arrives at t + serialisation + propagation.
 * A host's port does not queue the RNIC's data. When the wire is free, the port gets a packet from
 * the RNIC (sim_host_next()).
 *
 * The event `free` is in the event queue only while a packet waits for the wire.
 */
#include "sim/core/sim.h"
#include "sim/fabric/packet.h"

struct sim_port {
	struct sim_event free; /* the wire is free */
	struct sim_event unpause; /* the pause is over */
	struct sim_event renew; /* time to repeat the pause of the other end */
	bool free_pending, unpause_pending, renew_pending;
	bool down;
	bool withdrawn; /* routing does not use this link now */
	uint64_t busy_until, paused_until, paused_since;
	struct sim_fifo control, data;
	struct sim_port *peer;
	uint64_t delay; /* ps */
	uint64_t ps_per_kib; /* serialisation of 1,024 bytes */
	uint64_t bps;
	uint32_t hole; /* black hole: number of flows in 10,000 whose data are dropped, by hash */
	uint32_t loss; /* packets lost of 10^9 */
	uint32_t number;
	uint32_t node; /* number of the host or switch; hosts come first */
	uint32_t data_bytes; /* bytes of data that are queued */
	uint64_t sent_bytes; /* bytes of data sent so far, for uplinks.h */
	struct sim_flow *ring, *ring_tail; /* at a host: flows that are ready to send */

	/* Use of the switch's shared buffer by this port, in bytes (mmu.c). */
	uint32_t in_bytes; /* in the switch, of packets that arrived by this port */
	uint32_t in_headroom; /* how many of in_bytes are in the port's headroom */
	uint32_t headroom; /* limit of in_headroom */
	uint32_t out_bytes; /* in the switch, of packets that will leave by this port */
	uint64_t pausing_until; /* end of the pause that this port has sent to the other end */
};

static inline uint64_t sim_port_time(const struct sim *s, const struct sim_port *port, uint32_t n)
{
	uint64_t t = (n * port->ps_per_kib) >> 10;

	return s->cfg.fabric.grain_ps > 1 ? t - t % s->cfg.fabric.grain_ps : t;
}

static inline bool sim_port_paused(const struct sim *s, const struct sim_port *port)
{
	return s->now < port->paused_until;
}

void sim_port_init(struct sim *s, uint32_t number);
/* If a packet is waiting and the wire is free, starts to send. */
void sim_port_kick(struct sim *s, struct sim_port *port);
void sim_port_queue_control(struct sim *s, struct sim_port *port, struct sim_packet *p);
void sim_port_queue_data(struct sim *s, struct sim_port *port, struct sim_packet *p);
/*
 * Removes and returns the first packet of data; NULL: there is none. At a host, packets that a
 * balancer released come before packets of the RNIC.
 */
struct sim_packet *sim_port_take_data(struct sim_port *port);
/* Call this when a PFC frame has arrived at this port. */
void sim_port_pfc(struct sim *s, struct sim_port *port, uint32_t pause_ns);
/*
 * Sets the port down or up. If `down`, drops queued packets. A port that is down also drops packets
 * that arrive.
 */
void sim_port_set_down(struct sim *s, struct sim_port *port, bool down);
