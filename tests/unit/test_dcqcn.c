/* SPDX-License-Identifier: BSD-3-Clause */
/* The reaction point: sequences calculated by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "dcqcn_reference.h"

#define US   UINT64_C(1000)
#define MBPS UINT64_C(1000000)

static void rate_is(const struct hp3_dcqcn *rp, double mbps)
{
	double diff = (double)hp3_dcqcn_rate(rp) / 1e6 - mbps;

	if (diff > 0.001 || diff < -0.001)
		fail_msg("rate %.6f Mb/s instead of %.6f", (double)rp->rate / 1e6, mbps);
}

static void starts_at_line_rate_and_stays_there_without_cnps(void **state)
{
	for (unsigned i = 0; i < hp3_dcqcn_presets_n; i++) {
		struct hp3_dcqcn_params p = sound_preset(hp3_dcqcn_presets[i].name);
		struct hp3_dcqcn rp;

		hp3_dcqcn_init(&rp, &p);
		assert_int_equal(hp3_dcqcn_rate(&rp), p.rpg_max_rate * MBPS);
		for (uint64_t t = 0; t < 100; t++)
			hp3_dcqcn_sent(&rp, &p, 1000000, t * 1000 * US);
		assert_int_equal(hp3_dcqcn_rate(&rp), p.rpg_max_rate * MBPS);
		assert_int_equal(hp3_dcqcn_alpha(&rp, &p, 1000 * US), 0);
	}
}

/* The paper's own walk: cut to half, five steps of fast recovery, then additive increase. */
static void paper_first_cnp_halves_and_fast_recovery_returns(void **state)
{
	static const double recovery[] = {30000, 35000, 37500, 38750, 39375};
	struct hp3_dcqcn_params p = sound_preset("paper");
	struct hp3_dcqcn rp;

	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 1000);
	rate_is(&rp, 20000);
	assert_int_equal(rp.target, 40000 * MBPS);
	hp3_dcqcn_advance(&rp, &p, 1000 + 55 * US - 1);
	rate_is(&rp, 20000);
	for (unsigned i = 0; i < 5; i++) {
		hp3_dcqcn_advance(&rp, &p, 1000 + (i + 1) * 55 * US);
		rate_is(&rp, recovery[i]);
	}
	/* the target cannot pass line rate */
	hp3_dcqcn_advance(&rp, &p, 1000 + 6 * 55 * US);
	rate_is(&rp, 39687.5);
	assert_int_equal(rp.target, 40000 * MBPS);
}

/* With alpha = 1 every CNP halves, the target follows, and additive increase raises the target. */
static void paper_two_cnps_then_additive_increase(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("paper");
	struct hp3_dcqcn rp;
	uint64_t t = 50 * US;

	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	hp3_dcqcn_cnp(&rp, &p, t);
	rate_is(&rp, 10000);
	assert_int_equal(rp.target, 20000 * MBPS);
	hp3_dcqcn_advance(&rp, &p, t + 5 * 55 * US);
	rate_is(&rp, 19687.5);
	hp3_dcqcn_advance(&rp, &p, t + 6 * 55 * US);
	assert_int_equal(rp.target, 20040 * MBPS);
	rate_is(&rp, 19863.75);
	hp3_dcqcn_advance(&rp, &p, t + 7 * 55 * US);
	assert_int_equal(rp.target, 20080 * MBPS);
	rate_is(&rp, 19971.875);
}

/* g = 1/256: one quiet period of 55 us leaves 255/256; a CNP adds 1/256 of what is missing to 1. */
static void paper_alpha_decays_by_time_and_grows_by_cnp(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("paper");
	struct hp3_dcqcn rp;
	uint32_t alpha;

	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	assert_int_equal(hp3_dcqcn_alpha(&rp, &p, 55 * US - 1), HP3_ALPHA_ONE);
	assert_int_equal(hp3_dcqcn_alpha(&rp, &p, 55 * US), HP3_ALPHA_ONE / 256 * 255);
	assert_int_equal(
		hp3_dcqcn_alpha(&rp, &p, 110 * US), (uint64_t)HP3_ALPHA_ONE * 255 * 255 / 65536);
	hp3_dcqcn_cnp(&rp, &p, 110 * US);
	alpha = hp3_dcqcn_alpha(&rp, &p, 110 * US);
	assert_in_range(alpha,
		HP3_ALPHA_ONE / 65536.0 * 255 * 255 / 256 * 255 + HP3_ALPHA_ONE / 256 - 2,
		HP3_ALPHA_ONE / 65536.0 * 255 * 255 / 256 * 255 + HP3_ALPHA_ONE / 256 + 2);
	/* the timer started over with the CNP */
	assert_int_equal(hp3_dcqcn_alpha(&rp, &p, 164 * US), alpha);
	assert_true(hp3_dcqcn_alpha(&rp, &p, 165 * US) < alpha);
}

