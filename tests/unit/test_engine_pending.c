/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-ups of queue pairs that wait for proof (rule 16): which one pairs the flow, and which do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/flows/pending.h"
#include "packets.h"
#include "scene.h"

/* --- the set-up was told while the end of the queue pair before waits --- */

static void rule_16_another_qp_whose_psn_is_unknown(void **state)
{
	struct qp z;

	moved_and_sending();
	z = other_of(7);
	tear_down(&q);
	set_up(&z);
	middle(&z, 7000);
	assert_paired_with(&z);
}

static void rule_16_another_qp_whose_psn_is_unknown_is_silent(void **state)
{
	struct qp z;

	moved_and_sending();
	z = other_of(7);
	tear_down(&q);
	set_up(&z);
	rests();
	assert_paired_with(&z);
}

/* ... and that one has ended, too. */
static void rule_16_the_next_one_has_ended(void **state)
{
	struct qp z;

	moved_and_sending();
	z = other_of(7);
	tear_down(&q);
	set_up_at(&z, 7000);
	tear_down(&z);
	rests();
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

static void rule_16_ends_are_told_twice(void **state)
{
	struct qp z;

	moved_and_sending();
	z = other_of(7);
	set_up_at(&z, 7000);
	tear_down(&q);
	tear_down(&q);
	tear_down(&z);
	set_up_at(&z, 7000);
	middle(&z, 7000);
	assert_paired_with(&z);
}

/* Another process connects its queue pair to the same remote one: the flow's own one counts. */
static void rule_16_a_foreign_qp_replaces_no_own_setup(void **state)
{
	struct qp x;

	moved_and_sending();
	x = other_of(9);
	tear_down(&q);
	set_up_at(&q, 7000);
	set_up_at(&x, 9000);
	middle(&q, 7000);
	assert_paired_with(&q);
}

/* Two local queue pairs that begin with one PSN: which of them sends is not known. */
static void two_begin_alike(bool psn_is_known)
{
	struct qp x, z;

	moved_and_sending();
	x = other_of(9);
	z = other_of(7);
	tear_down(&q);
	set_up_at(&z, 0);
	if (psn_is_known)
		set_up_at(&x, 0);
	else
		set_up(&x);
	set_up_at(&x, 5); /* ... and that does not change because one of them says something else */
	tear_down(&x);
	set_up_at(&x, 0);
	middle(&z, 0);
	assert_false(info(&z).paired);
	set_up_at(&z, 0); /* told again */
	assert_paired_with(&z);
}

static void rule_16_two_begin_alike(void **state)
{
	two_begin_alike(true);
	assert_int_equal(rig_setup(state), 0);
	two_begin_alike(false);
}

/* Late events of the life under way, and then the RNIC goes back: that is no new queue pair. */
static void rule_16_the_rnic_goes_back_behind_late_events(void **state)
{
	draining(3);
	tear_down(&q);
	set_up_at(&q, 100);
	nak(&q, 101);
	middle(&q, 101);
	assert_true(info(&q).paired);
	assert_int_equal(stats()->epochs, 0);
}

/* --- the set-up was told while the flow's queue pair had not ended --- */

static void rule_16_an_end_pairs_no_foreign_qp(void **state)
{
	struct qp x, z;

	in_flight(3);
	x = other_of(9);
	z = other_of(7);
	set_up_at(&x, 0);
	ack(&q, 102);
	tear_down(&q);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	middle(&z, 0);
	set_up_at(&z, 0);
	assert_paired_with(&z);
}

/* ... nor when time proves the end. */
static void rule_16_time_pairs_no_foreign_qp(void **state)
{
	struct qp x;

	moved_and_sending();
	x = other_of(9);
	set_up_at(&x, 0);
	tear_down(&q);
	rests();
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

static void rule_16_a_setup_ends_with_its_qp(void **state)
{
	struct qp x;

	in_flight(3);
	x = other_of(9);
	set_up_at(&x, 0);
	tear_down(&x);
	middle(&q, 500000);
	middle(&q, 0);
	assert_false(info(&q).paired);
}

/* ... and takes the local QPN from no flow that has it now: ACKs of one would drain the other. */
static void rule_16_an_ended_setup_takes_no_local_qpn(void **state)
{
	struct qp x, b = make_qp(5);

	in_flight(3);
	x = other_of(9);
	set_up_at(&x, 0);
	tear_down(&x);
	b.lqpn = x.lqpn;
	set_up_at(&b, 1000);
	middle(&b, 1000);
	middle(&q, 500000); /* q begins anew, its events are late */
	middle(&q, 0);
	assert_paired_with(&b);
	assert_false(info(&q).paired);
	ack(&b, 1000);
	assert_int_equal(info(&b).inflight, 0);
}

/* Its stream has shown that a late set-up is of a life before: it pairs no later queue pair. */
static void rule_16_a_disproved_setup_is_forgotten(void **state)
{
	uint32_t next = moved_and_sending();
	struct qp z = other_of(7);

	set_up_at(&q, 0);
	middle(&q, next);
	ack(&q, next);
	middle(&z, 0); /* its events are late */
	tear_down(&q);
	set_up_at(&z, 0);
	middle(&z, 1);
	assert_paired_with(&z);
}

/* The library's watcher says what any process likes: it ends no wait. */
static void rule_16_the_library_ends_no_wait(void **state)
{
	struct qp x;

	in_flight(3);
	x = other_of(9);
	set_up_at(&x, 0);
	report_event(
		&x, &(struct hp3_qp_event){.kind = HP3_QP_DOWN, .source = HP3_QP_SOURCE_LIBRARY});
	middle(&q, 500000);
	middle(&q, 0);
	assert_paired_with(&x);
}

/* --- places, and records that are used again --- */

/* Flow HP3_PENDING shares the place of flow 0, which is q's. */
static struct qp fill(void)
{
	struct qp far;

	rig.cfg.idle_age_ns = 60000 * MS;
	rig.cfg.max_flows = 2 * HP3_PENDING;
	rig_configure();
	moved(100);
	psn = info(&q).nxt;
	middle(&q, psn++);
	for (unsigned i = 1; i <= HP3_PENDING; i++) {
		far = make_qp(i);
		set_up_at(&far, 10);
	}
	assert_int_equal(flow_of(&q), 0);
	assert_int_equal(flow_of(&far), HP3_PENDING);
	middle(&far, 10);
	return far;
}

static void rule_16_a_setup_takes_no_place_of_an_end(void **state)
{
	struct qp far = fill(), x = far;

	x.lqpn += 1 << 16;
	tear_down(&q);
	set_up_at(&x, 77);
	rests();
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	set_up_at(&x, 77); /* the place is free */
	middle(&far, 90000);
	middle(&far, 77);
	assert_int_equal(info(&far).lqpn, x.lqpn);
}

static void rule_16_a_newer_end_takes_the_place(void **state)
{
	struct qp far = fill();

	middle(&q, psn);
	tear_down(&q);
	ack(&far, 10);
	assert_int_equal(move(&far, NEW_PORT), 0);
	middle(&far, 11);
	assert_true(info(&far).moved);
	tear_down(&far);
	assert_int_not_equal(flow_of(&far), HP3_NO_FLOW);
	rests();
	assert_int_equal(flow_of(&far), HP3_NO_FLOW);
	middle(&q, 9000);
	assert_false(info(&q).paired);
}

static void rule_16_a_record_that_is_used_again(void **state)
{
	struct qp x, b = make_qp(3);
	uint32_t flow;

	in_flight(3);
	x = other_of(9);
	set_up_at(&x, 42);
	flow = flow_of(&q);
	ack(&q, 102);
	pass_time(1100 * MS);
	rests();
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	b.rqpn = q.rqpn;
	b.remote[3] = 9; /* the same QPN at another host */
	middle(&b, 42);
	assert_int_equal(flow_of(&b), flow);
	assert_false(info(&b).paired);
}

/* --- the local QPN gets another flow while the end of its former queue pair waits --- */

static void number_goes_to_another_flow(uint8_t source)
{
	struct qp b = make_qp(5);

	moved_and_sending();
	b.lqpn = q.lqpn;
	tear_down(&q);
	report_event(&b, &(struct hp3_qp_event){
				 .kind = HP3_QP_UP, .source = source, .psn = 9, .psn_known = true});
	middle(&b, 9);
	assert_paired_with(&b);
	assert_false(info(&q).paired);
	rests();
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	assert_paired_with(&b);
}

static void rule_16_its_number_goes_to_another_flow(void **state)
{
	number_goes_to_another_flow(HP3_QP_SOURCE_KERNEL);
}

static void rule_16_its_number_goes_to_another_flow_by_cm(void **state)
{
	number_goes_to_another_flow(HP3_QP_SOURCE_CM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_16_another_qp_whose_psn_is_unknown),
		RIG_TEST(rule_16_another_qp_whose_psn_is_unknown_is_silent),
		RIG_TEST(rule_16_the_next_one_has_ended),
		RIG_TEST(rule_16_ends_are_told_twice),
		RIG_TEST(rule_16_a_foreign_qp_replaces_no_own_setup),
		RIG_TEST(rule_16_two_begin_alike),
		RIG_TEST(rule_16_the_rnic_goes_back_behind_late_events),
		RIG_TEST(rule_16_an_end_pairs_no_foreign_qp),
		RIG_TEST(rule_16_time_pairs_no_foreign_qp),
		RIG_TEST(rule_16_a_setup_ends_with_its_qp),
		RIG_TEST(rule_16_an_ended_setup_takes_no_local_qpn),
		RIG_TEST(rule_16_a_disproved_setup_is_forgotten),
		RIG_TEST(rule_16_the_library_ends_no_wait),
		RIG_TEST(rule_16_a_setup_takes_no_place_of_an_end),
		RIG_TEST(rule_16_a_newer_end_takes_the_place),
		RIG_TEST(rule_16_a_record_that_is_used_again),
		RIG_TEST(rule_16_its_number_goes_to_another_flow),
		RIG_TEST(rule_16_its_number_goes_to_another_flow_by_cm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
