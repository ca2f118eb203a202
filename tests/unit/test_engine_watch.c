/* SPDX-License-Identifier: BSD-3-Clause */
/* The monitor of the path in use, as fed by the engine: times, counts, reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

static void watched_flow(void)
{
	probing_config();
	rig.cfg.probing = false;
	probing_engine();
}

/* READs pass by, WRITEs in between; the answer to a READ is not an ACK that could be timed. */
static void a_round_trip_is_measured_on_ackreq(void **state)
{
	struct hp3_estimates e;

	watched_flow();
	middle(&q, psn++);
	for (unsigned i = 0; i < 20; i++)
		exchange(false);
	e = info(&q).path;
	assert_in_range(e.base_rtt_ns, RTT, RTT + 5 * US);
	assert_in_range(e.rtt_ns, RTT, RTT + 5 * US);
	assert_int_equal(e.marked_permille, 0);
	assert_true(e.rate_kbps > 0);
}

static void an_ack_behind_a_read_is_not_timed(void **state)
{
	watched_flow();
	read_request(&q, psn++, 512);
	last(&q, psn++);
	pass_time(50 * RTT);
	read_response(&q, HP3_OP_RC_READ_RESP_ONLY, psn - 2, 512);
	ack(&q, psn - 1);
	pass_time(CYCLE);
	assert_int_equal(info(&q).path.rtt_ns, 0);
	exchange(false); /* nothing outstanding any more */
	exchange(false);
	assert_in_range(info(&q).path.rtt_ns, RTT, RTT + 5 * US);
}

/* Rule of Karn: the answer may belong to either transmission. */
static void a_retransmission_voids_the_sample(void **state)
{
	watched_flow();
	last(&q, psn);
	pass_time(50 * RTT);
	last(&q, psn);
	ack(&q, psn++);
	pass_time(CYCLE);
	assert_int_equal(info(&q).path.rtt_ns, 0);
}

static void marks_in_consecutive_cycles_are_severe_once(void **state)
{
	watched_flow();
	for (unsigned i = 0; i < 5; i++)
		exchange(false);
	exchange(true);
	exchange(true);
	exchange(false); /* a clean cycle: the count starts anew */
	assert_int_equal(rig.events[HP3_EVENT_SEVERE], 0);
	for (unsigned i = 0; i < 6; i++)
		exchange(true);
	assert_int_equal(rig.events[HP3_EVENT_SEVERE], 1);
	assert_int_equal(stats()->severe, 1);
	assert_int_equal(rig.last.type, HP3_EVENT_SEVERE);
	assert_int_equal(rig.last.cause, HP3_CAUSE_ECN);
	assert_int_equal(rig.last.cycles[rig.last.n_cycles - 1], HP3_CYCLE_ECN);
	assert_int_equal(rig.last.from, q.home);
	assert_true(info(&q).severe);
	for (unsigned i = 0; i < 12; i++) /* cured: it may be reported again */
		exchange(false);
	assert_false(info(&q).severe);
	for (unsigned i = 0; i < 5; i++)
		exchange(true);
	assert_int_equal(rig.events[HP3_EVENT_SEVERE], 2);
}

static void long_round_trips_alone_are_severe(void **state)
{
	watched_flow();
	for (unsigned i = 0; i < 5; i++)
		exchange(false);
	for (unsigned i = 0; i < 5; i++)
		exchange_after(3 * RTT, false);
	assert_int_equal(rig.events[HP3_EVENT_SEVERE], 1);
	assert_true(rig.last.path.rtt_ns > rig.last.path.base_rtt_ns);
}

static void cnps_name_the_local_queue_pair(void **state)
{
	struct hp3_fields cnp = {.opcode = HP3_OP_CNP, .becn = true};

	watched_flow();
	for (unsigned i = 0; i < 5; i++) {
		response(&q, &cnp);
		assert_int_equal(rig.vd.kind, HP3_PASS);
		exchange(false);
	}
	assert_int_equal(stats()->cnps, 5);
	assert_int_equal(rig.events[HP3_EVENT_SEVERE], 1);
	/* One that fails its ICRC means nothing (rule 6). */
	rig.damage = true;
	response(&q, &cnp);
	assert_int_equal(stats()->bad_icrc, 1);
}

/* What the old path marked is not charged to the new one. */
static void after_a_move_marks_of_the_old_path_do_not_count(void **state)
{
	struct hp3_fields marked = {.opcode = HP3_OP_RC_ACK, .becn = true};

	watched_flow();
	for (unsigned i = 0; i < 5; i++)
		exchange(false);
	exchange(true);
	exchange(true);
	assert_int_equal(move(&q, 60000), 0);
	assert_int_equal(rig.last.type, HP3_EVENT_IDLE_SWITCH);
	for (unsigned i = 0; i < 5; i++) {
		marked.psn = psn - 1; /* said again by the old path */
		response(&q, &marked);
		pass_time(CYCLE);
	}
	assert_int_equal(rig.events[HP3_EVENT_SEVERE], 0);
	exchange(false);
	assert_int_equal(info(&q).path.marked_permille, 0);
}

static void unwatched_means_nothing_is_measured(void **state)
{
	watched_flow();
	rig.cfg.monitor.cycle_ns = 0;
	rig_configure();
	assert_int_equal(set_up(&q), 0);
	psn = 100;
	for (unsigned i = 0; i < 9; i++)
		exchange(true);
	assert_int_equal(rig.events[HP3_EVENT_SEVERE], 0);
	assert_int_equal(info(&q).path.rtt_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_round_trip_is_measured_on_ackreq),
		RIG_TEST(an_ack_behind_a_read_is_not_timed),
		RIG_TEST(a_retransmission_voids_the_sample),
		RIG_TEST(marks_in_consecutive_cycles_are_severe_once),
		RIG_TEST(long_round_trips_alone_are_severe),
		RIG_TEST(cnps_name_the_local_queue_pair),
		RIG_TEST(after_a_move_marks_of_the_old_path_do_not_count),
		RIG_TEST(unwatched_means_nothing_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
