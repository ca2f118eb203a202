/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agents of racks: the first host of each probes the first host of each other one (hermes.h). An
 * answer comes back in the class of ACKs, as the ACKs do that its round-trip time is compared with.
 */
#include <stdlib.h>
#include "sim/host/host.h"
#include "sim/lb/hermes.h"

#define HERMES_PROBE_BYTES 64u
#define RANDOM_PATHS       2u

static struct sim_flow *new_agent(struct sim *s, uint32_t src, uint32_t dst)
{
	struct sim_flow *f = sim_alloc(1, sizeof(*f) + sizeof(struct hermes_flow));

	f->src = src;
	f->dst = dst;
	f->port = &s->port[s->topo.first_port[src]];
	f->sport = f->home = f->dport = (uint16_t)(src ^ dst);
	return f;
}

static void probe_path(struct sim *s, struct sim_flow *f, uint16_t path)
{
	struct sim_packet *p = sim_packet_new(s, SIM_PROBE, HERMES_PROBE_BYTES, f, 0);

	p->path = path;
	s->n.probes++;
	s->n.probe_bytes += HERMES_PROBE_BYTES;
	sim_port_queue_data(s, f->port, p);
}

static bool is_run_over(const struct sim *s)
{
	return s->finished == s->n_demands && s->open_work == 0;
}

static void probe_all(struct sim *s, struct sim_event *event)
{
	struct hermes *h = (struct hermes *)event;
	uint32_t leaves = h->paths->leaves;

	if (is_run_over(s))
		return;
	for (uint32_t i = 0; i < leaves * leaves; i++) {
		const struct sim_pair_paths *pp =
			sim_paths_pair(s, h->paths, i / leaves, i % leaves);

		if (i / leaves == i % leaves)
			continue;
		if (h->agent[i] == NULL)
			h->agent[i] = new_agent(
				s, h->paths->host_of[i / leaves], h->paths->host_of[i % leaves]);
		probe_path(s, h->agent[i], h->best[i]);
		for (uint32_t k = 0; k < RANDOM_PATHS; k++)
			probe_path(s, h->agent[i], sim_paths_draw(s, pp));
	}
	sim_at(s, event, s->now + s->cfg.hermes.probe_us * SIM_US);
}

void hermes_agents(struct sim *s, struct hermes *h)
{
	size_t pairs = (size_t)h->paths->leaves * h->paths->leaves;

	h->agent = sim_alloc(pairs, sizeof(*h->agent));
	h->best = sim_alloc(pairs, sizeof(*h->best));
	h->probe_now.fire = probe_all;
	if (s->cfg.hermes.probe_us > 0)
		sim_at(s, &h->probe_now, 0);
}

void hermes_agents_free(struct hermes *h)
{
	for (uint32_t i = 0; i < h->paths->leaves * h->paths->leaves; i++)
		free(h->agent[i]);
	free(h->agent);
	free(h->best);
}

static void echo_hermes_probe(struct sim *s, const struct sim_packet *p)
{
	struct sim_packet *back =
		sim_packet_new(s, SIM_PROBE_REPLY, HERMES_PROBE_BYTES, p->flow, 0);

	back->sent_at = p->sent_at;
	back->path = p->path;
	back->flags |= p->flags & SIM_CE ? SIM_ECHO : 0;
	s->n.probe_bytes += HERMES_PROBE_BYTES;
	sim_port_queue_control(s, p->to, back);
}

/* All hosts of the agent's rack learn it. */
static void share_probe_answer(struct sim *s, struct hermes *h, const struct sim_packet *p)
{
	const struct sim_flow *f = p->flow;
	uint32_t leaf = sim_paths_leaf(s, h->paths, f->src), leaves = h->paths->leaves;
	uint16_t *best = &h->best[leaf * leaves + sim_paths_leaf(s, h->paths, f->dst)];
	uint64_t rtt = s->now - p->sent_at;

	if (rtt <= hermes_paths(s, h, f->src, f->dst)[*best].rtt)
		*best = p->path;
	for (uint32_t host = 0; host < s->topo.hosts; host++)
		if (sim_paths_leaf(s, h->paths, host) == leaf)
			hermes_heard(s, &hermes_paths(s, h, host, f->dst)[p->path], rtt,
				(p->flags & SIM_ECHO) != 0);
}

void hermes_other(struct sim *s, struct sim_host *host, struct sim_packet *p)
{
	if (p->kind == SIM_PROBE)
		echo_hermes_probe(s, p);
	else if (p->kind == SIM_PROBE_REPLY)
		share_probe_answer(s, s->lb_state, p);
}
