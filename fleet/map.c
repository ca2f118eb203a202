/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports joined into a map: which flow is on which links. */
#include <string.h>
#include "fleet/state.h"

static uint32_t probe(const struct hp3_fleet *f, uint32_t b)
{
	return (b + 1) & (f->link_buckets - 1);
}

static struct hp3_fleet_node leaf_key(const char *leaf)
{
	struct hp3_fleet_node n = {.key = {'l'}};

	memcpy(n.key + 1, leaf, strlen(leaf));
	return n;
}

static struct hp3_fleet_node hop_key(const struct hp3_fleet_addr *hop)
{
	struct hp3_fleet_node n = {.key = {'h', (char)hop->len}};

	memcpy(n.key + 2, hop->b, hop->len);
	return n;
}

static uint32_t node_bucket(const struct hp3_fleet *f, const struct hp3_fleet_node *n)
{
	uint32_t b = (uint32_t)hp3_fleet_hash(f->p.hash_seed, n->key, sizeof(n->key)) &
		     (f->link_buckets - 1);

	while (f->by_node[b] != HP3_FLEET_NONE &&
		memcmp(f->node[f->by_node[b]].key, n->key, sizeof(n->key)) != 0)
		b = probe(f, b);
	return b;
}

static uint32_t node_of(struct hp3_fleet *f, const struct hp3_fleet_node *n)
{
	uint32_t b = node_bucket(f, n);

	if (f->by_node[b] == HP3_FLEET_NONE && f->n_nodes < f->p.max_links) {
		f->node[f->n_nodes] = *n;
		f->by_node[b] = f->n_nodes++;
	}
	return f->by_node[b];
}

uint32_t hp3_fleet_hop_of(struct hp3_fleet *f, const struct hp3_fleet_addr *hop)
{
	struct hp3_fleet_node n = hop_key(hop);

	return node_of(f, &n);
}

uint32_t hp3_fleet_find_hop(const struct hp3_fleet *f, const struct hp3_fleet_addr *hop)
{
	struct hp3_fleet_node n = hop_key(hop);

	return f->by_node[node_bucket(f, &n)];
}

static uint32_t link_bucket(const struct hp3_fleet *f, bool down, uint32_t leaf, uint32_t hop)
{
	const uint32_t key[] = {down, leaf, hop};
	uint32_t b =
		(uint32_t)hp3_fleet_hash(f->p.hash_seed, key, sizeof(key)) & (f->link_buckets - 1);
	const struct hp3_fleet_edge *l;

	for (; f->by_link[b] != HP3_FLEET_NONE; b = probe(f, b)) {
		l = &f->link[f->by_link[b]];
		if (l->down == down && l->leaf == leaf && l->hop == hop)
			break;
	}
	return b;
}

uint32_t hp3_fleet_find_link(const struct hp3_fleet *f, bool down, uint32_t leaf, uint32_t hop)
{
	return f->by_link[link_bucket(f, down, leaf, hop)];
}

uint32_t hp3_fleet_link_of(struct hp3_fleet *f, bool down, uint32_t leaf, uint32_t hop)
{
	uint32_t b;

	if (leaf == HP3_FLEET_NONE || hop == HP3_FLEET_NONE)
		return HP3_FLEET_NONE;
	b = link_bucket(f, down, leaf, hop);
	if (f->by_link[b] == HP3_FLEET_NONE && f->n_links < f->p.max_links) {
		f->link[f->n_links] =
			(struct hp3_fleet_edge){.down = down, .leaf = leaf, .hop = hop};
		f->by_link[b] = f->n_links++;
	}
	return f->by_link[b];
}

bool hp3_fleet_link_before(const struct hp3_fleet *f, uint32_t a, uint32_t b)
{
	const struct hp3_fleet_edge *x = &f->link[a], *y = &f->link[b];
	int ret = memcmp(f->node[x->leaf].key, f->node[y->leaf].key, sizeof(f->node->key));

	if (ret == 0)
		ret = memcmp(f->node[x->hop].key, f->node[y->hop].key, sizeof(f->node->key));
	return ret != 0 ? ret < 0 : x->down < y->down;
}

