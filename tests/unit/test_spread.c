/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker of an address pair: as a NIC computes it, the same for both directions, with about
 * equal loads; and which ports can do this, by the properties that simulated drivers report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <rte_ethdev.h>
#include <rte_thash.h>
#include "app/hp3d/lcores/spread.h"
#include "base/hash.h"
#include "roce/wire.h"

#define SEED  20261121u
#define PAIRS 4000u

static const struct rte_eth_dev_info able = {.max_rx_queues = 16,
	.max_tx_queues = 16,
	.reta_size = 128,
	.hash_key_size = 40,
	.flow_type_rss_offloads = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_UDP};

static void draw(uint64_t *rng, uint8_t address[16])
{
	for (unsigned i = 0; i < 16; i += 8)
		hp3_put_be64(address + i, hp3_random(rng));
}

/* What a NIC computes, by DPDK's own model of it. */
static uint32_t toeplitz(bool ipv6, const uint8_t *src, const uint8_t *dst)
{
	uint32_t words[8], n = ipv6 ? 4 : 1;
	uint8_t key[UINT8_MAX];

	assert_int_equal(hp3d_rss_key(&able, key), 40);
	for (uint32_t i = 0; i < n; i++) {
		words[i] = hp3_be32(src + 4 * i);
		words[n + i] = hp3_be32(dst + 4 * i);
	}
	return rte_softrss(words, 2 * n, key);
}

static void as_the_nic(void **state)
{
	static const uint32_t tables[] = {64, 128, 512};
	struct hp3d_spread s;
	uint64_t rng = SEED;

	for (unsigned workers = 2; workers <= 7; workers++) {
		for (unsigned t = 0; t < RTE_DIM(tables); t++) {
			hp3d_spread_init(&s, workers, tables[t], SEED);
			for (unsigned i = 0; i < PAIRS; i++) {
				uint8_t a[16], b[16];
				bool ipv6 = i & 1;
				uint32_t hash;

				draw(&rng, a);
				draw(&rng, b);
				hash = toeplitz(ipv6, a, b);
				assert_int_equal(hash, toeplitz(ipv6, b, a));
				assert_int_equal(
					hp3d_spread_of(&s, ipv6, a, b), s.owner[hash % tables[t]]);
				assert_int_equal(hp3d_spread_of(&s, ipv6, a, b),
					hp3d_spread_of(&s, ipv6, b, a));
			}
		}
	}
}

/* Hosts of a rack that talk to all of another rack: each worker gets its share, +- 25 %. */
static void evenly(void **state)
{
	struct hp3d_spread s;

	for (uint32_t table = 0; table <= 128; table += 128) {
		for (unsigned workers = 2; workers <= 8; workers++) {
			uint32_t load[8] = {0};

			hp3d_spread_init(&s, workers, table, SEED);
			for (unsigned i = 0; i < 64 * 64; i++) {
				uint8_t a[4] = {10, 9, 0, (uint8_t)(i % 64)};
				uint8_t b[4] = {10, 9, 1, (uint8_t)(i / 64)};

				load[hp3d_spread_of(&s, false, a, b)]++;
			}
			for (unsigned w = 0; w < workers; w++) {
				assert_in_range(
					load[w], 64 * 64 / workers / 2, 2 * 64 * 64 / workers);
			}
		}
	}
}

/* Sixteen hosts in a row, on both sides or on one: hardly any seed gives all pairs to one worker.
 */
static void neighbours_part(void **state)
{
	enum { SEEDS = 4000, HOSTS = 16 };
	unsigned alone[2] = {0};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct hp3d_spread s;

		hp3d_spread_init(&s, 2, 0, seed);
		for (unsigned both = 0; both < 2; both++) {
			unsigned first = 0;

			for (unsigned i = 0; i < HOSTS; i++) {
				uint8_t a[4] = {10, 9, 0, (uint8_t)(1 + i * both)};
				uint8_t b[4] = {10, 9, 1, (uint8_t)(1 + i)};

				first += hp3d_spread_of(&s, false, a, b) == 0;
			}
			alone[both] += first % HOSTS == 0;
		}
	}
	print_message("all on one worker: %u and %u of %u seeds\n", alone[0], alone[1], SEEDS);
	assert_true(alone[0] <= 4 && alone[1] <= 4); /* 0.1 is expected: 4,000 / 2^15 */
}

/*
 * Hosts that one seed gives to one worker: all other seeds spread them over all workers. (No seed
 * does so where a NIC spreads, whose hash is linear.)
 */
static void chosen_addresses_meet_under_one_seed_only(void **state)
{
	const uint8_t b[4] = {10, 9, 1, 1};
	uint8_t chosen[256][4];
	struct hp3d_spread s;
	unsigned n = 0;

	hp3d_spread_init(&s, 8, 0, SEED);
	for (uint32_t i = 0; n < 256; i++) {
		hp3_put_be32(chosen[n], 0x0b000000u + i);
		n += hp3d_spread_of(&s, false, chosen[n], b) == 0;
	}
	for (uint64_t seed = 0; seed < 50; seed++) {
		uint32_t load[8] = {0};

		hp3d_spread_init(&s, 8, 0, seed);
		for (unsigned i = 0; i < 256; i++)
			load[hp3d_spread_of(&s, false, chosen[i], b)]++;
		for (unsigned w = 0; w < 8; w++)
			assert_in_range(load[w], 8, 64);
	}
}

