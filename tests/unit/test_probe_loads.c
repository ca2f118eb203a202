/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of flows by path: their content, and which are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "probe_frames.h"
#include "probes/answer.h"

#define CLOCK   1700000000u
#define CLOCK_S 30u
#define BORN    ((CLOCK - 1000) * 1000000ull)

static struct hp3_probe_stats st;
static struct hp3_heard heard;

static struct hp3_loads make_report(uint8_t n, uint64_t clock)
{
	static uint64_t told;

	return (struct hp3_loads){.clock_us = clock * 1000000ull + told++,
		.count = {.out = (uint16_t)(n * 17), .in = (uint16_t)(n * 19)}};
}

static void build(
	struct frame *f, bool ipv6, const struct hp3_loads *r, const struct hp3_probe_key *key)
{
	struct hp3_addressing a = flow_addressing(ipv6, 0xc001);
	int n = hp3_loads_build(f->b, sizeof(f->b), &a, r, HP3_PROBE_PORT, key);

	assert_true(n > 0);
	f->len = (uint32_t)n;
	reparse(f);
}

static enum hp3_loads_fate take(
	const struct frame *f, const struct hp3_probe_key *key, struct hp3_loads *r)
{
	const struct hp3_probe_keys keys = {{*key}};
	const struct hp3_loads_ear ear = {&keys, &heard, {CLOCK, CLOCK_S}, HP3_PROBE_PORT, &st};

	return hp3_loads_read(f->b, f->len, &f->v, &ear, r);
}

static int setup(void **state)
{
	st = (struct hp3_probe_stats){0};
	hp3_heard_init(&heard, 1, BORN);
	return 0;
}

static void tells_what_it_was_told(void **state)
{
	for (uint8_t n = 0; n < 32; n++) {
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			struct hp3_loads r = make_report(n, CLOCK), got;
			struct frame f;

			build(&f, ipv6, &r, &probe_key);
			assert_int_equal(f.v.class, HP3_CLASS_OTHER);
			assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_OK);
			assert_int_equal(got.clock_us, r.clock_us);
			assert_int_equal(got.count.out, n * 17 < 255 ? n * 17 : 255);
			assert_int_equal(got.count.in, n * 19 < 255 ? n * 19 : 255);
		}
	}
	assert_int_equal(st.loads, 64);
}

/* Longer or shorter than a report; of another kind. */
static void what_makes_no_sense(void **state)
{
	const uint32_t head = 14 + 20 + 8;
	struct hp3_loads r = make_report(1, CLOCK), got;
	struct frame f;

	for (int more = -8; more <= 8; more += 4) {
		if (more == 0)
			continue;
		build(&f, false, &r, &probe_key);
		f.len = (uint32_t)((int)f.len + more);
		f.b[17] = (uint8_t)(f.b[17] + more);
		f.b[39] = (uint8_t)(f.b[39] + more);
		store_udp_csum(f.b, 14, 34);
		reparse(&f);
		assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_DROP);
	}
	assert_int_equal(st.messages_bad_form, 4);
	for (uint8_t kind = 1; kind < 16; kind++) {
		build(&f, false, &r, &probe_key);
		f.b[head + 1] |= kind;
		store_udp_csum(f.b, 14, 34);
		assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_DROP);
	}
	assert_int_equal(st.messages_bad_form, 19);
	assert_int_equal(st.loads, 0);
}

/* One bit wrong anywhere in the datagram, checksum repaired or not. */
static void a_changed_bit_is_noticed(void **state)
{
	struct hp3_loads r = make_report(5, CLOCK), got;
	struct frame f, good;

	build(&good, false, &r, &probe_key);
	for (uint32_t bit = 8 * 42; bit < 8 * good.len; bit++) {
		f = good;
		f.b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		store_udp_csum(f.b, 14, 34);
		assert_int_not_equal(take(&f, &probe_key, &got), HP3_LOADS_OK);
	}
	assert_true(st.messages_bad_tag > 0);
	r = make_report(4, CLOCK);
	build(&good, false, &r, &probe_key);
	for (uint32_t bit = 8 * 42; bit < 8 * good.len; bit++) {
		f = good;
		f.b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		f.b[40] = f.b[41] = 0; /* UDP: no checksum */
		assert_int_not_equal(take(&f, &probe_key, &got), HP3_LOADS_OK);
	}
	assert_int_equal(st.loads, 0);
	assert_true(st.messages_bad_form > 0);
}

