/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins reports into a map: which flow uses which links. */
#include <string.h>
#include "base/hash.h"
#include "fleet/state.h"

static uint32_t addr_bucket(const struct hp3_fleet *f, const struct hp3_fleet_addr *a)
{
	uint32_t b = (uint32_t)hp3_hash(f->p.hash_seed, a->b, a->len) & (f->buckets - 1);

	while (f->by_addr[b] != HP3_FLEET_NONE &&
		hp3_fleet_addr_cmp(&f->owner[f->by_addr[b]].addr, a) != 0)
		b = (b + 1) & (f->buckets - 1);
	return b;
}

/* The owners of addresses. If several hosts report an address, the first by name owns it. */
static void place_addresses(struct hp3_fleet *f)
{
	memset(f->by_addr, 0xff, f->buckets * sizeof(*f->by_addr));
	f->n_owners = 0;
	for (uint32_t i = 0; i < f->n_order; i++) {
		const struct hp3_fleet_slot *s = &f->slot[f->order[i]];

		for (uint32_t k = 0; k < s->r.n_addrs; k++) {
			uint32_t b = addr_bucket(f, &s->r.addr[k]);

			if (f->by_addr[b] != HP3_FLEET_NONE)
				continue;
			f->owner[f->n_owners] = (struct hp3_fleet_owner){s->r.addr[k], s->leaf};
			f->by_addr[b] = f->n_owners++;
		}
	}
}

static uint32_t leaf_of_addr(struct hp3_fleet *f, const struct hp3_fleet_addr *a)
{
	uint32_t i = f->by_addr[addr_bucket(f, a)];

	return i == HP3_FLEET_NONE ? hp3_fleet_leaf_of(f, "") : f->owner[i].leaf;
}

void hp3_fleet_count_on(struct hp3_fleet_edge *l, const struct hp3_fleet_flow *flow, int by)
{
	uint64_t kbps = (uint64_t)by * flow->rate_kbps;

	l->flows += (uint32_t)by;
	l->severe += (flow->flags & HP3_FLEET_SEVERE) != 0 ? (uint32_t)by : 0;
	l->load_kbps += kbps;
	l->marked_kbps += kbps * flow->marked_permille;
}

static void place_flow(struct hp3_fleet *f, uint32_t slot, unsigned i)
{
	const struct hp3_fleet_report *r = &f->slot[slot].r;
	const struct hp3_fleet_flow *flow = &r->flow[i];
	struct hp3_fleet_placed at = {
		.slot = slot, .flow = (uint8_t)i, .up = HP3_FLEET_NONE, .down = HP3_FLEET_NONE};

	if (flow->hop != HP3_FLEET_NO_HOP) {
		uint32_t hop = hp3_fleet_hop_of(f, &r->hop[flow->hop]);

		at.up = hp3_fleet_link_of(f, false, f->slot[slot].leaf, hop);
		at.down = hp3_fleet_link_of(f, true, leaf_of_addr(f, &flow->key.dst), hop);
		if (at.up == HP3_FLEET_NONE || at.down == HP3_FLEET_NONE) {
			at.up = at.down = HP3_FLEET_NONE;
			f->full = true;
			f->counts.links_full++;
		}
	}
	if (at.up != HP3_FLEET_NONE) {
		hp3_fleet_count_on(&f->link[at.up], flow, 1);
		hp3_fleet_count_on(&f->link[at.down], flow, 1);
	} else {
		f->counts.unplaced++;
	}
	f->placed[f->n_placed++] = at;
}

/*
 * Two instances of a host name may report the same flow: the report of the first instance counts.
 * `order`: position of the second instance.
 */
static bool told_before(const struct hp3_fleet *f, uint32_t order, const struct hp3_fleet_key *key)
{
	const struct hp3_fleet_report *r = &f->slot[f->order[order - 1]].r;

	for (unsigned i = 0; i < r->n_flows; i++)
		if (hp3_fleet_key_cmp(&r->flow[i].key, key) == 0)
			return true;
	return false;
}

