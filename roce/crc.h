/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * CRC-32 arithmetic for icrc.h. Other modules do not use this file.
 *
 * A CRC register is a polynomial over GF(2) modulo P, the CRC's polynomial, in reflected order: bit
 * 31 is x^0. Appending n zero bytes to the message multiplies the register by x^(8n). Let d be a
 * change of four bytes (loaded little-endian). Let m be the number of bytes from the first changed
 * byte to the end of the message. The change d then changes the CRC by d * x^(8m) mod P.
 *
 * There are two functions for multiplication: a portable one, and one with carry-less instructions
 * (PCLMULQDQ, PMULL). On aarch64, there are also two functions that update the register; one of
 * them uses the CRC32 instructions. The tests run all of these functions.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "roce/crc_const.h"
#include "roce/icrc.h"
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "hp3 reads and writes CRC registers as little-endian words"
#endif

extern const uint32_t hp3_crc_slice[8][256]; /* [k][b]: register after byte b and k zero bytes */
extern const uint32_t hp3_crc_pow_low[HP3_CRC_POW_LOW];
extern const uint32_t hp3_crc_pow_high[HP3_CRC_POW_HIGH];

/* The register after the n bytes at p. */
static inline uint32_t hp3_crc_update(uint32_t crc, const void *p, size_t n)
{
	const uint32_t(*t)[256] = hp3_crc_slice;
	const uint8_t *b = p;

	for (; n >= 8; n -= 8, b += 8) {
		uint64_t w;
		memcpy(&w, b, sizeof(w));
		w ^= crc;
		crc = t[7][w & 0xff] ^ t[6][w >> 8 & 0xff] ^ t[5][w >> 16 & 0xff] ^
		      t[4][w >> 24 & 0xff] ^ t[3][w >> 32 & 0xff] ^ t[2][w >> 40 & 0xff] ^
		      t[1][w >> 48 & 0xff] ^ t[0][w >> 56];
	}
	for (; n; n--)
		crc = crc >> 8 ^ t[0][(crc ^ *b++) & 0xff];
	return crc;
}

/*
 * Reduces a product mod P. In reflected order, the low 32 bits of the product are its upper half.
 * The function processes these bits like four message bytes.
 */
static inline uint32_t hp3_crc_reduce(uint64_t product)
{
	const uint32_t(*t)[256] = hp3_crc_slice;

	return (uint32_t)(product >> 32) ^ t[3][product & 0xff] ^ t[2][product >> 8 & 0xff] ^
	       t[1][product >> 16 & 0xff] ^ t[0][product >> 24 & 0xff];
}

/* a * b mod P. */
static inline uint32_t hp3_crc_mul(uint32_t a, uint32_t b)
{
	uint64_t product = 0;

	for (int i = 0; i < 32; i++)
		product ^= ((uint64_t)b << 1 << i) & -(uint64_t)(a >> i & 1);
	return hp3_crc_reduce(product);
}

/*
 * As hp3_crc_reduce(), for a product that has a factor of degree below 16. The upper half of such a
 * product has 16 bits, so two table look-ups suffice.
 */
static inline uint32_t hp3_crc_reduce16(uint64_t product)
{
	return (uint32_t)(product >> 32) ^ hp3_crc_slice[1][product >> 16 & 0xff] ^
	       hp3_crc_slice[0][product >> 24 & 0xff];
}

static inline uint32_t hp3_crc_mul16_portable(uint16_t a, uint32_t b)
{
	uint64_t product = 0;

	for (int i = 0; i < 16; i++)
		product ^= ((uint64_t)b << 17 << i) & -(uint64_t)(a >> i & 1);
	return hp3_crc_reduce16(product);
}

/* The instruction sets (HP3_ICRC_*) that the functions below need and that this CPU has. */
#if defined(__x86_64__)
#define HP3_CRC_CLMUL __attribute__((target("pclmul")))

static inline uint32_t hp3_crc_cpu(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("pclmul") ? HP3_ICRC_CLMUL : 0;
}

HP3_CRC_CLMUL static inline uint32_t hp3_crc_mul16_clmul(uint16_t a, uint32_t b)
{
	__m128i product = _mm_clmulepi64_si128(
		_mm_cvtsi64_si128((long long)a << 17), _mm_cvtsi32_si128((int)b), 0);
	return hp3_crc_reduce16((uint64_t)_mm_cvtsi128_si64(product));
}
#elif defined(__aarch64__)
/*
 * The functions below use assembler, because gcc and clang have different names for the extensions
 * of single functions and for their intrinsics.
 */
#define HP3_CRC_CLMUL
#define HP3_CRC_CRC32

static inline uint32_t hp3_crc_cpu(void)
{
	unsigned long cpu = getauxval(AT_HWCAP);

	return (cpu & HWCAP_PMULL ? HP3_ICRC_CLMUL : 0) | (cpu & HWCAP_CRC32 ? HP3_ICRC_CRC32 : 0);
}

static inline uint32_t hp3_crc_mul16_clmul(uint16_t a, uint32_t b)
{
	uint64x2_t product;

	__asm__(".arch_extension aes\n\tpmull %0.1q, %1.1d, %2.1d"
		: "=w"(product)
		: "w"((uint64_t)a << 17), "w"((uint64_t)b));
	return hp3_crc_reduce16(vgetq_lane_u64(product, 0));
}

/* crc32x and crc32b use the polynomial of the ICRC; crc32cx and crc32cb use another one. */
static inline uint32_t hp3_crc_update_crc32(uint32_t crc, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (; n >= 8; n -= 8, b += 8) {
		uint64_t w;
		memcpy(&w, b, sizeof(w));
		__asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1" : "+r"(crc) : "r"(w));
	}
	for (; n; n--, b++)
		__asm__(".arch_extension crc\n\tcrc32b %w0, %w0, %w1"
			: "+r"(crc)
			: "r"((uint32_t)*b));
	return crc;
}
#else
static inline uint32_t hp3_crc_cpu(void)
{
	return 0;
}
#endif
