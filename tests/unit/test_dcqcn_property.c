/* SPDX-License-Identifier: BSD-3-Clause */
/* The reaction point: random histories against an independent stepping implementation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "dcqcn_reference.h"
#include "tests/property/epochs.h"

#define US   UINT64_C(1000)
#define MBPS UINT64_C(1000000)

static uint64_t seed = 0x5eed0003;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static void same(const struct hp3_dcqcn *a, const struct hp3_dcqcn *b)
{
	assert_int_equal(a->rate, b->rate);
	assert_int_equal(a->target, b->target);
	assert_int_equal(a->inc_at, b->inc_at);
	assert_int_equal(a->reduce_at, b->reduce_at);
	assert_int_equal(a->alpha_at, b->alpha_at);
	assert_int_equal(a->alpha, b->alpha);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->time_stage, b->time_stage);
	assert_int_equal(a->byte_stage, b->byte_stage);
	assert_int_equal(a->flags, b->flags);
}

/* Lazily advanced == stepped, to the bit, through all phases and far into the future. */
static void a_long_silence_equals_stepping(void **state)
{
	for (unsigned i = 0; i < hp3_dcqcn_presets_n; i++) {
		struct hp3_dcqcn_params p = sound_preset(hp3_dcqcn_presets[i].name);
		struct hp3_dcqcn stepped, lazy, start;

		hp3_dcqcn_init(&start, &p);
		for (uint64_t t = 0; t < 10; t++)
			hp3_dcqcn_cnp(&start, &p, t * 60 * US);
		stepped = start;
		lazy = start;
		for (uint64_t t = 602; t < 2000000; t += 7) {
			hp3_dcqcn_advance(&stepped, &p, t * US);
			if (t % 1001 != 0)
				continue;
			lazy = start;
			hp3_dcqcn_advance(&lazy, &p, t * US);
			same(&lazy, &stepped);
		}
		assert_true(stepped.rate > start.rate);
		/* a century with timers of microseconds: back at line rate, alpha gone, and soon */
		hp3_dcqcn_advance(&lazy, &p, UINT64_C(3155760000000000000));
		assert_int_equal(lazy.rate, p.rpg_max_rate * MBPS);
		assert_int_equal(hp3_dcqcn_alpha(&lazy, &p, UINT64_C(3155760000000000000)), 0);
		hp3_dcqcn_cnp(&lazy, &p, UINT64_C(3155760000000000000));
		assert_int_equal(lazy.rate, p.rpg_max_rate * MBPS);
	}
}

static struct hp3_dcqcn_params any_params(void)
{
	struct hp3_dcqcn_params p = sound_preset(hp3_dcqcn_presets[rnd(hp3_dcqcn_presets_n)].name);

	if (rnd(2)) {
		p.rpg_max_rate = 1000 + (uint32_t)rnd(399001);
		p.rpg_min_rate = 1 + (uint32_t)rnd(1000);
		p.rpg_ai_rate = (uint32_t)rnd(1000);
		p.rpg_hai_rate = (uint32_t)rnd(1000);
		p.rpg_threshold = 1 + (uint32_t)rnd(31);
		p.rpg_time_reset = 1 + (uint32_t)rnd(400);
		p.rpg_byte_reset = rnd(2) ? 0 : 1000 + (uint32_t)rnd(1000000);
		p.dce_tcp_g = (uint32_t)rnd(1024);
		p.dce_tcp_rtt = 1 + (uint32_t)rnd(100);
		p.rate_reduce_monitor_period = 1 + (uint32_t)rnd(100);
		p.initial_alpha_value = 1 + (uint32_t)rnd(1024);
		p.alpha_per_cnp = (uint32_t)rnd(2);
		p.clamp_tgt_rate = (uint32_t)rnd(2);
		p.rpg_gd = 10 + (uint32_t)rnd(2);
		p.rpg_min_dec_fac = (uint32_t)rnd(101);
		p.raise = (uint32_t)rnd(101);
		p.rate_to_set_on_first_cnp = rnd(4) ? 0 : p.rpg_min_rate;
		assert_null(hp3_dcqcn_check(&p));
	}
	return p;
}

static void invariants(const struct hp3_dcqcn *rp, const struct hp3_dcqcn_params *p, uint64_t now)
{
	assert_true(rp->rate >= p->rpg_min_rate * MBPS);
	assert_true(rp->rate <= rp->target);
	assert_true(rp->target <= p->rpg_max_rate * MBPS);
	assert_true(hp3_dcqcn_alpha(rp, p, now) <= HP3_ALPHA_ONE);
}

static void close_to(double is, double wanted, double tolerance, const char *what, uint64_t round)
{
	double diff = is > wanted ? is - wanted : wanted - is;

	if (diff > tolerance)
		fail_msg("round %llu: %s %.9g instead of %.9g", (unsigned long long)round, what, is,
			wanted);
}

/*
 * Random parameters, CNPs and bytes: the reference and the fixed point agree to 10^-5 and the two
 * ways of asking (often, never) give the same state.
 */
