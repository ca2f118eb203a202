/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/flows/table.h"
#include <string.h>

uint32_t hp3_table_buckets(uint64_t keys)
{
	uint32_t n = 1;

	while ((uint64_t)n * HP3_BUCKET_KEYS < 2 * keys && n < (1u << 30))
		n <<= 1;
	return n;
}

void hp3_table_init(struct hp3_table *t, void *mem, uint32_t buckets)
{
	t->buckets = mem;
	t->mask = buckets - 1;
	memset(mem, 0, (size_t)buckets * sizeof(struct hp3_bucket));
}

static bool put_key(struct hp3_bucket *b, uint32_t sig, uint32_t index)
{
	for (uint32_t i = 0; i < HP3_BUCKET_KEYS; i++) {
		if ((b->ref[i] & HP3_BUCKET_REF) == 0) {
			b->sig[i] = sig;
			b->ref[i] |= index + 1;
			return true;
		}
	}
	return false;
}

/*
 * Moves one key of a full bucket to its other bucket, which follows from the signature alone, in
 * both directions. At half load, one key in thousands needs it, and one step is enough.
 */
static bool displace_key(struct hp3_table *t, uint32_t bucket)
{
	struct hp3_bucket *b = &t->buckets[bucket];

	for (uint32_t i = 0; i < HP3_BUCKET_KEYS; i++) {
		uint32_t index = (b->ref[i] & HP3_BUCKET_REF) - 1;

		if (put_key(&t->buckets[hp3_table_other(t, bucket, b->sig[i])], b->sig[i], index)) {
			b->ref[i] &= HP3_BUCKET_OVER;
			b->ref[0] |= HP3_BUCKET_OVER;
			return true;
		}
	}
	return false;
}

bool hp3_table_insert(struct hp3_table *t, uint32_t bucket, uint32_t sig, uint32_t index)
{
	uint32_t other = hp3_table_other(t, bucket, sig);

	if (put_key(&t->buckets[bucket], sig, index))
		return true;
	if (!put_key(&t->buckets[other], sig, index)) {
		if (displace_key(t, bucket))
			return put_key(&t->buckets[bucket], sig, index);
		if (!displace_key(t, other))
			return false;
		put_key(&t->buckets[other], sig, index);
	}
	t->buckets[bucket].ref[0] |= HP3_BUCKET_OVER;
	return true;
}

static bool take_key(struct hp3_bucket *b, uint32_t sig, uint32_t index)
{
	for (uint32_t i = 0; i < HP3_BUCKET_KEYS; i++) {
		if (b->sig[i] == sig && (b->ref[i] & HP3_BUCKET_REF) == index + 1) {
			b->ref[i] &= HP3_BUCKET_OVER;
			return true;
		}
	}
	return false;
}

/* The overflow mark stays: it costs a second look-up, never a wrong result. */
void hp3_table_remove(struct hp3_table *t, uint32_t bucket, uint32_t sig, uint32_t index)
{
	if (!take_key(&t->buckets[bucket], sig, index))
		take_key(&t->buckets[hp3_table_other(t, bucket, sig)], sig, index);
}
