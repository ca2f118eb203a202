/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that do not reply: no host there, the peer dropped the record, or its key agreement is off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "keying_hosts.h"

#define ROOM 8u /* records */

static struct host a, b, other, nobody;
static uint64_t now;

static int setup(void **state)
{
	host_begin(&a, 1, 1);
	host_begin(&b, 2, 2);
	host_begin(&other, 2, 3); /* at b's address */
	now = 1000 * SECOND;
	return 0;
}

static int adds_up(void **state)
{
	return stats_add_up(&a.st) && stats_add_up(&b.st) ? 0 : -1;
}

static void both_talk(void)
{
	host_talks_to(&a, &b, now);
	host_talks_to(&b, &a, now);
}

static void agree(void)
{
	both_talk();
	talk_until(&a, &b, &now, now + 100 * MS);
	assert_true(have_a_key(&a, &b));
}

/* The RNIC of `h` sends packets to addresses where nobody is. */
static void talks_to_nobody(struct host *h, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		host_begin(&nobody, (uint8_t)(100 + i), 100 + i);
		host_talks_to(h, &nobody, now);
	}
}

/* ... to the n-th of very many. */
static void talks_to_nobody_at(struct host *h, uint32_t n)
{
	struct hp3_pair_ends ends = ends_between(h, &b);

	hp3_put_be32(ends.dst, 0x0b000000u + n);
	hp3_keying_begin(h->k, &ends, 0, now);
}

/* b is not there, or takes nothing. */
static void alone(struct host *h, uint64_t until)
{
	struct frame f;

	for (; now <= until; now += MS)
		while (host_sends(h, now, &f))
			;
}

/* As many as there are records, again and again. */
static void a_crowd_of_nobody(void **state)
{
	talks_to_nobody(&b, ROOM);
	for (unsigned i = 0; i < 20; i++) {
		both_talk();
		talk_until(&a, &b, &now, now + 100 * MS);
		now += 200 * SECOND;
		talks_to_nobody(&b, ROOM);
	}
	assert_true(have_a_key(&a, &b));
	assert_true(b.st.displaced > 0);
}

/* The oldest one goes first, and none before it was asked three times. Peers that replied stay. */
static void who_never_replied_goes_first(void **state)
{
	agree();
	talks_to_nobody(&a, ROOM - 1);
	host_begin(&nobody, 200, 200);
	assert_false(host_talks_to(&a, &nobody, now));
	alone(&a, now + 299 * MS);
	assert_true(host_talks_to(&a, &b, now));
	assert_false(host_talks_to(&a, &nobody, now));
	alone(&a, now + 2 * MS);
	assert_true(host_talks_to(&a, &nobody, now));
	assert_int_equal(a.st.displaced, 1);
	host_begin(&nobody, 100, 100);
	assert_int_equal(info_of(&a, &nobody).state, HP3_KEYING_NO_PEER);
	for (unsigned i = 1; i < ROOM - 1; i++) {
		host_begin(&nobody, (uint8_t)(100 + i), 100 + i);
		assert_int_equal(info_of(&a, &nobody).state, HP3_KEYING_ASKED);
	}
	assert_true(have_a_key(&a, &b));
}

/* Connections to addresses where nobody is come and go, faster than questions leave. They leave
 * nothing behind, and the key of a connection that has ended stays. */
static void a_crowd_that_comes_and_goes(void **state)
{
	struct hp3_pair_ends there;
	uint64_t asked;

	for (unsigned i = 0; i < 1000; i++) {
		host_begin(&nobody, (uint8_t)(100 + i % 150), 100 + i);
		assert_true(host_talks_to(&a, &nobody, now));
		there = ends_between(&a, &nobody);
		hp3_keying_end(a.k, &there);
		assert_int_equal(info_of(&a, &nobody).state, HP3_KEYING_NO_PEER);
	}
	asked = a.st.asked;
	alone(&a, now + SECOND);
	assert_int_equal(a.st.asked, asked);
	agree();
	there = ends_between(&a, &b);
	hp3_keying_end(a.k, &there);
	assert_true(have_a_key(&a, &b));
	talks_to_nobody(&a, ROOM - 1);
	hp3_keying_end(a.k, &there);
	assert_true(have_a_key(&a, &b));
	assert_int_equal(a.st.displaced, 0);
}

/* Packets to addresses where nobody is, 100 for each packet of the pair, and no connection is seen
 * to end: the pair gets a record when a place is free before one of its packets. Its key stays. */
static void a_crowd_without_end(void **state)
{
	const uint64_t begin = now;
	uint64_t rng = 1;
	uint32_t n = 0;

	while (!have_a_key(&a, &b)) {
		const uint64_t turn = hp3_random_below(&rng, 101);

		for (uint64_t i = 0; i < 101; i++) {
			if (i == turn)
				both_talk();
			else
				talks_to_nobody_at(&a, n++);
		}
		talk(&a, &b, now += MS);
		assert_true(now - begin < 60 * SECOND);
	}
	assert_true(a.st.full > 0);
	for (uint64_t end = now + 60 * SECOND; now < end; now += 100 * MS) {
		both_talk();
		for (unsigned i = 0; i < 100; i++)
			talks_to_nobody_at(&a, n++);
		talk(&a, &b, now);
		assert_true(have_a_key(&a, &b));
	}
}