/* ConnectX and the simulators: several CNPs in one period count once, when it ends. */
static void cnps_within_the_decrease_interval_count_once(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("conweave");
	struct hp3_dcqcn rp;

	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	rate_is(&rp, 50000);
	for (uint64_t t = 1; t <= 3; t++)
		hp3_dcqcn_cnp(&rp, &p, t * US);
	rate_is(&rp, 50000);
	hp3_dcqcn_advance(&rp, &p, 4 * US - 1);
	rate_is(&rp, 50000);
	/* alpha is 1 still: each of its periods of 1 us saw a CNP */
	hp3_dcqcn_advance(&rp, &p, 4 * US);
	rate_is(&rp, 25000);
	hp3_dcqcn_advance(&rp, &p, 8 * US);
	rate_is(&rp, 25000);
	/* the timer had not raised the rate in between: the target is the line rate still, F = 1 */
	hp3_dcqcn_advance(&rp, &p, 304 * US);
	rate_is(&rp, 62500);
}

/* clamp_tgt_rate_after_time_inc: the target follows only if the timer has raised the rate. */
static void the_target_follows_once_the_timer_has_raised_the_rate(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("hpcc");
	struct hp3_dcqcn rp;

	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	hp3_dcqcn_cnp(&rp, &p, 10 * US);
	assert_int_equal(rp.target, 100000 * MBPS);
	hp3_dcqcn_advance(&rp, &p, 310 * US);
	hp3_dcqcn_cnp(&rp, &p, 311 * US);
	assert_in_range(rp.target, 62500 * MBPS, 63000 * MBPS);
	assert_true(rp.rate < rp.target);
}

/* F = 1, time alone: fast recovery, additive, then hyper increase. */
static void the_phases_follow_one_another(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("conweave");
	struct hp3_dcqcn rp;
	uint64_t t = 400 * US;

	p.clamp_tgt_rate = 1;
	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, t - 4 * US);
	hp3_dcqcn_cnp(&rp, &p, t); /* rate near 25 Gb/s, target 50 Gb/s */
	assert_int_equal(rp.target, 50000 * MBPS);
	hp3_dcqcn_advance(&rp, &p, t + 300 * US);
	assert_int_equal(rp.target, 50000 * MBPS);
	hp3_dcqcn_advance(&rp, &p, t + 600 * US);
	assert_int_equal(rp.target, 50040 * MBPS);
	hp3_dcqcn_advance(&rp, &p, t + 900 * US);
	assert_int_equal(rp.target, 50140 * MBPS);
	hp3_dcqcn_advance(&rp, &p, t + 1200 * US);
	assert_int_equal(rp.target, 50240 * MBPS);
}

/* Hyper increase wants both counters beyond F; one of them alone stays additive. */
static void bytes_count_steps_of_their_own(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("connectx");
	struct hp3_dcqcn rp;
	uint64_t target;

	p.clamp_tgt_rate = 1;
	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	hp3_dcqcn_cnp(&rp, &p, 4 * US);
	assert_in_range(rp.target, 50000 * MBPS, 50100 * MBPS);
	hp3_dcqcn_sent(&rp, &p, 32766, 5 * US);
	assert_int_equal(rp.byte_stage, 0);
	hp3_dcqcn_sent(&rp, &p, 1, 5 * US); /* fast recovery */
	assert_int_equal(rp.byte_stage, 1);
	assert_int_equal(rp.bytes, 0);
	target = rp.target;
	hp3_dcqcn_sent(&rp, &p, 3 * 32767 + 5, 6 * US); /* three additive steps in one packet */
	assert_int_equal(rp.byte_stage, 4);
	assert_int_equal(rp.bytes, 5);
	assert_int_equal(rp.target, target + 15 * MBPS);
	hp3_dcqcn_advance(&rp, &p, 604 * US); /* two by time: additive */
	assert_int_equal(rp.time_stage, 2);
	assert_int_equal(rp.target, target + 25 * MBPS);
	hp3_dcqcn_sent(&rp, &p, 32767, 605 * US); /* both beyond F: hyper */
	assert_int_equal(rp.target, target + 75 * MBPS);
}

static void never_below_the_minimum_rate(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("hpcc");
	struct hp3_dcqcn rp;

	hp3_dcqcn_init(&rp, &p);
	for (uint64_t t = 0; t < 1000; t++)
		hp3_dcqcn_cnp(&rp, &p, t * 4 * US);
	assert_int_equal(hp3_dcqcn_rate(&rp), 1000 * MBPS);
}

