/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Seeded hashes of keys. The same seed gives the same results on every machine.
 *
 * Peers, applications and the network choose the keys that hp3 hashes. If a factor of a
 * multiplication did not depend on the seed, an attacker could choose keys that always collide.
 * Both factors of every multiplication therefore include bits derived from the seed. So the seed
 * decides which keys collide, and no two keys collide under every seed. The seed must be random and
 * secret.
 *
 * In two cases, the seed need not be secret: hp3d assigns the keys itself (an index, a probe id),
 * or the process that chooses the keys owns the table.
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

/* Hashes n bytes, eight at a time. All bits of the result are equally well mixed. */
static inline uint64_t hp3_hash(uint64_t seed, const void *bytes, size_t n)
{
	const char *b = bytes;
	uint64_t h = n, word, key;

	for (; n > 0; b += sizeof(word)) {
		size_t part = n < sizeof(word) ? n : sizeof(word);

		word = 0;
		memcpy(&word, b, part);
		n -= part;
		key = hp3_random(&seed); /* in its own statement, to fix the order of draws */
		h = hp3_mix(h ^ hp3_random(&seed), word ^ key);
	}
	key = hp3_random(&seed);
	return hp3_mix(h ^ hp3_random(&seed), key);
}
