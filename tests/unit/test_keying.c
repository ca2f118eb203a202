/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts agree on a key, and nobody else gets one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "keying_hosts.h"

static struct host a, b;
static uint64_t now;

static int setup(void **state)
{
	host_begin(&a, 1, 1);
	host_begin(&b, 2, 2);
	now = 1000 * SECOND;
	return 0;
}

static int adds_up(void **state)
{
	return stats_add_up(&a.st) && stats_add_up(&b.st) ? 0 : -1;
}

static void begin(struct host *from, struct host *to)
{
	const struct hp3_pair_ends ends = ends_between(from, to);

	assert_true(hp3_keying_begin(from->k, &ends, now));
}

static void both_begin(void)
{
	begin(&a, &b);
	begin(&b, &a);
}

static void two_hosts_agree(void **state)
{
	both_begin();
	talk(&a, &b, now);
	assert_true(have_a_key(&a, &b));
	assert_int_equal(a.st.keyed, 1);
	assert_int_equal(b.st.keyed, 1);
	assert_int_equal(a.st.computed, 1);
	assert_int_equal(b.st.computed, 1);
	assert_int_equal(a.st.asked + b.st.asked, 4); /* without a cookie, and with it */
	talk_until(&a, &b, &now, now + 200 * SECOND);
	assert_int_equal(a.st.asked + b.st.asked, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_hosts_agree, setup, adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
