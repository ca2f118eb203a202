/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The clock of a host at the start of a world (a simulation in these tests). The engine stores some
 * times in few bits, in units of ns, us, 2^12, 2^15, 2^16 and 2^20 ns, so they wrap. A world whose
 * clock begins shortly before a wrap tests this wrap.
 */
#include "base/random.h"

#define EPOCHS 13u

/* Start of a clock: 1 ns; or at most `within` ns (> 0) before the i-th wrap. */
static inline uint64_t epoch(uint32_t i, uint64_t *rng, uint64_t within)
{
	static const uint64_t wraps[EPOCHS - 1] = {1ull << 31, 1ull << 32, 1ull << 38, 1ull << 39,
		1ull << 43, 1ull << 44, 1ull << 47, 1ull << 48, 1ull << 51, 1ull << 52,
		1000ull << 31, 1000ull << 32};

	return i % EPOCHS == 0 ? 1 : wraps[i % EPOCHS - 1] - 1 - hp3_random(rng) % within;
}

/* Uses a separate random generator, so that it does not change the world's random numbers. */
static inline uint64_t epoch_of(uint64_t seed, uint64_t host, uint64_t within)
{
	uint64_t rng = seed * 31 + host;

	return epoch(hp3_random_below(&rng, EPOCHS), &rng, within);
}
