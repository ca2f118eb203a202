/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine as the simulator sets it, and what it is told of the switches' hash. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/policy.h"
#include "sim/lb/hp3.h"

#define IDEAL_TRACE_BURST 16u

/* From where does a packet's path depend on its ports? */
static void set_places(const struct sim *s, struct hp3_balancer *b)
{
	const struct sim_topo *t = &s->topo;

	b->place = sim_alloc(t->hosts, sizeof(*b->place));
	for (uint32_t h = 0; h < t->hosts; h++) {
		bool same_rack = h > 0 && t->leaf[h] == t->leaf[h - 1] &&
				 t->first_port[h + 1] - t->first_port[h] == 1;

		b->place[h] = same_rack ? b->place[h - 1] : b->places++;
	}
}

/* As hp3d settles it. Tables are as large as the simulation needs them. */
static struct hp3_engine_config as_hp3d(const struct sim *s)
{
	struct hp3_engine_config cfg = hp3_policy_settled(&s->cfg.engine);

	cfg.seed = cfg.hash_seed = s->cfg.run.seed;
	cfg.max_flows = HP3_SIM_QPS;
	cfg.max_pairs = s->topo.hosts;
	return cfg;
}

/* What nobody's hp3d can do or know, the longest round trip of the fabric for one. */
static void idealise_config(const struct sim *s, struct hp3_engine_config *cfg)
{
	uint64_t rtt = s->topo.max_rtt / SIM_NS;

	cfg->setup_probing = cfg->setup_probing && s->cfg.rnic.setup_us > 0;
	cfg->round.guard_ns = (uint32_t)(8 * rtt);
	cfg->paths.window_ns = 4 * rtt;
	cfg->cc.max_rtt_ns = 16 * rtt;
	cfg->spray.mode = HP3_SPRAY_MOVE; /* the paper's queue pairs take one path at a time */
	cfg->traces.burst = IDEAL_TRACE_BURST;
	cfg->trace_timeout_ns = cfg->round.timeout_ns / 2;
}

void hp3_sim_config(struct sim *s, struct hp3_balancer *b)
{
	set_places(s, b);
	b->rates = b->kind == SIM_POLICY_PAPER ||
		   (b->kind == SIM_POLICY_IDEAL && s->cfg.ideal.rate_acts == SIM_ON);
	b->cfg = as_hp3d(s);
	b->cfg.verbs = b->kind == SIM_POLICY_VERBS;
	if (b->cfg.verbs) { /* as hp3d: switches are not asked who they are */
		b->cfg.trace = false;
		b->cfg.spray.mode = HP3_SPRAY_MOVE;
	}
	if (b->kind == SIM_POLICY_IDEAL || b->kind == SIM_POLICY_PAPER)
		idealise_config(s, &b->cfg);
	if (b->kind == SIM_POLICY_PAPER) {
		b->cfg.trace = false;
		/* The paper has no path table: when a path of it is marked, hp3-ideal says. */
		b->cfg.paths.ecn_fraction = s->cfg.policy[SIM_POLICY_IDEAL].monitor.ecn_fraction;
	}
}

bool hp3_sim_paths_known(const struct sim *s, const struct hp3_balancer *b)
{
	if (b->cfg.trace || s->cfg.fabric.hash_bth != SIM_BTH_NONE)
		return false; /* models have no QPNs and opcodes of packets */
	return b->kind == SIM_POLICY_IDEAL
		       ? s->cfg.ideal.model == SIM_ON
		       : b->kind == SIM_POLICY_HP3 && s->cfg.peers.paths_known == SIM_ON;
}

static uint32_t count_choices(const struct sim *s, uint32_t node, uint32_t dst)
{
	return s->topo.group[s->topo.route[node * s->topo.hosts + dst]].n;
}

static uint32_t next_node(const struct sim *s, uint32_t node, uint32_t dst, uint32_t i)
{
	const struct sim_topo *t = &s->topo;

	return t->owner[t->peer_port[t->group[t->route[node * t->hosts + dst]].port[i]]];
}

