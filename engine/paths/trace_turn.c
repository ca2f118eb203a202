/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the next trace of an address pair by its state (TTL, map, check, a new port, another QPN
 * or opcode), and evaluates its result. A port without an answer is traced again. A verified map is
 * discarded only if the same port contradicts it twice, because a single answer may be forged.
 */
#include "engine/paths/trace_state.h"
#include "roce/opcode.h"

#define QPN_PORTS     8u /* ports compared with another QPN: with two paths, all agree with 2^-8 */
#define OPCODE_TRACES 8u /* with another opcode */
#define POLLS         16u /* per recheck_ns: checks for ports that were never traced */

/* --- what to trace --- */

static bool want_qpn(const struct hp3_engine *e, uint32_t pair, struct hp3_trace_want *w)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	while (t->qpn_at < QPN_PORTS && t->depth.label[t->qpn_at] == HP3_LABEL_NONE)
		t->qpn_at++;
	if (t->state < HP3_TRACE_MAP || t->qpn_at >= QPN_PORTS)
		return false;
	w->flow = hp3_trace_find_flow(e, pair, t->qpn, t->differs);
	t->other_at = t->qpn_at;
	w->port = t->depth.port[t->qpn_at];
	w->ttl = t->ttl;
	if (w->flow == HP3_NO_FLOW && t->differs) /* the flow is gone: begin anew with another */
		t->differs = false;
	return w->flow != HP3_NO_FLOW;
}

/*
 * Opcodes of unreliable connections, like that of probes (rule 1). Each differs from it in one bit
 * of its own, so one of them shows a linear hash over opcodes.
 */
static const uint8_t opcodes[] = {
	HP3_OP_UC_WRITE_ONLY_IMM, HP3_OP_UC_WRITE_LAST, HP3_OP_UC_SEND_LAST, HP3_OP_UC_WRITE_FIRST};

static bool want_opcode(const struct hp3_engine *e, uint32_t pair, struct hp3_trace_want *w)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	uint32_t at = t->op_at % HP3_DEPTH_PORTS;

	if (t->state < HP3_TRACE_MAP || t->op_at >= OPCODE_TRACES)
		return false;
	w->flow = hp3_trace_find_flow(e, pair, t->qpn, true);
	for (uint32_t i = 0; i < HP3_DEPTH_PORTS && t->depth.label[at] == HP3_LABEL_NONE; i++)
		at = (at + 1) % HP3_DEPTH_PORTS;
	t->other_at = (uint8_t)at;
	w->port = t->depth.port[at];
	w->ttl = t->ttl;
	w->opcode = t->differs ? 0 : opcodes[t->op_at % sizeof(opcodes)];
	return w->flow != HP3_NO_FLOW;
}

/* Compares sample ports with another QPN or opcode, which switches should not hash. */
static uint8_t want_other(const struct hp3_engine *e, uint32_t pair, struct hp3_trace_want *w)
{
	const struct hp3_trace_pair *t = &e->tracing->pair[pair];

	if ((!t->differs || t->asked == HP3_TRACE_OTHER_QPN) && want_qpn(e, pair, w))
		return HP3_TRACE_OTHER_QPN;
	return want_opcode(e, pair, w) ? HP3_TRACE_OTHER_OPCODE : HP3_TRACE_SAME;
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

/* The current port, with t->ttl; in FIND_TTL, the next one of the sample. */
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

	if (t->in_air || t->state >= HP3_TRACE_BY_QPN)
		return false;
	w->opcode = 0;
	w->flow = hp3_trace_flow(e, pair, t->qpn, now);
	if (w->flow == HP3_NO_FLOW)
		return false;
	t->asked = want_other(e, pair, w);
	if (t->asked != HP3_TRACE_SAME)
		return t->in_air = true;
	if (now < t->due)
		return false;
	w->flow = hp3_trace_flow(e, pair, t->qpn, now);
	if (t->state == HP3_TRACE_REST)
		hp3_trace_find_ttl(e, pair, e->tracing->hint, now);
	else if (t->state == HP3_TRACE_TRACES && now >= t->anew)
		hp3_trace_find_ttl(e, pair, t->ttl, now);
	if (t->state == HP3_TRACE_FIND_TTL) {
		w->port = hp3_depth_next(&t->depth, &w->ttl);
	} else {
		if (!want_port(e, pair, now))
			return false;
		w->port = t->port;
		w->ttl = t->ttl;
	}
	return t->in_air = true;
}

