/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision record: an action on a flow, its reason, and its effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>
#include "scene.h"

#define VERIFY (5 * MS)
#define BURST  32u /* packets per exchange: 34 kB, so that 64 kB are sent in a few cycles */

static void config(void)
{
	probing_config();
	rig.cfg.verify_ns = VERIFY;
}

/* One cycle: a burst, answered after `rtt`; together with the rest of the cycle it takes `all`. */
static void burst(uint64_t rtt, uint64_t all, bool becn)
{
	struct hp3_fields f = {.opcode = HP3_OP_RC_ACK, .becn = becn};

	rig.nwire = 0;
	for (uint32_t i = 0; i + 1 < BURST; i++)
		middle(&q, psn++);
	last(&q, psn);
	pass_time(rtt);
	f.psn = psn++;
	response(&q, &f);
	pass_time(all - rtt);
}

static void bursts(unsigned n, uint64_t all, bool becn)
{
	for (unsigned i = 0; i < n; i++)
		burst(RTT, all, becn);
}

/* Moved by command while 8 MB/s or so were carried with marks; then judged after `after`. */
static const struct hp3_event *moved_then(
	unsigned n, uint64_t before, uint64_t after, bool was, bool is)
{
	config();
	probing_engine();
	rig_allow_moves(false); /* no rounds of its own */
	bursts(30, before, was);
	rig_allow_moves(true);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(rig.last.type, HP3_EVENT_IDLE_SWITCH);
	rig_allow_moves(false);
	bursts(n, after, is);
	pass_time(VERIFY);
	assert_int_equal(seen(HP3_EVENT_OUTCOME), 1);
	return &rig.newest[HP3_EVENT_OUTCOME];
}

/* --- the record --- */

static void ids_are_consecutive(void **state)
{
	uint32_t total = 0;

	config();
	probing_engine();
	assert_int_equal(rig.last.type, HP3_EVENT_PAIR);
	assert_int_equal(rig.last.id, 1);
	congest();
	pass_time(5 * US);
	probe_reply(2, false);
	pass_time(2 * VERIFY);
	for (unsigned t = 0; t < HP3_EVENT_MAX; t++)
		total += rig.events[t];
	assert_int_equal(rig.last.id, total);
	assert_true(total >= 5); /* PAIR, SEVERE, ROUND, IDLE_SWITCH, OUTCOME */
	assert_int_equal(rig.last.t_ns, rig.now);
}

static void a_rerouting_in_full(void **state)
{
	const struct hp3_event *round = &rig.newest[HP3_EVENT_ROUND];
	const struct hp3_event *suspend = &rig.newest[HP3_EVENT_SUSPEND];
	const struct hp3_event *moved = &rig.newest[HP3_EVENT_SWITCH];

	config();
	probing_engine();
	congest();
	middle(&q, psn++);
	pass_time(5 * US);
	probe_reply(2, false);
	last(&q, psn++);
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	pass_time(30 * US);
	ack(&q, psn - 2);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_ECN);
	assert_int_equal(round->cause, HP3_CAUSE_ECN);
	assert_int_equal(round->probes[2].state, HP3_PROBE_ANSWERED);
	assert_int_equal(round->probes[2].port, suspend->to);
	assert_int_equal(suspend->from, q.home);
	assert_int_equal(suspend->close_psn, psn - 2);
	assert_int_equal(moved->cause, HP3_CAUSE_ECN);
	assert_int_equal(moved->held_pkts, 1);
	assert_int_equal(moved->held_bytes, LEN);
	assert_in_range(moved->drain_ns, 30 * US, 35 * US);
	assert_memory_equal(moved->cycles, round->cycles, sizeof(round->cycles));
	assert_true(rig.newest[HP3_EVENT_SEVERE].id < round->id && round->id < suspend->id &&
		    suspend->id < moved->id);
	pass_time(VERIFY);
	assert_int_equal(rig.last.type, HP3_EVENT_OUTCOME);
	assert_int_equal(rig.last.ref, moved->id);
	assert_int_equal(rig.last.from, q.home);
	assert_int_equal(rig.last.to, moved->to);
}

