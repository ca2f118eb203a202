/* SPDX-License-Identifier: BSD-3-Clause */
/* What packets of a flow look like to hashes, and by which port of a host they leave. */
#include "sim/fabric/switch.h"
#include "sim/host/host.h"
#include "sim/host/opcode.h"

#define ROCE_PORT   4791u
#define ANSWER_PORT 4795u /* of hp3d: probes.port */
#define FIRST_SPORT 10000u /* counted port numbers, as ns-3's RDMA models give them */
#define FIRST_DPORT 100u

/* Requests and probes go by the source port that they bear; what answers them by the one given to
 * it, else by the home port. */
static uint16_t source_port(const struct sim_packet *p)
{
	if (p->kind == SIM_DATA || p->kind == SIM_READ || p->kind == SIM_PROBE ||
		p->kind == SIM_BACK_PROBE || p->kind == SIM_TRACE)
		return p->sport;
	return p->back != 0 ? p->back : p->flow->home;
}

/* Hosts choose their links by addresses and ports only. Answers of hp3d have no BTH. */
static void add_bth(
	const struct sim *s, const struct sim_packet *p, struct sim_hash *h, struct hp3_tuple *t)
{
	uint32_t fields = s->cfg.fabric.hash_bth;
	uint8_t opcode = sim_packet_opcode(p);

	if (opcode == 0)
		return;
	h->qpn = fields == SIM_BTH_QPN || fields == SIM_BTH_BOTH;
	if (fields == SIM_BTH_OPCODE || fields == SIM_BTH_BOTH)
		h->opcode = SIM_HASH_OPCODE | opcode;
	t->qpn = sim_flow_qpn(p->flow, sim_packet_target(p) == sim_flow_requester(p->flow));
}

uint32_t sim_flow_hash(const struct sim *s, const struct sim_packet *p, uint32_t node)
{
	const struct sim_flow *f = p->flow;
	struct sim_hash h = {.kind = (uint8_t)s->cfg.fabric.hash,
		.input = (uint8_t)s->cfg.fabric.hash_input,
		.paths = 1,
		.seed = s->cfg.fabric.hash_seed + node};
	uint16_t sport = source_port(p);
	struct hp3_tuple t = {0};

	if (sim_packet_forward(p)) {
		sim_put_address(t.src, f->src);
		sim_put_address(t.dst, f->dst);
		t.sport = sport;
		t.dport = f->dport;
	} else {
		sim_put_address(t.src, f->dst);
		sim_put_address(t.dst, f->src);
		t.sport = f->dport;
		t.dport = sport;
		if (s->cfg.rnic.ports == SIM_PORTS_ROCE) {
			t.sport = sport;
			t.dport = f->dport;
		}
	}
	if ((p->kind == SIM_PROBE_REPLY || p->kind == SIM_BACK_PROBE_REPLY) && p->back != 0)
		t.dport = ANSWER_PORT;
	if (s->cfg.fabric.hash_bth != SIM_BTH_NONE && node >= s->topo.hosts)
		add_bth(s, p, &h, &t);
	return sim_hash(&h, &t);
}

void sim_flow_ports(const struct sim *s, struct sim_flow *f)
{
	uint16_t nth = s->host[f->src].next_sport;
	uint64_t state = s->cfg.run.seed ^ ((uint64_t)f->src << 32 | nth);

	if (s->cfg.rnic.ports == SIM_PORTS_ROCE) {
		f->sport = hp3_random_port(&state);
		f->dport = ROCE_PORT;
	} else {
		f->sport = (uint16_t)(FIRST_SPORT + nth);
		f->dport = (uint16_t)(FIRST_DPORT + s->host[f->dst].next_dport);
	}
	f->home = f->sport;
}

uint32_t sim_packet_target(const struct sim_packet *p)
{
	return sim_packet_forward(p) ? p->flow->dst : p->flow->src;
}

struct sim_port *sim_flow_out(struct sim *s, const struct sim_packet *p, uint32_t node)
{
	const struct sim_topo *t = &s->topo;
	const struct sim_group *g = &t->group[t->route[node * t->hosts + sim_packet_target(p)]];
	uint32_t link = 0;

	if (g->n == 0)
		return &s->port[t->first_port[node]];
	if (g->n > 1)
		link = p->flow->rail > 0 ? p->flow->rail - 1u : sim_flow_hash(s, p, node);
	return &s->port[g->port[link % g->n]];
}

uint32_t sim_flow_links(const struct sim *s, uint32_t src, uint32_t dst)
{
	uint32_t n = s->topo.group[s->topo.route[src * s->topo.hosts + dst]].n;

	return n > 0 ? n : 1;
}
