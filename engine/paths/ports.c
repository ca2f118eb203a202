/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports on different paths, for applications that choose ports themselves. */
#include <errno.h>
#include "engine/info.h"
#include "engine/paths/paths.h"

#define DRAWS 512u /* random ports tried, besides the stored ones */

struct pool {
	const struct hp3_engine *e;
	uint32_t at; /* the pair */
	uint64_t now;
	struct hp3_port_info *port;
	uint32_t n, max;
	uint16_t most; /* most ports on one path so far */
	uint16_t on[HP3_PORTS_PATHS]; /* ports chosen of each path */
};

static int refusal_of_pair(const struct hp3_engine *e, uint32_t pair)
{
	if (pair >= e->cfg.max_pairs || e->pairs.pairs[pair].nflows == 0)
		return -ENOENT;
	if (e->paths == NULL || !e->pairs.pairs[pair].paths_ready)
		return -ENODATA;
	if (e->tracing != NULL && e->tracing->pair[pair].state == HP3_TRACE_BY_OPCODE)
		return -EPROTO;
	if (e->paths[pair].by_qpn)
		return -EXDEV;
	return e->paths[pair].identity == HP3_IDENTITY_NONE ? -ENODATA : 0;
}

/* Age of the evidence that this port takes its path (ns). */
static uint64_t age_of(const struct pool *p, uint16_t port)
{
	const struct hp3_paths *t = &p->e->paths[p->at];

	for (uint32_t i = 0; t->traces != NULL && i < HP3_TRACES; i++)
		if (t->traces->trace[i].checked != 0 && t->traces->trace[i].port == port)
			return p->now - t->traces->trace[i].checked;
	return p->e->tracing != NULL && t->linear != NULL
		       ? p->now - p->e->tracing->pair[p->at].checked
		       : 0;
}

static uint8_t evidence_of(const struct hp3_paths *t)
{
	if (t->linear != NULL)
		return HP3_EVIDENCE_LINEAR;
	return t->model != NULL ? HP3_EVIDENCE_MODEL : HP3_EVIDENCE_TRACE;
}

static enum hp3_quality quality_of(const struct pool *p, uint32_t id)
{
	const struct hp3_paths *t = &p->e->paths[p->at];

	for (uint32_t i = 0; i < HP3_PATHS; i++)
		if (t->path[i].id == id)
			return hp3_paths_quality(t, (int)i, p->now);
	return HP3_QUALITY_UNKNOWN;
}

static bool is_chosen(const struct pool *p, uint16_t port)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->port[i].port == port)
			return true;
	return false;
}

static void offer_port(struct pool *p, uint16_t port)
{
	const struct hp3_paths *t = &p->e->paths[p->at];
	uint32_t id = hp3_paths_id(t, port, 0);
	enum hp3_quality q;
	struct hp3_port_info *i;

	if (p->n == p->max || id >= HP3_PORTS_PATHS || p->on[id] >= p->most || is_chosen(p, port))
		return;
	q = quality_of(p, id);
	if (q == HP3_QUALITY_FAILED || q == HP3_QUALITY_LOSSY)
		return;
	i = &p->port[p->n++];
	*i = (struct hp3_port_info){.port = port,
		.path = id,
		.evidence = evidence_of(t),
		.quality = (uint8_t)q,
		.age_ns = age_of(p, port)};
	i->named = hp3_hop_of(p->e, id, &i->hop);
	p->on[id]++;
}

/* Traced ports first: their evidence is best. */
static void offer_all(struct pool *p)
{
	const struct hp3_paths *t = &p->e->paths[p->at];
	uint64_t rng = p->at;

	for (uint32_t i = 0; t->traces != NULL && i < HP3_TRACES; i++)
		if (t->traces->trace[i].checked != 0)
			offer_port(p, t->traces->trace[i].port);
	for (uint32_t i = 0; t->linear != NULL && i < t->linear->traces; i++)
		offer_port(p, (uint16_t)(HP3_PORT_FIRST | (t->linear->port[i] ^ t->shift)));
	for (uint32_t i = 0; t->identity == HP3_IDENTITY_MODEL && i < DRAWS && p->n < p->max; i++)
		offer_port(p, hp3_random_port(&rng));
}

int hp3_ports_apart(const struct hp3_engine *e, uint32_t pair, uint32_t want, bool distinct,
	uint64_t now, struct hp3_port_info *port, uint32_t *paths)
{
	struct pool p = {.e = e, .at = pair, .now = now, .port = port, .most = 1};
	int ret = refusal_of_pair(e, pair);
	uint32_t before;

	if (ret < 0)
		return ret;
	p.max = hp3_min_u32(want, HP3_PORTS_MAX);
	offer_all(&p);
	*paths = p.n;
	do { /* one more on each path */
		before = p.n;
		p.most++;
		if (!distinct)
			offer_all(&p);
	} while (p.n > before && p.n < p.max);
	return (int)p.n;
}

const char *hp3_evidence_name(enum hp3_evidence e)
{
	static const char *const names[] = {[HP3_EVIDENCE_TRACE] = "trace",
		[HP3_EVIDENCE_LINEAR] = "linear",
		[HP3_EVIDENCE_MODEL] = "model",
		[HP3_EVIDENCE_COMPARED] = "compared"};

	return names[e];
}
