/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The fast path of the parser, inlined into burst loops. The fast path accepts "plain" packets:
 * valid packets of a reliable connection, and CNPs, in untagged IPv4 without options. A frame with
 * padding behind the packet is not plain. hp3_parse_any() parses all other frames. For a plain
 * packet, the fast path and hp3_parse_any() give the same view.
 *
 * The fixed fields are compared eight bytes at a time. If the compiler may use SSSE3 or NEON, one
 * shuffle turns BTH and AETH into several fields of the view.
 */
#include <stddef.h>
#include "base/likely.h"
#include "roce/opcode.h"
#ifdef __SSSE3__
#include <tmmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "hp3 reads headers as little-endian words"
#endif

/* The parser without the fast path. */
void hp3_parse_any(const void *frame, uint32_t len, struct hp3_view *v);

#define HP3_PLAIN_L3  14u
#define HP3_PLAIN_UDP 34u
#define HP3_PLAIN_BTH 42u
#define HP3_PLAIN_MIN 58u /* Ethernet, IPv4, UDP, BTH, ICRC */

_Static_assert(offsetof(struct hp3_view, class) == 0 && offsetof(struct hp3_view, flags) == 2 &&
		       offsetof(struct hp3_view, sport) == 4 &&
		       offsetof(struct hp3_view, tags) == 6,
	"first word of the view");
_Static_assert(offsetof(struct hp3_view, l3_off) == 8 && offsetof(struct hp3_view, udp_off) == 10 &&
		       offsetof(struct hp3_view, icrc_off) == 12 &&
		       offsetof(struct hp3_view, payload_len) == 14,
	"second word of the view");
_Static_assert(
	offsetof(struct hp3_view, dest_qpn) == 16 && offsetof(struct hp3_view, psn) == 20 &&
		offsetof(struct hp3_view, msn) == 24 && offsetof(struct hp3_view, opcode) == 28 &&
		offsetof(struct hp3_view, syndrome) == 29 && offsetof(struct hp3_view, pkey) == 30,
	"the words that are shuffled");

static inline uint64_t hp3_plain_load(const uint8_t *p)
{
	uint64_t w;
	memcpy(&w, p, sizeof(w));
	return w;
}

/*
 * Sets dest_qpn, psn, msn, opcode, syndrome and pkey from BTH and AETH. Without an AETH, msn and
 * syndrome are 0.
 */
static inline __attribute__((always_inline)) void hp3_plain_bth(
	const uint8_t *bth, bool aeth, struct hp3_view *v)
{
#if defined(__SSSE3__) || defined(__aarch64__)
	static const uint8_t order[2][16] __attribute__((aligned(16))) = {
		{7, 6, 5, 0x80, 11, 10, 9, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0x80, 3, 2},
		{7, 6, 5, 0x80, 11, 10, 9, 0x80, 15, 14, 13, 0x80, 0, 12, 3, 2},
	};
#ifdef __SSSE3__
	__m128i b = _mm_loadu_si128((const __m128i *)bth);

	_mm_storeu_si128((__m128i *)&v->dest_qpn,
		_mm_shuffle_epi8(b, _mm_load_si128((const __m128i *)order[aeth])));
#else
	vst1q_u8((uint8_t *)&v->dest_qpn, vqtbl1q_u8(vld1q_u8(bth), vld1q_u8(order[aeth])));
#endif
#else
	uint32_t word = aeth ? hp3_be32(bth + 12) : 0;

	v->dest_qpn = hp3_be32(bth + 4) & HP3_QPN_MASK;
	v->psn = hp3_be32(bth + 8) & HP3_PSN_MASK;
	v->msn = word & 0xffffffu;
	v->opcode = bth[0];
	v->syndrome = (uint8_t)(word >> 24);
	v->pkey = hp3_be16(bth + 2);
#endif
}

/*
 * The flags of the view for ECN, AckReq, BECN, FECN and UDP checksum. `a` has bytes 12 to 19 of the
 * frame, `c` bytes 36 to 43.
 */
