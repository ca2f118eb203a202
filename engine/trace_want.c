/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the next trace of an address pair is for, by its state: search, map, check, a port that came
 * into use, another QPN; and which of the pair's flows it bears the QPN of.
 */
#include "engine/trace_pair.h"

#define SPEAKERS  32u /* flows of a pair looked at for one that may be traced with */
#define QPN_PORTS 8u /* ports held against another QPN: of two paths all agree with 2^-8 */
#define POLLS     16u /* per recheck_ns: are ports in use that were never traced? */

static bool may_trace(const struct hp3_engine *e, const struct hp3_pair *p)
{
	return (e->cfg.moves_allowed || e->cfg.observe) && !p->pinned && !p->peer_plain &&
	       (p->peer_seen != 0 || e->cfg.probes == HP3_PROBES_PEER);
}

/* Its PSN before una is known to be a duplicate, and an answer of an RNIC would do no harm. */
static bool may_speak(const struct hp3_flow *f, const struct hp3_pair *p)
{
	const uint16_t want = HP3_FF_USED | HP3_FF_PAIRED | HP3_FF_STARTED;

	return (f->flags & want) == want && (f->watch & HP3_FW_HEARD) &&
	       !(p->peer_seen == 0 && (f->flags & HP3_FF_READS));
}

/* First flow with this QPN (`with`), or without it; else HP3_NO_FLOW. */
static uint32_t find_speaker(const struct hp3_engine *e, uint32_t pair, uint32_t qpn, bool with)
{
	const struct hp3_pair *p = &e->pairs.pairs[pair];
	uint32_t flow = p->flows;

	for (uint32_t n = 0; n < SPEAKERS && flow != HP3_NO_FLOW; n++) {
		const struct hp3_flow *f = &e->flows[flow];

		if ((f->rqpn == qpn) == with && may_speak(f, p))
			return flow;
		flow = f->next;
	}
	return HP3_NO_FLOW;
}

uint32_t hp3_trace_speaker(const struct hp3_engine *e, uint32_t pair, uint32_t qpn)
{
	uint32_t flow = HP3_NO_FLOW;

	if (!may_trace(e, &e->pairs.pairs[pair]))
		return flow;
	flow = find_speaker(e, pair, qpn, true);
	return flow != HP3_NO_FLOW ? flow : find_speaker(e, pair, qpn, false);
}

/* --- what to trace --- */

static bool want_qpn(const struct hp3_engine *e, uint32_t pair, struct hp3_trace_want *w)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	while (t->qpn_at < QPN_PORTS && t->depth.label[t->qpn_at] == HP3_LABEL_NONE)
		t->qpn_at++;
	if (t->state < HP3_TRACE_MAP || t->qpn_at >= QPN_PORTS)
		return false;
	w->flow = find_speaker(e, pair, t->qpn, t->qpn_differs);
	w->port = t->depth.port[t->qpn_at];
	w->ttl = t->ttl;
	if (w->flow == HP3_NO_FLOW && t->qpn_differs) /* it has gone: begin anew with another */
		t->qpn_differs = false;
	return w->flow != HP3_NO_FLOW;
}

/* TRACES: the next port of the path table whose path is not known. */
static bool want_unknown(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	const struct hp3_paths *paths = hp3_paths_of(e, pair);

	while (t->entry < HP3_PATHS) {
		const struct hp3_path *p = &paths->path[t->entry++];

		if (p->id == (HP3_PATH_BY_PORT | p->port)) {
			t->port = p->port;
			return true;
		}
	}
	t->entry = 0;
	t->due = now + e->cfg.paths.recheck_ns / POLLS;
	return false;
}

/* The port in hand, with t->ttl; or that of the search. */
static bool want_port(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	if (t->again)
		return true;
	switch ((enum hp3_trace_state)t->state) {
	case HP3_TRACE_MAP:
		t->port = hp3_linear_next(&e->tracing->map[t->map].l);
		return true;
	case HP3_TRACE_LINEAR:
		if (t->checks == 0) {
			t->checks = HP3_TRACE_CHECKS;
			t->silent = 0;
		}
		t->port = hp3_random_port(&e->rng);
		return true;
	case HP3_TRACE_TRACES:
		return want_unknown(e, pair, now);
	default:
		return false;
	}
}

bool hp3_trace_next(struct hp3_engine *e, uint32_t pair, uint64_t now, struct hp3_trace_want *w)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	if (t->in_air || t->state == HP3_TRACE_BY_QPN)
		return false;
	w->flow = hp3_trace_speaker(e, pair, t->qpn);
	if (w->flow == HP3_NO_FLOW)
		return false;
	t->qpn_asked = want_qpn(e, pair, w);
	if (t->qpn_asked)
		return t->in_air = true;
	if (now < t->due)
		return false;
	w->flow = hp3_trace_speaker(e, pair, t->qpn);
	if (t->state == HP3_TRACE_REST)
		hp3_trace_seek(e, pair, e->tracing->hint);
	else if (t->state == HP3_TRACE_TRACES && now >= t->anew)
		hp3_trace_seek(e, pair, t->ttl);
	if (t->state == HP3_TRACE_SEEK) {
		w->port = hp3_depth_next(&t->depth, &w->ttl);
	} else {
		if (!want_port(e, pair, now))
			return false;
		w->port = t->port;
		w->ttl = t->ttl;
	}
	return t->in_air = true;
}
