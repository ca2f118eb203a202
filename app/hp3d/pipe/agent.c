/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent's creation, reconfiguration and end; its key, window and limits. */
#include <errno.h>
#include <sys/random.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include "app/hp3d/pipe/agent_internal.h"
#include "app/hp3d/pipe/keyring.h"
#include "app/hp3d/pipe/memory.h"

#define BUFFERS     511u
#define BUFFER_SIZE (RTE_PKTMBUF_HEADROOM + HP3D_AGENT_FRAME_MAX)
#define SOURCES     1024u /* hosts whose probes are counted separately */
#define OF_SOURCE   4000u /* probes of one host answered per second, at most */
/* Without a key: probes answered per second, at most, of all hosts without a connection to the
 * RNIC. One such host gets a sixteenth. */
#define OF_UNKNOWN 2000u
#define WINDOW_MAX (1u << 20)

/* Number of probes stored: as many as can be answered while a probe is valid (responder.h). */
static uint32_t window_of_probes(const struct hp3_config *c)
{
	uint64_t want = 3ull * c->probes.clock_s * c->probes.answers_per_second;
	uint32_t n = 1024;

	while (n < want && n < WINDOW_MAX)
		n *= 2;
	return n;
}

static struct hp3_responder_config responder_config(
	const struct hp3_config *c, uint64_t seed, struct hp3_heard *heard)
{
	return (struct hp3_responder_config){.keys = *hp3d_keyring(),
		.seed = seed,
		.heard = heard,
		.clock_s = c->probes.clock_s,
		.dscp = c->engine.answer_dscp,
		.unknown = {OF_UNKNOWN, OF_UNKNOWN},
		.source = {OF_SOURCE, OF_SOURCE},
		.all = {c->probes.answers_per_second, c->probes.answers_per_second},
		.sources = SOURCES,
		.window = window_of_probes(c)};
}

/* The engine paces the traces; this is only an upper bound. */
static struct hp3_trace_params trace_params(const struct hp3d_agent *a, const struct hp3_config *c)
{
	return (struct hp3_trace_params){.timeout_ns = c->engine.round.timeout_ns,
		.limit = {c->engine.traces.rate, HP3_TRACES_MAX},
		.key = a->keys.key[a->use],
		.secret = a->secret};
}

