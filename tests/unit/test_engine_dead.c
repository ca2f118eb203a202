/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the path in use dead, or only slow, or is it the peer (rule 13)? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

#define STALL   (500 * US)
#define TIMEOUT (200 * US) /* of a round */

static void config(void)
{
	probing_config();
	rig.cfg.stall_ns = STALL;
}

/* A flow that was answered some times, and then sends two packets that nobody answers. */
static void silence(void)
{
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
	middle(&q, psn++);
	last(&q, psn++);
}

/* Time goes by in small steps, as the caller's clock does. */
static void wait(uint64_t ns)
{
	for (uint64_t t = 0; t < ns; t += 50 * US)
		pass_time(50 * US);
}

/* Until the next round of probes goes out, which must be soon. */
static void until_asked(void)
{
	uint32_t probes = rig.nprobes;

	for (uint64_t t = 0; t < 3 * STALL && rig.nprobes == probes; t += 50 * US)
		pass_time(50 * US);
	assert_int_equal(rig.nprobes, probes + ASKED);
}

/* The first round of probes is out. */
static void stalled(void)
{
	silence();
	until_asked();
	assert_int_equal(info(&q).state, HP3_RFR_SEEKING);
}

/* A round that only the port in use loses. */
static void lose_a_round(void)
{
	others_answer();
	pass_time(TIMEOUT);
}

static void rule_13_three_losses_while_others_answer(void **state)
{
	config();
	stalled();
	assert_int_equal(rig.probe_ports[0], q.home);
	lose_a_round();
	assert_int_equal(rig.nprobes, 2 * ASKED);
	lose_a_round();
	assert_int_equal(rig.nprobes, 3 * ASKED);
	assert_int_equal(seen(HP3_EV_FAILOVER), 0);
	lose_a_round();
	assert_int_equal(rig.nprobes, 3 * ASKED);
	assert_int_equal(seen(HP3_EV_ROUND), 3);
	assert_int_equal(seen(HP3_EV_FAILOVER), 1);
	assert_int_equal(stats()->failovers, 1);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	assert_int_equal(info(&q).port, rig.newest[HP3_EV_FAILOVER].to);
}

static void the_event_tells_why(void **state)
{
	const struct hp3_event *ev = &rig.newest[HP3_EV_FAILOVER];
	bool answered = false;

	config();
	stalled();
	for (unsigned i = 0; i < 3; i++)
		lose_a_round();
	assert_int_equal(ev->cause, HP3_CAUSE_DEAD);
	assert_int_equal(ev->from, q.home);
	assert_in_range(ev->wait_ns, STALL + 3 * TIMEOUT, 2 * STALL + 4 * TIMEOUT);
	assert_int_equal(ev->n_probes, ASKED);
	assert_int_equal(ev->probes[0].port, q.home);
	assert_int_equal(ev->probes[0].state, HP3_PROBE_LOST);
	for (unsigned i = 1; i < ASKED; i++)
		answered |=
			ev->probes[i].state == HP3_PROBE_ANSWERED && ev->probes[i].port == ev->to;
	assert_true(answered);
}

/* Of those that answered, the fastest unmarked one is taken. */
static void the_best_answer_is_the_new_port(void **state)
{
	config();
	stalled();
	for (unsigned i = 0; i < 3; i++) {
		uint32_t first = rig.nprobes - ASKED;

		pass_time(10 * US);
		probe_reply(first + 3, true);
		pass_time(10 * US);
		probe_reply(first + 2, false);
		pass_time(10 * US);
		probe_reply(first + 1, false);
		pass_time(TIMEOUT);
	}
	assert_int_equal(seen(HP3_EV_FAILOVER), 1);
	assert_int_equal(info(&q).port, rig.probe_ports[rig.nprobes - ASKED + 2]);
}

static void rule_13_stalled_but_alive_is_left_in_peace(void **state)
{
	config();
	stalled();
	others_answer();
	probe_reply(0, false); /* the path works: something else keeps the receiver */
	pass_time(TIMEOUT);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	wait(20 * STALL);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(seen(HP3_EV_FAILOVER), 0);
	assert_false(info(&q).moved);
	/* The RNIC's time-out, or progress and another stall, is another question. */
	last(&q, psn - 1);
	until_asked();
	probe_reply(ASKED, false);
	pass_time(TIMEOUT);
	ack(&q, psn - 1);
	last(&q, psn++);
	until_asked();
}

