/* SPDX-License-Identifier: BSD-3-Clause */
/* How packets of hp3d's own are addressed: who is known, whatever addresses the network chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/pipe/neighbours.h"
#include "roce/opcode.h"
#include "roce/wire.h"
#include "roce_frames.h"

#define CHOSEN 200u
#define SETS   (HP3D_NEIGHBOURS / 4)

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
	len = hp3_build_write0(frame, sizeof(frame), &a, 7, 1, 0, 0);
	assert_true(len > 0);
	hp3_parse(frame, (uint32_t)len, &v);
	hp3d_neighbours_learn(&table, frame, (uint32_t)len, &v);
}

static unsigned known(const uint32_t host[CHOSEN], uint64_t seed)
{
	unsigned n = 0;

	hp3d_neighbours_init(&table, seed);
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

	hp3d_neighbours_init(&table, 7);
	for (uint32_t i = 0; n < CHOSEN; i++) {
		connect_to(i);
		if (find(i) < &table.n[4])
			host[n++] = i;
	}
	assert_int_equal(known(host, 7), 4);
	for (uint64_t seed = 8; seed < 58; seed++)
		assert_in_range(known(host, seed), CHOSEN * 95 / 100, CHOSEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_that_collide_without_a_secret),
		cmocka_unit_test(addresses_that_collide_under_one_seed),
	};

	return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
