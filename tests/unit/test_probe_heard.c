/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of peers act once, and none made before this hp3d started acts (rule 36). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "probe_frames.h"
#include "probes/agree.h"
#include "probes/answer.h"

#define CLOCK   1700000000ull
#define CLOCK_S 30u
#define S       1000000ull
#define NOW     (CLOCK * S)

static struct hp3_heard heard;
static struct hp3_heard_time at;
static struct hp3_probe_stats st;

static int setup(void **state)
{
	at = (struct hp3_heard_time){CLOCK, CLOCK_S};
	st = (struct hp3_probe_stats){0};
	hp3_heard_init(&heard, 0x5eed, NOW - 1000 * S);
	return 0;
}

static struct hp3_addressing host(uint32_t n)
{
	struct hp3_addressing a = flow_addressing(false, 0);

	hp3_put_be32(a.src_ip, 0x0a000000 + n);
	return a;
}

static enum hp3_heard_fate says(uint32_t n, uint64_t stamp)
{
	const struct hp3_addressing a = host(n);

	return hp3_heard_take(&heard, &a, HP3_TAG_AGREE, stamp, &at);
}

static void answers(uint32_t n, uint64_t clock)
{
	const struct hp3_addressing a = host(n);

	hp3_heard_clock(&heard, &a, clock & ((1ull << HP3_HEARD_CLOCK_BITS) - 1), &at);
}

static void rule_36_each_message_acts_once(void **state)
{
	for (uint64_t i = 1; i <= 100; i++) {
		assert_int_equal(says(1, NOW + i), HP3_HEARD_NEW);
		for (uint64_t k = 1; k <= i; k++)
			assert_int_equal(says(1, NOW + k), HP3_HEARD_AGAIN);
	}
}

static void rule_36_they_may_be_lost_and_overtake_each_other(void **state)
{
	static const uint8_t order[] = {40, 10, 90, 20, 91, 11, 92, 93};

	for (unsigned i = 0; i < sizeof(order); i++)
		assert_int_equal(says(1, NOW + order[i]), HP3_HEARD_NEW);
	for (unsigned i = 0; i < sizeof(order); i++)
		assert_int_equal(says(1, NOW + order[i]), HP3_HEARD_AGAIN);
	assert_int_equal(says(1, NOW + 9), HP3_HEARD_AGAIN); /* older than all eight */
	assert_int_equal(says(1, NOW + 12), HP3_HEARD_NEW); /* in the place of 10 */
	assert_int_equal(says(1, NOW + 10), HP3_HEARD_AGAIN);
}

/* One sender takes nothing from another one, nor one kind from another one. */
static void senders_and_kinds_are_apart(void **state)
{
	const struct hp3_addressing a = host(1), back = {.src_ip = {1}, .dst_ip = {2}};

	assert_int_equal(says(1, NOW), HP3_HEARD_NEW);
	assert_int_equal(says(2, NOW), HP3_HEARD_NEW);
	assert_int_equal(hp3_heard_take(&heard, &a, HP3_TAG_PROBE, NOW, &at), HP3_HEARD_NEW);
	assert_int_equal(hp3_heard_take(&heard, &back, HP3_TAG_AGREE, NOW, &at), HP3_HEARD_NEW);
	assert_int_equal(says(1, NOW), HP3_HEARD_AGAIN);
}

/* The tag does not speak for a VLAN, so none makes a message new. */
static void rule_36_nor_in_another_vlan(void **state)
{
	struct hp3_addressing a = host(1);

	for (uint16_t vlan = 0; vlan < 3; vlan++) {
		a.tag[0] = hp3_tag_8021q(vlan);
		assert_int_equal(hp3_heard_take(&heard, &a, HP3_TAG_AGREE, NOW, &at),
			vlan == 0 ? HP3_HEARD_NEW : HP3_HEARD_AGAIN);
	}
}

static void clocks_that_differ(void **state)
{
	assert_int_equal(says(1, NOW - (CLOCK_S + 1) * S), HP3_HEARD_CLOCK);
	assert_int_equal(says(1, NOW - CLOCK_S * S), HP3_HEARD_NEW);
	assert_int_equal(says(1, NOW + CLOCK_S * S), HP3_HEARD_NEW);
	assert_int_equal(says(1, NOW + (CLOCK_S + 1) * S), HP3_HEARD_CLOCK);
	assert_int_equal(says(1, UINT64_MAX), HP3_HEARD_CLOCK);
}

