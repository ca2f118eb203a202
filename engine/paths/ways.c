/* SPDX-License-Identifier: BSD-3-Clause */
/* Long flows of this host per spine path, and those that peers advertise (ways.h). */
#include "engine/paths/ways.h"
#include <errno.h>
#include "engine/paths/paths.h"

size_t hp3_rack_size(uint32_t pairs)
{
	return sizeof(struct hp3_rack) + (size_t)pairs * sizeof(struct hp3_peer_ways);
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
static struct hp3_way_count *room_for(struct hp3_ways *w, uint16_t name)
{
	struct hp3_way_count *none = NULL;

	for (uint32_t i = 0; i < w->n; i++) {
		if (w->way[i].name == name)
			return &w->way[i];
		if (w->way[i].out == 0 && w->way[i].in == 0)
			none = &w->way[i];
	}
	if (none == NULL && w->n < HP3_WAYS)
		none = &w->way[w->n++];
	if (none != NULL)
		*none = (struct hp3_way_count){.name = name};
	return none;
}

void hp3_way_enter(struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_long *l = &e->longs[flow];
	struct hp3_way_count *w;
	int name;

	if (e->rack == NULL || l->counted)
		return;
	name = name_of(e, f, hp3_flow_port(f));
	w = name < 0 ? NULL : room_for(&e->rack->own, (uint16_t)name);
	if (w == NULL || w->out == UINT16_MAX)
		return;
	w->out++;
	l->way = (uint16_t)name;
	l->counted = true;
	e->rack->changed = true;
	w = room_for(&e->rack->peer[f->pair].ours, l->way);
	if (w != NULL)
		w->out++;
	hp3_tell_changed(e, f->pair);
}

static void take_one(struct hp3_ways *w, uint16_t name)
{
	struct hp3_way_count *c = room_for(w, name);

	if (c != NULL)
		c->out = (uint16_t)(c->out - (c->out != 0));
}

void hp3_way_leave(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_long *l = &e->longs[flow];

	if (e->rack == NULL || !l->counted)
		return;
	take_one(&e->rack->own, l->way);
	take_one(&e->rack->peer[e->flows[flow].pair].ours, l->way);
	l->counted = false;
	e->rack->changed = true;
	hp3_tell_changed(e, e->flows[flow].pair);
}

void hp3_way_moved(struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_flow *f = &e->flows[flow];
	const struct hp3_long *l = &e->longs[flow];

	if (e->rack == NULL || !l->out || (l->counted && name_of(e, f, hp3_flow_port(f)) == l->way))
		return;
	hp3_way_leave(e, flow);
	hp3_way_enter(e, flow);
}

/* Adds the peer's flows to this host to the inbound counts, or subtracts them. */
static void count_in(struct hp3_engine *e, const struct hp3_ways *from, bool add)
{
	for (uint32_t i = 0; i < from->n; i++) {
		const struct hp3_way_count *is = &from->way[i];
		struct hp3_way_count *w = is->out != 0 ? room_for(&e->rack->own, is->name) : NULL;

		if (w == NULL)
			continue;
		w->in = (uint16_t)(add ? hp3_min_u32(w->in + is->out, UINT16_MAX)
				       : w->in - hp3_min_u32(w->in, is->out));
		e->rack->changed = true;
	}
}

void hp3_ways_forget(struct hp3_engine *e, uint32_t pair)
{
	if (e->rack == NULL)
		return;
	count_in(e, &e->rack->peer[pair].has, false);
	e->rack->peer[pair].has.n = 0;
	e->rack->peer[pair].at = 0;
}

int hp3_way_sum(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now)
{
	const struct hp3_peer_ways *p = &e->rack->peer[f->pair];
	int name = name_of(e, f, port);

	if (name < 0)
		return -ENOENT;
	if (!hp3_rack_is_fresh(e, p->at, now))
		return -ESTALE;
	return hp3_rack_has(e, (uint16_t)name, now).out + hp3_ways_find(&p->has, (uint16_t)name).in;
}

/* Names from our own counts, those of rack peers, and our flows to the peer, in this order. */
static uint32_t add_names(
	struct hp3_way_count *way, uint32_t n, uint32_t max, const struct hp3_ways *of)
{
	for (uint32_t i = 0; i < of->n && n < max; i++) {
		uint32_t k = 0;

		while (k < n && way[k].name != of->way[i].name)
			k++;
		if (k == n && (of->way[i].out != 0 || of->way[i].in != 0))
			way[n++] = (struct hp3_way_count){.name = of->way[i].name};
	}
	return n;
}

bool hp3_counts_ways(const struct hp3_engine *e)
{
	return e->rack != NULL;
}

uint32_t hp3_ways_to(const struct hp3_engine *e, uint32_t flow, struct hp3_way_count *way,
	uint32_t max, uint64_t now)
{
	const struct hp3_ways *ours;
	uint32_t n, said = 0;

	if (e->rack == NULL || flow >= e->cfg.max_flows || !(e->flows[flow].flags & HP3_FF_USED))
		return 0;
	ours = &e->rack->peer[e->flows[flow].pair].ours;
	n = add_names(way, 0, max, &e->rack->own);
	for (uint32_t i = 0; i < HP3_RACK_MATES; i++)
		n = add_names(way, n, max, &e->rack->mate[i].has);
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t name = way[i].name;

		way[said] = (struct hp3_way_count){.name = name,
			.out = hp3_ways_find(ours, name).out,
			.in = hp3_rack_has(e, name, now).in};
		said += way[said].out != 0 || way[said].in != 0;
	}
	return said;
}

int hp3_ways_from(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_way_count *way, uint32_t n, uint64_t now)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);
	struct hp3_peer_ways *p;

	if (pair == HP3_NO_PAIR || e->rack == NULL)
		return -ENOENT;
	p = &e->rack->peer[pair];
	if (stamp <= p->stamp)
		return -ESTALE;
	count_in(e, &p->has, false);
	p->stamp = stamp;
	p->at = now;
	p->has.n = hp3_min_u32(n, HP3_WAYS);
	memcpy(p->has.way, way, p->has.n * sizeof(*way));
	count_in(e, &p->has, true);
	return 0;
}
