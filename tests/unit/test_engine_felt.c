/* SPDX-License-Identifier: BSD-3-Clause */
/* Beside the RNIC without copies of packets: completions tell what a queue pair does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

#define HOME 0xd001

static int beside(void)
{
	rig.cfg.beside = true;
	rig_configure();
	q = make_qp(0);
	return set_up(&q);
}

static int told(uint64_t posted, uint32_t took_ns)
{
	return felt(&q, &(struct hp3_felt){.home = HOME,
				.port = HOME,
				.posted = posted,
				.done = posted,
				.took_ns = took_ns,
				.least_ns = 10 * US});
}

/* No packet was ever seen: nothing but what is told makes it movable. */
static void it_can_be_moved_without_a_packet(void **state)
{
	assert_int_equal(beside(), 0);
	assert_int_equal(move(&q, NEW_PORT), -ENODATA);
	assert_int_equal(told(5000, 0), 0);
	assert_int_equal(info(&q).home, HOME);
	assert_int_equal(info(&q).bytes, 5000);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(actuator(&q, HP3_BESIDE_DRAINED), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_MOVE);
	assert_int_equal(rig.other.port, NEW_PORT);
	assert_int_equal(actuator(&q, HP3_BESIDE_MOVED), 0);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_true(info(&q).moved);
}

static void unknown_homes_are_no_aim(void **state)
{
	assert_int_equal(beside(), 0);
	assert_int_equal(felt(&q, &(struct hp3_felt){.port = NEW_PORT}), 0);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), -ENODATA);
}

/* An hp3d before had moved it, or a move ended otherwise than it was told. */
static void the_actuator_knows_the_port(void **state)
{
	assert_int_equal(beside(), 0);
	assert_int_equal(felt(&q, &(struct hp3_felt){.home = HOME, .port = NEW_PORT}), 0);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_true(info(&q).moved);
	assert_int_equal(move(&q, NEW_PORT), -EALREADY);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(felt(&q, &(struct hp3_felt){.home = HOME, .port = NEW_PORT + 1}), 0);
	assert_int_equal(actuator(&q, HP3_BESIDE_DRAINED), 0);
	assert_int_equal(rig.other.port, HOME); /* no word on the port while it moves */
}

static void long_completions_are_severe(void **state)
{
	rig.cfg.monitor = (struct hp3_monitor_params){.cycle_ns = 100 * US,
		.rtt_factor = 200,
		.ecn_fraction = 50,
		.congestion_tolerance = 2,
		.base_age_log2 = 40};
	assert_int_equal(beside(), 0);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(told(1000, 11 * US), 0);
		pass_time(200 * US);
	}
	assert_int_equal(seen(HP3_EV_SEVERE), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(told(1000, 20 * US), 0);
		pass_time(200 * US);
	}
	assert_int_equal(seen(HP3_EV_SEVERE), 1);
	assert_int_equal(rig.newest[HP3_EV_SEVERE].cause, HP3_CAUSE_COMPLETION);
	assert_true(info(&q).severe);
	assert_true(info(&q).path.rtt_ns > info(&q).path.base_rtt_ns);
	for (unsigned i = 0; i < 9; i++) {
		assert_int_equal(told(1000, 11 * US), 0);
		pass_time(200 * US);
	}
	assert_false(info(&q).severe);
}

/* It says nothing that is worth a record any more only if nobody tells of it. */
static void it_lives_as_long_as_it_is_told_of(void **state)
{
	assert_int_equal(beside(), 0);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(told(0, 0), 0);
		pass_time(rig.cfg.idle_age_ns / 4);
	}
	for (unsigned i = 0; i < 400; i++)
		pass_time(rig.cfg.idle_age_ns / 4);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	assert_int_equal(told(0, 0), -ENOENT);
}

static void inline_packets_are_believed_and_nothing_else(void **state)
{
	assert_int_equal(beside(), 0);
	rig.cfg.beside = false;
	rig_configure();
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(told(1000, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(it_can_be_moved_without_a_packet),
		RIG_TEST(unknown_homes_are_no_aim),
		RIG_TEST(the_actuator_knows_the_port),
		RIG_TEST(long_completions_are_severe),
		RIG_TEST(it_lives_as_long_as_it_is_told_of),
		RIG_TEST(inline_packets_are_believed_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
