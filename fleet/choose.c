/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses a flow to leave a link, and one of the other paths in its host's report: the pair after
 * which the fullest of the links concerned has the least load; of several pairs, the one with the
 * heavier flow. Also gives the reason why a flow does not move.
 */
#include "fleet/state.h"
#include <string.h>
#include "base/minmax.h"
#include "base/names.h"

const struct hp3_fleet_flow *hp3_fleet_flow_of(
	const struct hp3_fleet *f, const struct hp3_fleet_placed *at)
{
	return &f->slot[at->slot].r.flow[at->flow];
}

uint64_t hp3_fleet_load(const struct hp3_fleet *f, uint32_t link)
{
	return link == HP3_FLEET_NONE ? 0 : f->link[link].load_kbps;
}

bool hp3_fleet_is_busy(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms)
{
	return link != HP3_FLEET_NONE && f->link[link].busy_ms > now_ms;
}

bool hp3_fleet_is_hot(const struct hp3_fleet *f, uint32_t link)
{
	const struct hp3_fleet_edge *l = &f->link[link];

	if (l->flows == 0)
		return false;
	return l->severe > 0 || l->marked_kbps > l->load_kbps * f->p.mark_permille ||
	       (f->p.link_kbps > 0 && l->load_kbps * 100 >= f->p.link_kbps * f->p.full_percent);
}

/* Did plans within hold_ms name the flow, or its host HP3_FLEET_FLOWS times? */
static enum hp3_fleet_verdict named_before(
	const struct hp3_fleet *f, const struct hp3_fleet_placed *at, uint64_t now_ms)
{
	const char *host = f->slot[at->slot].r.host;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_named; i++) {
		const struct hp3_fleet_named *m = &f->named[i];

		if (m->until_ms <= now_ms || strcmp(m->host, host) != 0)
			continue;
		if (hp3_fleet_key_cmp(&m->key, &hp3_fleet_flow_of(f, at)->key) == 0)
			return HP3_FLEET_SETTLING;
		n++;
	}
	return n >= HP3_FLEET_FLOWS ? HP3_FLEET_QUOTA : HP3_FLEET_BETTER;
}

static enum hp3_fleet_verdict may_go(
	const struct hp3_fleet *f, const struct hp3_fleet_placed *at, uint64_t now_ms)
{
	const struct hp3_fleet_slot *s = &f->slot[at->slot];
	const struct hp3_fleet_flow *flow = hp3_fleet_flow_of(f, at);
	enum hp3_fleet_verdict before;

	if (at->up == HP3_FLEET_NONE)
		return HP3_FLEET_UNPLACED;
	if (!(flow->flags & HP3_FLEET_MOVABLE) || !(s->r.capability & HP3_FLEET_CAN_MOVE))
		return HP3_FLEET_IMMOVABLE;
	if (s->seen.twin)
		return HP3_FLEET_TWIN;
	if (flow->settled_ms < f->p.hold_ms)
		return HP3_FLEET_SETTLING;
	before = named_before(f, at, now_ms);
	if (before != HP3_FLEET_BETTER)
		return before;
	return flow->n_alts > 0 ? HP3_FLEET_BETTER : HP3_FLEET_NOWHERE;
}

static bool is_better(const struct hp3_fleet *f, const struct hp3_fleet_choice *a,
	const struct hp3_fleet_choice *b)
{
	uint64_t ra, rb;

	if (b->placed == HP3_FLEET_NONE || a->worst != b->worst)
		return b->placed == HP3_FLEET_NONE || a->worst < b->worst;
	ra = hp3_fleet_flow_of(f, &f->placed[a->placed])->rate_kbps;
	rb = hp3_fleet_flow_of(f, &f->placed[b->placed])->rate_kbps;
	/* otherwise, the first flow in the order of hosts */
	return ra != rb ? ra > rb : a->after < b->after;
}

/* The switch of the advised path that the flow's host has just probed and found no better. */
static unsigned declined_hop(const struct hp3_fleet_flow *flow)
{
	for (unsigned k = 0; flow->advised == HP3_FLEET_DECLINED && k < flow->n_alts; k++)
		if (flow->alt[k].port == flow->advised_port)
			return flow->alt[k].hop;
	return HP3_FLEET_NO_HOP;
}

