/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the path in use dead, or slow, or is the peer dead (rule 13)? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/pass/pass.h"
#include "scene.h"

static void rule_13_three_losses_while_others_answer(void **state)
{
	stall_config();
	stalled();
	assert_int_equal(rig.probe_ports[0], q.home);
	lose_a_round();
	assert_int_equal(rig.nprobes, 2 * ASKED);
	lose_a_round();
	assert_int_equal(rig.nprobes, 3 * ASKED);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
	lose_a_round();
	assert_int_equal(rig.nprobes, 3 * ASKED);
	assert_int_equal(seen(HP3_EVENT_ROUND), 3);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 1);
	assert_int_equal(stats()->failovers, 1);
	assert_int_equal(info(&q).state, HP3_RFR_RESUMING);
	assert_int_equal(info(&q).port, rig.newest[HP3_EVENT_FAILOVER].to);
}

static void the_event_tells_why(void **state)
{
	const struct hp3_event *event = &rig.newest[HP3_EVENT_FAILOVER];
	bool answered = false;

	stall_config();
	stalled();
	for (unsigned i = 0; i < 3; i++)
		lose_a_round();
	assert_int_equal(event->cause, HP3_CAUSE_DEAD);
	assert_int_equal(event->from, q.home);
	assert_in_range(event->wait_ns, STALL + 3 * TIMEOUT, 2 * STALL + 4 * TIMEOUT);
	assert_int_equal(event->n_probes, ASKED);
	assert_int_equal(event->probes[0].port, q.home);
	assert_int_equal(event->probes[0].state, HP3_PROBE_LOST);
	for (unsigned i = 1; i < ASKED; i++)
		answered |= event->probes[i].state == HP3_PROBE_ANSWERED &&
			    event->probes[i].port == event->to;
	assert_true(answered);
}

/* Of those that answered, the fastest unmarked one is taken. */
static void the_best_answer_is_the_new_port(void **state)
{
	stall_config();
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
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 1);
	assert_int_equal(info(&q).port, rig.probe_ports[rig.nprobes - ASKED + 2]);
}

static void rule_13_stalled_but_alive_is_left_in_peace(void **state)
{
	stall_config();
	stalled();
	/* The path works: something else keeps the receiver. */
	for (unsigned i = 0; i < 13; i++) {
		others_answer();
		probe_reply(rig.nprobes - ASKED, false);
		steps(2 * TIMEOUT + 100 * US);
		rig.nprobes = rig.nprobes > 10 * ASKED ? ASKED : rig.nprobes;
	}
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	rig.nprobes = 0;
	steps(20 * STALL);
	assert_int_equal(rig.nprobes, 0);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
	assert_false(info(&q).moved);
	/* The RNIC's time-out, or progress and another stall, is another question. */
	last(&q, psn - 1);
	until_asked();
	probe_reply(0, false);
	pass_time(TIMEOUT);
	ack(&q, psn - 1);
	last(&q, psn++);
	until_asked();
}

static void rule_13_one_answer_starts_anew(void **state)
{
	stall_config();
	stalled();
	lose_a_round();
	lose_a_round();
	others_answer();
	probe_reply(rig.nprobes - ASKED, false);
	pass_time(TIMEOUT);
	steps(TIMEOUT);
	lose_a_round();
	lose_a_round();
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
	lose_a_round();
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 1);
}

/* What was no dead path makes the next watch of the address pair wait, twice as long each time. */
static void rule_28_fruitless_watches_become_rare(void **state)
{
	const struct hp3_pair *p;

	stall_config();
	stalled();
	p = &rig.e->pairs.pairs[rig.e->flows[flow_of(&q)].pair];
	for (uint32_t n = 1; n <= 5; n++) {
		uint32_t probes = rig.nprobes;

		probe_reply(rig.nprobes - ASKED, false);
		others_answer();
		ack(&q, psn - 1);
		steps(STALL);
		assert_int_equal(info(&q).state, HP3_RFR_STEADY);
		assert_int_equal(p->dead_level, n);
		assert_in_range(p->dead_wait, rig.now - 2 * STALL + (STALL << n) / 4,
			rig.now + (STALL << n) / 2);
		last(&q, psn++);
		for (unsigned i = 0; i < 2000 && rig.nprobes == probes; i++)
			pass_time(50 * US);
		assert_int_equal(rig.nprobes, probes + ASKED);
		assert_true(rig.now >= p->dead_wait);
	}
}

