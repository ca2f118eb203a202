/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What keeps discovery in bounds: the budget of an address pair, the back-off of a flow, the dead
 * path verdict; and random rounds that must keep every invariant.
 * Usage: test_discovery_limits [SEEDS [FIRST_SEED]]
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/hash.h"
#include "ppp/discovery.h"

#define T0      7000000000ull
#define TIMEOUT 1000000u

static unsigned seeds = 20;
static uint64_t first_seed = 1;

static const struct hp3_round_params params = {.timeout_ns = TIMEOUT,
	.guard_ns = TIMEOUT,
	.backoff_after = 1,
	.backoff_min_ns = 4000000,
	.backoff_max_ns = 100000000,
	.probes_per_second = 1000,
	.probe_burst = 10,
	.improve = 80};

static void print_seeds(void)
{
	print_message("seeds %llu..%llu\n", (unsigned long long)first_seed,
		(unsigned long long)(first_seed + seeds - 1));
}

static void budget_is_a_token_bucket(void **state)
{
	struct hp3_probe_budget b = {0};

	assert_int_equal(hp3_probe_budget_take(&b, &params, 1, 8, T0), 8);
	assert_int_equal(hp3_probe_budget_take(&b, &params, 3, 8, T0), 0); /* 2 left */
	assert_int_equal(hp3_probe_budget_take(&b, &params, 2, 8, T0), 2);
	assert_int_equal(hp3_probe_budget_take(&b, &params, 1, 1, T0 + 999999), 0);
	assert_int_equal(hp3_probe_budget_take(&b, &params, 1, 1, T0 + 1000000), 1);
	assert_int_equal(hp3_probe_budget_take(&b, &params, 1, 99, T0 + 1000000000), 10);
}

static void a_round_keeps_to_the_budget(void **state)
{
	static const uint16_t ports[] = {11, 12, 13, 14, 15, 16, 17};
	struct hp3_round_ask ask = {.port = 1, .candidates = ports, .n = 7, .rtt_ns = 1000};
	struct hp3_round_params p = params;
	struct hp3_probe_budget b = {0};
	struct hp3_round r;

	assert_int_equal(hp3_round_start(&r, &p, &b, &ask, T0), 0);
	assert_int_equal(r.n, 8);
	assert_int_equal(hp3_round_start(&r, &p, &b, &ask, T0), 0);
	assert_int_equal(r.n, 2); /* the port in use and the most wanted candidate */
	assert_int_equal(r.probe[1].port, 11);
	assert_int_equal(hp3_round_start(&r, &p, &b, &ask, T0 + 1000000), -EAGAIN);
	p.probes_per_second = 0;
	assert_int_equal(hp3_round_start(&r, &p, &b, &ask, T0 + 1000000000), -EAGAIN);
}

/* In any stretch of time: no more than the burst plus the rate times its length. */
static void rounds_never_exceed_the_budget(void **state)
{
	enum { TAKES = 400 };

	print_seeds();
	for (unsigned s = 0; s < seeds; s++) {
		uint64_t rng = first_seed + s, now = hp3_random(&rng) >> 8, used = 0;
		struct hp3_round_params p = {.timeout_ns = 1,
			.probes_per_second = 1 + hp3_random_below(&rng, 100000),
			.probe_burst = (uint16_t)(2 + hp3_random_below(&rng, 100)),
			.improve = 80};
		uint32_t interval = 1000000000u / p.probes_per_second, got[TAKES];
		struct hp3_probe_budget b = {0};
		uint64_t at[TAKES];

		for (int i = 0; i < TAKES; i++) {
			static const uint16_t ports[] = {11, 12, 13, 14, 15, 16, 17};
			struct hp3_round_ask ask = {
				.port = 1, .candidates = ports, .n = 1 + hp3_random_below(&rng, 7)};
			struct hp3_round r = {0};

			now += hp3_random_below(&rng, hp3_random(&rng) & 1 ? 20 * interval / 4 : 2);
			at[i] = now;
			got[i] = hp3_round_start(&r, &p, &b, &ask, now) == 0 ? r.n : 0;
			assert_true(got[i] == 0 || (got[i] >= 2 && got[i] <= ask.n + 1));
			used += got[i];
			for (uint64_t k = 0, sum = used; k <= (uint64_t)i; sum -= got[k++])
				assert_true(sum <= p.probe_burst + (at[i] - at[k]) *
									   p.probes_per_second /
									   1000000000);
		}
		/* and it is not just never granted */
		assert_true(used * 2 >= p.probe_burst);
	}
}

#define UNIT 32768u /* ns; the grain of a wait */

