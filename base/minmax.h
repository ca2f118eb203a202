/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Minimum and maximum, as functions: unlike a macro, a function evaluates each argument once. */
#include <stdint.h>

static inline uint64_t hp3_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t hp3_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint32_t hp3_min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t hp3_max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}
