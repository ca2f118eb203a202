/* SPDX-License-Identifier: BSD-3-Clause */
/* Key agreement while attackers forge, replay and flood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "keying_hosts.h"

#define UDP_PAYLOAD 42u

/* m sends with b's address, and has an identity of its own. */
static struct host a, b, m;
static uint64_t now, random_state;

static int setup(void **state)
{
	host_begin(&a, 1, 1);
	host_begin(&b, 2, 2);
	host_begin(&m, 2, 3);
	now = 1000 * SECOND;
	random_state = 1;
	return 0;
}

static int adds_up(void **state)
{
	return stats_add_up(&a.st) && stats_add_up(&b.st) ? 0 : -1;
}

static void agree(void)
{
	assert_true(host_talks_to(&a, &b, now));
	assert_true(host_talks_to(&b, &a, now));
	talk(&a, &b, now);
	assert_true(have_a_key(&a, &b));
}

static void forge(struct frame *f, const struct hp3_pair_ends *ends, const struct hp3_handshake *h)
{
	struct hp3_keying_message msg = {.to = *ends};

	msg.len = hp3_handshake_write(msg.bytes, h);
	frame_of(&msg, f);
}

static void draw(void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)bytes)[i] = (uint8_t)hp3_random(&random_state);
}

static struct hp3_handshake anything(enum hp3_handshake_kind kind)
{
	struct hp3_handshake h = {.kind = (uint8_t)kind};

	draw(h.public, sizeof(h.public));
	draw(h.cookie, sizeof(h.cookie));
	draw(h.proof, sizeof(h.proof));
	h.asked = hp3_random(&random_state);
	h.nonce = hp3_random(&random_state);
	h.instance = hp3_random(&random_state);
	return h;
}

static bool has_job(struct host *h)
{
	struct hp3_keying_job job;

	return hp3_keying_job(h->k, now, &job);
}

/* He sees nothing. */
static void a_flood_from_invented_addresses(void **state)
{
	struct hp3_keying_info info;
	struct frame f;
	uint32_t at = 0;

	for (uint32_t i = 0; i < 20000; i++) {
		struct hp3_pair_ends ends = {.src = {10, 9}, .dst = {10, 9, 0, 1}};
		struct hp3_handshake h =
			anything((enum hp3_handshake_kind)(HP3_HANDSHAKE_INIT + i % 4));

		ends.src[2] = (uint8_t)(i >> 8);
		ends.src[3] = (uint8_t)i;
		forge(&f, &ends, &h);
		now += MS / 100;
		assert_false(host_answers(&a, now, &f));
		assert_false(has_job(&a));
	}
	assert_int_equal(hp3_keying_list(a.k, &at, &info, 1), 0);
	assert_int_equal(a.st.unknown_peers, 20000);
}

static void a_flood_with_the_address_of_a_peer(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	uint64_t in = 0, out = 0;
	struct frame f;

	assert_true(host_talks_to(&a, &b, now));
	assert_true(host_sends(&a, now, &f));
	for (uint32_t i = 0; i < 20000; i++) {
		struct hp3_handshake h =
			anything((enum hp3_handshake_kind)(HP3_HANDSHAKE_INIT + i % 4));

		if (i % 8 == 0)
			memset(h.cookie, 0, sizeof(h.cookie));
		forge(&f, &ends, &h);
		in += f.len;
		if (host_answers(&a, now, &f))
			out += f.len;
		assert_true(out <= in);
		assert_false(has_job(&a));
	}
	assert_int_equal(a.st.cookies, 5000);
	assert_int_equal(a.st.stray, 15000);
	assert_int_equal(a.st.to_compute, 0);
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_ASKED);
	/* Those who know each other agree all the same. */
	assert_true(host_talks_to(&b, &a, now));
	talk_until(&a, &b, &now, now + 200 * MS);
	assert_true(have_a_key(&a, &b));
}

