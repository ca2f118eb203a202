/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discovery rounds: which port wins, how a round ends, and its invariants. Times in ns; the port in
 * use is 1, candidates are 11, 12, ...
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "ppp/discovery.h"

#define T0      5000000000ull
#define TIMEOUT 1000000u
#define RTT     100000u

static const struct hp3_round_params params = {.timeout_ns = TIMEOUT,
	.guard_ns = TIMEOUT,
	.backoff_after = 1,
	.backoff_min_ns = 2000000,
	.backoff_max_ns = 100000000,
	.probes_per_second = 1000,
	.probe_burst = 100,
	.improve = 80};

static const uint16_t ports[] = {11, 12, 13, 14, 15, 16, 17, 18};

static struct hp3_round_ask ask(enum hp3_probe_kind kind, uint32_t n, uint32_t rtt_ns)
{
	return (struct hp3_round_ask){.kind = kind,
		.port = 1,
		.candidates = ports,
		.n = n,
		.rtt_ns = rtt_ns,
		.nonce = 0xabcdef01,
		.drained = true};
}

/* A round with all that can be sent at T0 sent. */
static struct hp3_round started(enum hp3_probe_kind kind, uint32_t n, uint32_t rtt_ns)
{
	struct hp3_probe_budget budget = {0};
	struct hp3_round_ask a = ask(kind, n, rtt_ns);
	struct hp3_round r;

	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), 0);
	while (hp3_round_send(&r, &params, T0) != HP3_NO_PROBE)
		;
	return r;
}

static enum hp3_round_outcome reply(struct hp3_round *r, uint32_t i, bool ce, uint64_t after)
{
	return hp3_round_reply(r, &params, hp3_round_probe_id(r, i), ce, T0 + after);
}

static void timed(struct hp3_round *r, uint32_t i, uint32_t took_ns, uint64_t after)
{
	hp3_round_timed(r, &params, hp3_round_probe_id(r, i), false, took_ns, T0 + after);
}

/*
 * What an RNIC's stamps say counts, not when the host looked, which may be late for all of them.
 * Of 0, and of more than has passed, the host's clock counts.
 */
static void stamps_time_the_wire(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 3, RTT);

	timed(&r, 1, 0, 3 * RTT);
	timed(&r, 2, 4 * RTT, 3 * RTT);
	assert_int_equal(r.probe[1].rtt_ns, 3 * RTT);
	assert_int_equal(r.probe[2].rtt_ns, 3 * RTT);
	assert_int_equal(r.outcome, HP3_ROUND_PENDING);
	timed(&r, 3, RTT / 2, 3 * RTT);
	assert_int_equal(r.probe[3].rtt_ns, RTT / 2);
	assert_int_equal(r.outcome, HP3_ROUND_WINNER);
	assert_int_equal(r.winner, 3);
	timed(&r, 0, RTT, 3 * RTT);
	assert_int_equal(r.probe[0].rtt_ns, RTT);
}

static void peer_probes_leave_back_to_back_with_the_port_in_use(void **state)
{
	struct hp3_probe_budget budget = {0};
	struct hp3_round_ask a = ask(HP3_PROBE_PEER, 3, RTT);
	struct hp3_round r;

	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(hp3_round_send(&r, &params, T0), i);
		assert_int_equal(r.probe[i].port, i == 0 ? 1 : ports[i - 1]);
	}
	assert_int_equal(hp3_round_send(&r, &params, T0), HP3_NO_PROBE);
	assert_int_equal(r.deadline, T0 + TIMEOUT);
}

static void first_good_reply_wins(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 3, RTT);

	assert_int_equal(reply(&r, 2, false, 50000), HP3_ROUND_WINNER);
	assert_int_equal(r.probe[r.winner].port, 12);
	assert_int_equal(r.probe[r.winner].rtt_ns, 50000);
	assert_int_equal(reply(&r, 1, false, 50001), HP3_ROUND_WINNER);
	assert_int_equal(r.winner, 2);
	assert_int_equal(r.late, 1);
}

