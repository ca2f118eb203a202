/* SPDX-License-Identifier: BSD-3-Clause */
/* Long flows of this host per spine path, and those that peers advertise (spine_paths.h). */
#include "engine/paths/spine_paths.h"
#include <errno.h>
#include "engine/paths/paths.h"

size_t hp3_rack_size(uint32_t pairs)
{
	return sizeof(struct hp3_rack) + (size_t)pairs * sizeof(struct hp3_peer_spine_paths);
}

/* Its name, or -ENOENT. */
static int name_of(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port)
{
	uint32_t id = hp3_paths_id(hp3_paths_of(e, f->pair), port, f->rqpn);

	if (id >= HP3_PATH_BY_PORT)
		return -ENOENT;
	if (e->tracing == NULL)
		return id < HP3_LOAD_PATHS ? (int)id : -ENOENT;
	return id < HP3_HOPS && e->tracing->hop[id].used ? e->tracing->hop[id].name : -ENOENT;
}

/* A record for a name: its own, or one without flows. NULL: all are in use. */
static struct hp3_spine_path_count *room_for(struct hp3_spine_paths *w, uint16_t name)
{
	struct hp3_spine_path_count *none = NULL;

	for (uint32_t i = 0; i < w->n; i++) {
		if (w->spine_path[i].name == name)
			return &w->spine_path[i];
		if (w->spine_path[i].out == 0 && w->spine_path[i].in == 0)
			none = &w->spine_path[i];
	}
	if (none == NULL && w->n < HP3_SPINE_PATHS)
		none = &w->spine_path[w->n++];
	if (none != NULL)
		*none = (struct hp3_spine_path_count){.name = name};
	return none;
}

void hp3_spine_path_enter(struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_long *l = &e->longs[flow];
	struct hp3_spine_path_count *w;
	int name;

	if (e->rack == NULL || l->counted)
		return;
	name = name_of(e, f, hp3_flow_port(f));
	w = name < 0 ? NULL : room_for(&e->rack->own, (uint16_t)name);
	if (w == NULL || w->out == UINT16_MAX)
		return;
	w->out++;
	l->spine_path = (uint16_t)name;
	l->counted = true;
	e->rack->changed = true;
	w = room_for(&e->rack->peer[f->pair].ours, l->spine_path);
	if (w != NULL)
		w->out++;
	hp3_advertise_changed(e, f->pair);
}

static void take_one(struct hp3_spine_paths *w, uint16_t name)
{
	struct hp3_spine_path_count *c = room_for(w, name);

	if (c != NULL)
		c->out = (uint16_t)(c->out - (c->out != 0));
}

void hp3_spine_path_leave(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_long *l = &e->longs[flow];

	if (e->rack == NULL || !l->counted)
		return;
	take_one(&e->rack->own, l->spine_path);
	take_one(&e->rack->peer[e->flows[flow].pair].ours, l->spine_path);
	l->counted = false;
	e->rack->changed = true;
	hp3_advertise_changed(e, e->flows[flow].pair);
}

void hp3_spine_path_moved(struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_flow *f = &e->flows[flow];
	const struct hp3_long *l = &e->longs[flow];

	if (e->rack == NULL || !l->out ||
		(l->counted && name_of(e, f, hp3_flow_port(f)) == l->spine_path))
		return;
	hp3_spine_path_leave(e, flow);
	hp3_spine_path_enter(e, flow);
}

/* Adds the peer's flows to this host to the inbound counts, or subtracts them. */
static void count_in(struct hp3_engine *e, const struct hp3_spine_paths *from, bool add)
{
	for (uint32_t i = 0; i < from->n; i++) {
		const struct hp3_spine_path_count *is = &from->spine_path[i];
		struct hp3_spine_path_count *w =
			is->out != 0 ? room_for(&e->rack->own, is->name) : NULL;

		if (w == NULL)
			continue;
		w->in = (uint16_t)(add ? hp3_min_u32(w->in + is->out, UINT16_MAX)
				       : w->in - hp3_min_u32(w->in, is->out));
		e->rack->changed = true;
	}
}

void hp3_spine_paths_forget(struct hp3_engine *e, uint32_t pair)
{
	if (e->rack == NULL)
		return;
	count_in(e, &e->rack->peer[pair].has, false);
	e->rack->peer[pair].has.n = 0;
	e->rack->peer[pair].at = 0;
}

int hp3_spine_path_sum(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now)
{
	const struct hp3_peer_spine_paths *p = &e->rack->peer[f->pair];
	int name = name_of(e, f, port);

	if (name < 0)
		return -ENOENT;
	if (!hp3_rack_is_fresh(e, p->at, now))
		return -ESTALE;
	return hp3_rack_has(e, (uint16_t)name, now).out +
	       hp3_spine_paths_find(&p->has, (uint16_t)name).in;
}

/* Names from our own counts, those of rack peers, and our flows to the peer, in this order. */
static uint32_t add_names(struct hp3_spine_path_count *spine_path, uint32_t n, uint32_t max,
	const struct hp3_spine_paths *of)
{
	for (uint32_t i = 0; i < of->n && n < max; i++) {
		uint32_t k = 0;

		while (k < n && spine_path[k].name != of->spine_path[i].name)
			k++;
		if (k == n && (of->spine_path[i].out != 0 || of->spine_path[i].in != 0))
			spine_path[n++] =
				(struct hp3_spine_path_count){.name = of->spine_path[i].name};
	}
	return n;
}

bool hp3_counts_spine_paths(const struct hp3_engine *e)
{
	return e->rack != NULL;
}

uint32_t hp3_spine_paths_to(const struct hp3_engine *e, uint32_t flow,
	struct hp3_spine_path_count *spine_path, uint32_t max, uint64_t now)
{
	const struct hp3_spine_paths *ours;
	uint32_t n, n_counts = 0;

	if (e->rack == NULL || flow >= e->cfg.max_flows || !(e->flows[flow].flags & HP3_FF_USED))
		return 0;
	ours = &e->rack->peer[e->flows[flow].pair].ours;
	n = add_names(spine_path, 0, max, &e->rack->own);
	for (uint32_t i = 0; i < HP3_RACK_PEERS_MAX; i++)
		n = add_names(spine_path, n, max, &e->rack->rack_peer[i].has);
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t name = spine_path[i].name;

		spine_path[n_counts] = (struct hp3_spine_path_count){.name = name,
			.out = hp3_spine_paths_find(ours, name).out,
			.in = hp3_rack_has(e, name, now).in};
		n_counts += spine_path[n_counts].out != 0 || spine_path[n_counts].in != 0;
	}
	return n_counts;
}

int hp3_spine_paths_from(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_spine_path_count *spine_path, uint32_t n, uint64_t now)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);
	struct hp3_peer_spine_paths *p;

	if (pair == HP3_NO_PAIR || e->rack == NULL)
		return -ENOENT;
	p = &e->rack->peer[pair];
	if (stamp <= p->stamp)
		return -ESTALE;
	count_in(e, &p->has, false);
	p->stamp = stamp;
	p->at = now;
	p->has.n = hp3_min_u32(n, HP3_SPINE_PATHS);
	memcpy(p->has.spine_path, spine_path, p->has.n * sizeof(*spine_path));
	count_in(e, &p->has, true);
	return 0;
}
