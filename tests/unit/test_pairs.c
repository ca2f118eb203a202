/* SPDX-License-Identifier: BSD-3-Clause */
/* Address pairs: look-up by both addresses, VLAN and family; a fixed number of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>
#include "engine/flows/flow.h"
#include "engine/flows/pairs.h"

#define MAX 6u /* not a power of two; eight hash slots */

static struct hp3_pairs t;
static struct hp3_pair pairs[MAX];
static uint32_t heads[8];

static int setup(void **state)
{
	assert_int_equal(hp3_pairs_heads(MAX), 8);
	hp3_pairs_init(&t, pairs, heads, MAX, 42);
	return 0;
}

static uint32_t get(uint8_t local, uint8_t remote, uint32_t vlan)
{
	const uint8_t l[4] = {10, 0, 0, local}, r[4] = {10, 0, 0, remote};

	return hp3_pairs_get(&t, &(struct hp3_ends){false, vlan, l, r});
}

static uint32_t find(uint8_t local, uint8_t remote, uint32_t vlan)
{
	const uint8_t l[4] = {10, 0, 0, local}, r[4] = {10, 0, 0, remote};

	return hp3_pairs_find(&t, &(struct hp3_ends){false, vlan, l, r});
}

static void every_part_of_the_key_counts(void **state)
{
	const uint8_t l[16] = {10, 0, 0, 1}, r[16] = {10, 0, 0, 2};
	uint32_t a, b, c, d;

	assert_int_equal(find(1, 2, 0), HP3_NO_PAIR);
	a = get(1, 2, 0);
	assert_int_equal(get(1, 2, 0), a);
	assert_int_equal(find(1, 2, 0), a);
	assert_int_equal(t.used, 1);
	assert_int_equal(find(2, 1, 0), HP3_NO_PAIR);
	b = get(2, 1, 0);
	c = get(1, 2, 100);
	d = hp3_pairs_get(
		&t, &(struct hp3_ends){true, 0, l, r}); /* the same bytes as an IPv6 address */
	assert_true(a != b && a != c && a != d && b != c && b != d && c != d);
	assert_int_equal(find(1, 2, 0), a);
	assert_int_equal(find(1, 2, 100), c);
	assert_int_equal(hp3_pairs_find(&t, &(struct hp3_ends){true, 0, l, r}), d);
}

static void ipv6_compares_all_bytes(void **state)
{
	for (unsigned i = 0; i < 32; i++) {
		uint8_t a[32] = {0x20, 0x01}, b[32];
		uint32_t x, y;

		memcpy(b, a, 32);
		b[i] ^= 0x80;
		x = hp3_pairs_get(&t, &(struct hp3_ends){true, 0, a, a + 16});
		y = hp3_pairs_get(&t, &(struct hp3_ends){true, 0, b, b + 16});
		assert_int_not_equal(x, y);
		assert_memory_equal(pairs[y].local, b, 16);
		assert_memory_equal(pairs[y].remote, b + 16, 16);
		hp3_pairs_free(&t, y);
	}
	assert_int_equal(t.used, 1);
}

static void a_new_pair_knows_nothing(void **state)
{
	uint32_t i = get(1, 2, 7);

	pairs[i].pinned_until = 99;
	pairs[i].voids = 7;
	pairs[i].untracked_until = 99;
	hp3_pairs_free(&t, i);
	assert_int_equal(find(1, 2, 7), HP3_NO_PAIR);
	assert_int_equal(get(1, 2, 7), i);
	assert_int_equal(pairs[i].pinned_until, 0);
	assert_int_equal(pairs[i].voids, 0);
	assert_int_equal(pairs[i].untracked_until, 0);
	assert_int_equal(pairs[i].flows, HP3_NO_FLOW);
}

/* Remote addresses that meet in one chain of a large table, under one seed; how long is the longest
 * chain that the same ones make under another? */
#define MANY  4096u
#define CHAIN 64u

static struct hp3_pairs large;
static struct hp3_pair many[MANY];
static uint32_t slots[MANY];

