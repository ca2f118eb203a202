/* SPDX-License-Identifier: BSD-3-Clause */
/* Which responses are outstanding, across the end of the PSN space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "rfr/owed.h"

#define AT(n) (((n)-50) & HP3_PSN_MASK)

static struct hp3_owed o;

static int setup(void **state)
{
	o = (struct hp3_owed){0};
	return 0;
}

static void what_lies_between_is_not_owed(void **state)
{
	assert_int_equal(hp3_owed_from(&o, AT(0)), HP3_NO_PSN);
	assert_true(hp3_owed_add(&o, AT(10), 20));
	assert_true(hp3_owed_add(&o, AT(40), 20)); /* across 0 */
	assert_int_equal(hp3_owed_from(&o, AT(0)), AT(10));
	assert_int_equal(hp3_owed_from(&o, AT(29)), AT(29));
	assert_int_equal(hp3_owed_from(&o, AT(30)), AT(40));
	assert_int_equal(hp3_owed_from(&o, AT(59)), AT(59));
	assert_int_equal(hp3_owed_from(&o, AT(60)), HP3_NO_PSN);
}

static void what_has_come_is_owed_no_more(void **state)
{
	hp3_owed_add(&o, AT(10), 20);
	hp3_owed_add(&o, AT(40), 20);
	hp3_owed_done(&o, AT(15));
	assert_int_equal(hp3_owed_from(&o, AT(0)), AT(15));
	hp3_owed_done(&o, AT(30));
	assert_int_equal(o.n, 1);
	assert_int_equal(hp3_owed_from(&o, AT(0)), AT(40));
	hp3_owed_done(&o, AT(60));
	assert_int_equal(o.n, 0);
}

/* Neighbours are one; a place is free only for what touches nothing. */
static void it_is_full_some_time(void **state)
{
	for (uint32_t i = 0; i < HP3_OWED; i++)
		assert_true(hp3_owed_add(&o, AT(10 * i), 5));
	assert_false(hp3_owed_add(&o, AT(10 * HP3_OWED), 1));
	assert_true(hp3_owed_add(&o, AT(5), 5));
	assert_int_equal(o.n, HP3_OWED - 1);
	assert_int_equal(hp3_owed_from(&o, AT(9)), AT(9));
	assert_false(hp3_owed_add(&o, AT(5), HP3_OWED_MOST + 1));
}

/* Whatever is asked for, again or not, in any order: as a set of PSNs has it. */
static void it_is_a_set(void **state)
{
	static bool set[512];
	uint64_t rng = 20260101;

	for (unsigned i = 0; i < 200000; i++) {
		uint32_t psn = hp3_random_below(&rng, 480), n = 1 + hp3_random_below(&rng, 30), q;
		bool all = true;

		if (hp3_random_below(&rng, 4) == 0) {
			hp3_owed_done(&o, AT(psn));
			for (uint32_t p = 0; p < psn; p++)
				set[p] = false;
		} else if (hp3_owed_add(&o, AT(psn), n)) {
			for (uint32_t p = psn; p < psn + n; p++)
				set[p] = true;
		} else {
			all = false;
		}
		assert_true(all || o.n == HP3_OWED);
		psn = hp3_random_below(&rng, 512);
		for (q = psn; q < 512 && !set[q];)
			q++;
		assert_int_equal(hp3_owed_from(&o, AT(psn)), q < 512 ? AT(q) : HP3_NO_PSN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_lies_between_is_not_owed, setup),
		cmocka_unit_test_setup(what_has_come_is_owed_no_more, setup),
		cmocka_unit_test_setup(it_is_full_some_time, setup),
		cmocka_unit_test_setup(it_is_a_set, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
