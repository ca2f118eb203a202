/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The fast path of parse_plain.h for HP3_WIDE packets at once, one in each SIMD lane. This file
 * accepts plain packets of one class. For an accepted packet, it gives the same view as
 * hp3_parse(). The functions are inlined into burst loops.
 *
 * Bytes 10 to 57 of every frame are six words of 8 bytes. The words are transposed: vector i has
 * word i of all frames. So an operation on a field takes one instruction for all packets.
 *
 *     word  bytes                                        word  bytes
 *     0     10-17  type, version, ToS, IP length         3     34-41  ports, UDP length, checksum
 *     1     18-25  id, fragment, TTL, protocol           4     42-49  opcode ... destination QPN
 *     2     26-33  IP addresses                          5     50-57  AckReq, PSN, AETH or ICRC
 *
 * AVX-512 has 8 lanes, AVX2 has 4. Without AVX-512 and AVX2, HP3_WIDE is not defined.
 */
#include "roce/parse_plain.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#define HP3_WIDE 8u
#elif defined(__AVX2__)
#define HP3_WIDE 4u
#endif

#ifdef HP3_WIDE
#include <immintrin.h>

#define HP3_WIDE_INLINE static inline __attribute__((always_inline))
#define HP3_WIDE_WORDS  6u
#define HP3_WIDE_FROM   10u /* byte of the frame at which word 0 starts */

typedef uint64_t hp3_wide __attribute__((vector_size(8 * HP3_WIDE)));

#define HP3_WIDE_ALL ((1u << HP3_WIDE) - 1)

HP3_WIDE_INLINE hp3_wide hp3_wide_set(uint64_t x)
{
	return (hp3_wide){} + x;
}

