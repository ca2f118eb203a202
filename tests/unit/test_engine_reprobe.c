/* SPDX-License-Identifier: BSD-3-Clause */
/* A better path is re-probed once, after a random time, before the move (rule 29). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/paths/paths.h"
#include "scene.h"

#define WAIT (2 * MS)

/* A congested flow has found a better path; it has not left yet. */
static void found_after(uint64_t wait_ns, uint8_t wait_rtts)
{
	probing_config();
	rig.cfg.move_wait_ns = wait_ns;
	rig.cfg.move_wait_rtts = wait_rtts;
	probing_engine();
	congest();
	assert_int_equal(rig.nprobes, ASKED);
	pass_time(10 * US);
	others_answer();
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING); /* how long takes the port in use? */
	pass_time(100 * US);
	probe_reply(0, true);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	assert_int_equal(stats()->rounds_won, 1);
	assert_false(info(&q).moved);
}

static void found(void)
{
	found_after(WAIT, 6);
}

/* Marks go on until the second round is out; when was that? */
static uint64_t until_reprobed(void)
{
	uint64_t begin = rig.now;

	for (unsigned i = 0; i < 100 && rig.nprobes == ASKED; i++)
		marked_reply();
	assert_int_equal(rig.nprobes, ASKED + 2);
	assert_int_equal(rig.probe_ports[ASKED], q.home);
	return rig.now - begin;
}

static void moves_on(void)
{
	assert_true(until_reprobed() <= WAIT + 2 * RTT);
	pass_time(10 * US);
	probe_reply(ASKED + 1, false);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	pass_time(100 * US);
	probe_reply(ASKED, true);
	assert_int_not_equal(info(&q).state, HP3_RFR_SEARCHING);
	last(&q, psn++);
	ack(&q, psn - 1);
	assert_int_equal(info(&q).port, rig.probe_ports[ASKED + 1]);
}

static void rule_29_still_congested_it_moves(void **state)
{
	found();
	moves_on();
}

/* The new path is marked, too: when are others asked about again? */
static uint64_t until_next(uint64_t cooldown_ns, uint8_t cooldown_rtts)
{
	uint64_t begin;

	found();
	rig.cfg.cooldown_ns = cooldown_ns;
	rig.cfg.cooldown_rtts = cooldown_rtts;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	moves_on();
	begin = rig.now;
	for (unsigned i = 0; i < 1000 && rig.nprobes == ASKED + 2; i++)
		marked_reply();
	assert_int_equal(rig.nprobes, ASKED + 2 + ASKED);
	return rig.now - begin;
}

static void who_moved_stays_for_a_while(void **state)
{
	assert_in_range(until_next(0, 0), 0, MS);
	rig_setup(state);
	assert_in_range(until_next(4 * MS, 0), 4 * MS, 5 * MS);
	rig_setup(state);
	assert_in_range(until_next(0, 200), 200 * 10 * US, 201 * RTT + MS);
}

/* Marks go on, but the path in use is as good as the one found. */
static void rule_29_it_stays_where_it_is_as_good(void **state)
{
	found();
	until_reprobed();
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	pass_time(10 * US);
	probe_reply(ASKED, false);
	probe_reply(ASKED + 1, false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(stats()->moves_unconfirmed, 1);
	assert_false(info(&q).moved);
	for (unsigned i = 0; i < 4; i++)
		marked_reply();
	assert_int_equal(rig.nprobes, ASKED + 2); /* it backs off */
}

/* Congestion control has cured it: nobody is asked. */
static void rule_29_it_stays_where_cycles_are_clean(void **state)
{
	found();
	for (unsigned i = 0; i < 40; i++)
		exchange(false);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(stats()->moves_unconfirmed, 1);
	assert_false(info(&q).moved);
}

/* It was good when it was found. */
static void rule_29_what_has_failed_since_is_not_asked(void **state)
{
	for (unsigned failed = 0; failed < 2; failed++) {
		struct hp3_paths *t;
		uint16_t port;
		int at;

		rig_setup(state);
		found();
		port = rig.newest[HP3_EVENT_ROUND].to;
		t = hp3_paths_of(rig.e, 0);
		at = hp3_paths_get(t, port, q.rqpn, rig.now);
		for (unsigned i = 0; failed && i < 3; i++)
			hp3_paths_lost(t, at, rig.now - (2 - i) * rig.cfg.paths.window_ns);
		assert_int_equal(hp3_paths_quality(t, at, rig.now) == HP3_QUALITY_FAILED, failed);
		for (unsigned i = 0;
			i < 100 && rig.nprobes == ASKED && info(&q).state == HP3_RFR_SEARCHING; i++)
			marked_reply();
		assert_int_equal(rig.nprobes, failed ? ASKED : ASKED + 2);
		assert_int_equal(info(&q).state, failed ? HP3_RFR_STEADY : HP3_RFR_SEARCHING);
		assert_int_equal(stats()->moves_unconfirmed, failed);
	}
}

/* Two hosts that feel the same do not come to the same time. */
static void is_drawn(void **state, uint64_t wait_ns, uint8_t wait_rtts)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned i = 0; i < 32; i++) {
		uint64_t t;

		rig_setup(state);
		rig.cfg.seed = i;
		found_after(wait_ns, wait_rtts);
		t = until_reprobed();
		least = t < least ? t : least;
		most = t > most ? t : most;
		rig_teardown(state);
	}
	rig_setup(state);
	assert_true(least < WAIT / 4 && most > WAIT * 3 / 4 && most < WAIT + 4 * RTT);
}

