/* SPDX-License-Identifier: BSD-3-Clause */
/* A host's treatment of plans: old, expired, foreign, impossible and flapping ones are dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "fleet/advice.h"
#include "base/random.h"
#include "reports.h"

#define INSTANCE 77u
#define SEEDS    300u

static struct hp3_fleet_advice a;
static struct hp3_fleet_report r;
static uint64_t now_ms;

static int begin(void **state)
{
	now_ms = 1000;
	r = host_report(3, 0, 4);
	add_flow(&r, 5, 0x11, 0, 1000);
	add_flow(&r, 6, 0x12, 1, 1000);
	hp3_fleet_advice_init(&a, r.host, INSTANCE);
	return 0;
}

/* A plan that names one flow of ours, for its first other path. */
static struct hp3_fleet_plan plan(uint64_t term, uint64_t epoch, unsigned flow)
{
	struct hp3_fleet_plan p = {
		.planner = "p", .term = term, .epoch = epoch, .valid_ms = 500, .n_moves = 1};

	memcpy(p.move[0].host, r.host, sizeof(r.host));
	p.move[0].instance = INSTANCE;
	p.move[0].key = r.flow[flow].key;
	p.move[0].from_port = r.flow[flow].port;
	p.move[0].to_port = r.flow[flow].alt[0].port;
	return p;
}

/* How many moves hp3d is asked about. */
static unsigned heard(const struct hp3_fleet_plan *p)
{
	unsigned n = 0, flow;

	hp3_fleet_advice_plan(&a, p, now_ms);
	while (hp3_fleet_advice_next(&a, &r, now_ms, &flow) != NULL)
		n++;
	return n;
}

static void what_fits_is_asked(void **state)
{
	struct hp3_fleet_plan p = plan(1, 1, 1);
	const struct hp3_fleet_move *m;
	unsigned flow;

	hp3_fleet_advice_plan(&a, &p, now_ms);
	m = hp3_fleet_advice_next(&a, &r, now_ms, &flow);
	assert_non_null(m);
	assert_int_equal(flow, 1);
	assert_int_equal(m->to_port, r.flow[1].alt[0].port);
	assert_null(hp3_fleet_advice_next(&a, &r, now_ms, &flow));
	assert_int_equal(a.c.asked, 1);
}

static void old_plans_are_none(void **state)
{
	struct hp3_fleet_plan p = plan(2, 5, 0), old = plan(2, 5, 1);

	assert_int_equal(heard(&p), 1);
	assert_int_equal(heard(&old), 0); /* the same once more */
	old.epoch = 4;
	assert_int_equal(heard(&old), 0);
	old.term = 1;
	old.epoch = 100;
	assert_int_equal(heard(&old), 0);
	assert_int_equal(a.c.old, 3);
	old.term = 3;
	old.epoch = 0;
	assert_int_equal(heard(&old), 1);
}

/* Somebody claims the highest term there is: others are heard again when he falls silent. */
static void no_term_silences_for_good(void **state)
{
	struct hp3_fleet_plan forged = plan(UINT64_MAX, UINT64_MAX, 0), p = plan(1, 1, 1);

	forged.n_moves = 0;
	assert_int_equal(heard(&forged), 0);
	now_ms += HP3_FLEET_ADVICE_SILENCE_MS - 1;
	assert_int_equal(heard(&p), 0);
	now_ms++;
	assert_int_equal(heard(&p), 1);
}

static void plans_expire(void **state)
{
	struct hp3_fleet_plan p = plan(1, 1, 0);
	unsigned flow;

	hp3_fleet_advice_plan(&a, &p, now_ms);
	assert_null(hp3_fleet_advice_next(&a, &r, now_ms + 250, &flow));
	assert_int_equal(a.c.expired, 1);
	p = plan(1, 2, 0);
	hp3_fleet_advice_plan(&a, &p, now_ms);
	assert_non_null(hp3_fleet_advice_next(&a, &r, now_ms + 249, &flow));
	p = plan(1, 3, 1);
	p.valid_ms = UINT32_MAX;
	hp3_fleet_advice_plan(&a, &p, now_ms);
	assert_null(hp3_fleet_advice_next(&a, &r, now_ms + HP3_FLEET_ADVICE_VALID_MS / 2, &flow));
	assert_int_equal(a.c.expired, 2);
}

static void what_does_not_fit_goes_no_further(void **state)
{
	struct hp3_fleet_plan p = plan(1, 1, 0);

	strcpy(p.move[0].host, "somebody");
	assert_int_equal(heard(&p), 0);
	assert_int_equal(a.c.moves, 0);
	p = plan(1, 2, 0);
	p.move[0].instance++;
	assert_int_equal(heard(&p), 0);
	assert_int_equal(a.c.before, 1);
	p = plan(1, 3, 0);
	p.move[0].key.qpn++;
	assert_int_equal(heard(&p), 0);
	assert_int_equal(a.c.unknown, 1);
	p = plan(1, 4, 0);
	p.move[0].from_port++;
	assert_int_equal(heard(&p), 0);
	assert_int_equal(a.c.elsewhere, 1);
	p = plan(1, 5, 0);
	p.move[0].to_port = 7;
	assert_int_equal(heard(&p), 0);
	assert_int_equal(a.c.not_offered, 1);
}