/* --- results --- */

static void is_hashed(struct hp3_engine *e, uint32_t pair)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	hp3_trace_leave_map(e, t);
	hp3_trace_clear_paths(e, pair, true);
	if (t->asked == HP3_TRACE_OTHER_QPN) {
		hp3_paths_by_qpn(hp3_paths_of(e, pair));
		t->state = HP3_TRACE_BY_QPN;
		e->stats.trace_by_qpn++;
	} else {
		t->state = HP3_TRACE_BY_OPCODE;
		e->stats.trace_by_opcode++;
	}
}

/* Another path: repeats the trace without the difference, because routes may have changed. */
static void result_other(struct hp3_engine *e, uint32_t pair, uint32_t label, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	uint8_t *at = t->asked == HP3_TRACE_OTHER_QPN ? &t->qpn_at : &t->op_at;
	bool same = label == t->depth.label[t->other_at];

	if (label == HP3_LABEL_NONE) {
		if (++t->tries < HP3_DEPTH_TRIES)
			return;
		(*at)++;
		t->differs = false;
	} else if (!t->differs) {
		*at = (uint8_t)(*at + same);
		t->differs = !same;
	} else if (!same) {
		hp3_trace_wrong(e, pair, now);
		return;
	} else {
		is_hashed(e, pair);
	}
	t->tries = 0;
}

/* No answer, or none that counts. True: gives the port up; false: traces it again. */
static bool give_up_port(struct hp3_trace_pair *t)
{
	t->again = ++t->tries < HP3_DEPTH_TRIES;
	if (!t->again)
		t->tries = 0;
	return !t->again;
}

static void result_find_ttl(
	struct hp3_engine *e, uint32_t pair, uint32_t label, bool reached, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	enum hp3_depth_state s =
		reached ? hp3_depth_reached(&t->depth) : hp3_depth_reported(&t->depth, label);

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
		if (give_up_port(t))
			hp3_trace_use_traces(e, t, now);
		return;
	}
	t->again = false;
	t->tries = 0;
	hp3_trace_set_port(e, pair, t->port, label, now);
	hp3_linear_add(&e->tracing->map[t->map].l, t->port, label);
	hp3_trace_map_verdict(e, pair, now);
}

static void result_linear(struct hp3_engine *e, uint32_t pair, uint32_t label, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	bool as_advertised = label == hp3_paths_id(hp3_paths_of(e, pair), t->port, t->qpn);

	if (label == HP3_LABEL_NONE) {
		if (!give_up_port(t))
			return;
		t->silent++;
	} else if (!as_advertised && t->doubt) {
		hp3_trace_wrong(e, pair, now);
		return;
	} else if (!as_advertised) {
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
	t->checked = now;
	t->due = now + e->cfg.paths.recheck_ns;
}

static void result_traces(struct hp3_engine *e, uint32_t pair, uint32_t label, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	if (label == HP3_LABEL_NONE) {
		give_up_port(t);
		return;
	}
	t->again = false;
	t->tries = 0;
	if (hp3_trace_set_port(e, pair, t->port, label, now))
		hp3_trace_wrong(e, pair, now);
}

void hp3_trace_result(
	struct hp3_engine *e, uint32_t pair, uint32_t label, bool reached, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	t->in_air = false;
	if (t->asked != HP3_TRACE_SAME)
		result_other(e, pair, label, now);
	else if (t->state == HP3_TRACE_FIND_TTL)
		result_find_ttl(e, pair, label, reached, now);
	else if (t->state == HP3_TRACE_MAP)
		result_map(e, pair, label, now);
	else if (t->state == HP3_TRACE_LINEAR)
		result_linear(e, pair, label, now);
	else if (t->state == HP3_TRACE_TRACES)
		result_traces(e, pair, label, now);
}
