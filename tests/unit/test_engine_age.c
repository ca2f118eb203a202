/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a flow: set-up events, ageing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/flows/table.h"
#include "packets.h"

/* A round through the table takes 64 steps of 50 ms. */
static void age_round(void)
{
	for (int i = 0; i < 64; i++)
		pass_time(51 * MS);
}

/* Rule 11: idle_age if nothing is in flight, dead_age otherwise. */
static void rule_11_ageing(void **state)
{
	struct qp idle = make_qp(0), busy = make_qp(1), set = make_qp(2);

	rig.cfg.idle_age_ns = 10000 * MS;
	rig.cfg.dead_age_ns = 100000 * MS;
	rig_configure();
	set_up(&idle);
	set_up(&busy);
	set_up(&set);
	last(&idle, 1);
	ack(&idle, 1);
	assert_int_equal(move(&idle, 60000), 0);
	last(&busy, 1);
	last(&busy, 2);
	ack(&busy, 1);
	pass_time(6000 * MS);
	age_round(); /* 9.3 s */
	assert_int_equal(hp3_engine_flows(rig.e), 3);
	pass_time(1000 * MS);
	age_round(); /* 13.5 s */
	assert_int_equal(flow_of(&idle), HP3_NO_FLOW);
	assert_int_equal(flow_of(&set), HP3_NO_FLOW);
	assert_int_not_equal(flow_of(&busy), HP3_NO_FLOW);
	assert_int_equal(stats()->flows_aged, 2);
	assert_int_equal(hp3_engine_moved(rig.e), 0);
	rig.now += 83000 * MS; /* 97 s */
	age_round(); /* 99.8 s */
	assert_int_not_equal(flow_of(&busy), HP3_NO_FLOW);
	pass_time(1000 * MS);
	age_round();
	assert_int_equal(flow_of(&busy), HP3_NO_FLOW);
}

/* Packets of either direction keep a flow; so does a move, however long. */
static void rule_11_never_aged_in_a_move_or_in_use(void **state)
{
	struct qp sender = make_qp(0), receiver = make_qp(1), moving = make_qp(2);

	rig.cfg.dead_age_ns = rig.cfg.idle_age_ns = 4000 * MS;
	rig.cfg.close_timeout_ns = 1000000 * MS;
	rig_configure();
	set_up(&sender);
	set_up(&receiver);
	set_up(&moving);
	middle(&moving, 1);
	last(&receiver, 1);
	assert_int_equal(move(&moving, 60000), 0);
	for (uint32_t i = 1; i < 10; i++) {
		middle(&sender, i);
		ack(&receiver, 0);
		age_round();
	}
	assert_int_equal(hp3_engine_flows(rig.e), 3);
	assert_int_equal(command(&moving, HP3_CMD_CANCEL, 0), 0);
	age_round();
	assert_int_equal(flow_of(&moving), HP3_NO_FLOW);
}

static void set_up_events(void **state)
{
	struct qp q = make_qp(0), wrong = make_qp(1);
	struct hp3_qp_event event = {.kind = HP3_QP_UP, .source = HP3_QP_SOURCE_NONE};
	struct hp3_acts acts = {0};

	assert_int_equal(hp3_qp(rig.e, &event, rig.now, &acts), -EINVAL);
	wrong.rqpn = 1 << 24;
	assert_int_equal(set_up(&wrong), -EINVAL);
	wrong.rqpn = 5;
	wrong.lqpn = 1 << 24;
	assert_int_equal(set_up(&wrong), -EINVAL);
	assert_int_equal(hp3_engine_flows(rig.e), 0);
	assert_int_equal(tear_down(&q), 0); /* unknown: nothing to do */

	assert_int_equal(set_up(&q), 0);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_EVENT);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	assert_int_equal(rig.last.type, HP3_EVENT_PAIR);
	assert_int_equal(move(&q, 60000), -ENODATA);
	middle(&q, 1000);
	assert_int_equal(stats()->epochs, 0);

	/* Rule 16: set up again is a new epoch, but not of a queue pair that sends by another. */
	wrong = q;
	wrong.lqpn = 0x1234;
	assert_int_equal(set_up(&wrong), 0);
	assert_int_equal(tear_down(&wrong), 0);
	assert_int_equal(stats()->setups_ignored, 2);
	assert_int_equal(stats()->epochs, 0);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(stats()->epochs, 1);
	assert_int_equal(stats()->unpaired, 1);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	middle(&q, 77);
	assert_int_equal(info(&q).una, 77);
	assert_int_equal(stats()->epochs, 1);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(hp3_engine_flows(rig.e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_11_ageing),
		RIG_TEST(rule_11_never_aged_in_a_move_or_in_use),
		RIG_TEST(set_up_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
