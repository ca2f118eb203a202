/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of hosts about sprayed queue pairs: their content, and which are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include "probe_frames.h"
#include "probes/agree.h"
#include "probes/answer.h"
#include "probes/pair_keys.h"

#define CLOCK   1700000000u
#define CLOCK_S 30u
#define BORN    ((CLOCK - 1000) * 1000000ull)

static struct hp3_probe_stats st;
static struct hp3_heard heard;

static const struct hp3_agree message = {.kind = HP3_AGREE_SLOW,
	.pmtu_log2 = 12,
	.evs = 64,
	.port = 0xfedc,
	.in_use = 0xc123,
	.responder = 0xabcdef,
	.requester = 0x123456,
	.number = 0xdeadbeef,
	.turn = 0x80000001,
	.keepalive_us = 1000,
	.room = 2032,
	.next = 0xfffffe,
	.slow = 0x8000000000000001ull};

static void build(struct frame *f, bool ipv6, const struct hp3_agree *a, uint64_t clock_us,
	const struct hp3_probe_key *key)
{
	struct hp3_addressing from = flow_addressing(ipv6, HP3_PROBE_PORT);
	struct hp3_agree sent = *a;
	int n;

	sent.stamp_us = clock_us;
	n = hp3_agree_build(f->b, sizeof(f->b), &from, &sent, key);
	assert_true(n > 0);
	f->len = (uint32_t)n;
	reparse(f);
}

static enum hp3_message_fate take(
	const struct frame *f, const struct hp3_probe_key *key, struct hp3_agree *a)
{
	const struct hp3_probe_keys keys = {{*key}};
	const struct hp3_receiver rx = {&keys, &heard, {CLOCK, CLOCK_S}, HP3_PROBE_PORT, &st};

	return hp3_agree_read(PARSED(f), &rx, a);
}

static int setup(void **state)
{
	st = (struct hp3_probe_stats){0};
	hp3_heard_init(&heard, 1, BORN);
	return 0;
}

static void tells_what_it_was_told(void **state)
{
	for (uint8_t kind = 0; kind < HP3_AGREE_KIND_MAX; kind++) {
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			struct hp3_agree a = message, got;
			struct frame f;

			a.kind = kind;
			a.reads = kind / 2 % 2;
			a.next = kind % 2 ? HP3_NO_PSN : message.next;
			build(&f, ipv6, &a, CLOCK * 1000000ull + kind, &probe_key);
			assert_int_equal(f.v.class, HP3_CLASS_OTHER);
			assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_OK);
			assert_int_equal(got.kind, kind);
			assert_int_equal(got.reads, a.reads);
			assert_int_equal(got.pmtu_log2, a.pmtu_log2);
			assert_int_equal(got.evs, a.evs);
			assert_int_equal(got.port, a.port);
			assert_int_equal(got.in_use, a.in_use);
			assert_int_equal(got.responder, a.responder);
			assert_int_equal(got.requester, a.requester);
			assert_int_equal(got.number, a.number);
			assert_int_equal(got.room, a.room);
			assert_int_equal(got.turn, a.turn);
			assert_int_equal(got.keepalive_us, a.keepalive_us);
			assert_int_equal(got.next, a.next);
			assert_true(got.slow == a.slow);
		}
	}
	assert_int_equal(st.agreements, 2 * HP3_AGREE_KIND_MAX);
}

/* One bit wrong anywhere in the datagram, checksum repaired or not. */
static void a_changed_bit_is_noticed(void **state)
{
	struct frame f, good;
	struct hp3_agree got;

	build(&good, false, &message, CLOCK * 1000000ull, &probe_key);
	for (uint32_t bit = 8 * 42; bit < 8 * good.len; bit++) {
		f = good;
		f.b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		store_udp_csum(f.b, 14, 34);
		assert_int_not_equal(take(&f, &probe_key, &got), HP3_MESSAGE_OK);
		f.b[40] = f.b[41] = 0; /* UDP: no checksum */
		assert_int_not_equal(take(&f, &probe_key, &got), HP3_MESSAGE_OK);
	}
	assert_true(st.messages_bad_tag > 0);
	assert_true(st.messages_bad_form > 0);
	assert_int_equal(st.agreements, 0);
}

static void neither_another_key_nor_another_time(void **state)
{
	struct hp3_agree got;
	struct frame f;

	build(&f, false, &message, CLOCK * 1000000ull, &no_key);
	assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_DROP);
	assert_int_equal(st.messages_bad_tag, 1);
	for (int sign = -1; sign <= 1; sign += 2) {
		build(&f, true, &message, (CLOCK + sign * CLOCK_S) * 1000000ull, &probe_key);
		assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_OK);
		build(&f, true, &message, (CLOCK + sign * (CLOCK_S + 1)) * 1000000ull, &probe_key);
		assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_DROP);
	}
	assert_int_equal(st.messages_bad_clock, 2);
	build(&f, false, &message, BORN, &probe_key);
	assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_DROP);
	build(&f, false, &message, UINT64_MAX, &probe_key);
	assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_DROP);
	assert_int_equal(st.messages_bad_clock, 4);
}

static void without_a_key_none_is_believed(void **state)
{
	struct hp3_agree got;
	struct frame f;

	build(&f, false, &message, CLOCK * 1000000ull, &no_key);
	assert_int_equal(take(&f, &no_key, &got), HP3_MESSAGE_DROP);
	build(&f, false, &message, CLOCK * 1000000ull, &probe_key);
	assert_int_equal(take(&f, &no_key, &got), HP3_MESSAGE_DROP);
	assert_int_equal(st.messages_unkeyed, 2);
	assert_int_equal(st.agreements, 0);
}

