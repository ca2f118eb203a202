/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the path table of an address pair is told of its paths, and where belief begins and ends:
 * the search, the rest that follows a vain one, what turned out wrong, what is to be looked at
 * anew.
 */
#include "engine/trace_pair.h"

/* --- what is told --- */

/* Paths get other numbers: what is counted for placement follows. The entries keep their flows. */
static void count(struct hp3_engine *e, uint32_t pair, int sign)
{
	const struct hp3_paths *paths = hp3_paths_of(e, pair);

	for (uint32_t i = 0; e->cfg.load_paths != 0 && i < HP3_PATHS; i++) {
		const struct hp3_path *p = &paths->path[i];

		if (p->id < e->cfg.load_paths)
			e->out.count[p->id] = (uint16_t)(e->out.count[p->id] + sign * p->flows);
	}
	hp3_tell_changed(e, pair);
}

void hp3_trace_tell_nothing(struct hp3_engine *e, uint32_t pair, bool void_all)
{
	struct hp3_paths *paths = hp3_paths_of(e, pair);

	count(e, pair, -1);
	hp3_paths_identity_none(paths);
	if (void_all)
		hp3_paths_reset(paths);
	count(e, pair, 1);
}

bool hp3_trace_tell_port(
	struct hp3_engine *e, uint32_t pair, uint16_t port, uint32_t label, uint64_t now)
{
	bool changed;

	count(e, pair, -1);
	changed = hp3_paths_traced(
		hp3_paths_of(e, pair), port, e->tracing->pair[pair].qpn, label, now);
	count(e, pair, 1);
	return changed;
}

void hp3_trace_tell_map(struct hp3_engine *e, uint32_t pair, uint16_t shift)
{
	const struct hp3_trace_pair *t = &e->tracing->pair[pair];

	count(e, pair, -1);
	hp3_paths_identity_linear(hp3_paths_of(e, pair), &e->tracing->map[t->map].l, shift);
	count(e, pair, 1);
}

/* --- states --- */

void hp3_trace_seek(struct hp3_engine *e, uint32_t pair, uint8_t hint)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	uint32_t flow = hp3_trace_speaker(e, pair, t->qpn);

	hp3_trace_leave_map(e, t);
	hp3_depth_init(&t->depth, hint, &e->rng);
	t->state = HP3_TRACE_SEEK;
	t->due = 0;
	t->qpn_at = t->tries = 0;
	t->again = t->doubt = t->qpn_differs = false;
	if (flow != HP3_NO_FLOW)
		t->qpn = e->flows[flow].rqpn;
}

void hp3_trace_rest(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	hp3_trace_leave_map(e, t);
	hp3_trace_tell_nothing(e, pair, false);
	t->state = HP3_TRACE_REST;
	t->due = now + e->cfg.paths.recheck_ns;
	t->ttl = 0;
	t->restarts = 0;
	e->stats.trace_nothing++;
}

void hp3_trace_wrong(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	e->stats.trace_wrong++;
	hp3_trace_tell_nothing(e, pair, true);
	if (++t->restarts > HP3_TRACE_RESTARTS)
		hp3_trace_rest(e, pair, now);
	else
		hp3_trace_seek(e, pair, 0);
}

void hp3_trace_anew(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	uint64_t at = now + e->cfg.paths.retry_ns; /* when routes have settled */

	if (t->state == HP3_TRACE_LINEAR && at < t->due)
		t->due = at;
	else if (t->state == HP3_TRACE_TRACES && at < t->anew)
		t->anew = at;
}
