/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remains of a queue pair that has ended (rule 16): packets in flight, set-ups reported meanwhile
 * by others, replies. None may count for a later queue pair.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "scene.h"

/* REQ, REP and RTU with these communication ids. */
static void cm_connect(const struct qp *x, uint32_t first, uint32_t l, uint32_t r)
{
	rig.cm_psn = 5;
	cm(HP3_DIR_TX, x, HP3_CM_REQ, l, 0, x->lqpn);
	rig.cm_psn = first;
	cm(HP3_DIR_RX, x, HP3_CM_REP, r, l, x->rqpn);
	cm(HP3_DIR_TX, x, HP3_CM_RTU, l, r, 0);
}

/* Moved, packets on their way; a DREQ, the next set-up, and then the end of the queue pair before.
 */
static void rule_16_packets_of_the_life_before_dreq(void **state)
{
	rig.cfg.idle_age_ns = 60000 * MS;
	rig_configure();
	q = make_qp(0);
	cm_connect(&q, 100, 1, 2);
	last(&q, 100);
	ack(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	middle(&q, 101);
	middle(&q, 102);
	assert_int_equal(rig.wire[rig.nwire - 1].port, NEW_PORT);
	cm(HP3_DIR_TX, &q, HP3_CM_DREQ, 1, 2, q.rqpn);
	set_up_at(&q, 7000);
	tear_down(&q); /* late: of the one before */
	middle(&q, 7000);
	assert_int_equal(rig.wire[rig.nwire - 1].port, NEW_PORT);
}

/* ... connection management begins the next life, and its end is told, too. */
static void rule_16_packets_of_the_life_before_cm(void **state)
{
	moved_and_sending();
	cm_connect(&q, 7000, 1, 2); /* own local QPN: new epoch at once */
	tear_down(&q);
	middle(&q, 7000);
	assert_int_equal(rig.wire[rig.nwire - 1].port, NEW_PORT);
}

/* Never moved, packets on their way by the RNIC's port. The next one is told of twice, the second
 * time with its PSN. */
static void rule_16_no_path_is_chosen_behind_packets(void **state)
{
	uint32_t first;

	probing_config();
	rig.cfg.setup_probing = true;
	rig.cfg.setup_rounds = 1;
	rig.cfg.idle_age_ns = 60000 * MS;
	probing_engine();
	peer_alive(&q);
	middle(&q, 100);
	middle(&q, 101);
	set_up(&q);
	first = rig.nprobes;
	set_up_at(&q, 7000);
	for (unsigned i = 0; i < 10 && rig.nprobes == first; i++)
		pass_time(10 * US);
	if (rig.nprobes >= first + 2)
		for (uint32_t i = first + 1; i < rig.nprobes; i++)
			probe_reply(i, false);
	pass_time(300 * US);
	middle(&q, 7000);
	assert_int_equal(rig.wire[rig.nwire - 1].port, q.home);
}

/* The next one begins elsewhere. */
static void rule_16_two_that_began_alike_have_ended(void **state)
{
	struct qp x, y, z;

	in_flight(3);
	x = other_of(7);
	y = other_of(8);
	z = other_of(9);
	set_up_at(&x, 0);
	set_up_at(&y, 0);
	tear_down(&x);
	tear_down(&y);
	set_up_at(&z, 7000);
	middle(&z, 7000);
	assert_true(info(&z).paired);
	assert_int_equal(info(&z).lqpn, z.lqpn);
}

/* The stream went on: a set-up told before is not of the next end. */
static void rule_16_packets_disproved_the_end_before(void **state)
{
	uint32_t next;
	struct qp x, z;

	next = moved_and_sending();
	x = other_of(9);
	z = other_of(7);
	tear_down(&q);
	set_up(&x); /* its PSN is not known; connected to the same remote one */
	middle(&q, next++);
	middle(&q, next++);
	tear_down(&q);
	middle(&z, 90000);
	assert_false(info(&z).paired && info(&z).lqpn == x.lqpn);
}

/* Connection management told of x, which has ended since, by DREQ and by event. */
static void cm_told_of_an_ended_qp(bool dreq)
{
	struct qp x;

	in_flight(3);
	x = other_of(9);
	cm_connect(&x, 0, 1, 2);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	if (dreq)
		cm(HP3_DIR_TX, &x, HP3_CM_DREQ, 1, 2, x.rqpn);
	else
		tear_down(&x);
	middle(&q, 500000); /* q begins anew, its events are late */
	middle(&q, 0);
	assert_false(info(&q).paired && info(&q).lqpn == x.lqpn);
}

static void rule_16_what_cm_told_ends_with_an_event(void **state)
{
	cm_told_of_an_ended_qp(false);
}

static void rule_16_what_cm_told_ends_with_a_dreq(void **state)
{
	cm_told_of_an_ended_qp(true);
}

/* ... and b has its local QPN. An ACK to b drains no move of q, whose packets are on their way. */
static void rule_16_what_cm_kept_takes_no_local_qpn(void **state)
{
	struct qp x, b = make_qp(5);

	in_flight(3);
	ack(&q, 102);
	x = other_of(9);
	cm_connect(&x, 0, 1, 2); /* waits: q is busy */
	cm(HP3_DIR_TX, &x, HP3_CM_DREQ, 1, 2, x.rqpn);
	tear_down(&x); /* x has ended */
	b.lqpn = x.lqpn;
	set_up_at(&b, 0);
	for (uint32_t i = 0; i < 6; i++)
		last(&b, i);
	ack(&b, 5);
	rig.now += 300 * MS; /* b rests */
	middle(&q, 0); /* the next one, in lockstep; its events are late */
	middle(&q, 1);
	last(&q, 2);
	if (move(&q, NEW_PORT) != 0)
		return; /* not paired: right */
	middle(&q, 3);
	assert_int_equal(rig.held, 1);
	ack(&b, 2); /* b's RNIC is answered once more; q's 0 to 2 are on their way */
	assert_int_equal(rig.held, 1);
}

/* All was acknowledged after the end was told; 200 ms later the end is due. */
static void rule_16_the_next_one_gets_a_flow_at_rest(void **state)
{
	uint32_t next = moved_and_sending();
	struct qp z = other_of(7);

	tear_down(&q);
	set_up_at(&z, 7000);
	ack(&q, next - 1);
	rests();
	rests();
	assert_int_equal(info(&z).lqpn, z.lqpn);
}

/* ... and it begins with the PSN that would have been next. */
static void rule_16_the_next_one_goes_on_at_rest(void **state)
{
	uint32_t next = moved_and_sending();
	struct qp z = other_of(7);

	tear_down(&q);
	set_up_at(&z, next);
	ack(&q, next - 1);
	rests();
	rests();
	for (unsigned i = 0; i < 10; i++) {
		last(&z, next);
		ack(&z, next++);
	}
	set_up_at(&z, next - 10); /* told again */
	assert_int_equal(info(&z).lqpn, z.lqpn);
}

/* READ responses of no READ. */
static void rule_16_responses_to_nothing_keep_no_ended_flow(void **state)
{
	moved_and_sending();
	tear_down(&q);
	for (unsigned i = 0; i < 200; i++) {
		rig.damage = true;
		read_response(&q, HP3_OP_RC_READ_RESP_MIDDLE, 3, PMTU);
		pass_time(50 * MS);
	}
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

/* What was said last, again and again, with a wrong ICRC. */
static void rule_16_an_old_ack_keeps_no_ended_flow(void **state)
{
	uint32_t next = moved_and_sending();

	ack(&q, next - 2);
	tear_down(&q);
	for (unsigned i = 0; i < 200; i++) {
		rig.damage = true;
		ack(&q, next - 2);
		pass_time(50 * MS);
	}
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_16_packets_of_the_life_before_dreq),
		RIG_TEST(rule_16_packets_of_the_life_before_cm),
		RIG_TEST(rule_16_no_path_is_chosen_behind_packets),
		RIG_TEST(rule_16_two_that_began_alike_have_ended),
		RIG_TEST(rule_16_packets_disproved_the_end_before),
		RIG_TEST(rule_16_what_cm_told_ends_with_an_event),
		RIG_TEST(rule_16_what_cm_told_ends_with_a_dreq),
		RIG_TEST(rule_16_what_cm_kept_takes_no_local_qpn),
		RIG_TEST(rule_16_the_next_one_gets_a_flow_at_rest),
		RIG_TEST(rule_16_the_next_one_goes_on_at_rest),
		RIG_TEST(rule_16_responses_to_nothing_keep_no_ended_flow),
		RIG_TEST(rule_16_an_old_ack_keeps_no_ended_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
