/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys that pairs of hosts agreed on: pairs with a key follow docs/guide/security.md for keys,
 * others follow it for no key, on the same host at the same time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "probes/agree.h"
#include "responder_rig.h"

#define FRIENDS         1u /* last byte of the address of the host that has a key; in the low byte */
#define UNAUTHENTICATED 9u

/* Of the friend to this host, and back. */
static const uint8_t key_in[HP3_KEY_LEN] = {1, 2, 3}, key_out[HP3_KEY_LEN] = {3, 2, 1};
static unsigned lookups;

static uint8_t last_of(const uint8_t *address, bool ipv6)
{
	return address[ipv6 ? 15 : 3];
}

static const uint8_t *find(const void *table, const struct hp3_pair_ends *ends)
{
	uint8_t src = last_of(ends->src, ends->ipv6), dst = last_of(ends->dst, ends->ipv6);

	assert_ptr_equal(table, &lookups);
	lookups++;
	if (src == FRIENDS && dst == 2)
		return key_in;
	return src == 2 && dst == FRIENDS ? key_out : NULL;
}

static const struct hp3_probe_key agreed = {.agreed = find, .table = &lookups};
static const struct hp3_probe_keys agreed_keys = {{{.agreed = find, .table = &lookups}}};

static int setup(void **state)
{
	responder_setup(state);
	cfg.keys = agreed_keys;
	responder_anew();
	return 0;
}

/* To this host, of that one: over IPv4, IPv6, without a VLAN and in one. */
static struct hp3_addressing from(uint8_t host, unsigned way)
{
	struct hp3_addressing a = flow_addressing(way & 1, 0xc123);

	a.src_ip[way & 1 ? 15 : 3] = host;
	if (way & 2)
		a.tag[0] = hp3_tag_8021q(5);
	if (way & 4)
		a.tag[1] = hp3_tag_8021q(6);
	return a;
}

#define WAYS 8u

static void probe_of(struct frame *f, const struct hp3_addressing *a, uint32_t id, uint64_t time,
	const struct hp3_probe_key *key)
{
	struct hp3_peer_probe p = {.dest_qpn = 1,
		.psn = 2,
		.id = id,
		.time = time,
		.cookie = hp3_probe_cookie(&host_secret, a, id)};

	f->len = (uint32_t)hp3_peer_build(f->b, sizeof(f->b), a, &p, key);
	reparse(f);
}

static void report_of(struct frame *f, const struct hp3_addressing *a, uint8_t number,
	const struct hp3_probe_key *key)
{
	struct hp3_peer_probe p = {.dest_qpn = 1,
		.psn = 2,
		.id = hp3_report_id(0x42, number),
		.time = CLOCK * 1000000ull + number,
		.report = true};

	f->len = (uint32_t)hp3_peer_build(f->b, sizeof(f->b), a, &p, key);
	reparse(f);
}

static void a_probe_needs_the_tag_of_its_pair(void **state)
{
	struct frame f;

	for (unsigned way = 0; way < WAYS; way++) {
		struct hp3_addressing friendly = from(FRIENDS, way),
				      other = from(UNAUTHENTICATED, way);

		now += SEC;
		probe_of(&f, &friendly, way, CLOCK, &agreed);
		assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
		probe_of(&f, &friendly, 100 + way, CLOCK, &no_key);
		assert_int_equal(take(&f), HP3_RESPOND_DROP);
		assert_int_equal(st.bad_tag, way + 1);
		probe_of(&f, &other, way, CLOCK, &no_key);
		assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
		probe_of(&f, &other, 100 + way, CLOCK, &agreed); /* who has no key has a cookie */
		assert_int_equal(hp3_peer_cookie(f.b, &f.v),
			hp3_probe_cookie(&host_secret, &other, 100 + way));
	}
	expect_sum();
}

