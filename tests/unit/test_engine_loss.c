/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmissions of the RNIC show a path that loses packets, and the flow leaves it (rule 31). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/paths/paths.h"
#include "scene.h"

#define REPEATS 8u
#define RETRY   (100 * MS)

static void loss_config(void)
{
	probing_config();
	rig.cfg.loss_permille = 5;
	rig.cfg.loss_repeats = REPEATS;
	rig.cfg.paths.lossy_ns = RETRY;
	rig.cfg.round.probe_burst = 1000;
}

static void loss_engine(void)
{
	loss_config();
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
}

static void send(uint32_t n)
{
	while (n-- > 0) {
		last(&q, psn++);
		pass_time(RTT);
		ack(&q, psn - 1);
	}
	rig.nwire = 0;
}

/* A packet is lost, one behind it arrives; up to where the RNIC goes back. */
static void lose(void)
{
	last(&q, psn++);
	last(&q, psn++);
	pass_time(RTT);
	nak(&q, psn - 2);
	last(&q, psn - 2);
}

static void come(void)
{
	last(&q, psn - 1);
	pass_time(RTT);
	ack(&q, psn - 1);
	pass_time(CYCLE);
}

/* Losses, with so many packets between, until something is done about them; how many? */
static uint32_t lose_until(uint32_t between, uint32_t most)
{
	uint32_t before = rig.nprobes, n = 0;

	while (n < most) {
		lose();
		n++;
		if (rig.nprobes != before)
			break;
		come();
		send(between);
	}
	return n;
}

static bool is_lossy(uint16_t port)
{
	struct hp3_paths *t = hp3_paths_of(rig.e, 0);

	return hp3_paths_quality(t, hp3_paths_get(t, port, q.rqpn, rig.now), rig.now) ==
	       HP3_QUALITY_LOSSY;
}

/* The round is out; a port answers. It is CLOSING then. */
static uint16_t found(void)
{
	uint16_t port = rig.probe_ports[rig.nprobes - 1];

	probe_reply(rig.nprobes - 1, false);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	return port;
}

static void rule_31_a_lossy_path_is_left(void **state)
{
	uint32_t wire;
	uint16_t port;

	loss_engine();
	assert_in_range(lose_until(20, 20), REPEATS, 2 * REPEATS);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_LOSS);
	assert_int_equal(stats()->lossy, 1);
	assert_true(is_lossy(q.home));
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	pass_time(RTT);
	port = found();
	assert_int_equal(rig.last.cause, HP3_CAUSE_LOSS);
	wire = rig.nwire;
	last(&q, psn - 1); /* still going back */
	nak(&q, psn - 2); /* in vain */
	last(&q, psn - 2);
	last(&q, psn - 1);
	for (uint32_t i = wire; i < rig.nwire; i++)
		assert_int_equal(rig.wire[i].port, q.home);
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	last(&q, psn++); /* closes, behind all that was sent again */
	expect_left(rig.nwire - 1, psn - 1, q.home, true);
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	ack(&q, psn - 3);
	assert_int_equal(rig.held, 1);
	ack(&q, psn - 2);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rig.last.cause, HP3_CAUSE_LOSS);
	assert_int_equal(info(&q).port, port);
	expect_left(rig.nwire - 1, psn - 1, port, false);
}

/* Rule 7: what is sent again behind the closing packet is not overtaken; the next time it is tried
 * again, and nobody is asked. */
static void rule_31_a_loss_in_the_drain_ends_the_try(void **state)
{
	uint32_t probes;
	uint16_t port;

	loss_engine();
	lose_until(20, 20);
	pass_time(RTT);
	port = found();
	probes = rig.nprobes;
	for (unsigned tries = 0; tries < 3; tries++) {
		last(&q, psn - 1);
		last(&q, psn++);
		assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
		assert_int_equal(last(&q, psn++), HP3_HOLD);
		nak(&q, psn - 3); /* lost once more */
		assert_int_equal(rig.newest[HP3_EVENT_RECOVER].cause, HP3_CAUSE_LOSS);
		expect_left(rig.nwire - 1, psn - 1, q.home, true);
		assert_int_equal(info(&q).state, HP3_RFR_STEADY);
		last(&q, psn - 3);
		expect_left(rig.nwire - 1, psn - 3, q.home, true);
		assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
		last(&q, psn - 2);
	}
	last(&q, psn - 1);
	last(&q, psn++);
	ack(&q, psn - 1);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(info(&q).port, port);
	assert_int_equal(rig.nprobes, probes);
}

