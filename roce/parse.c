/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser. Ethernet and IP headers determine where UDP begins; the opcode table gives the
 * headers behind the BTH. Nearly all packets are untagged IPv4 without options. The parser handles
 * these without a loop, and reads each header once.
 */
#include "base/names.h"
#include "base/likely.h"
#include "roce/parse_plain.h"

#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_IPV6 0x86ddu

#define IPV4_MORE        0x2000u
#define IPV4_OFFSET_MASK 0x1fffu
#define IPV6_FRAG_LEN    8u
#define IPV6_OFFSET_MASK 0xfff8u
#define PROTO_HOPOPTS    0u
#define PROTO_ROUTING    43u
#define PROTO_FRAGMENT   44u
#define PROTO_DSTOPTS    60u

#define BTH_TVER_MASK 0x0fu
#define BTH_FECN      0x80000000u
#define BTH_BECN      0x40000000u
#define BTH_ACKREQ    0x80000000u
#define FRAME_MAX     65535u /* offsets in the view have 16 bits */

#define likely(x)   HP3_LIKELY(!!(x))
#define unlikely(x) HP3_UNLIKELY(!!(x))

static const uint16_t ecn_flags[4] = {
	[HP3_ECN_ECT1] = HP3_VF_ECT,
	[HP3_ECN_ECT0] = HP3_VF_ECT,
	[HP3_ECN_CE] = HP3_VF_CE,
};

/* Parses UDP, BTH and extended headers; the IP payload is [udp, end). */
static inline __attribute__((always_inline)) enum hp3_parse_reason parse_udp(
	const uint8_t *f, uint32_t udp, uint32_t end, struct hp3_view *v)
{
	const uint8_t *p = f + udp;
	uint32_t room = end - udp;

	if (unlikely(room < HP3_UDP_LEN))
		return HP3_PARSE_SHORT_UDP;
	if (unlikely(hp3_be16(p + 2) != HP3_ROCE_UDP_PORT))
		return HP3_PARSE_NOT_ROCE;
	if (unlikely(hp3_be16(p + 4) != room))
		return HP3_PARSE_BAD_UDP_LEN;
	if (unlikely(room < HP3_UDP_LEN + HP3_BTH_LEN + HP3_ICRC_LEN))
		return HP3_PARSE_SHORT_BTH;
	if (unlikely(end > FRAME_MAX))
		return HP3_PARSE_BAD_IP;

	const uint8_t *bth = p + HP3_UDP_LEN;
	if (unlikely(bth[1] & BTH_TVER_MASK))
		return HP3_PARSE_BAD_TVER;

	const struct hp3_opcode_info *op = &hp3_opcodes[bth[0]];
	uint32_t rest = room - HP3_UDP_LEN - HP3_BTH_LEN - HP3_ICRC_LEN;
	uint32_t pad = bth[1] >> 4 & 3;
	if (unlikely(rest < op->ext_len))
		return HP3_PARSE_SHORT_EXT;
	rest -= op->ext_len;
	if (unlikely(rest < pad))
		return HP3_PARSE_BAD_PAD;

	/* The BTH as the three words of IBTA 9.2: each holds a small field and 24 bits. */
	uint32_t cong_qpn = hp3_be32(bth + 4), ack_psn = hp3_be32(bth + 8);

	v->sport = hp3_be16(p);
	v->udp_off = (uint16_t)udp;
	v->icrc_off = (uint16_t)(end - HP3_ICRC_LEN);
	v->opcode = bth[0];
	v->pkey = hp3_be16(bth + 2);
	v->dest_qpn = cong_qpn & HP3_QPN_MASK;
	v->psn = ack_psn & HP3_PSN_MASK;
	v->payload_len = (uint16_t)(rest - pad);
	uint32_t flags = v->flags | op->flags;
	flags |= (ack_psn & BTH_ACKREQ) ? HP3_VF_ACKREQ : 0;
	flags |= (cong_qpn & BTH_BECN) ? HP3_VF_BECN : 0;
	flags |= (cong_qpn & BTH_FECN) ? HP3_VF_FECN : 0;
	flags |= hp3_be16(p + 6) ? HP3_VF_UDP_CSUM : 0;
	v->flags = (uint16_t)flags;

	/* RETH and AETH are the first headers behind the BTH. (FLUSH has no HP3_EXT_RETH.) */
	const uint8_t *ext = bth + HP3_BTH_LEN;
	if (op->ext & HP3_EXT_AETH) {
		v->syndrome = ext[0];
		v->msn = hp3_be24(ext + 1);
	} else if (op->ext & HP3_EXT_RETH) {
		v->dma_len = hp3_be32(ext + 12);
	}
	v->class =
		op->class == HP3_CLASS_UD && v->dest_qpn == HP3_QPN_CM ? HP3_CLASS_CM : op->class;
	return HP3_PARSE_OK;
}

/* The first fragment of a datagram has the UDP ports, at `udp`. */
static __attribute__((noinline)) enum hp3_parse_reason first_fragment(
	const uint8_t *f, uint32_t udp, uint32_t end, struct hp3_view *v)
{
	if (udp <= end && end - udp >= HP3_UDP_LEN && end <= FRAME_MAX &&
		hp3_be16(f + udp + 2) == HP3_ROCE_UDP_PORT)
		v->udp_off = (uint16_t)udp;
	return HP3_PARSE_FRAGMENT;
}

