/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random choices among paths, weighted so that the flows of one host spread. Among equally good
 * paths, one with n more of this host's flows than the emptiest has weight 1 / (1 + n). The choice
 * is not always the emptiest path, because other hosts choose by the same rule.
 */
#include <errno.h>
#include <string.h>
#include "base/minmax.h"
#include "ppp/paths_internal.h"

#define WEIGHT_ONE   65536u
#define DRAWS_BASE   32u /* draws of unexplored ports in one round: */
#define DRAWS_EACH   16u /* ... this many more for each candidate wanted */
#define DRAWS_SEARCH 512u /* draws for one path of at most 64: 3 in 10,000 find none */
#define ROUND_MAX    32u

#define INELIGIBLE UINT32_MAX

/* In: this host's flows on each path, or INELIGIBLE. Out: weights, 0 for INELIGIBLE. */
static void weigh_paths(uint32_t *w, unsigned n)
{
	uint32_t least = INELIGIBLE;

	for (unsigned i = 0; i < n; i++)
		least = hp3_min_u32(least, w[i]);
	for (unsigned i = 0; i < n; i++) {
		uint32_t excess = w[i] - least;

		if (w[i] == INELIGIBLE)
			w[i] = 0;
		else
			w[i] = excess < WEIGHT_ONE ? WEIGHT_ONE / (1 + excess) : 1;
	}
}

/* Draws an index by weight; -ENOENT: all weights are 0. */
static int draw_path(struct hp3_paths *t, const uint32_t *weights, unsigned n)
{
	uint32_t sum = 0, at;

	for (unsigned i = 0; i < n; i++)
		sum += weights[i];
	if (sum == 0)
		return -ENOENT;
	at = hp3_random_below(&t->rng, sum);
	for (unsigned i = 0;; i++) {
		if (at < weights[i])
			return (int)i;
		at -= weights[i];
	}
}

static bool is_barred_quality(enum hp3_quality q)
{
	return q == HP3_QUALITY_FAILED || q == HP3_QUALITY_CONGESTED || q == HP3_QUALITY_LOSSY;
}

/* The candidates of a round, while they are chosen. */
struct round {
	struct hp3_paths *t;
	uint64_t now;
	uint32_t qpn, least;
	uint16_t *ports;
	unsigned n;
	bool lossy; /* choose lossy paths, too, because there are no others */
	uint32_t slow; /* ns: choose unmarked slow paths with an RTT below this, too; 0: none */
	uint32_t taken[ROUND_MAX + 1]; /* path ids; the first is the one in use */
};

static bool is_path_taken(const struct round *r, uint32_t id)
{
	for (unsigned i = 0; i <= r->n; i++) {
		if (r->taken[i] == id)
			return true;
	}
	return false;
}

static void take_candidate(struct round *r, uint16_t port, uint32_t id)
{
	r->ports[r->n] = port;
	r->taken[++r->n] = id;
}

/* Does entry i have the results of its path, and does its port select the path with this QPN? */
static bool own_port(const struct hp3_paths *t, unsigned i, uint32_t qpn)
{
	const struct hp3_path *p = &t->path[i];

	return p->id != HP3_PATH_NONE && (!t->by_qpn || p->qpn == qpn) &&
	       hp3_paths_find(t, p->id, p->qpn) == (int)i;
}

/* Is a path with known quality a candidate? */
static bool is_worth_asking(const struct round *r, const struct hp3_path *p)
{
	enum hp3_quality q = hp3_path_quality(r->t, p, r->least, r->now);

	if (q == HP3_QUALITY_CONGESTED)
		return p->rtt < r->slow && !hp3_path_is_marked(r->t, p);
	return !is_barred_quality(q) && q != HP3_QUALITY_UNKNOWN;
}

static void take_remembered(struct round *r, unsigned until)
{
	struct hp3_paths *t = r->t;
	uint32_t weights[HP3_PATHS];
	uint16_t port[HP3_PATHS];
	int i;

	for (unsigned e = 0; e < HP3_PATHS; e++) {
		const struct hp3_path *p = &t->path[e];

		weights[e] = INELIGIBLE;
		if (p->id == HP3_PATH_NONE || hp3_paths_find(t, p->id, p->qpn) != (int)e)
			continue;
		if (!is_worth_asking(r, p) || is_path_taken(r, p->id))
			continue;
		port[e] = p->port;
		if (!own_port(t, e, r->qpn) && hp3_paths_port(t, p->id, r->qpn, &port[e]))
			continue;
		weights[e] = hp3_paths_flows_on(t, p->id, r->qpn);
	}
	weigh_paths(weights, HP3_PATHS);
	while (r->n < until && (i = draw_path(t, weights, HP3_PATHS)) >= 0) {
		take_candidate(r, port[i], t->path[i].id);
		weights[i] = 0;
	}
}

