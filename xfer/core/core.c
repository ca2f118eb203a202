/* SPDX-License-Identifier: BSD-3-Clause */
/* The core as a whole: configuration, memory, time. */
#include "xfer/core/inside.h"
#include <string.h>
#include "base/minmax.h"

#define ALIGNMENT   64u
#define MOST_PEERS  32767u /* as many as a token names */
#define MOST        (1u << 20) /* ops, slices */
#define LEAST_SLICE 64u
#define MOST_SLICE  (1u << 30)
#define MS          1000000ull
/* Chunks of pages and messages, beside one for each op: for two ops of most pages, say. */
#define CHUNKS 1024u

void hp3x_core_defaults(struct hp3x_core_config *config)
{
	*config = (struct hp3x_core_config){
		.peers = 64,
		.ops = 4096,
		.slices = 4096,
		.rails = 1,
		.paths_per_rail = 2,
		.slice_bytes = 65536,
		.hang_least_ns = 50 * MS,
		.hang_ns = 50 * MS,
		.open_ns = 1000 * MS,
		.back_off_ns = 10 * MS,
		.most_back_off_ns = 1000 * MS,
		.fence_ns = HP3X_FENCE_MS * MS,
		.keepalive_ns = 1000 * MS,
		.peer_timeout_ns = 10000 * MS,
	};
}

static bool is_valid(const struct hp3x_core_config *c)
{
	return c->identity != 0 && c->peers > 0 && c->peers <= MOST_PEERS && c->ops > 0 &&
	       c->ops <= MOST && c->slices > 0 && c->slices <= MOST && c->rails > 0 &&
	       c->rails <= HP3X_RAILS && c->paths_per_rail > 0 &&
	       c->paths_per_rail <= HP3X_MOST_PATHS / HP3X_RAILS && c->slice_bytes >= LEAST_SLICE &&
	       c->slice_bytes <= MOST_SLICE && c->hang_ns > 0 && c->hang_least_ns <= c->hang_ns &&
	       c->open_ns > 0 && c->back_off_ns > 0 && c->most_back_off_ns >= c->back_off_ns &&
	       c->fence_ns > 0 && c->keepalive_ns > 0 && c->peer_timeout_ns > c->keepalive_ns;
}

/* Memory that is given out from its start. Without a base, it only counts. */
struct arena {
	uint8_t *base;
	size_t used;
};

