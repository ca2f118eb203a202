/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_HOST_HOST_H
#define HP3_SIM_HOST_HOST_H
/*
 * A host: an RNIC with reliable connections (IBTA 9.7) and DCQCN. Flows that may send form a ring,
 * which the port serves round robin, packet by packet. A flow whose rate does not allow its next
 * packet leaves the ring until it does. Pacing is per packet: the interval is packet size / rate.
 *
 * Responder: go-back-N (one NAK per gap, repeated after nak_us); IRN (irn.c: keeps out-of-order
 * packets and names them in a NAK); or unordered (keeps and acknowledges them without NAK, so only
 * the requester's timer detects a loss, as in custom RNICs that spray). READs use go-back-N, unless
 * unordered.
 *
 * A host with several links chooses one by the hash of the packet's addresses and ports. Answers
 * leave by the link on which the packet that caused them arrived.
 */
#include "sim/fabric/port.h"
#include "sim/host/flow.h"

struct sim_host {
	uint32_t node;
	struct sim_flow *open,
		*open_tail; /* flows that this host requests; not done, oldest first */
	struct sim_flow **kept; /* 2 * destination + read: kept queue pairs; NULL: none yet */
	struct sim_event timer; /* retransmission: fires at the least timer_at, or later */
	bool timer_pending;
	uint16_t next_sport, next_dport;
};

void sim_host_init(struct sim *s, struct sim_host *h, uint32_t node);

/* The next data packet for the port; NULL if there is none now. */
struct sim_packet *sim_host_next(struct sim *s, struct sim_port *port);
void sim_host_wake(struct sim *s, struct sim_event *event);

/* DCQCN's parameters at the flow's port. */
static inline const struct hp3_dcqcn_params *sim_host_rp(struct sim *s, const struct sim_flow *f)
{
	s->rp.rpg_max_rate = (uint32_t)(f->port->bps / 1000000);
	return &s->rp;
}

void sim_host_receive(struct sim *s, struct sim_port *in, struct sim_packet *p);

/* The flow has packets to send: it enters the ring now, or when its rate allows. */
void sim_host_schedule(struct sim *s, struct sim_flow *f);
/* Restarts the retransmission timer of the flow. */
void sim_host_arm(struct sim *s, struct sim_flow *f);

/* rnic_rx.c: an answer to `cause`, sent by the port `in`, on which it arrived. */
void sim_reply(struct sim *s, struct sim_port *in, const struct sim_packet *cause, uint8_t kind,
	uint32_t psn, bool echo);
/* rnic_rx.c: data, or a NAK of a READ, reach the RNIC, which ends the packet. */
void sim_rnic_data(struct sim *s, struct sim_packet *p);
/* rnic_rx.c: the notification point: sends a CNP, unless within cnp_interval_us of the last. */
void sim_notify(struct sim *s, struct sim_port *in, const struct sim_packet *p);
/* rnic_tx.c: the sender of data got an ACK, NAK or CNP. */
void sim_requester_reply(struct sim *s, struct sim_flow *f, const struct sim_packet *p);

/* irn.c, requester. ready: it may send; f->nxt is the PSN. rto: the time-out, ps. */
bool sim_irn_ready(const struct sim *s, struct sim_flow *f);
uint64_t sim_irn_rto(const struct sim *s, const struct sim_flow *f);
void sim_irn_timeout(struct sim_flow *f);
void sim_irn_reply(struct sim_flow *f, const struct sim_packet *p);
/* irn.c, responder. answer: the reply to a packet in order or a duplicate. keep: stores a packet
 * that is out of order; false: no reply is due. */
uint8_t sim_irn_answer(const struct sim_flow *f);
bool sim_irn_keep(struct sim *s, struct sim_flow *f, uint32_t psn);

/* read.c, requester: the queue pair is up; send requests; repeat requests; a response arrived.
 * Responder: a request arrived. */
void sim_read_up(struct sim *s, struct sim_event *event);
void sim_read_ask(struct sim *s, struct sim_flow *f);
void sim_read_again(struct sim *s, struct sim_flow *f);
void sim_read_response(struct sim *s, struct sim_port *in, struct sim_packet *p);
void sim_read_request(struct sim *s, struct sim_port *in, struct sim_packet *p);

#endif
