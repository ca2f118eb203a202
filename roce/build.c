/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes frames from front to back: each part begins where the previous part ends, and the ICRC is
 * last.
 */
#include <errno.h>
#include "roce/build.h"
#include "roce/icrc.h"
#include "roce/sum.h"

#define TTL          64u
#define CNP_RESERVED 16u /* zero bytes behind the BTH of a CNP (annex A17.9.3) */
#define FRAME_MAX    65535u
#define ECN_MASK     3u

static uint8_t *put_ether(uint8_t *p, const struct hp3_addressing *a)
{
	memcpy(p, a->dst_mac, HP3_MAC_LEN);
	memcpy(p + HP3_MAC_LEN, a->src_mac, HP3_MAC_LEN);
	p += 2 * HP3_MAC_LEN;
	for (uint32_t i = 0; i < HP3_TAGS_MAX && a->tag[i].tpid != 0; i++) {
		hp3_put_be16(p, a->tag[i].tpid);
		hp3_put_be16(p + 2, a->tag[i].tci);
		p += HP3_TAG_LEN;
	}
	hp3_put_be16(p, a->ipv6 ? 0x86dd : 0x0800);
	return p + 2;
}

static uint32_t l3_off(const struct hp3_addressing *a)
{
	uint32_t tags = a->tag[0].tpid == 0 ? 0 : a->tag[1].tpid == 0 ? 1 : 2;

	return HP3_ETHER_LEN + tags * HP3_TAG_LEN;
}

static uint8_t *put_ipv4(uint8_t *p, const struct hp3_addressing *a, uint32_t udp_len)
{
	memset(p, 0, HP3_IPV4_LEN);
	p[0] = 0x45;
	p[1] = a->tclass;
	hp3_put_be16(p + 2, (uint16_t)(HP3_IPV4_LEN + udp_len));
	hp3_put_be16(p + 4, a->ipv4_id);
	p[6] = 0x40; /* do not fragment (annex A17.3.1.2) */
	p[8] = a->ttl;
	p[9] = HP3_PROTO_UDP;
	memcpy(p + 12, a->src_ip, 4);
	memcpy(p + 16, a->dst_ip, 4);
	hp3_put_be16(p + 10, hp3_sum(p, HP3_IPV4_LEN));
	return p + HP3_IPV4_LEN;
}

static uint8_t *put_ipv6(uint8_t *p, const struct hp3_addressing *a, uint32_t udp_len)
{
	hp3_put_be32(p, 6u << 28 | (uint32_t)a->tclass << 20 | hp3_sport_to_flow_label(a->sport));
	hp3_put_be16(p + 4, (uint16_t)udp_len);
	p[6] = HP3_PROTO_UDP;
	p[7] = a->ttl;
	memcpy(p + 8, a->src_ip, 16);
	memcpy(p + 24, a->dst_ip, 16);
	return p + HP3_IPV6_LEN;
}

/* All headers up to UDP, with checksum 0. Returns the UDP header. */
static uint8_t *put_udp(
	uint8_t *buf, const struct hp3_addressing *a, uint16_t dport, uint32_t udp_len)
{
	uint8_t *p = put_ether(buf, a);

	p = a->ipv6 ? put_ipv6(p, a, udp_len) : put_ipv4(p, a, udp_len);
	hp3_put_be16(p, a->sport);
	hp3_put_be16(p + 2, dport);
	hp3_put_be16(p + 4, (uint16_t)udp_len);
	hp3_put_be16(p + 6, 0);
	return p;
}

static uint8_t *put_bth(
	uint8_t *p, const struct hp3_addressing *a, const struct hp3_fields *f, uint32_t pad)
{
	p[0] = f->opcode;
	p[1] = (uint8_t)((f->solicited ? 0x80 : 0) | 0x40 | pad << 4); /* MigReq: migrated */
	hp3_put_be16(p + 2, a->pkey);
	p[4] = f->becn ? 0x40 : 0;
	hp3_put_be24(p + 5, f->dest_qpn);
	p[8] = f->ackreq ? 0x80 : 0;
	hp3_put_be24(p + 9, f->psn);
	return p + HP3_BTH_LEN;
}