static void what_is_no_message(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_handshake h = anything(HP3_HANDSHAKE_INIT);
	struct hp3_keying_message out;
	struct frame f, good;

	assert_true(host_talks_to(&a, &b, now));
	forge(&good, &ends, &h);
	f = good;
	f.b[UDP_PAYLOAD] ^= 1; /* magic */
	assert_int_equal(hp3_keying_take(a.k, PARSED(&f), now, &out), HP3_KEYING_NONE);
	f = good;
	f.b[UDP_PAYLOAD + 1] ^= 0x10;
	assert_int_equal(hp3_keying_take(a.k, PARSED(&f), now, &out), HP3_KEYING_TAKEN);
	f = good;
	f.b[UDP_PAYLOAD + 2] ^= 1;
	assert_int_equal(hp3_keying_take(a.k, PARSED(&f), now, &out), HP3_KEYING_TAKEN);
	assert_int_equal(a.st.messages, 2);
	assert_int_equal(a.st.other_version, 1);
	assert_int_equal(a.st.bad_form, 1);
}

/* An INIT of m's with the cookie that a sent to b's address. */
static struct hp3_handshake init_with_cookie(const uint8_t public[HP3_PUBLIC_LEN])
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_handshake h = anything(HP3_HANDSHAKE_INIT), cookie;
	struct hp3_pair_ends back;
	struct frame f;

	memcpy(h.public, public, HP3_PUBLIC_LEN);
	forge(&f, &ends, &h);
	assert_true(host_answers(&a, now, &f));
	assert_int_equal(hp3_handshake_read(PARSED(&f), HP3_PROBE_PORT, &back, &cookie), 0);
	memcpy(h.cookie, cookie.cookie, sizeof(h.cookie));
	return h;
}

static void a_cookie_holds_for_one_init_and_two_minutes(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_handshake h, other;
	struct frame f;

	assert_true(host_talks_to(&a, &b, now));
	h = init_with_cookie(m.cfg.identity.public);
	other = h;
	other.asked++;
	forge(&f, &ends, &other);
	assert_true(host_answers(&a, now, &f)); /* a cookie */
	other = h;
	other.public[7] ^= 1;
	forge(&f, &ends, &other);
	assert_true(host_answers(&a, now, &f));
	assert_false(has_job(&a));
	now += 138 * SECOND;
	forge(&f, &ends, &h);
	assert_true(host_answers(&a, now, &f));
	assert_int_equal(a.st.cookies, 4);
	h = init_with_cookie(m.cfg.identity.public);
	now += 68 * SECOND;
	forge(&f, &ends, &h);
	assert_false(host_answers(&a, now, &f));
	assert_true(has_job(&a));
}

/* All that two hosts said, in any order, to both, for a minute: nothing changes. */
static void what_was_said_is_said_again(void **state)
{
	static struct frame said[32];
	struct hp3_keying_info info;
	struct hp3_keying_event event;
	const struct host *peers[2] = {&b, &a};
	struct host *hosts[2] = {&a, &b}, *turn = &b;
	uint8_t key[HP3_KEY_LEN];
	struct hp3_pair_ends there = ends_between(&a, &b);
	unsigned n = 0;

	assert_true(host_talks_to(&a, &b, now) && host_talks_to(&b, &a, now));
	for (unsigned i = 0; i < 8; i++) {
		struct frame f;

		while (host_sends(hosts[i % 2], now, &f)) {
			do {
				assert_true(n < 32);
				said[n++] = f;
				turn = memcmp(f.b + 26, a.address, 4) == 0 ? &b : &a;
			} while (host_answers(turn, now, &f));
		}
	}
	assert_true(have_a_key(&a, &b));
	assert_true(n >= 6);
	while (hp3_keying_event(a.k, &event) || hp3_keying_event(b.k, &event))
		;
	memcpy(key, hp3_keying_find(a.k, &there), sizeof(key));
	for (unsigned i = 0; i < 10000; i++) {
		struct frame f = said[hp3_random_below(&random_state, n)];
		uint64_t heard = info_of(hosts[i % 2], peers[i % 2]).heard;

		now += 6 * MS;
		if (host_answers(hosts[i % 2], now, &f))
			assert_true(f.len <= UDP_PAYLOAD + HP3_HANDSHAKE_MAX);
		info = info_of(hosts[i % 2], peers[i % 2]);
		assert_int_equal(info.state, HP3_KEYING_HAS_KEY);
		assert_true(info.heard == heard && !info.doubted);
		assert_false(has_job(&a) || has_job(&b));
	}
	assert_memory_equal(key, hp3_keying_find(a.k, &there), sizeof(key));
	assert_false(hp3_keying_event(a.k, &event) || hp3_keying_event(b.k, &event));
}

