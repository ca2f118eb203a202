/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of an address pair: the states of trace.h. */
#include "engine/internal.h"

#define SPEAKERS    32u /* flows of a pair looked at for one that may be traced with */
#define QPN_PORTS   8u /* ports held against another QPN: of two paths all agree with 2^-8 */
#define POLLS       16u /* per recheck_ns: are ports in use that were never traced? */
#define LABELS_MOST 64u

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

/* --- the provider --- */

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

static void tell_nothing(struct hp3_engine *e, uint32_t pair, bool void_all)
{
	struct hp3_paths *paths = hp3_paths_of(e, pair);

	count(e, pair, -1);
	hp3_paths_identity_none(paths);
	if (void_all)
		hp3_paths_reset(paths);
	count(e, pair, 1);
}

/* True if the port drew another path before: routes have changed. */
static bool tell_port(
	struct hp3_engine *e, uint32_t pair, uint16_t port, uint32_t label, uint64_t now)
{
	bool changed;

	count(e, pair, -1);
	changed = hp3_paths_traced(
		hp3_paths_of(e, pair), port, e->tracing->pair[pair].qpn, label, now);
	count(e, pair, 1);
	return changed;
}

static void tell_map(struct hp3_engine *e, uint32_t pair, uint16_t shift)
{
	const struct hp3_trace_pair *t = &e->tracing->pair[pair];

	count(e, pair, -1);
	hp3_paths_identity_linear(hp3_paths_of(e, pair), &e->tracing->map[t->map].l, shift);
	count(e, pair, 1);
}

/* --- states --- */

void hp3_trace_leave_map(struct hp3_engine *e, struct hp3_trace_pair *t)
{
	if (t->map != HP3_NO_MAP)
		e->tracing->map[t->map].users--;
	t->map = HP3_NO_MAP;
}

static void seek(struct hp3_engine *e, uint32_t pair, uint8_t hint)
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

static void rest(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	hp3_trace_leave_map(e, t);
	tell_nothing(e, pair, false);
	t->state = HP3_TRACE_REST;
	t->due = now + e->cfg.paths.recheck_ns;
	t->ttl = 0;
	t->restarts = 0;
	e->stats.trace_nothing++;
}

/* What is believed is wrong: all of it is void. */
static void wrong(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	e->stats.trace_wrong++;
	tell_nothing(e, pair, true);
	if (++t->restarts > HP3_TRACE_RESTARTS)
		rest(e, pair, now);
	else
		seek(e, pair, 0);
}

static void use_map(struct hp3_engine *e, uint32_t pair, uint16_t shift, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	tell_map(e, pair, shift);
	t->state = HP3_TRACE_LINEAR;
	t->reason = HP3_LINEAR_WHY_NONE;
	t->due = now + e->cfg.paths.recheck_ns;
	t->checks = t->tries = 0;
	t->again = false;
	e->stats.trace_linear++;
}

static void use_traces(struct hp3_engine *e, struct hp3_trace_pair *t, uint64_t now)
{
	hp3_trace_leave_map(e, t);
	t->state = HP3_TRACE_TRACES;
	t->due = now;
	t->anew = now + e->cfg.paths.recheck_ns;
	t->entry = t->tries = 0;
	t->again = false;
}

static bool knows(const struct hp3_linear *l, uint32_t label)
{
	for (uint32_t i = 0; i < l->traces; i++) {
		if (l->label[i] == label)
			return true;
	}
	return false;
}

/* Does this map tell the whole sample, shifted by what its first port says? */
static bool fits(const struct hp3_trace_map *m, const struct hp3_trace_pair *t, uint16_t *shift)
{
	const struct hp3_depth *d = &t->depth;
	uint32_t first = 0, label;

	if (m->ttl != t->ttl || m->l.state != HP3_LINEAR_BELIEVED)
		return false;
	while (d->label[first] == HP3_LABEL_NONE)
		first++;
	if (!knows(&m->l, d->label[first]) ||
		!hp3_linear_shift(&m->l, d->port[first], d->label[first], shift))
		return false;
	for (uint32_t i = 0; i < HP3_DEPTH_PORTS; i++) {
		if (d->label[i] != HP3_LABEL_NONE &&
			(!hp3_linear_path(&m->l, d->port[i] ^ *shift, &label) ||
				label != d->label[i]))
			return false;
	}
	return true;
}

