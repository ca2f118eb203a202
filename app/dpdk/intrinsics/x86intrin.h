/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's headers include this file instead of the compiler's x86intrin.h, because gcc needs 0.5 s
 * for all intrinsics. In a build without AVX, DPDK calls no intrinsics beyond SSE4.1. This file has
 * no include guard, because the compiler's header has its own.
 */
#ifdef __AVX__
#include_next <x86intrin.h>
#else
#include <smmintrin.h>
#endif