/*
 * hp3d starts, and its clock is 20 s ahead of its peer's: it cannot tell what the peer says now
 * from what it said before, until the peer has answered a probe and so told its clock.
 */
static void rule_36_a_clock_that_is_ahead_silences_nobody(void **state)
{
	const uint64_t theirs = NOW - 20 * S;

	hp3_heard_init(&heard, 0x5eed, NOW);
	assert_int_equal(says(1, theirs + 1), HP3_HEARD_OLD);
	answers(1, theirs + 2);
	assert_int_equal(says(1, theirs + 1), HP3_HEARD_OLD);
	assert_int_equal(says(1, theirs + 2), HP3_HEARD_OLD);
	assert_int_equal(says(1, theirs + 3), HP3_HEARD_NEW);
	assert_int_equal(says(2, theirs + 3), HP3_HEARD_OLD); /* its own answer counts alone */
	answers(1, theirs - 9 * S); /* one that is late takes nothing back */
	assert_int_equal(says(1, theirs), HP3_HEARD_OLD);
}

/* ... and where it is behind, what the peer said before is told from what it says now. */
static void rule_36_a_clock_that_is_behind_hears_nothing_twice(void **state)
{
	const uint64_t theirs = NOW + 20 * S;

	hp3_heard_init(&heard, 0x5eed, NOW);
	answers(1, theirs);
	assert_int_equal(says(1, theirs - 5 * S), HP3_HEARD_OLD);
	assert_int_equal(says(1, theirs + 1), HP3_HEARD_NEW);
}

static void an_answer_of_a_clock_that_is_nonsense(void **state)
{
	hp3_heard_init(&heard, 0x5eed, NOW);
	answers(1, NOW - 1000 * S);
	answers(1, NOW + 1000 * S);
	assert_int_equal(says(1, NOW - S), HP3_HEARD_OLD);
	assert_int_equal(says(1, NOW + S), HP3_HEARD_NEW);
}

/* More senders than there is room for: who is there is remembered, and refused again. */
static void rule_36_nothing_is_forgotten_early(void **state)
{
	const uint32_t n = 4 * HP3_HEARD_SENDERS;
	uint32_t heard_of = 0, later = 0;

	for (uint32_t i = 0; i < n; i++)
		heard_of += says(i, NOW) == HP3_HEARD_NEW;
	assert_in_range(heard_of, HP3_HEARD_SENDERS * 9 / 10, HP3_HEARD_SENDERS);
	for (uint32_t i = 0; i < n; i++)
		assert_int_not_equal(says(i, NOW), HP3_HEARD_NEW);
	at.clock += CLOCK_S + 1; /* what they said is too old to count: there is room again */
	for (uint32_t i = n; i < 2 * n; i++)
		later += says(i, at.clock * S) == HP3_HEARD_NEW;
	assert_in_range(later, HP3_HEARD_SENDERS * 9 / 10, HP3_HEARD_SENDERS);
}

/* So many other senders speak now. */
static void others_speak(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		says(1000 + i, at.clock * S);
}

/* The records of those who spoke long ago are given up, and then a reload raises clock_s. */
static void rule_36_nor_where_clock_s_is_raised(void **state)
{
	uint32_t again = 0;

	for (uint32_t i = 0; i < 100; i++)
		assert_int_not_equal(says(i, NOW), HP3_HEARD_CLOCK);
	at.clock += CLOCK_S + 1;
	others_speak(HP3_HEARD_SENDERS / 4); /* and there is room in most sets still */
	at.clock_s = 10 * CLOCK_S;
	for (uint32_t i = 0; i < 100; i++)
		again += says(i, NOW) == HP3_HEARD_NEW;
	assert_int_equal(again, 0);
	at.clock += 10 * CLOCK_S + 1; /* who speaks now is heard: others' records may go */
	assert_int_equal(says(0, at.clock * S), HP3_HEARD_NEW);
}

/*
 * hp3d starts, and a peer is ahead of it. What the peer said before stays old when the record of
 * its first answer is given up, and then a reload raises clock_s.
 */
