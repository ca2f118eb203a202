/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology files and generated topologies: lists of links. routes.c makes the rest of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/core/config.h"
#include "sim/core/memory.h"
#include "sim/fabric/topo.h"

#define NODES_MAX 65536u

static int fail_at_line(char *err, uint32_t size, const char *path, uint32_t line, const char *what)
{
	snprintf(err, size, "%s:%u: %s", path, line, what);
	return -EINVAL;
}

/* "100Gbps", "1000ns": a number and one of the units given with their factors. */
struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit rates[] = {
	{"Gbps", 1000000000}, {"Mbps", 1000000}, {"Kbps", 1000}, {"bps", 1}, {NULL, 0}};
static const struct unit times[] = {
	{"ms", 1000000000}, {"us", 1000000}, {"ns", 1000}, {"ps", 1}, {NULL, 0}};

static bool parse_quantity(const char *text, const struct unit *u, uint64_t *out)
{
	char *end;
	double value = strtod(text, &end);

	for (; u->name != NULL; u++) {
		if (strcmp(end, u->name) == 0 && value > 0 && value < 1e9) {
			*out = (uint64_t)(value * (double)u->factor + 0.5);
			return *out > 0;
		}
	}
	return false;
}

static int read_links(struct sim_topo *t, FILE *f, const char *path, char *err, uint32_t err_size)
{
	for (uint32_t i = 0; i < t->n_links; i++) {
		struct sim_link *l = &t->link[i];
		char rate[32], delay[32];
		double loss;

		if (fscanf(f, "%" SCNu32 " %" SCNu32 " %31s %31s %lf", &l->a, &l->b, rate, delay,
			    &loss) != 5)
			return fail_at_line(err, err_size, path, i + 3,
				"not a link: write `a b rate delay loss`, as 0 128 100Gbps 1000ns "
				"0");
		if (l->a >= t->nodes || l->b >= t->nodes || l->a == l->b)
			return fail_at_line(err, err_size, path, i + 3,
				"ends of the link must be two different node numbers below the "
				"first number of the file");
		if (!parse_quantity(rate, rates, &l->bps) ||
			!parse_quantity(delay, times, &l->delay))
			return fail_at_line(err, err_size, path, i + 3,
				"rate or delay: write a number with unit, as 100Gbps 1000ns");
		if (!(loss >= 0 && loss < 1))
			return fail_at_line(
				err, err_size, path, i + 3, "loss: a share from 0 to below 1");
		l->loss = (uint32_t)(loss * 1e9 + 0.5);
	}
	return 0;
}

int sim_topo_load(struct sim_topo *t, const char *path, char *err, uint32_t err_size)
{
	uint32_t switches, id;
	int ret = 0;
	FILE *f;

	*t = (struct sim_topo){0};
	f = sim_input_open(&t->file, path, NULL);
	if (f == NULL) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", path, strerror(errno));
		return ret;
	}
	if (fscanf(f, "%" SCNu32 " %" SCNu32 " %" SCNu32, &t->nodes, &switches, &t->n_links) != 3 ||
		t->nodes > NODES_MAX || switches >= t->nodes || t->n_links == 0 ||
		t->n_links > 16 * NODES_MAX)
		ret = fail_at_line(err, err_size, path, 1,
			"write `nodes switches links`, nodes at most 65536 and more than switches");
	t->hosts = t->nodes - switches;
	for (uint32_t i = 0; ret == 0 && i < switches; i++)
		if (fscanf(f, "%" SCNu32, &id) != 1 || id != t->hosts + i)
			ret = fail_at_line(err, err_size, path, 2,
				"the numbers of all switches in order, behind those of the hosts");
	if (ret == 0) {
		t->link = sim_alloc(t->n_links, sizeof(*t->link));
		ret = read_links(t, f, path, err, err_size);
	}
	fclose(f);
	if (ret != 0)
		sim_topo_free(t);
	return ret;
}

static void add_link(struct sim_topo *t, uint32_t a, uint32_t b, uint32_t mbps, uint32_t delay_ns)
{
	t->link[t->n_links++] = (struct sim_link){.a = a,
		.b = b,
		.bps = mbps * UINT64_C(1000000),
		.delay = delay_ns * UINT64_C(1000)};
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
	if (leaves == 0 || spines == 0 || hosts_per_leaf == 0 || t->nodes > NODES_MAX)
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
	if (k < 2 || k % 2 != 0 || per_edge == 0 || t->nodes > NODES_MAX)
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
	if (t->nodes > NODES_MAX)
		return -EINVAL;
	t->link = sim_alloc(planes * (hosts + (size_t)leaves * spines), sizeof(*t->link));
	for (uint32_t h = 0; h < hosts; h++)
		for (uint32_t p = 0; p < planes; p++)
			add_host_link(t, cfg, h,
				hosts + p * leaves + h / (servers * rails) * rails + h % rails);
	for (uint32_t l = 0; l < planes * leaves; l++)
		for (uint32_t i = 0; i < spines; i++)
			add_core_link(t, cfg, hosts + l, spine + l / leaves * spines + i);
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
	*t = (struct sim_topo){0};
}
