/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of the compiler's immintrin.h, which DPDK's headers include with clang (x86intrin.h).
 * wmmintrin.h: for roce/crc.h.
 */
#ifdef __AVX__
#include_next <immintrin.h>
#else
#include <smmintrin.h>
#include <wmmintrin.h>
#endif
