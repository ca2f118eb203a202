/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and configuration of an engine; small queries and names. */
#include "base/names.h"
#include "engine/flows/barred.h"
#include "engine/flows/near.h"
#include "engine/flows/pending.h"
#include "engine/life/life.h"
#include "engine/pass/burst.h"
#include "engine/paths/compare.h"
#include "engine/spray/spray.h"
#include <errno.h>

#define CACHE_LINE     64u
#define TRACE_RATE_MAX 1000000000u /* per second */
/* Random numbers drawn first, so that published results of a seed stay the same. */
#define CHOICES_BEFORE 5u
/* At any time, challenges of at most one flow in this many fit the index. */
#define ASKING       4u
#define ASKING_LEAST 4096u

static size_t align_up(size_t n)
{
	return (n + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

struct engine_layout {
	size_t buckets, flows, pairs, heads, moves, slots, held, rates, np, paths, active, replies,
		tracing, traced, comparing, advertise, waits, began, unauth_state, pending, losses,
		asked, near, longs, spraying, sprays_out, sprays_in, spray_peers, spray_lists,
		spray_quotas, spray_of, spray_due, spray_places, move_due, move_places, end;
	uint32_t nbuckets, nasked, nnear, npending;
};

/* `n` records of `size` bytes at *at; returns where they begin. */
static size_t reserve_records(size_t *at, size_t n, size_t size)
{
	size_t here = *at;

	*at = align_up(here + n * size);
	return here;
}

/* Do peers get reports of our flows? */
static bool has_reports(const struct hp3_engine_config *cfg)
{
	return cfg->probing && cfg->cc.share.on;
}

static struct engine_layout engine_layout_of(const struct hp3_engine_config *cfg)
{
	size_t flows = cfg->max_flows, pairs = cfg->max_pairs, at = 0;
	size_t sprays = cfg->spray.mode != HP3_SPRAY_MOVE ? cfg->spray.flows : 0;
	size_t probing = cfg->probing;
	struct engine_layout l;

	l.nbuckets = hp3_table_buckets(2 * (uint64_t)flows);
	reserve_records(&at, 1, sizeof(struct hp3_engine));
	l.buckets = reserve_records(&at, l.nbuckets, sizeof(struct hp3_bucket));
	l.flows = reserve_records(&at, flows, sizeof(struct hp3_flow));
	l.began = reserve_records(&at, flows, sizeof(struct hp3_began));
	l.nasked = hp3_pairs_heads(hp3_max_u32(cfg->max_flows / ASKING, ASKING_LEAST));
	l.asked = reserve_records(&at, l.nasked, sizeof(uint32_t));
	l.nnear = hp3_near_entries(cfg->max_flows);
	l.near = reserve_records(&at, l.nnear, sizeof(struct hp3_near));
	l.unauth_state = reserve_records(&at, flows, sizeof(struct hp3_unauth_state));
	l.npending = hp3_min_u32(cfg->max_flows, HP3_PENDING);
	l.pending = reserve_records(&at, l.npending, sizeof(struct hp3_pending));
	l.losses = reserve_records(&at, HP3_LOSS_SETS * HP3_LOSS_WAYS, sizeof(struct hp3_losses));
	l.pairs = reserve_records(&at, pairs, sizeof(struct hp3_pair));
	l.heads = reserve_records(&at, hp3_pairs_heads(cfg->max_pairs), sizeof(uint32_t));
	l.moves = reserve_records(&at, cfg->max_moves, sizeof(struct hp3_move));
	l.slots = reserve_records(&at, cfg->max_moves, sizeof(uint16_t));
	l.held = reserve_records(
		&at, (size_t)HP3_HELD(cfg->hold_packets) + 1, sizeof(struct hp3_held));
	l.rates = reserve_records(
		&at, cfg->cc.mode == HP3_CC_DCQCN ? flows : 0, sizeof(struct hp3_rate));
	l.longs = reserve_records(&at, cfg->cc.share.on ? flows : 0, sizeof(struct hp3_long));
	l.np = reserve_records(&at, cfg->cc.notify ? flows : 0, sizeof(struct hp3_np));
	l.paths = reserve_records(&at, probing * pairs, sizeof(struct hp3_paths));
	l.active = reserve_records(&at, probing * flows, sizeof(struct hp3_active));
	l.replies = reserve_records(&at, probing * flows, sizeof(struct hp3_reply));
	l.tracing = reserve_records(&at, probing && cfg->trace, sizeof(struct hp3_tracing));
	l.traced = reserve_records(
		&at, probing && cfg->trace ? pairs : 0, sizeof(struct hp3_trace_pair));
	l.comparing = reserve_records(&at, probing, sizeof(struct hp3_comparing));
	l.advertise = reserve_records(&at, has_reports(cfg) ? pairs : 0, sizeof(uint32_t));
	l.waits = reserve_records(&at, has_reports(cfg) ? pairs : 0, 1);
	l.spraying = reserve_records(
		&at, cfg->spray.mode != HP3_SPRAY_MOVE, sizeof(struct hp3_spraying));
	l.sprays_out = reserve_records(&at, sprays, sizeof(struct hp3_spray_out));
	l.sprays_in = reserve_records(&at, sprays, sizeof(struct hp3_spray_in));
	l.spray_peers = reserve_records(&at, sprays != 0 ? hp3_spray_peers((uint32_t)sprays) : 0,
		sizeof(struct hp3_spray_peer));
	l.spray_lists = reserve_records(&at, sprays, HP3_SPRAY_LISTS * sizeof(uint16_t));
	l.spray_quotas = reserve_records(&at, 2 * sprays, sizeof(struct hp3_quota));
	l.spray_of = reserve_records(
		&at, cfg->spray.mode != HP3_SPRAY_MOVE ? flows : 0, sizeof(struct hp3_spray_of));
	l.spray_due = reserve_records(&at, 2 * sprays, sizeof(struct hp3_deadline));
	l.spray_places = reserve_records(&at, 2 * sprays, sizeof(uint32_t));
	l.move_due = reserve_records(&at, cfg->max_moves, sizeof(struct hp3_deadline));
	l.move_places = reserve_records(&at, cfg->max_moves, sizeof(uint32_t));
	l.end = at;
	return l;
}

size_t hp3_engine_size(const struct hp3_engine_config *cfg)
{
	return engine_layout_of(cfg).end;
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

static void set_up_probing(struct hp3_engine *e, const struct engine_layout *l, uint8_t *at)
{
	e->paths = (struct hp3_paths *)(at + l->paths);
	e->active = (struct hp3_active *)(at + l->active);
	if (e->cfg.trace)
		hp3_tracing_init(e, at + l->tracing, (struct hp3_trace_pair *)(at + l->traced));
	e->comparing = (struct hp3_comparing *)(at + l->comparing);
	hp3_compare_init(e->comparing);
	e->replies = (struct hp3_reply *)(at + l->replies);
	memset(e->replies, 0, e->cfg.max_flows * sizeof(*e->replies));
	if (has_reports(&e->cfg))
		hp3_advertise_init(e, (uint32_t *)(at + l->advertise), at + l->waits);
}

static struct hp3_deadlines deadlines_at(uint8_t *heap, uint8_t *places)
{
	return (struct hp3_deadlines){
		.heap = (struct hp3_deadline *)heap, .place = (uint32_t *)places};
}

static void set_up_spraying(struct hp3_engine *e, const struct engine_layout *l, uint8_t *at)
{
	const struct hp3_spraying memory = {.out = (struct hp3_spray_out *)(at + l->sprays_out),
		.in = (struct hp3_spray_in *)(at + l->sprays_in),
		.peer = (struct hp3_spray_peer *)(at + l->spray_peers),
		.outs = (uint16_t *)(at + l->spray_lists),
		.quotas.peer = (struct hp3_quota *)(at + l->spray_quotas),
		.of = (struct hp3_spray_of *)(at + l->spray_of),
		.deadlines = deadlines_at(at + l->spray_due, at + l->spray_places)};

	hp3_spray_init(e, &memory);
}

struct hp3_engine *hp3_engine_create(void *mem, size_t size, const struct hp3_engine_config *cfg)
{
	struct engine_layout l = engine_layout_of(cfg);
	struct hp3_engine *e = mem;
	uint64_t hash = cfg->hash_seed;
	uint8_t *at = mem;

	if (mem == NULL || ((uintptr_t)mem & (CACHE_LINE - 1)) != 0 || size < l.end ||
		!is_sound_config(cfg))
		return NULL;
	memset(e, 0, sizeof(*e));
	e->cfg = *cfg;
	e->rng = cfg->seed;
	for (unsigned i = 0; i < CHOICES_BEFORE; i++)
		hp3_random(&e->rng);
	for (unsigned i = 0; i < 4; i++)
		e->seed[i] = hp3_random(&hash);
	for (unsigned i = 0; i < 4; i++)
		e->key[i] = (uint32_t)e->seed[i] | 1;
	hp3_table_init(&e->table, at + l.buckets, l.nbuckets);
	e->flows = (struct hp3_flow *)(at + l.flows);
	e->began = (struct hp3_began *)(at + l.began);
	e->asked = (uint32_t *)(at + l.asked);
	memset(e->asked, 0xff, l.nasked * sizeof(*e->asked));
	e->asked_mask = l.nasked - 1;
	hp3_near_init(e, (struct hp3_near *)(at + l.near), l.nnear);
	e->unauth_state = (struct hp3_unauth_state *)(at + l.unauth_state);
	e->npending = l.npending;
	e->pending = (struct hp3_pending *)(at + l.pending);
	for (uint32_t i = 0; i < l.npending; i++)
		e->pending[i].flow = HP3_NO_FLOW;
	e->losses = (struct hp3_losses *)(at + l.losses);
	for (uint32_t i = 0; i < HP3_LOSS_SETS * HP3_LOSS_WAYS; i++)
		e->losses[i].flow = HP3_NO_FLOW;
	e->moves = (struct hp3_move *)(at + l.moves);
	e->slots = (uint16_t *)(at + l.slots);
	e->held = (struct hp3_held *)(at + l.held);
	hp3_pairs_init(&e->pairs, (struct hp3_pair *)(at + l.pairs), (uint32_t *)(at + l.heads),
		cfg->max_pairs, hp3_random(&hash));
	if (cfg->probing)
		set_up_probing(e, &l, at);
	if (cfg->cc.mode == HP3_CC_DCQCN)
		e->rates = (struct hp3_rate *)(at + l.rates);
	if (cfg->cc.share.on) {
		e->longs = (struct hp3_long *)(at + l.longs);
		memset(e->longs, 0, cfg->max_flows * sizeof(*e->longs));
	}
	if (cfg->cc.notify) {
		e->np = (struct hp3_np *)(at + l.np);
		memset(e->np, 0, cfg->max_flows * sizeof(*e->np));
	}
	e->large = UINT32_MAX;
	if (cfg->spray.mode != HP3_SPRAY_MOVE) {
		e->spraying = (struct hp3_spraying *)(at + l.spraying);
		set_up_spraying(e, &l, at);
	}
	e->free_flow = e->announced = HP3_NO_FLOW;
	for (uint32_t i = cfg->max_flows; i-- > 0;) {
		e->flows[i].flags = 0;
		e->flows[i].watch = 0;
		e->flows[i].pair = e->free_flow;
		e->free_flow = i;
	}
	for (uint32_t i = 0; i < cfg->max_moves; i++)
		e->slots[i] = (uint16_t)i;
	e->deadlines = deadlines_at(at + l.move_due, at + l.move_places);
	memset(e->deadlines.place, 0, cfg->max_moves * sizeof(*e->deadlines.place));
	e->hold_most = cfg->hold_packets;
	e->free_held = 1;
	e->last_free = HP3_HELD(cfg->hold_packets);
	for (uint32_t i = 1; i <= e->last_free; i++)
		e->held[i].next = i < e->last_free ? i + 1 : 0;
	e->isa = hp3_isa_best();
	e->active_due = UINT64_MAX;
	return e;
}

void hp3_engine_reconfigure(struct hp3_engine *e, const struct hp3_engine_config *cfg)
{
	struct hp3_engine_config was = e->cfg;

	e->cfg = *cfg;
	e->cfg.seed = was.seed;
	e->cfg.hash_seed = was.hash_seed;
	e->cfg.max_flows = was.max_flows;
	e->cfg.max_pairs = was.max_pairs;
	e->cfg.max_moves = was.max_moves;
	e->cfg.hold_packets = was.hold_packets;
	e->cfg.probing = was.probing;
	e->cfg.model = was.model;
	e->cfg.trace = was.trace;
	e->cfg.cc.mode = was.cc.mode;
	e->cfg.cc.notify = was.cc.notify;
	e->cfg.cc.share.on = was.cc.share.on;
	e->cfg.cc.share.advertise_ns = was.cc.share.advertise_ns;
	e->cfg.verbs = was.verbs;
	e->cfg.copies = was.copies;
	e->cfg.spray.mode = was.spray.mode;
	e->cfg.spray.flows = was.spray.flows;
	e->cfg.spray.evs = was.spray.evs;
	if (!is_sound_config(&e->cfg))
		e->cfg = was;
	if (e->spraying != NULL)
		hp3_spray_reconfigured(e);
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

/* Why a flow is not paired, as far as known. */
static enum hp3_unpaired_reason unpaired_reason(
	const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	if (f->flags & HP3_FF_PAIRED)
		return HP3_UNPAIRED_PAIRED;
	if (!e->cfg.pair_by_challenge)
		return HP3_UNPAIRED_OFF;
	if (!hp3_is_pairing_wanted(e, f))
		return HP3_UNPAIRED_MODE;
	if (hp3_pair_is_barred(e, p))
		return HP3_UNPAIRED_BARRED;
	if (!(f->flags & HP3_FF_STARTED))
		return HP3_UNPAIRED_SILENT;
	if (hp3_pair_is_untracked(e, p, now))
		return HP3_UNPAIRED_UNTRACKED;
	return f->unpaired.reason != 0 ? (enum hp3_unpaired_reason)f->unpaired.reason
				       : HP3_UNPAIRED_ASKING;
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
		.unpaired = (uint8_t)unpaired_reason(e, f, now),
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

const struct hp3_stat_info hp3_stat_info[] = {
#define X(field, help) {#field, help, (uint16_t)offsetof(struct hp3_stats, field)},
	HP3_STATS(X)
#undef X
};
const unsigned hp3_stat_count = sizeof(hp3_stat_info) / sizeof(hp3_stat_info[0]);

const char *hp3_unpaired_name(enum hp3_unpaired_reason r)
{
	static const char *const names[] = {
#define X(symbol, text) [HP3_UNPAIRED_##symbol] = text,
		HP3_UNPAIRED_REASONS(X)
#undef X
	};
	return HP3_NAME(names, r);
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
