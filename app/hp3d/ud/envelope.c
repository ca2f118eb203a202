/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ud/envelope.h"
#include <errno.h>
#include <string.h>
#include "base/minmax.h"
#include "probes/answer.h"
#include "probes/datagram.h"
#include "probes/peer.h"

#define MAGIC   0x6833u
#define VERSION 2u
#define HEAD    6u
#define UDP     8u
#define BTH     12u
#define RETH    16u
#define IPV4_AT 20u /* at the end of the space for a GRH */
#define PLAIN   (HP3D_UD_PAYLOAD - HEAD)
#define LEAST   HP3_ANSWER_LEN /* length of a probe: not shorter than its answer */

enum kind { KIND_PROBE = 1, KIND_PLAIN };

/* The UDP payload of a frame of hp3d, without the ICRC; NULL: the frame is not from hp3d. */
static const uint8_t *payload_of_frame(const struct hp3_parsed *f, uint16_t port, uint32_t *n)
{
	const struct hp3_view *v = f->v;
	struct hp3_datagram d;

	if (v->class == HP3_CLASS_UC && hp3_peer_looks(v)) {
		*n = v->icrc_off - v->udp_off - UDP;
		return (const uint8_t *)f->bytes + v->udp_off + UDP;
	}
	if (hp3_datagram_to(f, port, &d) < 0)
		return NULL;
	*n = d.len - UDP;
	return d.l4 + UDP;
}

int hp3d_ud_pack(
	const void *frame, uint32_t len, uint16_t port, struct hp3d_ud_route *route, void *buf)
{
	struct hp3_addressing a;
	const uint8_t *from;
	uint8_t *p = buf;
	struct hp3_view v;
	uint32_t n;

	hp3_parse(frame, len, &v);
	from = payload_of_frame(&(struct hp3_parsed){frame, len, &v}, port, &n);
	if (from == NULL || n > PLAIN)
		return -EINVAL;
	hp3_addressing_same(frame, &v, &a);
	*route = (struct hp3d_ud_route){.ipv6 = a.ipv6,
		.tclass = a.tclass,
		.ttl = a.ttl,
		.sport = hp3_be16(from - UDP),
		.exact = v.class == HP3_CLASS_UC};
	if (route->exact && hp3_peer_va(frame, &v) >> 48 == HP3_PEER_HEAD(HP3_PEER_KIND_PROBE)) {
		route->probe = true;
		route->id = (uint32_t)hp3_peer_va(frame, &v);
	}
	memcpy(route->src, a.src_ip, sizeof(route->src));
	memcpy(route->dst, a.dst_ip, sizeof(route->dst));
	hp3_put_be16(p, MAGIC);
	p[2] = VERSION;
	p[3] = route->exact ? KIND_PROBE : KIND_PLAIN;
	hp3_put_be16(p + 4, route->sport);
	memcpy(p + HEAD, from, n);
	if (!route->exact || n >= LEAST)
		return (int)(HEAD + n);
	memset(p + HEAD + n, 0, LEAST - n);
	return (int)(HEAD + LEAST);
}

static bool is_ipv4(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 20; i += 2)
		sum += hp3_be16(ip + i);
	return ip[0] == 0x45 && (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/* A valid checksum of an IPv4 header distinguishes IPv4 from IPv6. */
static int read_addresses(const uint8_t *grh, struct hp3_addressing *a)
{
	const uint8_t *ip = grh + IPV4_AT;

	*a = (struct hp3_addressing){.pkey = 0xffff};
	if (is_ipv4(ip)) {
		a->tclass = ip[1];
		a->ttl = ip[8];
		memcpy(a->src_ip, ip + 12, 4);
		memcpy(a->dst_ip, ip + 16, 4);
		return 0;
	}
	if (grh[0] >> 4 != 6)
		return -EBADMSG;
	a->ipv6 = true;
	a->tclass = (uint8_t)(grh[0] << 4 | grh[1] >> 4);
	a->ttl = grh[7];
	memcpy(a->src_ip, grh + 8, 16);
	memcpy(a->dst_ip, grh + 24, 16);
	return 0;
}

static int build_probe(
	void *frame, size_t cap, const struct hp3_addressing *a, const uint8_t *p, size_t n)
{
	struct hp3_fields f;
	uint32_t written = n >= BTH + RETH ? hp3_be32(p + BTH + 12) : UINT32_MAX;

	if (p[0] != HP3_OP_UC_WRITE_ONLY || written > HP3_PEER_REPORT_LENGTH || written % 4 != 0 ||
		n != hp3_max_u32(BTH + RETH + written, LEAST))
		return -EBADMSG;
	f = (struct hp3_fields){.opcode = HP3_OP_UC_WRITE_ONLY,
		.dest_qpn = hp3_be32(p + 4) & HP3_QPN_MASK,
		.psn = hp3_be32(p + 8) & HP3_PSN_MASK,
		.va = hp3_be64(p + BTH),
		.rkey = hp3_be32(p + BTH + 8),
		.dma_len = written,
		.payload = p + BTH + RETH,
		.payload_len = (uint16_t)written};
	return hp3_build(frame, cap, a, &f);
}

int hp3d_ud_unpack(const uint8_t grh[HP3D_UD_GRH], const void *buf, size_t n, uint16_t port,
	struct hp3d_ud_route *route, void *frame, size_t cap)
{
	const uint8_t *p = buf;
	struct hp3_addressing a;
	int len;

	if (n <= HEAD || n > HP3D_UD_PAYLOAD || hp3_be16(p) != MAGIC || p[2] != VERSION ||
		read_addresses(grh, &a) < 0)
		return -EBADMSG;
	a.sport = hp3_be16(p + 4);
	if (p[3] == KIND_PROBE)
		len = build_probe(frame, cap, &a, p + HEAD, n - HEAD);
	else if (p[3] == KIND_PLAIN)
		len = hp3_build_udp(frame, cap, &a, port, p + HEAD, (uint16_t)(n - HEAD));
	else
		len = -EBADMSG;
	*route = (struct hp3d_ud_route){
		.ipv6 = a.ipv6, .tclass = a.tclass, .ttl = a.ttl, .sport = a.sport};
	memcpy(route->src, a.src_ip, sizeof(route->src));
	memcpy(route->dst, a.dst_ip, sizeof(route->dst));
	return len > 0 ? len : -EBADMSG;
}
