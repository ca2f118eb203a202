/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a plan. It takes the fullest hot link and the best move away from this link (choose.c). It
 * repeats this with the predicted loads, until no move gains improve_percent or the plan is full.
 */
#include <string.h>
#include "base/minmax.h"
#include "fleet/state.h"

void hp3_fleet_look(struct hp3_fleet *f, uint64_t now_ms)
{
	hp3_fleet_settle_hosts(f, now_ms);
	hp3_fleet_make_room(f, now_ms);
	hp3_fleet_draw(f);
	hp3_fleet_alarms(f, now_ms);
}

/* Moves only the load: the flow's marks are not marks of its new links. */
static void shift_load(
	struct hp3_fleet *f, uint32_t link, const struct hp3_fleet_flow *flow, int by)
{
	struct hp3_fleet_edge *l = &f->link[link];

	if (link == HP3_FLEET_NONE)
		return;
	l->flows += (uint32_t)by;
	l->load_kbps += (uint64_t)by * flow->rate_kbps;
}

static void apply_choice(struct hp3_fleet *f, struct hp3_fleet_choice *c)
{
	struct hp3_fleet_placed *at = &f->placed[c->placed];
	const struct hp3_fleet_report *r = &f->slot[at->slot].r;
	const struct hp3_fleet_flow *flow = hp3_fleet_flow_of(f, at);
	uint32_t hop = hp3_fleet_hop_of(f, &r->hop[flow->alt[c->alt].hop]);

	c->up = hp3_fleet_link_of(f, false, f->link[at->up].leaf, hop);
	c->down = hp3_fleet_link_of(f, true, f->link[at->down].leaf, hop);
	hp3_fleet_count_on(&f->link[at->up], flow, -1);
	hp3_fleet_count_on(&f->link[at->down], flow, -1);
	shift_load(f, c->up, flow, 1);
	shift_load(f, c->down, flow, 1);
	at->named = true;
}

static void keep_busy(struct hp3_fleet *f, uint32_t link, uint64_t until_ms)
{
	if (link != HP3_FLEET_NONE)
		f->link[link].busy_ms = until_ms;
}

/* The map shows measured loads, not planned ones. So no other plan uses these links until the moves
 * are reported, or the plan expires. */
static void go_back(struct hp3_fleet *f, const struct hp3_fleet_choice *c, uint64_t until_ms)
{
	struct hp3_fleet_placed *at = &f->placed[c->placed];
	const struct hp3_fleet_flow *flow = hp3_fleet_flow_of(f, at);

	shift_load(f, c->up, flow, -1);
	shift_load(f, c->down, flow, -1);
	hp3_fleet_count_on(&f->link[at->up], flow, 1);
	hp3_fleet_count_on(&f->link[at->down], flow, 1);
	at->named = false;
	keep_busy(f, at->up, until_ms);
	keep_busy(f, at->down, until_ms);
	keep_busy(f, c->up, until_ms);
	keep_busy(f, c->down, until_ms);
}

static void note_named(struct hp3_fleet *f, const struct hp3_fleet_placed *at, uint64_t now_ms)
{
	struct hp3_fleet_named *n = &f->named[f->n_named++];

	*n = (struct hp3_fleet_named){
		.key = hp3_fleet_flow_of(f, at)->key, .until_ms = now_ms + f->p.hold_ms};
	memcpy(n->host, f->slot[at->slot].r.host, sizeof(n->host));
}

static void forget_named(struct hp3_fleet *f, uint64_t now_ms)
{
	for (uint32_t i = 0; i < f->n_named;)
		if (f->named[i].until_ms <= now_ms)
			f->named[i] = f->named[--f->n_named];
		else
			i++;
}

static void put_in_words(const struct hp3_fleet *f, const struct hp3_fleet_choice *c,
	uint64_t before, struct hp3_fleet_move *m)
{
	const struct hp3_fleet_placed *at = &f->placed[c->placed];
	const struct hp3_fleet_report *r = &f->slot[at->slot].r;
	const struct hp3_fleet_flow *flow = hp3_fleet_flow_of(f, at);

	*m = (struct hp3_fleet_move){.instance = r->instance,
		.key = flow->key,
		.from_hop = r->hop[flow->hop],
		.to_hop = r->hop[flow->alt[c->alt].hop],
		.from_port = flow->port,
		.to_port = flow->alt[c->alt].port,
		.rate_kbps = flow->rate_kbps,
		.before_kbps = before,
		.after_kbps = c->after};
	memcpy(m->host, r->host, sizeof(m->host));
}

/* Of two links with the same load, the first by name counts as fuller. */
static bool less_full(const void *arg, uint32_t a, uint32_t b)
{
	const struct hp3_fleet *f = arg;
	uint64_t x = hp3_fleet_load(f, a), y = hp3_fleet_load(f, b);

	return x != y ? x < y : hp3_fleet_link_before(f, b, a);
}

/* A heap of hot links, the fullest first; built again after each move. */
static uint32_t list_hot(struct hp3_fleet *f, uint64_t now_ms)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_links; i++)
		if (!f->link[i].done && !hp3_fleet_is_busy(f, i, now_ms) && hp3_fleet_is_hot(f, i))
			f->scratch[n++] = i;
	hp3_fleet_heap(f->scratch, n, less_full, f);
	return n;
}

static uint64_t worst_load(const struct hp3_fleet *f)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < f->n_links; i++)
		most = hp3_max_u64(most, f->link[i].load_kbps);
	return most;
}

void hp3_fleet_plan(struct hp3_fleet *f, uint64_t term, const char *planner, uint64_t now_ms,
	struct hp3_fleet_plan *out)
{
	struct hp3_fleet_choice done[HP3_FLEET_MOVES];
	uint32_t hot;

	*out = (struct hp3_fleet_plan){.term = term,
		.epoch = ++f->epoch,
		.valid_ms = f->p.valid_ms,
		.hosts = f->counts.hosts,
		.flows = f->counts.flows,
		.links = f->counts.links,
		.worst_before_kbps = worst_load(f)};
	strncpy(out->planner, planner, sizeof(out->planner) - 1);
	forget_named(f, now_ms);
	for (uint32_t i = 0; i < f->n_links; i++)
		f->link[i].done = false;
	hot = list_hot(f, now_ms);
	while (out->n_moves < f->p.moves && hot > 0 && f->n_named < HP3_FLEET_HISTORY) {
		struct hp3_fleet_choice *c = &done[out->n_moves];
		uint32_t link = f->scratch[0];

		*c = hp3_fleet_choose(f, link, now_ms);
		if (c->placed == HP3_FLEET_NONE) {
			f->link[link].done = true;
			hp3_fleet_heap_drop(f->scratch, &hot, less_full, f);
			continue;
		}
		put_in_words(f, c, hp3_fleet_load(f, link), &out->move[out->n_moves++]);
		note_named(f, &f->placed[c->placed], now_ms);
		apply_choice(f, c);
		hot = list_hot(f, now_ms);
	}
	out->worst_after_kbps = worst_load(f);
	for (unsigned i = out->n_moves; i-- > 0;)
		go_back(f, &done[i], now_ms + f->p.valid_ms);
}
