/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trace of an address pair showed, by what it was for. Where nobody answered, the port is
 * asked again; a believed map is given up only if the same port contradicts it twice, since single
 * answers may be forged.
 */
#include "engine/trace_pair.h"

static void result_qpn(struct hp3_engine *e, uint32_t pair, uint32_t label, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	bool same = label == t->depth.label[t->qpn_at];

	if (label == HP3_LABEL_NONE) {
		if (++t->tries < HP3_DEPTH_TRIES)
			return;
		t->qpn_at++;
		t->qpn_differs = false;
	} else if (!t->qpn_differs) {
		t->qpn_at += same;
		t->qpn_differs = !same;
	} else if (!same) {
		hp3_trace_wrong(e, pair, now);
		return;
	} else {
		hp3_trace_leave_map(e, t);
		hp3_trace_tell_nothing(e, pair, true);
		hp3_paths_by_qpn(hp3_paths_of(e, pair));
		t->state = HP3_TRACE_BY_QPN;
		e->stats.trace_by_qpn++;
	}
	t->tries = 0;
}

/* Nobody answered, or nobody who counts: once more, or leave it. True: leave it. */
static bool give_up(struct hp3_trace_pair *t)
{
	t->again = ++t->tries < HP3_DEPTH_TRIES;
	if (!t->again)
		t->tries = 0;
	return !t->again;
}

static void result_seek(
	struct hp3_engine *e, uint32_t pair, uint32_t label, bool reached, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	enum hp3_depth_state s =
		reached ? hp3_depth_reached(&t->depth) : hp3_depth_told(&t->depth, label);

	if (s == HP3_DEPTH_FOUND)
		hp3_trace_found(e, pair, now);
	else if (s == HP3_DEPTH_NOTHING)
		hp3_trace_rest(e, pair, now);
}

static void result_map(struct hp3_engine *e, uint32_t pair, uint32_t label, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	if (label == HP3_LABEL_NONE) {
		t->reason = HP3_LINEAR_WHY_UNCONFIRMED;
		if (give_up(t))
			hp3_trace_use_traces(e, t, now);
		return;
	}
	t->again = false;
	t->tries = 0;
	hp3_trace_tell_port(e, pair, t->port, label, now);
	hp3_linear_add(&e->tracing->map[t->map].l, t->port, label);
	hp3_trace_map_says(e, pair, now);
}

static void result_linear(struct hp3_engine *e, uint32_t pair, uint32_t label, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	bool as_told = label == hp3_paths_id(hp3_paths_of(e, pair), t->port, t->qpn);

	if (label == HP3_LABEL_NONE) {
		if (!give_up(t))
			return;
		t->silent++;
	} else if (!as_told && t->doubt) {
		hp3_trace_wrong(e, pair, now);
		return;
	} else if (!as_told) {
		t->doubt = t->again = true;
		t->tries = 0;
		return;
	}
	t->again = t->doubt = false;
	t->tries = 0;
	if (--t->checks != 0)
		return;
	if (t->silent == HP3_TRACE_CHECKS) {
		hp3_trace_wrong(e, pair, now);
		return;
	}
	t->restarts = 0;
	t->due = now + e->cfg.paths.recheck_ns;
}

static void result_traces(struct hp3_engine *e, uint32_t pair, uint32_t label, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	if (label == HP3_LABEL_NONE) {
		give_up(t);
		return;
	}
	t->again = false;
	t->tries = 0;
	if (hp3_trace_tell_port(e, pair, t->port, label, now))
		hp3_trace_wrong(e, pair, now);
}

void hp3_trace_result(
	struct hp3_engine *e, uint32_t pair, uint32_t label, bool reached, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	t->in_air = false;
	if (t->qpn_asked)
		result_qpn(e, pair, label, now);
	else if (t->state == HP3_TRACE_SEEK)
		result_seek(e, pair, label, reached, now);
	else if (t->state == HP3_TRACE_MAP)
		result_map(e, pair, label, now);
	else if (t->state == HP3_TRACE_LINEAR)
		result_linear(e, pair, label, now);
	else if (t->state == HP3_TRACE_TRACES)
		result_traces(e, pair, label, now);
}
