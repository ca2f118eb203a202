/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts agree on a key, independent of which host begins or restarts, and of losses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "keying_hosts.h"

static struct host a, b;
static uint64_t now;

static int setup(void **state)
{
	host_begin(&a, 1, 1);
	host_begin(&b, 2, 2);
	now = 1000 * SECOND;
	return 0;
}

static int adds_up(void **state)
{
	return stats_add_up(&a.st) && stats_add_up(&b.st) ? 0 : -1;
}

static void both_begin(void)
{
	assert_true(host_talks_to(&a, &b, now));
	assert_true(host_talks_to(&b, &a, now));
}

static void agree(void)
{
	both_begin();
	talk(&a, &b, now);
	assert_true(have_a_key(&a, &b));
}

static void two_hosts_agree(void **state)
{
	agree();
	assert_int_equal(a.st.keyed, 1);
	assert_int_equal(b.st.keyed, 1);
	assert_int_equal(a.st.computed, 1);
	assert_int_equal(b.st.computed, 1);
	assert_int_equal(a.st.asked + b.st.asked, 4); /* without a cookie, and with it */
	talk_until(&a, &b, &now, now + 14 * SECOND);
	assert_int_equal(a.st.asked + b.st.asked, 4);
}

static void ipv6_too(void **state)
{
	struct hp3_pair_ends there = {.ipv6 = 1, .src = {0xfd, [15] = 1}, .dst = {0xfd, [15] = 2}};
	struct hp3_pair_ends back = {.ipv6 = 1, .src = {0xfd, [15] = 2}, .dst = {0xfd, [15] = 1}};

	assert_true(hp3_keying_begin(a.k, &there, 0, now));
	assert_true(hp3_keying_begin(b.k, &back, 0, now));
	talk(&a, &b, now);
	assert_memory_equal(
		hp3_keying_find(a.k, &there), hp3_keying_find(b.k, &there), HP3_KEY_LEN);
	assert_memory_equal(hp3_keying_find(a.k, &back), hp3_keying_find(b.k, &back), HP3_KEY_LEN);
	assert_memory_not_equal(
		hp3_keying_find(a.k, &back), hp3_keying_find(a.k, &there), HP3_KEY_LEN);
}

/* An access port strips tags: the two ends see different VLANs. */
static void each_end_sees_its_own_vlan(void **state)
{
	struct frame f;

	a.vlan = 10;
	b.vlan = HP3_VLAN_AD | 7 | 10 << HP3_VLAN_INNER_SHIFT;
	assert_true(host_talks_to(&a, &b, now));
	assert_true(host_sends(&a, now, &f));
	assert_int_equal(f.v.vlan, 10);
	now += 300 * MS;
	agree();
	assert_int_equal(a.st.other_vlan + b.st.other_vlan, 0);
	talk_until(&a, &b, &now, now + 60 * SECOND);
	assert_true(have_a_key(&a, &b));
}

/* One message after the other, as they are meant. */
static void step_by_step(void **state)
{
	struct frame f;

	both_begin();
	assert_true(host_sends(&a, now, &f)); /* INIT */
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_ASKED);
	assert_true(host_answers(&b, now, &f)); /* COOKIE */
	assert_int_equal(info_of(&b, &a).state, HP3_KEYING_ASKED);
	assert_true(host_answers(&a, now, &f)); /* INIT */
	assert_false(host_answers(&b, now, &f));
	assert_int_equal(info_of(&b, &a).state, HP3_KEYING_COMPUTING);
	assert_true(host_sends(&b, now, &f)); /* REPLY */
	assert_int_equal(info_of(&b, &a).state, HP3_KEYING_ASKED);
	assert_false(host_answers(&a, now, &f));
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_COMPUTING);
	assert_true(host_sends(&a, now, &f)); /* CONFIRM */
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_HAS_KEY);
	assert_true(info_of(&a, &b).we_began);
	assert_false(host_answers(&b, now, &f));
	assert_int_equal(info_of(&b, &a).state, HP3_KEYING_HAS_KEY);
	assert_false(info_of(&b, &a).we_began);
	assert_true(have_a_key(&a, &b));
}

