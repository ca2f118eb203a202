/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Hash index: 32-bit signature -> flow record. A bucket is one cache line: eight signatures, and
 * eight references to records. One or two vector instructions compare all signatures if the CPU has
 * them. A key is in its own bucket, or in one other bucket if its own bucket was full. In the
 * second case, its own bucket is marked (HP3_BUCKET_OVER). So a look-up without a hit usually reads
 * one cache line.
 *
 * A matching signature is a hint: the caller compares the key with the record.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define HP3_BUCKET_KEYS 8u
/* in ref[0]: some keys of this bucket are in their other bucket */
#define HP3_BUCKET_OVER 0x80000000u
#define HP3_BUCKET_REF  0x7fffffffu /* record index + 1; 0: free */

struct hp3_bucket {
	uint32_t sig[HP3_BUCKET_KEYS];
	uint32_t ref[HP3_BUCKET_KEYS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct hp3_bucket) == 64, "one cache line");

struct hp3_table {
	struct hp3_bucket *buckets;
	uint32_t mask;
};

/* Buckets for `keys` keys at half load: a power of two. */
uint32_t hp3_table_buckets(uint64_t keys);
void hp3_table_init(struct hp3_table *t, void *mem, uint32_t buckets);
/* False: both buckets are full, and none of their keys can be moved to its other bucket. */
bool hp3_table_insert(struct hp3_table *t, uint32_t bucket, uint32_t sig, uint32_t index);
void hp3_table_remove(struct hp3_table *t, uint32_t bucket, uint32_t sig, uint32_t index);

static inline uint32_t hp3_table_other(const struct hp3_table *t, uint32_t bucket, uint32_t sig)
{
	return (bucket ^ ((sig * 0x9e3779b1u) | 1u)) & t->mask;
}

/* Bit i: sig[i] matches. ref[i] may still be free. */
static inline uint32_t hp3_bucket_match_portable(const struct hp3_bucket *b, uint32_t sig)
{
	uint32_t hits = 0;

	for (uint32_t i = 0; i < HP3_BUCKET_KEYS; i++)
		hits |= (uint32_t)(b->sig[i] == sig) << i;
	return hits;
}

static inline uint32_t hp3_bucket_match(const struct hp3_bucket *b, uint32_t sig)
{
#if defined(__AVX2__)
	const __m256i all = _mm256_load_si256((const __m256i *)b->sig);

	return (uint32_t)_mm256_movemask_ps(
		_mm256_castsi256_ps(_mm256_cmpeq_epi32(all, _mm256_set1_epi32((int)sig))));
#elif defined(__SSE2__)
	const __m128i want = _mm_set1_epi32((int)sig);
	const __m128i lo = _mm_load_si128((const __m128i *)&b->sig[0]);
	const __m128i hi = _mm_load_si128((const __m128i *)&b->sig[4]);

	return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(lo, want))) |
	       (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(hi, want))) << 4;
#elif defined(__aarch64__)
	static const uint32_t place[HP3_BUCKET_KEYS] = {1, 2, 4, 8, 16, 32, 64, 128};
	const uint32x4_t want = vdupq_n_u32(sig);
	const uint32x4_t lo = vceqq_u32(vld1q_u32(&b->sig[0]), want);
	const uint32x4_t hi = vceqq_u32(vld1q_u32(&b->sig[4]), want);

	return vaddvq_u32(vorrq_u32(
		vandq_u32(lo, vld1q_u32(&place[0])), vandq_u32(hi, vld1q_u32(&place[4]))));
#else
	return hp3_bucket_match_portable(b, sig);
#endif
}
