/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement by counts of both ends: the rule, the counts, and its benefit (a Monte Carlo run
 * against random choice and against own counts only).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "ppp/placement.h"
#include "base/random.h"

#define SEED    0x91ace5u
#define MAX_AGE 1000u

static void counts_follow_flows(void **state)
{
	uint16_t count[16];
	struct hp3_load l;
	struct {
		uint32_t path;
	} flow[200];
	unsigned n = 0;
	uint64_t rng = SEED;

	assert_int_equal(hp3_load_init(&l, count, 0), -EINVAL);
	assert_int_equal(hp3_load_init(&l, count, HP3_LOAD_PATHS + 1), -EINVAL);
	assert_int_equal(hp3_load_init(&l, count, 16), 0);
	for (unsigned step = 0; step < 50000; step++) {
		unsigned i = n ? hp3_random_below(&rng, n) : 0;
		uint32_t path = hp3_random_below(&rng, 17); /* 16: unknown, not counted */
		uint16_t expect[16] = {0};

		switch (hp3_random_below(&rng, 3)) {
		case 0:
			if (n < 200) {
				hp3_load_start(&l, path);
				flow[n++].path = path;
			}
			break;
		case 1:
			if (n) {
				hp3_load_end(&l, flow[i].path);
				flow[i] = flow[--n];
			}
			break;
		default:
			if (n) {
				hp3_load_end(&l, flow[i].path);
				hp3_load_start(&l, path);
				flow[i].path = path;
			}
		}
		for (i = 0; i < n; i++) {
			if (flow[i].path < 16)
				expect[flow[i].path]++;
		}
		assert_memory_equal(count, expect, sizeof(expect));
	}
	hp3_load_init(&l, count, 16);
	hp3_load_end(&l, 3); /* never below 0 */
	assert_int_equal(count[3], 0);
}

/* Least max(outbound here, inbound there), then the least sum. */
static void least_maximum_then_least_sum(void **state)
{
	static const uint16_t there[4] = {0, 2, 3, 0};
	uint16_t out_count[4], in_count[4];
	struct hp3_load out;
	struct hp3_peer_load peer;
	uint64_t rng = SEED;

	hp3_load_init(&out, out_count, 4);
	hp3_peer_load_init(&peer, in_count, 4);
	memcpy(out_count, (uint16_t[]){4, 2, 0, 3}, sizeof(out_count));
	hp3_peer_load_received(&peer, there, 4, 100);
	/* max: 4 2 3 3 */
	assert_int_equal(hp3_place(&out, &peer, NULL, MAX_AGE, 100, &rng), 1);
	/* Placed there: 4 3 3 3; sums 4 6 3 3: path 2 or 3. */
	hp3_load_start(&out, 1);
	hp3_peer_load_placed(&peer, 1);
	for (unsigned seen = 0; seen != 0xc;) {
		int path = hp3_place(&out, &peer, NULL, MAX_AGE, 100, &rng);

		assert_true(path == 2 || path == 3);
		seen |= 1u << path;
	}
}

/* Equal paths are drawn equally often. */
static void ties_at_random(void **state)
{
	uint16_t out_count[8];
	struct hp3_load out;
	unsigned hits[8] = {0};
	uint64_t rng = SEED + 1;

	hp3_load_init(&out, out_count, 8);
	out_count[3] = 1;
	for (unsigned i = 0; i < 7000; i++)
		hits[hp3_place(&out, NULL, NULL, 0, 1, &rng)]++;
	for (unsigned i = 0; i < 8; i++)
		assert_in_range(hits[i], i == 3 ? 0 : 880, i == 3 ? 0 : 1120);
}

/* A peer that never told, or too long ago, does not count; nor do paths that are not usable. */
static void only_what_is_fresh_and_usable(void **state)
{
	static const uint16_t there[2] = {9, 0};
	uint16_t out_count[100], in_count[100];
	struct hp3_load out;
	struct hp3_peer_load peer;
	uint64_t rng = SEED + 2, usable[2] = {0};

	hp3_load_init(&out, out_count, 2);
	hp3_peer_load_init(&peer, in_count, 2);
	out_count[1] = 5;
	assert_int_equal(hp3_place(&out, &peer, NULL, MAX_AGE, 1, &rng), 0);
	hp3_peer_load_received(&peer, there, 2, 50);
	assert_int_equal(hp3_place(&out, &peer, NULL, MAX_AGE, 50 + MAX_AGE, &rng), 1);
	assert_int_equal(hp3_place(&out, &peer, NULL, MAX_AGE, 51 + MAX_AGE, &rng), 0);

	hp3_load_init(&out, out_count, 100);
	for (unsigned i = 0; i < 100; i++)
		out_count[i] = (uint16_t)(100 - i);
	assert_int_equal(hp3_place(&out, NULL, usable, MAX_AGE, 1, &rng), -ENOENT);
	usable[1] |= 1u << 2;
	usable[0] |= 1u << 7;
	assert_int_equal(hp3_place(&out, NULL, usable, MAX_AGE, 1, &rng), 66);
}