/* What was told before the receiver began may be a replay. */
static void what_is_older_than_the_receiver(void **state)
{
	struct frame f;

	hp3_heard_init(&heard, 1, (CLOCK - 10) * 1000000ull + 7);
	for (uint64_t age = 21; age-- > 0;) {
		struct hp3_agree got;

		build(&f, false, &message, (CLOCK - age) * 1000000ull + 7, &probe_key);
		assert_int_equal(
			take(&f, &probe_key, &got), age < 10 ? HP3_MESSAGE_OK : HP3_MESSAGE_DROP);
	}
	assert_int_equal(st.messages_old, 11);
}

static void another_version_is_named(void **state)
{
	struct hp3_agree got;
	struct frame f;

	build(&f, false, &message, CLOCK * 1000000ull, &probe_key);
	f.b[14 + 20 + 8 + 1] = 1 << 4;
	assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_DROP);
	assert_int_equal(take(&f, &no_key, &got), HP3_MESSAGE_DROP);
	assert_int_equal(st.messages_version, 2);
	assert_int_equal(st.messages_bad_form + st.messages_bad_tag + st.messages_unkeyed, 0);
}

/* Probes, answers, and what is cut or longer than a message. */
static void others_are_left_alone(void **state)
{
	struct hp3_answer answer = {.id = 1}, read;
	struct frame probe, f;
	struct hp3_agree got;

	make_probe(&probe, false, 1, 1, &probe_key);
	assert_int_equal(take(&probe, &probe_key, &got), HP3_MESSAGE_NONE);
	f.len = (uint32_t)hp3_answer_build(
		f.b, sizeof(f.b), PARSED(&probe), &answer, RECEIVER(&probe_keys, NULL));
	reparse(&f);
	assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_NONE);
	build(&f, false, &message, CLOCK * 1000000ull, &probe_key);
	assert_int_equal(
		hp3_answer_read(PARSED(&f), RECEIVER(&probe_keys, &st), &read), HP3_MESSAGE_NONE);
	for (uint32_t len = 0; len < f.len; len++) {
		struct frame cut = f;

		cut.len = len;
		reparse(&cut);
		assert_int_equal(take(&cut, &probe_key, &got), HP3_MESSAGE_NONE);
	}
	for (int more = -8; more <= 8; more += 4) {
		if (more == 0)
			continue;
		build(&f, false, &message, CLOCK * 1000000ull, &probe_key);
		f.len = (uint32_t)((int)f.len + more);
		f.b[17] = (uint8_t)(f.b[17] + more);
		f.b[39] = (uint8_t)(f.b[39] + more);
		store_udp_csum(f.b, 14, 34);
		reparse(&f);
		assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_NONE);
	}
	assert_int_equal(st.messages_bad_form + st.messages_bad_tag, 0);
}

static void too_small_a_buffer(void **state)
{
	struct hp3_addressing a = flow_addressing(false, HP3_PROBE_PORT);
	uint8_t b[128];

	assert_int_equal(hp3_agree_build(b, 14 + 20 + 8 + 48 + 7, &a, &message, &no_key), -ENOSPC);
}

/* With the key, and yet nonsense. */
static void nonsense_of_a_friend(void **state)
{
	const struct {
		uint8_t kind, pmtu_log2, evs;
	} bad[] = {{HP3_AGREE_KIND_MAX, 12, 64}, {15, 12, 64}, {0, 7, 64}, {0, 13, 64}, {0, 12, 0},
		{0, 12, 65}};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hp3_agree a = message, got;
		struct frame f;

		a.kind = bad[i].kind;
		a.pmtu_log2 = bad[i].pmtu_log2;
		a.evs = bad[i].evs;
		build(&f, true, &a, CLOCK * 1000000ull, &probe_key);
		assert_int_equal(take(&f, &probe_key, &got), HP3_MESSAGE_DROP);
	}
	assert_int_equal(st.messages_bad_form, sizeof(bad) / sizeof(bad[0]));
}

/* Hosts that have files of keys, and no secret in common. */
static void by_the_key_of_the_two_hosts(void **state)
{
	const struct hp3_addressing a = flow_addressing(false, 0xc001);
	struct hp3_pair_keys *keys = calloc(1, sizeof(*keys) + sizeof(struct hp3_pair_key));
	struct hp3_probe_key here = {{1}, keys}, there = {{2}, keys};
	struct hp3_agree got;
	struct frame f;

	assert_non_null(keys);
	keys->n = 1;
	keys->pair[0].ends = hp3_pair_ends_of(false, a.src_ip, a.dst_ip);
	memset(keys->pair[0].key, 0x5a, HP3_KEY_LEN);
	build(&f, false, &message, CLOCK * 1000000ull, &here);
	assert_int_equal(take(&f, &there, &got), HP3_MESSAGE_OK);
	keys->pair[0].key[0] ^= 1;
	assert_int_equal(take(&f, &there, &got), HP3_MESSAGE_DROP);
	free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tells_what_it_was_told, setup),
		cmocka_unit_test_setup(a_changed_bit_is_noticed, setup),
		cmocka_unit_test_setup(neither_another_key_nor_another_time, setup),
		cmocka_unit_test_setup(without_a_key_none_is_believed, setup),
		cmocka_unit_test_setup(what_is_older_than_the_receiver, setup),
		cmocka_unit_test_setup(another_version_is_named, setup),
		cmocka_unit_test_setup(others_are_left_alone, setup),
		cmocka_unit_test_setup(too_small_a_buffer, setup),
		cmocka_unit_test_setup(nonsense_of_a_friend, setup),
		cmocka_unit_test_setup(by_the_key_of_the_two_hosts, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
