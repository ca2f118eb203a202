/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of hops to the switch that names a path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "ppp/depth.h"
#include "ppp/ports.h"

#define PEER UINT32_MAX /* names of a level: the peer answers there */

static uint64_t rng;
static struct hp3_depth d;
static unsigned asked; /* traces */

/* names[i]: how many switches level i + 1 has; 0: they are silent. `deaf`: ports never answered. */
static enum hp3_depth_state search(const uint32_t *names, uint8_t hint, unsigned deaf)
{
	enum hp3_depth_state s = HP3_DEPTH_SCANNING;

	hp3_depth_init(&d, hint, &rng);
	for (asked = 0; s == HP3_DEPTH_SCANNING; asked++) {
		uint8_t ttl;
		uint16_t port = hp3_depth_next(&d, &ttl);
		uint32_t n = names[ttl - 1];

		assert_in_range(ttl, 1, HP3_DEPTH_MAX);
		assert_in_range(asked, 0, 1000);
		if (n == PEER)
			s = hp3_depth_reached(&d);
		else if (n == 0 || d.at < deaf)
			s = hp3_depth_reported(&d, HP3_LABEL_NONE);
		else
			s = hp3_depth_reported(&d, ttl * 1000u + port % n);
	}
	return s;
}

static void expect_found(uint8_t ttl, uint32_t names)
{
	assert_int_equal(d.ttl, ttl);
	for (unsigned i = 0; i < HP3_DEPTH_PORTS; i++) {
		if (d.label[i] != HP3_LABEL_NONE)
			assert_int_equal(d.label[i], ttl * 1000u + d.port[i] % names);
	}
}

static int setup(void **state)
{
	rng = 20261121;
	return 0;
}

static void the_spine_of_a_leaf_spine_fabric(void **state)
{
	assert_int_equal(
		search((const uint32_t[HP3_DEPTH_MAX]){1, 4, 1, PEER}, 0, 0), HP3_DEPTH_FOUND);
	expect_found(2, 4);
	assert_int_equal(asked, 3 * HP3_DEPTH_PORTS + 1);
}

static void of_equals_the_nearest(void **state)
{
	assert_int_equal(
		search((const uint32_t[HP3_DEPTH_MAX]){1, 4, 4, PEER}, 0, 0), HP3_DEPTH_FOUND);
	expect_found(2, 4);
}

static void the_core_of_three_tiers(void **state)
{
	assert_int_equal(search((const uint32_t[HP3_DEPTH_MAX]){1, 2, 4, 2, 1, PEER}, 0, 0),
		HP3_DEPTH_FOUND);
	expect_found(3, 4);
}

static void a_hint_saves_the_other_levels(void **state)
{
	const uint32_t fabric[HP3_DEPTH_MAX] = {1, 4, 1, PEER};

	assert_int_equal(search(fabric, 2, 0), HP3_DEPTH_FOUND);
	expect_found(2, 4);
	assert_int_equal(asked, HP3_DEPTH_PORTS);
	for (uint8_t hint = 1; hint < 6; hint += 2) { /* wrong ones cost, and lead nowhere else */
		const uint32_t far[HP3_DEPTH_MAX] = {1, 4, 1, PEER, PEER};

		assert_int_equal(search(far, hint, 0), HP3_DEPTH_FOUND);
		expect_found(2, 4);
	}
}

static void the_same_switch_is_no_hop_to_go_by(void **state)
{
	assert_int_equal(search((const uint32_t[HP3_DEPTH_MAX]){1, PEER}, 0, 0), HP3_DEPTH_NOTHING);
	assert_int_equal(
		search((const uint32_t[HP3_DEPTH_MAX]){1, 1, PEER}, 0, 0), HP3_DEPTH_NOTHING);
	assert_int_equal(search((const uint32_t[HP3_DEPTH_MAX]){PEER}, 0, 0), HP3_DEPTH_NOTHING);
	assert_int_equal(
		search((const uint32_t[HP3_DEPTH_MAX]){PEER, PEER, PEER}, 3, 0), HP3_DEPTH_NOTHING);
}

static void silent_switches(void **state)
{
	assert_int_equal(
		search((const uint32_t[HP3_DEPTH_MAX]){0, 0, 0, 0}, 0, 0), HP3_DEPTH_NOTHING);
	assert_int_equal(asked, 2 * (HP3_DEPTH_MISSING + 1) * HP3_DEPTH_TRIES);
	assert_int_equal(
		search((const uint32_t[HP3_DEPTH_MAX]){0, 4, 1, PEER}, 0, 0), HP3_DEPTH_FOUND);
	expect_found(2, 4);
	assert_int_equal(
		search((const uint32_t[HP3_DEPTH_MAX]){1, 0, 1, PEER}, 0, 0), HP3_DEPTH_NOTHING);
}

/* One lost answer is asked for again; a port that stays deaf is left out; three are too many. */
static void few_may_be_missing(void **state)
{
	const uint32_t fabric[HP3_DEPTH_MAX] = {1, 4, 1, PEER};

	for (unsigned deaf = 1; deaf <= HP3_DEPTH_MISSING; deaf++) {
		assert_int_equal(search(fabric, 0, deaf), HP3_DEPTH_FOUND);
		expect_found(2, 4);
		for (unsigned i = 0; i < HP3_DEPTH_PORTS; i++)
			assert_int_equal(d.label[i] == HP3_LABEL_NONE, i < deaf);
	}
	assert_int_equal(search(fabric, 0, HP3_DEPTH_MISSING + 1), HP3_DEPTH_NOTHING);
}

static void ports_are_all_different(void **state)
{
	for (unsigned n = 0; n < 1000; n++) {
		hp3_depth_init(&d, 0, &rng);
		for (unsigned i = 0; i < HP3_DEPTH_PORTS; i++) {
			assert_in_range(d.port[i], HP3_PORT_FIRST, UINT16_MAX);
			for (unsigned j = 0; j < i; j++)
				assert_int_not_equal(d.port[i], d.port[j]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_spine_of_a_leaf_spine_fabric, setup),
		cmocka_unit_test_setup(of_equals_the_nearest, setup),
		cmocka_unit_test_setup(the_core_of_three_tiers, setup),
		cmocka_unit_test_setup(a_hint_saves_the_other_levels, setup),
		cmocka_unit_test_setup(the_same_switch_is_no_hop_to_go_by, setup),
		cmocka_unit_test_setup(silent_switches, setup),
		cmocka_unit_test_setup(few_may_be_missing, setup),
		cmocka_unit_test_setup(ports_are_all_different, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