static void *arena_take(struct arena *a, size_t n, size_t size)
{
	void *start = a->base != NULL ? a->base + a->used : NULL;

	a->used += (n * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	return start;
}

#define TAKE(arena, n, pointer) arena_take(arena, n, sizeof(*(pointer)))

static uint32_t chunks_of(const struct hp3x_core_config *cfg)
{
	return CHUNKS + cfg->ops;
}

static uint32_t timers_of(const struct hp3x_core *c)
{
	return c->cfg.ops + c->cfg.peers * (c->most_paths + 2);
}

/* Sets the pointers of `c` to its parts. */
static void core_lay_out(struct hp3x_core *c, struct arena *a)
{
	const struct hp3x_core_config *cfg = &c->cfg;
	struct hp3xc_peer none, *first;

	c->most_paths = hp3_min_u32(HP3X_MOST_PATHS, HP3X_RAILS * cfg->paths_per_rail);
	c->timers.heap = TAKE(a, timers_of(c), c->timers.heap);
	c->timers.place = TAKE(a, timers_of(c), c->timers.place);
	c->ops = TAKE(a, cfg->ops, c->ops);
	c->flights = TAKE(a, cfg->slices, c->flights);
	c->chunk = TAKE(a, chunks_of(cfg), c->chunk);
	c->out = TAKE(a, HP3X_MESSAGE, c->out);
	c->in = TAKE(a, HP3X_MESSAGE, c->in);
	c->adds = TAKE(a, HP3X_COUNTERS, c->adds);
	c->changed = TAKE(a, HP3X_COUNTERS, c->changed);
	c->peers = first = TAKE(a, cfg->peers, c->peers);
	for (uint32_t i = 0; i < cfg->peers; i++) {
		struct hp3xc_peer *peer = first != NULL ? &first[i] : &none;

		peer->used = peer->tell = false;
		peer->paths = TAKE(a, c->most_paths, peer->paths);
		peer->slots = TAKE(a, HP3X_SLOTS, peer->slots);
		peer->counts = TAKE(a, HP3X_SLOTS, peer->counts);
		peer->bitmaps = TAKE(a, HP3XC_LARGE_SLOTS, peer->bitmaps);
	}
}

size_t hp3x_core_size(const struct hp3x_core_config *config)
{
	struct hp3x_core c = {.cfg = *config};
	struct arena a = {0};

	if (!is_valid(config))
		return 0;
	arena_take(&a, 1, sizeof(c));
	core_lay_out(&c, &a);
	return a.used;
}

static void lists_init(struct hp3x_core *c)
{
	hp3xc_link_init(&c->free_ops);
	hp3xc_link_init(&c->idle_flights);
	hp3xc_link_init(&c->check);
	hp3xc_link_init(&c->ended);
	hp3xc_link_init(&c->ready);
	hp3xc_link_init(&c->talkers);
	hp3xc_link_init(&c->starved);
	hp3xc_link_init(&c->wants);
}

static void pools_init(struct hp3x_core *c)
{
	for (uint32_t i = 0; i < c->cfg.ops; i++) {
		c->ops[i] = (struct hp3xc_op){.index = i};
		hp3xc_link_init(&c->ops[i].in_peer);
		hp3xc_link_put(&c->free_ops, &c->ops[i].in_peer);
	}
	for (uint32_t i = 0; i < c->cfg.slices; i++) {
		c->flights[i] = (struct hp3xc_flight){.index = i};
		hp3xc_link_init(&c->flights[i].in);
		hp3xc_link_put(&c->idle_flights, &c->flights[i].in);
	}
	c->free_flights = c->cfg.slices;
	for (uint32_t i = 0; i < chunks_of(&c->cfg); i++)
		c->chunk[i].next = i + 1 < chunks_of(&c->cfg) ? &c->chunk[i + 1] : NULL;
	c->free_chunks = chunks_of(&c->cfg);
	memset(c->adds, 0, HP3X_COUNTERS * sizeof(*c->adds));
}

struct hp3x_core *hp3x_core_create(
	const struct hp3x_core_config *config, void *memory, uint64_t now)
{
	struct hp3x_core *c = memory;
	struct arena a = {.base = memory};

	arena_take(&a, 1, sizeof(*c));
	*c = (struct hp3x_core){.cfg = *config, .now = now, .random = config->seed};
	core_lay_out(c, &a);
	hp3xc_timers_init(&c->timers, timers_of(c));
	lists_init(c);
	pools_init(c);
	return c;
}

uint64_t hp3x_core_due(const struct hp3x_core *c)
{
	return hp3xc_timers_min(&c->timers);
}

static void timer_end(struct hp3x_core *c, uint32_t id)
{
	uint32_t paths = c->cfg.peers * c->most_paths;

	if (id < c->cfg.ops) {
		hp3xc_op_time(c, &c->ops[id]);
		return;
	}
	id -= c->cfg.ops;
	if (id < paths)
		hp3xc_path_time(c, &c->peers[id / c->most_paths].paths[id % c->most_paths]);
	else if (id - paths < c->cfg.peers)
		hp3xc_peer_time(c, &c->peers[id - paths]);
	else
		hp3xc_peer_ready(c, &c->peers[id - paths - c->cfg.peers]);
}

void hp3x_core_tick(struct hp3x_core *c, uint64_t now)
{
	c->now = now;
	while (hp3xc_timers_min(&c->timers) <= now) {
		uint32_t id = c->timers.heap[0].id;

		hp3xc_timer_stop(&c->timers, id);
		timer_end(c, id);
	}
}

bool hp3x_core_path_info(
	const struct hp3x_core *c, uint32_t peer, uint32_t number, struct hp3x_path *path)
{
	static const uint8_t state[] = {
		[HP3XC_DOWN] = HP3X_PATH_DOWN,
		[HP3XC_MAKING] = HP3X_PATH_OPENING,
		[HP3XC_OFFERED] = HP3X_PATH_OPENING,
		[HP3XC_CONNECTING] = HP3X_PATH_OPENING,
		[HP3XC_ANSWERED] = HP3X_PATH_OPENING,
		[HP3XC_PROBING] = HP3X_PATH_PROBING,
		[HP3XC_UP] = HP3X_PATH_UP,
		[HP3XC_SHUTTING] = HP3X_PATH_DOWN,
	};
	const struct hp3xc_path *p = hp3xc_path_of(c, peer, number);

	if (p == NULL)
		return false;
	*path = (struct hp3x_path){
		.number = number,
		.local_rail = p->local_rail,
		.remote_rail = p->remote_rail,
		.state = (enum hp3x_path_state)state[p->stage],
		.rate = p->estimate.sampled ? p->estimate.rate : 0,
		.rtt = p->estimate.rtt != UINT64_MAX ? p->estimate.rtt : 0,
		.in_flight = p->in_flight,
		.bytes = p->bytes,
		.slices = p->slices,
		.again = p->again,
		.failures = p->failures,
		.openings = p->opening,
	};
	return true;
}
