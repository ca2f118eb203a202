/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A host: an RNIC with reliable connections (IBTA 9.7) and DCQCN. Flows that may send form a ring,
 * which the port serves round robin, packet by packet. A flow is out of the ring while its rate
 * does not allow its next packet. Pacing is per packet: the interval is packet size / rate.
 *
 * A responder has one of three modes:
 * - go-back-N: one NAK per gap, repeated after nak_us;
 * - IRN (irn.c): stores out-of-order packets, and answers each by a NAK with its PSN;
 * - unordered: stores and acknowledges out-of-order packets, and sends no NAK, like custom RNICs
 *   for packet spraying. So only the requester's timer detects a loss.
 * READs use go-back-N, except in unordered mode.
 *
 * A host with several links chooses one by the hash of the packet's addresses and ports. A host
 * that receives a packet sends the answer on the same link.
 */
#include "sim/fabric/port.h"
#include "sim/host/flow.h"

struct sim_host {
	uint32_t node;
	/* unfinished flows that this host requested, oldest first */
	TAILQ_HEAD(sim_open_flows, sim_flow) open;
	struct sim_flow **kept; /* queue pairs kept open between messages, at
				  [2 * destination + is_read]; NULL: none yet */
	struct sim_event timer; /* retransmission: fires at or before the earliest timer_at */
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

/* The flow has packets to send: enters it into the ring, now or when its rate allows. */
void sim_host_schedule(struct sim *s, struct sim_flow *f);
/* Restarts the retransmission timer of the flow. */
void sim_host_arm(struct sim *s, struct sim_flow *f);

/* rnic_rx.c: sends an answer to `cause` by the port `in`, on which `cause` arrived. */
void sim_reply(struct sim *s, struct sim_port *in, const struct sim_packet *cause, uint8_t kind,
	uint32_t psn, bool echo);
/* rnic_rx.c: the RNIC receives data, or a NAK for a READ; frees the packet. */
void sim_rnic_data(struct sim *s, struct sim_packet *p);
/* rnic_rx.c: the notification point of DCQCN: sends a CNP, but only one per cnp_interval_us. */
void sim_notify(struct sim *s, struct sim_port *in, const struct sim_packet *p);
/* rnic_tx.c: the sender of data receives an ACK, NAK or CNP. */
void sim_requester_reply(struct sim *s, struct sim_flow *f, const struct sim_packet *p);

/* irn.c, requester: the flow may send a packet; its PSN is f->nxt. */
bool sim_irn_ready(const struct sim *s, struct sim_flow *f);
/* irn.c, requester: the retransmission time-out, ps. */
uint64_t sim_irn_rto(const struct sim *s, const struct sim_flow *f);
/* irn.c, requester: the retransmission timer has run out. */
void sim_irn_timeout(struct sim_flow *f);
/* irn.c, requester: an ACK or NAK has arrived. */
void sim_irn_reply(struct sim_flow *f, const struct sim_packet *p);
/* irn.c, responder: SIM_ACK or SIM_NAK, the reply to a packet in order or to a duplicate. */
uint8_t sim_irn_answer(const struct sim_flow *f);
/* irn.c, responder: stores a packet that is out of order. False: no reply is due. */
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
