/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings over hosts: they cross leaves as rarely as possible, and each ring uses its own spine
 * paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "fleet/order.h"

#define HOSTS       64u
#define RINGS       64u
#define SPINE_PATHS 16u

static void leaves_are_left_once(void **state)
{
	uint64_t rng = 1;

	for (unsigned run = 0; run < 1000; run++) {
		uint32_t leaf[HOSTS], order[HOSTS], n = 1 + hp3_random_below(&rng, HOSTS),
						    leaves = 0;
		bool seen[HOSTS] = {false}, placed[HOSTS] = {false};

		for (uint32_t i = 0; i < n; i++) {
			leaf[i] = hp3_random_below(&rng, 8);
			leaves += !seen[leaf[i]];
			seen[leaf[i]] = true;
		}
		hp3_fleet_order(leaf, n, order);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(order[i] < n && !placed[order[i]]);
			placed[order[i]] = true;
		}
		assert_int_equal(hp3_fleet_crossings(leaf, n, order), leaves > 1 ? leaves : 0);
		assert_true(
			hp3_fleet_crossings(leaf, n, NULL) >= hp3_fleet_crossings(leaf, n, order));
	}
}

/* Every switch is known at every step: ring k has switch k, at all of them. */
static void rings_keep_to_their_switch(void **state)
{
	const uint32_t forward[] = {0, 1, 2, 3}, backward[] = {3, 2, 2, 1, 0, 0};
	uint32_t a[6], b[6];

	hp3_fleet_ring_spine_paths(forward, 4, 4, 6, a);
	hp3_fleet_ring_spine_paths(backward, 6, 4, 6, b);
	for (uint32_t k = 0; k < 6; k++) {
		assert_int_equal(forward[a[k]], k % 4);
		assert_int_equal(backward[b[k]], k % 4);
	}
}

static void nothing_is_known(void **state)
{
	const uint32_t none[1] = {0};
	uint32_t spine_path[3] = {7, 7, 7};

	hp3_fleet_ring_spine_paths(none, 0, 0, 3, spine_path);
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(spine_path[k], HP3_FLEET_NO_SPINE_PATH);
	hp3_fleet_ring_spine_paths(none, 0, 5, 3, spine_path);
	assert_int_equal(spine_path[2], HP3_FLEET_NO_SPINE_PATH);
}

/* Whatever a step knows: as many rings as it has switches share none. */
static void rings_share_what_they_must(void **state)
{
	uint64_t rng = 2;

	for (unsigned run = 0; run < 2000; run++) {
		uint32_t by[SPINE_PATHS], spine_path[RINGS],
			on[SPINE_PATHS] = {0}, switches = 1 + hp3_random_below(&rng, SPINE_PATHS);
		uint32_t n = 1 + hp3_random_below(&rng, SPINE_PATHS),
			 rings = 1 + hp3_random_below(&rng, RINGS);
		uint32_t known = 0, most = 0;
		bool seen[SPINE_PATHS] = {false};

		for (uint32_t i = 0; i < n; i++) {
			by[i] = hp3_random_below(&rng, switches);
			known += !seen[by[i]];
			seen[by[i]] = true;
		}
		hp3_fleet_ring_spine_paths(by, n, switches, rings, spine_path);
		for (uint32_t k = 0; k < rings; k++) {
			assert_true(spine_path[k] < n);
			on[by[spine_path[k]]]++;
			if (seen[k % switches])
				assert_int_equal(by[spine_path[k]], k % switches);
		}
		for (uint32_t s = 0; s < switches; s++)
			most = on[s] > most ? on[s] : most;
		assert_int_equal(most, (rings + known - 1) / known);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_are_left_once),
		cmocka_unit_test(rings_keep_to_their_switch),
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(rings_share_what_they_must),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