static inline __attribute__((always_inline)) enum hp3_parse_reason parse_ipv4(
	const uint8_t *f, uint32_t l3, uint32_t len, struct hp3_view *v)
{
	const uint8_t *ip = f + l3;

	if (unlikely(len - l3 < HP3_IPV4_LEN))
		return HP3_PARSE_SHORT_IP;
	uint32_t header = (ip[0] & 0x0fu) * 4, total = hp3_be16(ip + 2);
	if (unlikely(ip[0] >> 4 != 4 || header < HP3_IPV4_LEN || total < header))
		return HP3_PARSE_BAD_IP;
	if (unlikely(total > len - l3))
		return HP3_PARSE_SHORT_IP;
	if (ip[9] != HP3_PROTO_UDP)
		return HP3_PARSE_NOT_UDP;
	if (unlikely(hp3_be16(ip + 6) & IPV4_OFFSET_MASK))
		return HP3_PARSE_FRAGMENT;
	if (unlikely(hp3_be16(ip + 6) & IPV4_MORE))
		return first_fragment(f, l3 + header, l3 + total, v);
	v->flags |= ecn_flags[ip[1] & 3];
	return parse_udp(f, l3 + header, l3 + total, v);
}

static enum hp3_parse_reason fragment_ipv6(
	const uint8_t *f, uint32_t at, uint32_t end, struct hp3_view *v)
{
	if (end - at < IPV6_FRAG_LEN || f[at] != HP3_PROTO_UDP ||
		(hp3_be16(f + at + 2) & IPV6_OFFSET_MASK))
		return HP3_PARSE_FRAGMENT;
	return first_fragment(f, at + IPV6_FRAG_LEN, end, v);
}

static enum hp3_parse_reason parse_ipv6(
	const uint8_t *f, uint32_t l3, uint32_t len, struct hp3_view *v)
{
	const uint8_t *ip = f + l3;

	if (unlikely(len - l3 < HP3_IPV6_LEN))
		return HP3_PARSE_SHORT_IP;
	if (unlikely(ip[0] >> 4 != 6))
		return HP3_PARSE_BAD_IP;
	uint32_t at = l3 + HP3_IPV6_LEN, end = at + hp3_be16(ip + 4);
	if (unlikely(end > len))
		return HP3_PARSE_SHORT_IP;
	v->flags |= HP3_VF_IPV6 | ecn_flags[ip[1] >> 4 & 3];

	uint8_t next = ip[6];
	while (next != HP3_PROTO_UDP) {
		if (next == PROTO_FRAGMENT)
			return fragment_ipv6(f, at, end, v);
		if (next != PROTO_HOPOPTS && next != PROTO_ROUTING && next != PROTO_DSTOPTS)
			return HP3_PARSE_NOT_UDP;
		if (end - at < 8)
			return HP3_PARSE_SHORT_IP;
		uint32_t n = (f[at + 1] + 1u) * 8;
		if (end - at < n)
			return HP3_PARSE_BAD_IP;
		next = f[at];
		at += n;
	}
	return parse_udp(f, at, end, v);
}

static __attribute__((noinline)) enum hp3_parse_reason parse_tagged(
	const uint8_t *f, uint32_t len, uint32_t type, struct hp3_view *v)
{
	uint32_t l3 = HP3_ETHER_LEN, tags = 0;

	for (; tags < HP3_TAGS_MAX && hp3_is_tpid(type); tags++) {
		if (len - l3 < HP3_TAG_LEN)
			return HP3_PARSE_SHORT_ETHER;
		v->vlan |= hp3_tag_vlan(tags, type, hp3_be16(f + l3));
		type = hp3_be16(f + l3 + 2);
		l3 += HP3_TAG_LEN;
	}
	v->tags = (uint16_t)tags;
	v->l3_off = (uint16_t)l3;
	if (type == ETHERTYPE_IPV4)
		return parse_ipv4(f, l3, len, v);
	if (type == ETHERTYPE_IPV6)
		return parse_ipv6(f, l3, len, v);
	return hp3_is_tpid(type) ? HP3_PARSE_TAGS : HP3_PARSE_NOT_IP;
}

void hp3_parse_any(const void *frame, uint32_t len, struct hp3_view *v)
{
	const uint8_t *f = frame;

	*v = (struct hp3_view){.class = HP3_CLASS_OTHER, .l3_off = HP3_ETHER_LEN};
	if (unlikely(len < HP3_ETHER_LEN)) {
		v->reason = HP3_PARSE_SHORT_ETHER;
		return;
	}
	uint32_t type = hp3_be16(f + 12);
	if (likely(type == ETHERTYPE_IPV4))
		v->reason = (uint8_t)parse_ipv4(f, HP3_ETHER_LEN, len, v);
	else
		v->reason = (uint8_t)parse_tagged(f, len, type, v);
}

void hp3_parse(const void *frame, uint32_t len, struct hp3_view *v)
{
	if (!hp3_parse_plain(frame, len, v))
		hp3_parse_any(frame, len, v);
}

const char *hp3_class_name(enum hp3_class c)
{
	static const char *const names[] = {HP3_CLASSES(HP3_NAME_TEXT)};

	return HP3_NAME(names, c);
}

const char *hp3_parse_reason_name(enum hp3_parse_reason r)
{
	static const char *const names[] = {HP3_PARSE_REASONS(HP3_NAME_TEXT)};

	return HP3_NAME(names, r);
}