/* The public key of b, and no secret of it. */
static void a_proof_by_somebody_else(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_handshake init, reply;
	struct hp3_pair_ends back;
	struct frame f;

	assert_true(host_talks_to(&a, &b, now));
	for (unsigned i = 0; i < 3; i++) {
		bool any;
		struct hp3_keying_message msg;

		now += 6400 * MS;
		assert_true(host_sends(&a, now, &f));
		assert_int_equal(hp3_handshake_read(PARSED(&f), HP3_PROBE_PORT, &back, &init), 0);
		reply = anything(i % 2 ? HP3_HANDSHAKE_CONFIRM : HP3_HANDSHAKE_REPLY);
		memcpy(reply.public, b.cfg.identity.public, HP3_PUBLIC_LEN);
		reply.asked = init.asked;
		forge(&f, &ends, &reply);
		assert_false(host_answers(&a, now, &f));
		assert_false(host_job(&a, now, &any, &msg));
		assert_int_equal(info_of(&a, &b).state, HP3_KEYING_ASKED);
	}
	assert_int_equal(a.st.late_bad_proof, 1);
	assert_int_equal(a.st.bad_proof, 2); /* the secrets were there */
	assert_true(host_talks_to(&b, &a, now));
	talk_until(&a, &b, &now, now + 15 * SECOND);
	assert_true(have_a_key(&a, &b));
}

/* Back to where it came from, with the addresses exchanged. */
static void ones_own_messages(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_handshake h;
	struct hp3_pair_ends out;
	struct frame f, back;

	assert_true(host_talks_to(&a, &b, now));
	for (uint64_t end = now + 10 * SECOND; now < end; now += MS) {
		if (!host_sends(&a, now, &f))
			continue;
		do {
			back = f;
			assert_false(host_answers(&a, now, &f)); /* as it is */
			assert_int_equal(
				hp3_handshake_read(PARSED(&back), HP3_PROBE_PORT, &out, &h), 0);
			forge(&back, &ends, &h);
			f = back;
		} while (host_answers(&a, now, &f));
	}
	assert_null(hp3_keying_find(a.k, &ends));
	assert_int_equal(a.st.cloned, 0);
}

/* He sees all, sends with b's address, and has an identity: b lives, and says something. */
static void another_identity_while_the_old_one_is_heard(void **state)
{
	const struct hp3_pair_ends back = ends_between(&b, &a);
	struct hp3_identity was;
	uint64_t end;

	agree();
	was = b.cfg.identity;
	assert_true(host_talks_to(&m, &a, now));
	for (end = now + 60 * SECOND; now < end; now += MS) {
		if (now % SECOND == 0)
			hp3_keying_heard(a.k, &back, now);
		talk(&a, &m, now); /* b sees nothing of it */
	}
	assert_true(have_a_key(&a, &b));
	assert_memory_equal(info_of(&a, &b).public, was.public, HP3_PUBLIC_LEN);
	assert_int_equal(a.st.replaced, 0);
	assert_true(a.st.others_refused > 0);
	assert_int_equal(a.st.computed, 1); /* nothing was computed for m */
	/* b is silent from now on, and m asks more often. */
	host_begin_again(&m, &m.cfg.identity, 4);
	assert_true(host_talks_to(&m, &a, now));
	for (end = now + 9 * SECOND; now < end; now += MS)
		talk(&a, &m, now);
	assert_true(have_a_key(&a, &b));
	for (end = now + 4 * SECOND; now < end; now += MS)
		talk(&a, &m, now);
	assert_true(have_a_key(&a, &m));
	assert_int_equal(a.st.replaced, 1);
}