/* What was sent again, and a new packet that closes the path. */
static void leave(void)
{
	last(&q, psn - 1);
	last(&q, psn++);
	ack(&q, psn - 1);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rig.last.cause, HP3_CAUSE_LOSS);
	send(2);
}

static uint16_t leave_home(uint32_t between)
{
	uint16_t port;

	loss_engine();
	assert_in_range(lose_until(between, 30), REPEATS, 30);
	pass_time(RTT);
	port = found();
	leave();
	assert_int_equal(info(&q).port, port);
	assert_true(is_lossy(q.home));
	return port;
}

/* The trial has failed: with half of the losses. */
static void lose_on_trial(void)
{
	uint32_t n = 0;

	for (; info(&q).state == HP3_RFR_STEADY; n++) {
		assert_true(n < REPEATS);
		if (n != 0) {
			come();
			send(20);
		}
		lose();
	}
	assert_in_range(n, REPEATS / 2, REPEATS - 1);
}

/* Where it was found two paths lose as often: it was not the path. Home again, and nobody is asked.
 */
static void rule_31_trials_that_fail_go_home(void **state)
{
	uint16_t port = leave_home(20), second;
	uint32_t probes = rig.nprobes;
	uint64_t began;

	lose_on_trial();
	assert_true(rig.nprobes > probes);
	pass_time(RTT);
	second = found();
	assert_int_not_equal(second, q.home); /* of which it is known */
	leave();
	probes = rig.nprobes;
	lose_on_trial();
	assert_int_equal(rig.nprobes, probes);
	leave();
	assert_int_equal(info(&q).port, q.home);
	assert_true(is_lossy(port));
	assert_true(is_lossy(second));
	assert_false(is_lossy(q.home));
	began = rig.now; /* it stays for a while */
	while (lose_until(20, 1) == 1 && rig.nprobes == probes) {
		come();
		send(20);
	}
	assert_true(rig.nprobes > probes);
	assert_true(rig.now - began > RETRY / 2);
	assert_int_equal(stats()->moves_switched, 3);
}

/* It loses, too, but far more rarely. */
static void rule_31_a_trial_that_pays_goes_on(void **state)
{
	uint32_t probes;

	leave_home(10);
	probes = rig.nprobes;
	assert_in_range(lose_until(50, 100), REPEATS, 100);
	assert_true(rig.nprobes > probes);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

/* What home was like long ago says nothing: who loses packets then asks. */
static void rule_31_a_trial_ends(void **state)
{
	uint32_t probes;

	leave_home(20);
	probes = rig.nprobes;
	pass_time(2 * RETRY);
	send(300);
	assert_in_range(lose_until(20, 100), REPEATS, 100);
	assert_true(rig.nprobes > probes);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

/* It ends soon, too, where nothing new is sent: the path may be dead meanwhile. */
static void rule_31_a_try_ends(void **state)
{
	loss_engine();
	lose_until(20, 20);
	pass_time(RTT);
	found();
	pass_time(rig.cfg.max_hold_ns + MS);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].reason, HP3_RFR_IN_TIMEOUT);
}

static void rule_31_rare_losses_are_borne(void **state)
{
	loss_engine();
	assert_int_equal(lose_until(250, 100), 100);
	assert_int_equal(stats()->lossy, 0);
}

static void rule_31_a_burst_of_losses_is_not_the_paths(void **state)
{
	loss_engine();
	for (unsigned i = 0; i < 3 * REPEATS; i++) {
		last(&q, psn++);
		nak(&q, psn - 1);
		last(&q, psn - 1);
		ack(&q, psn - 1);
	}
	assert_int_equal(stats()->lossy, 0);
	assert_int_equal(rig.nprobes, 0);
}

/* The receiver was not ready; READ data were lost on their way here. */
static void rule_31_what_is_no_loss(void **state)
{
	struct hp3_fields f = {.opcode = HP3_OP_RC_READ_REQUEST, .dma_len = 1024};

	loss_engine();
	for (unsigned i = 0; i < 4 * REPEATS; i++) {
		last(&q, psn++);
		rnr(&q, psn - 1);
		pass_time(MS);
		last(&q, psn - 1);
		ack(&q, psn - 1);
	}
	for (unsigned i = 0; i < 4 * REPEATS; i++) {
		f.psn = psn++;
		request(&q, &f);
		pass_time(MS);
		request(&q, &f);
		response(&q,
			&(struct hp3_fields){.opcode = HP3_OP_RC_READ_RESP_ONLY, .psn = psn - 1});
	}
	assert_int_equal(stats()->retransmits, 8 * REPEATS);
	assert_int_equal(stats()->lossy, 0);
}

