/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_HASH_H
#define HP3_ENGINE_HASH_H
/* Seeded mixing of keys and the engine's random numbers. Same seed, same results, on every machine.
 */
#include <stdint.h>

/* Folded 64x64 -> 128 bit multiplication. */
static inline uint64_t hp3_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* splitmix64: one state word, full period. */
static inline uint64_t hp3_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 .. n - 1 */
static inline uint32_t hp3_random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((hp3_random(state) >> 32) * n) >> 32);
}

#endif
