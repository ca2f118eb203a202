/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path table's estimates and states, and the evidence for each state. Choices from it:
 * test_choice.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "paths_table.h"

static void unknown_until_a_reply_and_after_fresh_ns(void **state)
{
	assert_int_equal(quality(0xc001, MS), HP3_QUALITY_UNKNOWN);
	reply(0xc001, 10 * US, false, MS);
	assert_int_equal(quality(0xc001, MS), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc001, MS + params.fresh_ns), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc001, MS + params.fresh_ns + 1), HP3_QUALITY_UNKNOWN);
	/* Stale estimates are not smoothed into new ones. */
	reply(0xc001, 90 * US, false, MS + params.fresh_ns + 2);
	assert_int_equal(table.path[entry(0xc001, 0)].rtt, 90 * US);
}

/* Where a round trip takes long, an answer says something for longer. */
static void fresh_for_some_round_trips(void **state)
{
	struct hp3_paths_params some = params;

	some.fresh_ns = 100 * US;
	some.fresh_rtts = 12;
	table.params = &some;
	reply(0xc001, 10 * US, false, MS);
	assert_int_equal(quality(0xc001, MS + 121 * US), HP3_QUALITY_UNKNOWN);
	reply(0xc002, 15 * US, false, MS);
	assert_int_equal(quality(0xc002, MS + 180 * US), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc002, MS + 180 * US + 1), HP3_QUALITY_UNKNOWN);
	table.params = &params;
}

static void congested_by_marks_or_by_rtt(void **state)
{
	reply(0xc001, 10 * US, false, MS);
	reply(0xc002, 19 * US, false, MS);
	reply(0xc003, 20 * US, false, MS); /* twice the least RTT of any path */
	reply(0xc004, 10 * US, true, MS);
	assert_int_equal(quality(0xc001, MS), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc002, MS), HP3_QUALITY_GOOD);
	assert_int_equal(quality(0xc003, MS), HP3_QUALITY_CONGESTED);
	assert_int_equal(quality(0xc004, MS), HP3_QUALITY_CONGESTED);
	/* Clean data replies, most of them not timed, make it good again; marked ones bad. */
	for (unsigned i = 0; i < 6; i++)
		reply(0xc004, 0, false, MS + i);
	assert_int_equal(quality(0xc004, 2 * MS), HP3_QUALITY_GOOD);
	for (unsigned i = 0; i < 6; i++)
		reply(0xc001, 0, true, MS + i);
	assert_int_equal(quality(0xc001, 2 * MS), HP3_QUALITY_CONGESTED);
	assert_int_equal(table.path[entry(0xc001, MS)].rtt, 10 * US);
}

static void every_mark_reaches_full_share(void **state)
{
	for (unsigned i = 0; i < 200; i++)
		reply(0xc001, 10 * US, i > 0, MS + i);
	struct hp3_paths_params all = params;
	all.ecn_fraction = 100;
	table.params = &all;
	assert_int_equal(quality(0xc001, 2 * MS), HP3_QUALITY_CONGESTED);
	for (unsigned i = 0; i < 200; i++)
		reply(0xc001, 10 * US, false, 2 * MS + i);
	all.ecn_fraction = 1;
	assert_int_equal(quality(0xc001, 3 * MS), HP3_QUALITY_GOOD);
	table.params = &params;
}

/* Rule 13: three losses, in separate windows, and others answered meanwhile. */
static void failed_only_on_evidence(void **state)
{
	uint64_t now = MS;

	/* Three in one window count once. */
	reply(0xc000, 10 * US, false, now);
	for (unsigned i = 0; i < 20; i++) {
		assert_false(hp3_paths_lost(&table, entry(0xc001, now), now + i));
		reply(0xc000, 10 * US, false, now + i);
	}
	/* Nobody else answers: the peer may be gone. */
	paths_setup(state);
	reply(0xc000, 10 * US, false, now);
	for (unsigned i = 1; i < 20; i++)
		assert_false(hp3_paths_lost(&table, entry(0xc001, now), now + i * MS));
	/* Two, then a reply: starts anew. */
	paths_setup(state);
	for (unsigned i = 1; i < 20; i++) {
		now += MS;
		assert_false(hp3_paths_lost(&table, entry(0xc001, now), now));
		reply(0xc000, 10 * US, false, now + 1);
		if (i % 2 == 0)
			reply(0xc001, 10 * US, false, now + 2);
	}
	/* A path with a fresh loss is not called good. */
	assert_int_equal(quality(0xc001, now), HP3_QUALITY_UNKNOWN);
	/* All of it. */
	now = break_path(0xc002, now);
	assert_int_equal(quality(0xc002, now), HP3_QUALITY_FAILED);
}

static void failure_ends_at_retry_time_or_with_a_reply(void **state)
{
	uint64_t now, at;
	unsigned steps = 0;

	now = break_path(0xc001, MS);
	at = table.path[entry(0xc001, now)].retry_at;
	assert_in_range(at, now, now + params.retry_ns);
	assert_int_equal(quality(0xc001, at - 1), HP3_QUALITY_FAILED);
	assert_int_equal(quality(0xc001, at), HP3_QUALITY_UNKNOWN);
	/* Each relapse doubles the time, up to 64 x: one loss is enough now. */
	for (uint64_t wait = 2 * params.retry_ns; steps < 10; steps++) {
		now = at;
		reply(0xc000, 10 * US, false, now);
		assert_true(hp3_paths_lost(&table, entry(0xc001, now), now));
		at = table.path[entry(0xc001, now)].retry_at;
		assert_int_equal(at - now, wait);
		if (wait < 64 * params.retry_ns)
			wait *= 2;
	}
	reply(0xc001, 10 * US, false, now + 1);
	assert_int_equal(quality(0xc001, now + 1), HP3_QUALITY_GOOD);
	/* A relapse soon after is remembered as one; after a long good time it is not. */
	now = break_path(0xc001, now + MS);
	assert_true(table.path[entry(0xc001, now)].retry_at > now + 60 * params.retry_ns);
	now += 100 * params.retry_ns;
	reply(0xc001, 10 * US, false, now);
	now = break_path(0xc001, now + MS);
	assert_true(table.path[entry(0xc001, now)].retry_at <= now + params.retry_ns);
}

/* Replies say nothing of it; a relapse takes twice as long, until it was well for long. */
static void lossy_for_a_while(void **state)
{
	uint64_t now = MS, wait = params.lossy_ns;
	int at = entry(0xc001, now);

	for (unsigned i = 0; i < 10; i++) {
		hp3_paths_lossy(&table, at, now);
		reply(0xc001, 10 * US, false, now + 1);
		assert_int_equal(quality(0xc001, now + wait - 1), HP3_QUALITY_LOSSY);
		hp3_paths_lossy(&table, at, now + wait - 1); /* known */
		now += wait;
		assert_int_equal(quality(0xc001, now) == HP3_QUALITY_LOSSY, 0);
		if (wait < 64 * params.lossy_ns)
			wait *= 2;
	}
	now += 65 * params.lossy_ns;
	hp3_paths_lossy(&table, at, now);
	assert_int_equal(quality(0xc001, now + params.lossy_ns) == HP3_QUALITY_LOSSY, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PATHS_TEST(unknown_until_a_reply_and_after_fresh_ns),
		PATHS_TEST(fresh_for_some_round_trips),
		PATHS_TEST(congested_by_marks_or_by_rtt),
		PATHS_TEST(every_mark_reaches_full_share),
		PATHS_TEST(failed_only_on_evidence),
		PATHS_TEST(failure_ends_at_retry_time_or_with_a_reply),
		PATHS_TEST(lossy_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