static uint32_t chain_of(uint32_t i)
{
	uint32_t n = 0;

	for (; i != HP3_NO_PAIR; i = many[i].chain)
		n++;
	return n;
}

static uint32_t longest(void)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < MANY; i++)
		most = chain_of(slots[i]) > most ? chain_of(slots[i]) : most;
	return most;
}

static uint32_t add(bool ipv6, const uint8_t addr[16])
{
	static const uint8_t local[16] = {10, 0, 0, 1};

	return hp3_pairs_get(&large, &(struct hp3_ends){ipv6, 0, local, addr});
}

static void chosen_addresses_meet_under_one_seed_only(void **state)
{
	for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
		uint8_t chosen[CHAIN][16];
		uint32_t n = 0;

		hp3_pairs_init(&large, many, slots, MANY, 1);
		for (uint32_t a = 1; n < CHAIN; a++) {
			uint8_t addr[16] = {0};
			uint32_t i;

			memcpy(addr + (ipv6 ? 12 : 0), &a, 4);
			i = add(ipv6, addr);
			if (i == slots[0])
				memcpy(chosen[n++], addr, 16);
			hp3_pairs_free(&large, i);
		}
		for (n = 0; n < CHAIN; n++)
			add(ipv6, chosen[n]);
		assert_int_equal(longest(), CHAIN);
		for (uint64_t seed = 2; seed < 50; seed++) {
			hp3_pairs_init(&large, many, slots, MANY, seed);
			for (n = 0; n < CHAIN; n++)
				add(ipv6, chosen[n]);
			assert_in_range(longest(), 1, 4);
		}
	}
}

/* Addresses that differ in few bits, or by a constant, meet no more often than others. */
static void regular_addresses_spread(void **state)
{
	for (unsigned shift = 0; shift < 116; shift += 5) {
		for (uint64_t seed = 0; seed < 8; seed++) {
			hp3_pairs_init(&large, many, slots, MANY, seed);
			for (uint32_t a = 0; a < MANY; a++) {
				unsigned __int128 wide = (unsigned __int128)a << shift;
				uint8_t addr[16];

				memcpy(addr, &wide, 16);
				add(true, addr);
			}
			assert_in_range(longest(), 1, 12);
		}
	}
}

static void full(void **state)
{
	uint32_t at[MAX];

	for (uint8_t i = 0; i < MAX; i++)
		at[i] = get(i, 200, 0);
	assert_int_equal(get(100, 200, 0), HP3_NO_PAIR);
	for (uint8_t i = 0; i < MAX; i++)
		assert_int_equal(get(i, 200, 0), at[i]); /* those that are there still are */
	hp3_pairs_free(&t, at[3]);
	assert_int_equal(get(100, 200, 0), at[3]);
	assert_int_equal(find(3, 200, 0), HP3_NO_PAIR);
}

/* Chains of several pairs: whichever is freed, the others stay reachable. */
static void freeing_keeps_the_chains(void **state)
{
	for (uint32_t gone = 0; gone < MAX; gone++) {
		uint32_t at[MAX];

		setup(NULL);
		for (uint8_t i = 0; i < MAX; i++)
			at[i] = get(i, (uint8_t)gone, 0);
		hp3_pairs_free(&t, at[gone]);
		for (uint8_t i = 0; i < MAX; i++)
			assert_int_equal(
				find(i, (uint8_t)gone, 0), i == gone ? HP3_NO_PAIR : at[i]);
		assert_int_equal(t.used, MAX - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_part_of_the_key_counts, setup),
		cmocka_unit_test_setup(ipv6_compares_all_bytes, setup),
		cmocka_unit_test_setup(a_new_pair_knows_nothing, setup),
		cmocka_unit_test(chosen_addresses_meet_under_one_seed_only),
		cmocka_unit_test(regular_addresses_spread),
		cmocka_unit_test_setup(full, setup),
		cmocka_unit_test_setup(freeing_keeps_the_chains, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