uint16_t hp3_paths_draw(struct hp3_paths *t)
{
	if (t->ports != NULL)
		return t->ports[hp3_random_below(&t->rng, t->n_ports)];
	if (t->block != 0)
		return (uint16_t)(t->block | hp3_random_below(&t->rng, HP3_PATHS_BLOCK));
	return hp3_random_port(&t->rng);
}

static void take_unexplored(struct round *r, unsigned until)
{
	struct hp3_paths *t = r->t;
	unsigned draws = DRAWS_BASE + DRAWS_EACH * until;

	while (r->n < until && draws--) {
		uint16_t port = hp3_paths_draw(t);
		uint32_t id = hp3_paths_id(t, port, r->qpn);
		int e = hp3_paths_find(t, id, r->qpn);
		enum hp3_quality q = HP3_QUALITY_UNKNOWN;

		if (e >= 0)
			q = hp3_path_quality(t, &t->path[e], r->least, r->now);
		if (((!is_barred_quality(q) && q != HP3_QUALITY_GOOD) ||
			    (r->lossy && q == HP3_QUALITY_LOSSY)) &&
			!is_path_taken(r, id))
			take_candidate(r, port, id);
	}
}

/* RTT of the path in ns; 0: not known. */
static uint32_t rtt_of_path(const struct hp3_paths *t, uint32_t id, uint32_t qpn)
{
	int i = id == HP3_PATH_NONE ? -1 : hp3_paths_find(t, id, qpn);

	return i < 0 ? 0 : t->path[i].rtt;
}

unsigned hp3_paths_candidates(struct hp3_paths *t, uint32_t qpn, uint16_t in_use, uint16_t *ports,
	unsigned k, uint64_t now)
{
	struct round r = {
		.t = t, .now = now, .qpn = qpn, .least = hp3_paths_least_rtt(t), .ports = ports};

	k = hp3_min_u32(k, ROUND_MAX);
	r.taken[0] = in_use != 0 ? hp3_paths_id(t, in_use, qpn) : HP3_PATH_NONE;
	take_remembered(&r, (k + 1) / 2);
	take_unexplored(&r, k);
	take_remembered(&r, k);
	/* all paths are slow, and the path in use is the slowest: another one may be better */
	if (r.n < k) {
		r.slow = rtt_of_path(t, r.taken[0], qpn);
		take_remembered(&r, k);
	}
	r.lossy = r.n == 0;
	if (r.lossy)
		take_unexplored(&r, k);
	return r.n;
}

int hp3_paths_pick(struct hp3_paths *t, uint32_t qpn, bool unspoilt, uint16_t *port, uint64_t now)
{
	uint32_t weights[HP3_PATHS], least = hp3_paths_least_rtt(t), best = UINT32_MAX;
	int i;

	for (unsigned e = 0; e < HP3_PATHS; e++) {
		const struct hp3_path *p = &t->path[e];
		enum hp3_quality q = hp3_path_quality(t, p, least, now);

		weights[e] = INELIGIBLE;
		if (!own_port(t, e, qpn) || !p->rtt || (unspoilt && p->spoilt) ||
			is_barred_quality(q) || q == HP3_QUALITY_UNKNOWN)
			continue;
		weights[e] = hp3_paths_flows_on(t, p->id, qpn);
		best = hp3_min_u32(best, p->rtt);
	}
	for (unsigned e = 0; e < HP3_PATHS; e++) {
		if ((uint64_t)t->path[e].rtt * 100 > (uint64_t)best * (100 + t->params->equal))
			weights[e] = INELIGIBLE;
	}
	weigh_paths(weights, HP3_PATHS);
	i = draw_path(t, weights, HP3_PATHS);
	if (i < 0)
		return i;
	*port = t->path[i].port;
	return 0;
}

uint32_t hp3_paths_used(const struct hp3_paths *t, uint16_t port, uint32_t qpn)
{
	return hp3_paths_flows_on(t, hp3_paths_id(t, port, qpn), qpn);
}

int hp3_paths_port(struct hp3_paths *t, uint32_t id, uint32_t qpn, uint16_t *port)
{
	if (id >= HP3_PATH_BY_PORT) {
		*port = (uint16_t)id;
		return id >> 16 == HP3_PATH_BY_PORT >> 16 ? 0 : -ENOENT;
	}
	for (unsigned e = 0; e < HP3_PATHS; e++) {
		if (t->path[e].id == id && own_port(t, e, qpn)) {
			*port = t->path[e].port;
			return 0;
		}
	}
	for (unsigned i = 0; t->traces && i < HP3_TRACES; i++) {
		const struct hp3_trace *r = &t->traces->trace[i];

		if (r->checked && r->id == id && (!t->by_qpn || r->qpn == qpn)) {
			*port = r->port;
			return 0;
		}
	}
	for (unsigned i = 0; t->identity == HP3_IDENTITY_MODEL && i < DRAWS_SEARCH; i++) {
		*port = hp3_random_port(&t->rng);
		if (hp3_paths_id(t, *port, qpn) == id)
			return 0;
	}
	return -ENOENT;
}
