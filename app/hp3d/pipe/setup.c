/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates, connects and frees a pipe, and gives access to its parts. */
#include <errno.h>
#include <stdio.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/internal.h"
#include "app/hp3d/pipe/memory.h"
#include "config/filter.h"
#include "engine/policy.h"

static void no_output(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	rte_pktmbuf_free_bulk(m, n);
}

/* Without an agent, the pipe exchanges no messages with peers. */
static struct hp3_engine_config engine_config(
	const struct hp3_config *cfg, unsigned rail, bool mute, const struct hp3d_agent *agent)
{
	struct hp3_engine_config ec = hp3_policy_settled(&cfg->engine);

	ec.spray.mode = hp3_config_rfr_mode(cfg, rail);
	ec.filter = hp3_filter_make(cfg->filter.peers, cfg->filter.dscp, cfg->filter.qpns);
	ec.key = agent != NULL ? hp3d_agent_agreed(agent) : NULL;
	ec.unkeyed = cfg->probes.probe_key[0] == '\0' && ec.key == NULL;
	ec.verbs = hp3_config_is_verbs_mode(cfg);
	ec.copies = ec.verbs && cfg->verbs.copies[0] != '\0';
	if (ec.verbs)
		ec.spray.mode = HP3_SPRAY_MOVE; /* no packet passes through hp3d */
	if (mute) /* verbs mode has peer probes only, so this turns probing off (engine/search) */
		ec.probes = HP3_PROBES_STANDARD;
	return ec;
}

struct hp3d_pipe *hp3d_pipe_create(
	const struct hp3_config *cfg, unsigned rail, unsigned worker, uint64_t seed, int socket)
{
	struct hp3_engine_config ec = engine_config(cfg, rail, false, NULL);
	size_t size = hp3_engine_size(&ec);
	struct hp3d_pipe *p =
		rte_zmalloc_socket("hp3d pipe", sizeof(*p), RTE_CACHE_LINE_SIZE, socket);
	void *mem;

	if (p == NULL)
		return NULL;
	ec.seed = seed;
	ec.hash_seed ^= seed;
	p->rail = (uint16_t)rail;
	p->missed = HP3_NO_FLOW;
	p->worker = (uint16_t)worker;
	p->out[HP3_DIR_TX].send = p->out[HP3_DIR_RX].send = no_output;
	p->held = rte_malloc_socket(
		"hp3d held", (HP3_HELD(ec.hold_packets) + 1) * sizeof(*p->held), 0, socket);
	p->engine_size = size;
	mem = hp3d_memory_get(cfg, HP3D_MEMORY_TABLES, size, socket);
	p->engine = hp3_engine_create(mem, size, &ec);
	if (p->held == NULL || p->engine == NULL) {
		if (p->engine == NULL)
			hp3d_memory_put(mem, HP3D_MEMORY_TABLES, size);
		hp3d_pipe_free(p);
		return NULL;
	}
	return p;
}

void hp3d_pipe_reconfigure(struct hp3d_pipe *p, const struct hp3_config *cfg)
{
	struct hp3_engine_config ec;

	if (p->agent != NULL)
		hp3d_agent_reconfigure(p->agent, cfg);
	ec = engine_config(cfg, p->rail, p->mute, p->agent);
	hp3_engine_reconfigure(p->engine, &ec);
}

void hp3d_pipe_mute(struct hp3d_pipe *p, const struct hp3_config *cfg, bool mute)
{
	p->mute = mute;
	hp3d_pipe_reconfigure(p, cfg);
}

void hp3d_pipe_free(struct hp3d_pipe *p)
{
	if (p == NULL)
		return;
	rte_free(p->held);
	hp3d_bond_free(p->bond);
	hp3d_agent_free(p->agent);
	hp3d_memory_put(p->engine, HP3D_MEMORY_TABLES, p->engine_size);
	rte_free(p);
}

int hp3d_pipe_add_agent(struct hp3d_pipe *p, const struct hp3_config *cfg, int socket)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "hp3d_agent_%u_%u", p->rail, p->worker);
	p->agent = hp3d_agent_create(cfg, p->rail, name, socket);
	if (p->agent == NULL)
		return -errno;
	hp3d_pipe_reconfigure(p, cfg); /* the agent may have keys */
	return 0;
}

int hp3d_pipe_add_bond(struct hp3d_pipe *p, const struct hp3_config *cfg, int socket)
{
	p->bond = hp3d_bond_create(cfg, p->rail, socket);
	return p->bond == NULL ? -ENOMEM : 0;
}

void hp3d_pipe_of_rail(struct hp3d_pipe *p, unsigned rail)
{
	if (unlikely(p->bond != NULL))
		hp3d_bond_set_rail(p->bond, rail);
}

struct hp3d_agent *hp3d_pipe_agent(struct hp3d_pipe *p)
{
	return p->agent;
}

void hp3d_pipe_output(struct hp3d_pipe *p, enum hp3_dir dir, hp3d_send_fn *send, void *ctx)
{
	p->out[dir].send = send != NULL ? send : no_output;
	p->out[dir].ctx = ctx;
}

void hp3d_pipe_on_event(struct hp3d_pipe *p, hp3d_event_fn *fn, void *ctx)
{
	p->on_event = fn;
	p->event_ctx = ctx;
}

void hp3d_pipe_on_actuate(struct hp3d_pipe *p, hp3d_actuate_fn *fn, void *ctx)
{
	p->actuate = fn;
	p->actuate_ctx = ctx;
}

struct hp3_engine *hp3d_pipe_engine(struct hp3d_pipe *p)
{
	return p->engine;
}

struct hp3d_pipe_counters *hp3d_pipe_counters(struct hp3d_pipe *p)
{
	return &p->c;
}

const struct hp3d_tally *hp3d_pipe_tally(const struct hp3d_pipe *p)
{
	return &p->tally;
}

uint32_t hp3d_pipe_held(const struct hp3d_pipe *p)
{
	return hp3_engine_held(p->engine, HP3_DIR_TX) + hp3_engine_held(p->engine, HP3_DIR_RX);
}

int64_t hp3d_pipe_unaccounted(const struct hp3d_pipe *p)
{
	const struct hp3d_pipe_counters *c = &p->c;
	uint64_t in = c->packets_tx + c->packets_rx + c->own + c->shown;
	uint64_t gone = c->sent + c->taken + c->consumed + c->drop_engine + c->drop_discarded +
			c->drop_host;

	return (int64_t)(in - gone - hp3d_pipe_held(p));
}

uint32_t hp3d_pipe_held_peak(const struct hp3d_pipe *p)
{
	return p->held_peak;
}