/* Writes the extended headers, in the order of the wire. */
static uint8_t *put_extended(uint8_t *p, uint8_t ext, const struct hp3_fields *f)
{
	if (ext & HP3_EXT_DETH) {
		hp3_put_be32(p, f->qkey);
		hp3_put_be32(p + 4, f->src_qpn);
		p += 8;
	}
	if (ext & HP3_EXT_FETH) {
		hp3_put_be32(p, f->feth);
		p += 4;
	}
	if (ext & (HP3_EXT_RETH | HP3_EXT_FETH)) {
		hp3_put_be64(p, f->va);
		hp3_put_be32(p + 8, f->rkey);
		hp3_put_be32(p + 12, f->dma_len);
		p += 16;
	}
	if (ext & HP3_EXT_ATOMIC) {
		hp3_put_be64(p, f->va);
		hp3_put_be32(p + 8, f->rkey);
		hp3_put_be64(p + 12, f->swap_add);
		hp3_put_be64(p + 20, f->compare);
		p += 28;
	}
	if (ext & HP3_EXT_AETH) {
		hp3_put_be32(p, (uint32_t)f->syndrome << 24 | f->msn);
		p += 4;
	}
	if (ext & HP3_EXT_ATOMICACK) {
		hp3_put_be64(p, f->orig);
		p += 8;
	}
	if (ext & (HP3_EXT_IMM | HP3_EXT_IETH)) {
		hp3_put_be32(p, f->imm);
		p += 4;
	}
	return p;
}

/* READ and FLUSH requests, atomics, acknowledges and CNPs end with their headers (IBTA 9.4). */
static bool payload_allowed(const struct hp3_opcode_info *op, uint8_t opcode)
{
	if (op->flags & HP3_VF_ATOMIC)
		return false;
	return opcode != HP3_OP_RC_READ_REQUEST && opcode != HP3_OP_RC_FLUSH &&
	       opcode != HP3_OP_RC_ACK && opcode != HP3_OP_CNP;
}

static bool in_range(const struct hp3_opcode_info *op, const struct hp3_fields *f)
{
	if (op->class == HP3_CLASS_ROCE_OTHER || f->dest_qpn > HP3_QPN_MASK ||
		f->psn > HP3_PSN_MASK)
		return false;
	if (op->ext & HP3_EXT_AETH && f->msn > HP3_PSN_MASK)
		return false;
	if (op->ext & HP3_EXT_DETH && f->src_qpn > HP3_QPN_MASK)
		return false;
	return !f->payload_len || (f->payload && payload_allowed(op, f->opcode));
}

int hp3_build(void *buf, size_t cap, const struct hp3_addressing *a, const struct hp3_fields *f)
{
	const struct hp3_opcode_info *op = &hp3_opcodes[f->opcode];

	if (!in_range(op, f))
		return -EINVAL;
	uint32_t pad = -(uint32_t)f->payload_len & 3;
	uint32_t body = f->opcode == HP3_OP_CNP ? CNP_RESERVED : f->payload_len + pad;
	uint32_t udp_len = HP3_UDP_LEN + HP3_BTH_LEN + op->ext_len + body + HP3_ICRC_LEN;
	uint32_t l3 = l3_off(a);
	uint32_t udp = l3 + (a->ipv6 ? HP3_IPV6_LEN : HP3_IPV4_LEN);
	uint32_t len = udp + udp_len;
	if (len > FRAME_MAX)
		return -EINVAL;
	if (len > cap)
		return -ENOSPC;

	/* no UDP checksum: the ICRC protects the packet (annex A17.3.1.3) */
	uint8_t *p = put_udp(buf, a, HP3_ROCE_UDP_PORT, udp_len) + HP3_UDP_LEN;
	p = put_bth(p, a, f, pad);
	p = put_extended(p, op->ext, f);
	if (f->payload_len)
		memcpy(p, f->payload, f->payload_len);
	memset(p + f->payload_len, 0, body - f->payload_len);

	struct hp3_view v = {
		.flags = a->ipv6 ? HP3_VF_IPV6 : 0,
		.l3_off = (uint16_t)l3,
		.udp_off = (uint16_t)udp,
		.icrc_off = (uint16_t)(len - HP3_ICRC_LEN),
	};
	hp3_icrc_store(buf, &v);
	return (int)len;
}

