/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps ports to paths: the providers, and updates of the table when they map more ports. */
#include <errno.h>
#include <string.h>
#include "ppp/paths_internal.h"

static int find_trace(const struct hp3_paths *t, uint16_t port, uint32_t qpn)
{
	for (int i = 0; t->traces && i < (int)HP3_TRACES; i++) {
		const struct hp3_trace *r = &t->traces->trace[i];

		if (r->checked && r->port == port && (!t->by_qpn || r->qpn == qpn))
			return i;
	}
	return -ENOENT;
}

/* The provider's id for the port, not that of an entry of the table. */
static uint32_t provided_id(const struct hp3_paths *t, uint16_t port, uint32_t qpn)
{
	struct hp3_tuple tuple;
	uint32_t id;
	int trace;

	if (t->model) {
		tuple = t->tuple;
		tuple.sport = port;
		tuple.qpn = qpn;
		return t->model->path(t->model, &tuple);
	}
	if (t->linear && hp3_linear_path(t->linear, port ^ t->shift, &id))
		return id;
	trace = find_trace(t, port, qpn); /* negative without traces */
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): so there are */
	return trace < 0 ? HP3_PATH_BY_PORT | port : t->traces->trace[trace].id;
}

uint32_t hp3_paths_id(const struct hp3_paths *t, uint16_t port, uint32_t qpn)
{
	uint32_t id = provided_id(t, port, qpn);

	/*
	 * If the stored traces do not contain the port, an entry of the table still has the path
	 * that its trace showed.
	 */
	for (unsigned i = 0; t->traces && hp3_path_by_port(id) && i < HP3_PATHS; i++) {
		const struct hp3_path *p = &t->path[i];

		if (!hp3_path_by_port(p->id) && p->port == port && (!t->by_qpn || p->qpn == qpn))
			return p->id;
	}
	return id;
}

/* Clears the results; flows, port and key stay. */
static void forget_results(struct hp3_path *p)
{
	struct hp3_path kept = {.id = p->id, .qpn = p->qpn, .port = p->port, .flows = p->flows};

	*p = kept;
	if (p->flows == 0)
		hp3_path_free(p);
}

/* Keeps the newer results of two entries of one path in `into`. */
static void merge_results(struct hp3_path *into, const struct hp3_path *from)
{
	if (from->min_rtt && (!into->min_rtt || from->min_rtt < into->min_rtt))
		into->min_rtt = from->min_rtt;
	if (from->seen > into->seen) {
		into->seen = from->seen;
		into->rtt = from->rtt;
		into->marked = from->marked;
		if (into->seen > into->lost) {
			into->losses = 0;
			if (!into->lossy)
				into->retry_at = 0;
		}
	}
	if (from->losses && !from->lossy && from->lost > into->seen &&
		from->retry_at >= into->retry_at) {
		into->lost = from->lost;
		into->first_lost = from->first_lost;
		into->losses = from->losses;
		into->retry_at = from->retry_at;
		into->failures = from->failures;
		into->lossy = 0;
	}
	if (from->lossy && from->retry_at > into->retry_at) {
		into->retry_at = from->retry_at;
		into->lossy = 1;
		into->relapses = from->relapses;
	}
}

/* Entry `index` now has path `id`. */
static void set_id(struct hp3_paths *t, int index, uint32_t id)
{
	struct hp3_path *p = &t->path[index], *first;
	int same = hp3_paths_find(t, id, p->qpn);

	p->id = id;
	if (same < 0 || same == index)
		return;
	first = &t->path[same < index ? same : index];
	merge_results(first, &t->path[same < index ? index : same]);
	forget_results(&t->path[same < index ? index : same]);
}

static void rekey_paths(struct hp3_paths *t)
{
	for (int i = 0; i < (int)HP3_PATHS; i++) {
		struct hp3_path *p = &t->path[i];

		if (p->id != HP3_PATH_NONE && p->id != HP3_PATH_ORPHAN)
			set_id(t, i, provided_id(t, p->port, p->qpn));
	}
}

static void set_identity(struct hp3_paths *t, enum hp3_path_identity kind,
	struct hp3_traces *traces, const struct hp3_path_model *model,
	const struct hp3_linear *linear)
{
	t->identity = (uint8_t)kind;
	t->traces = traces;
	t->model = model;
	t->linear = linear;
	rekey_paths(t);
}

void hp3_paths_identity_none(struct hp3_paths *t)
{
	set_identity(t, HP3_IDENTITY_NONE, NULL, NULL, NULL);
}

void hp3_paths_identity_trace(struct hp3_paths *t, struct hp3_traces *traces)
{
	memset(traces, 0, sizeof(*traces));
	set_identity(t, HP3_IDENTITY_TRACE, traces, NULL, NULL);
}

void hp3_paths_identity_model(
	struct hp3_paths *t, const struct hp3_path_model *model, const struct hp3_tuple *tuple)
{
	t->tuple = *tuple;
	set_identity(t, HP3_IDENTITY_MODEL, NULL, model, NULL);
}

int hp3_paths_identity_linear(struct hp3_paths *t, const struct hp3_linear *linear, uint16_t shift)
{
	if (linear->state != HP3_LINEAR_BELIEVED)
		return -EAGAIN;
	t->shift = shift;
	set_identity(t, HP3_IDENTITY_MODEL, NULL, NULL, linear);
	return 0;
}

static void forget_all(struct hp3_paths *t)
{
	if (t->traces)
		memset(t->traces, 0, sizeof(*t->traces));
	for (unsigned i = 0; i < HP3_PATHS; i++)
		forget_results(&t->path[i]);
}

void hp3_paths_by_qpn(struct hp3_paths *t)
{
	forget_all(t);
	for (unsigned i = 0; i < HP3_PATHS; i++) {
		if (t->path[i].id != HP3_PATH_NONE)
			t->path[i].id = HP3_PATH_ORPHAN;
	}
	t->by_qpn = true;
}

void hp3_paths_reset(struct hp3_paths *t)
{
	forget_all(t);
	rekey_paths(t);
}

bool hp3_paths_traced(struct hp3_paths *t, uint16_t port, uint32_t qpn, uint32_t id, uint64_t now)
{
	uint32_t before = hp3_paths_id(t, port, qpn);
	bool changed = !hp3_path_by_port(before) && before != id;
	struct hp3_trace *trace = t->traces->trace;
	int slot;

	if (changed)
		hp3_paths_reset(t);
	slot = find_trace(t, port, qpn);
	if (slot < 0) { /* a free slot, else the trace that was checked longest ago */
		slot = 0;
		for (int i = 1; i < (int)HP3_TRACES; i++) {
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it has traces */
			if (trace[i].checked < trace[slot].checked)
				slot = i;
		}
	}
	trace[slot] = (struct hp3_trace){.checked = now, .id = id, .qpn = qpn, .port = port};
	for (int i = 0; i < (int)HP3_PATHS; i++) {
		const struct hp3_path *p = &t->path[i];

		if (p->id == (HP3_PATH_BY_PORT | port) && (!t->by_qpn || p->qpn == qpn))
			set_id(t, i, id);
	}
	return changed;
}
