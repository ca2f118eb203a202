/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between which addresses the queue pairs run: several pairs of them, in turn, IPv4 or IPv6. Only
 * headers are made here, which is all that the engine looks at.
 */
#include "world_internal.h"
#include <string.h>

#define V4_OFF 26u /* source address, behind Ethernet */
#define V6_OFF 22u

/* Of several pairs every other one is IPv6. */
static bool is_ipv6(const struct world *w, uint32_t pair)
{
	return w->p.ipv6 && (w->pairs == 1 || pair % 2 == 1);
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
		uint32_t local = 0x0a090001 + i / 2 * 0x100, remote = 0x0a090002 + i % 2;

		fill(w->tx_hdr[i], is_ipv6(w, i), local, remote);
		fill(w->rx_hdr[i], is_ipv6(w, i), remote, local);
	}
}

void world_pkt(struct world *w, uint32_t i, enum hp3_dir dir, struct hp3_pkt *pkt)
{
	uint32_t pair = i % w->pairs;

	pkt->frame = dir == HP3_DIR_TX ? w->tx_hdr[pair] : w->rx_hdr[pair];
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

	return (struct hp3_ends){ipv6, 0, at, at + (ipv6 ? 16 : 4)};
}
