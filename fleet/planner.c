/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which flows would best leave. The fullest hot link comes first; of the flows on it that may be
 * named, and of the paths that their hosts offer, the pair is taken that leaves the less load on
 * the fullest link that it touches; of several the one of the heavier flow. Then the next, with the
 * loads as they would be, until nothing gains improve_percent or the plan is full.
 */
#include <string.h>
#include "base/minmax.h"
#include "base/names.h"
#include "fleet/state.h"

struct choice {
	uint32_t placed;
	unsigned alt;
	uint32_t up, down; /* links of the new path; HP3_FLEET_NONE: nobody is on them */
	uint64_t after; /* load of the fuller one, with the flow */
	uint64_t worst; /* and of the link that it leaves, without it */
};

void hp3_fleet_look(struct hp3_fleet *f, uint64_t now_ms)
{
	hp3_fleet_settle_hosts(f, now_ms);
	hp3_fleet_draw(f);
	hp3_fleet_alarms(f, now_ms);
}

static const struct hp3_fleet_flow *flow_of(
	const struct hp3_fleet *f, const struct hp3_fleet_placed *at)
{
	return &f->slot[at->slot].r.flow[at->flow];
}

static uint64_t load(const struct hp3_fleet *f, uint32_t link)
{
	return link == HP3_FLEET_NONE ? 0 : f->link[link].load_kbps;
}

static bool busy(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms)
{
	return link != HP3_FLEET_NONE && f->link[link].busy_ms > now_ms;
}

static bool hot(const struct hp3_fleet *f, uint32_t link)
{
	const struct hp3_fleet_edge *l = &f->link[link];

	if (l->flows == 0)
		return false;
	return l->severe > 0 || l->marked_kbps > l->load_kbps * f->p.mark_permille ||
	       (f->p.link_kbps > 0 && l->load_kbps * 100 >= f->p.link_kbps * f->p.full_percent);
}

/* Until when is it not to be named again? */
static const struct hp3_fleet_named *named_before(
	const struct hp3_fleet *f, const struct hp3_fleet_key *key, uint64_t now_ms)
{
	for (uint32_t i = 0; i < HP3_FLEET_HISTORY; i++)
		if (f->named[i].until_ms > now_ms && hp3_fleet_key_cmp(&f->named[i].key, key) == 0)
			return &f->named[i];
	return NULL;
}

static enum hp3_fleet_verdict may_go(
	const struct hp3_fleet *f, const struct hp3_fleet_placed *at, uint64_t now_ms)
{
	const struct hp3_fleet_slot *s = &f->slot[at->slot];
	const struct hp3_fleet_flow *flow = flow_of(f, at);

	if (at->up == HP3_FLEET_NONE)
		return HP3_FLEET_UNPLACED;
	if (!(flow->flags & HP3_FLEET_MOVABLE) || !(s->r.capability & HP3_FLEET_CAN_MOVE))
		return HP3_FLEET_IMMOVABLE;
	if (s->seen.twin)
		return HP3_FLEET_TWIN;
	if (flow->settled_ms < f->p.hold_ms || named_before(f, &flow->key, now_ms) != NULL)
		return HP3_FLEET_SETTLING;
	return flow->n_alts > 0 ? HP3_FLEET_BETTER : HP3_FLEET_NOWHERE;
}

static bool better(const struct hp3_fleet *f, const struct choice *a, const struct choice *b)
{
	uint64_t ra, rb;

	if (b->placed == HP3_FLEET_NONE || a->worst != b->worst)
		return b->placed == HP3_FLEET_NONE || a->worst < b->worst;
	ra = flow_of(f, &f->placed[a->placed])->rate_kbps;
	rb = flow_of(f, &f->placed[b->placed])->rate_kbps;
	return ra != rb ? ra > rb : a->after < b->after; /* else the first one, by host */
}

/* The best of the paths that its host offers to flow `i`, to leave `link`, into *best. */
static void weigh(
	const struct hp3_fleet *f, uint32_t i, uint32_t link, uint64_t now_ms, struct choice *best)
{
	const struct hp3_fleet_placed *at = &f->placed[i];
	const struct hp3_fleet_report *r = &f->slot[at->slot].r;
	const struct hp3_fleet_flow *flow = flow_of(f, at);
	uint64_t rate = flow->rate_kbps, full = load(f, link);
	uint64_t most = full - full * f->p.improve_percent / 100;
	uint32_t at_hop = f->link[at->up].hop;

	if (f->p.link_kbps > 0)
		most = hp3_min_u64(most, f->p.link_kbps * f->p.full_percent / 100);
	for (unsigned k = 0; k < flow->n_alts; k++) {
		uint32_t hop = hp3_fleet_find_hop(f, &r->hop[flow->alt[k].hop]);
		struct choice c = {
			.placed = i, .alt = k, .up = HP3_FLEET_NONE, .down = HP3_FLEET_NONE};

		if (hop != HP3_FLEET_NONE) {
			c.up = hp3_fleet_find_link(f, false, f->link[at->up].leaf, hop);
			c.down = hp3_fleet_find_link(f, true, f->link[at->down].leaf, hop);
		}
		c.after = hp3_max_u64(load(f, c.up), load(f, c.down)) + rate;
		c.worst = hp3_max_u64(c.after, full - rate);
		if (hop != at_hop && !busy(f, c.up, now_ms) && !busy(f, c.down, now_ms) &&
			c.after < full && c.after <= most && better(f, &c, best))
			*best = c;
	}
}

