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

/* A frame of `len` bytes with up to two VLAN tags; 0: no tag. */
static struct rte_mbuf *frame(uint16_t len, uint16_t outer, uint16_t inner)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *data;

	assert_non_null(m);
	data = (uint8_t *)rte_pktmbuf_append(m, len);
	assert_non_null(data);
	memset(data, 0, len);
	data[12] = (uint8_t)(outer >> 8);
	data[13] = (uint8_t)outer;
	data[16] = (uint8_t)(inner >> 8);
	data[17] = (uint8_t)inner;
	return m;
}

/* The driver gets no frame that its port does not take; the link counts these frames. */
static void link_drops_long_frames(void **state)
{
	static const struct {
		uint16_t len, outer, inner;
		bool fits, fits_two; /* two_tags */
	} frames[] = {
		{100, 0, 0, true, true},
		{101, 0, 0, false, false},
		{104, 0x8100, 0, true, true},
		{105, 0x8100, 0, false, false},
		{104, 0x88a8, 0, false, true},
		{108, 0x8100, 0x8100, false, true},
		{108, 0x88a8, 0x8100, false, true},
		{109, 0x88a8, 0x8100, false, false},
		{104, 0x0800, 0x8100, false, false},
	};

	for (unsigned two = 0; two < 2; two++) {
		struct hp3d_frame_limit limit = {.bytes = 100, .two_tags = two};
		struct rte_mbuf *m[sizeof(frames) / sizeof(frames[0])], *out;
		struct hp3d_link l;
		uint64_t drops, too_long = 0;
		struct rte_ring *ring = small_link(&l, &drops);
		unsigned n = 0;

		l.egress.limit = &limit;
		l.egress.too_long = &too_long;
		for (; n < sizeof(frames) / sizeof(frames[0]); n++)
			m[n] = frame(frames[n].len, frames[n].outer, frames[n].inner);
		hp3d_link_send(&l, m, (uint16_t)n);
		for (unsigned i = 0; i < n; i++) {
			if (!(two ? frames[i].fits_two : frames[i].fits))
				continue;
			assert_int_equal(rte_ring_sc_dequeue(ring, (void **)&out), 0);
			assert_int_equal(rte_pktmbuf_pkt_len(out), frames[i].len);
			rte_pktmbuf_free(out);
		}
		assert_int_equal(rte_ring_count(ring), 0);
		assert_int_equal(too_long, two ? 4 : 7);
		assert_int_equal(drops, 0);
		limit.bytes = 0; /* no limit */
		hp3d_link_send(&l, (struct rte_mbuf *[]){frame(120, 0, 0)}, 1);
		assert_int_equal(rte_ring_sc_dequeue(ring, (void **)&out), 0);
		rte_pktmbuf_free(out);
		hp3d_link_free(&l);
		rte_ring_free(ring);
		all_given_back();
	}
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
		cmocka_unit_test(link_drops_long_frames),
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
