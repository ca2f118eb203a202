/* SPDX-License-Identifier: BSD-3-Clause */
/* When many queue pairs begin at once (rfr/incast.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "rfr/incast.h"

#define WITHIN 2000u

static struct hp3_incast begun(uint32_t n, uint64_t apart)
{
	struct hp3_incast i;

	hp3_incast_init(&i);
	for (uint32_t k = 0; k < n; k++)
		hp3_incast_begins(&i, 1000000 + k * apart);
	return i;
}

/* This many queue pairs end, each after so many bytes. */
static void end(struct hp3_incast *i, uint32_t n, uint64_t bytes)
{
	for (uint32_t k = 0; k < n; k++)
		hp3_incast_ended(i, bytes);
}

static void three_at_once_are_an_incast(void **state)
{
	struct hp3_incast i = begun(2, 0);

	assert_false(hp3_incast_is(&i, WITHIN, 1000000));
	hp3_incast_begins(&i, 1000000);
	assert_true(hp3_incast_is(&i, WITHIN, 1000000));
	assert_true(hp3_incast_is(&i, WITHIN, 1000000 + WITHIN));
	assert_false(hp3_incast_is(&i, WITHIN, 1000001 + WITHIN));
}

static void one_after_the_other_are_none(void **state)
{
	struct hp3_incast i = begun(1000, WITHIN / 2 + 1);

	assert_false(hp3_incast_is(&i, WITHIN, 1000000 + 999 * (WITHIN / 2 + 1)));
}

/* A queue pair is expected to send as much as those that have ended. */
static void short_ones_are_none(void **state)
{
	struct hp3_incast i = begun(100, 0);

	assert_true(hp3_incast_is(&i, WITHIN, 1000000));
	end(&i, 100, 4096);
	assert_false(hp3_incast_is(&i, WITHIN, 1000000));
	assert_in_range(i.mean, 4000, 4300);
}

static void two_long_ones_are_an_incast(void **state)
{
	struct hp3_incast i = begun(0, 0);

	end(&i, 100, 100000);
	hp3_incast_begins(&i, 1000000);
	assert_false(hp3_incast_is(&i, WITHIN, 1000000));
	hp3_incast_begins(&i, 1000000);
	assert_true(hp3_incast_is(&i, WITHIN, 1000000));
}

/* However long messages are, one alone is none. */
static void one_is_none(void **state)
{
	struct hp3_incast i = begun(0, 0);

	end(&i, 1000, 1ull << 30);
	assert_in_range(i.mean, 1000000, 1048576);
	hp3_incast_begins(&i, 1000000);
	assert_false(hp3_incast_is(&i, WITHIN, 1000000));
}

/* One that was used for hours counts as 1 MiB. */
static void one_long_one_is_not_all(void **state)
{
	struct hp3_incast i = begun(0, 0);

	end(&i, 1, (1ull << 40) + (1u << 31));
	assert_int_equal(i.mean, 65536 - 4096 + 65536);
	end(&i, 40, 4096);
	assert_in_range(i.mean, 12000, 16000);
}

/* Four count, whatever began before. */
static void only_the_last_four_count(void **state)
{
	struct hp3_incast i = begun(100, 0);

	end(&i, 100, 40000);
	assert_false(hp3_incast_is(&i, WITHIN, 1000000));
	end(&i, 100, 60000);
	assert_true(hp3_incast_is(&i, WITHIN, 1000000));
}

static void what_sends_nothing_says_nothing(void **state)
{
	struct hp3_incast i = begun(0, 0);

	end(&i, 100, 0);
	assert_int_equal(i.mean, HP3_INCAST_FIRST);
}

static void the_clock_may_begin_at_0(void **state)
{
	struct hp3_incast i;

	hp3_incast_init(&i);
	assert_false(hp3_incast_is(&i, WITHIN, 0));
	assert_false(hp3_incast_is(&i, WITHIN, WITHIN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_at_once_are_an_incast),
		cmocka_unit_test(one_after_the_other_are_none),
		cmocka_unit_test(short_ones_are_none),
		cmocka_unit_test(two_long_ones_are_an_incast),
		cmocka_unit_test(one_is_none),
		cmocka_unit_test(one_long_one_is_not_all),
		cmocka_unit_test(only_the_last_four_count),
		cmocka_unit_test(what_sends_nothing_says_nothing),
		cmocka_unit_test(the_clock_may_begin_at_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
