/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitor against a plain reference that closes every cycle one by one, in wide integers, over
 * random events. Usage: test_monitor_property [SEEDS [FIRST_SEED]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "monitor_state.h"
#include "base/hash.h"

#define EVENTS 20000u
#define HEARD  64u

static unsigned seeds = 40;
static uint64_t first_seed = 1;

struct reference {
	uint64_t end, sent_at, base, last_rtt;
	uint32_t psn, replies, marked;
	bool timing, fresh, guard, cnp, slow;
	uint8_t heard[HEARD]; /* cycles that were not silent, newest at nheard - 1, modulo HEARD */
	uint64_t nheard;
	uint64_t run, silent;
};

static void ref_close(struct reference *r, const struct hp3_monitor_params *p, uint64_t now)
{
	uint64_t len = r->base > p->cycle_ns ? r->base : p->cycle_ns;

	while (now >= r->end) {
		uint8_t cycle = 0;

		if (r->cnp)
			cycle |= HP3_CYCLE_CNP;
		if (r->marked != 0 && r->marked * 100 >= r->replies * p->ecn_fraction)
			cycle |= HP3_CYCLE_ECN;
		if (r->slow)
			cycle |= HP3_CYCLE_RTT;
		if (cycle == 0 && r->replies != 0)
			cycle = HP3_CYCLE_CLEAN;
		if (cycle != HP3_CYCLE_SILENT) {
			r->heard[r->nheard++ % HEARD] = cycle;
			r->run = cycle == HP3_CYCLE_CLEAN ? 0 : r->run + 1;
			r->silent = 0;
		} else {
			r->silent++;
		}
		r->cnp = r->slow = false;
		r->replies = r->marked = 0;
		r->end += len;
	}
}

static void ref_reply(struct reference *r, const struct hp3_monitor_params *p, uint32_t psn,
	bool marked, uint64_t now)
{
	ref_close(r, p, now);
	if (r->fresh)
		return;
	if ((r->guard || r->timing) && hp3_psn_diff(psn, r->psn) >= 0) {
		uint64_t rtt = now - r->sent_at;

		if (r->timing) {
			if (rtt == 0)
				rtt = 1;
			if (r->base == 0 || rtt < r->base)
				r->base = rtt;
			r->slow |= rtt * 100 >= r->base * p->rtt_factor;
		}
		r->timing = r->guard = false;
	} else if (r->guard) {
		return;
	}
	r->replies++;
	r->marked += marked;
}

static enum path_state ref_state(const struct reference *r, const struct hp3_monitor_params *p)
{
	if (r->nheard == 0 || r->silent != 0)
		return PATH_SILENT;
	if (r->run == 0)
		return PATH_CLEAN;
	return r->run >= p->congestion_tolerance ? PATH_SEVERE : PATH_CONGESTED;
}

/* Severe means: the last `tolerance` cycles that said anything were congested; evidence shows it.
 */
static void severe_is_evident(
	const struct hp3_monitor *m, const struct reference *r, const struct hp3_monitor_params *p)
{
	uint8_t seen[HP3_CYCLES_KEPT + 1];
	uint32_t n = hp3_monitor_evidence(m, seen);

	if (r->cnp) /* of the open cycle */
		assert_int_equal(seen[--n], HP3_CYCLE_CNP);
	while (n > 0 && seen[n - 1] == HP3_CYCLE_SILENT)
		n--;
	assert_in_range(n, p->congestion_tolerance, HP3_CYCLES_KEPT);
	for (uint32_t i = 1; i <= p->congestion_tolerance; i++) {
		assert_int_equal(seen[n - i] & ~HP3_CYCLE_CONGESTED, 0);
		assert_int_equal(seen[n - i], r->heard[(r->nheard - i) % HEARD]);
	}
}

static uint64_t pause_of(uint64_t *rng, uint32_t cycle)
{
	switch (hp3_random_below(rng, 16)) {
	case 0:
		return 0;
	case 1:
		return hp3_random_below(rng, 30 * cycle);
	case 2:
		return hp3_random_below(rng, 4) == 0 ? hp3_random_below(rng, 3000) * (uint64_t)cycle
						     : cycle;
	default:
		return hp3_random_below(rng, cycle / 2);
	}
}

static void moved(struct hp3_monitor *m, struct reference *r)
{
	hp3_monitor_moved(m);
	*r = (struct reference){.end = r->end, .fresh = true};
}

/* Returns the number of severe verdicts. */
static uint32_t one_run(uint64_t seed)
{
	uint64_t rng = seed, now = hp3_random(&rng) >> 8;
	struct hp3_monitor_params p = {.cycle_ns = 1000 + hp3_random_below(&rng, 100000),
		.congestion_tolerance = (uint8_t)(1 + hp3_random_below(&rng, HP3_TOLERANCE_MAX)),
		.ecn_fraction = (uint8_t)(1 + hp3_random_below(&rng, 100)),
		.rtt_factor = (uint16_t)(101 + hp3_random_below(&rng, 300)),
		.base_age_log2 = 63};
	struct reference r = {.end = now};
	uint32_t psn = hp3_random_below(&rng, 1u << 24), severe = 0, congestion = 0;
	struct hp3_monitor m;

	hp3_monitor_init(&m, now);
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint64_t before = r.nheard;
		bool marked, told = false;

		now += pause_of(&rng, p.cycle_ns);
		if (hp3_random_below(&rng, 300) == 0)
			congestion = hp3_random_below(&rng, 3);
		marked = hp3_random_below(&rng, 8) < congestion * 4;
		switch (hp3_random_below(&rng, 8)) {
		case 0:
		case 1:
		case 2: {
			bool ackreq = hp3_random_below(&rng, 4) == 0;

			psn = hp3_psn_add(psn, 1);
			hp3_monitor_sent(&m, psn, ackreq, now);
			if (r.fresh || (ackreq && !r.timing && !r.guard)) {
				r.guard = r.fresh;
				r.timing = ackreq;
				r.fresh = false;
				r.psn = psn;
				r.sent_at = now;
			}
			break;
		}
		case 3:
		case 4:
		case 5: {
			uint32_t ack =
				hp3_psn_add(psn, HP3_PSN_MASK + 1 - hp3_random_below(&rng, 8));

			told = hp3_monitor_reply(&m, &p, ack, marked, 1000, now);
			ref_reply(&r, &p, ack, marked, now);
			break;
		}
		case 6:
			if (congestion == 0)
				break;
			told = hp3_monitor_cnp(&m, &p, now);
			ref_close(&r, &p, now);
			if (!r.fresh && !r.guard)
				r.cnp = true;
			break;
		default:
			if (hp3_random_below(&rng, 200) == 0)
				moved(&m, &r);
			if (hp3_random_below(&rng, 20) == 0) {
				hp3_monitor_retransmit(&m);
				r.timing = false;
			}
			ref_close(&r, &p, now);
			assert_int_equal(path_state(&m, &p, now), ref_state(&r, &p));
			before = r.nheard; /* nothing is told here */
		}
		assert_true(!told || r.nheard == before + 1); /* once per cycle */
		assert_int_equal(m.base, r.base);
		if (told || (r.nheard > before && r.run >= p.congestion_tolerance)) {
			assert_true(told);
			severe_is_evident(&m, &r, &p);
			severe++;
		}
	}
	return severe;
}

