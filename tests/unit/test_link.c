/* SPDX-License-Identifier: BSD-3-Clause */
/* Links: order, bounds, and every packet accounted for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include "app/hp3d/lcores/link.h"

#define PACKETS 64u
#define STEPS   20000u
#define SEED    20261121u

static struct rte_mempool *pool;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Packets that know their number. */
static struct rte_mbuf *packet(uint32_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	*(uint32_t *)rte_pktmbuf_append(m, sizeof(number)) = number;
	return m;
}

static uint32_t number_of(struct rte_mbuf *m)
{
	return *rte_pktmbuf_mtod(m, uint32_t *);
}

static void all_given_back(void)
{
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static uint32_t take_out(struct rte_ring *ring, uint32_t expected)
{
	struct rte_mbuf *m;

	while (rte_ring_sc_dequeue(ring, (void **)&m) == 0) {
		assert_int_equal(number_of(m), expected++);
		rte_pktmbuf_free(m);
	}
	return expected;
}

static void send(struct hp3d_link *l, uint32_t first, uint16_t n)
{
	struct rte_mbuf *m[PACKETS];

	for (uint16_t i = 0; i < n; i++)
		m[i] = packet(first + i);
	hp3d_link_send(l, m, n);
}

static struct hp3d_sleeper reader; /* who never sleeps */

/* A ring of 8 (7 usable) with a FIFO of 16 behind it. */
static struct rte_ring *small_link(struct hp3d_link *l, uint64_t *drops)
{
	struct rte_ring *ring =
		rte_ring_create("link", 8, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);

	assert_non_null(ring);
	*drops = 0;
	assert_int_equal(hp3d_link_init(l, &(struct hp3d_egress){.ring = ring, .reader = &reader},
				 16, drops),
		0);
	return ring;
}

/* What the ring does not take waits, and nothing that comes later overtakes it. */
static void link_keeps_order(void **state)
{
	struct hp3d_link l;
	uint64_t drops;
	struct rte_ring *ring = small_link(&l, &drops);
	uint32_t sent = 0, seen = 0, rng = SEED;

	for (uint32_t i = 0; i < STEPS; i++) {
		uint16_t n = (uint16_t)(next_random(&rng) % 6);

		if (hp3d_link_backlog(&l) + n <= 16) {
			send(&l, sent, n);
			sent += n;
		}
		if (next_random(&rng) % 3 == 0)
			seen = take_out(ring, seen);
		if (next_random(&rng) % 3 == 0)
			hp3d_link_drain(&l);
		assert_int_equal(seen + rte_ring_count(ring) + hp3d_link_backlog(&l), sent);
	}
	assert_int_equal(drops, 0);
	assert_true(sent > STEPS / 2);
	hp3d_link_free(&l);
	take_out(ring, seen);
	rte_ring_free(ring);
	all_given_back();
}

/* Full: the newest go, and are counted; the others come out in order. */
static void link_drops_the_newest(void **state)
{
	struct hp3d_link l;
	uint64_t drops;
	struct rte_ring *ring = small_link(&l, &drops);
	uint32_t seen = 0;

	send(&l, 0, 40);
	assert_int_equal(drops, 40 - 7 - 16);
	assert_int_equal(hp3d_link_backlog(&l), 16);
	send(&l, 1000, 3);
	assert_int_equal(drops, 40 - 7 - 16 + 3);
	do
		seen = take_out(ring, seen);
	while (hp3d_link_drain(&l) > 0);
	assert_int_equal(seen, 7 + 16);
	assert_int_equal(hp3d_link_backlog(&l), 0);
	hp3d_link_free(&l);
	rte_ring_free(ring);
	all_given_back();
}

/* What waits when a link ends is given back. */
static void link_frees_what_waits(void **state)
{
	struct hp3d_link l;
	uint64_t drops;
	struct rte_ring *ring = small_link(&l, &drops);

	send(&l, 0, 20);
	assert_int_equal(hp3d_link_backlog(&l), 13);
	hp3d_link_free(&l);
	assert_int_equal(take_out(ring, 0), 7);
	rte_ring_free(ring);
	all_given_back();
}

int main(void)
{
	char line[] =
		"test_link --no-huge --no-shconf --no-pci --no-telemetry -m 32 --lcores 0@(0) "
		"--log-level 1 --file-prefix hp3-test-link";
	char *args[32], *save = NULL;
	int n = 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_keeps_order),
		cmocka_unit_test(link_drops_the_newest),
		cmocka_unit_test(link_frees_what_waits),
	};

	printf("seed %u\n", SEED);
	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		args[n++] = word;
	if (rte_eal_init(n, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("test", 127, 0, 0, 256, SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
