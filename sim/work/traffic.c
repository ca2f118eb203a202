/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "sim/host/host.h"
#include "sim/work/cdf.h"
#include "sim/work/traffic.h"

#define FLOWS_MAX      (1u << 24)
#define TRAFFIC_STREAM UINT64_C(0x7261666669630000) /* apart from the switches' random numbers */

/* Exponential with this mean: the only use of a logarithm, before the simulation begins. */
static uint64_t draw_exponential(uint64_t mean, uint64_t *rng)
{
	double u = (double)(hp3_random(rng) >> 11) * 0x1p-53;

	return (uint64_t)(-log1p(-u) * (double)mean);
}

/* bit/s above the leaves, per host; of the host links where there is nothing above. */
static uint64_t core_share(const struct sim *s)
{
	const struct sim_topo *t = &s->topo;
	uint64_t up = 0, hosts = 0;

	for (uint32_t p = 0; p < t->n_ports; p++) {
		uint32_t n = t->owner[p], to = t->owner[t->peer_port[p]];

		if (n < t->hosts)
			hosts += s->port[p].bps;
		else if (to >= t->hosts && sim_topo_is_leaf(t, n))
			up += s->port[p].bps;
	}
	return (up > 0 && up < hosts ? up : hosts) / t->hosts;
}

static int add_poisson(struct sim *s, uint64_t *rng, char *err, uint32_t err_size)
{
	static struct sim_cdf cdf;
	uint64_t rate = core_share(s) / 100 * s->cfg.traffic.load_percent, gap;
	uint64_t end = s->cfg.traffic.duration_us * SIM_US;
	int ret = sim_cdf_load(&cdf, s->cfg.traffic.cdf, err, err_size);

	if (ret < 0)
		return ret;
	s->sizes = cdf.file;
	/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a link has 1 Mb/s at least */
	gap = (uint64_t)((unsigned __int128)hp3_cdf_mean(&cdf.cdf) * 8 * SIM_SEC / rate);
	if (gap == 0 || end / gap > FLOWS_MAX / s->topo.hosts) {
		snprintf(err, err_size,
			"traffic.cdf = %s: sizes of %llu bytes on average would make more than %u "
			"flows: lower traffic.duration_us or traffic.load_percent, or take larger "
			"sizes",
			s->cfg.traffic.cdf, (unsigned long long)hp3_cdf_mean(&cdf.cdf), FLOWS_MAX);
		return -EINVAL;
	}
	for (uint32_t h = 0; h < s->topo.hosts; h++) {
		uint64_t at = draw_exponential(gap, rng);

		for (; at < end; at += draw_exponential(gap, rng)) {
			struct sim_demand d = {.start = at, .src = h};

			d.bytes = sim_cdf_draw(&cdf, rng);
			d.dst = hp3_random_below(rng, s->topo.hosts - 1);
			d.dst += d.dst >= h;
			sim_demand_add(s, &d);
		}
	}
	return 0;
}

static int add_incast(struct sim *s, uint64_t *rng, char *err, uint32_t err_size)
{
	uint32_t hosts = s->topo.hosts, fan_in = s->cfg.traffic.fan_in;
	uint32_t *order = sim_alloc(hosts, sizeof(*order));
	uint64_t end = s->cfg.traffic.duration_us * SIM_US;

	if (fan_in >= hosts) {
		snprintf(err, err_size,
			"traffic.fan_in = %u: must be below the number of hosts, %u", fan_in,
			hosts);
		free(order);
		return -EINVAL;
	}
	for (uint64_t at = 0; at < end; at += s->cfg.traffic.spacing_us * SIM_US) {
		sim_shuffle(order, hosts, rng);
		for (uint32_t i = 1; i <= fan_in; i++) {
			struct sim_demand d = {.start = at,
				.src = order[i],
				.dst = order[0],
				.bytes = s->cfg.traffic.bytes};

			sim_demand_add(s, &d);
		}
	}
	free(order);
	return 0;
}