static void neither_another_key_nor_another_time(void **state)
{
	struct hp3_loads r = make_report(1, CLOCK), got;
	struct frame f;

	build(&f, false, &r, &no_key);
	assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_DROP);
	assert_int_equal(st.messages_bad_tag, 1);
	for (int sign = -1; sign <= 1; sign += 2) {
		r = make_report(1, CLOCK + sign * (int)CLOCK_S);
		build(&f, true, &r, &probe_key);
		assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_OK);
		r = make_report(1, CLOCK + sign * (int)(CLOCK_S + 1));
		build(&f, true, &r, &probe_key);
		assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_DROP);
	}
	assert_int_equal(st.messages_bad_clock, 2);
	r.clock_us = UINT64_MAX;
	build(&f, true, &r, &probe_key);
	assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_DROP);
	assert_int_equal(st.messages_bad_clock, 3);
}

static void without_a_key_none_is_believed(void **state)
{
	struct hp3_loads r = make_report(1, CLOCK), got;
	struct frame f;

	build(&f, false, &r, &no_key);
	assert_int_equal(take(&f, &no_key, &got), HP3_LOADS_DROP);
	build(&f, false, &r, &probe_key);
	assert_int_equal(take(&f, &no_key, &got), HP3_LOADS_DROP);
	assert_int_equal(st.messages_unkeyed, 2);
	assert_int_equal(st.loads, 0);
}

/* What was told before the receiver began may be a replay. */
static void what_is_older_than_the_receiver(void **state)
{
	struct frame f;

	hp3_heard_init(&heard, 1, (CLOCK - 10) * 1000000ull + 7);
	for (int age = 20; age >= 0; age--) {
		struct hp3_loads r = make_report(1, CLOCK), got;

		r.clock_us = (CLOCK - (uint64_t)age) * 1000000ull + 7;
		build(&f, false, &r, &probe_key);
		assert_int_equal(
			take(&f, &probe_key, &got), age < 10 ? HP3_LOADS_OK : HP3_LOADS_DROP);
	}
	assert_int_equal(st.messages_old, 11);
}

static void another_version_is_named(void **state)
{
	struct hp3_loads r = make_report(3, CLOCK), got;
	struct frame f;

	build(&f, false, &r, &probe_key);
	f.b[14 + 20 + 8 + 1] = 1 << 4;
	assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_DROP);
	assert_int_equal(take(&f, &no_key, &got), HP3_LOADS_DROP);
	assert_int_equal(st.messages_version, 2);
	assert_int_equal(st.messages_bad_form + st.messages_bad_tag + st.messages_unkeyed, 0);
}

static void others_are_left_alone(void **state)
{
	struct hp3_answer answer = {.id = 1}, read;
	struct hp3_loads r = make_report(2, CLOCK), got;
	struct frame probe, f;

	make_probe(&probe, false, 1, 1, &probe_key);
	assert_int_equal(take(&probe, &probe_key, &got), HP3_LOADS_NONE);
	f.len = (uint32_t)hp3_answer_build(
		f.b, sizeof(f.b), probe.b, &probe.v, &answer, HP3_PROBE_PORT, &probe_keys);
	reparse(&f);
	assert_int_equal(take(&f, &probe_key, &got), HP3_LOADS_NONE);
	build(&f, false, &r, &probe_key);
	assert_int_equal(hp3_answer_read(f.b, f.len, &f.v, HP3_PROBE_PORT, &probe_keys,
				 &host_secret, &read, &st),
		HP3_ANSWER_NONE);
	for (uint32_t len = 0; len < f.len; len++) {
		struct frame cut = f;

		cut.len = len;
		reparse(&cut);
		assert_int_equal(take(&cut, &probe_key, &got), HP3_LOADS_NONE);
	}
	assert_int_equal(st.messages_bad_form + st.messages_bad_tag, 0);
}

static void too_small_a_buffer(void **state)
{
	struct hp3_addressing a = flow_addressing(false, 1);
	struct hp3_loads r = make_report(3, CLOCK);
	uint8_t b[64];

	assert_int_equal(
		hp3_loads_build(b, 14 + 20 + 8 + 12 + 7, &a, &r, HP3_PROBE_PORT, &no_key), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tells_what_it_was_told, setup),
		cmocka_unit_test_setup(what_makes_no_sense, setup),
		cmocka_unit_test_setup(a_changed_bit_is_noticed, setup),
		cmocka_unit_test_setup(neither_another_key_nor_another_time, setup),
		cmocka_unit_test_setup(without_a_key_none_is_believed, setup),
		cmocka_unit_test_setup(what_is_older_than_the_receiver, setup),
		cmocka_unit_test_setup(another_version_is_named, setup),
		cmocka_unit_test_setup(others_are_left_alone, setup),
		cmocka_unit_test_setup(too_small_a_buffer, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
