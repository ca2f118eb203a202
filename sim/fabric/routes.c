/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports, shortest paths and leaves of a list of links. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/core/memory.h"
#include "sim/fabric/topo.h"

static void make_ports(struct sim_topo *t)
{
	uint32_t *next = sim_alloc(t->nodes, sizeof(*next));

	t->n_ports = 2 * t->n_links;
	t->first_port = sim_alloc(t->nodes + 1, sizeof(*t->first_port));
	t->port_link = sim_alloc(t->n_ports, sizeof(*t->port_link));
	t->peer_port = sim_alloc(t->n_ports, sizeof(*t->peer_port));
	t->owner = sim_alloc(t->n_ports, sizeof(*t->owner));
	for (uint32_t i = 0; i < t->n_links; i++) {
		t->first_port[t->link[i].a + 1]++;
		t->first_port[t->link[i].b + 1]++;
	}
	for (uint32_t n = 0; n < t->nodes; n++) {
		t->first_port[n + 1] += t->first_port[n];
		next[n] = t->first_port[n];
	}
	for (uint32_t i = 0; i < t->n_links; i++) {
		uint32_t pa = next[t->link[i].a]++, pb = next[t->link[i].b]++;

		t->port_link[pa] = t->port_link[pb] = i;
		t->peer_port[pa] = pb;
		t->peer_port[pb] = pa;
		t->owner[pa] = t->link[i].a;
		t->owner[pb] = t->link[i].b;
	}
	free(next);
}

/* Ports of each node by number of the neighbour: the order in which a search visits them. */
static uint32_t *ports_by_neighbour(const struct sim_topo *t)
{
	uint32_t *by = sim_alloc(t->n_ports, sizeof(*by));

	for (uint32_t n = 0; n < t->nodes; n++) {
		uint32_t first = t->first_port[n];

		for (uint32_t p = first; p < t->first_port[n + 1]; p++) {
			uint32_t to = t->owner[t->peer_port[p]], i = p;

			for (; i > first && t->owner[t->peer_port[by[i - 1]]] > to; i--)
				by[i] = by[i - 1];
			by[i] = p;
		}
	}
	return by;
}

/* The group with these ports, made if there is none: `hash` chains them. */
struct groups {
	uint32_t *bucket, *chain, cap;
};

#define GROUP_BUCKETS 4096u

static uint32_t find_group(struct sim_topo *t, struct groups *g, const uint32_t *port, uint32_t n)
{
	uint32_t h = n;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ port[i]) * 0x9e3779b1u;
	h >>= 20;
	for (uint32_t i = g->bucket[h]; i != UINT32_MAX; i = g->chain[i])
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a bucket has groups only */
		if (t->group[i].n == n &&
			(n == 0 || memcmp(t->group[i].port, port, n * sizeof(*port)) == 0))
			return i;
	if (t->n_groups == g->cap) {
		g->cap = g->cap == 0 ? 256 : 2 * g->cap;
		t->group = sim_realloc(t->group, g->cap * sizeof(*t->group));
		g->chain = sim_realloc(g->chain, g->cap * sizeof(*g->chain));
	}
	t->group[t->n_groups].n = (uint16_t)n;
	t->group[t->n_groups].port = sim_alloc(n, sizeof(*port));
	if (n > 0)
		memcpy(t->group[t->n_groups].port, port, n * sizeof(*port));
	g->chain[t->n_groups] = g->bucket[h];
	g->bucket[h] = t->n_groups;
	return t->n_groups++;
}

struct search {
	const uint32_t *by; /* ports_by_neighbour() */
	uint32_t *dist, *queue;
	uint32_t *hops; /* next-hop ports found: hops[node's first port + i] */
	uint16_t *n_hops;
	const bool *down;
};

/* Breadth first from host h; hosts are ends, never on the way. */
static void search_from(const struct sim_topo *t, struct search *s, uint32_t h)
{
	uint32_t n = 0;

	memset(s->dist, 0xff, t->nodes * sizeof(*s->dist));
	memset(s->n_hops, 0, t->nodes * sizeof(*s->n_hops));
	s->dist[h] = 0;
	s->queue[n++] = h;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = s->queue[i];

		for (uint32_t k = t->first_port[at]; k < t->first_port[at + 1]; k++) {
			uint32_t p = s->by[k], back = t->peer_port[p], to = t->owner[back];

			if (s->down != NULL && s->down[t->port_link[p]])
				continue;
			if (s->dist[to] == UINT32_MAX) {
				s->dist[to] = s->dist[at] + 1;
				if (to >= t->hosts)
					s->queue[n++] = to;
			}
			if (s->dist[to] == s->dist[at] + 1)
				s->hops[t->first_port[to] + s->n_hops[to]++] = back;
		}
	}
}

