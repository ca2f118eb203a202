/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A packet in flight. The struct has the fields that switches, RNICs and balancers read, but no
 * payload. At any time, a packet is in exactly one place: in the event queue (while it is on a
 * wire), in a port's queue, or among the packets that a balancer holds. The member `event` links
 * queues and lists.
 *
 * PSNs count the packets of a flow from 0 and do not wrap.
 */
#include <stddef.h>
#include "sim/core/queue.h"

struct sim_flow;
struct sim_port;

enum sim_kind {
	SIM_DATA,
	SIM_ACK,
	SIM_NAK, /* PSN sequence error; psn: the expected PSN */
	SIM_CNP,
	/* READ request, in the class of data; psn: first PSN requested, arg_psn: bytes */
	SIM_READ,
	SIM_PFC, /* crosses only one link; psn: pause time in ns, 0: resume */
	SIM_CTRL, /* from switch to switch, of a balancer, in the class of ACKs */
	SIM_PROBE, /* probe of a balancer in hosts, in the class of data */
	SIM_PROBE_REPLY, /* answer to SIM_PROBE, in the class of ACKs unless SIM_BEHIND */
	SIM_BACK_PROBE, /* probe of the responder's balancer, from responder to requester */
	SIM_BACK_PROBE_REPLY,
	SIM_TRACE, /* a probe whose TTL ends at a switch; arg: the TTL */
	/* answer to SIM_TRACE; arg_psn: node of the switch (ICMP time exceeded), or 0: the peer */
	SIM_TRACE_REPLY,
	SIM_KINDS
};

#define SIM_CE     0x01u /* ECN: congestion experienced */
#define SIM_ECHO   0x02u /* CNP flag of ns-3: ACK of a marked packet; set in all NAKs to WRITEs */
#define SIM_AGAIN  0x04u /* a retransmission */
#define SIM_LAST   0x08u /* last packet of its message */
#define SIM_FIRST  0x20u /* first packet of a message, or of responses to a repeated READ */
#define SIM_BEHIND 0x40u /* answer to a probe, in the class of data */
#define SIM_AHEAD  0x80u /* a report to the peer's hp3d (SIM_PROBE), in the class of ACKs */
#define SIM_ACKREQ 0x10u /* to be acknowledged at once, independent of rnic.ack_every */

/*
 * Fields that balancers in switches add to a data packet. In reality, they would be an additional
 * header.
 */
struct sim_tag_conga {
	uint16_t fb_path; /* path to which the feedback applies */
	uint8_t fb_ce; /* congestion metric of this path */
	uint8_t ce; /* greatest metric on the path so far */
};

struct sim_tag_conweave {
	uint64_t tx_at; /* ps, when the packet left the source leaf */
	uint64_t tail_at;
	uint32_t epoch;
	uint8_t phase;
	uint8_t flag;
};

struct sim_packet {
	struct sim_event event; /* arrival at `to` */
	struct sim_port *to; /* ingress port to which it travels, or by which it arrived */
	struct sim_flow *flow; /* NULL: PFC */
	uint64_t sent_at; /* ps; ACK: when the data packet was sent */
	uint32_t psn;
	uint16_t bytes; /* on the wire */
	uint16_t sport; /* data: UDP source port; ACK: sport of the acknowledged packet */
	/* source port of ACKs, NAKs, CNPs and answers to probes; 0: the flow's home port */
	uint16_t back;
	uint8_t kind; /* enum sim_kind */
	uint8_t flags;
	uint8_t hop; /* number of switches passed on `path` */
	uint16_t path; /* number of the path that the source leaf or the host has chosen */
	uint16_t arg; /* for the balancer's use */
	/* ACK, NAK: PSN of the packet that caused it; DATA: bytes of the message; TRACE: opcode,
	 * 0: that of probes */
	uint32_t arg_psn;
	union {
		struct sim_tag_conga conga;
		struct sim_tag_conweave conweave;
		uint64_t word[3];
	} tag;
};

/*
 * True: the packet is in the class of data. Packets of this class are queued with data, paused by
 * PFC, and counted in the shared buffer.
 */
static inline bool sim_packet_with_data(const struct sim_packet *p)
{
	if (p->flags & (SIM_BEHIND | SIM_AHEAD))
		return (p->flags & SIM_BEHIND) != 0;
	return p->kind == SIM_DATA || p->kind == SIM_READ || p->kind == SIM_PROBE ||
	       p->kind == SIM_BACK_PROBE || p->kind == SIM_TRACE;
}

/* Queue of packets linked through event.next. */
struct sim_fifo {
	struct sim_packet *head, *tail;
};

static inline void sim_fifo_put(struct sim_fifo *f, struct sim_packet *p)
{
	p->event.next = NULL;
	if (f->head == NULL)
		f->head = p;
	else
		f->tail->event.next = &p->event;
	f->tail = p;
}

static inline struct sim_packet *sim_fifo_take(struct sim_fifo *f)
{
	struct sim_packet *p = f->head;

	if (p != NULL)
		f->head = (struct sim_packet *)p->event.next;
	return p;
}

_Static_assert(offsetof(struct sim_packet, event) == 0, "a packet is its event");
