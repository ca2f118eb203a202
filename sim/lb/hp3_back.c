/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dead reply paths, handled as in hp3d (engine/search/dead.c, engine/moves/replies.c). The
 * requester's side sends ACK solicitations and reports. The responder's engine sees the RNIC's
 * replies only from the first report on: before, it would forward them unchanged.
 */
#include "sim/lb/hp3.h"

#define BYTES  78u /* Ethernet, IPv4, UDP, BTH, RETH, ICRC: as small as RoCE gets with a RETH */
#define REPORT 1u /* sim_packet.arg of a probe that is none */

/* To the RNIC: a zero-length WRITE with an old PSN. */
void hp3_sim_solicit_ack(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a)
{
	struct sim_packet *p;

	if (f->read || host != f->src)
		return;
	p = sim_packet_new(s, SIM_DATA, BYTES, f, a->psn - HP3_SIM_FIRST_PSN);
	p->flags = SIM_AGAIN | SIM_FIRST | SIM_LAST | SIM_ACKREQ;
	p->arg_psn = 0;
	s->n.ack_solicitations++;
	hp3_sim_send(s, host, p, a->port);
}

/* To the peer's hp3d: no reply to this queue pair comes through. */
void hp3_sim_report(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a)
{
	struct sim_packet *p;

	if (host != sim_flow_requester(f))
		return;
	p = sim_packet_new(s, SIM_PROBE, BYTES, f, 0);
	p->arg = REPORT;
	p->flags = hp3_sim_answers_first(s) ? SIM_AHEAD : 0;
	s->n.reports++;
	hp3_sim_send(s, host, p, a->port);
}

bool hp3_sim_is_report(const struct sim_packet *p)
{
	return p->kind == SIM_PROBE && p->arg == REPORT;
}

void hp3_sim_reported(struct sim *s, struct hp3_balancer *b, const struct sim_packet *p)
{
	struct sim_flow *f = p->flow;
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);
	uint32_t here = sim_flow_responder(f);
	struct hp3_engine *e = b->host[here].engine;
	uint64_t now = s->now / SIM_NS;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {.local = sim_put_address(local, here),
		.remote = sim_put_address(remote, sim_flow_requester(f))};
	struct hp3_acts acts = {0};

	if (!x->managed || b->host[here].absent)
		return;
	hp3_peer_report(e, &ends, x->lqpn, now, &acts);
	hp3_peer_seen(e, &ends, now);
	x->reported = true;
	hp3_sim_act(s, b, here, &acts);
}

void hp3_sim_answers(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct hp3_balancer *b = s->lb_state;
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);
	uint32_t here = sim_packet_forward(p) ? f->src : f->dst;
	uint8_t frame[HP3_SIM_FRAME];
	struct hp3_verdict vd;
	struct hp3_acts acts;
	struct hp3_pkt pkt;

	if (!x->managed || here != sim_flow_responder(f) || b->host[here].absent ||
		(!x->reported && !(b->cfg.spray.mode != HP3_SPRAY_MOVE && p->kind == SIM_NAK)))
		return;
	pkt = hp3_sim_view(s, frame, p);
	hp3_find_burst(b->host[here].engine, &pkt, 1, HP3_DIR_TX);
	hp3_tx(b->host[here].engine, &pkt, s->now / SIM_NS, &vd, &acts);
	hp3_sim_act(s, b, here, &acts);
	p->back = vd.sport;
}