/* A pair pauses, and one end gives its record up. */
static void a_key_is_of_both_ends_or_of_none(void **state)
{
	const struct hp3_pair_ends there = ends_between(&a, &b);

	agree();
	now += 301 * SECOND;
	talks_to_nobody(&b, ROOM);
	assert_null(hp3_keying_find(b.k, &there));
	assert_non_null(hp3_keying_find(a.k, &there));
	for (uint64_t end = now + 32 * SECOND; now < end; now += SECOND)
		host_talks_to(&a, &b, now), talk(&a, &b, now); /* b's RNIC does not reply */
	assert_null(hp3_keying_find(a.k, &there));
	for (unsigned i = 0; i < 20; i++) {
		both_talk();
		talk_until(&a, &b, &now, now + 100 * MS);
		now += 200 * SECOND;
		talks_to_nobody(&b, ROOM);
	}
	assert_true(have_a_key(&a, &b));
}

/* b's RNIC talks to a, too, but b has no record: it has one again as soon as a asks. */
static void a_record_that_was_given_up(void **state)
{
	uint64_t begin;

	agree();
	host_begin_again(&b, &b.cfg.identity, 5);
	begin = now;
	host_talks_to(&b, &a, now);
	while (!have_a_key(&a, &b)) {
		talk(&a, &b, now += MS);
		assert_true(now - begin < SECOND);
	}
	assert_int_equal(a.st.computed, 1);
	assert_int_equal(a.st.silent, 0);
}

/* b begins anew with keys = off: for the same pair, a has a key no more, nor are there many INITs.
 */
static void a_peer_that_agrees_no_more(void **state)
{
	const struct hp3_pair_ends there = ends_between(&a, &b);
	struct hp3_keying_event event;
	uint64_t begin, asked;

	agree();
	assert_true(hp3_keying_event(a.k, &event));
	asked = a.st.asked;
	begin = now;
	for (uint64_t end = now + 600 * SECOND; now < end; now += 10 * MS) {
		struct frame f;

		host_talks_to(&a, &b, now);
		while (host_sends(&a, now, &f))
			;
		if (now - begin < 29 * SECOND)
			assert_non_null(hp3_keying_find(a.k, &there));
		if (now - begin > 31 * SECOND)
			assert_null(hp3_keying_find(a.k, &there));
	}
	assert_int_equal(a.st.silent, 1);
	assert_in_range(a.st.asked - asked, 8 + 8, 8 + 8 + 10); /* then once a minute */
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_ASKED);
	/* It agrees again: the same key, without an X25519. */
	host_begin_again(&b, &b.cfg.identity, 6);
	agree();
	assert_int_equal(a.st.computed, 1);
	assert_int_equal(a.st.replaced, 0);
	assert_true(hp3_keying_event(a.k, &event));
	assert_int_equal(event.kind, HP3_KEYING_KEYED);
}

/* Whoever has the address by then gets a key, and that is told. */
static void another_identity_after_a_silence(void **state)
{
	struct hp3_keying_event event;
	const struct hp3_identity was = b.cfg.identity;

	agree();
	assert_true(hp3_keying_event(a.k, &event));
	host_talks_to(&a, &b, now);
	alone(&a, now + 40 * SECOND);
	assert_int_equal(a.st.silent, 1);
	host_talks_to(&other, &a, now);
	talk_until(&a, &other, &now, now + SECOND);
	assert_true(have_a_key(&a, &other));
	assert_true(hp3_keying_event(a.k, &event));
	assert_int_equal(event.kind, HP3_KEYING_REPLACED);
	assert_memory_equal(event.before, was.public, HP3_PUBLIC_LEN);
	assert_int_equal(a.st.replaced, 1);
}

/* A right tag now and then is a sign of life: nobody is asked. */
static void who_is_heard_is_not_asked(void **state)
{
	const struct hp3_pair_ends back = ends_between(&b, &a);
	uint64_t asked;

	agree();
	asked = a.st.asked;
	for (unsigned i = 0; i < 100; i++) {
		host_talks_to(&a, &b, now);
		alone(&a, now + 14 * SECOND);
		hp3_keying_heard(a.k, &back, now);
	}
	assert_int_equal(a.st.asked, asked);
	assert_true(have_a_key(&a, &b));
}

/* Quiet pairs say one handshake each 15 s, for both; pairs whose RNICs pause, nothing. */
static void quiet_pairs_say_little(void **state)
{
	uint64_t asked;

	agree();
	asked = a.st.asked + b.st.asked;
	for (uint64_t end = now + 600 * SECOND; now < end; now += 10 * MS) {
		both_talk();
		talk(&a, &b, now);
	}
	assert_true(have_a_key(&a, &b));
	assert_in_range(a.st.asked + b.st.asked - asked, 2 * 39, 2 * 40);
	assert_int_equal(a.st.computed, 1);
	now += 300 * SECOND;
	asked = a.st.asked + b.st.asked;
	talk_until(&a, &b, &now, now + 600 * SECOND);
	assert_true(a.st.asked + b.st.asked - asked <= 4);
	assert_true(have_a_key(&a, &b));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, adds_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_crowd_of_nobody),
		TEST(a_crowd_that_comes_and_goes),
		TEST(a_crowd_without_end),
		TEST(who_never_replied_goes_first),
		TEST(a_key_is_of_both_ends_or_of_none),
		TEST(a_record_that_was_given_up),
		TEST(a_peer_that_agrees_no_more),
		TEST(another_identity_after_a_silence),
		TEST(who_is_heard_is_not_asked),
		TEST(quiet_pairs_say_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