static uint32_t farthest_host(const struct sim *s, uint32_t src)
{
	uint32_t best = src == 0;

	for (uint32_t h = 0; h < s->topo.hosts; h++)
		if (h != src && sim_topo_distance(&s->topo, src, h, 1).links >
					sim_topo_distance(&s->topo, src, best, 1).links)
			best = h;
	return best;
}

/* One stage of the hash for each place where there is a choice on the way, hosts included. */
static int model_from(struct sim *s, struct hp3_balancer *b, uint32_t index, uint32_t src)
{
	struct sim_hash hash = {
		.kind = (uint8_t)s->cfg.fabric.hash, .input = (uint8_t)s->cfg.fabric.hash_input};
	struct sim_stage stage[SIM_MODEL_STAGES];
	uint32_t at[SIM_MODEL_PATHS] = {src}, up[SIM_MODEL_PATHS], dst = farthest_host(s, src),
		 n = 1;
	uint32_t *seeds = sim_alloc(SIM_MODEL_STAGES * SIM_MODEL_PATHS, sizeof(*seeds));
	unsigned stages = 0;

	b->seeds[index] = seeds;
	while (at[0] != dst) {
		uint32_t ways = count_choices(s, at[0], dst);

		if (n * ways > SIM_MODEL_PATHS || (ways > 1 && stages == SIM_MODEL_STAGES))
			return -E2BIG;
		for (uint32_t i = 0; i < n; i++) {
			seeds[stages * SIM_MODEL_PATHS + i] = s->cfg.fabric.hash_seed + at[i];
			for (uint32_t k = 0; k < ways; k++)
				up[i * ways + k] = next_node(s, at[i], dst, k);
		}
		n *= ways;
		memcpy(at, up, n * sizeof(*at));
		if (ways == 1)
			continue;
		stage[stages] =
			(struct sim_stage){.hash = hash, .seeds = &seeds[stages * SIM_MODEL_PATHS]};
		stage[stages++].hash.paths = (uint16_t)ways;
	}
	return stages == 0 ? -EDOM : sim_model_init(&b->model[index], stage, stages);
}

int hp3_sim_models(struct sim *s, struct hp3_balancer *b)
{
	const struct sim_topo *t = &s->topo;
	int ret = 0;

	b->model = sim_alloc(b->places, sizeof(*b->model));
	b->seeds = sim_alloc(b->places, sizeof(*b->seeds));
	for (uint32_t h = 0; h < t->hosts && ret == 0; h++)
		if (b->model[b->place[h]].stages == 0)
			ret = model_from(s, b, b->place[h], h);
	return ret;
}

static uint32_t line_mbps(const struct sim *s, uint32_t host)
{
	const struct sim_topo *t = &s->topo;

	return (uint32_t)(t->link[t->port_link[t->first_port[host]]].bps / 1000000);
}

static bool runs_no_hp3(const struct sim *s, uint32_t host)
{
	uint32_t percent = s->cfg.peers.hp3_percent;

	return (uint64_t)host * percent / 100 == (uint64_t)(host + 1) * percent / 100;
}

int hp3_sim_engines(struct sim *s, struct hp3_balancer *b)
{
	b->host = sim_alloc(s->topo.hosts, sizeof(*b->host));
	for (uint32_t h = 0; h < s->topo.hosts; h++) {
		struct hp3_engine_config cfg = b->cfg;
		struct hp3_host *host = &b->host[h];
		size_t size;

		cfg.seed ^= (uint64_t)h << 32;
		cfg.cc.rp.rpg_max_rate = line_mbps(s, h);
		if (b->model != NULL)
			cfg.model = &b->model[b->place[h]].given;
		size = (hp3_engine_size(&cfg) + 63) & ~(size_t)63;
		host->memory = aligned_alloc(64, size);
		if (host->memory == NULL)
			return -ENOMEM;
		host->engine = hp3_engine_create(host->memory, size, &cfg);
		if (host->engine == NULL)
			return -EINVAL;
		host->held = sim_alloc(HP3_HELD(cfg.hold_packets) + 1, sizeof(struct sim_packet *));
		host->next_qpn = HP3_SIM_QPN;
		host->absent = runs_no_hp3(s, h);
		host->met = sim_alloc(s->topo.hosts, 1);
	}
	return 0;
}