/*
 * Places flows on links. Both instances of a host name together have at most HP3_FLEET_FLOWS flows.
 */
static void place_flows(struct hp3_fleet *f)
{
	uint32_t placed = 0;

	for (uint32_t i = 0; i < f->n_order; i++) {
		const struct hp3_fleet_slot *s = &f->slot[f->order[i]];
		bool second = i > 0 && strcmp(f->slot[f->order[i - 1]].r.host, s->r.host) == 0;

		placed = second ? placed : 0;
		for (unsigned k = 0; k < s->r.n_flows; k++) {
			if (second && told_before(f, i, &s->r.flow[k].key))
				continue;
			if (placed++ < HP3_FLEET_FLOWS)
				place_flow(f, f->order[i], k);
			else
				f->counts.over_quota++;
		}
	}
}

/* Lists the flows of each link: counts them first, then places them. */
static void list_flows(struct hp3_fleet *f)
{
	uint32_t at = 0;

	f->n_listed = f->n_links;
	for (uint32_t i = 0; i < f->n_links; i++) {
		f->first[i] = at;
		f->scratch[i] = at;
		at += f->link[i].flows;
	}
	f->first[f->n_links] = at;
	for (uint32_t i = 0; i < f->n_placed; i++) {
		if (f->placed[i].up == HP3_FLEET_NONE)
			continue;
		f->on_link[f->scratch[f->placed[i].up]++] = i;
		f->on_link[f->scratch[f->placed[i].down]++] = i;
	}
}

void hp3_fleet_draw(struct hp3_fleet *f)
{
	for (uint32_t i = 0; i < f->n_links; i++) {
		struct hp3_fleet_edge *l = &f->link[i];

		l->flows = l->severe = 0;
		l->load_kbps = l->marked_kbps = 0;
	}
	f->n_placed = 0;
	f->counts.unplaced = f->counts.links_full = f->counts.over_quota = 0;
	for (uint32_t i = 0; i < f->n_order; i++) {
		struct hp3_fleet_slot *s = &f->slot[f->order[i]];

		s->leaf = hp3_fleet_leaf_of(f, s->r.leaf);
	}
	place_addresses(f);
	place_flows(f);
	list_flows(f);
	f->counts.flows = f->n_placed;
	f->counts.links = 0;
	for (uint32_t i = 0; i < f->n_links; i++)
		f->counts.links += f->link[i].flows > 0;
}

bool hp3_fleet_link_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_link *out)
{
	const struct hp3_fleet_edge *l;
	const char *hop;

	if (i >= f->n_links)
		return false;
	l = &f->link[i];
	*out = (struct hp3_fleet_link){.down = l->down,
		.load_kbps = l->load_kbps,
		.flows = l->flows,
		.severe = l->severe,
		.marks = l->marks,
		.level = l->level};
	if (l->load_kbps > 0)
		out->marked_permille = (uint32_t)(l->marked_kbps / l->load_kbps);
	memcpy(out->leaf, f->node[l->leaf].key + 1, sizeof(out->leaf));
	hop = f->node[l->hop].key;
	out->hop.len = (uint8_t)hop[1];
	memcpy(out->hop.b, hop + 2, out->hop.len);
	return true;
}

bool hp3_fleet_flow_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_place *out)
{
	const struct hp3_fleet_placed *at;
	const struct hp3_fleet_slot *s;

	if (i >= f->n_placed)
		return false;
	at = &f->placed[i];
	s = &f->slot[at->slot];
	*out = (struct hp3_fleet_place){
		.flow = &s->r.flow[at->flow],
		.host = &s->seen,
		.up = at->up == HP3_FLEET_NONE ? -1 : (int)at->up,
		.down = at->down == HP3_FLEET_NONE ? -1 : (int)at->down,
	};
	return true;
}