static bool share_map(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	uint16_t shift;

	for (uint8_t i = 0; i < HP3_TRACE_MAPS; i++) {
		struct hp3_trace_map *m = &e->tracing->map[i];

		if (!fits(m, t, &shift))
			continue;
		m->users++;
		t->map = i;
		use_map(e, pair, shift, now);
		return true;
	}
	return false;
}

/* One that nobody uses; of these one that is not believed, if there is. */
static uint8_t free_map(const struct hp3_tracing *t)
{
	uint8_t at = HP3_NO_MAP;

	for (uint8_t i = 0; i < HP3_TRACE_MAPS; i++) {
		if (t->map[i].users == 0 &&
			(at == HP3_NO_MAP || t->map[i].l.state != HP3_LINEAR_BELIEVED))
			at = i;
	}
	return at;
}

static void map_says(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	const struct hp3_linear *l = &e->tracing->map[t->map].l;

	if (l->state == HP3_LINEAR_BELIEVED) {
		use_map(e, pair, 0, now);
	} else if (l->state == HP3_LINEAR_REFUSED) {
		t->reason = l->reason;
		e->stats.trace_refused++;
		use_traces(e, t, now);
	}
}

static void learn_map(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	struct hp3_trace_map *m;

	t->map = free_map(e->tracing);
	if (t->map == HP3_NO_MAP) {
		t->reason = HP3_LINEAR_WHY_TOO_FEW;
		use_traces(e, t, now);
		return;
	}
	m = &e->tracing->map[t->map];
	m->users = 1;
	m->ttl = t->ttl;
	hp3_linear_init(&m->l, HP3_LABELS_NAME, LABELS_MOST, hp3_random(&e->rng));
	t->state = HP3_TRACE_MAP;
	for (uint32_t i = 0; i < HP3_DEPTH_PORTS; i++) {
		if (t->depth.label[i] != HP3_LABEL_NONE)
			hp3_linear_add(&m->l, t->depth.port[i], t->depth.label[i]);
	}
	map_says(e, pair, now);
}

/* The switches that name paths are found, and the ports of the sample have a path each. */
static void found(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	struct hp3_paths *paths = hp3_paths_of(e, pair);

	e->tracing->hint = t->ttl = t->depth.ttl;
	if (paths->identity != HP3_IDENTITY_TRACE)
		hp3_paths_identity_trace(paths, &t->traces); /* no number of a path changes yet */
	for (uint32_t i = 0; i < HP3_DEPTH_PORTS; i++) {
		if (t->depth.label[i] != HP3_LABEL_NONE)
			tell_port(e, pair, t->depth.port[i], t->depth.label[i], now);
	}
	if (!share_map(e, pair, now))
		learn_map(e, pair, now);
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
		t->port = hp3_rand_port(&e->rng);
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
		seek(e, pair, e->tracing->hint);
	else if (t->state == HP3_TRACE_TRACES && now >= t->anew)
		seek(e, pair, t->ttl);
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

/* --- what it showed --- */

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
		wrong(e, pair, now);
		return;
	} else {
		hp3_trace_leave_map(e, t);
		tell_nothing(e, pair, true);
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
		found(e, pair, now);
	else if (s == HP3_DEPTH_NOTHING)
		rest(e, pair, now);
}

static void result_map(struct hp3_engine *e, uint32_t pair, uint32_t label, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	if (label == HP3_LABEL_NONE) {
		t->reason = HP3_LINEAR_WHY_UNCONFIRMED;
		if (give_up(t))
			use_traces(e, t, now);
		return;
	}
	t->again = false;
	t->tries = 0;
	tell_port(e, pair, t->port, label, now);
	hp3_linear_add(&e->tracing->map[t->map].l, t->port, label);
	map_says(e, pair, now);
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
		wrong(e, pair, now);
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
		wrong(e, pair, now);
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
	if (tell_port(e, pair, t->port, label, now))
		wrong(e, pair, now);
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

void hp3_trace_anew(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	uint64_t at = now + e->cfg.paths.retry_ns; /* when routes have settled */

	if (t->state == HP3_TRACE_LINEAR && at < t->due)
		t->due = at;
	else if (t->state == HP3_TRACE_TRACES && at < t->anew)
		t->anew = at;
}
