/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_HOST_HOST_H
#define HP3_SIM_HOST_HOST_H
/*
 * A host: an RNIC with reliable connections (IBTA 9.7) and DCQCN. Flows that may send form a ring
 * that the port serves packet by packet, round robin; a flow whose rate does not allow its next
 * packet yet is woken when it does. Pacing is per packet: the next one not before packet size /
 * rate after the last one.
 *
 * Responder: go back N (one NAK per gap, again after nak_us), IRN (irn.c: what comes out of order
 * is kept, a NAK names it), or unordered (kept and acknowledged, no NAK: only the requester's timer
 * finds a loss, as custom RNICs do that spray). READs go back N, but for unordered.
 *
 * A host with several links sends a packet by the one that the hash of its own addresses and ports
 * names; answers go back by the link that their cause came in by.
 */
#include "sim/fabric/port.h"
#include "sim/host/flow.h"

struct sim_host {
	uint32_t node;
	struct sim_flow *open, *open_tail; /* it is the requester of, not done, oldest first */
	struct sim_flow **kept; /* 2 * destination + read: queue pairs that stay; NULL: none yet */
	struct sim_event timer; /* retransmission: not before the least timer_at */
	bool timer_pending;
	uint16_t next_sport, next_dport;
};

void sim_host_init(struct sim *s, struct sim_host *h, uint32_t node);

/* The port asks for the next data packet; NULL if there is none now. */
struct sim_packet *sim_host_next(struct sim *s, struct sim_port *port);
void sim_host_wake(struct sim *s, struct sim_event *event);

/* DCQCN's parameters at the flow's port. */
static inline const struct hp3_dcqcn_params *sim_host_rp(struct sim *s, const struct sim_flow *f)
{
	s->rp.rpg_max_rate = (uint32_t)(f->port->bps / 1000000);
	return &s->rp;
}

void sim_host_receive(struct sim *s, struct sim_port *in, struct sim_packet *p);

/* The flow has something to send: into the ring now, or when its rate allows. */
void sim_host_schedule(struct sim *s, struct sim_flow *f);
/* The retransmission timer of the flow starts over. */
void sim_host_arm(struct sim *s, struct sim_flow *f);

/* rnic_rx.c: an answer to `cause`, out by the port that it came in by. */
void sim_reply(struct sim *s, struct sim_port *in, const struct sim_packet *cause, uint8_t kind,
	uint32_t psn, bool echo);
/* rnic_rx.c: data, or of a READ a NAK, reach the RNIC, which ends them. */
void sim_rnic_data(struct sim *s, struct sim_packet *p);
/* rnic_rx.c: the notification point: a CNP, unless the flow had one just now. */
void sim_notify(struct sim *s, struct sim_port *in, const struct sim_packet *p);
/* rnic_tx.c: the sender of data got an ACK, NAK or CNP. */
void sim_requester_reply(struct sim *s, struct sim_flow *f, const struct sim_packet *p);

/* irn.c, requester: may it send, and f->nxt is what; how long to wait for an answer, ps; none has
 * come; one has come. */
bool sim_irn_ready(const struct sim *s, struct sim_flow *f);
uint64_t sim_irn_rto(const struct sim *s, const struct sim_flow *f);
void sim_irn_timeout(struct sim_flow *f);
void sim_irn_reply(struct sim_flow *f, const struct sim_packet *p);
/* irn.c, responder: what a packet in order or a duplicate is answered by; one out of order came:
 * false if it is not answered. */
uint8_t sim_irn_answer(const struct sim_flow *f);
bool sim_irn_keep(struct sim *s, struct sim_flow *f, uint32_t psn);

/* read.c: at the requester, whose queue pair is up; that may ask for more; that asks again; that
 * got a response. At the responder: a request. */
void sim_read_up(struct sim *s, struct sim_event *event);
void sim_read_ask(struct sim *s, struct sim_flow *f);
void sim_read_again(struct sim *s, struct sim_flow *f);
void sim_read_response(struct sim *s, struct sim_port *in, struct sim_packet *p);
void sim_read_request(struct sim *s, struct sim_port *in, struct sim_packet *p);

#endif