/* Hosts with an NVSwitch among the next hops use NVLink only. */
static void prefer_nvlinks(const struct sim_topo *t, struct search *s)
{
	for (uint32_t n = 0; n < t->hosts; n++) {
		uint32_t *hops = &s->hops[t->first_port[n]];
		uint16_t kept = 0;

		for (uint16_t i = 0; i < s->n_hops[n]; i++)
			if (sim_topo_is_nvswitch(t, t->owner[t->peer_port[hops[i]]]))
				hops[kept++] = hops[i];
		if (kept > 0)
			s->n_hops[n] = kept;
	}
}

void sim_topo_route(struct sim_topo *t, const bool *down)
{
	struct groups g = {.bucket = sim_alloc(GROUP_BUCKETS, sizeof(uint32_t))};
	uint32_t *by = ports_by_neighbour(t);
	struct search s = {.by = by, .down = down};

	for (uint32_t i = 0; i < t->n_groups; i++)
		free(t->group[i].port);
	free(t->group);
	t->group = NULL;
	t->n_groups = 0;
	memset(g.bucket, 0xff, GROUP_BUCKETS * sizeof(*g.bucket));
	s.dist = sim_alloc(t->nodes, sizeof(*s.dist));
	s.queue = sim_alloc(t->nodes, sizeof(*s.queue));
	s.hops = sim_alloc(t->n_ports, sizeof(*s.hops));
	s.n_hops = sim_alloc(t->nodes, sizeof(*s.n_hops));
	for (uint32_t h = 0; h < t->hosts; h++) {
		search_from(t, &s, h);
		if (t->nvswitches > 0)
			prefer_nvlinks(t, &s);
		for (uint32_t n = 0; n < t->nodes; n++)
			t->route[n * t->hosts + h] =
				find_group(t, &g, &s.hops[t->first_port[n]], s.n_hops[n]);
	}
	free(s.dist);
	free(s.queue);
	free(s.hops);
	free(s.n_hops);
	free(g.bucket);
	free(g.chain);
	free(by);
}

struct sim_distance sim_topo_distance(
	const struct sim_topo *t, uint32_t src, uint32_t dst, uint32_t payload_bytes)
{
	struct sim_distance d = {.bps = UINT64_MAX};

	for (uint32_t at = src; at != dst; d.links++) {
		uint32_t p = t->group[t->route[at * t->hosts + dst]].port[0];
		const struct sim_link *l = &t->link[t->port_link[p]];

		d.delay += l->delay;
		d.serialise += payload_bytes * UINT64_C(8000000000000) / l->bps;
		if (l->bps < d.bps)
			d.bps = l->bps;
		at = t->owner[t->peer_port[p]];
	}
	return d;
}

/* Longest pair: of all pairs that host 0 is in; each tier's hosts look alike to it. */
static void measure_max_rtt(struct sim_topo *t, uint32_t payload_bytes)
{
	for (uint32_t h = 1; h < t->hosts; h++) {
		struct sim_distance d = sim_topo_distance(t, 0, h, payload_bytes);
		uint64_t rtt = 2 * d.delay + d.serialise;

		if (rtt > t->max_rtt)
			t->max_rtt = rtt;
		if (d.links / 2 > t->tiers)
			t->tiers = (uint8_t)(d.links / 2);
	}
}

uint32_t sim_topo_number(const struct sim_topo *t, uint32_t node)
{
	return t->number != NULL ? t->number[node] : node;
}

uint32_t sim_topo_host(const struct sim_topo *t, uint64_t number)
{
	uint32_t node;

	if (t->node_of == NULL)
		return number < t->hosts ? (uint32_t)number : UINT32_MAX;
	node = number < t->nodes ? t->node_of[number] : UINT32_MAX;
	return node < t->hosts ? node : UINT32_MAX;
}

bool sim_topo_is_leaf(const struct sim_topo *t, uint32_t node)
{
	for (uint32_t p = t->first_port[node]; node >= t->hosts && p < t->first_port[node + 1]; p++)
		if (t->owner[t->peer_port[p]] < t->hosts)
			return true;
	return false;
}

int sim_topo_finish(struct sim_topo *t, uint32_t payload_bytes, char *err, uint32_t err_size)
{
	make_ports(t);
	t->route = sim_alloc((size_t)t->nodes * t->hosts, sizeof(*t->route));
	t->leaf = sim_alloc(t->hosts, sizeof(*t->leaf));
	for (uint32_t h = 0; h < t->hosts; h++) {
		if (t->first_port[h] == t->first_port[h + 1]) {
			snprintf(err, err_size, "host %u has no link: add one",
				sim_topo_number(t, h));
			return -EINVAL;
		}
		t->leaf[h] = t->owner[t->peer_port[t->first_port[h]]];
	}
	sim_topo_route(t, NULL);
	for (uint32_t a = 0; a < t->hosts; a++) {
		for (uint32_t b = 0; b < t->hosts; b++) {
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): routes are groups */
			if (a == b || t->group[t->route[a * t->hosts + b]].n > 0)
				continue;
			snprintf(err, err_size, "host %u cannot reach host %u: add links",
				sim_topo_number(t, a), sim_topo_number(t, b));
			return -EINVAL;
		}
	}
	measure_max_rtt(t, payload_bytes);
	return 0;
}
