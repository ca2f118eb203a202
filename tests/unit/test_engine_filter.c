/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows that [filter] excludes stay on their home ports, and are not probed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "config/filter.h"
#include "scene.h"

#define THERE "10.9.0.2" /* q's peer */
#define ROUND (4000 * MS) /* ageing looks at every flow within it */

static void reload(const char *peers, const char *dscp, const char *qpns)
{
	rig.cfg.filter = hp3_filter_make(peers, dscp, qpns);
	hp3_engine_reconfigure(rig.e, &rig.cfg);
}

static void expect_barred(enum hp3_bar why)
{
	assert_int_equal(info(&q).barred, why);
	assert_int_equal(move(&q, NEW_PORT), why == HP3_BAR_NONE ? 0 : -EACCES);
}

static void each_part_bars(void **state)
{
	static const struct {
		const char *peers, *dscp, *qpns;
		enum hp3_bar why;
	} cases[] = {
		{"10.9.0.0/24", "0", "0x1000", HP3_BAR_NONE},
		{"10.8.0.0/16," THERE, "0-3", "1,0xfff-0x1001", HP3_BAR_NONE},
		{"10.9.0.3", "", "", HP3_BAR_PEER},
		{"10.9.0.0/31, fd00::/8", "", "", HP3_BAR_PEER},
		{"::/0", "", "", HP3_BAR_PEER},
		{"", "1-63", "", HP3_BAR_DSCP},
		{"", "", "0x1001-0xffffff", HP3_BAR_QPN},
		{THERE, "0", "0-0xfff", HP3_BAR_QPN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_setup(state);
		in_flight(1);
		reload(cases[i].peers, cases[i].dscp, cases[i].qpns);
		expect_barred(cases[i].why);
	}
}

/* Nobody knows yet which DSCP its packets will have. */
static void before_the_first_packet(void **state)
{
	q = make_qp(0);
	reload("", "0", "");
	set_up(&q);
	assert_int_equal(info(&q).barred, HP3_BAR_DSCP);
	assert_int_equal(info(&q).dscp, HP3_NO_DSCP);
	middle(&q, 100);
	assert_int_equal(info(&q).barred, HP3_BAR_NONE);
	assert_int_equal(info(&q).dscp, 0);
}

static void no_probe_for_what_is_barred(void **state)
{
	static const char *const peers[] = {"10.9.0.1", THERE};

	for (unsigned i = 0; i < 2; i++) {
		rig_setup(state);
		probing_config();
		rig.cfg.setup_probing = true;
		rig.cfg.filter = hp3_filter_make(peers[i], "", "");
		probing_engine();
		congest();
		assert_int_equal(rig.nprobes != 0, i == 1);
		assert_int_equal(info(&q).state, i == 1 ? HP3_RFR_SEARCHING : HP3_RFR_STEADY);
	}
}

static void a_dead_path_is_not_left(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		rig_setup(state);
		stall_config();
		rig.cfg.filter = hp3_filter_make(i == 0 ? "10.9.0.1" : THERE, "", "");
		rig_configure();
		silence();
		steps(20 * MS);
		assert_int_equal(rig.nprobes != 0, i == 1);
	}
}

/* Rule 15 would set AckReq on one of its packets. */
static void no_challenge_either(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		rig_setup(state);
		rig.cfg.pair_by_challenge = true;
		rig.cfg.challenge_quiet_ns = 0;
		rig.cfg.filter = hp3_filter_make(i == 0 ? "10.9.0.1" : THERE, "", "");
		rig_configure();
		q = make_qp(0);
		for (uint32_t n = 0; n < 200; n++)
			middle(&q, 100 + n);
		assert_int_equal(stats()->challenges != 0, i == 1);
	}
}

static void what_is_barred_comes_home(void **state)
{
	moved(100);
	reload("10.9.0.1", "", "");
	assert_true(info(&q).moved);
	pass_time(ROUND);
	for (uint32_t n = 0; n < 80 && info(&q).moved; n++) {
		last(&q, 101 + n); /* closes */
		ack(&q, 101 + n);
		pass_time(100 * MS);
	}
	assert_false(info(&q).moved);
	assert_int_equal(info(&q).port, q.home);
	assert_int_equal(rig.last.cause, HP3_CAUSE_OPERATOR);
	reload("", "", "");
	expect_barred(HP3_BAR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(each_part_bars),
		RIG_TEST(before_the_first_packet),
		RIG_TEST(no_probe_for_what_is_barred),
		RIG_TEST(a_dead_path_is_not_left),
		RIG_TEST(no_challenge_either),
		RIG_TEST(what_is_barred_comes_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