static uint64_t wait_of(
	struct hp3_backoff *b, const struct hp3_round_params *p, uint32_t random, uint64_t now)
{
	uint64_t wait = 0;

	hp3_backoff_search(b, p, false, 0, random, now);
	while (!hp3_backoff_ready(b, now + wait))
		wait += UNIT / 8;
	return wait;
}

static void searches_become_rare(void **state)
{
	static const uint64_t waits[] = {4, 8, 16, 32, 64, 100, 100, 100};
	struct hp3_backoff b = {0};
	uint64_t now = T0, wait;

	assert_true(hp3_backoff_ready(&b, now));
	assert_int_equal(hp3_backoff_doubt(&b, &params, false), 0);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		wait = wait_of(&b, &params, 0, now);
		assert_in_range(wait, waits[i] * 1000000, waits[i] * 1000000 + 2 * UNIT);
		assert_int_equal(hp3_backoff_doubt(&b, &params, false), i + 1);
		now += 200000000;
	}
	for (int i = 0; i < 100; i++) /* stays at the longest */
		wait = wait_of(&b, &params, UINT32_MAX, now);
	assert_in_range(
		wait, 25000000, 25000000 + 2 * UNIT); /* less what was drawn: three quarters */
}

/* The first ones follow one another, as soon as the caller says. */
static void a_few_searches_may_follow_one_another(void **state)
{
	struct hp3_round_params p = params;
	struct hp3_backoff b = {0};

	p.backoff_after = 3;
	for (unsigned i = 0; i < 2; i++) {
		assert_in_range(wait_of(&b, &p, 0, T0), 0, 2 * UNIT);
		assert_int_equal(hp3_backoff_doubt(&b, &p, false), 0);
	}
	assert_in_range(wait_of(&b, &p, 0, T0), 4000000, 4000000 + 2 * UNIT);
	assert_int_equal(hp3_backoff_doubt(&b, &p, false), 1);
	b = (struct hp3_backoff){0};
	hp3_backoff_search(&b, &p, false, 7000000, 0, T0);
	assert_false(hp3_backoff_ready(&b, T0 + 6999999));
	assert_true(hp3_backoff_ready(&b, T0 + 7000000 + 2 * UNIT));
}

/* Only who did without a search for long begins anew: the shortest wait is 4 ms, times 32. */
static void searches_are_forgotten(void **state)
{
	struct hp3_backoff b = {0};
	uint64_t end = T0 + 8000000;

	wait_of(&b, &params, 0, T0);
	wait_of(&b, &params, 0, T0);
	hp3_backoff_age(&b, &params, T0 + 1000000);
	assert_false(hp3_backoff_ready(&b, T0 + 1000000));
	hp3_backoff_age(&b, &params, end + 32 * 8000000ull - 3 * UNIT);
	assert_int_equal(hp3_backoff_doubt(&b, &params, false), 2);
	hp3_backoff_age(&b, &params, end + 32 * 8000000ull + 3 * UNIT);
	assert_int_equal(hp3_backoff_doubt(&b, &params, false), 0);
}

/* Round trips grow for reasons of hosts, too: they make all searches wait, but doubt their likes.
 */
static void what_was_slow_casts_no_doubt_on_marks(void **state)
{
	struct hp3_backoff b = {0};
	uint64_t wait = 0;

	for (unsigned i = 0; i < 10; i++)
		hp3_backoff_search(&b, &params, true, 0, 0, T0);
	assert_int_equal(hp3_backoff_doubt(&b, &params, false), 0);
	assert_int_equal(hp3_backoff_doubt(&b, &params, true), 7);
	while (!hp3_backoff_ready(&b, T0 + wait))
		wait += UNIT / 8;
	assert_in_range(wait, 100000000, 100000000 + 2 * UNIT);
	hp3_backoff_search(&b, &params, false, 0, 0, T0);
	assert_int_equal(hp3_backoff_doubt(&b, &params, false), 1);
	assert_int_equal(hp3_backoff_doubt(&b, &params, true), 8);
}

/* Waits are counted modulo 2^24 units: what is over is forgotten in time, whenever that is. */
static void waits_end_for_good(void **state)
{
	const uint64_t span = (uint64_t)UNIT << 24;

	for (uint64_t start = 1; start < 3 * span; start += span / 7) {
		struct hp3_backoff b = {0};
		uint64_t now = start;

		hp3_backoff_search(&b, &params, false, 200000000000, 0, now);
		assert_false(hp3_backoff_ready(&b, now));
		assert_false(hp3_backoff_ready(&b, now + 199999999999));
		assert_true(hp3_backoff_ready(&b, now + 200000000000 + 2 * UNIT));
		for (unsigned i = 0; i < 40; i++) { /* three rounds of the counter */
			hp3_backoff_age(&b, &params, now);
			now += 60000000000;
			assert_true(i < 3 || hp3_backoff_ready(&b, now));
		}
	}
}