static bool is_same(const struct hp3_probe_key *a, const struct hp3_probe_key *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/*
 * New keys. If the key used for sending is still accepted, this host goes on sending with it for
 * probe_key_wait_s: other hosts may not have the new one yet.
 */
static void take_keys(struct hp3d_agent *a, const struct hp3_config *c)
{
	struct hp3_probe_keys keys = *hp3d_keyring();
	bool both = hp3_probe_keyed(&keys.key[0]) && hp3_probe_keyed(&keys.key[1]);
	bool wait = both && is_same(&keys.key[1], &a->keys.key[a->use]) &&
		    c->probes.probe_key_wait_s != 0;
	bool same =
		is_same(&keys.key[0], &a->keys.key[0]) && is_same(&keys.key[1], &a->keys.key[1]);

	a->keys = keys; /* equal keys may be in other tables */
	hp3d_agent_keys_take(a, c);
	if (same)
		return; /* and a pending change continues */
	a->use = wait;
	a->wait_s = wait ? c->probes.probe_key_wait_s : 0;
}

/* 0 or a negative errno. */
static int make_neighbours(
	struct hp3d_agent *a, const struct hp3_config *cfg, uint64_t seed, int socket)
{
	const uint32_t pairs = hp3d_agent_pairs(cfg);
	void *mem = hp3d_memory_get(cfg, HP3D_MEMORY_TABLES, hp3d_neighbours_size(pairs), socket);

	if (mem == NULL)
		return -ENOMEM;
	a->neighbours_size = hp3d_neighbours_size(pairs);
	hp3d_neighbours_init(&a->neighbours, mem, pairs, seed);
	return 0;
}

static bool draw_random(void *buf, size_t n)
{
	return getrandom(buf, n, 0) == (ssize_t)n;
}

struct hp3d_agent *hp3d_agent_create(
	const struct hp3_config *cfg, unsigned rail, const char *name, int socket)
{
	struct hp3_heard *heard =
		rte_malloc_socket("hp3d heard", sizeof(*heard), RTE_CACHE_LINE_SIZE, socket);
	struct hp3_responder_config rc = responder_config(cfg, 0, heard);
	struct hp3_trace_params tp;
	uint64_t seed[3];
	int err;
	size_t size = hp3_responder_size(&rc);
	struct hp3d_agent *a = rte_zmalloc_socket("hp3d agent", sizeof(*a), 0, socket);
	void *mem = rte_malloc_socket("hp3d responder", size, RTE_CACHE_LINE_SIZE, socket);

	errno = ENOMEM; /* draw_random() sets it, too */
	if (a == NULL || mem == NULL || heard == NULL || !draw_random(&rc.seed, sizeof(rc.seed)) ||
		!draw_random(a->secret.bytes, sizeof(a->secret.bytes)) ||
		!draw_random(seed, sizeof(seed))) {
		rte_free(heard);
		rte_free(mem);
		rte_free(a);
		return NULL;
	}
	a->keys = rc.keys;
	err = make_neighbours(a, cfg, seed[2], socket);
	if (err == 0)
		err = hp3d_agent_keys_begin(a, cfg, name, socket);
	hp3d_agent_keys_take(a, cfg);
	rc.keys = a->keys;
	a->heard = heard;
	hp3_heard_init(heard, seed[0], hp3d_agent_clock_us());
	a->clock_s = rc.clock_s;
	a->dscp = rc.dscp;
	a->port = (uint16_t)cfg->probes.port;
	tp = trace_params(a, cfg);
	hp3_tracer_init(&a->tracer, &tp, seed[1], &a->stats);
	a->responder = hp3_responder_create(mem, size, &rc, &a->stats);
	a->pool = rte_mempool_lookup(name); /* of an earlier agent */
	if (a->pool == NULL)
		a->pool = rte_pktmbuf_pool_create(name, BUFFERS, 0, 0, BUFFER_SIZE, socket);
	if (err == 0 && a->pool == NULL)
		err = -rte_errno;
	if (err < 0 || a->responder == NULL) {
		hp3d_agent_free(a);
		errno = err < 0 ? -err : ENOMEM;
		return NULL;
	}
	return a;
}

void hp3d_agent_free(struct hp3d_agent *a)
{
	if (a == NULL)
		return;
	hp3d_agent_keys_end(a);
	hp3d_memory_put(a->neighbours.n, HP3D_MEMORY_TABLES, a->neighbours_size);
	rte_free(a->heard);
	rte_free(a->responder); /* the pool stays: rings and ports may still hold its buffers */
	rte_free(a);
}

void hp3d_agent_reconfigure(struct hp3d_agent *a, const struct hp3_config *cfg)
{
	struct hp3_responder_config rc = responder_config(cfg, 0, a->heard);

	take_keys(a, cfg);
	rc.keys = a->keys;
	a->clock_s = rc.clock_s;
	a->dscp = rc.dscp;
	a->tracer.params = trace_params(a, cfg);
	hp3_responder_reconfigure(a->responder, &rc);
}

void hp3d_agent_learn(struct hp3d_agent *a, const struct hp3_parsed *f, uint64_t now)
{
	hp3d_neighbours_learn(&a->neighbours, f);
	if (f->v->class == HP3_CLASS_RC_REQUEST || f->v->class == HP3_CLASS_RC_REPLY) {
		const struct hp3_ends to = hp3_ends_of(f->bytes, f->v, HP3_DIR_TX);

		hp3d_agent_key_begin(a, &to, now);
	}
}

void hp3d_agent_on_answer(struct hp3d_agent *a, hp3d_took_fn *took, void *ctx)
{
	a->took = took;
	a->took_ctx = ctx;
}

void hp3d_agent_tick(struct hp3d_agent *a, uint64_t now)
{
	struct hp3_trace_result r;

	if (a->wait_s != 0) {
		a->change_ns = now + a->wait_s * 1000000000ull;
		a->wait_s = 0;
	}
	if (a->use != 0 && now >= a->change_ns) {
		a->use = 0;
		a->tracer.params.key = a->keys.key[0];
	}
	while (hp3_trace_expire(&a->tracer, now, &r))
		; /* expired traces need no report: the engine has its own, longer time-out */
}

const struct hp3d_agent_counters *hp3d_agent_counters(const struct hp3d_agent *a)
{
	return &a->c;
}

const struct hp3_probe_stats *hp3d_agent_stats(const struct hp3d_agent *a)
{
	return &a->stats;
}