static void the_first_cnp_may_set_a_rate(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("connectx");
	struct hp3_dcqcn rp;

	p.rate_to_set_on_first_cnp = 30000;
	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	rate_is(&rp, 30000);
	assert_int_equal(rp.target, 30000 * MBPS);
}

static void one_reduction_leaves_min_dec_fac(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("conweave");
	struct hp3_dcqcn rp;

	p.rpg_gd = 10; /* by alpha = 1: nothing would be left */
	p.rpg_min_dec_fac = 25;
	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	rate_is(&rp, 25000);
}

/* 50 % of what is missing to line rate, counted from before the drain; the target is line rate. */
static void after_a_switch_the_rate_is_raised(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("conweave");
	struct hp3_dcqcn_snapshot s;
	struct hp3_dcqcn rp;

	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	hp3_dcqcn_take(&s, &rp, &p, 100 * US);
	hp3_dcqcn_cnp(&rp, &p, 110 * US); /* the old path's */
	hp3_dcqcn_raise(&rp, &p, &s, 200 * US);
	rate_is(&rp, 75000);
	hp3_dcqcn_advance(&rp, &p, 499 * US);
	rate_is(&rp, 75000);
	hp3_dcqcn_advance(&rp, &p, 500 * US);
	rate_is(&rp, 87500);
	/* a CNP of the new path finds the initial alpha: back by half, at once */
	hp3_dcqcn_cnp(&rp, &p, 501 * US);
	rate_is(&rp, 43750);

	p.raise = 100;
	hp3_dcqcn_raise(&rp, &p, &s, 200 * US);
	rate_is(&rp, 100000);
	p.raise = 0;
	hp3_dcqcn_raise(&rp, &p, &s, 200 * US);
	rate_is(&rp, 50000);
}

static void a_flow_at_line_rate_cannot_be_raised(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("paper");
	struct hp3_dcqcn_snapshot s;
	struct hp3_dcqcn rp, fresh;

	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_init(&fresh, &p);
	hp3_dcqcn_take(&s, &rp, &p, 100);
	hp3_dcqcn_raise(&rp, &p, &s, 200);
	assert_int_equal(rp.rate, fresh.rate);
	assert_int_equal(rp.target, fresh.target);
	assert_int_equal(rp.flags, fresh.flags);
}

/* A reload with another line or minimum rate takes hold with the next call. */
static void new_bounds_take_hold(void **state)
{
	struct hp3_dcqcn_params p = sound_preset("hpcc");
	struct hp3_dcqcn_snapshot s;
	struct hp3_dcqcn rp;

	hp3_dcqcn_init(&rp, &p);
	hp3_dcqcn_cnp(&rp, &p, 0);
	hp3_dcqcn_take(&s, &rp, &p, 1 * US);
	p.rpg_max_rate = 25000;
	hp3_dcqcn_advance(&rp, &p, 2 * US);
	rate_is(&rp, 25000);
	hp3_dcqcn_raise(&rp, &p, &s, 3 * US);
	rate_is(&rp, 25000);
	hp3_dcqcn_rollback(&rp, &s, 3 * US);
	hp3_dcqcn_advance(&rp, &p, 3 * US);
	rate_is(&rp, 25000);
	hp3_dcqcn_cnp(&rp, &p, 10 * US);
	p.rpg_min_rate = 20000;
	hp3_dcqcn_advance(&rp, &p, 11 * US);
	rate_is(&rp, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_at_line_rate_and_stays_there_without_cnps),
		cmocka_unit_test(paper_first_cnp_halves_and_fast_recovery_returns),
		cmocka_unit_test(paper_two_cnps_then_additive_increase),
		cmocka_unit_test(paper_alpha_decays_by_time_and_grows_by_cnp),
		cmocka_unit_test(cnps_within_the_decrease_interval_count_once),
		cmocka_unit_test(the_target_follows_once_the_timer_has_raised_the_rate),
		cmocka_unit_test(the_phases_follow_one_another),
		cmocka_unit_test(bytes_count_steps_of_their_own),
		cmocka_unit_test(never_below_the_minimum_rate),
		cmocka_unit_test(the_first_cnp_may_set_a_rate),
		cmocka_unit_test(one_reduction_leaves_min_dec_fac),
		cmocka_unit_test(after_a_switch_the_rate_is_raised),
		cmocka_unit_test(a_flow_at_line_rate_cannot_be_raised),
		cmocka_unit_test(new_bounds_take_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
