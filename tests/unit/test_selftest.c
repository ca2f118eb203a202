/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do two ports share a path? Tested with synthetic fabrics: varying queues, noise of the hosts,
 * marks above a threshold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "ppp/selftest.h"

#define SEED 0x5e1f7e57u

struct fabric {
	uint64_t rng;
	uint32_t base, queue, noise; /* ns: base RTT, range of the queueing, range of host noise */
	uint32_t mark; /* queueing from which packets are marked */
};

static void probe(struct fabric *f, uint32_t queued, struct hp3_selftest_sample *s, unsigned i)
{
	s->rtt[i] = f->base + queued + (f->noise ? hp3_random_below(&f->rng, f->noise) : 0);
	s->mark[i] = queued > f->mark;
}

/* Back to back: the queue of a shared path is the same for both but for a little. */
static void measure(struct hp3_selftest *t, struct fabric *f, bool shared, unsigned n)
{
	hp3_selftest_init(t, 50);
	for (unsigned i = 0; i < n; i++) {
		struct hp3_selftest_sample s;
		uint32_t a = f->queue ? hp3_random_below(&f->rng, f->queue) : 0;
		uint32_t b = f->queue ? hp3_random_below(&f->rng, f->queue) : 0;

		probe(f, a, &s, 0);
		probe(f, shared ? a : b, &s, 1);
		hp3_selftest_add(&t->pair, &s);
		probe(f, b, &s, 0);
		probe(f, b, &s, 1);
		hp3_selftest_add(&t->control, &s);
	}
}

static enum hp3_selftest_verdict verdict(struct fabric f, bool shared, unsigned n)
{
	struct hp3_selftest t;

	measure(&t, &f, shared, n);
	return (enum hp3_selftest_verdict)hp3_selftest_report(&t).verdict;
}

static const struct fabric busy = {
	.base = 10000, .queue = 40000, .noise = 5000, .mark = UINT32_MAX};

static void tells_same_from_different(void **state)
{
	unsigned right[2] = {0}, wrong[2] = {0};

	for (unsigned run = 0; run < 500; run++) {
		struct fabric f = busy;

		f.rng = SEED + run;
		for (unsigned shared = 0; shared < 2; shared++) {
			enum hp3_selftest_verdict v = verdict(f, shared, HP3_SELFTEST_SAMPLES);
			enum hp3_selftest_verdict truth =
				shared ? HP3_SELFTEST_SAME : HP3_SELFTEST_DIFFERENT;

			right[shared] += v == truth;
			wrong[shared] += v != truth && v != HP3_SELFTEST_UNKNOWN;
		}
	}
	assert_int_equal(wrong[0] + wrong[1], 0);
	assert_true(right[1] == 500 && right[0] > 480);
}

/* The figures themselves: perfect agreement, perfect disagreement. */
static void correlation_in_permille(void **state)
{
	struct hp3_selftest t;
	struct hp3_selftest_report r;

	hp3_selftest_init(&t, 0);
	for (uint32_t i = 1; i <= 30; i++) {
		hp3_selftest_add(&t.pair, &(struct hp3_selftest_sample){{i, 1000 - i}, {0, 0}});
		hp3_selftest_add(&t.control, &(struct hp3_selftest_sample){{i, i * i}, {0, 0}});
	}
	r = hp3_selftest_report(&t);
	assert_int_equal(r.correlation, -1000);
	assert_int_equal(r.control, 1000);
	assert_int_equal(r.samples, 30);
	assert_int_equal(r.control_samples, 30);
	assert_int_equal(r.informative, 1000);
	assert_int_equal(r.verdict, HP3_SELFTEST_DIFFERENT);
	/* Old samples make room: now they agree. */
	for (uint32_t i = 1; i <= HP3_SELFTEST_SAMPLES; i++)
		hp3_selftest_add(&t.pair, &(struct hp3_selftest_sample){{i, i}, {0, 0}});
	r = hp3_selftest_report(&t);
	assert_int_equal(r.correlation, 1000);
	assert_int_equal(r.samples, HP3_SELFTEST_SAMPLES);
	assert_int_equal(r.verdict, HP3_SELFTEST_SAME);
}

/* Marks alone tell it, where round trips are too coarse. */
static void marks_count_too(void **state)
{
	for (unsigned run = 0; run < 100; run++) {
		struct fabric f = {.rng = SEED + run, .base = 10000, .queue = 40, .mark = 20};

		assert_int_equal(verdict(f, true, HP3_SELFTEST_SAMPLES), HP3_SELFTEST_SAME);
		assert_int_not_equal(verdict(f, false, HP3_SELFTEST_SAMPLES), HP3_SELFTEST_SAME);
	}
}

