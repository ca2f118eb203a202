/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes, traces and what answers them, with the counts of flows per path that they bear. */
#include <stddef.h>
#include <string.h>
#include "engine/paths/trace.h"
#include "ppp/placement.h"
#include "sim/lb/hp3.h"

#define HP3_PROBE_BYTES 96u /* Ethernet, IPv4, UDP, BTH, RETH, ICRC; counts come on top */
#define NAMED_BYTES     3u /* of a count with the name of its path (probes/answer.h) */

/* Counts on their way: by number of the path, or by name. */
struct load_counts {
	uint32_t n;
	union {
		uint16_t count[HP3_LOAD_PATHS];
		struct hp3_path_count path[HP3_HOPS];
	};
};

void hp3_sim_probes(struct hp3_balancer *b)
{
	size_t size = offsetof(struct load_counts, count);

	size += b->named ? HP3_HOPS * sizeof(struct hp3_path_count) : 2 * b->paths;
	sim_pool_init(&b->counts, (size + 15) & ~(size_t)15);
}

static struct load_counts *counts_by(const struct sim_packet *p)
{
	struct load_counts *t;

	memcpy(&t, &p->tag.word[0], sizeof(t));
	return t;
}

/* NULL: there is no placement. */
static struct load_counts *new_counts(struct hp3_balancer *b, struct sim_packet *p)
{
	struct load_counts *t = b->paths > 0 || b->named ? sim_pool_get(&b->counts) : NULL;

	memcpy(&p->tag.word[0], &t, sizeof(t));
	return t;
}

static void grow_probe(
	const struct hp3_balancer *b, struct sim_packet *p, const struct load_counts *t)
{
	p->bytes = (uint16_t)(p->bytes + (b->named ? NAMED_BYTES * t->n : 2 * b->paths));
}

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

/* What flows of `flow`'s pair go to its peer, with a probe. */
static void receive_outbound_counts(
	struct hp3_balancer *b, uint32_t host, uint32_t flow, struct sim_packet *p)
{
	struct hp3_engine *e = b->host[host].engine;
	struct load_counts *t = new_counts(b, p);
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {.local = hp3_sim_address(local, host),
		.remote = hp3_sim_address(remote, probed_host(p))};

	if (t == NULL)
		return;
	if (b->named)
		t->n = hp3_load_to_names(e, flow, t->path, HP3_HOPS);
	else
		t->n = hp3_load_to(e, &ends, t->count, b->paths);
	grow_probe(b, p, t);
}

/* What flows come in here, with an answer. */
static void receive_inbound_counts(
	struct hp3_balancer *b, struct hp3_engine *e, struct sim_packet *p)
{
	struct load_counts *t = new_counts(b, p);

	if (t == NULL)
		return;
	if (b->named) {
		t->n = hp3_load_in_names(e, t->path, HP3_HOPS);
	} else {
		memset(t->count, 0, b->paths * sizeof(*t->count));
		t->n = hp3_load_in(e, t->count, b->paths);
	}
	grow_probe(b, p, t);
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
	p->sport = a->port;
	receive_outbound_counts(b, host, a->flow, p);
	s->n.probes++;
	s->n.probe_bytes += p->bytes;
	sim_port_queue_data(s, sim_flow_out(s, p, host), p);
}

void hp3_sim_send_trace(struct sim *s, uint32_t host, struct sim_flow *f, const struct hp3_act *a)
{
	struct sim_packet *p;

	if (host != sim_flow_requester(f))
		return;
	p = sim_packet_new(s, SIM_TRACE, HP3_PROBE_BYTES, f, a->probe_id);
	p->sport = a->port;
	p->arg = a->op;
	s->n.traces++;
	s->n.probe_bytes += p->bytes;
	sim_port_queue_data(s, sim_flow_out(s, p, host), p);
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

/* The peer's hp3d answers a probe: mark, and its inbound flows. */
static void answer_probe(struct sim *s, struct hp3_balancer *b, const struct sim_packet *probe)
{
	struct sim_flow *f = probe->flow;
	struct hp3_host *h = &b->host[probed_host(probe)];
	struct hp3_engine *e = h->engine;
	const struct load_counts *t = counts_by(probe);
	uint64_t now = s->now / SIM_NS;
	uint8_t local[4], remote[4];
	struct hp3_ends ends = {.local = hp3_sim_address(local, probed_host(probe)),
		.remote = hp3_sim_address(remote, probing_host(probe))};
	struct sim_packet *p;

	if (h->absent)
		return;
	hp3_peer_seen(e, &ends, now);
	if (t != NULL && b->named)
		hp3_load_from_names(e, &ends, probe->sent_at / SIM_NS, t->path, t->n, now);
	else if (t != NULL)
		hp3_load_from(e, &ends, t->count, b->paths, now);
	p = sim_packet_new(s,
		probe->kind == SIM_BACK_PROBE ? SIM_BACK_PROBE_REPLY : SIM_PROBE_REPLY,
		HP3_PROBE_BYTES, f, probe->psn);
	p->flags |= probe->flags & SIM_CE ? SIM_ECHO : 0;
	p->back = probe->sport;
	receive_inbound_counts(b, e, p);
	send_answer(s, probe->to, p);
}

static void take_probe_answer(
	struct sim *s, struct hp3_balancer *b, uint32_t host, struct sim_packet *p)
{
	struct hp3_engine *e = b->host[host].engine;
	const struct load_counts *t = counts_by(p);
	uint64_t now = s->now / SIM_NS;
	struct hp3_acts acts = {0};

	if (t != NULL && b->named)
		hp3_load_received_names(e, p->psn, t->path, t->n, now);
	else if (t != NULL)
		hp3_load_received(e, p->psn, t->count, b->paths, now);
	hp3_probe_reply(e, p->psn, p->flags & SIM_ECHO, now, &acts);
	hp3_sim_carry_out(s, b, host, &acts);
	hp3_sim_wake(s, b, host);
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
	struct load_counts *t;

	if (p->kind == SIM_TRACE) {
		answer_trace(s, p);
	} else if (p->kind == SIM_TRACE_REPLY) {
		hop_reported(s, b, host->node, p);
	} else if (hp3_sim_is_report(p)) {
		hp3_sim_reported(s, b, p);
	} else if (p->kind == SIM_PROBE || p->kind == SIM_PROBE_REPLY ||
		   p->kind == SIM_BACK_PROBE || p->kind == SIM_BACK_PROBE_REPLY) {
		if (p->kind == SIM_PROBE || p->kind == SIM_BACK_PROBE)
			answer_probe(s, b, p);
		else
			take_probe_answer(s, b, host->node, p);
		t = counts_by(p);
		if (t != NULL)
			sim_pool_put(&b->counts, t);
	}
}