static void causes(void **state)
{
	config();
	probing_engine();
	for (unsigned i = 0; i < 5; i++)
		exchange(false);
	for (unsigned i = 0; i < 5 && seen(HP3_EVENT_SEVERE) == 0; i++) {
		cnp();
		exchange(true); /* both: the CNP is the first of them */
	}
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_CNP);
	rig_setup(state);
	config();
	probing_engine();
	for (unsigned i = 0; i < 5; i++)
		exchange(false);
	for (unsigned i = 0; i < 5 && seen(HP3_EVENT_SEVERE) == 0; i++)
		exchange_after(3 * RTT, false);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_RTT);
	rig_setup(state);
	draining(0);
	assert_int_equal(rig.newest[HP3_EVENT_SUSPEND].cause, HP3_CAUSE_OPERATOR);
}

static void every_name_is_its_own(void **state)
{
	for (int i = 0; i < HP3_EVENT_MAX; i++) {
		for (int k = 0; k < i; k++)
			assert_string_not_equal(hp3_event_name(i), hp3_event_name(k));
	}
	for (int i = 0; i < HP3_CAUSE_MAX; i++) {
		for (int k = 0; k < i; k++)
			assert_string_not_equal(hp3_cause_name(i), hp3_cause_name(k));
	}
	for (int i = 0; i < HP3_PAYOFF_MAX; i++) {
		for (int k = 0; k < i; k++)
			assert_string_not_equal(hp3_payoff_name(i), hp3_payoff_name(k));
	}
	assert_string_equal(hp3_event_name(HP3_EVENT_MAX), "?");
}

/* --- did it pay off? --- */

static void faster_is_better(void **state)
{
	const struct hp3_event *event = moved_then(12, 400 * US, 200 * US, false, false);

	assert_int_equal(event->outcome, HP3_PAYOFF_BETTER);
	assert_true(event->after.rate_kbps > event->path.rate_kbps);
	assert_int_equal(stats()->paid_off, 1);
}

static void as_fast_with_fewer_marks_is_better(void **state)
{
	const struct hp3_event *event = moved_then(24, 200 * US, 190 * US, true, false);

	assert_int_equal(event->outcome, HP3_PAYOFF_BETTER);
	assert_true(event->path.marked_permille > 500);
	assert_int_equal(event->after.marked_permille, 0);
}

static void as_fast_is_the_same(void **state)
{
	const struct hp3_event *event = moved_then(24, 200 * US, 190 * US, false, false);

	assert_int_equal(event->outcome, HP3_PAYOFF_SAME);
	assert_int_equal(stats()->paid_off + stats()->wasted, 0);
}

static void slower_is_worse(void **state)
{
	const struct hp3_event *event = moved_then(16, 200 * US, 500 * US, false, false);

	assert_int_equal(event->outcome, HP3_PAYOFF_WORSE);
	assert_int_equal(stats()->wasted, 1);
}

/* Time passes. The answers to a round on other paths take 10 us, that on the path in use 100 us. */
static uint32_t answered;

static void pass_time_of_search(uint64_t ns)
{
	for (uint64_t end = rig.now + ns; rig.now < end; pass_time(5 * US)) {
		uint32_t first = answered;

		answered = rig.nprobes;
		if (first == answered)
			continue;
		pass_time(10 * US);
		for (uint32_t i = first + 1; i < answered; i++)
			probe_reply(i, false);
		pass_time(90 * US);
		probe_reply(first, true);
	}
}

/* As burst(), with marks, while probes are answered. */
static void shared_burst(uint64_t all)
{
	for (uint32_t i = 0; i + 1 < BURST; i++)
		middle(&q, psn++);
	last(&q, psn++);
	pass_time_of_search(RTT);
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ACK, .becn = true, .psn = psn - 1});
	pass_time_of_search(all);
	rig.nwire = 0;
}