/* One cycle through all hosts in random order: nobody sends to itself. */
static int add_permutation(struct sim *s, uint64_t *rng)
{
	uint32_t hosts = s->topo.hosts, *order = sim_alloc(hosts, sizeof(*order));

	sim_shuffle(order, hosts, rng);
	for (uint32_t i = 0; i < hosts; i++) {
		struct sim_demand d = {.src = order[i],
			.dst = order[(i + 1) % hosts],
			.bytes = s->cfg.traffic.bytes};

		sim_demand_add(s, &d);
	}
	free(order);
	return 0;
}

/* All from the first host to the first one of another leaf. */
static int add_connections(struct sim *s, char *err, uint32_t err_size)
{
	const struct sim_topo *t = &s->topo;
	struct sim_demand d = {.bytes = s->cfg.traffic.bytes};

	while (d.dst < t->hosts && t->leaf[d.dst] == t->leaf[0])
		d.dst++;
	if (d.dst == t->hosts) {
		snprintf(err, err_size, "connections need two leaves");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < s->cfg.traffic.fan_in; i++)
		sim_demand_add(s, &d);
	return 0;
}

/*
 * Two flows whose first choice collides: host a of the first leaf to host b of another, and the
 * next hosts of both leaves; source ports are advanced until the leaf's hash agrees.
 */
static int add_collision(struct sim *s, char *err, uint32_t err_size)
{
	const struct sim_topo *t = &s->topo;
	uint32_t dst = 0, group;
	struct sim_flow f[2] = {{.src = 0}, {.src = 1}};
	struct sim_packet p[2] = {
		{.kind = SIM_DATA, .flow = &f[0]}, {.kind = SIM_DATA, .flow = &f[1]}};

	while (dst < t->hosts && t->leaf[dst] == t->leaf[0])
		dst++;
	if (dst + 1 >= t->hosts || t->leaf[1] != t->leaf[0] || t->leaf[dst + 1] != t->leaf[dst]) {
		snprintf(err, err_size, "collision needs two leaves with two hosts each");
		return -EINVAL;
	}
	group = t->group[t->route[t->leaf[0] * t->hosts + dst]].n;
	f[0].dst = dst;
	f[1].dst = dst + 1;
	for (unsigned i = 0; i < 2; i++) {
		struct sim_demand d = {
			.src = f[i].src, .dst = f[i].dst, .bytes = s->cfg.traffic.bytes};

		sim_demand_add(s, &d);
		f[i].id = i;
		sim_flow_ports(s, &f[i]);
		p[i].sport = f[i].sport;
	}
	while (sim_flow_hash(s, &p[1], t->leaf[0]) % group !=
		sim_flow_hash(s, &p[0], t->leaf[0]) % group) {
		s->host[1].next_sport++;
		sim_flow_ports(s, &f[1]);
		p[1].sport = f[1].sport;
	}
	return 0;
}

void sim_shuffle(uint32_t *order, uint32_t n, uint64_t *rng)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = hp3_random_below(rng, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}

static int add_first_flows(struct sim *s, uint64_t *rng, char *err, uint32_t err_size)
{
	switch (s->cfg.traffic.kind) {
	case SIM_POISSON:
		return add_poisson(s, rng, err, err_size);
	case SIM_INCAST:
		return add_incast(s, rng, err, err_size);
	case SIM_PERMUTATION:
		return add_permutation(s, rng);
	case SIM_COLLISION:
		return add_collision(s, err, err_size);
	case SIM_CONNECTIONS:
		return add_connections(s, err, err_size);
	default:
		return 0; /* of jobs */
	}
}

int sim_traffic(struct sim *s, char *err, uint32_t err_size)
{
	uint64_t rng = s->cfg.run.seed ^ TRAFFIC_STREAM;
	int ret = add_first_flows(s, &rng, err, err_size);

	return ret < 0 ? ret : sim_jobs_start(s, &rng, err, err_size);
}
