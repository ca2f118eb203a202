/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and configuration of an engine; small queries and names. */
#include "base/names.h"
#include "engine/flows/barred.h"
#include "engine/life/life.h"
#include "engine/part.h"
#include "engine/pass/burst.h"
#include "engine/policy.h"
#include "engine/spray/spray.h"
#include <errno.h>

#define CACHE_LINE     64u
#define TRACE_RATE_MAX 1000000000u /* per second */
/* Random numbers drawn first, so that published results of a seed stay the same. */
#define CHOICES_BEFORE 5u

static const struct hp3_part *const parts[HP3_NPARTS] = {
#define X(name) &hp3_##name##_part,
	HP3_PARTS(X)
#undef X
};

void *hp3_arena_take(struct hp3_arena *a, size_t n, size_t size)
{
	size_t at = a->used;

	a->used += (n * size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
	return a->memory != NULL ? a->memory + at : NULL;
}

static bool is_part_on(const struct hp3_part *part, const struct hp3_engine_config *cfg)
{
	return part->is_on == NULL || part->is_on(cfg);
}

static void take_parts(struct hp3_engine *e, struct hp3_arena *a)
{
	for (unsigned i = 0; i < HP3_NPARTS; i++)
		if (parts[i]->take != NULL && is_part_on(parts[i], &e->cfg))
			parts[i]->take(e, a);
}

static void init_parts(struct hp3_engine *e)
{
	for (unsigned i = 0; i < HP3_NPARTS; i++) {
		if (!is_part_on(parts[i], &e->cfg))
			continue;
		if (parts[i]->init != NULL)
			parts[i]->init(e);
		if (parts[i]->tick != NULL)
			e->ticking[e->nticking++] = parts[i];
	}
}

size_t hp3_engine_size(const struct hp3_engine_config *cfg)
{
	struct hp3_engine e = {.cfg = *cfg};
	struct hp3_arena a = {0};

	hp3_arena_take(&a, 1, sizeof(e));
	take_parts(&e, &a);
	return a.used;
}

static bool is_sound_config(const struct hp3_engine_config *cfg)
{
	if (cfg->max_flows == 0 || cfg->max_flows >= HP3_BUCKET_REF || cfg->max_pairs == 0 ||
		cfg->max_moves == 0 || cfg->max_moves >= HP3_NO_SLOT || cfg->challenge_hits == 0 ||
		cfg->challenge_spread == 0 || (cfg->trace && cfg->model != NULL))
		return false;
	if (cfg->trace && (cfg->traces.rate == 0 || cfg->traces.rate > TRACE_RATE_MAX ||
				  cfg->traces.burst == 0 || cfg->paths.recheck_ns == 0))
		return false;
	if (cfg->spray.mode != HP3_SPRAY_MOVE &&
		(cfg->spray.flows == 0 || cfg->spray.flows >= HP3_NO_SPRAY / 4 ||
			cfg->spray.evs < 2 || cfg->spray.evs > HP3_EVS_MAX ||
			cfg->spray.keepalive_ns == 0 || cfg->verbs))
		return false;
	if (cfg->probing && (cfg->candidates == 0 || cfg->candidates + 1u >= HP3_ROUND_PROBES))
		return false;
	return cfg->cc.mode != HP3_CC_DCQCN || hp3_dcqcn_check(&cfg->cc.rp) == NULL;
}

struct hp3_engine *hp3_engine_create(void *mem, size_t size, const struct hp3_engine_config *cfg)
{
	struct hp3_arena a = {.memory = mem};
	uint64_t hash = cfg->hash_seed;
	struct hp3_engine *e;

	if (mem == NULL || ((uintptr_t)mem & (CACHE_LINE - 1)) != 0 ||
		size < hp3_engine_size(cfg) || !is_sound_config(cfg))
		return NULL;
	e = hp3_arena_take(&a, 1, sizeof(*e));
	memset(e, 0, sizeof(*e));
	e->cfg = *cfg;
	e->rng = cfg->seed;
	for (unsigned i = 0; i < CHOICES_BEFORE; i++)
		hp3_random(&e->rng);
	for (unsigned i = 0; i < sizeof(e->seed) / sizeof(e->seed[0]); i++)
		e->seed[i] = hp3_random(&hash);
	for (unsigned i = 0; i < sizeof(e->key) / sizeof(e->key[0]); i++)
		e->key[i] = (uint32_t)e->seed[i] | 1;
	e->large = UINT32_MAX;
	e->isa = hp3_isa_best();
	take_parts(e, &a);
	init_parts(e);
	return e;
}

void hp3_engine_reconfigure(struct hp3_engine *e, const struct hp3_engine_config *cfg)
{
	struct hp3_engine_config was = e->cfg;

	e->cfg = *cfg;
	hp3_policy_keep(&e->cfg, &was);
	/* no key sets these */
	e->cfg.max_moves = was.max_moves;
	e->cfg.hash_seed = was.hash_seed;
	e->cfg.probing = was.probing;
	e->cfg.model = was.model;
	e->cfg.cc.notify = was.cc.notify;
	e->cfg.verbs = was.verbs;
	e->cfg.copies = was.copies;
	if (!is_sound_config(&e->cfg))
		e->cfg = was;
	for (unsigned i = 0; i < HP3_NPARTS; i++)
		if (parts[i]->reconfigured != NULL && is_part_on(parts[i], &e->cfg))
			parts[i]->reconfigured(e);
}

uint32_t hp3_flow_next(const struct hp3_engine *e, uint32_t from)
{
	for (uint32_t i = from; i < e->cfg.max_flows; i++) {
		if (e->flows[i].flags & HP3_FF_USED)
			return i;
	}
	return HP3_NO_FLOW;
}

uint32_t hp3_flow_rqpn(const struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_flow *f = flow < e->cfg.max_flows ? &e->flows[flow] : NULL;

	return f != NULL && (f->flags & HP3_FF_USED) ? f->rqpn : UINT32_MAX;
}

bool hp3_flow_is_moved(const struct hp3_engine *e, uint32_t flow)
{
	const uint16_t moved = HP3_FF_USED | HP3_FF_MOVED;

	return flow < e->cfg.max_flows && (e->flows[flow].flags & moved) == moved;
}

uint32_t hp3_engine_slots(const struct hp3_engine *e)
{
	return e->nmoves;
}

bool hp3_slot_open(const struct hp3_engine *e, uint32_t i, uint32_t *flow)
{
	enum hp3_rfr_state state;

	*flow = e->moves[e->slots[i]].flow;
	state = (enum hp3_rfr_state)e->flows[*flow].state;
	return state != HP3_RFR_STEADY && state != HP3_RFR_RESUMING;
}

int hp3_flow_info(
	const struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_flow_info *info)
{
	const struct hp3_flow *f = flow < e->cfg.max_flows ? &e->flows[flow] : NULL;
	const struct hp3_pair *p;

	if (f == NULL || !(f->flags & HP3_FF_USED))
		return -ENOENT;
	p = &e->pairs.pairs[f->pair];
	*info = (struct hp3_flow_info){
		.flow = flow,
		.ipv6 = p->ipv6,
		.paired = f->flags & HP3_FF_PAIRED,
		.moved = f->flags & HP3_FF_MOVED,
		.vlan = f->vlan,
		.lqpn = f->flags & HP3_FF_PAIRED ? f->lqpn : 0,
		.rqpn = f->rqpn,
		.una = f->stream.una,
		.nxt = f->stream.nxt,
		.inflight = hp3_stream_idle(&f->stream)
				    ? 0
				    : (hp3_stream_end(&f->stream) - f->stream.una) & HP3_PSN_MASK,
		.port = hp3_flow_port(f),
		.home = f->home,
		.pmtu = f->pmtu_log2 ? (uint16_t)(1u << f->pmtu_log2) : 0,
		.state = f->state,
		.pairing = f->pairing,
		.unpaired = (uint8_t)hp3_flow_unpaired_reason(e, f, now),
		.spray = (uint8_t)hp3_spray_state_of(e, flow),
		.spray_reads = (uint8_t)hp3_spray_read_state_of(e, flow),
		.evs = (uint8_t)hp3_spray_evs_of(e, flow),
		.replies = e->replies != NULL ? e->replies[flow].port : 0,
		.moves = f->moves,
		.retransmits = f->retransmits,
		.bytes = f->bytes,
		.idle_ns = (uint64_t)((uint32_t)(now >> HP3_TICK_SHIFT) - f->last)
			   << HP3_TICK_SHIFT,
	};
	info->rate = hp3_rate_now(e, flow, now);
	info->severe = f->flags & HP3_FF_SEVERE;
	info->barred = (uint8_t)hp3_flow_bar(e, f);
	info->dscp = (uint8_t)e->began[flow].dscp;
	if ((f->flags & HP3_FF_PAIRED) && e->cfg.monitor.cycle_ns != 0)
		hp3_monitor_estimates(&f->monitor, &e->cfg.monitor, &info->path);
	memcpy(info->local, p->local, 16);
	memcpy(info->remote, p->remote, 16);
	return 0;
}

const struct hp3_stats *hp3_engine_stats(const struct hp3_engine *e)
{
	return &e->stats;
}

uint32_t hp3_engine_flows(const struct hp3_engine *e)
{
	return e->nflows;
}

uint32_t hp3_engine_pairs(const struct hp3_engine *e)
{
	return e->pairs.used;
}

uint32_t hp3_engine_moves(const struct hp3_engine *e)
{
	return e->nmoving;
}

uint32_t hp3_engine_moved(const struct hp3_engine *e)
{
	return e->nmoved;
}

const char *hp3_pairing_name(enum hp3_pairing p)
{
	static const char *const names[] = {
		[HP3_PAIRING_NONE] = "none",
		[HP3_PAIRING_CHALLENGE] = "challenge",
		[HP3_PAIRING_CM] = "cm",
		[HP3_PAIRING_EVENT] = "event",
	};
	return HP3_NAME(names, p);
}

uint32_t hp3_seen_kinds(const struct hp3_engine *e)
{
	return (e->nspray_in != 0) | (e->nspray_reads != 0) << 1 | (e->nreplies != 0) << 2;
}
