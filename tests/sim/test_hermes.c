/* SPDX-License-Identifier: BSD-3-Clause */
/* Hermes' evaluation of its samples: classes of paths, and which path is notably better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "sim/lb/hermes.h"
#include "world.h"

static struct sim s;
static struct hermes *h;

/* Base RTT 8.32 us, a hop 8 us: good below 10.32, congested above 20.32. */
static void begin(void)
{
	WORLD(&s, "fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4", "run.lb=hermes");
	h = s.lb_state;
	s.now = SIM_MS;
}

static void hear(struct hermes_path *p, uint64_t us, unsigned acks, unsigned marks)
{
	for (unsigned i = 0; i < acks; i++)
		hermes_heard(&s, p, us * SIM_US, i < marks);
}

static enum hermes_class class_of(uint64_t us, unsigned marks)
{
	struct hermes_path p = {0};

	hear(&p, us, 100, marks);
	return hermes_class(&s, h, &p);
}

static void paths_have_classes(void **state)
{
	struct hermes_path p = {0};

	begin();
	assert_int_equal(hermes_class(&s, h, &p), HERMES_GRAY);
	assert_int_equal(class_of(9, 0), HERMES_GOOD);
	assert_int_equal(class_of(9, 40), HERMES_GOOD);
	assert_int_equal(class_of(9, 41), HERMES_GRAY);
	assert_int_equal(class_of(11, 0), HERMES_GRAY);
	assert_int_equal(class_of(30, 40), HERMES_GRAY);
	assert_int_equal(class_of(20, 41), HERMES_GRAY);
	assert_int_equal(class_of(21, 41), HERMES_CONGESTED);
	hear(&p, 9, 1, 0);
	s.now += 25 * SIM_US;
	assert_int_equal(hermes_class(&s, h, &p), HERMES_GOOD);
	s.now += SIM_US;
	assert_int_equal(hermes_class(&s, h, &p), HERMES_GRAY);
	sim_destroy(&s);
}

/* Three time-outs with no ACK between them: a black hole. */
static void paths_fail_by_time_outs(void **state)
{
	struct hermes_path p = {0};

	begin();
	for (unsigned i = 0; i < 6; i++) {
		hermes_timed_out(&s, &p);
		if (i % 2 == 1)
			hear(&p, 9, 1, 0);
		assert_int_equal(hermes_class(&s, h, &p) == HERMES_FAILED, false);
	}
	for (unsigned i = 0; i < 3; i++)
		hermes_timed_out(&s, &p);
	assert_int_equal(hermes_class(&s, h, &p), HERMES_FAILED);
	s.now += 100 * SIM_MS;
	assert_int_equal(hermes_class(&s, h, &p), HERMES_GRAY);
	sim_destroy(&s);
}

/* More than 1 % missed: silent drops, unless the path is congested. */
static void paths_fail_by_losses(void **state)
{
	for (unsigned congested = 0; congested < 2; congested++) {
		struct hermes_path p = {0};

		begin();
		hear(&p, congested ? 40 : 9, 100, congested ? 100 : 0);
		for (unsigned i = 0; i < 200; i++)
			hermes_sent(&s, &p, 1000);
		hermes_missed(&s, h, &p);
		hermes_missed(&s, h, &p);
		assert_int_equal(hermes_class(&s, h, &p) == HERMES_FAILED, false);
		hermes_missed(&s, h, &p);
		assert_int_equal(hermes_class(&s, h, &p) == HERMES_FAILED, !congested);
		sim_destroy(&s);
	}
}

static void better_is_notably_better(void **state)
{
	struct hermes_path from = {0}, to = {0}, few = {0}, unknown = {0};

	begin();
	hear(&from, 30, 100, 50);
	hear(&to, 21, 100, 44);
	hear(&few, 21, 100, 45);
	assert_true(hermes_better(&s, h, &to, &from));
	assert_false(hermes_better(&s, h, &few, &from));
	assert_false(hermes_better(&s, h, &unknown, &from));
	hear(&to, 23, 100, 0);
	assert_false(hermes_better(&s, h, &to, &from));
	sim_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_have_classes),
		cmocka_unit_test(paths_fail_by_time_outs),
		cmocka_unit_test(paths_fail_by_losses),
		cmocka_unit_test(better_is_notably_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