static void rule_36_nor_from_before_the_start(void **state)
{
	uint32_t again = 0;

	hp3_heard_init(&heard, 0x5eed, NOW);
	for (uint32_t i = 0; i < 100; i++)
		answers(i, NOW + 20 * S);
	at.clock += 20 + CLOCK_S + 1;
	for (uint32_t i = 0; i < 100; i++)
		says(i, at.clock * S + 20 * S);
	others_speak(HP3_HEARD_SENDERS / 4);
	at.clock_s = 10 * CLOCK_S;
	for (uint32_t i = 0; i < 100; i++)
		again += says(i, NOW + 15 * S) == HP3_HEARD_NEW;
	assert_int_equal(again, 0);
}

/* The clock is set back, others speak, and what was said ahead of it comes again in its time. */
static void rule_36_nor_where_the_clock_is_set_back(void **state)
{
	uint32_t again = 0, heard_of = 0;

	hp3_heard_init(&heard, 0x5eed, NOW - 10000 * S);
	for (uint32_t i = 0; i < 100; i++)
		heard_of += says(i, NOW) == HP3_HEARD_NEW;
	assert_int_equal(heard_of, 100);
	at.clock -= 2 * CLOCK_S;
	others_speak(HP3_HEARD_SENDERS / 4);
	at.clock = CLOCK;
	for (uint32_t i = 0; i < 100; i++)
		again += says(i, NOW) == HP3_HEARD_NEW;
	assert_int_equal(again, 0);
}

/* Seconds beyond 2^31 and 2^32, stamps and answers around a turn of 40 bits. */
static void rule_36_in_any_year(void **state)
{
	static const uint64_t years[] = {1ull << 31, 1ull << 32, (1ull << 40) / S, (3ull << 40) / S,
		(1ull << 48) / S, (1ull << 63) / S};

	for (unsigned i = 0; i < sizeof(years) / sizeof(years[0]); i++) {
		for (uint64_t clock = years[i] - 3; clock < years[i] + 4; clock++) {
			at.clock = clock;
			hp3_heard_init(&heard, 0x5eed, clock * S - 9 * S);
			answers(1, clock * S - 2 * S);
			assert_int_equal(says(1, clock * S - 2 * S), HP3_HEARD_OLD);
			assert_int_equal(says(2, clock * S - 2 * S), HP3_HEARD_NEW);
			for (uint64_t d = 0; d < 3 * S; d += S / 2)
				assert_int_equal(says(1, clock * S - S + d), HP3_HEARD_NEW);
			for (uint64_t d = 0; d < 3 * S; d += S / 2)
				assert_int_equal(says(1, clock * S - S + d), HP3_HEARD_AGAIN);
		}
	}
}

#define SPOKEN 60000u

/* Clocks go on and are set back, reloads change clock_s, records give way: what has acted never
 * acts again, and in the end who speaks is heard. */
static void rule_36_whatever_happens(void **state)
{
	static struct {
		uint32_t host;
		uint64_t stamp;
	} spoken[SPOKEN];
	static uint64_t last[4000];
	uint32_t n = 0, heard_of = 0;
	uint64_t rng = 36;

	hp3_heard_init(&heard, 0x5eed, 0);
	for (uint32_t i = 0; i < 20 * SPOKEN && n < SPOKEN; i++) {
		uint32_t what = hp3_random_below(&rng, 2000), host = hp3_random_below(&rng, 4000);
		uint64_t clock = at.clock * S + hp3_random_below(&rng, 20 * S);

		if (what < 4)
			at.clock += hp3_random_below(&rng, 100);
		else if (what == 4)
			at.clock -= hp3_random_below(&rng, 200);
		else if (what == 5)
			at.clock_s = 1u << hp3_random_below(&rng, 12);
		last[host] = hp3_heard_stamp(last[host], clock, at.clock_s);
		if (says(host, last[host]) == HP3_HEARD_NEW) {
			spoken[n].host = host;
			spoken[n++].stamp = last[host];
		}
		for (uint32_t k = 0; k < 4 && n > 0; k++) {
			uint32_t old = hp3_random_below(&rng, n);

			assert_int_not_equal(
				says(spoken[old].host, spoken[old].stamp), HP3_HEARD_NEW);
		}
	}
	assert_int_equal(n, SPOKEN);
	at.clock += 1u << 13;
	for (uint32_t host = 0; host < 1000; host++)
		heard_of += says(host, at.clock * S) == HP3_HEARD_NEW;
	assert_in_range(heard_of, 990, 1000);
}

