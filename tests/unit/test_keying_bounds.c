/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables, budgets and jobs of key agreement: behaviour at their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "keying_hosts.h"

#define MANY 9u /* peers; a table has room for one less */

static struct host a, peer[MANY];
static uint64_t now;

static int setup(void **state)
{
	host_begin(&a, 1, 1);
	for (unsigned i = 0; i < MANY; i++)
		host_begin(&peer[i], (uint8_t)(10 + i), 100 + i);
	now = 1000 * SECOND;
	return 0;
}

static int adds_up(void **state)
{
	return stats_add_up(&a.st) ? 0 : -1;
}

static void agree_with(struct host *p)
{
	assert_true(host_talks_to(&a, p, now));
	assert_true(host_talks_to(p, &a, now));
	talk(&a, p, now);
	assert_true(have_a_key(&a, p));
}

/* Whoever is the one that the RNIC no longer talks to. */
static void a_full_table(void **state)
{
	for (unsigned victim = 0; victim < MANY - 1; victim++) {
		struct hp3_pair_ends last = ends_between(&a, &peer[MANY - 1]);
		unsigned left = 0;

		setup(state);
		for (unsigned i = 0; i < MANY - 1; i++)
			agree_with(&peer[i]);
		assert_false(host_talks_to(&a, &peer[MANY - 1], now));
		assert_int_equal(a.st.full, 1);
		assert_null(hp3_keying_find(a.k, &last));
		now += 300 * SECOND;
		for (unsigned i = 0; i < MANY - 1; i++)
			if (i != victim)
				assert_true(host_talks_to(&a, &peer[i], now));
		assert_false(host_talks_to(&a, &peer[MANY - 1], now));
		now += 1;
		agree_with(&peer[MANY - 1]);
		assert_int_equal(a.st.displaced, 1);
		for (unsigned i = 0; i < MANY; i++)
			left += have_a_key(&a, &peer[i]);
		assert_int_equal(left, MANY - 1);
		assert_int_equal(info_of(&a, &peer[victim]).state, HP3_KEYING_NO_PEER);
	}
}

/* A pair whose messages still bear right tags is not given away. */
static void who_is_heard_stays(void **state)
{
	for (unsigned i = 0; i < MANY - 1; i++)
		agree_with(&peer[i]);
	now += 400 * SECOND;
	for (unsigned i = 0; i < MANY - 1; i++) {
		const struct hp3_pair_ends back = ends_between(&peer[i], &a);

		hp3_keying_heard(a.k, &back, now);
	}
	assert_false(host_talks_to(&a, &peer[MANY - 1], now));
}

/* Of all peers together; those who have to wait get theirs in their turn. */
static void a_budget_of_x25519s(void **state)
{
	unsigned done = 0;

	a.cfg.jobs = (struct hp3_limit){.rate = 2, .burst = 2};
	host_begin_again(&a, NULL, 1);
	for (unsigned i = 0; i < MANY - 1; i++) {
		assert_true(host_talks_to(&a, &peer[i], now));
		assert_true(host_talks_to(&peer[i], &a, now));
	}
	for (uint64_t begin = now; now <= begin + 2500 * MS; now += MS) {
		for (unsigned i = 0; i < MANY - 1; i++) {
			struct hp3_keying_message m;
			struct frame f;
			bool any;

			while (host_sends(&peer[i], now, &f))
				while (host_answers(&a, now, &f) && host_answers(&peer[i], now, &f))
					;
			if (host_job(&a, now, &any, &m)) {
				done++;
				for (unsigned j = 0; j < MANY - 1; j++)
					if (memcmp(m.to.dst, peer[j].address, 4) == 0 &&
						(frame_of(&m, &f), host_answers(&peer[j], now, &f)))
						host_answers(&a, now, &f);
			}
		}
		assert_true(done <= 2 + 2 * (now - begin) / SECOND);
	}
	assert_int_equal(done, 7);
}

static void a_job_that_is_lost(void **state)
{
	struct hp3_keying_message out;
	struct hp3_keying_job job;
	uint64_t begin = now;
	struct frame f;

	assert_true(host_talks_to(&a, &peer[0], now) && host_talks_to(&peer[0], &a, now));
	assert_true(host_sends(&peer[0], now, &f));
	while (host_answers(&a, now, &f) && host_answers(&peer[0], now, &f))
		;
	assert_true(hp3_keying_job(a.k, now, &job));
	while (!have_a_key(&a, &peer[0])) {
		now += MS;
		talk(&a, &peer[0], now);
		assert_true(now - begin < 24 * SECOND);
	}
	assert_true(now - begin > HP3_KEYING_JOB_LOST_S * SECOND);
	hp3_keying_compute(&job); /* and comes after all */
	assert_false(hp3_keying_done(a.k, &job, now, &out));
	assert_true(have_a_key(&a, &peer[0]));
}

static void a_job_is_wiped(void **state)
{
	static const struct hp3_keying_job none;
	struct hp3_keying_message out;
	struct hp3_keying_job job;
	struct frame f;

	assert_true(host_talks_to(&a, &peer[0], now) && host_talks_to(&peer[0], &a, now));
	assert_true(host_sends(&peer[0], now, &f));
	while (host_answers(&a, now, &f) && host_answers(&peer[0], now, &f))
		;
	assert_true(hp3_keying_job(a.k, now, &job));
	hp3_keying_compute(&job);
	assert_true(hp3_keying_done(a.k, &job, now, &out));
	assert_memory_equal(&job, &none, sizeof(job));
}