/*
 * Another flow comes to the path. The search begins before the rate has fallen, and the move brings
 * back the first rate: compared with the time that both flows shared the path, this is better.
 */
static void a_move_is_compared_with_the_end_of_its_search(void **state)
{
	const struct hp3_event *event = &rig.newest[HP3_EVENT_OUTCOME];
	uint32_t alone;

	config();
	answered = 0;
	rig.cfg.move_wait_ns = 20 * MS;
	rig.cfg.move_wait_rtts = UINT8_MAX;
	probing_engine();
	bursts(30, 200 * US, false);
	for (unsigned i = 0; i < 100 && seen(HP3_EVENT_SWITCH) + seen(HP3_EVENT_IDLE_SWITCH) == 0;
		i++)
		shared_burst(400 * US);
	assert_int_equal(seen(HP3_EVENT_SWITCH) + seen(HP3_EVENT_IDLE_SWITCH), 1);
	alone = rig.newest[HP3_EVENT_SEVERE].path.rate_kbps;
	bursts(20, 200 * US, false);
	pass_time(2 * VERIFY);
	assert_int_equal(seen(HP3_EVENT_OUTCOME), 1);
	assert_true(event->path.rate_kbps < alone * 8 / 10);
	assert_int_equal(event->outcome, HP3_PAYOFF_BETTER);
}

static void too_little_was_sent_to_tell(void **state)
{
	assert_int_equal(
		moved_then(1, 200 * US, 200 * US, false, false)->outcome, HP3_PAYOFF_UNKNOWN);
}

/* A new move begins: what the one before has brought is judged by what was seen so far. */
static void judged_early_when_a_new_move_begins(void **state)
{
	uint64_t first;

	config();
	probing_engine();
	bursts(6, 200 * US, false);
	assert_int_equal(move(&q, NEW_PORT), 0);
	first = rig.last.id;
	bursts(3, 200 * US, false);
	assert_int_equal(seen(HP3_EVENT_OUTCOME), 0);
	assert_int_equal(move(&q, 61000), 0);
	assert_int_equal(seen(HP3_EVENT_OUTCOME), 1);
	assert_int_equal(rig.newest[HP3_EVENT_OUTCOME].ref, first);
	assert_int_equal(rig.newest[HP3_EVENT_OUTCOME].to, NEW_PORT);
	pass_time(2 * VERIFY);
	assert_int_equal(seen(HP3_EVENT_OUTCOME), 2);
	assert_int_equal(rig.newest[HP3_EVENT_OUTCOME].to, 61000);
}

static void a_recovery_is_not_judged(void **state)
{
	config();
	probing_engine();
	bursts(6, 200 * US, false);
	last(&q, psn++);
	assert_int_equal(move(&q, NEW_PORT), 0);
	nak(&q, psn - 1);
	pass_time(2 * VERIFY);
	assert_int_equal(seen(HP3_EVENT_RECOVER), 1);
	assert_int_equal(seen(HP3_EVENT_OUTCOME), 0);
}

/* Until the next round, with the path in use congested all the time. */
static uint64_t until_asked_again(uint64_t reply_after)
{
	uint64_t since = rig.now;

	for (unsigned i = 0; rig.nprobes == ASKED && i < 1000; i++)
		burst(RTT, reply_after, true);
	assert_int_equal(rig.nprobes, 2 * ASKED);
	return rig.now - since;
}

