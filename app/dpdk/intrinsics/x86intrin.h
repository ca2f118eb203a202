/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of the compiler's x86intrin.h, where DPDK's headers include it: gcc needs 0.5 s for all
 * intrinsics. DPDK calls none beyond SSE4.1 in a build without AVX. No include guard: the
 * compiler's header has its own.
 */
#ifdef __AVX__
#include_next <x86intrin.h>
#else
#include <smmintrin.h>
#endif
