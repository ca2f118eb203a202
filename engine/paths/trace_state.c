/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State changes of an address pair's traces, and the resulting content of the path table. Pairs
 * whose linear maps differ only by a shift share a map. Otherwise, the pair learns a map in an
 * unused record. If no map fits, the path table has the traced ports only.
 */
#include "engine/paths/trace_state.h"

#define FLOWS_SEEN  32u /* most flows of a pair examined for one that may carry traces */
#define LABELS_MOST 64u

/* --- the flow whose QPN a trace carries --- */

static bool may_trace(const struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[pair];

	return hp3_may_search(e) && !hp3_is_pinned(p, now) && !hp3_pair_is_barred(e, p) &&
	       !p->peer_plain && (p->peer_seen != 0 || e->cfg.probes == HP3_PROBES_PEER);
}

/* The PSN before una is known to be a duplicate, and a reply of an RNIC to it would do no harm. */
static bool may_carry(const struct hp3_flow *f, const struct hp3_pair *p)
{
	const uint16_t want = HP3_FF_USED | HP3_FF_PAIRED | HP3_FF_STARTED;

	return (f->flags & want) == want && (f->watch & HP3_FW_HEARD) &&
	       !(p->peer_seen == 0 && (f->flags & HP3_FF_READS));
}

uint32_t hp3_trace_find_flow(const struct hp3_engine *e, uint32_t pair, uint32_t qpn, bool with)
{
	const struct hp3_pair *p = &e->pairs.pairs[pair];
	uint32_t flow = p->flows;

	for (uint32_t n = 0; n < FLOWS_SEEN && flow != HP3_NO_FLOW; n++) {
		const struct hp3_flow *f = &e->flows[flow];

		if ((f->rqpn == qpn) == with && may_carry(f, p))
			return flow;
		flow = f->next;
	}
	return HP3_NO_FLOW;
}

uint32_t hp3_trace_flow(const struct hp3_engine *e, uint32_t pair, uint32_t qpn, uint64_t now)
{
	uint32_t flow = HP3_NO_FLOW;

	if (!may_trace(e, pair, now))
		return flow;
	flow = hp3_trace_find_flow(e, pair, qpn, true);
	return flow != HP3_NO_FLOW ? flow : hp3_trace_find_flow(e, pair, qpn, false);
}

/* --- the path table --- */

void hp3_trace_clear_paths(struct hp3_engine *e, uint32_t pair, bool void_all)
{
	struct hp3_paths *paths = hp3_paths_of(e, pair);

	hp3_paths_identity_none(paths);
	if (void_all)
		hp3_paths_reset(paths);
}

bool hp3_trace_set_port(
	struct hp3_engine *e, uint32_t pair, uint16_t port, uint32_t label, uint64_t now)
{
	return hp3_paths_traced(
		hp3_paths_of(e, pair), port, e->tracing->pair[pair].qpn, label, now);
}

static void set_linear_map(struct hp3_engine *e, uint32_t pair, uint16_t shift)
{
	const struct hp3_trace_pair *t = &e->tracing->pair[pair];

	hp3_paths_identity_linear(hp3_paths_of(e, pair), &e->tracing->map[t->map].l, shift);
}

void hp3_trace_leave_map(struct hp3_engine *e, struct hp3_trace_pair *t)
{
	if (t->map != HP3_NO_MAP)
		e->tracing->map[t->map].users--;
	t->map = HP3_NO_MAP;
}

/* --- states --- */

void hp3_trace_find_ttl(struct hp3_engine *e, uint32_t pair, uint8_t hint, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	uint32_t flow = hp3_trace_flow(e, pair, t->qpn, now);

	hp3_trace_leave_map(e, t);
	hp3_depth_init(&t->depth, hint, &e->rng);
	t->state = HP3_TRACE_FIND_TTL;
	t->due = 0;
	t->qpn_at = t->op_at = t->tries = 0;
	t->again = t->doubt = t->differs = false;
	if (flow != HP3_NO_FLOW)
		t->qpn = e->flows[flow].rqpn;
}

void hp3_trace_rest(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	hp3_trace_leave_map(e, t);
	hp3_trace_clear_paths(e, pair, false);
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
	hp3_trace_clear_paths(e, pair, true);
	if (++t->restarts > HP3_TRACE_RESTARTS)
		hp3_trace_rest(e, pair, now);
	else
		hp3_trace_find_ttl(e, pair, 0, now);
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

/* --- the map --- */

static void use_map(struct hp3_engine *e, uint32_t pair, uint16_t shift, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	set_linear_map(e, pair, shift);
	t->state = HP3_TRACE_LINEAR;
	t->reason = HP3_LINEAR_WHY_NONE;
	t->due = now + e->cfg.paths.recheck_ns;
	t->checked = now;
	t->checks = t->tries = 0;
	t->again = false;
	e->stats.trace_linear++;
}

void hp3_trace_use_traces(struct hp3_engine *e, struct hp3_trace_pair *t, uint64_t now)
{
	hp3_trace_leave_map(e, t);
	t->state = HP3_TRACE_TRACES;
	t->due = now;
	t->anew = now + e->cfg.paths.recheck_ns;
	t->entry = t->tries = 0;
	t->again = false;
}

/* --- shared --- */

static bool has_label(const struct hp3_linear *l, uint32_t label)
{
	for (uint32_t i = 0; i < l->traces; i++) {
		if (l->label[i] == label)
			return true;
	}
	return false;
}

/* Does this map, shifted by the first sample port, predict the whole sample? */
static bool is_fitting_map(
	const struct hp3_trace_map *m, const struct hp3_trace_pair *t, uint16_t *shift)
{
	const struct hp3_depth *d = &t->depth;
	uint32_t first = 0, label;

	if (m->ttl != t->ttl || m->l.state != HP3_LINEAR_BELIEVED)
		return false;
	while (d->label[first] == HP3_LABEL_NONE)
		first++;
	if (!has_label(&m->l, d->label[first]) ||
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

		if (!is_fitting_map(m, t, &shift))
			continue;
		m->users++;
		t->map = i;
		use_map(e, pair, shift, now);
		return true;
	}
	return false;
}

/* --- learnt --- */

/* An unused map; if possible, one that is not verified. */
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

void hp3_trace_map_verdict(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	const struct hp3_linear *l = &e->tracing->map[t->map].l;

	if (l->state == HP3_LINEAR_BELIEVED) {
		use_map(e, pair, 0, now);
	} else if (l->state == HP3_LINEAR_REFUSED) {
		t->reason = l->reason;
		e->stats.trace_refused++;
		hp3_trace_use_traces(e, t, now);
	}
}

static void learn_map(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	struct hp3_trace_map *m;

	t->map = free_map(e->tracing);
	if (t->map == HP3_NO_MAP) {
		t->reason = HP3_LINEAR_WHY_TOO_FEW;
		hp3_trace_use_traces(e, t, now);
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
	hp3_trace_map_verdict(e, pair, now);
}

void hp3_trace_found(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	struct hp3_paths *paths = hp3_paths_of(e, pair);

	e->tracing->hint = t->ttl = t->depth.ttl;
	if (paths->identity != HP3_IDENTITY_TRACE)
		hp3_paths_identity_trace(paths, &t->traces); /* no number of a path changes yet */
	for (uint32_t i = 0; i < HP3_DEPTH_PORTS; i++) {
		if (t->depth.label[i] != HP3_LABEL_NONE)
			hp3_trace_set_port(e, pair, t->depth.port[i], t->depth.label[i], now);
	}
	if (!share_map(e, pair, now))
		learn_map(e, pair, now);
}