/* --- frames --- */

static enum hp3_message_fate hears(const struct frame *f)
{
	const struct hp3_receiver rx = {&probe_keys, &heard, at, HP3_PROBE_PORT, &st};
	struct hp3_agree what;

	return hp3_agree_read(PARSED(f), &rx, &what);
}

/* Whatever its kind, one that was seen on the wire and is sent again later changes nothing. */
static void rule_36_of_no_kind(void **state)
{
	const struct hp3_addressing a = flow_addressing(false, HP3_PROBE_PORT);
	unsigned kinds = 0;

	for (uint8_t kind = 0; kind < HP3_AGREE_KIND_MAX; kind++) {
		struct hp3_agree what = {.kind = kind,
			.evs = 5,
			.next = HP3_NO_PSN,
			.slow = 31,
			.stamp_us = NOW + kind};
		struct frame f;

		f.len = (uint32_t)hp3_agree_build(f.b, sizeof(f.b), &a, &what, &probe_key);
		reparse(&f);
		at.clock = CLOCK;
		assert_int_equal(hears(&f), HP3_MESSAGE_OK);
		for (uint32_t s = 0; s <= CLOCK_S + 6; s += 9) {
			at.clock = CLOCK + s;
			assert_int_equal(hears(&f), HP3_MESSAGE_DROP);
		}
		kinds++;
	}
	assert_int_equal(st.messages_replayed, 4 * kinds);
	assert_int_equal(st.messages_bad_clock, kinds);
}

/* Stamps grow, whatever the clock does, or begin anew where old ones are worth nothing. */
static void a_clock_that_is_set_back(void **state)
{
	const uint64_t s = 1000000, at = CLOCK * s;

	assert_int_equal(hp3_heard_stamp(0, at, CLOCK_S), at);
	assert_int_equal(hp3_heard_stamp(at, at, CLOCK_S), at + 1);
	assert_int_equal(hp3_heard_stamp(at, at + 5, CLOCK_S), at + 5);
	assert_int_equal(hp3_heard_stamp(at, at - s, CLOCK_S), at + 1);
	assert_int_equal(hp3_heard_stamp(at, at - CLOCK_S * s, CLOCK_S), at + 1);
	assert_int_equal(hp3_heard_stamp(at, at - CLOCK_S * s - 1, CLOCK_S), at - CLOCK_S * s - 1);
	assert_int_equal(hp3_heard_stamp(UINT64_MAX, at, CLOCK_S), at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rule_36_each_message_acts_once, setup),
		cmocka_unit_test_setup(rule_36_they_may_be_lost_and_overtake_each_other, setup),
		cmocka_unit_test_setup(senders_and_kinds_are_apart, setup),
		cmocka_unit_test_setup(rule_36_nor_in_another_vlan, setup),
		cmocka_unit_test_setup(clocks_that_differ, setup),
		cmocka_unit_test_setup(rule_36_a_clock_that_is_ahead_silences_nobody, setup),
		cmocka_unit_test_setup(rule_36_a_clock_that_is_behind_hears_nothing_twice, setup),
		cmocka_unit_test_setup(an_answer_of_a_clock_that_is_nonsense, setup),
		cmocka_unit_test_setup(rule_36_nothing_is_forgotten_early, setup),
		cmocka_unit_test_setup(rule_36_nor_where_clock_s_is_raised, setup),
		cmocka_unit_test_setup(rule_36_nor_from_before_the_start, setup),
		cmocka_unit_test_setup(rule_36_nor_where_the_clock_is_set_back, setup),
		cmocka_unit_test_setup(rule_36_in_any_year, setup),
		cmocka_unit_test_setup(rule_36_whatever_happens, setup),
		cmocka_unit_test_setup(rule_36_of_no_kind, setup),
		cmocka_unit_test_setup(a_clock_that_is_set_back, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
