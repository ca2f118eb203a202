/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash index of the flow table: an entry is found from insertion to removal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/hash.h"
#include "engine/flows/table.h"

#define SEED 0x7ab1eu

static struct hp3_table table;

static void make(uint32_t buckets)
{
	hp3_table_init(&table, aligned_alloc(64, buckets * sizeof(struct hp3_bucket)), buckets);
}

static void destroy(void)
{
	free(table.buckets);
}

/* As the engine looks up: own bucket, then the other one if the first is marked. */
static bool found(uint32_t bucket, uint32_t sig, uint32_t index)
{
	const struct hp3_bucket *b = &table.buckets[bucket];

	for (int turn = 0; turn < 2; turn++) {
		for (uint32_t hits = hp3_bucket_match(b, sig); hits != 0; hits &= hits - 1) {
			if ((b->ref[__builtin_ctz(hits)] & HP3_BUCKET_REF) == index + 1)
				return true;
		}
		if (!(b->ref[0] & HP3_BUCKET_OVER))
			return false;
		b = &table.buckets[hp3_table_other(&table, bucket, sig)];
	}
	return false;
}

static void sizes(void **state)
{
	assert_int_equal(hp3_table_buckets(1), 1);
	assert_int_equal(hp3_table_buckets(4), 1);
	assert_int_equal(hp3_table_buckets(5), 2);
	for (uint64_t keys = 1; keys < (1u << 24); keys = keys * 3 + 1) {
		uint64_t room = (uint64_t)hp3_table_buckets(keys) * HP3_BUCKET_KEYS;

		assert_int_equal(room & (room - 1), 0);
		assert_true(room >= 2 * keys && (room < 4 * keys || room == HP3_BUCKET_KEYS));
	}
}

/* Few values, so that matches are frequent, in every place and several at a time. */
static void portable_and_vector_match_agree(void **state)
{
	uint64_t rng = SEED;
	uint32_t seen = 0;

	print_message("seed %#x\n", SEED);
	for (int i = 0; i < 100000; i++) {
		struct hp3_bucket b;
		uint32_t sig = hp3_random_below(&rng, 4) * 0x55555555u, want = 0;

		for (uint32_t k = 0; k < HP3_BUCKET_KEYS; k++) {
			b.sig[k] = hp3_random_below(&rng, 4) * 0x55555555u;
			if (b.sig[k] == sig)
				want |= 1u << k;
		}
		assert_int_equal(hp3_bucket_match(&b, sig), want);
		assert_int_equal(hp3_bucket_match_portable(&b, sig), want);
		seen |= want;
	}
	assert_int_equal(seen, 0xff);
}

static void the_other_bucket(void **state)
{
	uint64_t rng = SEED;

	make(256);
	for (int i = 0; i < 10000; i++) {
		uint32_t bucket = hp3_random_below(&rng, 256), sig = (uint32_t)hp3_random(&rng),
			 other = hp3_table_other(&table, bucket, sig);

		assert_in_range(other, 0, 255);
		assert_int_not_equal(other, bucket);
		assert_int_equal(hp3_table_other(&table, other, sig), bucket);
	}
	destroy();
}

/* Half load and random keys: nothing is refused, nothing lost, nothing found that was taken out. */
static void half_load_loses_nothing(void **state)
{
	enum { KEYS = 1 << 17 };
	uint32_t buckets = hp3_table_buckets(KEYS);
	uint32_t *at = malloc(KEYS * sizeof(*at)), *sig = malloc(KEYS * sizeof(*sig));
	uint64_t rng = SEED;

	print_message("seed %#x\n", SEED);
	assert_int_equal(buckets * HP3_BUCKET_KEYS, 2 * KEYS);
	make(buckets);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < KEYS; i++) {
			at[i] = hp3_random_below(&rng, buckets);
			sig[i] = (uint32_t)hp3_random(&rng);
			assert_true(hp3_table_insert(&table, at[i], sig[i], i));
		}
		for (uint32_t i = 0; i < KEYS; i++)
			assert_true(found(at[i], sig[i], i));
		for (uint32_t i = 0; i < KEYS; i += 2)
			hp3_table_remove(&table, at[i], sig[i], i);
		for (uint32_t i = 0; i < KEYS; i++)
			assert_int_equal(found(at[i], sig[i], i), i % 2);
		for (uint32_t i = 1; i < KEYS; i += 2)
			hp3_table_remove(&table, at[i], sig[i], i);
	}
	for (uint32_t b = 0; b < buckets; b++) {
		for (uint32_t k = 0; k < HP3_BUCKET_KEYS; k++)
			assert_int_equal(table.buckets[b].ref[k] & HP3_BUCKET_REF, 0);
	}
	free(at);
	free(sig);
	destroy();
}

/* Sixteen keys of one signature fill both buckets; the seventeenth is refused and harms none. */
static void overflow_into_the_other_bucket(void **state)
{
	enum { SIG = 0xabcdef, AT = 3 };
	uint32_t other;

	make(16);
	other = hp3_table_other(&table, AT, SIG);
	for (uint32_t i = 0; i < HP3_BUCKET_KEYS; i++)
		assert_true(hp3_table_insert(&table, AT, SIG, i));
	assert_false(table.buckets[AT].ref[0] & HP3_BUCKET_OVER);
	for (uint32_t i = 8; i < 16; i++)
		assert_true(hp3_table_insert(&table, AT, SIG, i));
	assert_true(table.buckets[AT].ref[0] & HP3_BUCKET_OVER);
	assert_false(hp3_table_insert(&table, AT, SIG, 16));
	for (uint32_t i = 0; i < 16; i++)
		assert_true(found(AT, SIG, i));
	assert_false(found(AT, SIG, 16));
	/* The mark and the first reference share a word: neither harms the other. */
	hp3_table_remove(&table, AT, SIG, 0);
	assert_false(found(AT, SIG, 0));
	assert_true(found(AT, SIG, 15));
	assert_true(hp3_table_insert(&table, AT, SIG, 77));
	assert_true(found(AT, SIG, 77));
	assert_true(found(AT, SIG, 15));
	hp3_table_remove(&table, AT, SIG, 15);
	assert_false(found(AT, SIG, 15));
	assert_int_equal(table.buckets[other].ref[7], 0);
	destroy();
}

static void removal_takes_only_its_own_reference(void **state)
{
	make(4);
	assert_true(hp3_table_insert(&table, 1, 9, 100));
	assert_true(hp3_table_insert(&table, 1, 9, 101));
	hp3_table_remove(&table, 1, 9, 102); /* not there */
	hp3_table_remove(&table, 1, 8, 100);
	assert_true(found(1, 9, 100));
	hp3_table_remove(&table, 1, 9, 100);
	assert_false(found(1, 9, 100));
	assert_true(found(1, 9, 101));
	destroy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(portable_and_vector_match_agree),
		cmocka_unit_test(the_other_bucket),
		cmocka_unit_test(half_load_loses_nothing),
		cmocka_unit_test(overflow_into_the_other_bucket),
		cmocka_unit_test(removal_takes_only_its_own_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