static void a_key_is_for_one_direction(void **state)
{
	const struct hp3_addressing a = from(FRIENDS, 0);
	struct hp3_probe_key back = {.bytes = {0}};
	struct frame f;

	memcpy(back.bytes, key_out, sizeof(key_out));
	probe_of(&f, &a, 1, CLOCK, &back);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_tag, 1);
}

static void a_clock_counts_for_who_has_a_key(void **state)
{
	const struct hp3_addressing friendly = from(FRIENDS, 1), other = from(UNAUTHENTICATED, 1);
	struct frame f;

	probe_of(&f, &friendly, 1, CLOCK - 31, &agreed);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_clock, 1);
	probe_of(&f, &other, 1, CLOCK - 31, &agreed);
	assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
	expect_sum();
}

static void a_report_is_believed_of_who_has_a_key(void **state)
{
	struct frame f;

	for (uint8_t way = 0; way < WAYS; way++) {
		const struct hp3_addressing friendly = from(FRIENDS, way),
					    other = from(UNAUTHENTICATED, way);

		now += SEC;
		report_of(&f, &other, way, &no_key);
		assert_int_equal(take(&f), HP3_RESPOND_DROP);
		assert_int_equal(st.reports_unkeyed, way + 1);
		report_of(&f, &friendly, 20 + way, &no_key);
		assert_int_equal(take(&f), HP3_RESPOND_DROP);
		assert_int_equal(st.bad_tag, way + 1);
		report_of(&f, &friendly, 40 + way, &agreed);
		assert_int_equal(take(&f), HP3_RESPOND_REPORT);
		assert_int_equal(take(&f), HP3_RESPOND_DROP);
		assert_int_equal(st.replayed, way + 1);
	}
	expect_sum();
}

/* Whoever has no key shares what unauthenticated sources get; who has one does not need to be known
 * besides. */
static void unauthenticated_take_nothing_from_who_has_a_key(void **state)
{
	uint32_t answered = 0, unauthenticated = 0;
	struct hp3_addressing a;
	struct hp3_answer answer;
	struct frame f;

	cfg.sources = 8;
	cfg.window = 65536;
	responder_anew();
	for (uint32_t i = 0; i < 40000; i++, now += SEC / 20000) {
		a = from(UNAUTHENTICATED, 0);
		hp3_put_be16(a.src_ip, (uint16_t)(0x0b00 + i % 5000));
		probe_of(&f, &a, i, CLOCK, &no_key);
		unauthenticated += hp3_responder_take(r, PARSED(&f), false, AT_NOW, &answer) ==
				   HP3_RESPOND_ANSWER;
		if (i % 400 != 0)
			continue;
		a = from(FRIENDS, 0);
		probe_of(&f, &a, i, CLOCK, &agreed);
		answered += hp3_responder_take(r, PARSED(&f), false, AT_NOW, &answer) ==
			    HP3_RESPOND_ANSWER;
	}
	assert_int_equal(answered, 100);
	assert_in_range(unauthenticated, 2 * 160, 32 + 2 * 160);
	assert_int_equal(st.flood_unknown, 40000 - unauthenticated);
	expect_sum();
}

static enum hp3_message_fate answer_to(const struct hp3_addressing *to, uint32_t id,
	const struct hp3_probe_keys *theirs, struct hp3_probe_stats *got)
{
	const struct hp3_answer answer = {.id = id};
	struct hp3_answer read;
	struct frame probe, f;

	probe_of(&probe, to, id, CLOCK, &agreed);
	f.len = (uint32_t)hp3_answer_build(
		f.b, sizeof(f.b), PARSED(&probe), &answer, RECEIVER(theirs, NULL));
	reparse(&f);
	return hp3_answer_read(PARSED(&f), RECEIVER(&agreed_keys, got), &read);
}