static void random_histories_agree_with_the_reference(void **state)
{
	print_message("seed %#llx\n", (unsigned long long)seed);
	for (uint64_t round = 0; round < 300; round++) {
		struct hp3_dcqcn_params p = any_params();
		uint64_t wraps = round, before = rnd(1000000);
		uint64_t gap = 1 + rnd(round & 1 ? 30000 : 600000);
		uint64_t now = epoch((uint32_t)(round / 2), &wraps, 100 * gap) + before / 100;
		struct hp3_dcqcn rp, often;
		struct reference r;

		hp3_dcqcn_init(&rp, &p);
		often = rp;
		reference_init(&r, &p);
		for (int i = 0; i < 400; i++) {
			uint64_t next = now + rnd(gap);

			for (uint64_t t = now; t < next; t += 1 + rnd(gap / 2 + 1))
				hp3_dcqcn_advance(&often, &p, t);
			now = next;
			if (rnd(4) == 0) {
				hp3_dcqcn_cnp(&rp, &p, now);
				hp3_dcqcn_cnp(&often, &p, now);
				reference_cnp(&r, now);
			} else {
				uint32_t bytes = (uint32_t)rnd(rnd(10) ? 4200 : 65536);

				hp3_dcqcn_sent(&rp, &p, bytes, now);
				hp3_dcqcn_sent(&often, &p, bytes, now);
				reference_sent(&r, bytes, now);
			}
			invariants(&rp, &p, now);
			same(&rp, &often);
			close_to((double)rp.rate / 1e6, r.rate, r.rate * 1e-5, "rate", round);
			close_to((double)rp.target / 1e6, r.target, r.target * 1e-5, "target",
				round);
			close_to((double)hp3_dcqcn_alpha(&rp, &p, now) / HP3_ALPHA_ONE, r.alpha,
				1e-6, "alpha", round);
		}
	}
}

/* Fast recovery: the state before the suspension, with what the timers had left. */
static void rollback_restores_exactly(void **state)
{
	print_message("seed %#llx\n", (unsigned long long)seed);
	for (int round = 0; round < 1000; round++) {
		struct hp3_dcqcn_params p = any_params();
		struct hp3_dcqcn rp, twin;
		struct hp3_dcqcn_snapshot s;
		uint64_t now = 0, pause = rnd(10000000);

		hp3_dcqcn_init(&rp, &p);
		for (int i = 0; i < 20; i++) {
			now += rnd(200000);
			if (rnd(3) == 0)
				hp3_dcqcn_cnp(&rp, &p, now);
			else
				hp3_dcqcn_sent(&rp, &p, (uint32_t)rnd(100000), now);
		}
		hp3_dcqcn_take(&s, &rp, &p, now);
		twin = rp;
		/* CNPs during the drain, and time */
		for (int i = 0; i < 5; i++)
			hp3_dcqcn_cnp(&rp, &p, now + pause / 5 * (uint64_t)i);
		hp3_dcqcn_advance(&rp, &p, now + pause);
		hp3_dcqcn_rollback(&rp, &s, now);
		same(&rp, &twin);
		/* resumed later it goes on as the twin that was never suspended */
		hp3_dcqcn_rollback(&rp, &s, now + pause);
		for (int i = 0; i < 10; i++) {
			now += rnd(300000);
			if (rnd(3) == 0) {
				hp3_dcqcn_cnp(&rp, &p, now + pause);
				hp3_dcqcn_cnp(&twin, &p, now);
			}
			hp3_dcqcn_sent(&rp, &p, 4096, now + pause);
			hp3_dcqcn_sent(&twin, &p, 4096, now);
			assert_int_equal(rp.rate, twin.rate);
			assert_int_equal(rp.target, twin.target);
			assert_int_equal(hp3_dcqcn_alpha(&rp, &p, now + pause),
				hp3_dcqcn_alpha(&twin, &p, now));
		}
	}
}

/* Random raises keep the bounds and never lower the rate. */
static void raises_stay_within_bounds(void **state)
{
	print_message("seed %#llx\n", (unsigned long long)seed);
	for (int round = 0; round < 1000; round++) {
		struct hp3_dcqcn_params p = any_params();
		struct hp3_dcqcn_snapshot s;
		struct hp3_dcqcn rp;
		uint64_t now = 0;

		hp3_dcqcn_init(&rp, &p);
		for (int i = 0; i < 20; i++) {
			now += rnd(200000);
			hp3_dcqcn_cnp(&rp, &p, now);
		}
		hp3_dcqcn_take(&s, &rp, &p, now);
		hp3_dcqcn_raise(&rp, &p, &s, now + 50 * US);
		invariants(&rp, &p, now + 50 * US);
		assert_true(rp.rate >= s.rp.rate);
		assert_int_equal(rp.target, p.rpg_max_rate * MBPS);
	}
}

/* gcc and clang, any optimisation: the same bytes. The sum is that of a fixed history. */
static void the_same_bytes_from_every_compiler(void **state)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325), now = 0;
	struct hp3_dcqcn_params p = sound_preset("connectx");
	struct hp3_dcqcn rp;

	seed = 0x5eed0004;
	hp3_dcqcn_init(&rp, &p);
	for (int i = 0; i < 20000; i++) {
		now += rnd(40000);
		if (rnd(20) == 0)
			hp3_dcqcn_cnp(&rp, &p, now);
		hp3_dcqcn_sent(&rp, &p, (uint32_t)rnd(4200), now);
		sum = (sum ^ rp.rate ^ rp.target << 20 ^ hp3_dcqcn_alpha(&rp, &p, now)) *
		      UINT64_C(0x100000001b3);
	}
	assert_int_equal(sum, UINT64_C(0x64d114fd2c067236));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_silence_equals_stepping),
		cmocka_unit_test(random_histories_agree_with_the_reference),
		cmocka_unit_test(rollback_restores_exactly),
		cmocka_unit_test(raises_stay_within_bounds),
		cmocka_unit_test(the_same_bytes_from_every_compiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