/* Sets *best if one of the other paths of flow `i` is a better choice to leave `link`. */
static void weigh_paths(const struct hp3_fleet *f, uint32_t i, uint32_t link, uint64_t now_ms,
	struct hp3_fleet_choice *best)
{
	const struct hp3_fleet_placed *at = &f->placed[i];
	const struct hp3_fleet_report *r = &f->slot[at->slot].r;
	const struct hp3_fleet_flow *flow = hp3_fleet_flow_of(f, at);
	uint64_t rate = flow->rate_kbps, full = hp3_fleet_load(f, link);
	uint64_t most = full - full * f->p.improve_percent / 100;
	uint32_t at_hop = f->link[at->up].hop;
	unsigned declined = declined_hop(flow);

	if (f->p.link_kbps > 0)
		most = hp3_min_u64(most, f->p.link_kbps * f->p.full_percent / 100);
	for (unsigned k = 0; k < flow->n_alts; k++) {
		uint32_t hop = hp3_fleet_find_hop(f, &r->hop[flow->alt[k].hop]);
		struct hp3_fleet_choice c = {
			.placed = i, .alt = k, .up = HP3_FLEET_NONE, .down = HP3_FLEET_NONE};
		bool gains;

		if (hop != HP3_FLEET_NONE) {
			c.up = hp3_fleet_find_link(f, false, f->link[at->up].leaf, hop);
			c.down = hp3_fleet_find_link(f, true, f->link[at->down].leaf, hop);
		}
		c.after = hp3_max_u64(hp3_fleet_load(f, c.up), hp3_fleet_load(f, c.down)) + rate;
		c.worst = hp3_max_u64(c.after, full - rate);
		gains = c.after < full && c.after <= most;
		if (gains && hop != at_hop && flow->alt[k].hop != declined &&
			!hp3_fleet_is_busy(f, c.up, now_ms) &&
			!hp3_fleet_is_busy(f, c.down, now_ms) && is_better(f, &c, best))
			*best = c;
	}
}

struct hp3_fleet_choice hp3_fleet_choose(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms)
{
	struct hp3_fleet_choice best = {.placed = HP3_FLEET_NONE};

	for (uint32_t k = link < f->n_listed ? f->first[link] : 0;
		link < f->n_listed && k < f->first[link + 1]; k++) {
		uint32_t i = f->on_link[k];

		if (!f->placed[i].named && may_go(f, &f->placed[i], now_ms) == HP3_FLEET_BETTER)
			weigh_paths(f, i, link, now_ms, &best);
	}
	return best;
}

enum hp3_fleet_verdict hp3_fleet_why(
	const struct hp3_fleet *f, uint32_t i, uint64_t now_ms, unsigned *alt, uint64_t *after_kbps)
{
	const struct hp3_fleet_placed *at = &f->placed[i];
	enum hp3_fleet_verdict v = may_go(f, at, now_ms);
	struct hp3_fleet_choice best = {.placed = HP3_FLEET_NONE};
	uint32_t link;

	if (v != HP3_FLEET_BETTER)
		return v;
	link = !hp3_fleet_is_hot(f, at->up) ||
			       (hp3_fleet_is_hot(f, at->down) &&
				       hp3_fleet_load(f, at->down) > hp3_fleet_load(f, at->up))
		       ? at->down
		       : at->up;
	if (!hp3_fleet_is_hot(f, link))
		return HP3_FLEET_COOL;
	weigh_paths(f, i, link, now_ms, &best);
	*alt = best.alt;
	*after_kbps = best.after;
	if (best.placed != HP3_FLEET_NONE)
		return HP3_FLEET_BETTER;
	return declined_hop(hp3_fleet_flow_of(f, at)) != HP3_FLEET_NO_HOP ? HP3_FLEET_NO_BETTER
									  : HP3_FLEET_NO_GAIN;
}

const char *hp3_fleet_verdict_text(enum hp3_fleet_verdict v)
{
	static const char *const texts[] = {HP3_FLEET_VERDICT_TEXTS(HP3_NAME_TEXT)};

	return HP3_NAME(texts, v);
}
