/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Selects the worker of a packet by the packet's two IP addresses. Both directions have the same
 * worker. So requests, replies, probes and their answers reach one engine. UDP ports do not matter,
 * because hp3d changes the source port.
 *
 * If a NIC spreads packets (RSS), hp3d uses the map of the NIC. This map is the Toeplitz hash of
 * the two addresses with the key 6d5a 6d5a (repeated), then an indirection table that hp3d sets.
 * The key repeats every 16 bits. So the hash depends only on the XOR of all 16-bit words, and is
 * symmetric. hp3d computes the same hash in two look-ups, and checks every packet. If a packet is
 * on another worker's queue, hp3d hands it to the right worker. (Causes: an encapsulation that the
 * NIC does not parse, an ICMP error, a driver that ignores the set-up.) If no NIC spreads packets,
 * hp3d uses a seeded hash.
 *
 * The NIC's hash is linear: an attacker who chooses addresses can find many addresses that map to
 * one worker, whatever the key is. The seeded hash prevents this.
 *
 * The map is set up before the lcores run. Later it is only read.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_eth_dev_info;

#define HP3D_SPREAD_TABLE_MAX 512u /* entries of an indirection table that are used */

struct hp3d_spread {
	uint32_t workers;
	uint32_t table; /* used entries of `owner`, a power of two; 0: no NIC spreads */
	uint64_t key[2]; /* key of the seeded hash */
	/* x: XOR of all 16-bit words of both addresses; hash of x: low[x & 255] ^ high[x >> 8] */
	uint16_t low[256], high[256];
	uint8_t owner[HP3D_SPREAD_TABLE_MAX]; /* worker, by the low bits of the hash */
};

/* `table`: entries of the smallest indirection table among the NICs that spread, 0 for none.
 * `seed`: random and secret. */
void hp3d_spread_init(struct hp3d_spread *s, unsigned workers, uint32_t table, uint64_t seed);
/* a, b: addresses of four bytes, or of 16. */
unsigned hp3d_spread_of(const struct hp3d_spread *s, bool ipv6, const uint8_t *a, const uint8_t *b);
/* A frame that is not IP belongs to worker 0. An ICMP time exceeded message belongs to the worker
 * of the packet that it quotes. */
unsigned hp3d_spread_frame(const struct hp3d_spread *s, const uint8_t *frame, uint32_t len);

/* Why a port cannot spread packets over `workers` workers; NULL: it can. */
const char *hp3d_rss_unsupported(const struct rte_eth_dev_info *info, unsigned workers);
/* The RSS packet types that the port supports and that are hashed by addresses alone. */
uint64_t hp3d_rss_types(const struct rte_eth_dev_info *info);
/* Writes the key. Returns its length in bytes: what the port reports, or the usual 40. */
uint8_t hp3d_rss_key(const struct rte_eth_dev_info *info, uint8_t key[UINT8_MAX]);
/* How many entries of a port's table are used. */
uint32_t hp3d_rss_table(const struct rte_eth_dev_info *info);
