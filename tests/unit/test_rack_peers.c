/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to rack peers: to which, when, and how they are addressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/pipe/rack_peers.h"
#include "roce/opcode.h"
#include "roce_frames.h"

#define MS    1000000ull
#define S     (1000 * MS)
#define PAIRS 1024u

static struct hp3d_rack_peers rack_peers;
static struct hp3d_neighbour entries[2 * PAIRS];
static struct hp3d_neighbours table;

static struct hp3_addressing from_to(uint8_t from, uint8_t to)
{
	return (struct hp3_addressing){.dst_mac = {2, 0, 0, 0, 0, to},
		.src_mac = {2, 0, 0, 0, 0, from},
		.src_ip = {10, 0, 1, from},
		.dst_ip = {10, 0, 1, to},
		.ttl = 17,
		.sport = 50000};
}

/* The local RNIC sends to 10.0.1.to, by a next hop. */
static void connection(uint8_t from, uint8_t to, uint8_t hop, uint16_t vlan)
{
	struct hp3_addressing a = from_to(from, to);
	uint8_t frame[256];
	struct hp3_view v;
	int len;

	a.dst_mac[5] = hop;
	a.tag[0] = hp3_tag_8021q(vlan);
	len = hp3_build_write0(frame, sizeof(frame), &a, 7, 1, 0, 0);
	assert_true(len > 0);
	hp3_parse(frame, (uint32_t)len, &v);
	hp3d_neighbours_learn(&table, frame, (uint32_t)len, &v);
}

/* 10.0.1.from was heard of, its frame by way of `hop`. */
static void heard(uint8_t from, uint8_t hop, uint64_t now)
{
	struct hp3_addressing a = from_to(from, 1);
	const uint8_t addr[4] = {10, 0, 1, from};
	uint8_t frame[256];
	struct hp3_view v;
	int len;

	a.src_mac[5] = hop;
	len = hp3_build_udp(frame, sizeof(frame), &a, 4795, "x", 1);
	hp3_parse(frame, (uint32_t)len, &v);
	hp3d_rack_peer_heard(hp3d_rack_peers_find(&rack_peers, false, addr), frame, &v, now);
}

static bool is_due(uint8_t to, uint64_t now, struct hp3_addressing *a)
{
	const uint8_t addr[4] = {10, 0, 1, to};
	bool no_route,
		due = hp3d_rack_peer_is_due(&rack_peers,
			hp3d_rack_peers_find(&rack_peers, false, addr), &table, now, a, &no_route);

	assert_false(due && no_route);
	if (due) {
		assert_memory_equal(a->dst_ip, addr, 4);
		assert_int_equal(a->src_ip[3], 1);
	}
	return due;
}

static int begin(void **state)
{
	const struct hp3_rack_peers hosts = hp3_rack_peers_parse("10.0.1.0/29");

	hp3d_neighbours_init(&table, entries, PAIRS, 1);
	hp3d_rack_peers_init(&rack_peers, &hosts);
	return 0;
}

static void only_those_of_the_list(void **state)
{
	const uint8_t us[4] = {10, 0, 1, 1}, other_one[4] = {10, 0, 1, 2};
	struct hp3_ends ends = {.local = us, .remote = other_one};

	const uint8_t in[4] = {10, 0, 1, 6}, beyond[4] = {10, 0, 1, 7}, other[16] = {10, 0, 1, 6};

	assert_non_null(hp3d_rack_peers_find(&rack_peers, false, in));
	assert_null(hp3d_rack_peers_find(&rack_peers, false, beyond));
	assert_null(hp3d_rack_peers_find(&rack_peers, true, other));
	assert_null(hp3d_rack_peers_from(&rack_peers, &table, &ends)); /* who is us? */
	connection(1, 88, 42, 0);
	assert_ptr_equal(
		hp3d_rack_peers_from(&rack_peers, &table, &ends), &rack_peers.rack_peer[1]);
	ends.remote = beyond;
	assert_null(hp3d_rack_peers_from(&rack_peers, &table, &ends));
	ends = (struct hp3_ends){.local = in, .remote = other_one}; /* it came astray */
	assert_null(hp3d_rack_peers_from(&rack_peers, &table, &ends));
}

/* Nothing before the RNIC has a connection, and none in the name of an address that others would
 * not listen to. */
static void who_speaks_is_one_of_them(void **state)
{
	struct hp3_addressing to;
	bool no_route;

	assert_false(is_due(2, S, &to));
	connection(99, 2, 42, 0);
	assert_false(hp3d_rack_peer_is_due(
		&rack_peers, &rack_peers.rack_peer[1], &table, S, &to, &no_route));
	assert_true(no_route);
	connection(1, 88, 42, 0);
	assert_true(is_due(2, S, &to));
	connection(3, 88, 42, 0); /* another address of this host: it stays with the first */
	assert_true(is_due(3, S, &to));
	assert_false(is_due(1, S, &to)); /* itself */
}

static void the_silent_are_told_rarely(void **state)
{
	struct hp3_addressing to;
	unsigned advertised = 0;

	connection(1, 88, 42, 0);
	for (uint64_t t = S; t < 6 * S; t += MS)
		advertised += is_due(2, t, &to);
	assert_int_equal(advertised, 5);
	heard(2, 2, 6 * S);
	for (uint64_t t = 6 * S; t <= 7 * S; t += MS)
		assert_true(is_due(2, t, &to));
	assert_false(is_due(2, 7 * S + MS, &to)); /* silent again */
	assert_true(is_due(2, 8 * S, &to));
}

/* For what is said about keys, before anything is told to the rack. */
static void by_its_address(void **state)
{
	struct hp3_pair_ends ends = {.src = {10, 0, 1, 1}, .dst = {10, 0, 1, 2}};
	struct hp3_addressing to;

	assert_false(hp3d_rack_peers_address(
		&rack_peers, &table, &ends, &to)); /* nothing was sent yet */
	connection(1, 88, 42, 5);
	assert_true(hp3d_rack_peers_address(&rack_peers, &table, &ends, &to));
	assert_int_equal(to.dst_mac[5], 42);
	assert_int_equal(to.tag[0].tci, 5);
	assert_memory_equal(to.dst_ip, ends.dst, 4);
	ends.dst[3] = 99; /* of no host of the rack */
	assert_false(hp3d_rack_peers_address(&rack_peers, &table, &ends, &to));
	ends.dst[3] = 2;
	ends.src[3] = 77; /* not from here */
	assert_false(hp3d_rack_peers_address(&rack_peers, &table, &ends, &to));
}

static void how_it_is_addressed(void **state)
{
	struct hp3_addressing to;

	connection(1, 88, 42, 5);
	assert_true(is_due(2, S, &to)); /* as the RNIC's packets to anybody */
	assert_int_equal(to.dst_mac[5], 42);
	assert_int_equal(to.tag[0].tci, 5);
	heard(2, 43, S);
	assert_true(is_due(2, S, &to)); /* back to where it came from */
	assert_int_equal(to.dst_mac[5], 43);
	connection(1, 2, 44, 0);
	assert_true(is_due(2, S, &to)); /* as those to it */
	assert_int_equal(to.dst_mac[5], 44);
	assert_int_equal(to.tag[0].tpid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(only_those_of_the_list, begin),
		cmocka_unit_test_setup(who_speaks_is_one_of_them, begin),
		cmocka_unit_test_setup(the_silent_are_told_rarely, begin),
		cmocka_unit_test_setup(how_it_is_addressed, begin),
		cmocka_unit_test_setup(by_its_address, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