static void a_wait_has_an_end(void **state)
{
	struct hp3_backoff b = {0};

	hp3_backoff_search(&b, &params, false, UINT64_MAX / 2, 0, T0);
	assert_false(hp3_backoff_ready(&b, T0 + 270000000000));
	assert_true(hp3_backoff_ready(&b, T0 + 280000000000));
}

/* A settled peer round: who answered (bit 0: the port in use, bit 1: the candidate). */
static struct hp3_round settled(uint16_t port, unsigned answers, uint64_t at)
{
	const uint16_t other = 99;
	struct hp3_round_ask ask = {.port = port, .candidates = &other, .n = 1, .rtt_ns = 1000};
	struct hp3_probe_budget budget = {0};
	struct hp3_round r;

	assert_int_equal(hp3_round_start(&r, &params, &budget, &ask, at), 0);
	hp3_round_send(&r, &params, at);
	hp3_round_send(&r, &params, at);
	if (answers & 2)
		hp3_round_reply(&r, &params, hp3_round_probe_id(&r, 1), false, at + 700);
	if (answers & 1)
		hp3_round_reply(&r, &params, hp3_round_probe_id(&r, 0), false, at + 900);
	hp3_round_tick(&r, &params, at + TIMEOUT);
	assert_true(hp3_round_settled(&r));
	return r;
}

static bool dead_after(struct hp3_liveness *l, uint16_t port, unsigned answers, uint64_t at)
{
	struct hp3_round r = settled(port, answers, at);

	hp3_liveness_round(l, &r);
	return hp3_liveness_dead(l, port);
}

static void rule_13_dead_after_three_losses_while_others_answer(void **state)
{
	struct hp3_liveness l = {0};

	assert_false(dead_after(&l, 1, 2, T0));
	assert_false(dead_after(&l, 1, 2, T0 + TIMEOUT));
	assert_false(dead_after(&l, 1, 3, T0 + 2 * TIMEOUT)); /* it answers: alive */
	assert_false(dead_after(&l, 1, 2, T0 + 3 * TIMEOUT));
	assert_false(dead_after(&l, 1, 0, T0 + 4 * TIMEOUT)); /* nobody answers: says nothing */
	assert_false(dead_after(&l, 1, 2, T0 + 5 * TIMEOUT));
	assert_true(dead_after(&l, 1, 2, T0 + 6 * TIMEOUT));
	assert_false(hp3_liveness_dead(&l, 2)); /* the port, not another */
}

static void rule_13_losses_of_one_window_are_one(void **state)
{
	struct hp3_liveness l = {0};

	for (uint64_t at = 0; at < 3 * TIMEOUT; at += TIMEOUT / 4)
		assert_int_equal(dead_after(&l, 1, 2, T0 + at), at >= 2 * TIMEOUT);
	assert_false(dead_after(&l, 2, 2, T0 + 4 * TIMEOUT)); /* another port starts anew */
	assert_false(dead_after(&l, 2, 2, T0 + 5 * TIMEOUT));
	assert_true(dead_after(&l, 2, 2, T0 + 6 * TIMEOUT));
}

static void rule_13_a_late_answer_is_an_answer(void **state)
{
	struct hp3_liveness l = {0};
	struct hp3_round r;

	dead_after(&l, 1, 2, T0);
	dead_after(&l, 1, 2, T0 + TIMEOUT);
	r = settled(1, 2, T0 + 2 * TIMEOUT);
	hp3_round_reply(&r, &params, hp3_round_probe_id(&r, 0), false, T0 + 4 * TIMEOUT);
	hp3_liveness_round(&l, &r);
	assert_false(dead_after(&l, 1, 2, T0 + 5 * TIMEOUT));
}

static void check_invariants(
	const struct hp3_round *r, const struct hp3_round_params *p, uint32_t smoothed)
{
	const struct hp3_probe *in_use = &r->probe[0], *w = &r->probe[r->winner];
	bool peer = r->kind == HP3_PROBE_PEER;
	uint32_t open = 0;

	for (uint32_t i = 0; i < r->n; i++)
		open += r->probe[i].state == HP3_PROBE_OPEN;
	assert_true(peer || open <= 1);
	if (r->outcome != HP3_ROUND_WINNER)
		return;
	assert_true(w->port != r->port);
	assert_int_equal(w->state, HP3_PROBE_ANSWERED);
	assert_false(w->ce);
	if (peer && w->rtt_ns * 100ull <= (uint64_t)smoothed * p->improve)
		return;
	/* then by what the port in use did in this round */
	assert_true(peer || in_use->state == HP3_PROBE_ANSWERED);
	if (in_use->state == HP3_PROBE_ANSWERED)
		assert_true(w->rtt_ns * 100ull <= (uint64_t)in_use->rtt_ns * p->improve);
	else
		assert_true(smoothed == 0 && in_use->state != HP3_PROBE_OPEN);
}

