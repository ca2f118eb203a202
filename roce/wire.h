/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * RoCEv2 constants, and access to fields in network byte order.
 *
 * Source: IBTA 1.4 chapter 9 (BTH, RETH, AETH, ...), annex A17 (RoCEv2). hp3_be16() and similar
 * functions access fields byte by byte or by memcpy(), so fields need no alignment. The functions
 * assume a little-endian CPU.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HP3_ROCE_UDP_PORT 4791 /* UDP destination port of RoCEv2 (IANA) */
#define HP3_PSN_MASK      0xffffffu
#define HP3_NO_PSN        0x1000000u
#define HP3_QPN_MASK      0xffffffu
#define HP3_QPN_CM        1u /* QP1, the general services interface: connection management */
#define HP3_ICRC_LEN      4u

/* Lengths of headers in bytes. The length of the IPv4 header is that without options. */
#define HP3_MAC_LEN   6u /* of a MAC address */
#define HP3_ETHER_LEN 14u
#define HP3_IPV4_LEN  20u
#define HP3_IPV6_LEN  40u
#define HP3_UDP_LEN   8u
#define HP3_BTH_LEN   12u
#define HP3_PROTO_UDP 17u /* in IP headers */

/* ECN codepoints in the two low bits of IPv4 ToS / IPv6 traffic class (RFC 3168). */
enum hp3_ecn { HP3_ECN_NOT_ECT = 0, HP3_ECN_ECT1 = 1, HP3_ECN_ECT0 = 2, HP3_ECN_CE = 3 };

/* AETH syndrome (IBTA 9.7.5.1.1). */
#define HP3_SYN_KIND(s)      ((s)&0xe0u)
#define HP3_SYN_ACK          0x00u
#define HP3_SYN_RNR          0x20u
#define HP3_SYN_NAK          0x60u
#define HP3_SYN_VALUE(s)     ((s)&0x1fu)
#define HP3_NAK_PSN_SEQUENCE 0u

static inline uint16_t hp3_be16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t hp3_be24(const void *p)
{
	const uint8_t *b = p;
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline uint32_t hp3_be32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline uint64_t hp3_be64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

static inline void hp3_put_be16(void *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void hp3_put_be24(void *p, uint32_t v)
{
	uint8_t *b = p;
	b[0] = (uint8_t)(v >> 16);
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)v;
}

static inline void hp3_put_be32(void *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void hp3_put_be64(void *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

/*
 * PSN arithmetic is modulo 2^24. PSN a is before PSN b if a is one of the 2^23 PSNs that precede b
 * (IBTA 9.7.2). hp3_psn_diff() returns the signed distance a - b, which is negative if a is before
 * b.
 */
static inline int32_t hp3_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

static inline uint32_t hp3_psn_add(uint32_t a, uint32_t n)
{
	return (a + n) & HP3_PSN_MASK;
}