/* A move is a search as any other one, whatever the verdict on it: the next one waits. */
static void who_moved_searches_rarely(void **state)
{
	for (unsigned better = 0; better < 2; better++) {
		rig_setup(state);
		config();
		rig.cfg.cooldown_ns = VERIFY;
		rig.cfg.round.backoff_min_ns = 40 * MS;
		probing_engine();
		for (unsigned i = 0; rig.nprobes == 0 && i < 20; i++) {
			pass_time((better ? 400 : 115) * US - RTT - 5 * US);
			burst(RTT, RTT + 5 * US, true);
		}
		assert_int_equal(rig.nprobes, ASKED);
		probe_reply(2, false);
		assert_int_equal(rig.last.type, HP3_EVENT_IDLE_SWITCH);
		assert_in_range(until_asked_again(200 * US), 10 * MS, 41 * MS);
		assert_int_equal(seen(HP3_EVENT_OUTCOME), 1);
		assert_int_equal(rig.newest[HP3_EVENT_OUTCOME].outcome,
			better ? HP3_PAYOFF_BETTER : HP3_PAYOFF_SAME);
	}
}

/* Where nothing is measured, or nobody wants to know, no slot is kept for it. */
static void unwatched_moves_are_not_judged(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		rig_setup(state);
		config();
		if (i == 0)
			rig.cfg.verify_ns = 0;
		else
			rig.cfg.monitor.cycle_ns = 0;
		probing_engine();
		bursts(3, 200 * US, false);
		assert_int_equal(move(&q, NEW_PORT), 0);
		pass_time(2 * VERIFY);
		assert_int_equal(seen(HP3_EVENT_OUTCOME), 0);
	}
}

static void observe_tells_what_it_would_do(void **state)
{
	config();
	rig.cfg.observe = true;
	rig.cfg.moves_allowed = false;
	probing_engine();
	congest();
	assert_int_equal(rig.nprobes, ASKED);
	pass_time(5 * US);
	probe_reply(2, false);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].outcome, HP3_ROUND_WINNER);
	assert_int_equal(rig.newest[HP3_EVENT_WOULD].cause, HP3_CAUSE_ECN);
	assert_int_equal(rig.newest[HP3_EVENT_WOULD].to, rig.probe_ports[2]);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
	assert_int_equal(
		seen(HP3_EVENT_SUSPEND) + seen(HP3_EVENT_SWITCH) + seen(HP3_EVENT_IDLE_SWITCH), 0);
	assert_int_equal(move(&q, NEW_PORT), -EPERM);
}

/* A slot that only waits for the verdict makes room for a move; one of a move does not. */
static void waiting_for_the_verdict_blocks_no_move(void **state)
{
	struct qp other = make_qp(1), third = make_qp(2);

	config();
	rig.cfg.max_moves = 1;
	rig_configure();
	q = make_qp(0);
	set_up(&q);
	set_up(&other);
	set_up(&third);
	last(&q, 0);
	ack(&q, 0);
	assert_int_equal(move(&q, 60000), 0);
	assert_int_equal(stats()->moves_idle, 1);
	last(&other, 0);
	last(&third, 0);
	assert_int_equal(move(&other, 60000), 0);
	assert_int_equal(stats()->unjudged, 1);
	assert_int_equal(info(&other).state, HP3_RFR_DRAINING);
	assert_int_equal(move(&third, 60000), -ENOSPC);
	pass_time(2 * VERIFY);
	assert_int_equal(rig.events[HP3_EVENT_OUTCOME], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(waiting_for_the_verdict_blocks_no_move),
		RIG_TEST(ids_are_consecutive),
		RIG_TEST(a_rerouting_in_full),
		RIG_TEST(causes),
		RIG_TEST(every_name_is_its_own),
		RIG_TEST(faster_is_better),
		RIG_TEST(as_fast_with_fewer_marks_is_better),
		RIG_TEST(as_fast_is_the_same),
		RIG_TEST(slower_is_worse),
		RIG_TEST(a_move_is_compared_with_the_end_of_its_search),
		RIG_TEST(too_little_was_sent_to_tell),
		RIG_TEST(judged_early_when_a_new_move_begins),
		RIG_TEST(a_recovery_is_not_judged),
		RIG_TEST(who_moved_searches_rarely),
		RIG_TEST(unwatched_moves_are_not_judged),
		RIG_TEST(observe_tells_what_it_would_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