/* b takes REPLY and CONFIRM for the asking one, too, while its own INITs travel. */
static void both_ask_at_once(void **state)
{
	struct frame to_a[8], to_b[8], f;
	unsigned n_a, n_b = 0;
	bool any;

	both_begin();
	assert_true(host_sends(&a, now, &to_b[n_b++]));
	assert_true(host_sends(&b, now, &to_a[0]));
	n_a = 1;
	for (unsigned round = 0; round < 8; round++) {
		struct frame next_a[8], next_b[8];
		unsigned na = 0, nb = 0;
		struct hp3_keying_message m;

		for (unsigned i = 0; i < n_a; i++)
			if (f = to_a[i], host_answers(&a, now, &f))
				next_b[nb++] = f;
		for (unsigned i = 0; i < n_b; i++)
			if (f = to_b[i], host_answers(&b, now, &f))
				next_a[na++] = f;
		if (host_job(&a, now, &any, &m))
			frame_of(&m, &next_b[nb++]);
		if (host_job(&b, now, &any, &m))
			frame_of(&m, &next_a[na++]);
		memcpy(to_a, next_a, na * sizeof(f));
		memcpy(to_b, next_b, nb * sizeof(f));
		n_a = na;
		n_b = nb;
	}
	assert_int_equal(n_a + n_b, 0);
	assert_true(have_a_key(&a, &b));
	assert_int_equal(a.st.computed, 1);
	assert_int_equal(b.st.computed, 1);
}

/* The one whose peer has a key already asks, and is answered without an X25519. */
static void a_lost_confirm(void **state)
{
	struct frame f;

	both_begin();
	assert_true(host_sends(&a, now, &f));
	for (unsigned i = 0; i < 2; i++)
		assert_true(i % 2 ? host_answers(&a, now, &f) : host_answers(&b, now, &f));
	assert_false(host_answers(&b, now, &f));
	assert_true(host_sends(&b, now, &f));
	assert_false(host_answers(&a, now, &f));
	assert_true(host_sends(&a, now, &f)); /* CONFIRM, lost */
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_HAS_KEY);
	assert_int_equal(info_of(&b, &a).state, HP3_KEYING_ASKED);
	talk_until(&a, &b, &now, now + 200 * MS);
	assert_true(have_a_key(&a, &b));
	assert_int_equal(a.st.computed, 1);
	assert_int_equal(b.st.computed, 1);
}

/* b has asked in vain for so long that its next INIT is a minute away. */
static void who_waits_for_long_asks_soon(void **state)
{
	struct frame f;

	assert_true(host_talks_to(&b, &a, now));
	for (uint64_t end = now + 120 * SECOND; now < end; now += MS)
		host_sends(&b, now, &f);
	assert_true(host_talks_to(&a, &b, now));
	assert_true(host_sends(&a, now, &f));
	assert_true(host_answers(&b, now, &f) && host_answers(&a, now, &f));
	assert_false(host_answers(&b, now, &f));
	assert_true(host_sends(&b, now, &f)); /* REPLY, lost; and a asks no more */
	for (uint64_t end = now + 200 * MS; now < end; now += MS) {
		struct frame any;

		if (host_sends(&b, now, &any) && host_answers(&a, now, &any) &&
			host_answers(&b, now, &any) && !host_answers(&a, now, &any) &&
			host_sends(&a, now, &any))
			host_answers(&b, now, &any);
	}
	assert_int_equal(info_of(&b, &a).state, HP3_KEYING_HAS_KEY);
}

/* 0, 100, 300, 700 ms ..., then once a minute, until the RNIC has been silent for 5 minutes. */
static void nobody_answers(void **state)
{
	uint64_t begin = now, last = 0, gap = 0, wait = 100 * MS;
	unsigned n = 0;
	struct frame f;

	assert_true(host_talks_to(&a, &b, now));
	for (; now < begin + 400 * SECOND; now += MS) {
		if (!host_sends(&a, now, &f))
			continue;
		assert_false(host_sends(&a, now, &f));
		if (n++ != 0) {
			gap = now - last;
			assert_int_equal(gap, wait);
			wait = wait < 30 * SECOND ? 2 * wait : 60 * SECOND;
		}
		last = now;
	}
	assert_int_equal(gap, 60 * SECOND);
	assert_in_range(last - begin, 240 * SECOND, 300 * SECOND);
	assert_true(host_talks_to(&a, &b, now));
	now += 100 * MS;
	assert_true(host_sends(&a, now, &f));
}

static void a_restart_with_the_identity(void **state)
{
	const struct hp3_identity was = a.cfg.identity;
	struct hp3_keying_event event;
	uint8_t key[HP3_KEY_LEN];
	struct hp3_pair_ends there = ends_between(&a, &b);

	agree();
	memcpy(key, hp3_keying_find(b.k, &there), sizeof(key));
	assert_true(hp3_keying_event(b.k, &event));
	host_begin_again(&a, &was, 77);
	now += SECOND;
	agree();
	assert_memory_equal(key, hp3_keying_find(b.k, &there), sizeof(key));
	assert_false(hp3_keying_event(b.k, &event));
	assert_int_equal(b.st.computed, 1);
}

