/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which flows would best leave. The fullest hot link comes first, and the best that leaves it
 * (choose.h); then the next, with the loads as they would be, until nothing gains improve_percent
 * or the plan is full.
 */
#include <string.h>
#include "base/minmax.h"
#include "fleet/choose.h"

void hp3_fleet_look(struct hp3_fleet *f, uint64_t now_ms)
{
	hp3_fleet_settle_hosts(f, now_ms);
	hp3_fleet_draw(f);
	hp3_fleet_alarms(f, now_ms);
}

static void take_off(struct hp3_fleet *f, uint32_t link, const struct hp3_fleet_flow *flow)
{
	struct hp3_fleet_edge *l = &f->link[link];

	l->flows--;
	l->severe -= (flow->flags & HP3_FLEET_SEVERE) != 0;
	l->load_kbps -= flow->rate_kbps;
	l->marked_kbps -= flow->rate_kbps * flow->marked_permille;
}

/* The load alone: what a flow brings along are no marks of its new links. */
static void shift(struct hp3_fleet *f, uint32_t link, const struct hp3_fleet_flow *flow, bool on)
{
	struct hp3_fleet_edge *l = &f->link[link];

	if (link == HP3_FLEET_NONE)
		return;
	l->flows += on ? 1 : -1u;
	l->load_kbps += on ? flow->rate_kbps : -flow->rate_kbps;
}

static void go(struct hp3_fleet *f, struct hp3_fleet_choice *c)
{
	struct hp3_fleet_placed *at = &f->placed[c->placed];
	const struct hp3_fleet_report *r = &f->slot[at->slot].r;
	const struct hp3_fleet_flow *flow = hp3_fleet_flow_of(f, at);
	uint32_t hop = hp3_fleet_hop_of(f, &r->hop[flow->alt[c->alt].hop]);

	c->up = hp3_fleet_link_of(f, false, f->link[at->up].leaf, hop);
	c->down = hp3_fleet_link_of(f, true, f->link[at->down].leaf, hop);
	take_off(f, at->up, flow);
	take_off(f, at->down, flow);
	shift(f, c->up, flow, true);
	shift(f, c->down, flow, true);
	at->named = true;
}

static void keep_busy(struct hp3_fleet *f, uint32_t link, uint64_t until_ms)
{
	if (link != HP3_FLEET_NONE)
		f->link[link].busy_ms = until_ms;
}

/* The map shows what is, not what is planned; but until the plan has come true, or expires, nothing
 * else is planned with these links. */
static void go_back(struct hp3_fleet *f, const struct hp3_fleet_choice *c, uint64_t until_ms)
{
	struct hp3_fleet_placed *at = &f->placed[c->placed];
	const struct hp3_fleet_flow *flow = hp3_fleet_flow_of(f, at);

	shift(f, c->up, flow, false);
	shift(f, c->down, flow, false);
	hp3_fleet_count_on(&f->link[at->up], flow);
	hp3_fleet_count_on(&f->link[at->down], flow);
	at->named = false;
	keep_busy(f, at->up, until_ms);
	keep_busy(f, at->down, until_ms);
	keep_busy(f, c->up, until_ms);
	keep_busy(f, c->down, until_ms);
}

static void note_named(
	struct hp3_fleet *f, uint32_t at, const struct hp3_fleet_key *key, uint64_t now_ms)
{
	f->named[at] = (struct hp3_fleet_named){.key = *key, .until_ms = now_ms + f->p.hold_ms};
}

static uint32_t history_room(const struct hp3_fleet *f, uint64_t now_ms)
{
	for (uint32_t i = 0; i < HP3_FLEET_HISTORY; i++)
		if (f->named[i].until_ms <= now_ms)
			return i;
	return HP3_FLEET_NONE;
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

/* The fullest link that is hot and was not tried, or HP3_FLEET_NONE. */
static uint32_t fullest(const struct hp3_fleet *f, uint64_t now_ms)
{
	uint32_t best = HP3_FLEET_NONE;

	for (uint32_t i = 0; i < f->n_links; i++) {
		uint64_t l = hp3_fleet_load(f, i), b = hp3_fleet_load(f, best);

		if (f->scratch[i] == 0 && !hp3_fleet_is_busy(f, i, now_ms) &&
			hp3_fleet_is_hot(f, i) &&
			(best == HP3_FLEET_NONE || l > b ||
				(l == b && hp3_fleet_link_before(f, i, best))))
			best = i;
	}
	return best;
}

static uint64_t worst(const struct hp3_fleet *f)
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
	uint32_t link, room;

	*out = (struct hp3_fleet_plan){.term = term,
		.epoch = ++f->epoch,
		.valid_ms = f->p.valid_ms,
		.hosts = f->counts.hosts,
		.flows = f->counts.flows,
		.links = f->counts.links,
		.worst_before_kbps = worst(f)};
	strncpy(out->planner, planner, sizeof(out->planner) - 1);
	memset(f->scratch, 0, f->p.max_links * sizeof(*f->scratch)); /* links that are done with */
	while (out->n_moves < f->p.moves && (link = fullest(f, now_ms)) != HP3_FLEET_NONE &&
		(room = history_room(f, now_ms)) != HP3_FLEET_NONE) {
		struct hp3_fleet_choice *c = &done[out->n_moves];

		*c = hp3_fleet_choose(f, link, now_ms);
		if (c->placed == HP3_FLEET_NONE) {
			f->scratch[link] = 1;
			continue;
		}
		put_in_words(f, c, hp3_fleet_load(f, link), &out->move[out->n_moves++]);
		note_named(f, room, &hp3_fleet_flow_of(f, &f->placed[c->placed])->key, now_ms);
		go(f, c);
	}
	out->worst_after_kbps = worst(f);
	for (unsigned i = out->n_moves; i-- > 0;)
		go_back(f, &done[i], now_ms + f->p.valid_ms);
}