static void rule_29_the_wait_is_drawn(void **state)
{
	is_drawn(state, WAIT, 0);
}

/* A wait shorter than a round trip keeps nobody apart. */
static void rule_29_the_wait_is_some_round_trips(void **state)
{
	is_drawn(state, 1, WAIT / RTT);
}

static void slow_reply(void)
{
	last(&q, psn++);
	pass_time(5 * RTT);
	ack(&q, psn - 1);
}

/* Nobody marks anything; replies take longer than they did, and another path answers sooner. */
static void slow(void)
{
	probing_config();
	rig.cfg.move_wait_ns = WAIT;
	probing_engine();
	for (unsigned i = 0; i < 8; i++)
		exchange(false);
	for (unsigned i = 0; i < 40 && rig.nprobes == 0; i++)
		slow_reply();
	assert_int_equal(rig.nprobes, ASKED);
	others_answer();
	pass_time(5 * RTT);
	probe_reply(0, false);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

/* The next re-probe: is the other path still the better one? */
static void slow_reprobe(bool better)
{
	uint32_t before = rig.nprobes;

	for (unsigned i = 0; i < 100 && rig.nprobes == before; i++)
		slow_reply();
	assert_int_equal(rig.nprobes, before + 2);
	pass_time(better ? 10 * US : 5 * RTT);
	probe_reply(before + 1, false);
	pass_time(better ? 5 * RTT : 10 * US);
	probe_reply(before, false);
}

static void rule_29_round_trips_alone_have_to_say_so_every_time(void **state)
{
	slow();
	slow_reprobe(true);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	assert_false(info(&q).moved);
	slow_reprobe(true);
	assert_int_not_equal(info(&q).state, HP3_RFR_SEARCHING);
	assert_int_equal(stats()->rounds_won, 3);
	last(&q, psn++);
	ack(&q, psn - 1);
	assert_int_equal(info(&q).port, rig.probe_ports[ASKED + 1]);
}

static void rule_29_round_trips_alone_move_nobody_by_chance(void **state)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		rig_setup(state);
		slow();
		for (unsigned n = 0; n < lost; n++)
			slow_reprobe(true);
		slow_reprobe(false);
		assert_int_equal(info(&q).state, HP3_RFR_STEADY);
		assert_int_equal(stats()->moves_unconfirmed, 1);
		assert_false(info(&q).moved);
		rig_teardown(state);
	}
	rig_setup(state);
}

/* What ends a round ends this one. */
static void rule_10_rnr_calls_it_off(void **state)
{
	found();
	last(&q, psn++);
	rnr(&q, psn - 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	steps(2 * WAIT);
	assert_int_equal(rig.nprobes, ASKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_29_still_congested_it_moves),
		RIG_TEST(who_moved_stays_for_a_while),
		RIG_TEST(rule_29_it_stays_where_it_is_as_good),
		RIG_TEST(rule_29_it_stays_where_cycles_are_clean),
		RIG_TEST(rule_29_what_has_failed_since_is_not_asked),
		RIG_TEST(rule_29_the_wait_is_drawn),
		RIG_TEST(rule_29_the_wait_is_some_round_trips),
		RIG_TEST(rule_29_round_trips_alone_have_to_say_so_every_time),
		RIG_TEST(rule_29_round_trips_alone_move_nobody_by_chance),
		RIG_TEST(rule_10_rnr_calls_it_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
