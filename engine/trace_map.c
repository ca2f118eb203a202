/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The linear map of an address pair: shared with pairs that differ by a shift alone, else learnt in
 * one of the maps that nobody uses; without one that fits, the traces themselves are what is told.
 */
#include "engine/trace_pair.h"

#define LABELS_MOST 64u

static void use_map(struct hp3_engine *e, uint32_t pair, uint16_t shift, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];

	hp3_trace_tell_map(e, pair, shift);
	t->state = HP3_TRACE_LINEAR;
	t->reason = HP3_LINEAR_WHY_NONE;
	t->due = now + e->cfg.paths.recheck_ns;
	t->checks = t->tries = 0;
	t->again = false;
	e->stats.trace_linear++;
}

void hp3_trace_leave_map(struct hp3_engine *e, struct hp3_trace_pair *t)
{
	if (t->map != HP3_NO_MAP)
		e->tracing->map[t->map].users--;
	t->map = HP3_NO_MAP;
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

/* --- learnt --- */

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

void hp3_trace_map_says(struct hp3_engine *e, uint32_t pair, uint64_t now)
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
	hp3_trace_map_says(e, pair, now);
}

/* The switches that name paths are found, and the ports of the sample have a path each. */
void hp3_trace_found(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	struct hp3_trace_pair *t = &e->tracing->pair[pair];
	struct hp3_paths *paths = hp3_paths_of(e, pair);

	e->tracing->hint = t->ttl = t->depth.ttl;
	if (paths->identity != HP3_IDENTITY_TRACE)
		hp3_paths_identity_trace(paths, &t->traces); /* no number of a path changes yet */
	for (uint32_t i = 0; i < HP3_DEPTH_PORTS; i++) {
		if (t->depth.label[i] != HP3_LABEL_NONE)
			hp3_trace_tell_port(e, pair, t->depth.port[i], t->depth.label[i], now);
	}
	if (!share_map(e, pair, now))
		learn_map(e, pair, now);
}
