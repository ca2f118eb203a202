/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "sim/host/opcode.h"
#include "sim/lb/hp3.h"
#include "sim/lb/hp3_verbs.h"
#include "sim/lb/lb.h"

#define SYN_ACK 0x1fu
#define SYN_NAK 0x60u /* PSN sequence error */

static void stop_hp3(struct sim *s)
{
	struct hp3_balancer *b = s->lb_state;

	for (uint32_t h = 0; b->host != NULL && h < s->topo.hosts; h++) {
		free(b->host[h].memory);
		free(b->host[h].met);
		free(b->host[h].held);
	}
	for (uint32_t i = 0; b->seeds != NULL && i < b->places; i++)
		free(b->seeds[i]);
	free(b->seeds);
	free(b->host);
	free(b->model);
	free(b->place);
	sim_pool_free(&b->ticks);
	sim_pool_free(&b->orders);
	sim_pool_free(&b->words);
	hp3_sim_fleet_stop(b);
	free(b);
}

static int start_hp3(struct sim *s)
{
	struct hp3_balancer *b = sim_alloc(1, sizeof(*b));
	int ret = 0;

	s->lb_state = b;
	s->cfg.rnic.ports = SIM_PORTS_ROCE;
	b->kind = sim_policy_of(s->lb->name);
	hp3_sim_config(s, b);
	hp3_sim_several(b);
	sim_pool_init(&b->ticks, sizeof(struct sim_event) + sizeof(uint64_t));
	sim_pool_init(&b->orders, sizeof(struct sim_event) + 3 * sizeof(uint64_t));
	if (hp3_sim_paths_known(s, b))
		ret = hp3_sim_models(s, b);
	if (ret == 0)
		ret = hp3_sim_engines(s, b);
	if (ret == 0 && s->cfg.fleet.interval_us > 0 && b->kind != SIM_POLICY_VERBS)
		ret = hp3_sim_fleet_start(s, b);
	return ret;
}

/* A frame of headers: addresses are all that the engine reads of it. */
static struct hp3_pkt packet_of(
	uint8_t *frame, uint32_t src, uint32_t dst, uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	const struct hp3_opcode_info *op = &hp3_opcodes[opcode];

	sim_put_address(frame + 26, src);
	sim_put_address(frame + 30, dst);
	return (struct hp3_pkt){.frame = frame,
		.trusted = true,
		.v = {.class = op->class,
			.opcode = opcode,
			.flags = op->flags,
			.l3_off = 14,
			.udp_off = 34,
			.dest_qpn = qpn,
			.psn = psn & HP3_PSN_MASK}};
}

struct hp3_pkt hp3_sim_view(struct sim *s, uint8_t *frame, const struct sim_packet *p)
{
	const struct sim_flow *f = p->flow;
	struct hp3_sim_flow *x = hp3_sim_flow_of(p->flow);
	bool forward = sim_packet_forward(p);
	uint32_t src = forward ? f->src : f->dst, dst = forward ? f->dst : f->src;
	uint8_t opcode = HP3_OP_RC_ACK;
	uint32_t psn = HP3_SIM_FIRST_PSN + p->psn;
	struct hp3_pkt pkt;

	if (p->kind == SIM_DATA)
		opcode = sim_data_opcode(p);
	else if (p->kind == SIM_READ)
		opcode = HP3_OP_RC_READ_REQUEST;
	else if (p->kind == SIM_CNP)
		opcode = HP3_OP_CNP;
	else if (p->kind == SIM_ACK)
		psn--;
	pkt = packet_of(
		frame, src, dst, opcode, dst == sim_flow_requester(f) ? x->lqpn : x->rqpn, psn);
	pkt.len = p->bytes;
	pkt.v.sport = f->home;
	pkt.v.syndrome = p->kind == SIM_NAK ? SYN_NAK : SYN_ACK;
	pkt.v.dma_len = p->arg_psn; /* data and READ requests: bytes of the message */
	if (p->kind == SIM_DATA)
		pkt.v.payload_len = sim_data_payload(s, p);
	if (p->flags & SIM_ECHO)
		pkt.v.flags |= HP3_VF_BECN;
	return pkt;
}

/* What was held leaves before the packet in hand. */
static bool has_released(const struct hp3_acts *acts)
{
	for (uint32_t i = 0; i < acts->n; i++)
		if (acts->act[i].kind == HP3_ACT_RELEASE)
			return true;
	return false;
}