/* The answerer sees the cookie of the probe, and has the key or not. */
static void an_answer_needs_the_tag_of_its_pair(void **state)
{
	struct hp3_probe_stats got = {0};

	for (unsigned way = 0; way < WAYS; way++) {
		struct hp3_addressing friendly = from(2, way), other = friendly;
		uint8_t last = way & 1 ? 15 : 3;

		friendly.dst_ip[last] = FRIENDS;
		other.dst_ip[last] = UNAUTHENTICATED;
		assert_int_equal(answer_to(&friendly, way, &agreed_keys, &got), HP3_MESSAGE_OK);
		assert_int_equal(answer_to(&friendly, way, &no_keys, &got), HP3_MESSAGE_DROP);
		assert_int_equal(got.answers_bad_tag, way + 1);
		assert_int_equal(answer_to(&other, way, &no_keys, &got), HP3_MESSAGE_OK);
	}
	assert_int_equal(got.answers, 2 * WAYS);
}

static enum hp3_message_fate agreement_of(const struct hp3_addressing *a,
	const struct hp3_probe_key *key, uint32_t stamp, struct hp3_probe_stats *got)
{
	const struct hp3_receiver rx = {&agreed_keys, &heard, {CLOCK, 30}, HP3_PROBE_PORT, got};
	const struct hp3_agree said = {.kind = HP3_AGREE_ASK,
		.evs = 8,
		.number = 1,
		.stamp_us = CLOCK * 1000000ull + stamp};
	struct hp3_addressing own = *a;
	struct hp3_agree what;
	struct frame f;

	own.sport = HP3_PROBE_PORT;
	f.len = (uint32_t)hp3_agree_build(f.b, sizeof(f.b), &own, &said, key);
	reparse(&f);
	return hp3_agree_read(PARSED(&f), &rx, &what);
}

static void agreements_are_believed_of_who_has_a_key(void **state)
{
	struct hp3_probe_stats got = {0};

	for (uint32_t way = 0; way < WAYS; way++) {
		const struct hp3_addressing friendly = from(FRIENDS, way),
					    other = from(UNAUTHENTICATED, way);

		assert_int_equal(agreement_of(&friendly, &agreed, 1 + way, &got), HP3_MESSAGE_OK);
		assert_int_equal(agreement_of(&friendly, &agreed, 1 + way, &got), HP3_MESSAGE_DROP);
		assert_int_equal(got.messages_replayed, way + 1);
		assert_int_equal(
			agreement_of(&friendly, &no_key, 20 + way, &got), HP3_MESSAGE_DROP);
		assert_int_equal(got.messages_bad_tag, way + 1);
		assert_int_equal(agreement_of(&other, &no_key, way, &got), HP3_MESSAGE_DROP);
		assert_int_equal(agreement_of(&other, &agreed, way, &got), HP3_MESSAGE_DROP);
		assert_int_equal(got.messages_unkeyed, 2 * (way + 1));
	}
}

/* A secret of the fabric is for all: the table of pairs is not asked. */
static void a_group_asks_no_table(void **state)
{
	const struct hp3_addressing other = from(UNAUTHENTICATED, 0);
	struct frame f;

	cfg.keys = probe_keys;
	responder_anew();
	lookups = 0;
	probe_of(&f, &other, 1, CLOCK, &probe_key);
	assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
	probe_of(&f, &other, 2, CLOCK, &no_key);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(lookups, 0);
}

int main(void)
{
#define PAIR_TEST(f) cmocka_unit_test_setup_teardown(f, setup, responder_teardown)
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_probe_needs_the_tag_of_its_pair),
		PAIR_TEST(a_key_is_for_one_direction),
		PAIR_TEST(a_clock_counts_for_who_has_a_key),
		PAIR_TEST(a_report_is_believed_of_who_has_a_key),
		PAIR_TEST(unauthenticated_take_nothing_from_who_has_a_key),
		PAIR_TEST(an_answer_needs_the_tag_of_its_pair),
		PAIR_TEST(agreements_are_believed_of_who_has_a_key),
		PAIR_TEST(a_group_asks_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
