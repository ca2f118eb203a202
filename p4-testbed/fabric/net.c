/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4-testbed/fabric/net.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "p4-testbed/spec/externs.h"

static void set_address(struct hp3_net_addr *a, uint8_t kind, uint8_t i, uint8_t j)
{
	const uint8_t mac[6] = {0x02, kind, 0, 0, i, j};
	const uint8_t ip6[16] = {0xfd, 0x00, 0x00, kind, 0, 0, 0, i, [15] = j};

	memcpy(a->mac, mac, sizeof(mac));
	memcpy(a->ip6, ip6, sizeof(ip6));
	a->ip4 = 10u << 24 | (uint32_t)kind << 16 | (uint32_t)i << 8 | j;
}

static void add_switch(struct hp3_net *net, bool leaf, uint32_t number)
{
	struct hp3_net_switch *s = &net->sw[net->n_switches++];
	const struct hp3_topo_switch *given;
	int i;

	snprintf(s->name, sizeof(s->name), "%c%u", leaf ? 'l' : 's', number);
	set_address(&s->addr, 8, leaf ? 1 : 2, (uint8_t)number);
	i = HP3_TOPO_FIND(net->topo.switches, net->topo.n_switches, s->name);
	given = i >= 0 ? &net->topo.switches[i] : NULL;
	s->leaf = leaf;
	s->seed = given != NULL ? given->seed : 0;
	if (s->seed == 0)
		s->seed = hp3_crc32(s->name, (uint32_t)strlen(s->name), net->topo.shape.seed) | 1;
	s->time_exceeded = net->topo.icmp.time_exceeded == HP3_TOPO_ON &&
			   (given == NULL || given->time_exceeded == HP3_TOPO_ON);
}

static uint32_t add_port(
	struct hp3_net_switch *s, uint32_t link, bool b_end, bool host, uint32_t peer)
{
	s->port[s->n_ports] = (struct hp3_net_port){link, b_end, host, peer};
	return s->n_ports++;
}

static struct hp3_net_link *add_link(struct hp3_net *net, const char *a, const char *b, bool host)
{
	struct hp3_net_link *l = &net->link[net->n_links++];
	const struct hp3_topo_link *given;
	int i;

	snprintf(l->name, sizeof(l->name), "%.6s-%.6s", a, b);
	l->p = host ? net->topo.host_link : net->topo.fabric_link;
	l->host = host;
	l->up = true;
	i = HP3_TOPO_FIND(net->topo.links, net->topo.n_links, l->name);
	if (i < 0)
		return l;
	given = &net->topo.links[i].link;
	if (given->rate_mbps > 0)
		l->p.rate_mbps = given->rate_mbps;
	if (given->delay_us > 0)
		l->p.delay_us = given->delay_us;
	if (given->buffer_bytes > 0)
		l->p.buffer_bytes = given->buffer_bytes;
	return l;
}

static void add_host(struct hp3_net *net, uint32_t leaf, uint32_t number)
{
	struct hp3_net_host *h = &net->host[net->n_hosts];
	struct hp3_net_switch *s = &net->sw[leaf];
	struct hp3_net_link *l;

	snprintf(h->name, sizeof(h->name), "h%u", net->n_hosts + 1);
	set_address(&h->addr, 9, (uint8_t)(leaf + 1), (uint8_t)number);
	h->leaf = leaf;
	h->link = net->n_links;
	l = add_link(net, h->name, s->name, true);
	l->a = net->n_hosts;
	l->b = leaf;
	l->b_port = h->port = add_port(s, h->link, true, true, net->n_hosts);
	net->n_hosts++;
}