/* The RNIC emits a packet. False: it is held, or dropped. */
static bool send_through_engine(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct hp3_balancer *b = s->lb_state;
	uint32_t from = sim_packet_forward(p) ? f->src : f->dst;
	struct hp3_host *h = &b->host[from];
	uint8_t frame[HP3_SIM_FRAME];
	struct hp3_verdict vd;
	struct hp3_acts acts;
	struct hp3_pkt pkt;

	if (!hp3_sim_flow_of(f)->managed || h->absent)
		return true;
	pkt = hp3_sim_view(s, frame, p);
	if (!f->read && ((p->flags & SIM_LAST) || (p->psn + 1) % s->cfg.rnic.ack_every == 0))
		pkt.v.flags |= HP3_VF_ACKREQ;
	hp3_find_burst(h->engine, &pkt, 1, HP3_DIR_TX);
	hp3_tx(h->engine, &pkt, s->now / SIM_NS, &vd, &acts);
	hp3_sim_act(s, b, from, &acts);
	if (vd.flags & HP3_SET_ACKREQ)
		p->flags |= SIM_ACKREQ;
	if (vd.kind == HP3_PASS) {
		p->sport = vd.sport;
		if (!has_released(&acts))
			return true;
		sim_port_queue_data(s, sim_flow_out(s, p, from), p);
		return false;
	}
	if (vd.kind == HP3_HOLD) {
		p->tag.word[0] = s->now;
		s->n.held_packets++;
		h->held[vd.held] = p;
	} else {
		sim_packet_drop(s, p, SIM_DROP_SUPERSEDED);
	}
	return false;
}

/* A packet on its way to the RNIC. False: the engine keeps it. */
static bool receive_through_engine(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct hp3_balancer *b = s->lb_state;
	uint32_t at = sim_packet_target(p);
	struct hp3_host *h = &b->host[at];
	uint8_t frame[HP3_SIM_FRAME];
	struct hp3_verdict vd;
	struct hp3_acts acts;
	struct hp3_pkt pkt;

	if (!hp3_sim_flow_of(f)->managed || h->absent)
		return true;
	pkt = hp3_sim_view(s, frame, p);
	hp3_find_burst(h->engine, &pkt, 1, HP3_DIR_RX);
	hp3_rx(h->engine, &pkt, s->now / SIM_NS, &vd, &acts);
	hp3_sim_act(s, b, at, &acts);
	if (vd.flags & HP3_CLEAR_BECN)
		p->flags &= (uint8_t)~SIM_ECHO;
	return vd.kind == HP3_PASS;
}

/* One engine, three configurations. */
#define BALANCER(text, what)                                                                       \
	{                                                                                          \
		.name = text, .about = what, .flow_bytes = sizeof(struct hp3_sim_flow),            \
		.probes_at_setup = true, .start = start_hp3, .stop = stop_hp3,                     \
		.flow_start = hp3_sim_flow_start, .flow_end = hp3_sim_flow_end,                    \
		.data = send_through_engine, .reply = receive_through_engine,                      \
		.arrived = hp3_sim_arrived, .answers = hp3_sim_answers, .other = hp3_sim_other     \
	}

const struct sim_lb sim_lb_hp3 = BALANCER(
	"hp3", "hp3d with its defaults, or --hp3 FILE: probes, moves and sprays; in hosts");
const struct sim_lb sim_lb_hp3_ideal = BALANCER(
	"hp3-ideal", "hp3d with the hash of switches known and rates set at moves; in hosts");
const struct sim_lb sim_lb_hp3_paper = BALANCER(
	"hp3-paper", "the algorithm of the paper with the probes of hp3d; in hosts (IWQoS 2026)");

const struct sim_lb sim_lb_hp3_verbs = {.name = "hp3-verbs",
	.about = "hp3d in verbs mode, which sees no packets; in hosts",
	.flow_bytes = sizeof(struct hp3_verbs_flow),
	.probes_at_setup = true,
	.start = start_hp3,
	.stop = stop_hp3,
	.flow_start = hp3_verbs_start,
	.flow_end = hp3_sim_flow_end,
	.posted = hp3_verbs_posted,
	.acked = hp3_verbs_acked,
	.other = hp3_sim_other};