static void a_mark_does_not_win(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 2, RTT);

	assert_int_equal(reply(&r, 1, true, 1000), HP3_ROUND_PENDING);
	assert_int_equal(reply(&r, 2, false, 60000), HP3_ROUND_WINNER);
	assert_int_equal(r.winner, 2);
	assert_true(r.probe[1].ce);
}

static void no_gain_does_not_win(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 1, RTT);

	assert_int_equal(reply(&r, 1, false, RTT * 80 / 100 + 1), HP3_ROUND_PENDING);
	assert_int_equal(reply(&r, 0, false, RTT), HP3_ROUND_NO_BETTER);
	r = started(HP3_PROBE_PEER, 1, RTT);
	assert_int_equal(reply(&r, 1, false, RTT * 80 / 100), HP3_ROUND_WINNER);
}

/* The port in use turns out slower than its smoothed RTT says: an earlier reply was good after all.
 */
static void the_incumbents_own_probe_counts_once_it_is_back(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 2, RTT);

	assert_int_equal(reply(&r, 1, true, 80001), HP3_ROUND_PENDING);
	assert_int_equal(reply(&r, 2, false, 200000), HP3_ROUND_PENDING);
	assert_int_equal(reply(&r, 0, false, 250000), HP3_ROUND_WINNER);
	assert_int_equal(r.winner, 2);
}

/* Who has not answered before the port in use is no better: held packets need not wait for it. */
static void the_incumbents_answer_ends_the_round(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 2, RTT);

	assert_int_equal(reply(&r, 0, true, 10000), HP3_ROUND_NO_BETTER);
	assert_false(hp3_round_settled(&r));
	assert_int_equal(reply(&r, 1, false, 20000), HP3_ROUND_NO_BETTER);
	assert_int_equal(r.probe[1].state, HP3_PROBE_ANSWERED);
	assert_int_equal(hp3_round_tick(&r, &params, T0 + TIMEOUT), HP3_ROUND_NO_BETTER);
	assert_int_equal(r.probe[2].state, HP3_PROBE_LOST);
	assert_true(hp3_round_settled(&r));
}

/* At queue-pair setup no RTT is known: the comparison waits for the port in use. */
static void without_any_rtt_the_incumbent_decides(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 2, 0);

	assert_int_equal(reply(&r, 2, false, 10000), HP3_ROUND_PENDING);
	assert_int_equal(reply(&r, 0, false, 12500), HP3_ROUND_WINNER);
	assert_int_equal(r.winner, 2);

	r = started(HP3_PROBE_PEER, 2, 0); /* or for its loss */
	assert_int_equal(reply(&r, 1, true, 10000), HP3_ROUND_PENDING);
	assert_int_equal(reply(&r, 2, false, 20000), HP3_ROUND_PENDING);
	assert_int_equal(hp3_round_tick(&r, &params, T0 + TIMEOUT - 1), HP3_ROUND_PENDING);
	assert_int_equal(hp3_round_tick(&r, &params, T0 + TIMEOUT), HP3_ROUND_WINNER);
	assert_int_equal(r.winner, 2);
}

static void time_out(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 2, RTT);

	assert_int_equal(hp3_round_tick(&r, &params, r.deadline - 1), HP3_ROUND_PENDING);
	assert_int_equal(hp3_round_tick(&r, &params, r.deadline), HP3_ROUND_TIMEOUT);
	assert_int_equal(reply(&r, 1, false, TIMEOUT + 5), HP3_ROUND_TIMEOUT);
	assert_int_equal(r.probe[1].state, HP3_PROBE_LATE);
	assert_int_equal(r.late, 1);

	/* a reply at the deadline is too late, even if no tick came before it */
	r = started(HP3_PROBE_PEER, 2, 10 * TIMEOUT);
	assert_int_equal(reply(&r, 1, false, TIMEOUT), HP3_ROUND_TIMEOUT);

	r = started(HP3_PROBE_PEER, 2, RTT); /* the port in use is lost, another is no better */
	assert_int_equal(reply(&r, 1, false, 90000), HP3_ROUND_PENDING);
	assert_int_equal(hp3_round_tick(&r, &params, r.deadline), HP3_ROUND_NO_BETTER);
	assert_int_equal(r.probe[0].state, HP3_PROBE_LOST);
}