static struct choice choose(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms)
{
	struct choice best = {.placed = HP3_FLEET_NONE};

	for (uint32_t k = link < f->n_listed ? f->first[link] : 0;
		link < f->n_listed && k < f->first[link + 1]; k++) {
		uint32_t i = f->on_link[k];

		if (!f->placed[i].named && may_go(f, &f->placed[i], now_ms) == HP3_FLEET_BETTER)
			weigh(f, i, link, now_ms, &best);
	}
	return best;
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

static void go(struct hp3_fleet *f, struct choice *c)
{
	struct hp3_fleet_placed *at = &f->placed[c->placed];
	const struct hp3_fleet_report *r = &f->slot[at->slot].r;
	const struct hp3_fleet_flow *flow = flow_of(f, at);
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
static void go_back(struct hp3_fleet *f, const struct choice *c, uint64_t until_ms)
{
	struct hp3_fleet_placed *at = &f->placed[c->placed];
	const struct hp3_fleet_flow *flow = flow_of(f, at);

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

static void put_in_words(const struct hp3_fleet *f, const struct choice *c, uint64_t before,
	struct hp3_fleet_move *m)
{
	const struct hp3_fleet_placed *at = &f->placed[c->placed];
	const struct hp3_fleet_report *r = &f->slot[at->slot].r;
	const struct hp3_fleet_flow *flow = flow_of(f, at);

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
		uint64_t l = load(f, i), b = load(f, best);

		if (f->scratch[i] == 0 && !busy(f, i, now_ms) && hot(f, i) &&
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
	struct choice done[HP3_FLEET_MOVES];
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
		struct choice *c = &done[out->n_moves];

		*c = choose(f, link, now_ms);
		if (c->placed == HP3_FLEET_NONE) {
			f->scratch[link] = 1;
			continue;
		}
		put_in_words(f, c, load(f, link), &out->move[out->n_moves++]);
		note_named(f, room, &flow_of(f, &f->placed[c->placed])->key, now_ms);
		go(f, c);
	}
	out->worst_after_kbps = worst(f);
	for (unsigned i = out->n_moves; i-- > 0;)
		go_back(f, &done[i], now_ms + f->p.valid_ms);
}

enum hp3_fleet_verdict hp3_fleet_why(
	const struct hp3_fleet *f, uint32_t i, uint64_t now_ms, unsigned *alt, uint64_t *after_kbps)
{
	const struct hp3_fleet_placed *at = &f->placed[i];
	enum hp3_fleet_verdict v = may_go(f, at, now_ms);
	struct choice best = {.placed = HP3_FLEET_NONE};
	uint32_t link;

	if (v != HP3_FLEET_BETTER)
		return v;
	link = !hot(f, at->up) || (hot(f, at->down) && load(f, at->down) > load(f, at->up))
		       ? at->down
		       : at->up;
	if (!hot(f, link))
		return HP3_FLEET_COOL;
	weigh(f, i, link, now_ms, &best);
	*alt = best.alt;
	*after_kbps = best.after;
	return best.placed == HP3_FLEET_NONE ? HP3_FLEET_NO_GAIN : HP3_FLEET_BETTER;
}

const char *hp3_fleet_verdict_text(enum hp3_fleet_verdict v)
{
	static const char *const texts[] = {
		[HP3_FLEET_BETTER] = "another path is less full",
		[HP3_FLEET_COOL] = "neither of its links is hot",
		[HP3_FLEET_UNPLACED] = "no trace names its path",
		[HP3_FLEET_IMMOVABLE] = "its host says that it cannot be moved now",
		[HP3_FLEET_TWIN] = "two hosts bear its host's name",
		[HP3_FLEET_SETTLING] = "it moved, or was advised to, a short while ago",
		[HP3_FLEET_NOWHERE] = "its host knows no other path",
		[HP3_FLEET_NO_GAIN] = "other paths would be as full",
	};

	_Static_assert(
		sizeof(texts) / sizeof(texts[0]) == HP3_FLEET_VERDICTS, "a verdict without a text");
	return HP3_NAME(texts, v);
}
