/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes (leaves and hops) and the links between them: found by name, numbered, and, if unused,
 * removed when their tables fill.
 */
#include <string.h>
#include "base/hash.h"
#include "fleet/state.h"

static uint32_t next_bucket(const struct hp3_fleet *f, uint32_t b)
{
	return (b + 1) & (f->link_buckets - 1);
}

static struct hp3_fleet_node hop_key(const struct hp3_fleet_addr *hop)
{
	struct hp3_fleet_node n = {.key = {'h', (char)hop->len}};

	memcpy(n.key + 2, hop->b, hop->len);
	return n;
}

static uint32_t node_bucket(const struct hp3_fleet *f, const struct hp3_fleet_node *n)
{
	uint32_t b =
		(uint32_t)hp3_hash(f->p.hash_seed, n->key, sizeof(n->key)) & (f->link_buckets - 1);

	while (f->by_node[b] != HP3_FLEET_NONE &&
		memcmp(f->node[f->by_node[b]].key, n->key, sizeof(n->key)) != 0)
		b = next_bucket(f, b);
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
	uint32_t b = (uint32_t)hp3_hash(f->p.hash_seed, key, sizeof(key)) & (f->link_buckets - 1);
	const struct hp3_fleet_edge *l;

	for (; f->by_link[b] != HP3_FLEET_NONE; b = next_bucket(f, b)) {
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

uint32_t hp3_fleet_leaf_of(struct hp3_fleet *f, const char *leaf)
{
	struct hp3_fleet_node n = {.key = {'l'}};

	memcpy(n.key + 1, leaf, strlen(leaf));
	return node_of(f, &n);
}

static bool is_in_use(const struct hp3_fleet *f, const struct hp3_fleet_edge *l, uint64_t now_ms)
{
	uint32_t window = (uint32_t)((UINT64_C(1) << (f->p.window_ms / f->p.period_ms)) - 1);

	return l->flows > 0 || l->marks > 0 || l->streak > 0 || (l->alarms & window) != 0 ||
	       l->busy_ms > now_ms;
}

/* Empties the hash tables of nodes and links, whose memory is not initialised at the start. */
static void clear_tables(struct hp3_fleet *f)
{
	memset(f->by_node, 0xff, f->link_buckets * sizeof(*f->by_node));
	memset(f->by_link, 0xff, f->link_buckets * sizeof(*f->by_link));
}

/* Moves the nodes of used links to the front of the table; scratch: their new numbers. */
static void keep_nodes(struct hp3_fleet *f)
{
	uint32_t nodes = f->n_nodes;

	f->n_nodes = 0;
	for (uint32_t i = 0; i < nodes; i++) {
		if (f->scratch[i] == HP3_FLEET_NONE)
			continue;
		f->scratch[i] = f->n_nodes;
		f->node[f->n_nodes] = f->node[i];
		f->by_node[node_bucket(f, &f->node[i])] = f->n_nodes++;
	}
}

static void keep_links(struct hp3_fleet *f, uint32_t kept)
{
	for (uint32_t i = 0; i < kept; i++) {
		struct hp3_fleet_edge *l = &f->link[i];

		l->leaf = f->scratch[l->leaf];
		l->hop = f->scratch[l->hop];
		f->by_link[link_bucket(f, l->down, l->leaf, l->hop)] = i;
	}
	f->n_links = kept;
}

void hp3_fleet_make_room(struct hp3_fleet *f, uint64_t now_ms)
{
	uint32_t most = f->p.max_links / 4 * 3, kept = 0;

	if (f->n_nodes > 0 && f->n_nodes <= most && f->n_links <= most && !f->full)
		return;
	f->full = false;
	memset(f->scratch, 0xff, f->p.max_links * sizeof(*f->scratch));
	for (uint32_t i = 0; i < f->n_links; i++) {
		const struct hp3_fleet_edge *l = &f->link[i];

		if (!is_in_use(f, l, now_ms))
			continue;
		f->scratch[l->leaf] = f->scratch[l->hop] = 0;
		f->link[kept++] = *l;
	}
	clear_tables(f);
	f->n_links = 0;
	keep_nodes(f);
	keep_links(f, kept);
}
