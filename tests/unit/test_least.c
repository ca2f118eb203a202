/* SPDX-License-Identifier: BSD-3-Clause */
/* The least time from post to completion, by the bytes in the send queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "ppp/least.h"

#define SECOND 1000000000u

static void sizes_are_told_apart(void **state)
{
	struct hp3_least l;

	hp3_least_init(&l, 0);
	assert_int_equal(hp3_least_of(&l, 4096), 0);
	assert_int_equal(hp3_least_seen(&l, 4096, 1000), 1000);
	assert_int_equal(hp3_least_seen(&l, 5000, 3000), 1000);
	assert_int_equal(hp3_least_seen(&l, 8191, 900), 900);
	assert_int_equal(hp3_least_seen(&l, 2048, 5000), 5000);
	assert_int_equal(hp3_least_seen(&l, 0, 70), 70);
	assert_int_equal(hp3_least_seen(&l, UINT32_MAX, 400), 400);
	assert_int_equal(hp3_least_of(&l, 4096), 900);
}

/* Long because work takes longer: half as long again for each doubling is what it should take. */
static void a_queue_that_is_new_is_judged_by_shorter_ones(void **state)
{
	struct hp3_least l;

	hp3_least_init(&l, 0);
	hp3_least_seen(&l, 4096, 1000);
	assert_int_equal(hp3_least_seen(&l, 16384, 9000), 2250);
	assert_int_equal(hp3_least_seen(&l, 16384, 2000), 2000);
	assert_int_equal(hp3_least_seen(&l, 1024, 9000), 9000);
}

static void times_get_old(void **state)
{
	struct hp3_least l;

	hp3_least_init(&l, 0);
	hp3_least_seen(&l, 4096, 6400);
	hp3_least_age(&l, SECOND - 1);
	assert_int_equal(hp3_least_of(&l, 4096), 6400);
	hp3_least_age(&l, SECOND);
	hp3_least_age(&l, SECOND + 1);
	assert_int_equal(hp3_least_of(&l, 4096), 6500);
	hp3_least_seen(&l, 1 << 20, UINT32_MAX);
	hp3_least_age(&l, 2 * (uint64_t)SECOND);
	assert_true(hp3_least_of(&l, 1 << 20) >= 6500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_told_apart),
		cmocka_unit_test(a_queue_that_is_new_is_judged_by_shorter_ones),
		cmocka_unit_test(times_get_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
