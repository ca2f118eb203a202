/* SPDX-License-Identifier: BSD-3-Clause */
/* When paths are presumed alike (rfr/presume.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "rfr/presume.h"

#define REST HP3_PRESUME_REST

_Static_assert(REST == 1000000 && REST << HP3_PRESUME_REST_UP == 4096000000, "as documented");

static void begins_with_a_comparison(void **state)
{
	struct hp3_presumption p = {0};

	assert_false(hp3_presumption_holds(&p, 1));
	p.alike = true;
	assert_true(hp3_presumption_holds(&p, 1));
	assert_false(hp3_presumption_rests(&p, 1));
}

static void a_missing_packet_suspends_it(void **state)
{
	struct hp3_presumption p = {.alike = true, .awaited = 2};

	assert_false(hp3_presumption_holds(&p, 1000));
	assert_false(hp3_presumption_rests(&p, 1000));
	p.awaited = 0;
	p.suspended_end = 2000;
	assert_false(hp3_presumption_holds(&p, 1999));
	assert_true(hp3_presumption_holds(&p, 2000));
	p.suspended_end = 0;
	p.awaited = 1;
	assert_true(hp3_presumption_late(&p, 1000)); /* it ends also while it is suspended */
	assert_false(hp3_presumption_late(&p, 1000));
}

/* A late packet ends it for a rest. After the rest, it needs another comparison. */
static void rests_after_a_late_packet(void **state)
{
	struct hp3_presumption p = {.alike = true};

	assert_true(hp3_presumption_late(&p, 1000));
	assert_true(hp3_presumption_rests(&p, 999 + REST));
	assert_false(hp3_presumption_late(&p, 999 + REST)); /* the same rest */
	assert_false(hp3_presumption_rests(&p, 1000 + REST));
	assert_false(hp3_presumption_holds(&p, 1000 + REST));
	p.alike = true;
	assert_true(hp3_presumption_holds(&p, 1000 + REST));
}

/* A comparison during a rest counts when the rest is over. */
static void no_comparison_shortens_a_rest(void **state)
{
	struct hp3_presumption p = {.alike = true};

	hp3_presumption_late(&p, 0);
	p.alike = true;
	assert_false(hp3_presumption_holds(&p, REST - 1));
	assert_true(hp3_presumption_holds(&p, REST));
}

static void rests_double_until_it_holds_for_long(void **state)
{
	struct hp3_presumption p = {.alike = true};
	uint64_t now = 1;

	for (uint32_t i = 0; i < HP3_PRESUME_REST_UP + 3; i++) {
		uint64_t rest = REST << (i < HP3_PRESUME_REST_UP ? i : HP3_PRESUME_REST_UP);

		p.alike = true;
		assert_true(hp3_presumption_late(&p, now));
		assert_int_equal(p.rest_end, now + rest);
		now = p.rest_end;
	}
	now += HP3_PRESUME_HELD * (REST << HP3_PRESUME_REST_UP);
	assert_false(hp3_presumption_late(&p, now + 1)); /* it did not hold */
	assert_int_equal(p.rest_end, now + 1 + REST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_with_a_comparison),
		cmocka_unit_test(a_missing_packet_suspends_it),
		cmocka_unit_test(rests_after_a_late_packet),
		cmocka_unit_test(no_comparison_shortens_a_rest),
		cmocka_unit_test(rests_double_until_it_holds_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
