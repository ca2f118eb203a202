/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "peer_hold_scene.h"

void verbs_qp(void)
{
	rig.cfg.verbs = true;
	rig.cfg.max_hold_ns = MAX_HOLD_MS * MS;
	rig_configure();
	q = make_qp(0);
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(complete(&q, &(struct hp3_completions){.home = HOME, .port = HOME}), 0);
}
