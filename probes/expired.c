/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "probes/datagram.h"
#include "probes/expired.h"
#include "probes/peer.h"

#define PROTO_ICMP    1u
#define PROTO_ICMPV6  58u
#define TYPE_ICMP     11u
#define TYPE_ICMPV6   3u
#define ICMP_LEN      8u
#define UDP_LEN_PROBE (HP3_PEER_IP_LEN4 - HP3_IPV4_LEN)
#define VA            20u /* bytes from the start of the UDP header */

/* Reads the n quoted bytes from the UDP header on. */
static int read_udp(const uint8_t *udp, uint32_t n, struct hp3_expired *x)
{
	if (hp3_be16(udp + 2) != HP3_ROCE_UDP_PORT || hp3_be16(udp + 4) != UDP_LEN_PROBE)
		return -ENOMSG;
	x->sport = hp3_be16(udp);
	x->has_id = n >= VA + 8 && udp[HP3_UDP_LEN] == HP3_OP_UC_WRITE_ONLY &&
		    hp3_be16(udp + VA) == HP3_PEER_HEAD(HP3_PEER_KIND_PROBE);
	x->id = x->has_id ? hp3_be32(udp + VA + 4) : 0;
	return 0;
}

static int read_quote(const uint8_t *q, uint32_t n, struct hp3_expired *x)
{
	uint32_t header = x->ipv6 ? HP3_IPV6_LEN : HP3_IPV4_LEN;

	/* Traces have neither IP options nor extension headers. */
	if (n < header + HP3_UDP_LEN || (x->ipv6 ? q[0] >> 4 != 6 : q[0] != 0x45) ||
		q[x->ipv6 ? 6 : 9] != HP3_PROTO_UDP)
		return -ENOMSG;
	if (x->ipv6) {
		x->flow_label = hp3_be32(q) & 0xfffff;
		memcpy(x->src, q + 8, 16);
		memcpy(x->dst, q + 24, 16);
	} else {
		x->ipv4_id = hp3_be16(q + 4);
		memcpy(x->src, q + 12, 4);
		memcpy(x->dst, q + 16, 4);
	}
	return read_udp(q + header, n - header, x);
}

int hp3_expired_read(const struct hp3_parsed *f, struct hp3_expired *x)
{
	bool ipv6 = f->v->flags & HP3_VF_IPV6;
	size_t address = ipv6 ? 16 : 4;
	struct hp3_datagram d;
	int err;

	if (f->v->reason != HP3_PARSE_NOT_UDP ||
		hp3_datagram_find(f, ipv6 ? PROTO_ICMPV6 : PROTO_ICMP, &d) < 0 ||
		d.l4[0] != (ipv6 ? TYPE_ICMPV6 : TYPE_ICMP) || d.l4[1] != 0)
		return -ENOMSG;
	*x = (struct hp3_expired){.ipv6 = ipv6};
	memcpy(x->hop, d.src, address);
	err = read_quote(d.l4 + ICMP_LEN, d.len - ICMP_LEN, x);
	if (err < 0 || memcmp(x->src, d.dst, address) != 0) /* the message is for another host */
		return -ENOMSG;
	return hp3_datagram_sum(&d) != 0 ? -EBADMSG : 0;
}

static bool named_ipv4(const uint8_t *a)
{
	static const uint8_t dummy[4] = {192, 0, 0, 8};

	return a[0] != 0 && a[0] != 127 && a[0] < 224 && !(a[0] == 169 && a[1] == 254) &&
	       memcmp(a, dummy, sizeof(dummy)) != 0;
}

static bool named_ipv6(const uint8_t *a)
{
	static const uint8_t zero[15]; /* :: and ::1 */
	bool link_local = a[0] == 0xfe && (a[1] & 0xc0) == 0x80;

	return a[0] != 0xff && !link_local && !(memcmp(a, zero, sizeof(zero)) == 0 && a[15] <= 1);
}

bool hp3_expired_named(const struct hp3_expired *x)
{
	size_t address = x->ipv6 ? 16 : 4;

	if (!memcmp(x->hop, x->src, address) || !memcmp(x->hop, x->dst, address))
		return false;
	return x->ipv6 ? named_ipv6(x->hop) : named_ipv4(x->hop);
}