/* What goes into a reply comes out of it; a peer with another number of paths does no harm. */
static void tell_and_told(void **state)
{
	uint16_t in_count[6], wire[6], peer_count[6];
	struct hp3_load in;
	struct hp3_peer_load peer;

	hp3_load_init(&in, in_count, 6);
	for (uint32_t i = 0; i < 6; i++)
		in_count[i] = (uint16_t)(i * 10);
	hp3_peer_load_init(&peer, peer_count, 4);
	assert_int_equal(hp3_load_copy(&in, wire, 6), 6);
	hp3_peer_load_received(&peer, wire, 6, 1);
	assert_memory_equal(peer_count, in_count, 4 * sizeof(uint16_t));
	assert_int_equal(hp3_load_copy(&in, wire, 2), 2);
	hp3_peer_load_received(&peer, wire, 2, 2);
	assert_memory_equal(peer_count, ((uint16_t[]){0, 10, 0, 0}), 4 * sizeof(uint16_t));
}

/*
 * 32 hosts, 8 paths, flows come and go between random pairs of hosts, about 12 active ones per
 * host. Every flow loads one outbound count at its source and one inbound count at its destination.
 */
enum { HOSTS = 32, PATHS = 8, ACTIVE = HOSTS * 12, STEPS = 12000, WARM = 2000 };
enum scheme { RANDOM, OWN, BOTH, SCHEMES };

/* Largest count anywhere, averaged over time, in 1/1000. */
static uint64_t max_load(enum scheme scheme, uint64_t seed)
{
	static uint16_t out_count[HOSTS][PATHS], in_count[HOSTS][PATHS], told[PATHS];
	static struct {
		unsigned from, to, path;
	} flow[ACTIVE];
	struct hp3_load out[HOSTS], in[HOSTS];
	uint64_t rng = seed, sum = 0;
	unsigned n = 0;

	for (unsigned h = 0; h < HOSTS; h++) {
		hp3_load_init(&out[h], out_count[h], PATHS);
		hp3_load_init(&in[h], in_count[h], PATHS);
	}
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned i = n, most = 0, from, to;

		if (n == ACTIVE) { /* one ends */
			i = hp3_random_below(&rng, n);
			hp3_load_end(&out[flow[i].from], flow[i].path);
			hp3_load_end(&in[flow[i].to], flow[i].path);
		} else {
			n++;
		}
		from = hp3_random_below(&rng, HOSTS);
		to = (from + 1 + hp3_random_below(&rng, HOSTS - 1)) % HOSTS;
		flow[i].from = from;
		flow[i].to = to;
		if (scheme == RANDOM) {
			flow[i].path = hp3_random_below(&rng, PATHS);
		} else {
			struct hp3_peer_load peer;
			uint16_t wire[PATHS];

			hp3_peer_load_init(&peer, told, PATHS);
			hp3_load_copy(&in[to], wire, PATHS);
			hp3_peer_load_received(&peer, wire, PATHS, 1);
			flow[i].path = (unsigned)hp3_place(
				&out[from], scheme == BOTH ? &peer : NULL, NULL, 0, 1, &rng);
		}
		hp3_load_start(&out[from], flow[i].path);
		hp3_load_start(&in[to], flow[i].path);
		for (unsigned h = 0; h < HOSTS; h++) {
			for (unsigned p = 0; p < PATHS; p++) {
				if (out_count[h][p] > most)
					most = out_count[h][p];
				if (in_count[h][p] > most)
					most = in_count[h][p];
			}
		}
		sum += step >= WARM ? most : 0;
	}
	return 1000 * sum / (STEPS - WARM);
}

/* Both ends' counts beat own counts by a third, those beat random choice; with every seed. */
static void both_ends_beat_own_counts_beat_random(void **state)
{
	uint64_t sum[SCHEMES] = {0};

	for (uint64_t seed = SEED; seed < SEED + 5; seed++) {
		uint64_t load[SCHEMES];

		for (unsigned s = 0; s < SCHEMES; s++) {
			load[s] = max_load(s, seed);
			sum[s] += load[s];
		}
		assert_true(load[BOTH] * 3 < load[OWN] * 2);
		assert_true(load[OWN] < load[RANDOM]);
	}
	print_message("largest load, mean: random %.2f, own counts %.2f, both ends %.2f\n",
		(double)sum[RANDOM] / 5000, (double)sum[OWN] / 5000, (double)sum[BOTH] / 5000);
	assert_true(sum[BOTH] * 10 < sum[RANDOM] * 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_follow_flows),
		cmocka_unit_test(least_maximum_then_least_sum),
		cmocka_unit_test(ties_at_random),
		cmocka_unit_test(only_what_is_fresh_and_usable),
		cmocka_unit_test(tell_and_told),
		cmocka_unit_test(both_ends_beat_own_counts_beat_random),
	};

	print_message("seed %#x\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
