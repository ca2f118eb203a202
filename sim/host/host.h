/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A host: an RNIC with reliable connections (IBTA 9.7) and DCQCN. Flows that may send form a ring,
 * which the port serves round robin, packet by packet. A flow is not in the ring while its rate
 * does not allow the next packet. Pacing is per packet: the interval is packet size / rate.
 *
 * A responder has one of three modes:
 * - go-back-N: one NAK per gap, repeated after nak_us;
 * - IRN (irn.c): stores out-of-order packets, and answers each packet by a NAK with the packet's
 *   PSN;
 * - unordered: stores and acknowledges out-of-order packets, and sends no NAK, like custom RNICs
 *   for packet spraying. In this mode, only the requester's timer detects a loss.
 * READs use go-back-N, except in unordered mode.
 *
 * A host with several links chooses a link by the hash of the packet's addresses and ports. A host
 * answers a packet on the link on which the packet arrived.
 */
#include "sim/fabric/port.h"
#include "sim/host/flow.h"

struct sim_host {
	uint32_t node;
	/* unfinished flows of which this host is the requester, oldest first */
	TAILQ_HEAD(sim_open_flows, sim_flow) open;
	struct sim_flow **kept; /* queue pairs kept open between messages, at
				  [2 * destination + is_read]; NULL: none yet */
	struct sim_event timer; /* retransmission timer: fires at or before the earliest timer_at */
	bool timer_pending;
	uint16_t next_sport, next_dport;
};

void sim_host_init(struct sim *s, struct sim_host *h, uint32_t node);

/* The next data packet for the port; NULL if no flow may send one now. */
struct sim_packet *sim_host_next(struct sim *s, struct sim_port *port);
void sim_host_wake(struct sim *s, struct sim_event *event);

/* DCQCN's parameters at the flow's port. */
static inline const struct hp3_dcqcn_params *sim_host_rp(struct sim *s, const struct sim_flow *f)
{
	s->rp.rpg_max_rate = (uint32_t)(f->port->bps / 1000000);
	return &s->rp;
}

void sim_host_receive(struct sim *s, struct sim_port *in, struct sim_packet *p);

/*
 * Call this when the flow has packets to send. Adds the flow to the ring, now or when the flow's
 * rate allows.
 */
void sim_host_schedule(struct sim *s, struct sim_flow *f);
/* Restarts the retransmission timer of the flow. */
void sim_host_arm(struct sim *s, struct sim_flow *f);

/* rnic_rx.c: sends an answer to `cause` by the port `in`, on which `cause` arrived. */
void sim_reply(struct sim *s, struct sim_port *in, const struct sim_packet *cause, uint8_t kind,
	uint32_t psn, bool echo);
/* rnic_rx.c: the RNIC receives data, or a NAK for a READ. Frees the packet. */
void sim_rnic_data(struct sim *s, struct sim_packet *p);
/* rnic_rx.c: the notification point of DCQCN. Sends a CNP, but at most one per cnp_interval_us. */
void sim_notify(struct sim *s, struct sim_port *in, const struct sim_packet *p);
/* rnic_tx.c: the sender of data receives an ACK, NAK or CNP. */
void sim_requester_reply(struct sim *s, struct sim_flow *f, const struct sim_packet *p);

/* irn.c, requester: true: the flow may send a packet. The packet's PSN is f->nxt. */
bool sim_irn_ready(const struct sim *s, struct sim_flow *f);
/* irn.c, requester: the retransmission time-out, ps. */
uint64_t sim_irn_rto(const struct sim *s, const struct sim_flow *f);
/* irn.c, requester: the retransmission timer has run out. */
void sim_irn_timeout(struct sim_flow *f);
/* irn.c, requester: an ACK or NAK has arrived. */
void sim_irn_reply(struct sim_flow *f, const struct sim_packet *p);
/* irn.c, responder: the reply to a packet that is in order or a duplicate: SIM_ACK or SIM_NAK. */
uint8_t sim_irn_answer(const struct sim_flow *f);
/* irn.c, responder: stores an out-of-order packet. False: no reply is due. */
bool sim_irn_keep(struct sim *s, struct sim_flow *f, uint32_t psn);

/* read.c, requester: the queue pair is set up; sends the first requests. */
void sim_read_up(struct sim *s, struct sim_event *event);
/* read.c, requester: sends requests while fewer than rnic.read_depth are outstanding. */
void sim_read_ask(struct sim *s, struct sim_flow *f);
/* read.c, requester: repeats all outstanding requests from the expected PSN on. */
void sim_read_again(struct sim *s, struct sim_flow *f);
/* read.c, requester: a response has arrived. */
void sim_read_response(struct sim *s, struct sim_port *in, struct sim_packet *p);
/* read.c, responder: a request has arrived. */
void sim_read_request(struct sim *s, struct sim_port *in, struct sim_packet *p);