/* Ethernet, VLAN tags, IPv4 from 10.0.0.x to 10.1.0.y, protocol `proto`. */
static uint32_t ipv4_frame(
	uint8_t frame[128], unsigned tags, uint8_t proto, uint8_t src, uint8_t dst)
{
	uint32_t at = 12;

	memset(frame, 0, 128);
	for (unsigned i = 0; i < tags; i++, at += 4)
		hp3_put_be16(frame + at, i == 0 ? 0x88a8 : 0x8100);
	hp3_put_be16(frame + at, 0x0800);
	frame[at + 2] = 0x45;
	frame[at + 11] = proto;
	hp3_put_be32(frame + at + 14, 0x0a000000u + src);
	hp3_put_be32(frame + at + 18, 0x0a010000u + dst);
	return at + 2;
}

static void frames(void **state)
{
	uint8_t frame[128], a[4] = {10, 0, 0, 1}, b[4] = {10, 1, 0, 2};
	struct hp3d_spread s;

	for (uint32_t table = 0; table <= 128; table += 128) {
		unsigned wanted;

		hp3d_spread_init(&s, 64, table, SEED);
		wanted = hp3d_spread_of(&s, false, a, b);
		assert_true(wanted != 0);
		for (unsigned tags = 0; tags < 3; tags++) {
			uint32_t ip = ipv4_frame(frame, tags, 17, 1, 2);

			assert_int_equal(hp3d_spread_frame(&s, frame, ip + 20), wanted);
			assert_int_equal(hp3d_spread_frame(&s, frame, ip + 19), 0);
		}
		/* From a switch, about that packet. */
		for (unsigned code = 3; code <= 11; code += 8) {
			uint8_t inner[128];
			uint32_t ip = ipv4_frame(frame, 0, 1, 77, 1);
			uint32_t in = ipv4_frame(inner, 0, 17, 1, 2);

			frame[ip + 20] = (uint8_t)code;
			memcpy(frame + ip + 28, inner + in, 20);
			if (code == 11)
				assert_int_equal(hp3d_spread_frame(&s, frame, ip + 48), wanted);
			else
				assert_int_not_equal(hp3d_spread_frame(&s, frame, ip + 48), wanted);
		}
		ipv4_frame(frame, 0, 17, 1, 2);
		hp3_put_be16(frame + 12, 0x0806);
		assert_int_equal(hp3d_spread_frame(&s, frame, 60), 0);
	}
}

static void assert_unsupported(
	const struct rte_eth_dev_info *info, unsigned workers, const char *what)
{
	const char *said = hp3d_rss_unsupported(info, workers);

	assert_non_null(said);
	assert_non_null(strstr(said, what));
}

static void who_can(void **state)
{
	struct rte_eth_dev_info info = able;
	uint8_t key[UINT8_MAX];

	assert_null(hp3d_rss_unsupported(&able, 16));
	assert_unsupported(&able, 17, "fewer queues");
	info.max_tx_queues = 1;
	assert_unsupported(&info, 2, "fewer queues");
	info = able;
	info.flow_type_rss_offloads = RTE_ETH_RSS_UDP; /* ports, too: not ours */
	assert_unsupported(&info, 2, "addresses alone");
	info = able;
	info.reta_size = 0;
	assert_unsupported(&info, 2, "indirection table");
	info.reta_size = 96;
	assert_unsupported(&info, 2, "indirection table");
	info.reta_size = 4;
	assert_null(hp3d_rss_unsupported(&info, 4));
	assert_unsupported(&info, 5, "indirection table");
	info = able;
	info.hash_key_size = 16;
	assert_unsupported(&info, 2, "too short");
	info.hash_key_size = 52;
	assert_null(hp3d_rss_unsupported(&info, 2));
	assert_int_equal(hp3d_rss_key(&info, key), 52);
	assert_int_equal(key[50] << 8 | key[51], 0x6d5a);
	info.hash_key_size = 0; /* unknown */
	assert_null(hp3d_rss_unsupported(&info, 2));
	assert_int_equal(hp3d_rss_key(&info, key), 40);
}

/* Never by ports, of which hp3 changes one. */
static void what_is_hashed(void **state)
{
	struct rte_eth_dev_info info = able;

	assert_int_equal(hp3d_rss_types(&info), RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6);
	info.flow_type_rss_offloads = UINT64_MAX;
	assert_int_equal(
		hp3d_rss_types(&info) & (RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_PORT |
						RTE_ETH_RSS_IPV6_EX | RTE_ETH_RSS_L3_SRC_ONLY),
		0);
	info.reta_size = 2048;
	assert_int_equal(hp3d_rss_table(&info), HP3D_SPREAD_TABLE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_nic),
		cmocka_unit_test(evenly),
		cmocka_unit_test(neighbours_part),
		cmocka_unit_test(chosen_addresses_meet_under_one_seed_only),
		cmocka_unit_test(frames),
		cmocka_unit_test(who_can),
		cmocka_unit_test(what_is_hashed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
