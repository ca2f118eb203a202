/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/spread.h"
#include <rte_ethdev.h>
#include "base/hash.h"
#include "roce/wire.h"

#define KEY_WORD   0x6d5au
#define KEY_BYTES  40u
#define KEY_MIN    36u /* two IPv6 addresses and a word */
#define IPV4_TYPES (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER)
#define IPV6_TYPES (RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER)

/* The key's window at bit n of a word, counted from the left. */
static uint16_t window_of_key(unsigned n)
{
	return (uint16_t)(KEY_WORD << n | KEY_WORD >> (16 - n));
}

void hp3d_spread_init(struct hp3d_spread *s, unsigned workers, uint32_t table, uint64_t seed)
{
	*s = (struct hp3d_spread){.workers = workers, .table = table};
	s->key[0] = hp3_random(&seed);
	s->key[1] = hp3_random(&seed);
	for (unsigned v = 0; v < 256; v++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			if (v & 0x80u >> bit) {
				s->high[v] ^= window_of_key(bit);
				s->low[v] ^= window_of_key(bit + 8);
			}
		}
	}
	/* In blocks: addresses of a rack leave regular gaps in the hash, which would make i %
	 * workers uneven. */
	for (uint32_t i = 0; i < table; i++)
		s->owner[i] = (uint8_t)(i * workers / table);
}

/* Hash of an IPv4 address, or of half `n` of an IPv6 address. */
static uint64_t mix_address(const struct hp3d_spread *s, uint64_t address, unsigned n)
{
	return hp3_mix(address ^ s->key[n], s->key[!n]);
}

/*
 * Equal for both directions of an address pair. Each address is mixed by itself: the plain xor of
 * two would be the same for all pairs of hosts N and N + 1. The sum is mixed once more: hosts N,
 * N + 1, N + 2 and so on have equal differences, which can be small in the upper bits.
 */
static uint32_t mix_pair(const struct hp3d_spread *s, bool ipv6, const uint8_t *a, const uint8_t *b)
{
	uint64_t h = 0;

	if (!ipv6)
		h = mix_address(s, hp3_be32(a), 0) + mix_address(s, hp3_be32(b), 0);
	for (unsigned i = 0; ipv6 && i < 2; i++)
		h += mix_address(s, hp3_be64(a + 8 * i), i) +
		     mix_address(s, hp3_be64(b + 8 * i), i);
	return (uint32_t)(hp3_random(&h) >> 32);
}

static uint16_t fold_pair(bool ipv6, const uint8_t *a, const uint8_t *b)
{
	uint64_t x = hp3_be32(a) ^ hp3_be32(b);

	if (ipv6)
		x = hp3_be64(a) ^ hp3_be64(b) ^ hp3_be64(a + 8) ^ hp3_be64(b + 8);
	x ^= x >> 32;
	return (uint16_t)(x ^ x >> 16);
}

unsigned hp3d_spread_of(const struct hp3d_spread *s, bool ipv6, const uint8_t *a, const uint8_t *b)
{
	uint16_t x;

	if (s->table == 0)
		return (unsigned)((uint64_t)mix_pair(s, ipv6, a, b) * s->workers >> 32);
	x = fold_pair(ipv6, a, b);
	return s->owner[(s->low[x & 255] ^ s->high[x >> 8]) & (s->table - 1)];
}

/*
 * The IP header that selects the worker: for an ICMP time exceeded, that of the quoted packet. n:
 * bytes from ip on.
 */
static const uint8_t *subject_of_packet(const uint8_t *ip, uint32_t n, bool ipv6)
{
	uint32_t quote = 8 + (ipv6 ? 40u : (ip[0] & 15) * 4u);
	bool icmp = ipv6 ? ip[6] == 58 : ip[9] == 1;

	if (!icmp || quote + (ipv6 ? 40u : 20u) > n || ip[quote - 8] != (ipv6 ? 3 : 11))
		return ip;
	return ip + quote;
}

unsigned hp3d_spread_frame(const struct hp3d_spread *s, const uint8_t *frame, uint32_t len)
{
	const uint8_t *ip;
	uint32_t at = 12;

	while (at + 4 <= len && (hp3_be16(frame + at) == 0x8100 || hp3_be16(frame + at) == 0x88a8))
		at += 4;
	at += 2;
	if (at + 20 <= len && hp3_be16(frame + at - 2) == 0x0800) {
		ip = subject_of_packet(frame + at, len - at, false);
		return hp3d_spread_of(s, false, ip + 12, ip + 16);
	}
	if (at + 40 <= len && hp3_be16(frame + at - 2) == 0x86dd) {
		ip = subject_of_packet(frame + at, len - at, true);
		return hp3d_spread_of(s, true, ip + 8, ip + 24);
	}
	return 0;
}

uint32_t hp3d_rss_table(const struct rte_eth_dev_info *info)
{
	return RTE_MIN((uint32_t)info->reta_size, HP3D_SPREAD_TABLE_MAX);
}

uint64_t hp3d_rss_types(const struct rte_eth_dev_info *info)
{
	return (IPV4_TYPES | IPV6_TYPES) & info->flow_type_rss_offloads;
}

const char *hp3d_rss_unsupported(const struct rte_eth_dev_info *info, unsigned workers)
{
	if (!(info->flow_type_rss_offloads & RTE_ETH_RSS_IPV4))
		return "the driver does not hash by addresses alone";
	if (info->max_rx_queues < workers || info->max_tx_queues < workers)
		return "the device has fewer queues than there are lcores";
	if (info->reta_size == 0 || (info->reta_size & (info->reta_size - 1)) != 0 ||
		info->reta_size < workers)
		return "the driver has no indirection table that could be set";
	if (info->hash_key_size != 0 && info->hash_key_size < KEY_MIN)
		return "the key of the driver is too short for IPv6 addresses";
	return NULL;
}

uint8_t hp3d_rss_key(const struct rte_eth_dev_info *info, uint8_t key[UINT8_MAX])
{
	uint8_t n = info->hash_key_size != 0 ? info->hash_key_size : KEY_BYTES;

	for (unsigned i = 0; i < n; i++)
		key[i] = (uint8_t)(KEY_WORD >> (i % 2 == 0 ? 8 : 0));
	return n;
}