/* No other path would help. */
static void rule_13_a_dead_peer_is_no_dead_path(void **state)
{
	stall_config();
	stalled();
	steps(20 * STALL);
	assert_int_equal(rig.nprobes, 3 * ASKED);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
}

/* A candidate may lead over the dead path, too: one at a time could take the peer for dead. */
static void three_others_are_asked_though_one_is_configured(void **state)
{
	stall_config();
	rig.cfg.candidates = 1;
	stalled();
	assert_int_equal(rig.nprobes, 4);
	for (unsigned i = 0; i < 3; i++) {
		probe_reply(rig.nprobes - 1, false); /* the last one alone leads elsewhere */
		steps(TIMEOUT + 100 * US);
	}
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 1);
}

/* Other flows of the address pair have had the probes: rounds come later, what they found counts.
 */
static void a_watch_outlasts_an_empty_budget(void **state)
{
	stall_config();
	rig.cfg.round.probe_burst = 2 * ASKED;
	rig.cfg.round.probes_per_second = 1000;
	stalled();
	lose_a_round();
	assert_int_equal(rig.nprobes, 2 * ASKED);
	lose_a_round();
	assert_int_equal(rig.nprobes, 2 * ASKED);
	for (unsigned i = 0; i < 200 && rig.nprobes == 2 * ASKED; i++)
		pass_time(50 * US);
	assert_in_range(rig.nprobes, 2 * ASKED + 2, 3 * ASKED);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
	for (uint32_t i = 2 * ASKED + 1; i < rig.nprobes; i++)
		probe_reply(i, false);
	pass_time(TIMEOUT);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 1);
	assert_int_equal(seen(HP3_EVENT_ROUND), 3);
}

static void a_watch_does_not_wait_for_ever(void **state)
{
	stall_config();
	rig.cfg.round.probe_burst = ASKED;
	rig.cfg.round.probes_per_second = 1;
	stalled();
	lose_a_round();
	assert_int_equal(info(&q).state, HP3_RFR_SEARCHING);
	steps(20 * TIMEOUT);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
}

static void rule_13_not_before_four_round_trips(void **state)
{
	const uint64_t slow = 400 * US;

	stall_config();
	probing_engine();
	for (unsigned i = 0; i < 6; i++)
		exchange_after(slow, false);
	last(&q, psn++);
	steps(4 * slow - 50 * US);
	assert_int_equal(rig.nprobes, 0);
	until_asked();
}

static void rule_13_progress_ends_the_watch(void **state)
{
	stall_config();
	stalled();
	lose_a_round();
	ack(&q, psn - 2);
	lose_a_round();
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].cause, HP3_CAUSE_DEAD);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
}

/* What one flow has found out, the others on that path need not ask again. */
static void a_path_known_to_be_dead_takes_no_round(void **state)
{
	struct qp other = make_qp(1);
	uint32_t probes;

	stall_config();
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
	steps(3 * STALL);
	assert_int_equal(rig.nprobes, probes);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 2);
	assert_int_equal(info(&other).state, HP3_RFR_RESUMING);
	assert_int_not_equal(info(&other).port, q.home);
	assert_int_equal(rig.newest[HP3_EVENT_FAILOVER].n_probes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_13_three_losses_while_others_answer),
		RIG_TEST(the_event_tells_why),
		RIG_TEST(the_best_answer_is_the_new_port),
		RIG_TEST(rule_13_stalled_but_alive_is_left_in_peace),
		RIG_TEST(rule_13_one_answer_starts_anew),
		RIG_TEST(rule_28_fruitless_watches_become_rare),
		RIG_TEST(rule_13_a_dead_peer_is_no_dead_path),
		RIG_TEST(three_others_are_asked_though_one_is_configured),
		RIG_TEST(a_watch_outlasts_an_empty_budget),
		RIG_TEST(a_watch_does_not_wait_for_ever),
		RIG_TEST(rule_13_not_before_four_round_trips),
		RIG_TEST(rule_13_progress_ends_the_watch),
		RIG_TEST(a_path_known_to_be_dead_takes_no_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
