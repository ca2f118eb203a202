/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent begins, is configured anew and ends; its key, window and limits. */
#include <stdlib.h>
#include <rte_malloc.h>
#include "app/hp3d/pipe/agent_internal.h"

#define BUFFERS     511u
#define BUFFER_SIZE (RTE_PKTMBUF_HEADROOM + HP3D_AGENT_FRAME_MAX)
#define SOURCES     1024u /* hosts whose probes are counted apart */
#define WINDOW_MAX  (1u << 20)

/* 32 hexadecimal digits; the loader has checked them. Empty: the zero key. */
static struct hp3_probe_key key_of(const char *hex)
{
	struct hp3_probe_key key = {{0}};
	char byte[3] = "";

	for (unsigned i = 0; i < sizeof(key.bytes) && hex[0] != '\0'; i++, hex += 2) {
		byte[0] = hex[0];
		byte[1] = hex[1];
		key.bytes[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return key;
}

/* Probes remembered: what may be answered within the time that a probe is believed (responder.h).
 */
static uint32_t window(const struct hp3_config *c)
{
	uint64_t want = 3ull * c->probes.clock_s * c->probes.answers_per_second;
	uint32_t n = 1024;

	while (n < want && n < WINDOW_MAX)
		n *= 2;
	return n;
}

static struct hp3_responder_config responder_config(const struct hp3_config *c, uint64_t seed)
{
	return (struct hp3_responder_config){.key = key_of(c->probes.probe_key),
		.seed = seed,
		.clock_s = c->probes.clock_s,
		.source = {c->probes.answers_per_source, c->probes.answers_per_source},
		.all = {c->probes.answers_per_second, c->probes.answers_per_second},
		.sources = SOURCES,
		.window = window(c)};
}

/* The engine keeps the rate; here it is but a bound. */
static struct hp3_trace_params trace_params(const struct hp3_config *c)
{
	return (struct hp3_trace_params){.timeout_ns = c->engine.round.timeout_ns,
		.limit = {c->engine.traces.rate, HP3_TRACES_MAX},
		.key = key_of(c->probes.probe_key)};
}

struct hp3d_agent *hp3d_agent_create(
	const struct hp3_config *cfg, const char *name, uint64_t seed, int socket)
{
	struct hp3_responder_config rc = responder_config(cfg, seed);
	struct hp3_trace_params tp = trace_params(cfg);
	size_t size = hp3_responder_size(&rc);
	struct hp3d_agent *a = rte_zmalloc_socket("hp3d agent", sizeof(*a), 0, socket);
	void *mem = rte_malloc_socket("hp3d responder", size, RTE_CACHE_LINE_SIZE, socket);

	if (a == NULL || mem == NULL) {
		rte_free(mem);
		rte_free(a);
		return NULL;
	}
	a->key = rc.key;
	a->clock_s = rc.clock_s;
	a->port = (uint16_t)cfg->probes.port;
	hp3_tracer_init(&a->tracer, &tp, seed, &a->stats);
	a->responder = hp3_responder_create(mem, size, &rc, &a->stats);
	a->pool = rte_mempool_lookup(name); /* of an agent that is gone */
	if (a->pool == NULL)
		a->pool = rte_pktmbuf_pool_create(name, BUFFERS, 0, 0, BUFFER_SIZE, socket);
	if (a->responder == NULL || a->pool == NULL) {
		hp3d_agent_free(a);
		return NULL;
	}
	return a;
}

void hp3d_agent_free(struct hp3d_agent *a)
{
	if (a == NULL)
		return;
	rte_free(a->responder); /* the pool stays: rings and ports may hold buffers of it still */
	rte_free(a);
}

void hp3d_agent_reconfigure(struct hp3d_agent *a, const struct hp3_config *cfg)
{
	struct hp3_responder_config rc = responder_config(cfg, 0);

	a->key = rc.key;
	a->clock_s = rc.clock_s;
	a->tracer.params = trace_params(cfg);
	hp3_responder_reconfigure(a->responder, &rc);
}

void hp3d_agent_learn(
	struct hp3d_agent *a, const void *frame, uint32_t len, const struct hp3_view *v)
{
	hp3d_neighbours_learn(&a->neighbours, frame, len, v);
}

void hp3d_agent_tick(struct hp3d_agent *a, uint64_t now)
{
	struct hp3_trace_result r;

	while (hp3_trace_expire(&a->tracer, now, &r))
		; /* the engine has a time-out of its own, behind this one */
}

const struct hp3d_agent_counters *hp3d_agent_counters(const struct hp3d_agent *a)
{
	return &a->c;
}

const struct hp3_probe_stats *hp3d_agent_stats(const struct hp3d_agent *a)
{
	return &a->stats;
}
