/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_HOST_FLOW_H
#define HP3_SIM_HOST_FLOW_H
/*
 * A flow: the data of one queue pair in one direction, with the state of both ends. Its messages
 * are sent one after the other. Each end's RNIC reads only its own state.
 *
 * With WRITEs, the source is the requester: it sends data as they are posted, and the destination
 * acknowledges them. With READs (read.c), the destination is the requester: the source answers its
 * requests with data, the responder stream, which nothing acknowledges.
 *
 * rnic.qps = fresh: each message has its own queue pair. The flow lives until the message is done
 * and none of its packets is in flight, so that late duplicates are recognised. rnic.qps = kept:
 * one queue pair per ordered pair of hosts and verb, for the whole run. Its messages wait for each
 * other, and it keeps its rate and path between them.
 */
#include "cc/dcqcn.h"
#include "cc/np.h"
#include "sim/fabric/hash.h"
#include "sim/core/sim.h"
#include "sim/fabric/packet.h"

/* One posted work request. PSNs first .. end - 1. */
struct sim_message {
	struct sim_message *next; /* posted behind it */
	uint32_t demand; /* its number */
	uint32_t first, end;
	uint32_t last_bytes; /* payload of its last packet */
	uint32_t bytes;
};

/* Bitmap of PSNs that grows as needed. */
struct sim_bits {
	uint64_t *word;
	uint32_t words;
};

struct sim_flow {
	struct sim_event wake; /* its rate allows the next packet; for READs first: set up */
	struct sim_flow *next_ready; /* in the RNIC's ring */
	struct sim_flow *prev, *next; /* flows of the requester's host that are not done */
	uint32_t src, dst, id; /* hosts that send and receive data; number of the first demand */
	uint32_t packets; /* posted so far */
	/* may be sent: all, those that READ requests asked for, or those that the balancer allows
	 */
	uint32_t limit;
	uint32_t in_air; /* packets in flight of this flow, both directions */
	struct sim_message *oldest, *newest; /* not done yet */
	struct sim_message *sending; /* the message that is being sent */
	struct sim_port *port; /* of the source host */
	uint16_t sport, dport;
	uint16_t home; /* the RNIC's source port, whatever sport is now */
	bool ready, waiting, done;
	bool read, kept;
	bool own_cc; /* the source's RNIC does congestion control (DCQCN) */

	/* Requester. */
	uint32_t una, nxt, top; /* top: first never sent */
	uint32_t hole, hole_end; /* unordered: PSNs in here that are not sacked are lost */
	uint32_t cumulative; /* irn: the PSN that ACKs and NAKs expect; una may be beyond */
	uint32_t recover; /* irn: recovering until una is here */
	bool recovering;
	struct sim_bits sacked; /* acknowledged out of order */
	uint64_t next_at; /* ps, earliest time of the next packet */
	uint64_t up_at; /* ps, set up: data may leave */
	uint64_t timer_at; /* ps, when the retransmission timer fires */
	struct hp3_dcqcn rp;

	/* Responder. */
	uint32_t expected, highest; /* highest first transmission seen + 1 */
	uint32_t nak_psn;
	uint32_t ack_wait; /* packets since the last ACK */
	bool echo; /* one of them was marked */
	struct hp3_np np;
	uint64_t nak_until; /* ps, no second NAK for nak_psn before */
	struct sim_bits got; /* irn, unordered: received out of order */
	uint32_t kept_end; /* irn: PSN after the last of these */

	/* READs: the requester, at the destination. */
	struct sim_message *unasked; /* next one to request */
	uint32_t outstanding; /* requests without their last response */
	bool up; /* set up: may send requests */

	/* READs: the responder, at the source. */
	uint32_t resumed; /* PSN of the last request that was sent again */
	uint64_t refused_until; /* ps, no second NAK before */

	_Alignas(16) unsigned char lb[]; /* the balancer's, flow_bytes */
};

static inline uint32_t sim_host_address(uint32_t host)
{
	return 0x0b000001u + (host << 8);
}

static inline bool sim_bits_has(const struct sim_bits *b, uint32_t i)
{
	return i / 64 < b->words && (b->word[i / 64] >> (i % 64) & 1);
}
void sim_bits_set(struct sim_bits *b, uint32_t i);

static inline uint32_t sim_flow_requester(const struct sim_flow *f)
{
	return f->read ? f->dst : f->src;
}

static inline uint32_t sim_flow_responder(const struct sim_flow *f)
{
	return f->read ? f->src : f->dst;
}

/* True: the packet travels from f->src to f->dst, as the data do. */
static inline bool sim_packet_forward(const struct sim_packet *p)
{
	switch (p->kind) {
	case SIM_DATA:
		return true;
	case SIM_NAK: /* by the responder */
	case SIM_PROBE_REPLY:
	case SIM_BACK_PROBE:
	case SIM_TRACE_REPLY:
		return p->flow->read;
	case SIM_PROBE: /* by the requester */
	case SIM_BACK_PROBE_REPLY:
	case SIM_TRACE:
		return !p->flow->read;
	default:
		return false;
	}
}

/* The hash that switch `node` computes for this packet. */
uint32_t sim_flow_hash(const struct sim *s, const struct sim_packet *p, uint32_t node);

/* Sets the UDP ports of the next flow between these two hosts; does not consume them. */
void sim_flow_ports(const struct sim *s, struct sim_flow *f);

/* The port by which the packet leaves host `node`: by hash if there are several. */
struct sim_port *sim_flow_out(struct sim *s, const struct sim_packet *p, uint32_t node);

/* The message of PSN `psn`: posted, and not done. */
struct sim_message *sim_flow_message(struct sim_flow *f, uint32_t psn);

/* Payload bytes of packet `psn` of that message. */
static inline uint32_t sim_message_payload(
	const struct sim *s, const struct sim_message *m, uint32_t psn)
{
	return psn + 1 == m->end ? m->last_bytes : s->cfg.rnic.payload_bytes;
}

/* Posts the message of a demand, on a new queue pair or on the kept one. */
void sim_flow_start(struct sim *s, uint32_t demand);
/* All PSNs below `psn` are done, and the messages that end there. */
void sim_flow_progress(struct sim *s, struct sim_flow *f, uint32_t psn);
/* The flow left the ring, or its wake-up fired: frees it if it is finished. */
void sim_flow_idle(struct sim *s, struct sim_flow *f);
/* A packet of the flow has ended. */
void sim_flow_unref(struct sim *s, struct sim_flow *f);
/* At the end of the simulation: frees the memory of flows that did not end. */
void sim_flows_free(struct sim *s);

#endif