/* Back with each plan, and the same flow twice in one. */
static void flapping_plans_name_a_flow_rarely(void **state)
{
	unsigned asked = 0;

	for (uint64_t epoch = 1; epoch <= 600; epoch++) {
		struct hp3_fleet_plan p = plan(1, epoch, 0);

		p.move[1] = p.move[0];
		p.n_moves = 2;
		asked += heard(&p);
		r.flow[0].port = p.move[0].to_port; /* it goes */
		r.flow[0].alt[0].port = p.move[0].from_port;
		now_ms += 100;
	}
	assert_int_equal(asked, 60000 / HP3_FLEET_ADVICE_HOLD_MS);
	assert_int_equal(a.c.asked + a.c.too_soon, a.c.moves);
}

/* Two flows, the first of which hp3d is busy with: the other one does not wait, it is asked about
 * again in time. */
static void busy_is_asked_again(void **state)
{
	struct hp3_fleet_plan p = plan(1, 1, 0), other = plan(1, 1, 1);
	const struct hp3_fleet_move *m;
	unsigned flow, times = 1;

	p.move[p.n_moves++] = other.move[0];
	hp3_fleet_advice_plan(&a, &p, now_ms);
	assert_non_null(hp3_fleet_advice_next(&a, &r, now_ms, &flow));
	assert_int_equal(flow, 0);
	hp3_fleet_advice_busy(&a, now_ms);
	assert_non_null(hp3_fleet_advice_next(&a, &r, now_ms, &flow));
	assert_int_equal(flow, 1);
	while (hp3_fleet_advice_waits(&a)) {
		assert_null(hp3_fleet_advice_next(&a, &r, now_ms, &flow));
		now_ms += HP3_FLEET_ADVICE_RETRY_MS;
		m = hp3_fleet_advice_next(&a, &r, now_ms, &flow);
		assert_true(m == NULL || flow == 0);
		times += m != NULL;
		if (m != NULL)
			hp3_fleet_advice_busy(&a, now_ms);
	}
	assert_int_equal(times, 3); /* at 0, 100 and 200 ms: in the first half of 500 ms */
	assert_int_equal(a.c.busy, times);
	assert_int_equal(a.c.expired, 1);
	assert_int_equal(a.c.asked, 1);
}

/* What hp3d was busy with has not been named: a newer plan may name it. */
static void busy_is_not_named(void **state)
{
	struct hp3_fleet_plan p = plan(1, 1, 0);
	unsigned flow;

	hp3_fleet_advice_plan(&a, &p, now_ms);
	assert_non_null(hp3_fleet_advice_next(&a, &r, now_ms, &flow));
	hp3_fleet_advice_busy(&a, now_ms);
	p.epoch++;
	assert_int_equal(heard(&p), 1);
	assert_int_equal(a.c.expired, 1);
}

/* Anything a plan may have in it: every move ends in one count, and what is asked is ours. */
static void all_is_counted(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct hp3_fleet_advice_counts *c = &a.c;
		uint64_t rng = seed;

		r = any_report(&rng);
		hp3_fleet_advice_init(&a, r.host, INSTANCE);
		for (unsigned n = 0; n < 20; n++) {
			struct hp3_fleet_plan p = any_plan(&rng);
			const struct hp3_fleet_move *m;
			unsigned flow;

			for (unsigned i = 0; i < p.n_moves; i++) {
				if (hp3_random_below(&rng, 2))
					memcpy(p.move[i].host, r.host, sizeof(r.host));
				if (hp3_random_below(&rng, 2))
					p.move[i].instance = INSTANCE;
				if (r.n_flows > 0 && hp3_random_below(&rng, 2)) {
					flow = hp3_random_below(&rng, r.n_flows);
					p.move[i].key = r.flow[flow].key;
					p.move[i].from_port = r.flow[flow].port;
					p.move[i].to_port = r.flow[flow].alt[0].port;
				}
			}
			now_ms += hp3_random_below(&rng, 20000);
			hp3_fleet_advice_plan(&a, &p, now_ms);
			now_ms += hp3_random_below(&rng, 200);
			while ((m = hp3_fleet_advice_next(&a, &r, now_ms, &flow)) != NULL) {
				assert_int_equal(hp3_fleet_key_cmp(&m->key, &r.flow[flow].key), 0);
				if (hp3_random_below(&rng, 4) == 0)
					hp3_fleet_advice_busy(&a, now_ms);
			}
		}
		assert_int_equal(c->moves, c->before + c->expired + c->unknown + c->elsewhere +
						   c->not_offered + c->too_soon + c->asked + a.n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_fits_is_asked, begin),
		cmocka_unit_test_setup(old_plans_are_none, begin),
		cmocka_unit_test_setup(no_term_silences_for_good, begin),
		cmocka_unit_test_setup(plans_expire, begin),
		cmocka_unit_test_setup(what_does_not_fit_goes_no_further, begin),
		cmocka_unit_test_setup(flapping_plans_name_a_flow_rarely, begin),
		cmocka_unit_test_setup(busy_is_asked_again, begin),
		cmocka_unit_test_setup(busy_is_not_named, begin),
		cmocka_unit_test_setup(all_is_counted, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
