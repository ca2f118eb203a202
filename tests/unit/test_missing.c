/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a missing packet is lost or late (rfr/missing.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
#include "rfr/missing.h"

#define US    1000ull
#define WAIT  (2048 * US)
#define FIRST (WAIT / 64)
#define BASE  0xd040u
#define OTHER 0xc001u

static struct hp3_missing m;

static int begin(void **state)
{
	hp3_missing_init(&m, BASE);
	return 0;
}

static void behind(uint32_t psn, uint64_t gap_at, uint16_t port)
{
	hp3_missing_behind(&m, psn, gap_at, WAIT, port);
}

static void ask(uint32_t psn)
{
	assert_true(hp3_missing_asks(&m, psn, WAIT, hp3_missing_due(&m, psn)));
}

/* Another packet of its port has come, before the answer or after it; that is so once. */
static void what_was_overtaken_on_its_path_is_lost(void **state)
{
	static const uint16_t ports[] = {BASE, BASE + 63, OTHER};

	for (int i = 0; i < 3; i++) {
		begin(NULL);
		behind(7, 0, BASE + 1);
		ask(7);
		hp3_missing_answered(&m, 7, ports[i]);
		assert_false(hp3_missing_lost(&m, 7));
		behind(7, 0, ports[i]);
		assert_true(hp3_missing_lost(&m, 7));
		assert_false(hp3_missing_lost(&m, 7));
		begin(NULL);
		behind(7, 0, ports[i]);
		behind(7, 0, BASE + 1);
		ask(7);
		assert_false(hp3_missing_lost(&m, 7));
		hp3_missing_answered(&m, 7, ports[i]);
		assert_true(hp3_missing_lost(&m, 7));
	}
}

/* What came by other ports, or behind another gap, proves nothing. */
static void nothing_else_proves_that(void **state)
{
	behind(7, 0, BASE + 4);
	behind(7, 0, OTHER);
	ask(7);
	hp3_missing_answered(&m, 7, BASE + 5);
	assert_false(hp3_missing_lost(&m, 7));
	behind(9, 0, BASE + 6); /* 7 has come */
	ask(9);
	hp3_missing_answered(&m, 7, BASE + 6); /* the answer of before */
	assert_false(hp3_missing_lost(&m, 9));
	hp3_missing_answered(&m, 9, BASE + 4); /* a packet from there came before 9 was the first */
	assert_false(hp3_missing_lost(&m, 9));
	assert_false(hp3_missing_lost(&m, 7));
	behind(11, 0, OTHER);
	hp3_missing_answered(&m, 11, OTHER); /* nobody has asked */
	assert_false(hp3_missing_lost(&m, 11));
	ask(11);
	hp3_missing_answered(&m, 11, 0); /* the sender does not know */
	assert_false(hp3_missing_lost(&m, 11));
	assert_true(hp3_missing_due(&m, 11) == UINT64_MAX);
}

static void questions_are_few(void **state)
{
	uint64_t at = 5 * US;

	behind(7, at, BASE);
	assert_true(hp3_missing_due(&m, 7) == at + FIRST);
	assert_true(hp3_missing_due(&m, 8) == UINT64_MAX);
	assert_false(hp3_missing_asks(&m, 7, WAIT, at + FIRST - 1));
	at += FIRST;
	assert_true(hp3_missing_asks(&m, 7, WAIT, at));
	for (uint32_t i = 1; i < HP3_MISSING_ASKS; i++) {
		assert_true(hp3_missing_due(&m, 7) == at + (FIRST << i));
		at += FIRST << i;
		assert_true(hp3_missing_asks(&m, 7, WAIT, at));
	}
	assert_true(hp3_missing_due(&m, 7) == UINT64_MAX);
}

/* Gaps that close by themselves are asked about later each time, until one is a loss. */
static void who_is_late_is_given_time(void **state)
{
	static const uint32_t parts[] = {1, 2, 4, 4};

	for (uint32_t i = 0; i < 4; i++) {
		behind(10 + i, 0, BASE);
		assert_true(hp3_missing_due(&m, 10 + i) == parts[i] * FIRST);
		ask(10 + i);
	}
	hp3_missing_answered(&m, 13, BASE);
	assert_true(hp3_missing_lost(&m, 13));
	behind(20, 0, BASE);
	assert_true(hp3_missing_due(&m, 20) == FIRST);
	behind(21, 0, BASE); /* was not asked about: says nothing */
	assert_true(hp3_missing_due(&m, 21) == FIRST);
	hp3_missing_hurry(&m);
	assert_true(hp3_missing_due(&m, 21) == 0);
	ask(21);
	hp3_missing_hurry(&m);
	assert_true(hp3_missing_due(&m, 21) > 0);
}

static void the_sender_knows_what_left_lately(void **state)
{
	static struct hp3_port_log l;

	assert_int_equal(hp3_port_log_find(&l, 0), 0);
	for (uint32_t i = 0; i < 3 * HP3_RESEQ_WINDOW; i++)
		hp3_port_log_put(&l, hp3_psn_add(0xfff000, i), (uint16_t)(0x8000 + i));
	assert_int_equal(hp3_port_log_find(&l, hp3_psn_add(0xfff000, HP3_RESEQ_WINDOW)), 0);
	for (uint32_t i = 2 * HP3_RESEQ_WINDOW; i < 3 * HP3_RESEQ_WINDOW; i++)
		assert_int_equal(
			hp3_port_log_find(&l, hp3_psn_add(0xfff000, i)), (uint16_t)(0x8000 + i));
	hp3_port_log_forget(&l, hp3_psn_add(0xfff000, 2 * HP3_RESEQ_WINDOW));
	assert_int_equal(hp3_port_log_find(&l, hp3_psn_add(0xfff000, 2 * HP3_RESEQ_WINDOW)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_was_overtaken_on_its_path_is_lost, begin),
		cmocka_unit_test_setup(nothing_else_proves_that, begin),
		cmocka_unit_test_setup(questions_are_few, begin),
		cmocka_unit_test_setup(who_is_late_is_given_time, begin),
		cmocka_unit_test_setup(the_sender_knows_what_left_lately, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