/* A lossy path may be the fastest: another one will do that is not far slower. */
static void rule_31_another_path_may_be_slower(void **state)
{
	for (unsigned far = 0; far < 2; far++) {
		uint32_t before;

		rig_setup(state);
		loss_engine();
		lose_until(20, 20);
		before = rig.nprobes - ASKED;
		pass_time(RTT);
		probe_reply(before, false);
		pass_time(far ? 2 * RTT : RTT / 4);
		for (unsigned i = 1; i < ASKED; i++)
			probe_reply(before + i, false);
		assert_int_equal(info(&q).state, far ? HP3_RFR_STEADY : HP3_RFR_CLOSING);
	}
}

/* Every path loses: after some moves it waits, longer and longer. */
static void rule_31_losses_everywhere_move_nobody_about(void **state)
{
	uint32_t moves, half = 0;

	loss_engine();
	for (unsigned i = 0; i < 400; i++) {
		lose_until(20, 20);
		if (rig.nprobes != 0) {
			pass_time(RTT);
			probe_reply(rig.nprobes - 1, false);
			probe_reply(rig.nprobes - ASKED, false);
		}
		come();
		send(2);
		assert_int_equal(info(&q).state, HP3_RFR_STEADY);
		rig.nprobes = 0;
		if (i == 200)
			half = rig.events[HP3_EVENT_SWITCH] + rig.events[HP3_EVENT_IDLE_SWITCH];
	}
	moves = rig.events[HP3_EVENT_SWITCH] + rig.events[HP3_EVENT_IDLE_SWITCH];
	assert_true(rig.now > 30 * RETRY);
	assert_in_range(half, 5, 10);
	assert_in_range(moves - half, 0, 1);
}

/* A record outlasts what 32 bits of time can tell: 49 days later nobody waits for it. */
static void rule_31_old_losses_put_nothing_off(void **state)
{
	const uint64_t short_of = (1ull << 52) - RETRY;

	loss_engine();
	lose_until(20, 20);
	assert_int_equal(stats()->lossy, 1);
	pass_time(RTT);
	found();
	last(&q, psn - 1);
	last(&q, psn++);
	ack(&q, psn - 1);
	rig.now += short_of; /* hp3d was stopped, say: no tick has forgotten the flow */
	send(1);
	lose_until(20, 30);
	assert_int_equal(stats()->lossy, 2);
}

static void observe_tells_of_losses(void **state)
{
	loss_config();
	rig.cfg.observe = rig.cfg.silent = true;
	rig.cfg.moves_allowed = false;
	probing_engine();
	assert_int_equal(lose_until(20, 20), 20);
	assert_true(stats()->lossy > 0);
	assert_int_equal(rig.newest[HP3_EVENT_WOULD].cause, HP3_CAUSE_LOSS);
	assert_int_equal(rig.nprobes, 0);
}

static void losses_are_left_to_the_rnic_if_so_told(void **state)
{
	loss_config();
	rig.cfg.loss_permille = 0;
	probing_engine();
	assert_int_equal(lose_until(2, 100), 100);
	assert_int_equal(stats()->lossy, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_31_a_lossy_path_is_left),
		RIG_TEST(rule_31_a_loss_in_the_drain_ends_the_try),
		RIG_TEST(rule_31_a_try_ends),
		RIG_TEST(rule_31_trials_that_fail_go_home),
		RIG_TEST(rule_31_a_trial_that_pays_goes_on),
		RIG_TEST(rule_31_a_trial_ends),
		RIG_TEST(rule_31_rare_losses_are_borne),
		RIG_TEST(rule_31_a_burst_of_losses_is_not_the_paths),
		RIG_TEST(rule_31_what_is_no_loss),
		RIG_TEST(rule_31_another_path_may_be_slower),
		RIG_TEST(rule_31_losses_everywhere_move_nobody_about),
		RIG_TEST(rule_31_old_losses_put_nothing_off),
		RIG_TEST(observe_tells_of_losses),
		RIG_TEST(losses_are_left_to_the_rnic_if_so_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