/* Idle network: nothing varies. Noisy hosts: everything varies by itself. Neither says anything. */
static void nothing_to_see_is_unknown(void **state)
{
	for (unsigned run = 0; run < 200; run++) {
		struct fabric idle = {.rng = SEED + run, .base = 10000, .noise = 40, .mark = 1};
		struct fabric noisy = {.rng = SEED + run,
			.base = 10000,
			.noise = 400000,
			.queue = 100,
			.mark = 200};

		for (unsigned shared = 0; shared < 2; shared++) {
			assert_int_equal(verdict(idle, shared, 64), HP3_SELFTEST_UNKNOWN);
			assert_int_equal(verdict(noisy, shared, 64), HP3_SELFTEST_UNKNOWN);
		}
	}
}

static void too_few_samples_are_unknown(void **state)
{
	struct fabric f = busy;

	f.rng = SEED;
	for (unsigned n = 0; n < HP3_SELFTEST_MIN; n++)
		assert_int_equal(verdict(f, true, n), HP3_SELFTEST_UNKNOWN);
	assert_int_equal(verdict(f, true, HP3_SELFTEST_MIN), HP3_SELFTEST_SAME);
}

/* One probe in 20 is late by a hundred times the base RTT (a scheduler hiccup): ranks bear it. */
static void outliers_do_not_decide(void **state)
{
	unsigned same = 0;

	for (unsigned run = 0; run < 100; run++) {
		struct fabric f = busy;
		struct hp3_selftest t;

		f.rng = SEED + run;
		measure(&t, &f, true, HP3_SELFTEST_SAMPLES);
		for (unsigned i = 0; i < HP3_SELFTEST_SAMPLES; i += 20) {
			t.pair.sample[i].rtt[0] += 1000000;
			t.control.sample[i].rtt[1] += 1000000;
		}
		same += hp3_selftest_report(&t).verdict == HP3_SELFTEST_SAME;
	}
	assert_true(same >= 98);
}

/*
 * Rule 18: one port with two QPNs. Four paths; where switches hash the QPN some draws differ, else
 * all are the same.
 */
static void rule_18_sees_that_switches_hash_the_qpn(void **state)
{
	for (unsigned run = 0; run < 40; run++) {
		for (unsigned hashed = 0; hashed < 2; hashed++) {
			struct hp3_selftest_tally tally = {0};
			struct fabric f = busy;

			f.rng = SEED + run;
			for (unsigned qpn = 0; qpn < 20; qpn++) {
				bool shared = !hashed || hp3_random_below(&f.rng, 4) == 0;

				f.rng++;
				hp3_tally_add(&tally, verdict(f, shared, HP3_SELFTEST_SAMPLES));
			}
			assert_int_equal(hp3_tally_verdict(&tally),
				hashed ? HP3_TALLY_SPREAD : HP3_TALLY_NO_SPREAD);
		}
	}
}

static void tally_says_nothing_on_little(void **state)
{
	struct hp3_selftest_tally tally = {0};

	for (unsigned i = 0; i < 100; i++)
		hp3_tally_add(&tally, HP3_SELFTEST_UNKNOWN);
	for (unsigned i = 0; i < HP3_TALLY_SAME; i++) {
		assert_int_equal(hp3_tally_verdict(&tally), HP3_TALLY_UNKNOWN);
		hp3_tally_add(&tally, HP3_SELFTEST_SAME);
	}
	assert_int_equal(hp3_tally_verdict(&tally), HP3_TALLY_NO_SPREAD);
	hp3_tally_add(&tally, HP3_SELFTEST_DIFFERENT);
	assert_int_equal(hp3_tally_verdict(&tally), HP3_TALLY_UNKNOWN);
	hp3_tally_add(&tally, HP3_SELFTEST_DIFFERENT);
	assert_int_equal(hp3_tally_verdict(&tally), HP3_TALLY_SPREAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_same_from_different),
		cmocka_unit_test(correlation_in_permille),
		cmocka_unit_test(marks_count_too),
		cmocka_unit_test(nothing_to_see_is_unknown),
		cmocka_unit_test(too_few_samples_are_unknown),
		cmocka_unit_test(outliers_do_not_decide),
		cmocka_unit_test(rule_18_sees_that_switches_hash_the_qpn),
		cmocka_unit_test(tally_says_nothing_on_little),
	};

	print_message("seed %#x\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
