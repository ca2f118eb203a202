/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between which addresses the queue pairs run: several pairs of them, in turn, IPv4 or IPv6, or in
 * VLANs of their own. Only headers are made here, which is all that the engine looks at; what a
 * packet's VLAN is stands in its view.
 */
#include "world_internal.h"
#include <string.h>

#define V4_OFF 26u /* source address, behind Ethernet */
#define V6_OFF 22u
#define OUTER  (HP3_VLAN_AD | 100) /* of all tenants */
#define INNER  20u /* of the first one; the next one's is one more */

/* Of several pairs every other one is IPv6. */
static bool is_ipv6(const struct world *w, uint32_t pair)
{
	return w->p.ipv6 && (w->pairs == 1 || pair % 2 == 1);
}

static uint32_t vlan_of(const struct world *w, uint32_t pair)
{
	return w->p.tenants ? OUTER | (INNER + pair) << HP3_VLAN_INNER_SHIFT : 0;
}

/* Tenants count for themselves. */
void world_number(struct world *w, uint32_t i)
{
	uint32_t number = w->p.tenants ? i / w->pairs : i;

	w->qps[i].lqpn = 0x1000 + number;
	w->qps[i].rqpn = 0x2000 + number;
}

uint32_t world_qp_at(const struct world *w, uint32_t flow, uint32_t rqpn)
{
	uint32_t number = rqpn - 0x2000, tenant = 0;
	struct hp3_flow_info info;

	if (!w->p.tenants)
		return number % MAX_QPS;
	if (hp3_flow_info(w->e, flow, w->now, &info) == 0 && info.rqpn == rqpn)
		tenant = (info.vlan >> HP3_VLAN_INNER_SHIFT & HP3_VLAN_ID) - INNER;
	return (number * w->pairs + tenant) % MAX_QPS;
}

static void fill(uint8_t *hdr, bool ipv6, uint32_t src, uint32_t dst)
{
	uint32_t at = ipv6 ? V6_OFF : V4_OFF, size = ipv6 ? 16 : 4;

	if (ipv6)
		hdr[at] = hdr[at + size] = 0xfd;
	hp3_put_be32(hdr + at + size - 4, src);
	hp3_put_be32(hdr + at + 2 * size - 4, dst);
}

void world_addresses(struct world *w)
{
	w->pairs = w->p.pairs ? w->p.pairs : 1;
	for (uint32_t i = 0; i < w->pairs; i++) {
		uint32_t other = w->p.tenants ? 0 : i;
		uint32_t local = 0x0a090001 + other / 2 * 0x100, remote = 0x0a090002 + other % 2;

		fill(w->tx_hdr[i], is_ipv6(w, i), local, remote);
		fill(w->rx_hdr[i], is_ipv6(w, i), remote, local);
	}
}

void world_pkt(struct world *w, uint32_t i, enum hp3_dir dir, struct hp3_pkt *pkt)
{
	uint32_t pair = i % w->pairs;

	pkt->frame = dir == HP3_DIR_TX ? w->tx_hdr[pair] : w->rx_hdr[pair];
	pkt->v.vlan = vlan_of(w, pair);
	pkt->trusted = true;
	pkt->len = 58u + hp3_opcodes[pkt->v.opcode].ext_len + pkt->v.payload_len;
	if (!is_ipv6(w, pair))
		return;
	pkt->v.flags |= HP3_VF_IPV6;
	pkt->v.udp_off += 20;
	pkt->len += 20;
}

struct hp3_ends world_ends(const struct world *w, uint32_t i)
{
	uint32_t pair = i % w->pairs;
	bool ipv6 = is_ipv6(w, pair);
	const uint8_t *at = w->tx_hdr[pair] + (ipv6 ? V6_OFF : V4_OFF);

	return (struct hp3_ends){ipv6, vlan_of(w, pair), at, at + (ipv6 ? 16 : 4)};
}
