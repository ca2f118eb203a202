/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A flow: the data of one queue pair in one direction. The struct has the state of both ends. The
 * RNIC of each end reads only its own part. The messages of a flow are sent one after the other.
 *
 * With WRITEs, the source of the data is the requester. The source sends data when they are posted,
 * and the destination acknowledges the data. With READs (read.c), the destination of the data is
 * the requester. The source answers READ requests with data. No packet acknowledges READ responses.
 *
 * If rnic.qps is `fresh`, each message has its own queue pair. The flow is freed when the message
 * is done and no packet of the flow is in flight. So late duplicates are recognised. If rnic.qps is
 * `kept`, each ordered pair of hosts has one queue pair per verb, for the whole run. The messages
 * on this queue pair wait for each other. The rate and the path of the queue pair persist between
 * messages.
 *
 * A balancer may split the messages of demands (sim_lb.split). Such a balancer opens queue pairs
 * that are kept, and posts the parts on them. Each part is a message of its queue pair.
 */
#include <string.h>
#include <sys/queue.h>
#include "cc/dcqcn.h"
#include "cc/np.h"
#include "sim/fabric/hash.h"
#include "sim/core/sim.h"
#include "sim/fabric/packet.h"

/* One posted work request, with the PSNs first .. end - 1. */
struct sim_message {
	struct sim_message *next; /* the message posted after this one */
	uint32_t demand; /* index in sim.demand */
	uint32_t first, end;
	uint32_t last_bytes; /* payload of its last packet */
	uint32_t bytes;
	uint64_t posted; /* ps */
	uint64_t mark; /* for the balancer that split the message */
};

/* A bitmap of PSNs, which grows as needed. */
struct sim_bits {
	uint64_t *word;
	uint32_t words;
};

struct sim_flow {
	/* fires when the rate allows a packet; with READs, fires first at the end of set-up */
	struct sim_event wake;
	struct sim_flow *next_ready; /* in the RNIC's ring */
	TAILQ_ENTRY(sim_flow) open; /* in sim_host.open */
	uint32_t src, dst, id; /* host that sends data; host that receives data; first demand */
	uint32_t packets; /* number of packets posted so far */
	/*
	 * number of packets that may be sent: all packets; READs: the requested ones; less if the
	 * balancer lowers it
	 */
	uint32_t limit;
	uint32_t in_air; /* packets of this flow in flight, in both directions */
	struct sim_message *oldest, *newest; /* not done yet */
	struct sim_message *sending; /* the message that is being sent */
	struct sim_port *port; /* of the source host */
	uint16_t sport, dport;
	uint16_t home; /* source port that the RNIC chose; balancers change only sport */
	uint16_t rail; /* 1 + index of the hosts' link that all packets of the flow use; 0: the
			  hash chooses the link */
	bool ready, waiting, done;
	bool read, kept;
	bool own_cc; /* the source's RNIC does congestion control (DCQCN) */

	/* Requester. */
	uint32_t una, nxt, top; /* oldest unacknowledged; next to send; first PSN never sent */
	/* unordered: PSNs in this range that are not in `sacked` are lost */
	uint32_t hole, hole_end;
	uint32_t cumulative; /* irn: expected PSN in the latest ACK or NAK; may be less than una */
	uint32_t recover; /* irn: the recovery ends when una reaches this PSN */
	bool recovering;
	struct sim_bits sacked; /* acknowledged out of order */
	uint64_t next_at; /* ps, earliest time of the next packet */
	uint64_t up_at; /* ps, end of set-up: data may leave from this time on */
	uint64_t timer_at; /* ps, when the retransmission timer fires */
	struct hp3_dcqcn rp;

	/* Responder. */
	uint32_t expected, highest; /* highest: 1 + highest PSN of an arrived first transmission */
	uint32_t nak_psn;
	uint32_t ack_wait; /* packets since the last ACK */
	bool echo; /* one of these ack_wait packets was marked */
	struct hp3_np np;
	uint64_t nak_until; /* ps, earliest time of the next NAK for nak_psn */
	struct sim_bits got; /* irn, unordered: received out of order */
	uint32_t kept_end; /* irn: 1 + highest PSN in `got` */

	/* READs: the requester, at the destination. */
	struct sim_message *unasked; /* next message to request */
	uint32_t outstanding; /* requests whose last response has not arrived */
	bool up; /* set-up has ended: requests may be sent */

	/* READs: the responder, at the source. */
	uint32_t resumed; /* PSN of the last request that was sent again */
	uint64_t refused_until; /* ps, earliest time of a second NAK */

	_Alignas(16) unsigned char lb[]; /* the balancer's state, sim_lb.flow_bytes long */
};

static inline uint32_t sim_host_address(uint32_t host)
{
	return 0x0b000001u + (host << 8);
}

/* Writes the host's IPv4 address to `to`, in network order. Returns `to`. */
static inline uint8_t *sim_put_address(uint8_t *to, uint32_t host)
{
	uint32_t be = __builtin_bswap32(sim_host_address(host));

	return memcpy(to, &be, sizeof(be));
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

/*
 * Sets the flow's UDP ports to those that the next flow between these hosts will use. Does not
 * reserve the ports.
 */
void sim_flow_ports(const struct sim *s, struct sim_flow *f);

/*
 * The port by which the packet leaves host `node`. If the host has several ports, the rail of the
 * flow or the hash chooses one.
 */
struct sim_port *sim_flow_out(struct sim *s, const struct sim_packet *p, uint32_t node);

/* The message that has PSN `psn`. This message must be posted and not done. */
struct sim_message *sim_flow_message(struct sim_flow *f, uint32_t psn);

/* Payload bytes of packet `psn` of the message. */
static inline uint32_t sim_message_payload(
	const struct sim *s, const struct sim_message *m, uint32_t psn)
{
	return psn + 1 == m->end ? m->last_bytes : s->cfg.rnic.payload_bytes;
}

/* Posts the message of a demand, on a new queue pair or on the kept queue pair. */
void sim_flow_start(struct sim *s, uint32_t demand);
/* Number of links by which packets may leave host src for host dst. */
uint32_t sim_flow_links(const struct sim *s, uint32_t src, uint32_t dst);
/*
 * Opens a queue pair for the hosts and the verb of a demand, for the rest of the run. It uses link
 * number `rail` of both hosts, below sim_flow_links(). For balancers that split messages.
 */
struct sim_flow *sim_flow_open(struct sim *s, uint32_t demand, uint32_t rail);
/*
 * Posts `bytes` of the message of a demand on a queue pair. For balancers that split messages.
 * sim_lb.part_done() is called when these bytes are done.
 */
void sim_flow_post(struct sim *s, struct sim_flow *f, uint32_t demand, uint32_t bytes);
/* All parts of the message of a demand are done. `f` had the last part. */
void sim_flow_demand_done(struct sim *s, const struct sim_flow *f, uint32_t demand);
/* Records that all PSNs below `psn` are done, and ends messages that are now complete. */
void sim_flow_progress(struct sim *s, struct sim_flow *f, uint32_t psn);
/*
 * Call this when the flow has left the ring, or when its event `wake` has fired. Frees the flow if
 * it is finished.
 */
void sim_flow_idle(struct sim *s, struct sim_flow *f);
/*
 * Call this when a packet of the flow has ended. Frees the flow if it is finished and this was its
 * last packet in flight.
 */
void sim_flow_unref(struct sim *s, struct sim_flow *f);
/* Call this at the end of the simulation. Frees the memory of flows that did not end. */
void sim_flows_free(struct sim *s);