/* b lives, but says nothing by itself: a asks. */
static void another_identity_while_the_old_one_is_quiet(void **state)
{
	agree();
	now += 3600 * SECOND;
	assert_true(host_talks_to(&a, &b, now));
	assert_true(host_talks_to(&m, &a, now));
	for (uint64_t end = now + 120 * SECOND; now < end; now += MS) {
		struct frame f, again;

		if (host_sends(&m, now, &f))
			while (host_answers(&a, now, &f) && host_answers(&m, now, &f))
				;
		if (!host_sends(&a, now, &f))
			continue;
		again = f; /* both hear it, m is the first to answer */
		while (host_answers(&m, now, &again) && host_answers(&a, now, &again))
			;
		while (host_answers(&b, now, &f) && host_answers(&a, now, &f))
			;
	}
	assert_true(have_a_key(&a, &b));
	assert_int_equal(a.st.replaced, 0);
	assert_true(a.st.others_refused > 0);
}

/* While the X25519 for another identity is done, the old one says something. */
static void the_old_one_speaks_at_the_last_moment(void **state)
{
	const struct hp3_pair_ends back = ends_between(&b, &a);
	struct hp3_keying_message out;
	struct hp3_keying_job job;
	bool wanted = false;

	agree();
	assert_true(host_talks_to(&m, &a, now));
	for (uint64_t end = now + 30 * SECOND; now < end && !wanted; now += MS) {
		struct frame f;

		if (host_sends(&m, now, &f))
			while (host_answers(&a, now, &f) && host_answers(&m, now, &f))
				;
		wanted = hp3_keying_job(a.k, now, &job);
	}
	assert_true(wanted);
	hp3_keying_compute(&job);
	hp3_keying_heard(a.k, &back, now);
	assert_false(hp3_keying_done(a.k, &job, now, &out));
	assert_int_equal(a.st.late_others, 1);
	assert_true(have_a_key(&a, &b));
}

/* On the path, with right cookies: a few X25519s, then one a second. */
static void public_keys_without_end(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	unsigned jobs = 0;

	assert_true(host_talks_to(&a, &b, now));
	for (uint64_t end = now + 10 * SECOND; now < end; now += 20 * MS) {
		struct hp3_keying_message out;
		struct hp3_identity id;
		uint8_t seed[HP3_SEED_LEN];
		struct hp3_handshake h;
		struct frame f;
		bool any;

		draw(seed, sizeof(seed));
		hp3_identity_from_seed(&id, seed);
		h = init_with_cookie(id.public);
		forge(&f, &ends, &h);
		assert_false(host_answers(&a, now, &f));
		host_job(&a, now, &any, &out);
		jobs += any;
	}
	assert_in_range(jobs, 9, 14);
	assert_int_equal(a.st.busy + a.st.over_budget, 500 - jobs);
	assert_true(host_talks_to(&b, &a, now)); /* when it is over, all is well */
	talk_until(&a, &b, &now, now + 15 * SECOND);
	assert_true(have_a_key(&a, &b));
}

static void one_init_without_end(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_handshake h;
	unsigned answers = 0;
	struct frame f;

	agree();
	h = init_with_cookie(b.cfg.identity.public);
	for (unsigned i = 0; i < 10000; i++) {
		now += MS / 10;
		forge(&f, &ends, &h);
		answers += host_answers(&a, now, &f);
	}
	assert_in_range(answers, 100, 117);
	assert_int_equal(a.st.flooded, 10000 - answers);
}