/* Random replies, lost, late, forged and repeated ones among them. Returns the outcome. */
static enum hp3_round_outcome random_round(uint64_t *rng)
{
	struct hp3_round_params p = {.timeout_ns = 1000 + hp3_random_below(rng, 1000000),
		.probes_per_second = 1000,
		.probe_burst = 8,
		.improve = (uint16_t)(1 + hp3_random_below(rng, 100))};
	uint16_t ports[7] = {0};
	uint32_t smoothed = hp3_random_below(rng, 4) == 0 ? 0 : hp3_random_below(rng, p.timeout_ns);
	struct hp3_round_ask ask = {.kind = (enum hp3_probe_kind)hp3_random_below(rng, 2),
		.port = 1,
		.candidates = ports,
		.n = 1 + hp3_random_below(rng, 7),
		.rtt_ns = smoothed,
		.nonce = (uint32_t)hp3_random(rng),
		.drained = true};
	uint64_t now = hp3_random(rng) >> 8, start = now;
	enum hp3_round_outcome ended = HP3_ROUND_PENDING;
	struct hp3_probe_budget b = {0};
	struct hp3_round r;
	uint8_t winner = 0;

	for (uint32_t i = 0; i < ask.n; i++)
		ports[i] = (uint16_t)(10 + i);
	assert_int_equal(hp3_round_start(&r, &p, &b, &ask, now), 0);
	while (!hp3_round_settled(&r)) {
		uint32_t id = hp3_round_probe_id(&r, hp3_random_below(rng, HP3_ROUND_PROBES));

		assert_true(now - start <= 9ull * p.timeout_ns); /* every round ends */
		switch (hp3_random_below(rng, 16)) {
		case 0:
			if (hp3_random_below(rng, 8) == 0)
				hp3_round_cancel(&r);
			break;
		case 1:
			hp3_round_tick(&r, &p, now);
			break;
		case 2:
		case 3:
			if (hp3_random_below(rng, 8) == 0)
				id ^= 8u << hp3_random_below(rng, 29);
			hp3_round_reply(&r, &p, id, hp3_random_below(rng, 3) == 0, now);
			break;
		case 4:
		case 5:
			now += hp3_random_below(rng, p.timeout_ns / 2);
			break;
		default:
			hp3_round_send(&r, &p, now);
		}
		check_invariants(&r, &p, smoothed);
		if (ended == HP3_ROUND_PENDING) {
			ended = (enum hp3_round_outcome)r.outcome;
			winner = r.winner;
		}
		assert_int_equal(r.outcome, ended); /* an outcome stays */
		assert_int_equal(r.winner, winner);
	}
	return ended;
}

static void random_rounds_keep_the_invariants(void **state)
{
	uint32_t seen[HP3_ROUND_CANCELLED + 1] = {0};

	print_seeds();
	for (unsigned s = 0; s < seeds; s++) {
		uint64_t rng = first_seed + s;

		for (int i = 0; i < 2000; i++)
			seen[random_round(&rng)]++;
	}
	for (int o = HP3_ROUND_WINNER; o <= HP3_ROUND_CANCELLED; o++) {
		print_message(
			"%s %u\n", hp3_round_outcome_name((enum hp3_round_outcome)o), seen[o]);
		assert_true(seen[o] > 50 * seeds);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(budget_is_a_token_bucket),
		cmocka_unit_test(a_round_keeps_to_the_budget),
		cmocka_unit_test(rounds_never_exceed_the_budget),
		cmocka_unit_test(searches_become_rare),
		cmocka_unit_test(a_few_searches_may_follow_one_another),
		cmocka_unit_test(searches_are_forgotten),
		cmocka_unit_test(what_was_slow_casts_no_doubt_on_marks),
		cmocka_unit_test(waits_end_for_good),
		cmocka_unit_test(a_wait_has_an_end),
		cmocka_unit_test(rule_13_dead_after_three_losses_while_others_answer),
		cmocka_unit_test(rule_13_losses_of_one_window_are_one),
		cmocka_unit_test(rule_13_a_late_answer_is_an_answer),
		cmocka_unit_test(random_rounds_keep_the_invariants),
	};

	if (argc > 1)
		seeds = (unsigned)strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
