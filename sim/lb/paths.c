/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include "sim/lb/paths.h"

struct sim_paths *sim_paths_new(const struct sim *s)
{
	const struct sim_topo *t = &s->topo;
	uint32_t switches = t->nodes - t->hosts;
	struct sim_paths *p;

	for (uint32_t h = 0; h < t->hosts; h++)
		if (t->first_port[h + 1] - t->first_port[h] > 1)
			return NULL;
	p = sim_alloc(1, sizeof(*p));
	p->leaf_of = sim_alloc(switches, sizeof(*p->leaf_of));
	p->host_of = sim_alloc(switches, sizeof(*p->host_of));
	memset(p->leaf_of, 0xff, switches * sizeof(*p->leaf_of));
	for (uint32_t h = 0; h < t->hosts; h++) {
		uint32_t *leaf = &p->leaf_of[t->leaf[h] - t->hosts];

		if (*leaf == UINT32_MAX) {
			*leaf = p->leaves;
			p->host_of[p->leaves++] = h;
		}
	}
	p->pair = sim_alloc((size_t)p->leaves * p->leaves, sizeof(*p->pair));
	return p;
}

void sim_paths_free(struct sim_paths *p)
{
	for (uint32_t i = 0; i < p->leaves * p->leaves; i++)
		free(p->pair[i].path);
	free(p->pair);
	free(p->leaf_of);
	free(p->host_of);
	free(p);
}

/* Depth first along next hops from `node` to the switch of `host`. */
static void walk_paths(struct sim *s, struct sim_pair_paths *pp, struct sim_path *way,
	uint32_t node, uint32_t host, uint8_t depth)
{
	const struct sim_topo *t = &s->topo;
	const struct sim_group *g = &t->group[t->route[node * t->hosts + host]];

	if (node == t->leaf[host]) {
		if (pp->n < SIM_PATHS_MAX) {
			pp->path = sim_realloc(pp->path, (pp->n + 1u) * sizeof(*pp->path));
			pp->path[pp->n++] = *way;
		}
		pp->hops = depth;
		return;
	}
	if (depth == SIM_PATH_HOPS)
		return;
	for (uint32_t i = 0; i < g->n; i++) {
		way->port[depth] = g->port[i];
		walk_paths(
			s, pp, way, t->owner[t->peer_port[g->port[i]]], host, (uint8_t)(depth + 1));
	}
}

const struct sim_pair_paths *sim_paths_pair(
	struct sim *s, struct sim_paths *p, uint32_t src_leaf, uint32_t dst_leaf)
{
	struct sim_pair_paths *pp = &p->pair[src_leaf * p->leaves + dst_leaf];
	struct sim_path way = {0};

	if (pp->n == 0 && src_leaf != dst_leaf)
		walk_paths(
			s, pp, &way, s->topo.leaf[p->host_of[src_leaf]], p->host_of[dst_leaf], 0);
	return pp;
}

struct sim_where sim_paths_where(struct sim *s, struct sim_paths *p, const struct sim_switch *sw,
	const struct sim_packet *packet)
{
	const struct sim_flow *f = packet->flow;
	struct sim_where w = {.place = SIM_OTHER};

	if ((packet->kind != SIM_DATA && packet->kind != SIM_PROBE) ||
		s->topo.leaf[f->src] == s->topo.leaf[f->dst])
		return w;
	w.src = sim_paths_leaf(s, p, f->src);
	w.dst = sim_paths_leaf(s, p, f->dst);
	if (sw->node == s->topo.leaf[f->dst]) {
		w.place = SIM_TARGET;
		return w;
	}
	w.paths = sim_paths_pair(s, p, w.src, w.dst);
	w.place = sw->node == s->topo.leaf[f->src] ? SIM_SOURCE : SIM_TRANSIT;
	return w;
}