static void a_restart_without_the_identity(void **state)
{
	struct hp3_keying_event event;
	struct hp3_identity was;
	uint64_t begin;

	agree();
	was = a.cfg.identity;
	assert_true(hp3_keying_event(b.k, &event));
	assert_int_equal(event.kind, HP3_KEYING_KEYED);
	now += SECOND;
	begin = now;
	host_begin_again(&a, NULL, 77);
	assert_true(host_talks_to(&a, &b, now));
	while (!have_a_key(&a, &b)) {
		talk(&a, &b, now);
		now += MS;
		assert_true(now - begin < 12 * SECOND);
	}
	assert_true(now - begin > 10 * SECOND);
	assert_true(hp3_keying_event(b.k, &event));
	assert_int_equal(event.kind, HP3_KEYING_REPLACED);
	assert_memory_equal(event.before, was.public, HP3_PUBLIC_LEN);
	assert_memory_equal(event.public, a.cfg.identity.public, HP3_PUBLIC_LEN);
	assert_false(hp3_keying_event(b.k, &event));
	assert_int_equal(b.st.replaced, 1);
	assert_false(info_of(&b, &a).doubted);
}

static void both_restart_without(void **state)
{
	agree();
	host_begin_again(&a, NULL, 77);
	host_begin_again(&b, NULL, 78);
	now += SECOND;
	agree();
}

static void another_rail_of_the_same_host(void **state)
{
	b.cfg.instance = a.cfg.instance;
	b.cfg.identity = a.cfg.identity;
	b.k = hp3_keying_create(b.mem, sizeof(b.mem), &b.cfg, &b.st);
	agree();
	assert_int_equal(a.st.cloned + b.st.cloned, 0);
}

/* A copied disk: both are told, and one draws a new identity. */
static void two_hosts_of_one_identity(void **state)
{
	struct hp3_keying_event event_a, event_b;
	struct hp3_identity new;
	uint8_t seed[HP3_SEED_LEN] = {9};

	a.cfg.born_us = 1000;
	b.cfg.born_us = 1000000ull * 1000000; /* clocks may be far apart */
	host_begin_again(&a, &b.cfg.identity, 5);
	host_begin_again(&b, &b.cfg.identity, 6);
	both_begin();
	talk_until(&a, &b, &now, now + 59 * SECOND);
	assert_false(have_a_key(&a, &b));
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_ASKED);
	assert_true(info_of(&a, &b).cloned && info_of(&b, &a).cloned);
	assert_true(hp3_keying_event(a.k, &event_a) && hp3_keying_event(b.k, &event_b));
	assert_int_equal(event_a.kind, HP3_KEYING_CLONED);
	assert_int_equal(event_b.kind, HP3_KEYING_CLONED);
	assert_false(event_a.change);
	assert_true(event_b.change);
	assert_false(hp3_keying_event(a.k, &event_a) || hp3_keying_event(b.k, &event_b));
	/* Asked less and less, though each hears the other: 2 x 10 INITs, with a cookie as many. */
	assert_true(a.st.asked + b.st.asked <= 60);
	hp3_identity_from_seed(&new, seed);
	hp3_keying_become(b.k, &new, now);
	talk_until(&a, &b, &now, now + 61 * SECOND);
	assert_true(have_a_key(&a, &b));
	assert_false(info_of(&a, &b).cloned);
}

/* Virtual machines of one disk, started together. */
static void two_hosts_born_at_once(void **state)
{
	struct hp3_keying_event event_a, event_b;

	host_begin_again(&a, &b.cfg.identity, 5);
	host_begin_again(&b, &b.cfg.identity, 6);
	both_begin();
	talk_until(&a, &b, &now, now + SECOND);
	assert_true(hp3_keying_event(a.k, &event_a) && hp3_keying_event(b.k, &event_b));
	assert_true(event_a.change != event_b.change);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_hosts_agree, setup, adds_up),
		cmocka_unit_test_setup_teardown(ipv6_too, setup, adds_up),
		cmocka_unit_test_setup_teardown(each_end_sees_its_own_vlan, setup, adds_up),
		cmocka_unit_test_setup_teardown(step_by_step, setup, adds_up),
		cmocka_unit_test_setup_teardown(both_ask_at_once, setup, adds_up),
		cmocka_unit_test_setup_teardown(a_lost_confirm, setup, adds_up),
		cmocka_unit_test_setup_teardown(who_waits_for_long_asks_soon, setup, adds_up),
		cmocka_unit_test_setup_teardown(nobody_answers, setup, adds_up),
		cmocka_unit_test_setup_teardown(a_restart_with_the_identity, setup, adds_up),
		cmocka_unit_test_setup_teardown(a_restart_without_the_identity, setup, adds_up),
		cmocka_unit_test_setup_teardown(both_restart_without, setup, adds_up),
		cmocka_unit_test_setup_teardown(another_rail_of_the_same_host, setup, adds_up),
		cmocka_unit_test_setup_teardown(two_hosts_of_one_identity, setup, adds_up),
		cmocka_unit_test_setup_teardown(two_hosts_born_at_once, setup, adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
