/* SPDX-License-Identifier: BSD-3-Clause */
/* Planners in a seeded world that loses, delays and cuts: which one leads, and how soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "fleet/election.h"

#define SEEDS        500u
#define N            5u
#define KEEPALIVE_MS 500u
#define TAKEOVER     1500u
#define CALM         (2 * TAKEOVER + 2 * KEEPALIVE_MS) /* after it one leads */

static struct hp3_election e[N];
static bool alive[N], cut[N]; /* cut off from the others */
static unsigned n_leads, leader;

static void start(unsigned i, uint64_t now)
{
	char name[8];

	snprintf(name, sizeof(name), "p%u", i);
	hp3_election_init(&e[i], name, TAKEOVER, now);
	alive[i] = true;
}

/* Everybody sends one keep-alive; of what is sent loss_percent does not arrive. */
static void round_of_keepalives(uint64_t *rng, unsigned loss_percent, uint64_t now)
{
	n_leads = 0;
	for (unsigned i = 0; i < N; i++) {
		struct hp3_fleet_keepalive b;

		if (!alive[i])
			continue;
		if (hp3_election_tick(&e[i], now)) {
			n_leads++;
			leader = i;
		}
		b = hp3_election_keepalive(&e[i]);
		for (unsigned k = 0; k < N; k++)
			if (k != i && alive[k] && cut[k] == cut[i] &&
				hp3_random_below(rng, 100) >= loss_percent)
				assert_true(hp3_election_heard(&e[k], &b, now + 1));
	}
}

static uint64_t run(uint64_t *rng, unsigned loss, uint64_t now, uint64_t ms)
{
	for (uint64_t until = now + ms; now < until; now += KEEPALIVE_MS)
		round_of_keepalives(rng, loss, now);
	return now;
}

/* A planner that lost its server begins anew, under the same name. */
static void who_begins_anew_keeps_its_name(void **state)
{
	start(0, 1000);
	hp3_election_init(&e[0], e[0].name, TAKEOVER, 2000);
	assert_string_equal(hp3_election_keepalive(&e[0]).planner, "p0");
}

static void one_leads_and_stays(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t rng = seed, now = 1000000;
		unsigned first;

		memset(alive, 0, sizeof(alive));
		memset(cut, 0, sizeof(cut));
		for (unsigned i = 1; i < N; i++)
			start(i, now + hp3_random_below(&rng, KEEPALIVE_MS));
		now = run(&rng, 0, now, CALM);
		assert_int_equal(n_leads, 1);
		first = leader;
		start(0, now); /* the first of all by name: no reason to change */
		for (unsigned i = 0; i < 40; i++) {
			now = run(&rng, i % 2 ? 50 : 0, now,
				KEEPALIVE_MS); /* every other keep-alive may get lost */
			assert_int_equal(n_leads, 1);
			assert_int_equal(leader, first);
		}
	}
}

static void others_take_over(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t rng = seed, now = 1000000, term;

		memset(cut, 0, sizeof(cut));
		for (unsigned i = 0; i < N; i++)
			start(i, now);
		now = run(&rng, 0, now, CALM);
		for (unsigned deaths = 0; deaths < N - 1; deaths++) {
			term = e[leader].term;
			alive[leader] = false;
			now = run(&rng, 0, now, CALM);
			assert_int_equal(n_leads, 1);
			assert_true(alive[leader] && e[leader].term > term);
		}
	}
}

/* Never two for longer than a keep-alive interval, once all hear each other again. */
static void a_cut_heals(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t rng = seed, now = 1000000;

		for (unsigned i = 0; i < N; i++) {
			start(i, now);
			cut[i] = false;
		}
		now = run(&rng, 0, now, CALM);
		for (unsigned i = 0; i < N; i++)
			cut[i] = i == 0 || hp3_random_below(&rng, 2);
		cut[1 + hp3_random_below(&rng, N - 1)] = false;
		now = run(&rng, 0, now, CALM);
		assert_int_equal(n_leads, 2);
		memset(cut, 0, sizeof(cut));
		now = run(&rng, 0, now, 2 * KEEPALIVE_MS);
		assert_int_equal(n_leads, 1);
	}
}

static void a_name_is_used_once(void **state)
{
	struct hp3_fleet_keepalive b = {.planner = "p0"};

	start(0, 0);
	assert_false(hp3_election_heard(&e[0], &b, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_begins_anew_keeps_its_name),
		cmocka_unit_test(one_leads_and_stays),
		cmocka_unit_test(others_take_over),
		cmocka_unit_test(a_cut_heals),
		cmocka_unit_test(a_name_is_used_once),
	};

	return cmocka_run_group_tests_name("fleet election", tests, NULL, NULL);
}