/* Even if the caller never gets to send. */
static void a_round_that_is_not_sent_ends_too(void **state)
{
	struct hp3_probe_budget budget = {0};
	struct hp3_round_ask a = ask(HP3_PROBE_PEER, 3, RTT);
	struct hp3_round r;

	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), 0);
	assert_int_equal(hp3_round_tick(&r, &params, r.deadline), HP3_ROUND_TIMEOUT);
	assert_int_equal(hp3_round_send(&r, &params, r.deadline), HP3_NO_PROBE);
	assert_true(hp3_round_settled(&r));
}

static void cancelled_means_cancelled(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 2, RTT);

	hp3_round_cancel(&r);
	assert_int_equal(reply(&r, 1, false, 10), HP3_ROUND_CANCELLED);
	assert_int_equal(hp3_round_tick(&r, &params, T0 + TIMEOUT), HP3_ROUND_CANCELLED);
	assert_true(hp3_round_settled(&r));
	r = started(HP3_PROBE_PEER, 2, RTT);
	reply(&r, 1, false, 10);
	hp3_round_cancel(&r);
	assert_int_equal(r.outcome, HP3_ROUND_WINNER); /* ended before */
}

static void unknown_and_repeated_replies_are_ignored(void **state)
{
	struct hp3_round r = started(HP3_PROBE_PEER, 2, RTT), before;

	assert_int_equal(reply(&r, 1, true, 10), HP3_ROUND_PENDING);
	before = r;
	assert_int_equal(reply(&r, 1, false, 20), HP3_ROUND_PENDING); /* again, now unmarked */
	assert_int_equal(reply(&r, 3, false, 20), HP3_ROUND_PENDING); /* no such probe */
	for (uint32_t bit = 3; bit < 32; bit++)
		hp3_round_reply(&r, &params, hp3_round_probe_id(&r, 2) ^ 1u << bit, false, T0 + 20);
	assert_memory_equal(&r, &before, sizeof(r));
}

/* Rule 2: every answer to a duplicate looks alike. */
static void rule_02_one_standard_probe_in_the_air(void **state)
{
	struct hp3_round r = started(HP3_PROBE_STANDARD, 3, RTT);

	assert_int_equal(r.next, 1);
	assert_int_equal(hp3_round_in_air(&r), 0);
	assert_int_equal(r.probe[0].port, 1); /* drained, as the candidates find their paths */
	assert_int_equal(reply(&r, 0, false, 100000), HP3_ROUND_PENDING);
	assert_int_equal(hp3_round_in_air(&r), HP3_NO_PROBE);
	assert_int_equal(hp3_round_send(&r, &params, T0 + 100000), 1);
	assert_int_equal(hp3_round_send(&r, &params, T0 + 100000), HP3_NO_PROBE);
	assert_int_equal(reply(&r, 1, false, 100000 + 90000), HP3_ROUND_PENDING);
	assert_int_equal(hp3_round_send(&r, &params, T0 + 200000), 2);
	assert_int_equal(reply(&r, 2, false, 200000 + 80000), HP3_ROUND_WINNER);
	assert_int_equal(r.probe[r.winner].port, 12);
	assert_int_equal(r.probe[r.winner].rtt_ns, 80000); /* from its own sending */
}

/* A flow's own queue is gone with the drain: what it felt before is no measure. */
static void a_standard_round_compares_with_the_drained_path_in_use(void **state)
{
	struct hp3_round r = started(HP3_PROBE_STANDARD, 2, RTT);

	assert_int_equal(reply(&r, 0, true, 50000), HP3_ROUND_PENDING);
	hp3_round_send(&r, &params, T0 + 50000);
	assert_int_equal(reply(&r, 1, false, 50000 + 40001), HP3_ROUND_PENDING);
	hp3_round_send(&r, &params, T0 + 100000);
	assert_int_equal(reply(&r, 2, true, 100000 + 30000), HP3_ROUND_NO_BETTER);
	r = started(HP3_PROBE_STANDARD, 1, 0); /* no other measure is needed */
	assert_int_equal(reply(&r, 0, true, 50000), HP3_ROUND_PENDING);
	hp3_round_send(&r, &params, T0 + 50000);
	assert_int_equal(reply(&r, 1, false, 50000 + 40000), HP3_ROUND_WINNER);
}