/* A user of b's host, while b's hp3d is stopped and after that: he has no privileged port. */
static void a_user_of_the_host(void **state)
{
	const struct hp3_pair_ends back = ends_between(&b, &a);
	struct hp3_keying_message msg;
	struct frame f;

	agree();
	assert_true(host_talks_to(&m, &a, now));
	for (uint64_t end = now + 60 * SECOND; now < end; now += MS) {
		bool any;

		if (now % SECOND == 0)
			host_talks_to(&a, &b, now);
		while (hp3_keying_tick(m.k, now, &msg) || host_job(&m, now, &any, &msg)) {
			frame_from(&msg, 1024 + now % 64000, &f);
			assert_false(host_answers(&a, now, &f));
			frame_from(&msg, HP3_PROBE_PORT, &f);
			assert_false(host_answers(&a, now, &f));
		}
		while (host_sends(&a, now, &f)) /* which he sees */
			if (host_take(&m, &f, now, &msg)) {
				frame_from(&msg, HP3_PROBE_PORT, &f);
				assert_false(host_answers(&a, now, &f));
			}
	}
	assert_null(hp3_keying_find(a.k, &back));
	assert_true(a.st.unprivileged > 20);
	assert_true(host_talks_to(&b, &a, now));
	talk_until(&a, &b, &now, now + 200 * MS);
	assert_true(have_a_key(&a, &b));
	assert_int_equal(a.st.replaced, 0);
}

/* m is in VLAN `vlan`, and sees only what is sent there. The RNIC of a talks to b's address. */
static void other_vlan_until(uint64_t end, uint32_t vlan)
{
	for (; now < end; now += MS) {
		struct frame f;

		if (now % SECOND == 0)
			assert_true(host_talks_to(&a, &b, now) && host_talks_to(&m, &a, now));
		while (host_sends(&m, now, &f)) {
			do
				put_in_vlan(&f, vlan);
			while (host_answers(&a, now, &f) && host_answers(&m, now, &f));
		}
		while (host_sends(&a, now, &f)) {
			assert_true(f.v.vlan != vlan || a.vlan == vlan);
			while (f.v.vlan == vlan && host_answers(&m, now, &f) &&
				host_answers(&a, now, &f))
				;
		}
	}
}

/* Nobody gets a key there, whether b's address has one, had one, or never had; until the RNIC
 * talks to that VLAN, and no more to the other one. */
static void the_address_in_another_vlan(void **state)
{
	a.vlan = b.vlan = 10;
	m.vlan = 20;
	other_vlan_until(now + 60 * SECOND, 20);
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_ASKED);
	assert_true(a.st.other_vlan > 5);
	assert_int_equal(a.st.cookies, 0);
	talk_until(&a, &b, &now, now + SECOND);
	host_talks_to(&b, &a, now);
	talk(&a, &b, now);
	assert_true(have_a_key(&a, &b));
	other_vlan_until(now + 20 * SECOND, 20);
	assert_true(have_a_key(&a, &b));
	assert_false(info_of(&a, &b).doubted);
	other_vlan_until(now + 60 * SECOND, 20);
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_ASKED);
	assert_int_equal(a.st.silent, 1); /* b was */
	a.vlan = 20;
	other_vlan_until(now + 180 * SECOND, 20);
	assert_true(have_a_key(&a, &m));
	assert_int_equal(a.st.keyed + a.st.replaced, 2);
}