static void another_identity_of_ours(void **state)
{
	struct hp3_pair_ends there = ends_between(&a, &peer[0]);
	uint8_t seed[HP3_SEED_LEN] = {9}, key[HP3_KEY_LEN];
	struct hp3_keying_message out;
	struct hp3_keying_job job;
	struct hp3_identity new;
	struct frame f;

	agree_with(&peer[0]);
	memcpy(key, hp3_keying_find(a.k, &there), sizeof(key));
	assert_true(host_talks_to(&a, &peer[1], now) && host_talks_to(&peer[1], &a, now));
	assert_true(host_sends(&peer[1], now, &f));
	while (host_answers(&a, now, &f) && host_answers(&peer[1], now, &f))
		;
	assert_true(hp3_keying_job(a.k, now, &job));
	hp3_keying_compute(&job);
	hp3_identity_from_seed(&new, seed);
	hp3_keying_become(a.k, &new, now);
	assert_null(hp3_keying_find(a.k, &there));
	assert_false(hp3_keying_done(a.k, &job, now, &out)); /* of the old one */
	for (unsigned i = 0; i < 2; i++) {
		uint64_t until = now + 15 * SECOND;

		talk_until(&a, &peer[i], &now, until);
		assert_true(have_a_key(&a, &peer[i]));
	}
	assert_memory_not_equal(key, hp3_keying_find(a.k, &there), sizeof(key));
}

static void events_that_nobody_fetches(void **state)
{
	struct hp3_keying_event event;
	unsigned n = 0;

	agree_with(&peer[0]);
	for (unsigned i = 0; i < 20; i++) {
		host_begin_again(&peer[0], NULL, 200 + i);
		assert_true(host_talks_to(&peer[0], &a, now));
		talk_until(&a, &peer[0], &now, now + 15 * SECOND);
		assert_true(have_a_key(&a, &peer[0]));
	}
	while (hp3_keying_event(a.k, &event))
		assert_int_equal(event.kind, n++ == 0 ? HP3_KEYING_KEYED : HP3_KEYING_REPLACED);
	assert_int_equal(n + a.st.events_lost, 21);
	assert_int_equal(n, 16);
}

static void a_list_page_by_page(void **state)
{
	struct hp3_keying_info info[3];
	bool seen[MANY] = {false};
	uint32_t at = 0, n;

	for (unsigned i = 0; i < 7; i++)
		assert_true(host_talks_to(&a, &peer[i], now));
	do {
		n = hp3_keying_list(a.k, &at, info, 3);
		for (uint32_t i = 0; i < n; i++) {
			unsigned number = info[i].ends.dst[3] - 10u;

			assert_true(number < 7 && !seen[number]);
			seen[number] = true;
			assert_int_equal(info[i].since, now);
			assert_string_equal(
				hp3_keying_state_name((enum hp3_keying_state)info[i].state),
				"asked");
		}
	} while (at != HP3_KEYING_LAST);
	for (unsigned i = 0; i < 7; i++)
		assert_true(seen[i]);
}

/* A table may have a million records: packets do not wait until all of them were looked at. */
static void a_list_looks_at_few_records(void **state)
{
	struct hp3_keying_config cfg = a.cfg;
	struct hp3_keying_info info[3];
	uint32_t at = 0, calls = 0;
	struct hp3_keying *k;
	void *mem;

	cfg.peers = 8 * HP3_KEYING_LISTED;
	mem = aligned_alloc(64, hp3_keying_size(&cfg));
	k = hp3_keying_create(mem, hp3_keying_size(&cfg), &cfg, &a.st);
	assert_non_null(k);
	while (at != HP3_KEYING_LAST) {
		uint32_t before = at;

		assert_int_equal(hp3_keying_list(k, &at, info, 3), 0);
		assert_true(at == HP3_KEYING_LAST || at - before <= HP3_KEYING_LISTED);
		calls++;
	}
	assert_int_equal(calls, 8);
	free(mem);
}

static void what_has_no_sense(void **state)
{
	struct hp3_pair_ends self = ends_between(&a, &a), untrusted = ends_between(&a, &peer[0]);
	struct hp3_keying_config bad[5];

	assert_false(hp3_keying_begin(a.k, &self, 0, now));
	hp3_keying_heard(a.k, &untrusted, now);
	assert_null(hp3_keying_find(a.k, &untrusted));
	for (unsigned i = 0; i < 5; i++)
		bad[i] = a.cfg;
	bad[0].peers = 4;
	bad[1].peers = 24;
	bad[2].port = 0;
	bad[3].jobs.rate = 0;
	bad[4].jobs.burst = 0;
	for (unsigned i = 0; i < 5; i++)
		assert_null(hp3_keying_create(a.mem, sizeof(a.mem), &bad[i], &a.st));
	assert_null(hp3_keying_create(a.mem + 1, sizeof(a.mem) - 1, &a.cfg, &a.st));
	assert_null(hp3_keying_create(a.mem, hp3_keying_size(&a.cfg) - 1, &a.cfg, &a.st));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, adds_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_full_table),
		TEST(who_is_heard_stays),
		TEST(a_budget_of_x25519s),
		TEST(a_job_that_is_lost),
		TEST(a_job_is_wiped),
		TEST(another_identity_of_ours),
		TEST(events_that_nobody_fetches),
		TEST(a_list_page_by_page),
		TEST(a_list_looks_at_few_records),
		TEST(what_has_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
