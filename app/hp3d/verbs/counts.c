/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/verbs/counts.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

static uint32_t home_of(const struct hp3d_counts *c, const uint64_t key[3])
{
	return (uint32_t)hp3_hash(c->seed, key, sizeof(c->at->key)) & (c->buckets - 1);
}

int hp3d_counts_open(struct hp3d_counts *c, uint32_t most, uint64_t seed)
{
	*c = (struct hp3d_counts){.buckets = 2, .seed = seed};
	while (c->buckets < 2 * most)
		c->buckets *= 2;
	c->at = calloc(c->buckets, sizeof(*c->at));
	return c->at != NULL ? 0 : -ENOMEM;
}

void hp3d_counts_close(struct hp3d_counts *c)
{
	free(c->at);
	c->at = NULL;
}

struct hp3d_count *hp3d_counts_find(const struct hp3d_counts *c, const uint64_t key[3])
{
	uint32_t b = home_of(c, key);

	while (c->at[b].n != 0 && memcmp(c->at[b].key, key, sizeof(c->at[b].key)) != 0)
		b = (b + 1) & (c->buckets - 1);
	return &c->at[b];
}

/* Backward-shift deletion: later entries of the run move up. */
void hp3d_counts_free(struct hp3d_counts *c, const struct hp3d_count *count)
{
	uint32_t mask = c->buckets - 1, hole = (uint32_t)(count - c->at);

	for (uint32_t b = (hole + 1) & mask; c->at[b].n != 0; b = (b + 1) & mask) {
		uint32_t home = home_of(c, c->at[b].key);

		if (((b - home) & mask) < ((b - hole) & mask))
			continue;
		c->at[hole] = c->at[b];
		hole = b;
	}
	c->at[hole].n = 0;
}