static void rule_13_one_answer_starts_anew(void **state)
{
	config();
	stalled();
	lose_a_round();
	lose_a_round();
	others_answer();
	probe_reply(rig.nprobes - ASKED, false);
	pass_time(TIMEOUT);
	assert_int_equal(seen(HP3_EV_FAILOVER), 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* No other path would help. */
static void rule_13_a_dead_peer_is_no_dead_path(void **state)
{
	config();
	stalled();
	wait(20 * STALL);
	assert_int_equal(rig.nprobes, 3 * ASKED);
	assert_int_equal(seen(HP3_EV_FAILOVER), 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
}

static void rule_13_not_before_four_round_trips(void **state)
{
	const uint64_t slow = 400 * US;

	config();
	probing_engine();
	for (unsigned i = 0; i < 6; i++)
		exchange_after(slow, false);
	last(&q, psn++);
	wait(4 * slow - 50 * US);
	assert_int_equal(rig.nprobes, 0);
	until_asked();
}

static void rule_13_progress_ends_the_watch(void **state)
{
	config();
	stalled();
	lose_a_round();
	ack(&q, psn - 2);
	lose_a_round();
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.newest[HP3_EV_RECOVER].cause, HP3_CAUSE_DEAD);
	assert_int_equal(seen(HP3_EV_FAILOVER), 0);
}

/* A queue pair that was never answered may not be ready to receive. */
static void rule_13_not_before_the_peer_was_heard(void **state)
{
	config();
	probing_engine();
	last(&q, psn++);
	wait(10 * STALL);
	assert_int_equal(rig.nprobes, 0);
	last(&q, psn - 1);
	ack(&q, psn - 1);
	last(&q, psn++);
	until_asked();
}

/* The same QPN again: what the queue pair before it has heard does not count. */
static void rule_16_nobody_was_heard_in_the_new_epoch(void **state)
{
	config();
	silence();
	assert_int_equal(set_up(&q), 0);
	psn = 5000;
	last(&q, psn++);
	wait(10 * STALL);
	assert_int_equal(rig.nprobes, 0);
}

static void rule_10_no_verdict_while_the_receiver_is_not_ready(void **state)
{
	config();
	silence();
	rnr(&q, psn - 2);
	wait(10 * STALL);
	assert_int_equal(rig.nprobes, 0);
	/* Nor when it says so while probes are out. */
	stalled();
	lose_a_round();
	rnr(&q, psn - 2);
	lose_a_round();
	wait(10 * STALL);
	assert_int_equal(seen(HP3_EV_FAILOVER), 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* Rule 2: an RNIC would answer such a probe behind unfinished responses: an implicit NAK. */
static void rule_02_no_probe_to_a_stranger_with_a_read_outstanding(void **state)
{
	config();
	silence();
	read_request(&q, psn++, PMTU);
	wait(10 * STALL);
	assert_int_equal(rig.nprobes, 0);
	peer_alive(&q); /* its hp3d keeps the probe from the RNIC */
	middle(&q, psn - 3); /* the RNIC goes back: the flow is looked at again */
	until_asked();
}

/* What one flow has found out, the others on that path need not ask again. */
static void a_path_known_to_be_dead_takes_no_round(void **state)
{
	struct qp other = make_qp(1);
	uint32_t probes;

	config();
	silence();
	other.home = q.home;
	assert_int_equal(set_up(&other), 0);
	last(&other, 700);
	ack(&other, 700);
	until_asked();
	for (unsigned i = 0; i < 3; i++)
		lose_a_round();
	probes = rig.nprobes;
	last(&other, 701);
	wait(3 * STALL);
	assert_int_equal(rig.nprobes, probes);
	assert_int_equal(seen(HP3_EV_FAILOVER), 2);
	assert_int_equal(info(&other).state, HP3_RFR_RESUMING);
	assert_int_not_equal(info(&other).port, q.home);
	assert_int_equal(rig.newest[HP3_EV_FAILOVER].n_probes, 0);
}

static void observe_tells_and_does_nothing(void **state)
{
	config();
	rig.cfg.observe = true;
	rig.cfg.moves_allowed = false;
	stalled();
	for (unsigned i = 0; i < 3; i++)
		lose_a_round();
	assert_int_equal(seen(HP3_EV_WOULD), 1);
	assert_int_equal(rig.newest[HP3_EV_WOULD].cause, HP3_CAUSE_DEAD);
	assert_true(rig.newest[HP3_EV_WOULD].nak);
	assert_int_not_equal(rig.newest[HP3_EV_WOULD].to, q.home);
	assert_int_equal(rig.acts[HP3_ACT_NAK], 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	wait(10 * STALL); /* once is enough */
	assert_int_equal(seen(HP3_EV_WOULD), 1);
}

static void where_nothing_may_move_nobody_asks(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		rig_setup(state);
		config();
		rig.cfg.moves_allowed = i != 0;
		if (i == 1)
			rig.cfg.stall_ns = 0;
		if (i == 2)
			rig.cfg.probes = HP3_PROBES_STANDARD; /* behind a drain only */
		silence();
		if (i == 3)
			fragment(HP3_DIR_TX, &q); /* rule 17 */
		wait(10 * STALL);
		assert_int_equal(rig.nprobes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_13_three_losses_while_others_answer),
		RIG_TEST(the_event_tells_why),
		RIG_TEST(the_best_answer_is_the_new_port),
		RIG_TEST(rule_13_stalled_but_alive_is_left_in_peace),
		RIG_TEST(rule_13_one_answer_starts_anew),
		RIG_TEST(rule_13_a_dead_peer_is_no_dead_path),
		RIG_TEST(rule_13_not_before_four_round_trips),
		RIG_TEST(rule_13_progress_ends_the_watch),
		RIG_TEST(rule_13_not_before_the_peer_was_heard),
		RIG_TEST(rule_16_nobody_was_heard_in_the_new_epoch),
		RIG_TEST(rule_10_no_verdict_while_the_receiver_is_not_ready),
		RIG_TEST(rule_02_no_probe_to_a_stranger_with_a_read_outstanding),
		RIG_TEST(a_path_known_to_be_dead_takes_no_round),
		RIG_TEST(observe_tells_and_does_nothing),
		RIG_TEST(where_nothing_may_move_nobody_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
