/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes, traces and what answers them. */
#include "sim/lb/hp3.h"

#define HP3_PROBE_BYTES 96u /* Ethernet, IPv4, UDP, BTH, RETH, ICRC */

/* Who probes: a responder compares paths for READ responses. */
static uint32_t probing_host(const struct sim_packet *p)
{
	bool back = p->kind == SIM_BACK_PROBE || p->kind == SIM_BACK_PROBE_REPLY;

	return back ? sim_flow_responder(p->flow) : sim_flow_requester(p->flow);
}

static uint32_t probed_host(const struct sim_packet *p)
{
	return sim_flow_requester(p->flow) + sim_flow_responder(p->flow) - probing_host(p);
}

void hp3_sim_send(struct sim *s, uint32_t host, struct sim_packet *p, uint16_t port)
{
	p->sport = port;
	s->n.probe_bytes += p->bytes;
	sim_port_queue_data(s, sim_flow_out(s, p, host), p);
}

void hp3_sim_send_probe(struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_flow *f,
	const struct hp3_act *a)
{
	const bool back = host != sim_flow_requester(f);
	struct sim_packet *p;

	if (a->op != HP3_PROBE_PEER)
		return;
	p = sim_packet_new(
		s, back ? SIM_BACK_PROBE : SIM_PROBE, HP3_PROBE_BYTES + a->pad, f, a->probe_id);
	s->n.probes++;
	hp3_sim_send(s, host, p, a->port);
}

void hp3_sim_send_trace(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a)
{
	struct sim_packet *p;

	if (host != sim_flow_requester(f))
		return;
	p = sim_packet_new(s, SIM_TRACE, HP3_PROBE_BYTES, f, a->probe_id);
	p->arg = a->op;
	p->arg_psn = a->flags;
	s->n.traces++;
	hp3_sim_send(s, host, p, a->port);
}

bool hp3_sim_answers_first(const struct sim *s)
{
	const struct hp3_balancer *b = s->lb_state;

	return b->cfg.answer_dscp != HP3_DSCP_KEPT && b->cfg.answer_dscp == s->cfg.fabric.cnp_dscp;
}

/* hp3d has one queue to its port, whatever the class: there answers wait for their turn. */
static void send_answer(struct sim *s, struct sim_port *out, struct sim_packet *p)
{
	s->n.probe_bytes += p->bytes;
	if (!hp3_sim_answers_first(s))
		p->flags |= SIM_BEHIND;
	sim_port_queue_data(s, out, p);
}

/* The peer's hp3d answers a probe, with its mark. */
static void answer_probe(struct sim *s, struct hp3_balancer *b, const struct sim_packet *probe)
{
	struct sim_flow *f = probe->flow;
	struct hp3_host *h = &b->host[probed_host(probe)];
	struct hp3_engine *e = h->engine;
	uint64_t now = s->now / SIM_NS;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {.local = sim_put_address(local, probed_host(probe)),
		.remote = sim_put_address(remote, probing_host(probe))};
	struct sim_packet *p;

	if (h->absent)
		return;
	hp3_peer_seen(e, &ends, now);
	p = sim_packet_new(s,
		probe->kind == SIM_BACK_PROBE ? SIM_BACK_PROBE_REPLY : SIM_PROBE_REPLY,
		HP3_PROBE_BYTES, f, probe->psn);
	p->flags |= probe->flags & SIM_CE ? SIM_ECHO : 0;
	p->back = probe->sport;
	send_answer(s, probe->to, p);
}

static void take_probe_answer(
	struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_packet *p)
{
	struct hp3_engine *e = b->host[host].engine;
	uint64_t now = s->now / SIM_NS;
	struct hp3_acts acts = {0};

	hp3_probe_reply(e, p->psn, p->flags & SIM_ECHO, now, &acts);
	hp3_sim_act(s, b, host, &acts);
}

/* The TTL was more than the way: the peer's hp3d answers. */
static void answer_trace(struct sim *s, const struct sim_packet *trace)
{
	struct sim_packet *p =
		sim_packet_new(s, SIM_TRACE_REPLY, HP3_PROBE_BYTES, trace->flow, trace->psn);

	p->arg_psn = 0;
	send_answer(s, trace->to, p);
}

static void hop_reported(struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_packet *p)
{
	uint32_t hop = __builtin_bswap32(0x0a000000u + p->arg_psn);

	s->n.hops_reported += p->arg_psn != 0;
	s->n.probe_bytes += p->arg_psn != 0 ? p->bytes : 0;
	hp3_hop_reported(b->host[host].engine, p->psn,
		p->arg_psn != 0 ? HP3_TRACE_HOP : HP3_TRACE_REACHED, false, &hop, s->now / SIM_NS);
	hp3_sim_wake(s, b, host);
}

void hp3_sim_other(struct sim *s, struct sim_host *host, struct sim_packet *p)
{
	struct hp3_balancer *b = s->lb_state;

	if (p->kind == SIM_TRACE) {
		answer_trace(s, p);
	} else if (p->kind == SIM_TRACE_REPLY) {
		hop_reported(s, b, host->node, p);
	} else if (hp3_sim_is_report(p)) {
		hp3_sim_reported(s, b, p);
	} else if (p->kind == SIM_PROBE || p->kind == SIM_BACK_PROBE) {
		answer_probe(s, b, p);
	} else if (p->kind == SIM_PROBE_REPLY || p->kind == SIM_BACK_PROBE_REPLY) {
		take_probe_answer(s, b, host->node, p);
	}
}
