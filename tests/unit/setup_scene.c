/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

void setup_config(void)
{
	probing_config();
	rig.cfg.setup_probing = true;
	rig.cfg.setup_rounds = 1;
}

void setting_up(void)
{
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up_at(&q, FIRST), 0);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

void expect_home(void)
{
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(middle(&q, FIRST), HP3_PASS);
	expect_left(0, FIRST, q.home, false);
	assert_false(info(&q).moved);
	assert_int_equal(stats()->placed, 0);
}
