/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparison of ports: which differ if their queues do, and none if they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "ppp/compare.h"

#define SEED 0xc0397a2eu
#define RUNS 300u

struct fabric {
	uint64_t rng;
	uint32_t paths, queue, noise; /* ns: range of the queues, and of what hosts add */
	uint32_t lost; /* of 100 probes */
};

static uint32_t below(struct fabric *f, uint32_t n)
{
	return n != 0 ? hp3_random_below(&f->rng, n) : 0;
}

/* Eight ports, each on a path drawn at random: the queue of a path is the same within a burst. */
static struct hp3_compare measure(struct fabric *f, uint32_t path[HP3_COMPARE_PORTS])
{
	struct hp3_compare c = {.n = HP3_COMPARE_PORTS, .bursts = HP3_COMPARE_BURSTS};
	uint32_t queue[64];

	for (unsigned i = 0; i < c.n; i++)
		path[i] = below(f, f->paths);
	for (unsigned b = 0; b < c.bursts; b++) {
		for (unsigned p = 0; p < f->paths; p++)
			queue[p] = below(f, f->queue);
		for (unsigned k = 0; k < 2 * c.n; k++) {
			if (below(f, 100) < f->lost)
				continue;
			c.burst[b].rtt[k / c.n][k % c.n] = 10000 + 10 * path[k % c.n] +
							   queue[path[k % c.n]] +
							   below(f, f->noise);
		}
	}
	return c;
}

static void ports_of_their_own(struct fabric *f, unsigned *found, unsigned *there, unsigned *wrong)
{
	uint32_t path[HP3_COMPARE_PORTS], seen = 0;
	struct hp3_compare c = measure(f, path);
	struct hp3_selftest_tally tally;
	uint8_t chosen[HP3_COMPARE_PORTS];
	unsigned n = hp3_compare_distinct(&c, chosen, &tally);

	for (unsigned i = 0; i < c.n; i++)
		seen |= 1u << path[i];
	*there += (unsigned)__builtin_popcount(seen);
	*found += n;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < i; j++)
			*wrong += path[chosen[i]] == path[chosen[j]];
}

static void ports_on_different_paths_are_found(void **state)
{
	struct fabric f = {.rng = SEED, .paths = 4, .queue = 40000, .noise = 4000, .lost = 1};
	unsigned found = 0, there = 0, wrong = 0;

	for (unsigned run = 0; run < RUNS; run++)
		ports_of_their_own(&f, &found, &there, &wrong);
	print_message("seed %#x: %u ports of %u paths, %u twice on one path\n", SEED, found, there,
		wrong);
	assert_true(found * 100 >= there * 90);
	assert_int_equal(wrong, 0);
}

static void what_does_not_vary_says_nothing(void **state)
{
	struct fabric f = {.rng = SEED, .paths = 4, .noise = 4000};
	unsigned found = 0, there = 0, wrong = 0;

	for (unsigned run = 0; run < RUNS; run++)
		ports_of_their_own(&f, &found, &there, &wrong);
	assert_int_equal(wrong, 0);
	assert_int_equal(found, RUNS); /* the first one alone */
}

static void a_network_that_does_not_look_at_ports(void **state)
{
	struct fabric f = {.rng = SEED, .paths = 1, .queue = 40000, .noise = 4000};
	struct hp3_selftest_tally tally;
	uint32_t path[HP3_COMPARE_PORTS];
	uint8_t chosen[HP3_COMPARE_PORTS];
	unsigned right = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		struct hp3_compare c = measure(&f, path);

		assert_int_equal(hp3_compare_distinct(&c, chosen, &tally), 1);
		right += hp3_tally_verdict(&tally) == HP3_TALLY_NO_SPREAD;
	}
	assert_true(right * 100 >= RUNS * 95);
}

static void without_answers_nothing_is_told(void **state)
{
	struct fabric f = {.rng = SEED, .paths = 4, .queue = 40000, .lost = 100};
	struct hp3_selftest_tally tally;
	uint32_t path[HP3_COMPARE_PORTS];
	uint8_t chosen[HP3_COMPARE_PORTS];
	struct hp3_compare c = measure(&f, path);

	assert_int_equal(hp3_compare_distinct(&c, chosen, &tally), 1);
	assert_int_equal(tally.unknown, 28);
	c = (struct hp3_compare){0};
	assert_int_equal(hp3_compare_distinct(&c, chosen, &tally), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_on_different_paths_are_found),
		cmocka_unit_test(what_does_not_vary_says_nothing),
		cmocka_unit_test(a_network_that_does_not_look_at_ports),
		cmocka_unit_test(without_answers_nothing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
