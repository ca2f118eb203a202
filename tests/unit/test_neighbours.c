/* SPDX-License-Identifier: BSD-3-Clause */
/* Addressing of hp3d's own packets: learnt neighbours, for any addresses of the network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/pipe/neighbours.h"
#include "roce/opcode.h"
#include "roce/wire.h"
#include "roce_frames.h"

#define CHOSEN 200u
#define PAIRS  1024u
#define SETS   (2 * PAIRS / HP3D_NEIGHBOURS_SET)

static struct hp3d_neighbour entries[2 * PAIRS];
static struct hp3d_neighbours table;
static const uint8_t us[4] = {10, 0, 1, 1};

static void remote_of(uint32_t host, uint8_t remote[4])
{
	hp3_put_be32(remote, 0x0b000000u + host);
}

static struct hp3d_neighbour *find(uint32_t host)
{
	uint8_t remote[4];
	const struct hp3_ends ends = {.local = us, .remote = remote};

	remote_of(host, remote);
	return hp3d_neighbours_find(&table, &ends);
}

/* The local RNIC has a connection there. */
static void connect_to(uint32_t host)
{
	struct hp3_addressing a = {.src_mac = {2}, .dst_mac = {2, 1}, .ttl = 64, .sport = 50000};
	uint8_t frame[256];
	struct hp3_view v;
	int len;

	memcpy(a.src_ip, us, sizeof(us));
	remote_of(host, a.dst_ip);
	len = hp3_build(frame, sizeof(frame), &a,
		&(struct hp3_fields){
			.opcode = HP3_OP_RC_WRITE_ONLY, .ackreq = true, .dest_qpn = 7, .psn = 1});
	assert_true(len > 0);
	hp3_parse(frame, (uint32_t)len, &v);
	hp3d_neighbours_learn(&table, &(struct hp3_parsed){frame, (uint32_t)len, &v});
}

static unsigned known(const uint32_t host[CHOSEN], uint64_t seed)
{
	unsigned n = 0;

	hp3d_neighbours_init(&table, entries, PAIRS, seed);
	for (unsigned i = 0; i < CHOSEN; i++)
		connect_to(host[i]);
	for (unsigned i = 0; i < CHOSEN; i++)
		n += find(host[i]) != NULL;
	return n;
}

/* FNV-1a of both addresses, byte by byte: without a secret anybody can compute it. */
static uint32_t without_a_secret(uint32_t host)
{
	uint32_t h = 2166136261u;
	uint8_t remote[4];

	remote_of(host, remote);
	for (unsigned i = 0; i < 4; i++) {
		h = (h ^ us[i]) * 16777619u;
		h = (h ^ remote[i]) * 16777619u;
	}
	return (h >> 8) % SETS;
}

static void addresses_that_collide_without_a_secret(void **state)
{
	uint32_t host[CHOSEN], n = 0;

	for (uint32_t i = 0; n < CHOSEN; i++)
		if (without_a_secret(i) == 0)
			host[n++] = i;
	for (uint64_t seed = 0; seed < 50; seed++)
		assert_in_range(known(host, seed), CHOSEN * 95 / 100, CHOSEN);
}

static void addresses_that_collide_under_one_seed(void **state)
{
	uint32_t host[CHOSEN], n = 0;

	hp3d_neighbours_init(&table, entries, PAIRS, 7);
	for (uint32_t i = 0; n < CHOSEN; i++) {
		connect_to(i);
		if (find(i) < &table.n[HP3D_NEIGHBOURS_SET])
			host[n++] = i;
	}
	assert_int_equal(known(host, 7), HP3D_NEIGHBOURS_SET);
	for (uint64_t seed = 8; seed < 58; seed++)
		assert_in_range(known(host, seed), CHOSEN * 95 / 100, CHOSEN);
}

/* The RNIC has connections with as many hosts as there may be address pairs: hardly one makes room
 * for another. */
static void as_many_as_address_pairs(void **state)
{
	for (uint32_t pairs = PAIRS; pairs <= 64 * PAIRS; pairs *= 4) {
		void *mem = malloc(hp3d_neighbours_size(pairs));
		uint32_t n = 0;

		assert_non_null(mem);
		hp3d_neighbours_init(&table, mem, pairs, pairs);
		for (uint32_t i = 0; i < pairs; i++)
			connect_to(i);
		for (uint32_t i = 0; i < pairs; i++)
			n += find(i) != NULL;
		assert_in_range(n, pairs - pairs / 64, pairs);
		free(mem);
	}
}

/* Connections with invented hosts come and go without end: those of others stay known. */
static void whose_connections_have_ended_makes_room(void **state)
{
	uint8_t remote[4];
	const struct hp3_ends ends = {.local = us, .remote = remote};

	hp3d_neighbours_init(&table, entries, PAIRS, 7);
	for (uint32_t i = 0; i < PAIRS / 4; i++)
		connect_to(i);
	for (uint32_t i = PAIRS; i < 100 * PAIRS; i++) {
		connect_to(i);
		remote_of(i, remote);
		hp3d_neighbours_end(&table, &ends);
	}
	for (uint32_t i = 0; i < PAIRS / 4; i++)
		assert_non_null(find(i));
	/* One that comes back is like the others. */
	connect_to(100 * PAIRS - 1);
	assert_false(find(100 * PAIRS - 1)->ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_address_pairs),
		cmocka_unit_test(whose_connections_have_ended_makes_room),
		cmocka_unit_test(addresses_that_collide_without_a_secret),
		cmocka_unit_test(addresses_that_collide_under_one_seed),
	};

	return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