static inline __attribute__((always_inline)) uint32_t hp3_plain_marks(
	const uint8_t *f, uint64_t a, uint64_t c)
{
	static const uint8_t ecn[4] = {
		[HP3_ECN_ECT1] = HP3_VF_ECT, [HP3_ECN_ECT0] = HP3_VF_ECT, [HP3_ECN_CE] = HP3_VF_CE};
	uint32_t flags = ecn[a >> 24 & 3];

	flags |= (uint32_t)f[HP3_PLAIN_BTH + 8] >> 5 & HP3_VF_ACKREQ;
	flags |= (uint32_t)f[HP3_PLAIN_BTH + 4] >> 3 & (HP3_VF_BECN | HP3_VF_FECN);
	if (HP3_UNLIKELY((c & 0xffff00000000u) != 0))
		flags |= HP3_VF_UDP_CSUM;
	return flags;
}

/* False: the frame is not a plain packet, and *v is undefined. */
static inline __attribute__((always_inline)) bool hp3_parse_plain(
	const uint8_t *f, uint32_t len, struct hp3_view *v)
{
	/* Header fields that plain packets have in common: masks and values. ether: Ethernet type,
	 * IP version, IHL, IP length. ip: MF, fragment offset, protocol. udp: UDP destination port
	 * and length, BTH version. The values of the two lengths come from `len`. */
	const uint64_t ether_mask = 0x0000ffff00ffffffu, ether = 0x0000000000450008u;
	const uint64_t ip_mask = 0x0000ff00ff3f0000u, ip = 0x0000110000000000u;
	const uint64_t udp_mask = 0x0f000000ffffffffu, udp = 0x000000000000b712u;
	const struct hp3_opcode_info *op;
	uint64_t a, b, c, word;
	uint32_t behind, head;

	if (HP3_UNLIKELY(len - HP3_PLAIN_MIN > UINT16_MAX - HP3_PLAIN_MIN))
		return false;
	a = hp3_plain_load(f + 12);
	b = hp3_plain_load(f + 18);
	c = hp3_plain_load(f + 36);
	word = ((uint64_t)__builtin_bswap16((uint16_t)(len - HP3_PLAIN_L3)) << 32 | ether) ^ a;
	word = (word & ether_mask) | ((b ^ ip) & ip_mask);
	word |= ((uint64_t)__builtin_bswap16((uint16_t)(len - HP3_PLAIN_UDP)) << 16 ^ udp ^ c) &
		udp_mask;
	op = &hp3_opcodes[c >> 48 & 0xff];
	behind = op->plain_len + (uint32_t)(c >> 60 & 3); /* extended headers, pad */
	if (HP3_UNLIKELY(word != 0 || len - HP3_PLAIN_MIN < behind || behind >= HP3_NOT_PLAIN))
		return false;
	memcpy(&head, op, sizeof(head));
	head = (head & 0xffff00ffu) | hp3_plain_marks(f, a, c) << 16;
	word = (uint64_t)hp3_be32(f + HP3_PLAIN_UDP) << 16; /* source port, then 4791 */
	word = word - ((uint64_t)HP3_ROCE_UDP_PORT << 16) + head;
	memcpy(v, &word, sizeof(word));
	/* No borrow below: len >= HP3_ICRC_LEN, and len - behind >= HP3_PLAIN_MIN, as checked. */
	word = (uint64_t)((len - behind) << 16 | len) << 32;
	word += (HP3_PLAIN_L3 | HP3_PLAIN_UDP << 16) -
		((uint64_t)(HP3_PLAIN_MIN << 16 | HP3_ICRC_LEN) << 32);
	memcpy(&v->l3_off, &word, sizeof(word));
	hp3_plain_bth(f + HP3_PLAIN_BTH, head >> 16 & HP3_VF_AETH, v);
	v->dma_len = v->vlan = 0;
	if (op->ext & HP3_EXT_RETH)
		v->dma_len = hp3_be32(f + HP3_PLAIN_BTH + 24);
	return true;
}
