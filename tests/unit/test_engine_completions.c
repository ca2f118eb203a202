/* SPDX-License-Identifier: BSD-3-Clause */
/* In verbs mode without copies of packets: completions show the state of a queue pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

#define HOME 0xd001

static int verbs(void)
{
	rig.cfg.verbs = true;
	rig_configure();
	q = make_qp(0);
	return set_up(&q);
}

static int told(uint64_t posted, uint32_t took_ns)
{
	return complete(&q, &(struct hp3_completions){.home = HOME,
				    .port = HOME,
				    .posted = posted,
				    .done = posted,
				    .took_ns = took_ns,
				    .least_ns = 10 * US});
}

/* No packet was ever seen: nothing but what is told makes it movable. */
static void it_can_be_moved_without_a_packet(void **state)
{
	assert_int_equal(verbs(), 0);
	assert_int_equal(move(&q, NEW_PORT), -ENODATA);
	assert_int_equal(told(5000, 0), 0);
	assert_int_equal(info(&q).home, HOME);
	assert_int_equal(info(&q).bytes, 5000);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_MOVE);
	assert_int_equal(rig.other.port, NEW_PORT);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_true(info(&q).moved);
}

static void unknown_homes_are_no_aim(void **state)
{
	assert_int_equal(verbs(), 0);
	assert_int_equal(complete(&q, &(struct hp3_completions){.port = NEW_PORT}), 0);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), -ENODATA);
}

/* An hp3d before had moved it, or a move ended otherwise than it was told. */
static void the_actuator_knows_the_port(void **state)
{
	assert_int_equal(verbs(), 0);
	assert_int_equal(
		complete(&q, &(struct hp3_completions){.home = HOME, .port = NEW_PORT}), 0);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_true(info(&q).moved);
	assert_int_equal(move(&q, NEW_PORT), -EALREADY);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_int_equal(
		complete(&q, &(struct hp3_completions){.home = HOME, .port = NEW_PORT + 1}), 0);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.other.port, HOME); /* no word on the port while it moves */
}

static const struct hp3_monitor_params watching = {.cycle_ns = 100 * US,
	.rtt_factor = 200,
	.ecn_fraction = 50,
	.congestion_tolerance = 2,
	.base_age_log2 = 40};

static void takes(uint32_t took_ns, bool port_cnp, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		struct hp3_completions what = {.home = HOME,
			.port = HOME,
			.posted = 1000,
			.done = 1000,
			.took_ns = took_ns,
			.least_ns = 10 * US,
			.port_cnp = port_cnp};

		assert_int_equal(complete(&q, &what), 0);
		pass_time(200 * US);
	}
}

/* A port's CNPs may be anybody's: they mean those whose completions take longer at all. */
static void cnps_of_the_port_count_where_it_is_slow(void **state)
{
	rig.cfg.monitor = watching;
	assert_int_equal(verbs(), 0);
	takes(11 * US, true, 20); /* not slow: others' */
	assert_int_equal(seen(HP3_EVENT_SEVERE), 0);
	takes(18 * US, false, 20); /* not slow enough by itself */
	assert_int_equal(seen(HP3_EVENT_SEVERE), 0);
	takes(18 * US, true, 4);
	assert_int_equal(seen(HP3_EVENT_SEVERE), 1);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_PORT_CNP);
	takes(11 * US, true, 30);
	assert_false(info(&q).severe);
	takes(30 * US, false, 20);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_COMPLETION);
}

/* A copy says for whom: it counts however little its completions take, and the port's count for
 * nobody. */
static void copies_of_cnps_count_for_whom_they_are(void **state)
{
	rig.cfg.monitor = watching;
	rig.cfg.copies = true;
	assert_int_equal(verbs(), 0);
	takes(18 * US, true, 20);
	assert_int_equal(seen(HP3_EVENT_SEVERE), 0);
	takes(11 * US, false, 20);
	for (unsigned i = 0; i < 4; i++) {
		cnp();
		takes(11 * US, false, 1);
	}
	assert_int_equal(seen(HP3_EVENT_SEVERE), 1);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_CNP);
	assert_int_equal(info(&q).inflight, 0);
}

static void long_completions_are_severe(void **state)
{
	rig.cfg.monitor = watching;
	assert_int_equal(verbs(), 0);
	takes(11 * US, false, 5);
	assert_int_equal(seen(HP3_EVENT_SEVERE), 0);
	takes(20 * US, false, 8);
	assert_int_equal(seen(HP3_EVENT_SEVERE), 1);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_COMPLETION);
	assert_true(info(&q).severe);
	assert_true(info(&q).path.rtt_ns > info(&q).path.base_rtt_ns);
	takes(11 * US, false, 9);
	assert_false(info(&q).severe);
}

