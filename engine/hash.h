/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_HASH_H
#define HP3_ENGINE_HASH_H
/*
 * Seeded mixing of keys. Same seed, same results, on every machine.
 *
 * What is looked up comes from the network, where anybody may choose addresses. So every factor of
 * every product bears a part of the key: which keys meet depends on it, and none meet under all of
 * them. A known factor would leave differences that survive the other one. The key has to be random
 * and unknown (hp3_engine_config.hash_seed).
 */
#include <stdint.h>
#include "base/random.h"

/* Folded 64x64 -> 128 bit multiplication. */
static inline uint64_t hp3_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

#endif
