/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With clang, DPDK's headers include this file instead of the compiler's immintrin.h (see
 * x86intrin.h). The header roce/crc.h needs wmmintrin.h.
 */
#ifdef __AVX__
#include_next <immintrin.h>
#else
#include <smmintrin.h>
#include <wmmintrin.h>
#endif
