/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/flows/pairs.h"
#include <string.h>
#include "base/hash.h"
#include "engine/flows/flow.h"
#include "engine/part.h"

uint32_t hp3_pairs_heads(uint32_t max)
{
	uint32_t n = 1;

	while (n < max && n < (1u << 30))
		n <<= 1;
	return n;
}

void hp3_pairs_init(
	struct hp3_pairs *t, struct hp3_pair *pairs, uint32_t *heads, uint32_t max, uint64_t seed)
{
	*t = (struct hp3_pairs){.pairs = pairs,
		.heads = heads,
		.mask = hp3_pairs_heads(max) - 1,
		.max = max,
		.free = HP3_NO_PAIR};
	for (unsigned i = 0; i < 5; i++)
		t->key[i] = hp3_random(&seed);
	memset(heads, 0xff, (size_t)(t->mask + 1) * sizeof(*heads));
	memset(pairs, 0, (size_t)max * sizeof(*pairs));
	for (uint32_t i = max; i-- > 0;) {
		pairs[i].chain = t->free;
		t->free = i;
	}
}

/* Copies the ends as a pair stores them; returns their hash. */
static uint32_t hash_ends(const struct hp3_pairs *t, const struct hp3_ends *ends, uint8_t both[32])
{
	const uint64_t *k = t->key;
	uint64_t w[4], h;

	memset(both, 0, 32);
	hp3_ends_copy(ends, both, both + 16);
	memcpy(w, both, 32);
	h = hp3_mix(hp3_mix(w[0] ^ k[0], w[1] ^ k[1]) ^ w[2] ^ k[2], w[3] ^ k[3]);
	return (uint32_t)(hp3_mix(h ^ ends->vlan, k[4]) >> 32);
}

static uint32_t find_pair(const struct hp3_pairs *t, const struct hp3_ends *ends, uint32_t hash,
	const uint8_t both[32])
{
	for (uint32_t i = t->heads[hash & t->mask]; i != HP3_NO_PAIR; i = t->pairs[i].chain) {
		const struct hp3_pair *p = &t->pairs[i];

		if (p->hash == hash && p->ipv6 == ends->ipv6 && p->vlan == ends->vlan &&
			memcmp(p->local, both, 16) == 0 && memcmp(p->remote, both + 16, 16) == 0)
			return i;
	}
	return HP3_NO_PAIR;
}

uint32_t hp3_pairs_find(const struct hp3_pairs *t, const struct hp3_ends *ends)
{
	uint8_t both[32];
	uint32_t hash = hash_ends(t, ends, both);

	return find_pair(t, ends, hash, both);
}

uint32_t hp3_pairs_get(struct hp3_pairs *t, const struct hp3_ends *ends)
{
	uint8_t both[32];
	uint32_t hash = hash_ends(t, ends, both), i = find_pair(t, ends, hash, both);
	struct hp3_pair *p;

	if (i != HP3_NO_PAIR || t->free == HP3_NO_PAIR)
		return i;
	i = t->free;
	p = &t->pairs[i];
	t->free = p->chain;
	*p = (struct hp3_pair){.vlan = ends->vlan,
		.ipv6 = ends->ipv6,
		.hash = hash,
		.chain = t->heads[hash & t->mask],
		.flows = HP3_NO_FLOW,
		.answered = HP3_NO_FLOW,
		.void_hand = HP3_NO_FLOW};
	memcpy(p->local, both, 16);
	memcpy(p->remote, both + 16, 16);
	t->heads[hash & t->mask] = i;
	t->used++;
	return i;
}

void hp3_pairs_free(struct hp3_pairs *t, uint32_t index)
{
	struct hp3_pair *p = &t->pairs[index];
	uint32_t *link = &t->heads[p->hash & t->mask];

	while (*link != index)
		link = &t->pairs[*link].chain;
	*link = p->chain;
	p->chain = t->free;
	t->free = index;
	t->used--;
}

static void take_pairs(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->pairs.pairs, e->cfg.max_pairs);
	HP3_TAKE(a, e->pairs.heads, hp3_pairs_heads(e->cfg.max_pairs));
}

static void init_pairs(struct hp3_engine *e)
{
	hp3_pairs_init(&e->pairs, e->pairs.pairs, e->pairs.heads, e->cfg.max_pairs, e->seed[4]);
}

const struct hp3_part hp3_pairs_part = {.take = take_pairs, .init = init_pairs};