static uint32_t addr_bucket(const struct hp3_fleet *f, const struct hp3_fleet_addr *a)
{
	uint32_t b = (uint32_t)hp3_fleet_hash(f->p.hash_seed, a->b, a->len) & (f->buckets - 1);

	while (f->by_addr[b] != HP3_FLEET_NONE &&
		hp3_fleet_addr_cmp(&f->owner[f->by_addr[b]].addr, a) != 0)
		b = (b + 1) & (f->buckets - 1);
	return b;
}

/* Whose is an address? Of several that claim it, of the first by name. */
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

static uint32_t leaf_node(struct hp3_fleet *f, const char *leaf)
{
	struct hp3_fleet_node n = leaf_key(leaf);

	return node_of(f, &n);
}

static uint32_t leaf_of_addr(struct hp3_fleet *f, const struct hp3_fleet_addr *a)
{
	uint32_t i = f->by_addr[addr_bucket(f, a)];

	return i == HP3_FLEET_NONE ? leaf_node(f, "") : f->owner[i].leaf;
}

void hp3_fleet_count_on(struct hp3_fleet_edge *l, const struct hp3_fleet_flow *flow)
{
	l->flows++;
	l->severe += (flow->flags & HP3_FLEET_SEVERE) != 0;
	l->load_kbps += flow->rate_kbps;
	l->marked_kbps += flow->rate_kbps * flow->marked_permille;
}

static void place(struct hp3_fleet *f, uint32_t slot, unsigned i)
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
		hp3_fleet_count_on(&f->link[at.up], flow);
		hp3_fleet_count_on(&f->link[at.down], flow);
	} else {
		f->counts.unplaced++;
	}
	f->placed[f->n_placed++] = at;
}

/* Of twins that tell of the same flow the first one by instance is believed. */
static bool told_before(const struct hp3_fleet *f, uint32_t order, const struct hp3_fleet_key *key)
{
	const char *name = f->slot[f->order[order]].r.host;

	while (order-- > 0) {
		const struct hp3_fleet_report *r = &f->slot[f->order[order]].r;

		if (strcmp(r->host, name) != 0)
			return false;
		for (unsigned i = 0; i < r->n_flows; i++)
			if (hp3_fleet_key_cmp(&r->flow[i].key, key) == 0)
				return true;
	}
	return false;
}

static void forget(struct hp3_fleet *f)
{
	f->full = false;
	f->n_nodes = f->n_links = 0;
	memset(f->by_node, 0xff, f->link_buckets * sizeof(*f->by_node));
	memset(f->by_link, 0xff, f->link_buckets * sizeof(*f->by_link));
}

/* Which flows are on which link: counts, then places. */
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
	if (f->full || f->n_nodes == 0)
		forget(f);
	for (uint32_t i = 0; i < f->n_links; i++) {
		struct hp3_fleet_edge *l = &f->link[i];

		l->flows = l->severe = 0;
		l->load_kbps = l->marked_kbps = 0;
	}
	f->n_placed = 0;
	f->counts.unplaced = f->counts.links_full = 0;
	for (uint32_t i = 0; i < f->n_order; i++) {
		struct hp3_fleet_slot *s = &f->slot[f->order[i]];

		s->leaf = leaf_node(f, s->r.leaf);
	}
	place_addresses(f);
	for (uint32_t i = 0; i < f->n_order; i++) {
		const struct hp3_fleet_slot *s = &f->slot[f->order[i]];

		for (unsigned k = 0; k < s->r.n_flows; k++)
			if (!s->seen.twin || !told_before(f, i, &s->r.flow[k].key))
				place(f, f->order[i], k);
	}
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