int hp3_net_build(struct hp3_net *net, const struct hp3_topo *topo)
{
	uint32_t leaves = topo->shape.leaves, spines = topo->shape.spines;
	uint32_t hosts = leaves * topo->shape.hosts_per_leaf;

	*net = (struct hp3_net){.topo = *topo};
	net->sw = calloc(leaves + spines, sizeof(*net->sw));
	net->host = calloc(hosts, sizeof(*net->host));
	net->link = calloc(hosts + leaves * spines, sizeof(*net->link));
	if (net->sw == NULL || net->host == NULL || net->link == NULL) {
		hp3_net_free(net);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i <= leaves; i++)
		add_switch(net, true, i);
	for (uint32_t i = 1; i <= spines; i++)
		add_switch(net, false, i);
	for (uint32_t i = 0; i < leaves; i++)
		for (uint32_t j = 1; j <= topo->shape.hosts_per_leaf; j++)
			add_host(net, i, j);
	for (uint32_t i = 0; i < leaves; i++) {
		for (uint32_t k = leaves; k < leaves + spines; k++) {
			uint32_t index = net->n_links;
			struct hp3_net_link *l =
				add_link(net, net->sw[i].name, net->sw[k].name, false);

			l->a = i;
			l->b = k;
			l->a_port = add_port(&net->sw[i], index, false, false, k);
			l->b_port = add_port(&net->sw[k], index, true, false, i);
		}
	}
	hp3_net_route(net);
	return 0;
}

void hp3_net_free(struct hp3_net *net)
{
	free(net->sw);
	free(net->host);
	free(net->link);
	*net = (struct hp3_net){0};
}

/* Distances of all switches to one leaf, breadth first over links that are up. */
static void find_distances(const struct hp3_net *net, uint32_t leaf, uint32_t *dist)
{
	uint32_t queue[HP3_NET_SWITCHES], head = 0, tail = 0;

	for (uint32_t s = 0; s < net->n_switches; s++)
		dist[s] = UINT32_MAX;
	dist[leaf] = 0;
	queue[tail++] = leaf;
	while (head < tail) {
		const struct hp3_net_switch *sw = &net->sw[queue[head]];
		uint32_t next = dist[queue[head++]] + 1;

		for (uint32_t p = 0; p < sw->n_ports; p++) {
			const struct hp3_net_port *port = &sw->port[p];

			if (port->to_host || !net->link[port->link].up ||
				dist[port->peer] != UINT32_MAX)
				continue;
			dist[port->peer] = next;
			queue[tail++] = port->peer;
		}
	}
}

void hp3_net_route(struct hp3_net *net)
{
	uint32_t dist[HP3_NET_SWITCHES], leaves = net->topo.shape.leaves;

	for (uint32_t s = 0; s < net->n_switches; s++)
		memset(net->sw[s].group, 0, sizeof(net->sw[s].group));
	for (uint32_t leaf = 0; leaf < leaves; leaf++) {
		find_distances(net, leaf, dist);
		for (uint32_t s = 0; s < net->n_switches; s++) {
			struct hp3_net_switch *sw = &net->sw[s];

			for (uint32_t p = 0; p < sw->n_ports; p++)
				if (!sw->port[p].to_host && net->link[sw->port[p].link].up &&
					dist[s] != UINT32_MAX && dist[s] > 0 &&
					dist[sw->port[p].peer] == dist[s] - 1)
					sw->group[leaf] |= 1ull << p;
		}
	}
	for (uint32_t h = 0; h < net->n_hosts; h++) {
		const struct hp3_net_host *host = &net->host[h];

		if (net->link[host->link].up)
			net->sw[host->leaf].group[leaves + host->port] = 1ull << host->port;
	}
}

int hp3_net_member(uint64_t group, uint32_t bucket)
{
	unsigned n = (unsigned)__builtin_popcountll(group);

	if (n == 0)
		return -1;
	for (unsigned skip = bucket % n; skip > 0; skip--)
		group &= group - 1;
	return __builtin_ctzll(group);
}

uint32_t hp3_net_group(const struct hp3_net *net, uint32_t s, uint32_t host)
{
	const struct hp3_net_host *h = &net->host[host];

	return h->leaf == s ? net->topo.shape.leaves + h->port : h->leaf;
}
