/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated topologies: lists of links. routes.c makes the rest of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "sim/core/config.h"
#include "sim/core/memory.h"
#include "sim/fabric/topo.h"

static void add_link(struct sim_topo *t, uint32_t a, uint32_t b, uint32_t mbps, uint32_t delay_ns)
{
	t->link[t->n_links++] = (struct sim_link){.a = a,
		.b = b,
		.bps = mbps * UINT64_C(1000000),
		.delay = delay_ns * UINT64_C(1000)};
}

/* The rate of a link of plane p. */
static uint32_t plane_mbps(const struct sim_config *cfg, uint32_t mbps, uint32_t p)
{
	uint32_t percent = p + 1 == cfg->fabric.planes ? cfg->fabric.last_plane_percent : 100;
	uint32_t share = (uint32_t)(UINT64_C(1) * mbps * percent / 100);

	return share > 0 ? share : 1;
}

static void add_host_link(
	struct sim_topo *t, const struct sim_config *cfg, uint32_t host, uint32_t leaf)
{
	add_link(t, host, leaf, cfg->fabric.host_mbps, cfg->fabric.delay_ns);
}

static void add_core_link(struct sim_topo *t, const struct sim_config *cfg, uint32_t a, uint32_t b)
{
	add_link(t, a, b, cfg->fabric.core_mbps, cfg->fabric.delay_ns);
}

/* Leaf-spine: leaves * hosts_per_leaf hosts; each leaf has one link to each spine. */
static int make_leaf_spine(struct sim_topo *t, const struct sim_config *cfg)
{
	uint32_t leaves = cfg->fabric.leaves, spines = cfg->fabric.spines;
	uint32_t hosts_per_leaf = cfg->fabric.hosts_per_leaf, hosts = leaves * hosts_per_leaf;

	*t = (struct sim_topo){.nodes = hosts + leaves + spines, .hosts = hosts};
	if (leaves == 0 || spines == 0 || hosts_per_leaf == 0 || t->nodes > SIM_NODES_MAX)
		return -EINVAL;
	t->link = sim_alloc(hosts + leaves * spines, sizeof(*t->link));
	for (uint32_t h = 0; h < hosts; h++)
		add_host_link(t, cfg, h, hosts + h / hosts_per_leaf);
	for (uint32_t l = 0; l < leaves; l++)
		for (uint32_t s = 0; s < spines; s++)
			add_core_link(t, cfg, hosts + l, hosts + leaves + s);
	return 0;
}

/*
 * Three tiers of k-port switches, as Al-Fares et al., SIGCOMM 2008: k pods of k/2 edge and k/2
 * aggregation switches; aggregation switch i of each pod has the core switches i * k/2 .. i * k/2 +
 * k/2 - 1. Edge switches are oversubscribed: oversubscription * k^3 / 4 hosts.
 */
static int make_fat_tree(struct sim_topo *t, const struct sim_config *cfg)
{
	uint32_t k = cfg->fabric.k, half = k / 2, per_edge = half * cfg->fabric.oversubscription;
	uint32_t hosts = k * half * per_edge;
	uint32_t edges = hosts, aggs = edges + k * half, cores = aggs + k * half;

	*t = (struct sim_topo){.nodes = cores + half * half, .hosts = hosts};
	if (k < 2 || k % 2 != 0 || per_edge == 0 || t->nodes > SIM_NODES_MAX)
		return -EINVAL;
	t->link = sim_alloc(hosts + 2 * k * half * half, sizeof(*t->link));
	for (uint32_t h = 0; h < hosts; h++)
		add_host_link(t, cfg, h, edges + h / per_edge);
	for (uint32_t e = 0; e < k * half; e++)
		for (uint32_t i = 0; i < half; i++)
			add_core_link(t, cfg, edges + e, aggs + e / half * half + i);
	for (uint32_t a = 0; a < k * half; a++)
		for (uint32_t i = 0; i < half; i++)
			add_core_link(t, cfg, aggs + a, cores + a % half * half + i);
	return 0;
}

/*
 * Rail-optimised, with planes (2: dual-plane). Host r of server v in a segment is that server's
 * RNIC for rail r; its number is (segment * servers + v) * rails + r. It has one link per plane, to
 * that plane's leaf for its rail and segment. Each leaf has one link to each of the `spines` spines
 * of its plane. No link connects two planes.
 */
static int make_rail(struct sim_topo *t, const struct sim_config *cfg)
{
	uint32_t planes = cfg->fabric.planes, rails = cfg->fabric.rails;
	uint32_t servers = cfg->fabric.servers, spines = cfg->fabric.spines;
	uint32_t hosts = cfg->fabric.segments * servers * rails;
	uint32_t leaves = cfg->fabric.segments * rails; /* of a plane */
	uint32_t spine = hosts + planes * leaves;

	*t = (struct sim_topo){.nodes = spine + planes * spines, .hosts = hosts};
	if (t->nodes > SIM_NODES_MAX)
		return -EINVAL;
	t->link = sim_alloc(planes * (hosts + (size_t)leaves * spines), sizeof(*t->link));
	for (uint32_t h = 0; h < hosts; h++)
		for (uint32_t p = 0; p < planes; p++)
			add_link(t, h,
				hosts + p * leaves + h / (servers * rails) * rails + h % rails,
				plane_mbps(cfg, cfg->fabric.host_mbps, p), cfg->fabric.delay_ns);
	for (uint32_t l = 0; l < planes * leaves; l++)
		for (uint32_t i = 0; i < spines; i++)
			add_link(t, hosts + l, spine + l / leaves * spines + i,
				plane_mbps(cfg, cfg->fabric.core_mbps, l / leaves),
				cfg->fabric.delay_ns);
	return 0;
}

int sim_topo_make(struct sim_topo *t, const struct sim_config *cfg, char *err, uint32_t err_size)
{
	int ret = 0;

	if (cfg->fabric.kind == SIM_FILE)
		ret = sim_topo_load(t, cfg->fabric.topology, err, err_size);
	else if (cfg->fabric.kind == SIM_FAT_TREE)
		ret = make_fat_tree(t, cfg);
	else if (cfg->fabric.kind == SIM_RAIL)
		ret = make_rail(t, cfg);
	else
		ret = make_leaf_spine(t, cfg);
	if (ret < 0 && err[0] == '\0')
		snprintf(err, err_size, "fabric: more than 65,536 nodes");
	return ret < 0 ? ret : sim_topo_finish(t, cfg->rnic.payload_bytes, err, err_size);
}

void sim_topo_free(struct sim_topo *t)
{
	for (uint32_t i = 0; i < t->n_groups; i++)
		free(t->group[i].port);
	free(t->group);
	free(t->link);
	free(t->first_port);
	free(t->port_link);
	free(t->peer_port);
	free(t->owner);
	free(t->route);
	free(t->leaf);
	free(t->number);
	free(t->node_of);
	*t = (struct sim_topo){0};
}
