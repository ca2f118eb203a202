/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "probes/datagram.h"
#include "roce/sum.h"

#define IPV4_FRAG_MASK 0x3fffu /* MF and offset */
#define PROTO_ICMP     1u
#define L4_LEN         8u /* header of UDP, ICMP, ICMPv6 */

static int find_ipv4(const uint8_t *ip, uint32_t room, struct hp3_datagram *d)
{
	if (room < HP3_IPV4_LEN || ip[0] >> 4 != 4)
		return -ENOMSG;
	uint32_t header = (ip[0] & 0x0fu) * 4, total = hp3_be16(ip + 2);
	if (header < HP3_IPV4_LEN || total < header + L4_LEN || total > room ||
		hp3_be16(ip + 6) & IPV4_FRAG_MASK)
		return -ENOMSG;
	d->l4 = ip + header;
	d->len = total - header;
	d->protocol = ip[9];
	d->src = ip + 12;
	d->dst = ip + 16;
	return 0;
}

static int find_ipv6(const uint8_t *ip, uint32_t room, struct hp3_datagram *d)
{
	if (room < HP3_IPV6_LEN || ip[0] >> 4 != 6)
		return -ENOMSG;
	d->len = hp3_be16(ip + 4);
	if (d->len < L4_LEN || d->len > room - HP3_IPV6_LEN)
		return -ENOMSG;
	d->l4 = ip + HP3_IPV6_LEN;
	d->protocol = ip[6];
	d->src = ip + 8;
	d->dst = ip + 24;
	return 0;
}

int hp3_datagram_find(const struct hp3_parsed *f, uint8_t protocol, struct hp3_datagram *d)
{
	const uint8_t *ip = (const uint8_t *)f->bytes + f->v->l3_off;
	uint32_t room = f->len > f->v->l3_off ? f->len - f->v->l3_off : 0;
	int err;

	*d = (struct hp3_datagram){.ip = ip, .ipv6 = f->v->flags & HP3_VF_IPV6};
	err = d->ipv6 ? find_ipv6(ip, room, d) : find_ipv4(ip, room, d);
	return err < 0 || d->protocol != protocol ? -ENOMSG : 0;
}

int hp3_datagram_to(const struct hp3_parsed *f, uint16_t port, struct hp3_datagram *d)
{
	if (f->v->reason != HP3_PARSE_NOT_ROCE || hp3_datagram_find(f, HP3_PROTO_UDP, d) < 0)
		return -ENOMSG;
	return hp3_be16(d->l4 + 2) == port ? 0 : -ENOMSG;
}

uint16_t hp3_datagram_sum(const struct hp3_datagram *d)
{
	if (d->protocol == PROTO_ICMP)
		return hp3_sum(d->l4, d->len);
	return hp3_sum_l4(d->ip, d->ipv6, d->protocol, d->l4, d->len);
}

struct hp3_addressing hp3_datagram_addressing(const struct hp3_datagram *d)
{
	struct hp3_addressing a = {.ipv6 = d->ipv6, .sport = hp3_be16(d->l4)};

	memcpy(a.src_ip, d->src, d->ipv6 ? 16 : 4);
	memcpy(a.dst_ip, d->dst, d->ipv6 ? 16 : 4);
	return a;
}