/* It says nothing that is worth a record any more only if nobody tells of it. */
static void it_lives_as_long_as_it_is_told_of(void **state)
{
	assert_int_equal(verbs(), 0);
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
	assert_int_equal(verbs(), 0);
	rig.cfg.verbs = false;
	rig_configure();
	assert_int_equal(set_up(&q), 0);
	assert_int_equal(told(1000, 0), -EINVAL);
}

static int works(uint32_t posted, uint32_t done)
{
	return complete(&q, &(struct hp3_completions){.home = HOME,
				    .port = HOME,
				    .posted = posted * 1000ull,
				    .done = done * 1000ull,
				    .posted_wrs = posted,
				    .done_wrs = done});
}

static void until_dead(void)
{
	for (unsigned i = 0; i < 400 && seen(HP3_EVENT_FAILOVER) == 0; i++) {
		uint32_t before = rig.nprobes;

		assert_int_equal(works(0, 0), 0);
		pass_time(100 * US);
		if (rig.nprobes > before) /* the one in use is lost */
			others_answer();
	}
}

/* Work that is not done any more, and probes that are lost: at once, and nothing but the move. */
static void rule_13_what_is_done_no_more_leaves_a_dead_path(void **state)
{
	stall_config();
	assert_int_equal(verbs(), 0);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(works(4, 4), 0);
		pass_time(100 * US);
	}
	assert_int_equal(info(&q).inflight, 0);
	assert_int_equal(works(5, 0), 0);
	assert_int_equal(info(&q).inflight, 5);
	until_dead();
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 1);
	assert_int_equal(rig.other.kind, HP3_ACT_MOVE);
	assert_int_equal(rig.other.op, HP3_MOVE_DEAD);
	assert_int_equal(stats()->ack_solicitations + stats()->naks_made, 0);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	assert_int_equal(works(0, 1), 0);
	assert_int_equal(seen(HP3_EVENT_RESUME), 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

static void what_could_not_be_moved_is_where_it_was(void **state)
{
	stall_config();
	assert_int_equal(verbs(), 0);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(works(4, 4), 0);
		pass_time(100 * US);
	}
	assert_int_equal(works(5, 0), 0);
	until_dead();
	assert_int_equal(actuator(&q, HP3_ACTUATOR_FAILED), 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(works(0, 0), 0);
	assert_int_equal(info(&q).port, HOME);
}

/* What is done goes on: however long it takes, nobody is asked whether the path is dead. */
static void who_goes_on_is_not_dead(void **state)
{
	stall_config();
	assert_int_equal(verbs(), 0);
	assert_int_equal(works(100, 0), 0);
	for (unsigned i = 0; i < 90; i++) {
		pass_time(100 * US);
		assert_int_equal(works(0, 1), 0);
	}
	assert_int_equal(rig.nprobes, 0);
}

static void only_ports_that_there_are(void **state)
{
	static const uint16_t ports[] = {0xe001, 0xe002, 0xe003, 0xe004, 0xe005};

	stall_config();
	assert_int_equal(verbs(), 0);
	assert_int_equal(works(1, 1), 0);
	assert_int_equal(hp3_qp_ports(rig.e, HP3_ENDS(&q), ports, 5), 0);
	for (unsigned i = 0; i < 30; i++) {
		assert_int_equal(move(&q, 0), 0);
		assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
		assert_in_range(rig.other.port, 0xe001, 0xe005);
		assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);
	}
	assert_int_equal(works(5, 0), 0);
	until_dead();
	for (unsigned i = 1; i < rig.nprobes; i++)
		assert_true(rig.probe_ports[i] >= 0xe001 || rig.probe_ports[i] == HOME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(it_can_be_moved_without_a_packet),
		RIG_TEST(unknown_homes_are_no_aim),
		RIG_TEST(the_actuator_knows_the_port),
		RIG_TEST(long_completions_are_severe),
		RIG_TEST(cnps_of_the_port_count_where_it_is_slow),
		RIG_TEST(copies_of_cnps_count_for_whom_they_are),
		RIG_TEST(rule_13_what_is_done_no_more_leaves_a_dead_path),
		RIG_TEST(what_could_not_be_moved_is_where_it_was),
		RIG_TEST(who_goes_on_is_not_dead),
		RIG_TEST(only_ports_that_there_are),
		RIG_TEST(it_lives_as_long_as_it_is_told_of),
		RIG_TEST(inline_packets_are_believed_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
