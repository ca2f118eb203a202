/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_FABRIC_PORT_H
#define HP3_SIM_FABRIC_PORT_H
/*
 * A port: the end of a link at a switch or host. It sends queued packets, control packets (ACKs,
 * PFC) with strict priority; PFC of the other end pauses data. Links are store and forward: a
 * packet that starts at t arrives at t + serialisation + propagation. A host's data are not queued
 * here: the port gets each packet from the RNIC when the wire is free (sim_host_next()).
 *
 * A port has an event pending only while a packet waits for the wire.
 */
#include "sim/core/sim.h"
#include "sim/fabric/packet.h"

struct sim_port {
	struct sim_event free; /* the wire is free */
	struct sim_event unpause; /* the pause is over */
	struct sim_event renew; /* repeat the pause of the other end */
	bool free_pending, unpause_pending, renew_pending;
	bool down;
	bool withdrawn; /* by routing: in no path any more */
	uint64_t busy_until, paused_until, paused_since;
	struct sim_fifo control, data;
	struct sim_port *peer;
	uint64_t delay; /* ps */
	uint64_t ps_per_kib; /* serialisation of 1,024 bytes */
	uint64_t bps;
	uint32_t hole; /* black hole: flows of 10,000 that are dropped here, by hash */
	uint32_t loss; /* of 10^9 packets */
	uint32_t number;
	uint32_t node; /* hosts first */
	uint32_t data_bytes; /* queued */
	uint64_t sent_bytes; /* data, for imbalance */
	struct sim_flow *ring, *ring_tail; /* of an RNIC: flows ready to send */

	/* Shared buffer of the switch that the port belongs to (mmu.c). */
	uint32_t in_bytes; /* in the switch, arrived here */
	uint32_t in_headroom; /* of these: beyond the shared pool */
	uint32_t headroom; /* its limit */
	uint32_t out_bytes; /* in the switch, to leave here */
	uint64_t pausing_until; /* this port pauses the sender at the other end */
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
/* There may be something to send. */
void sim_port_kick(struct sim *s, struct sim_port *port);
void sim_port_queue_control(struct sim *s, struct sim_port *port, struct sim_packet *p);
void sim_port_queue_data(struct sim *s, struct sim_port *port, struct sim_packet *p);
/* The first queued packet, or NULL. At a host: packets that a balancer released, before the
 * RNIC's. */
struct sim_packet *sim_port_take_data(struct sim_port *port);
/* A PFC frame arrived at this port. */
void sim_port_pfc(struct sim *s, struct sim_port *port, uint32_t pause_ns);
/* Down: drops packets that are queued or on the wire. */
void sim_port_set_down(struct sim *s, struct sim_port *port, bool down);

#endif
