/* SPDX-License-Identifier: BSD-3-Clause */
/* An advised port is probed first, together with the port in use (rule 34). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

#define NAMED 60001u

/* A flow at rest has been named a port: two probes are out, and RTT later the one in use answers.
 */
static void advised(void)
{
	probing_config();
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	assert_int_equal(advise(&q, NAMED), 0);
	assert_int_equal(rig.nprobes, 2);
	assert_int_equal(rig.probe_ports[0], q.home);
	assert_int_equal(rig.probe_ports[1], NAMED);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	pass_time(100 * US);
	probe_reply(0, false);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

static void stays(void)
{
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(info(&q).port, q.home);
	assert_int_equal(rig.last.type, HP3_EVENT_RECOVER);
	assert_int_equal(rig.last.cause, HP3_CAUSE_ADVICE);
	assert_int_equal(rig.last.tag, 77);
	assert_int_equal(rig.held, 0);
}

static void rule_34_no_worse_is_enough(void **state)
{
	advised();
	middle(&q, psn++); /* in flight: the old path has to be drained */
	pass_time(9 * US); /* of 110 */
	probe_reply(1, false);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	last(&q, psn++);
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	ack(&q, psn - 2);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rig.last.cause, HP3_CAUSE_ADVICE);
	assert_int_equal(rig.last.tag, 77);
	assert_int_equal(info(&q).port, NAMED);
	expect_left(rig.nwire - 1, psn - 1, NAMED, false);
}

static void rule_34_a_slower_path_is_not_taken(void **state)
{
	advised();
	pass_time(11 * US);
	probe_reply(1, false);
	stays();
}

static void rule_34_nor_a_marked_one(void **state)
{
	advised();
	probe_reply(1, true);
	stays();
}

static void rule_34_nor_one_that_is_silent(void **state)
{
	advised();
	steps(2 * TIMEOUT);
	stays();
}

/* What the port in use takes now is not known: nothing is decided. */
static void rule_34_nothing_without_the_port_in_use(void **state)
{
	probing_config();
	probing_engine();
	exchange(false);
	assert_int_equal(advise(&q, NAMED), 0);
	pass_time(5 * US);
	probe_reply(1, false);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	steps(2 * TIMEOUT);
	stays();
}

/* Its own search finds a path right after advice that was bad. */
static void rule_34_bad_advice_delays_no_search(void **state)
{
	advised();
	probe_reply(1, true);
	stays();
	congest();
	assert_int_equal(rig.nprobes, 2 + ASKED);
}

static void what_is_refused(void **state)
{
	struct qp nobody = make_qp(7);

	probing_config();
	rig.cfg.verify_ns = 10 * MS;
	probing_engine();
	assert_int_equal(advise(&nobody, NAMED), -ENOENT);
	assert_int_equal(advise(&q, NAMED), -ENODATA);
	exchange(false);
	assert_int_equal(advise(&q, q.home), -EALREADY);
	assert_int_equal(advise(&q, NAMED), 0);
	assert_int_equal(advise(&q, NAMED + 1), -EBUSY);
	pass_time(20 * US);
	probe_reply(0, false);
	probe_reply(1, false);
	assert_int_equal(info(&q).port, NAMED);
	last(&q, psn++);
	assert_int_equal(advise(&q, q.home), -EDQUOT); /* what came of it is not known yet */
	rig.cfg.moves_allowed = false;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	assert_int_equal(advise(&q, NAMED + 1), -EPERM);
	assert_int_equal(rig.nprobes, 2);
}

static void a_peer_that_answers_no_probes_is_not_asked(void **state)
{
	probing_config();
	rig.cfg.probes = HP3_PROBES_STANDARD;
	probing_engine();
	exchange(false);
	assert_int_equal(advise(&q, NAMED), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_34_no_worse_is_enough),
		RIG_TEST(rule_34_a_slower_path_is_not_taken),
		RIG_TEST(rule_34_nor_a_marked_one),
		RIG_TEST(rule_34_nor_one_that_is_silent),
		RIG_TEST(rule_34_nothing_without_the_port_in_use),
		RIG_TEST(rule_34_bad_advice_delays_no_search),
		RIG_TEST(what_is_refused),
		RIG_TEST(a_peer_that_answers_no_probes_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