static void agrees_with_the_reference(void **state)
{
	uint64_t severe = 0;

	print_message("seeds %llu..%llu\n", (unsigned long long)first_seed,
		(unsigned long long)(first_seed + seeds - 1));
	for (unsigned i = 0; i < seeds; i++)
		severe += one_run(first_seed + i);
	print_message("%llu severe verdicts\n", (unsigned long long)severe);
	assert_true(severe > 10 * seeds);
}

/* Any number of empty cycles, seen at once or one by one, changes neither estimate nor run. */
static void silent_cycles_change_nothing(void **state)
{
	uint64_t rng = first_seed;

	print_message("seed %llu\n", (unsigned long long)first_seed);
	for (unsigned i = 0; i < 1000 * seeds; i++) {
		struct hp3_monitor_params p = {.cycle_ns = 10000,
			.congestion_tolerance = 2,
			.ecn_fraction = 50,
			.rtt_factor = 150,
			.base_age_log2 = (uint8_t)(10 + hp3_random_below(&rng, 30))};
		uint64_t now = hp3_random(&rng) >> 16;
		uint64_t pause = 1 + hp3_random_below(&rng, 40) * (uint64_t)p.cycle_ns;
		struct hp3_monitor once, steps;
		struct hp3_estimates before, after;

		hp3_monitor_init(&once, now);
		for (uint32_t k = 0; k < 8; k++, now += p.cycle_ns) {
			bool marked = hp3_random_below(&rng, 2);
			uint32_t bytes = hp3_random_below(&rng, 100000);
			uint32_t rtt = hp3_random_below(&rng, 9000);

			hp3_monitor_sent(&once, k, true, now);
			hp3_monitor_reply(&once, &p, k, marked, bytes, now + rtt);
		}
		path_state(&once, &p, now);
		hp3_monitor_estimates(&once, &p, &before);
		steps = once;
		for (uint64_t t = 0; t < pause; t += p.cycle_ns / 3)
			path_state(&steps, &p, now + t);
		path_state(&steps, &p, now + pause);
		path_state(&once, &p, now + pause);
		assert_memory_equal(&once, &steps, sizeof(once));
		hp3_monitor_estimates(&once, &p, &after);
		assert_memory_equal(&before, &after, sizeof(before));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_reference),
		cmocka_unit_test(silent_cycles_change_nothing),
	};

	if (argc > 1)
		seeds = (unsigned)strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
