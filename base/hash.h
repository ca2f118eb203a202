/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BASE_HASH_H
#define HP3_BASE_HASH_H
/*
 * Seeded hashes of keys. Same seed, same results, on every machine.
 *
 * Peers, applications and the network choose what is looked up. So every factor of every product
 * has a part of the secret key: which keys collide depends on the key, and none collide under all
 * of them. A known factor would leave differences that survive the other one. The seed has to be
 * random and unknown to them.
 *
 * Where a key needs no seed: hp3d itself gives it out (an index, a probe's id), or the table is in
 * the memory of who chooses it.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/random.h"

/* Folded 64x64 -> 128 bit multiplication. */
static inline uint64_t hp3_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Of any bytes, eight at a time. All bits of the result are as good as each other. */
static inline uint64_t hp3_hash(uint64_t seed, const void *bytes, size_t n)
{
	const char *b = bytes;
	uint64_t h = n, word, key;

	for (; n > 0; b += sizeof(word)) {
		size_t part = n < sizeof(word) ? n : sizeof(word);

		word = 0;
		memcpy(&word, b, part);
		n -= part;
		key = hp3_random(&seed); /* one draw after the other, whatever the compiler */
		h = hp3_mix(h ^ hp3_random(&seed), word ^ key);
	}
	key = hp3_random(&seed);
	return hp3_mix(h ^ hp3_random(&seed), key);
}

#endif
