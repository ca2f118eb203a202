/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_EPOCHS_H
#define HP3_TESTS_EPOCHS_H
/*
 * The clock of a host at the start of a world. Some times are stored in few bits, in ns, us, 2^12,
 * 2^15, 2^16 and 2^20 ns, and wrap; a world that begins shortly before a wrap tests it.
 */
#include "base/random.h"

#define EPOCHS 13u

/* From 1; or at most `within` ns (not 0) before the i-th of these moments. */
static inline uint64_t epoch(uint32_t i, uint64_t *rng, uint64_t within)
{
	static const uint64_t wraps[EPOCHS - 1] = {1ull << 31, 1ull << 32, 1ull << 38, 1ull << 39,
		1ull << 43, 1ull << 44, 1ull << 47, 1ull << 48, 1ull << 51, 1ull << 52,
		1000ull << 31, 1000ull << 32};

	return i % EPOCHS == 0 ? 1 : wraps[i % EPOCHS - 1] - 1 - hp3_random(rng) % within;
}

/* A random generator apart from the world's, so that it does not change the world's draws. */
static inline uint64_t epoch_of(uint64_t seed, uint64_t host, uint64_t within)
{
	uint64_t rng = seed * 31 + host;

	return epoch(hp3_random_below(&rng, EPOCHS), &rng, within);
}

#endif