#if HP3_WIDE == 8
/* Products of the lower 32 bits of each word. */
HP3_WIDE_INLINE hp3_wide hp3_wide_mul(hp3_wide a, hp3_wide b)
{
	return (hp3_wide)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

/*
 * Reorders the bytes of each word of v. Byte i of `order` is the number of the byte of v that
 * becomes byte i of the result; 0x80: byte i becomes 0.
 */
HP3_WIDE_INLINE hp3_wide hp3_wide_bytes(hp3_wide v, uint64_t order)
{
	uint64_t second = order + 0x0808080808080808u;

	return (hp3_wide)_mm512_shuffle_epi8((__m512i)v,
		(__m512i)(hp3_wide){order, second, order, second, order, second, order, second});
}

/*
 * Looks up each word of i, which must be less than 8, in `table`: the word becomes this byte of
 * `table`. Byte 0 of `table` must be 0, because the upper bytes of the result are copies of byte 0.
 */
HP3_WIDE_INLINE hp3_wide hp3_wide_pick(uint64_t table, hp3_wide i)
{
	return (hp3_wide)_mm512_shuffle_epi8((__m512i)hp3_wide_set(table), (__m512i)i);
}

HP3_WIDE_INLINE uint32_t hp3_wide_is_zero(hp3_wide v)
{
	return _mm512_testn_epi64_mask((__m512i)v, (__m512i)v);
}

HP3_WIDE_INLINE hp3_wide hp3_wide_opcodes(hp3_wide opcode)
{
	return (hp3_wide)_mm512_i64gather_epi64((__m512i)(opcode << 1), hp3_opcodes, 8);
}

/* Transposes: row i becomes column i. */
HP3_WIDE_INLINE void hp3_wide_turn(hp3_wide r[8])
{
	hp3_wide s[8], t[8];

	for (unsigned i = 0; i < 8; i += 2) {
		s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
		s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
	}
	for (unsigned i = 0; i < 8; i += 4) {
		for (unsigned k = i; k < i + 2; k++) {
			t[k] = __builtin_shufflevector(s[k], s[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
			t[k + 2] =
				__builtin_shufflevector(s[k], s[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
		}
	}
	for (unsigned i = 0; i < 4; i++) {
		r[i] = __builtin_shufflevector(t[i], t[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
		r[i + 4] = __builtin_shufflevector(t[i], t[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
	}
}

/* Loads are no wider than needed: a wider load might wait for another cache line. */
HP3_WIDE_INLINE void hp3_wide_load(const uint8_t *const f[HP3_WIDE], hp3_wide q[HP3_WIDE_WORDS])
{
	__m512i r[4], b[2];
	hp3_wide s[4];

	for (unsigned i = 0; i < 4; i++) {
		const __m256i *lo = (const __m256i *)(f[i] + HP3_WIDE_FROM);
		const __m256i *hi = (const __m256i *)(f[i + 4] + HP3_WIDE_FROM);

		r[i] = _mm512_inserti64x4(
			_mm512_castsi256_si512(_mm256_loadu_si256(lo)), _mm256_loadu_si256(hi), 1);
	}
	for (unsigned i = 0; i < 4; i += 2) {
		s[i] = (hp3_wide)_mm512_unpacklo_epi64(r[i], r[i + 1]);
		s[i + 1] = (hp3_wide)_mm512_unpackhi_epi64(r[i], r[i + 1]);
	}
	for (unsigned i = 0; i < 2; i++) {
		q[i] = __builtin_shufflevector(s[i], s[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
		q[i + 2] = __builtin_shufflevector(s[i], s[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
	}
	for (unsigned i = 0; i < 2; i++) {
		const __m128i *bth[4];

		for (unsigned k = 0; k < 4; k++)
			bth[k] = (const __m128i *)(f[i + 2 * k] + HP3_PLAIN_BTH);
		b[i] = _mm512_castsi128_si512(_mm_loadu_si128(bth[0]));
		b[i] = _mm512_inserti64x2(b[i], _mm_loadu_si128(bth[1]), 1);
		b[i] = _mm512_inserti64x2(b[i], _mm_loadu_si128(bth[2]), 2);
		b[i] = _mm512_inserti64x2(b[i], _mm_loadu_si128(bth[3]), 3);
	}
	q[4] = (hp3_wide)_mm512_unpacklo_epi64(b[0], b[1]);
	q[5] = (hp3_wide)_mm512_unpackhi_epi64(b[0], b[1]);
}

/* Stores eight words of each packet: the words of packet i at to[i]. */
HP3_WIDE_INLINE void hp3_wide_store(void *const to[HP3_WIDE], hp3_wide w[8])
{
	hp3_wide_turn(w);
	for (unsigned i = 0; i < 8; i++)
		_mm512_storeu_si512(to[i], (__m512i)w[i]);
}
#else
HP3_WIDE_INLINE hp3_wide hp3_wide_mul(hp3_wide a, hp3_wide b)
{
	return (hp3_wide)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

HP3_WIDE_INLINE hp3_wide hp3_wide_bytes(hp3_wide v, uint64_t order)
{
	uint64_t second = order + 0x0808080808080808u;

	return (hp3_wide)_mm256_shuffle_epi8(
		(__m256i)v, (__m256i)(hp3_wide){order, second, order, second});
}

HP3_WIDE_INLINE hp3_wide hp3_wide_pick(uint64_t table, hp3_wide i)
{
	return (hp3_wide)_mm256_shuffle_epi8((__m256i)hp3_wide_set(table), (__m256i)i);
}

HP3_WIDE_INLINE uint32_t hp3_wide_is_zero(hp3_wide v)
{
	return (uint32_t)_mm256_movemask_pd(
		(__m256d)_mm256_cmpeq_epi64((__m256i)v, _mm256_setzero_si256()));
}

HP3_WIDE_INLINE hp3_wide hp3_wide_opcodes(hp3_wide opcode)
{
	hp3_wide info;

	for (unsigned i = 0; i < 4; i++)
		memcpy((uint64_t *)&info + i, &hp3_opcodes[opcode[i]], sizeof(uint64_t));
	return info;
}

HP3_WIDE_INLINE void hp3_wide_turn(hp3_wide r[4])
{
	hp3_wide s[4];

	for (unsigned i = 0; i < 4; i += 2) {
		s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 4, 2, 6);
		s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 5, 3, 7);
	}
	for (unsigned i = 0; i < 2; i++) {
		r[i] = __builtin_shufflevector(s[i], s[i + 2], 0, 1, 4, 5);
		r[i + 2] = __builtin_shufflevector(s[i], s[i + 2], 2, 3, 6, 7);
	}
}

HP3_WIDE_INLINE void hp3_wide_load(const uint8_t *const f[HP3_WIDE], hp3_wide q[HP3_WIDE_WORDS])
{
	hp3_wide two[2];

	for (unsigned i = 0; i < 4; i++)
		q[i] = (hp3_wide)_mm256_loadu_si256((const __m256i *)(f[i] + HP3_WIDE_FROM));
	hp3_wide_turn(q);
	for (unsigned i = 0; i < 2; i++)
		two[i] = (hp3_wide)_mm256_loadu2_m128i((const __m128i *)(f[i + 2] + HP3_PLAIN_BTH),
			(const __m128i *)(f[i] + HP3_PLAIN_BTH));
	q[4] = __builtin_shufflevector(two[0], two[1], 0, 4, 2, 6);
	q[5] = __builtin_shufflevector(two[0], two[1], 1, 5, 3, 7);
}

HP3_WIDE_INLINE void hp3_wide_store(void *const to[HP3_WIDE], hp3_wide w[8])
{
	hp3_wide_turn(w);
	hp3_wide_turn(w + 4);
	for (unsigned i = 0; i < 4; i++) {
		_mm256_storeu_si256((__m256i *)to[i], (__m256i)w[i]);
		_mm256_storeu_si256((__m256i *)to[i] + 1, (__m256i)w[i + 4]);
	}
}
#endif

/* The result for all lanes. */
struct hp3_wide_view {
	hp3_wide word[4]; /* the first four words of struct hp3_view */
	hp3_wide addresses; /* source and destination, in network byte order */
	uint32_t reth; /* bit mask of lanes with a RETH, whose dma_len the caller reads */
};

/*
 * Returns a value that is not 0 in lanes whose fixed fields (versions, lengths, fragment, protocol,
 * port) are not those of a plain packet.
 */
HP3_WIDE_INLINE hp3_wide hp3_wide_misfit(const hp3_wide q[HP3_WIDE_WORDS], hp3_wide len)
{
	hp3_wide ip_len = hp3_wide_bytes(len - HP3_PLAIN_L3, 0x0001808080808080u);
	hp3_wide udp_len = hp3_wide_bytes(len - HP3_PLAIN_UDP, 0x8080000180808080u);

	return ((q[0] ^ ip_len ^ 0x0000004500080000u) & 0xffff00ffffff0000u) |
	       ((q[1] ^ 0x0000110000000000u) & 0x0000ff00ff3f0000u) |
	       ((q[3] ^ udp_len ^ 0x00000000b7120000u) & 0x0000ffffffff0000u) | (q[4] & 0x0f00u);
}

/* The bits of view.flags for ECN, AckReq, BECN, FECN and UDP checksum. */
HP3_WIDE_INLINE hp3_wide hp3_wide_marks(const hp3_wide q[HP3_WIDE_WORDS])
{
	const uint64_t ecn = (uint64_t)HP3_VF_ECT << (8 * HP3_ECN_ECT1) |
			     (uint64_t)HP3_VF_ECT << (8 * HP3_ECN_ECT0) |
			     (uint64_t)HP3_VF_CE << (8 * HP3_ECN_CE);
	hp3_wide csum = (hp3_wide)((q[3] >> 48) != 0);

	return hp3_wide_pick(ecn, q[0] >> 40 & 3) << 16 |
	       (q[4] >> 19 & (uint64_t)(HP3_VF_BECN | HP3_VF_FECN) << 16) |
	       (q[5] << 11 & (uint64_t)HP3_VF_ACKREQ << 16) |
	       (csum & (uint64_t)HP3_VF_UDP_CSUM << 16);
}

/*
 * Parses frames. `len`: their lengths in bytes, each HP3_PLAIN_MIN or more. `class`: RC_REQUEST or
 * RC_REPLY. Returns the bit mask of lanes that are plain packets of this class. *v is undefined in
 * all other lanes.
 */
HP3_WIDE_INLINE uint32_t hp3_parse_wide(
	const uint8_t *const f[HP3_WIDE], hp3_wide len, uint8_t class, struct hp3_wide_view *v)
{
	hp3_wide q[HP3_WIDE_WORDS], info, left, aeth, marks, misfit;

	hp3_wide_load(f, q);
	info = hp3_wide_opcodes(q[4] & 0xff);
	left = len - HP3_PLAIN_MIN - (info >> 40 & 0xff) - (q[4] >> 12 & 3); /* plain_len, pad */
	misfit = hp3_wide_misfit(q, len) | ((info ^ class) & 0xff) | left >> 63;
	marks = hp3_wide_marks(q);
	aeth = (hp3_wide)((info & (uint64_t)HP3_VF_AETH << 16) != 0);
	v->word[0] = (info & 0xffff00ffu) | marks | hp3_wide_bytes(q[3], 0x8080000180808080u);
	v->word[1] = (HP3_PLAIN_L3 | HP3_PLAIN_UDP << 16) | (len - HP3_ICRC_LEN) << 32 | left << 48;
	v->word[2] = hp3_wide_bytes(q[4], 0x8080808080050607u) |
		     hp3_wide_bytes(q[5], 0x8001020380808080u);
	v->word[3] = hp3_wide_bytes(q[4], 0x0203800080808080u) |
		     (hp3_wide_bytes(q[5], 0x8080048080050607u) & aeth);
	v->addresses = q[2];
	v->reth = ~hp3_wide_is_zero(info & HP3_EXT_RETH << 8) & HP3_WIDE_ALL;
	return hp3_wide_is_zero(misfit);
}

#endif