/* One that shows the identity that has the key learns a nonce, and proves another one. */
static void a_nonce_from_another_vlan(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_handshake h, reply;
	struct hp3_pair_ends back;
	struct frame f;

	agree();
	h = init_with_cookie(b.cfg.identity.public);
	now += SECOND;
	forge(&f, &ends, &h);
	put_in_vlan(&f, 20);
	assert_true(host_answers(&a, now, &f));
	assert_int_equal(hp3_handshake_read(PARSED(&f), HP3_PROBE_PORT, &back, &reply), 0);
	for (enum hp3_handshake_kind kind = HP3_HANDSHAKE_REPLY; kind <= HP3_HANDSHAKE_CONFIRM;
		kind++) {
		h = anything(kind);
		h.asked = reply.nonce;
		forge(&f, &ends, &h);
		put_in_vlan(&f, 20);
		assert_false(host_answers(&a, now, &f));
	}
	assert_int_equal(a.st.other_vlan, 2);
	assert_false(has_job(&a) || info_of(&a, &b).doubted);
}

/* With the address of a peer, seeing nothing: cookies cost little, but no more are sent than that.
 */
static void first_messages_without_end(void **state)
{
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_handshake h = anything(HP3_HANDSHAKE_INIT);
	unsigned answers = 0;
	struct frame f, init;

	assert_true(host_talks_to(&a, &b, now));
	forge(&init, &ends, &h);
	for (unsigned i = 0; i < 100000; i++) {
		now += MS / 100;
		f = init;
		answers += host_answers(&a, now, &f);
	}
	assert_in_range(answers, 2 * HP3_KEYING_COOKIES - 1, 2 * HP3_KEYING_COOKIES + 1);
	assert_int_equal(a.st.cookies, answers);
	assert_int_equal(a.st.cookies_refused, 100000 - answers);
	/* b gets no cookie here. It gives one to a, which asks as well. */
	host_begin_again(&a, &a.cfg.identity, 7);
	assert_true(host_talks_to(&a, &b, now) && host_talks_to(&b, &a, now));
	for (unsigned i = 0; i < 1000; i++) {
		for (unsigned j = 0; j < (i == 0 ? HP3_KEYING_COOKIES : 11); j++) {
			f = init;
			host_answers(&a, now, &f);
		}
		talk(&a, &b, now);
		now += MS;
	}
	assert_true(have_a_key(&a, &b));
}

/* Anybody knows the shared point of such a public key. Its place is free at once. */
static void a_public_key_of_low_order(void **state)
{
	static const uint8_t low[HP3_PUBLIC_LEN] = {1};
	const struct hp3_pair_ends ends = ends_between(&b, &a);
	struct hp3_keying_message out;
	struct hp3_handshake h;
	unsigned jobs = 0;
	struct frame f;
	bool any;

	assert_true(host_talks_to(&a, &b, now));
	for (uint64_t end = now + 10 * SECOND; now < end; now += 20 * MS) {
		h = init_with_cookie(low);
		forge(&f, &ends, &h);
		assert_false(host_answers(&a, now, &f));
		assert_false(host_job(&a, now, &any, &out));
		jobs += any;
	}
	assert_in_range(jobs, 10, 14);
	assert_int_equal(a.st.weak, jobs);
	assert_int_equal(a.st.over_budget, 500 - jobs);
	assert_int_equal(info_of(&a, &b).state, HP3_KEYING_ASKED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, adds_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_flood_from_invented_addresses),
		TEST(a_flood_with_the_address_of_a_peer),
		TEST(what_is_no_message),
		TEST(a_cookie_holds_for_one_init_and_two_minutes),
		TEST(what_was_said_is_said_again),
		TEST(a_proof_by_somebody_else),
		TEST(ones_own_messages),
		TEST(another_identity_while_the_old_one_is_heard),
		TEST(another_identity_while_the_old_one_is_quiet),
		TEST(the_old_one_speaks_at_the_last_moment),
		TEST(public_keys_without_end),
		TEST(one_init_without_end),
		TEST(a_user_of_the_host),
		TEST(the_address_in_another_vlan),
		TEST(a_nonce_from_another_vlan),
		TEST(first_messages_without_end),
		TEST(a_public_key_of_low_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