int hp3_build_cnp(void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn)
{
	return hp3_build(buf, cap, a,
		&(struct hp3_fields){.opcode = HP3_OP_CNP, .becn = true, .dest_qpn = dest_qpn});
}

int hp3_build_ack(void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn,
	uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	return hp3_build(buf, cap, a,
		&(struct hp3_fields){.opcode = HP3_OP_RC_ACK,
			.dest_qpn = dest_qpn,
			.psn = psn,
			.syndrome = syndrome,
			.msn = msn});
}

int hp3_build_udp(void *buf, size_t cap, const struct hp3_addressing *a, uint16_t dport,
	const void *payload, uint16_t len)
{
	uint32_t udp_len = HP3_UDP_LEN + len;
	uint32_t l3 = l3_off(a);
	uint32_t udp = l3 + (a->ipv6 ? HP3_IPV6_LEN : HP3_IPV4_LEN);

	if (dport == HP3_ROCE_UDP_PORT || udp + udp_len > FRAME_MAX)
		return -EINVAL;
	if (udp + udp_len > cap)
		return -ENOSPC;
	uint8_t *p = put_udp(buf, a, dport, udp_len);
	memcpy(p + HP3_UDP_LEN, payload, len);
	uint16_t sum = hp3_sum_l4((uint8_t *)buf + l3, a->ipv6, HP3_PROTO_UDP, p, udp_len);
	hp3_put_be16(p + 6, sum ? sum : 0xffff); /* 0 would mean "no checksum" (RFC 768) */
	return (int)(udp + udp_len);
}

void hp3_addressing_same(const void *frame, const struct hp3_view *v, struct hp3_addressing *a)
{
	const uint8_t *f = frame, *ip = f + v->l3_off;

	*a = (struct hp3_addressing){
		.ipv6 = v->flags & HP3_VF_IPV6,
		.sport = v->sport,
		.pkey = v->pkey,
	};
	for (uint32_t i = 0; i < v->tags; i++) {
		const uint8_t *tag = f + 2 * HP3_MAC_LEN + HP3_TAG_LEN * i;

		a->tag[i] = (struct hp3_tag){hp3_be16(tag), hp3_be16(tag + 2)};
	}
	memcpy(a->dst_mac, f, HP3_MAC_LEN);
	memcpy(a->src_mac, f + HP3_MAC_LEN, HP3_MAC_LEN);
	if (a->ipv6) {
		a->tclass = (uint8_t)(hp3_be16(ip) >> 4);
		a->ttl = ip[7];
		memcpy(a->src_ip, ip + 8, 16);
		memcpy(a->dst_ip, ip + 24, 16);
	} else {
		a->tclass = ip[1];
		a->ttl = ip[8];
		memcpy(a->src_ip, ip + 12, 4);
		memcpy(a->dst_ip, ip + 16, 4);
	}
	/* A packet that starts here has met no congestion yet (RFC 3168). */
	if ((a->tclass & ECN_MASK) == HP3_ECN_CE)
		a->tclass ^= HP3_ECN_CE ^ HP3_ECN_ECT0;
}

void hp3_addressing_reply(
	const void *frame, const struct hp3_view *v, uint16_t sport, struct hp3_addressing *a)
{
	struct hp3_addressing s;

	hp3_addressing_same(frame, v, &s);
	*a = s;
	memcpy(a->dst_mac, s.src_mac, HP3_MAC_LEN);
	memcpy(a->src_mac, s.dst_mac, HP3_MAC_LEN);
	memcpy(a->dst_ip, s.src_ip, sizeof(a->dst_ip));
	memcpy(a->src_ip, s.dst_ip, sizeof(a->src_ip));
	a->tclass = s.tclass & ~ECN_MASK;
	a->ttl = TTL;
	a->sport = sport;
}

void hp3_addressing_class(struct hp3_addressing *a, uint8_t dscp)
{
	if (dscp >= HP3_DSCP_KEPT)
		return;
	a->tclass = (uint8_t)(dscp << 2);
	for (uint32_t i = 0; i < HP3_TAGS_MAX && a->tag[i].tpid != 0; i++)
		a->tag[i].tci = (uint16_t)(dscp >> 3 << 13 | (a->tag[i].tci & 0x1fff));
}
