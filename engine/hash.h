/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_HASH_H
#define HP3_ENGINE_HASH_H
/* Seeded mixing of keys. Same seed, same results, on every machine. */
#include <stdint.h>
#include "base/random.h"

/* Folded 64x64 -> 128 bit multiplication. */
static inline uint64_t hp3_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

#endif
