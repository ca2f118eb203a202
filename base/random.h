/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Random numbers by splitmix64 (Steele, Lea, Flood, OOPSLA 2014), with a period of 2^64. The caller
 * owns the 64-bit state and seeds it with any number. The same seed gives the same numbers on every
 * machine.
 */
#include <stdint.h>

static inline uint64_t hp3_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* A number from 0 to n - 1; n > 0. */
static inline uint32_t hp3_random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((hp3_random(state) >> 32) * n) >> 32);
}
