/* SPDX-License-Identifier: BSD-3-Clause */
/* Consecutive searches: a better path must be empty many times (engine/search/reprobe.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

#define NEEDED  12u /* re-probes that have to find it empty, at the first doubt */
#define LAST    48u /* and so many more, if it is not faster */
#define NOTHING 16u /* re-probes that may say nothing */

static uint32_t probes_before; /* probes, when the latest re-probe went out */
static uint32_t reprobes; /* re-probes */

static void until_probes(uint32_t n)
{
	for (unsigned i = 0; i < 1000 && rig.nprobes < n; i++)
		marked_reply();
	assert_int_equal(rig.nprobes, n);
}

/* The port in use answers `own` behind the other one. */
static void other_first(uint64_t other, uint64_t own)
{
	uint32_t own_probe = probes_before;

	pass_time(other);
	probe_reply(probes_before + 1, false);
	pass_time(own);
	probe_reply(own_probe, true);
}

/* The first search finds nothing; the second one, in doubt, finds a better path. */
static void doubted(void)
{
	probing_config();
	rig.cfg.move_wait_ns = 50 * US;
	rig.cfg.cooldown_ns = 0;
	probing_engine();
	congest();
	assert_int_equal(rig.nprobes, ASKED);
	pass_time(10 * US);
	probe_reply(0, false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	until_probes(2 * ASKED);
	probes_before = ASKED;
	other_first(10 * US, 100 * US);
	assert_int_equal(stats()->rounds_won, 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
	probes_before = 2 * ASKED;
	reprobes = 0;
}

static void next_reprobe(void)
{
	if (reprobes++ != 0)
		rig.nwire = rig.nprobes = probes_before = 0; /* the rig remembers so many only */
	until_probes(probes_before + 2);
	assert_int_equal(rig.probe_ports[probes_before], q.home);
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
}

/* The other path is empty, the one in use is not. */
static void win(unsigned times)
{
	while (times-- > 0) {
		next_reprobe();
		other_first(10 * US, 100 * US);
	}
}

/* Both are empty. */
static void tie(unsigned times)
{
	while (times-- > 0) {
		next_reprobe();
		pass_time(10 * US);
		probe_reply(probes_before, false);
		assert_int_equal(info(&q).state, HP3_RFR_SEARCHING); /* how long takes the other? */
		pass_time(US);
		probe_reply(probes_before + 1, false);
	}
}

static void has_moved(bool expected)
{
	if (expected) {
		last(&q, psn++);
		ack(&q, psn - 1);
	}
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(info(&q).moved, expected);
}

static void what_is_always_empty_is_taken(void **state)
{
	doubted();
	tie(NEEDED - 1);
	has_moved(false);
	win(1);
	has_moved(true);
	assert_int_equal(stats()->moves_unconfirmed, 0);
}

static void not_before_it_is_faster(void **state)
{
	doubted();
	tie(NEEDED + LAST - 1);
	has_moved(false);
	win(1);
	has_moved(true);
}

static void stays(unsigned probes)
{
	has_moved(false);
	assert_int_equal(stats()->moves_unconfirmed, 1);
	for (unsigned i = 0; i < 4; i++)
		marked_reply();
	assert_int_equal(rig.nprobes, probes); /* it waits */
}

static void who_never_sees_it_faster_stays(void **state)
{
	doubted();
	tie(NEEDED + LAST - 1);
	assert_int_equal(stats()->moves_unconfirmed, 0);
	tie(1);
	stays(2);
}

static void what_takes_longer_once_is_not_taken(void **state)
{
	doubted();
	win(NEEDED - 1);
	next_reprobe();
	pass_time(10 * US);
	probe_reply(probes_before, false);
	pass_time(50 * US);
	probe_reply(probes_before + 1, false);
	stays(2);
}

/* A queue on the way of both, or a host that was late. */
static void both_long(unsigned times)
{
	while (times-- > 0) {
		next_reprobe();
		pass_time(60 * US);
		probe_reply(probes_before, false);
		assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
		probe_reply(probes_before + 1, false);
	}
}

static void what_is_long_for_both_says_nothing(void **state)
{
	doubted();
	both_long(NOTHING);
	tie(NEEDED - 1);
	has_moved(false);
	win(1);
	has_moved(true);
}

static void who_learns_nothing_stays(void **state)
{
	doubted();
	both_long(NOTHING);
	assert_int_equal(stats()->moves_unconfirmed, 0);
	both_long(1);
	stays(2);
}

/* Noise on its way, but the one in use takes far longer. */
static void what_is_better_need_not_be_empty(void **state)
{
	doubted();
	for (unsigned i = 0; i < NEEDED; i++) {
		next_reprobe();
		other_first(60 * US, 100 * US);
	}
	has_moved(true);
}

static void what_is_marked_once_is_not_taken(void **state)
{
	doubted();
	tie(NEEDED - 1);
	next_reprobe();
	pass_time(10 * US);
	probe_reply(probes_before + 1, true);
	probe_reply(probes_before, true);
	stays(2);
}

static void what_is_lost_once_is_not_taken(void **state)
{
	doubted();
	tie(NEEDED - 1);
	next_reprobe();
	probe_reply(probes_before, true);
	pass_time(TIMEOUT);
	stays(2);
}

/* Between re-probes, an operator's move does not wait for anything, and settles it. */
static void others_may_move_it_meanwhile(void **state)
{
	doubted();
	win(1);
	last(&q, psn++);
	assert_int_equal(move(&q, NEW_PORT), 0);
	ack(&q, psn - 1);
	assert_int_equal(info(&q).port, NEW_PORT);
	pass_time(20 * MS);
	assert_int_equal(rig.nprobes, probes_before + 2);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

static void a_forgotten_flow_reprobes_no_more(void **state)
{
	doubted();
	win(1);
	assert_int_equal(tear_down(&q), 0);
	pass_time(20 * MS);
	assert_int_equal(rig.nprobes, probes_before + 2);
	assert_int_not_equal(rig.last.type, HP3_EVENT_SWITCH);
}

/* Nobody searches while a re-probe is due, however congested the path is. */
static void one_search_at_a_time(void **state)
{
	doubted();
	rig.cfg.round.backoff_min_ns = 4000 * MS;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	win(1);
	for (unsigned i = 0; i < 20; i++)
		marked_reply();
	assert_int_equal(rig.nprobes, probes_before + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(what_is_always_empty_is_taken),
		RIG_TEST(not_before_it_is_faster),
		RIG_TEST(who_never_sees_it_faster_stays),
		RIG_TEST(what_takes_longer_once_is_not_taken),
		RIG_TEST(what_is_long_for_both_says_nothing),
		RIG_TEST(who_learns_nothing_stays),
		RIG_TEST(what_is_better_need_not_be_empty),
		RIG_TEST(what_is_marked_once_is_not_taken),
		RIG_TEST(what_is_lost_once_is_not_taken),
		RIG_TEST(others_may_move_it_meanwhile),
		RIG_TEST(a_forgotten_flow_reprobes_no_more),
		RIG_TEST(one_search_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
