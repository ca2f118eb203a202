/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of received probes: exact while their time counts, and rarely full before. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "probes/window.h"
#include "roce_frames.h"

#define PLACES 8192u
#define CLOCK  1700000000u

static uint64_t place[PLACES];
static struct hp3_window w = {.place = place, .sets = PLACES / HP3_WINDOW_WAYS, .span = 30};

static int setup(void **state)
{
	memset(place, 0, sizeof(place));
	return 0;
}

static void a_third_full_hardly_refuses(void **state)
{
	struct rng r = {1};
	uint32_t refused = 0;

	for (uint32_t i = 0; i < PLACES / 3; i++) {
		uint64_t hash = rng_next(&r);
		int64_t at = hp3_window_look(&w, hash, CLOCK, true);
		refused += at == -ENOSPC;
		if (at >= 0)
			hp3_window_keep(&w, at, hash, CLOCK);
	}
	assert_in_range(refused, 0, PLACES / 3 / 100);
}

static void seen_while_its_time_counts(void **state)
{
	struct rng r = {2};

	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t hash = rng_next(&r), time = CLOCK + i * 1000;
		int64_t at = hp3_window_look(&w, hash, time, true);
		assert_true(at >= 0);
		hp3_window_keep(&w, at, hash, time);
		for (int64_t s = -40; s <= 40; s++) {
			bool counts = s >= -30 && s <= 30;
			int64_t found = hp3_window_look(&w, hash, time + (uint64_t)s, true);
			assert_int_equal(found == -EEXIST, counts);
		}
	}
}

/* All of one second, then all of the next window: every place is used again. */
static void places_come_free(void **state)
{
	struct rng r = {3};

	for (uint64_t clock = CLOCK; clock < CLOCK + 31 * 20; clock += 31) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < 4 * PLACES; i++) {
			uint64_t hash = rng_next(&r);
			int64_t at = hp3_window_look(&w, hash, clock, true);
			if (at < 0)
				continue;
			hp3_window_keep(&w, at, hash, clock);
			kept++;
		}
		assert_int_equal(kept, PLACES);
	}
}

/* Whatever unknown sources do, known ones have the reserved places of each set. */
static void unknown_sources_leave_places_to_known_ones(void **state)
{
	struct rng r = {4};
	uint32_t kept[2] = {0};

	for (unsigned known = 0; known < 2; known++)
		for (uint32_t i = 0; i < 8 * PLACES; i++) {
			uint64_t hash = rng_next(&r);
			int64_t at = hp3_window_look(&w, hash, CLOCK, known);

			if (at < 0)
				continue;
			hp3_window_keep(&w, at, hash, CLOCK);
			kept[known]++;
		}
	assert_int_equal(kept[0], w.sets * (HP3_WINDOW_WAYS - HP3_WINDOW_RESERVED));
	assert_int_equal(kept[1], w.sets * HP3_WINDOW_RESERVED);
}

static void hash_of_all_bits_zero(void **state)
{
	int64_t at = hp3_window_look(&w, 0, 0, true);

	assert_true(at >= 0);
	hp3_window_keep(&w, at, 0, 0);
	assert_int_equal(hp3_window_look(&w, 0, 0, true), -EEXIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_third_full_hardly_refuses, setup),
		cmocka_unit_test_setup(seen_while_its_time_counts, setup),
		cmocka_unit_test_setup(places_come_free, setup),
		cmocka_unit_test_setup(unknown_sources_leave_places_to_known_ones, setup),
		cmocka_unit_test_setup(hash_of_all_bits_zero, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
