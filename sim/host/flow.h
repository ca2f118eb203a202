/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_HOST_FLOW_H
#define HP3_SIM_HOST_FLOW_H
/*
 * A flow: one message on a queue pair of its own, both ends of it. The requester's side is what the
 * source host's RNIC knows, the responder's what the destination's knows; neither reads the
 * other's.
 *
 * It lives from its start until it is acknowledged as a whole and none of its packets is on its way
 * any more (a late duplicate must find out that it is late).
 */
#include "cc/dcqcn.h"
#include "cc/np.h"
#include "ppp/hash.h"
#include "sim/core/sim.h"
#include "sim/fabric/packet.h"

struct sim_flow {
	struct sim_event wake; /* may send again by its rate */
	struct sim_flow *next_ready; /* in the RNIC's ring */
	struct sim_flow *prev, *next; /* all of the host that are not acknowledged */
	uint32_t src, dst, id; /* hosts; number of the demand */
	uint32_t packets, last_bytes; /* of the message; payload of the last one */
	uint32_t in_air; /* packets that name this flow */
	struct sim_port *port; /* of the source host */
	uint16_t sport, dport;
	uint16_t home; /* source port that replies name, whatever sport is now */
	bool ready, waiting, done;

	/* Requester. */
	uint32_t una, nxt, top; /* top: first never sent */
	uint32_t hole,
		hole_end; /* selective, unordered: what lies here and is not sacked is lost */
	uint32_t recover; /* selective: in recovery while una is below */
	uint64_t *sacked; /* bitmap of what is acknowledged out of order; NULL until needed */
	uint64_t next_at; /* ps, not before */
	uint64_t timer_at; /* ps, when the retransmission timer fires */
	struct hp3_dcqcn rp;

	/* Responder. */
	uint32_t expected, highest; /* highest first transmission seen + 1 */
	uint32_t nak_psn;
	uint32_t ack_wait; /* packets since the last ACK */
	bool echo; /* one of them was marked */
	struct hp3_np np;
	uint64_t nak_until; /* ps, no second NAK for nak_psn before */
	uint64_t *got; /* selective, unordered: bitmap of what came; NULL until out of order */

	_Alignas(16) unsigned char lb[]; /* the balancer's, flow_bytes */
};

static inline uint32_t sim_host_address(uint32_t host)
{
	return 0x0b000001u + (host << 8);
}

/* What switch `node` hashes of this packet. */
uint32_t sim_flow_hash(const struct sim *s, const struct sim_packet *p, uint32_t node);

/* Of the payload of packet `psn`. */
static inline uint32_t sim_flow_payload(const struct sim *s, const struct sim_flow *f, uint32_t psn)
{
	return psn + 1 == f->packets ? f->last_bytes : s->cfg.rnic.payload_bytes;
}

/* The UDP ports of the next flow between these two hosts; consumes none. */
void sim_flow_ports(const struct sim *s, struct sim_flow *f);

/* A demand's time has come. */
struct sim_flow *sim_flow_start(struct sim *s, uint32_t demand);
/* All acknowledged. */
void sim_flow_finish(struct sim *s, struct sim_flow *f);
/* It left the ring, or its wake-up fired: a finished flow may go now. */
void sim_flow_idle(struct sim *s, struct sim_flow *f);
/* A packet that named it has ended. */
void sim_flow_unref(struct sim *s, struct sim_flow *f);

#endif