static void rule_02_a_lost_standard_probe_ends_the_round(void **state)
{
	struct hp3_round r = started(HP3_PROBE_STANDARD, 3, RTT);
	struct hp3_round_params p = params;
	struct hp3_backoff b = {0};

	reply(&r, 0, false, 90000);
	hp3_round_send(&r, &params, T0 + 90000);
	assert_int_equal(hp3_round_tick(&r, &params, T0 + 90000 + TIMEOUT), HP3_ROUND_TIMEOUT);
	assert_int_equal(hp3_round_send(&r, &params, T0 + 90000 + TIMEOUT), HP3_NO_PROBE);
	p.backoff_min_ns = 0; /* the guard time holds whatever the back-off is */
	hp3_backoff_search(&b, &p, false, p.guard_ns, 0, T0);
	assert_false(hp3_backoff_ready(&b, T0 + p.guard_ns - 1));
	assert_true(hp3_backoff_ready(&b, T0 + p.guard_ns + 2 * 32768));
}

static void rule_02_standard_probes_only_behind_a_drain(void **state)
{
	struct hp3_probe_budget budget = {0};
	struct hp3_round_ask a = ask(HP3_PROBE_STANDARD, 2, RTT);
	struct hp3_round r;

	a.drained = false;
	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), -EBUSY);
	a.drained = true;
	a.reads = true;
	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), -EBUSY);
	assert_int_equal(budget.spent_until, 0);
}

static void candidates_are_other_ports_and_each_once(void **state)
{
	static const uint16_t own[] = {11, 1}, twice[] = {11, 12, 11};
	struct hp3_probe_budget budget = {0};
	struct hp3_round_ask a = ask(HP3_PROBE_PEER, 0, RTT);
	struct hp3_round r;

	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), -EINVAL);
	a.n = HP3_ROUND_PROBES; /* the port in use is one more */
	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), -EINVAL);
	a.n = 2;
	a.candidates = own;
	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), -EINVAL);
	a.n = 3;
	a.candidates = twice;
	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), -EINVAL);
	a = ask(HP3_PROBE_STANDARD, HP3_ROUND_PROBES, RTT);
	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), -EINVAL);
	a.n--;
	assert_int_equal(hp3_round_start(&r, &params, &budget, &a, T0), 0);
}

static void names(void **state)
{
	assert_string_equal(hp3_round_outcome_name(HP3_ROUND_NO_BETTER), "no-better");
	assert_string_equal(hp3_probe_kind_name(HP3_PROBE_STANDARD), "standard");
	assert_string_equal(hp3_probe_state_name(HP3_PROBE_LATE), "late");
	assert_string_equal(hp3_probe_state_name((enum hp3_probe_state)99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peer_probes_leave_back_to_back_with_the_port_in_use),
		cmocka_unit_test(stamps_time_the_wire),
		cmocka_unit_test(first_good_reply_wins),
		cmocka_unit_test(a_mark_does_not_win),
		cmocka_unit_test(no_gain_does_not_win),
		cmocka_unit_test(the_incumbents_own_probe_counts_once_it_is_back),
		cmocka_unit_test(the_incumbents_answer_ends_the_round),
		cmocka_unit_test(without_any_rtt_the_incumbent_decides),
		cmocka_unit_test(time_out),
		cmocka_unit_test(a_round_that_is_not_sent_ends_too),
		cmocka_unit_test(cancelled_means_cancelled),
		cmocka_unit_test(unknown_and_repeated_replies_are_ignored),
		cmocka_unit_test(rule_02_one_standard_probe_in_the_air),
		cmocka_unit_test(a_standard_round_compares_with_the_drained_path_in_use),
		cmocka_unit_test(rule_02_a_lost_standard_probe_ends_the_round),
		cmocka_unit_test(rule_02_standard_probes_only_behind_a_drain),
		cmocka_unit_test(candidates_are_other_ports_and_each_once),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
