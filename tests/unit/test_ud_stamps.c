/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps of an RNIC: which are accepted, and which are refused for which reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/ud/stamps.h"
#include "base/random.h"

#define MS  UINT64_C(1000000)
#define KHZ UINT64_C(156250) /* a tick is 6.4 ns, as of a ConnectX */

static struct hp3d_ud_stamps s;
static uint32_t took;

static uint64_t ticks_of(uint64_t ns)
{
	return ns * KHZ / MS;
}

/* A probe posted at 1 s, its answer looked at `after` ns later: stamped so. */
static enum hp3d_ud_timing judge(uint32_t id, uint64_t left, uint64_t arrived, uint64_t after)
{
	hp3d_ud_stamp_posted(&s, id, 1000 * MS);
	hp3d_ud_stamp_left(&s, id, left);
	return hp3d_ud_stamp_judge(&s, id, arrived, 1000 * MS + after, &took);
}

static void begin(uint64_t mask)
{
	hp3d_ud_stamps_init(&s, mask, KHZ);
	assert_true(hp3d_ud_stamps_are_there(&s));
}

static void test_the_wire_is_timed(void **state)
{
	begin(UINT64_MAX);
	assert_int_equal(judge(7, 5000, 5000 + ticks_of(12 * MS), 40 * MS), HP3D_UD_TIMING_stamped);
	assert_in_range(took, 12 * MS - 7, 12 * MS);
}

/* Nearly at once on a fast wire, or so long that 32 bits do not hold it. */
static void test_from_a_tick_to_seconds(void **state)
{
	begin(UINT64_MAX);
	assert_int_equal(judge(7, 9, 10, MS), HP3D_UD_TIMING_stamped);
	assert_int_equal(took, 6);
	assert_int_equal(judge(8, 9, 9 + ticks_of(6000 * MS), 7000 * MS), HP3D_UD_TIMING_stamped);
	assert_int_equal(took, UINT32_MAX);
}

static void test_no_counter(void **state)
{
	static const struct {
		uint64_t mask, khz;
	} none[] = {{0, KHZ}, {UINT64_MAX, 0}, {UINT64_MAX, 999}, {UINT64_MAX, UINT64_C(1) << 40},
		{0xffff, KHZ}, {0xfffffffe, KHZ}, {UINT64_MAX - 1, KHZ}, {0, 0}};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		hp3d_ud_stamps_init(&s, none[i].mask, none[i].khz);
		assert_false(hp3d_ud_stamps_are_there(&s));
		assert_int_equal(judge(7, 5, 6, MS), HP3D_UD_TIMING_unstamped);
		assert_int_equal(took, 0);
	}
	memset(&s, 0, sizeof(s));
	assert_int_equal(judge(7, 5, 6, MS), HP3D_UD_TIMING_unstamped);
}

/* Counters of any width come round between the probe and its answer. */
static void test_wraps(void **state)
{
	for (unsigned bits = 24; bits <= 64; bits++) {
		uint64_t mask = UINT64_MAX >> (64 - bits);

		begin(mask);
		for (uint64_t back = 0; back < 2000; back += 37) {
			uint64_t left = mask - back, arrived = (left + 1000) & mask;

			assert_int_equal(
				judge((uint32_t)back, left, arrived, MS), HP3D_UD_TIMING_stamped);
			assert_int_equal(took, 6400);
		}
	}
}

/* Bits above the counter's are not its own. */
static void test_bits_above(void **state)
{
	begin(0xffffffff);
	assert_int_equal(judge(7, UINT64_C(0xabcd00000100), UINT64_C(0x12340000013c), MS),
		HP3D_UD_TIMING_stamped);
	assert_int_equal(took, 384);
}

static void test_backwards(void **state)
{
	begin(UINT64_MAX);
	assert_int_equal(judge(7, 5000, 4999, MS), HP3D_UD_TIMING_stamp_backwards);
	assert_int_equal(took, 0);
	begin(UINT64_MAX); /* the RNIC began anew */
	assert_int_equal(judge(7, UINT64_C(1) << 50, 100, MS), HP3D_UD_TIMING_stamp_backwards);
	begin(UINT64_MAX); /* it stands still */
	assert_int_equal(judge(7, 5000, 5000, MS), HP3D_UD_TIMING_stamp_backwards);
}

/* No answer arrives later than it was looked at, but for what two clocks may differ. */
static void test_later_than_looked_at(void **state)
{
	begin(UINT64_MAX);
	assert_int_equal(
		judge(7, 0, ticks_of(10 * MS + 10 * MS / 2000), 10 * MS), HP3D_UD_TIMING_stamped);
	assert_int_equal(
		judge(8, 0, ticks_of(10 * MS + MS / 10), 10 * MS), HP3D_UD_TIMING_stamp_too_late);
	assert_int_equal(took, 0);
	begin(UINT64_MAX); /* from 0 to anything */
	assert_int_equal(judge(9, 0, UINT64_MAX / 2, 10 * MS), HP3D_UD_TIMING_stamp_too_late);
}

/* For a second nothing is believed, then it is again. */
static void test_distrust(void **state)
{
	begin(UINT64_MAX);
	assert_int_equal(judge(1, 50, 40, MS), HP3D_UD_TIMING_stamp_backwards);
	assert_int_equal(judge(2, 50, 60, MS), HP3D_UD_TIMING_stamp_distrusted);
	assert_int_equal(took, 0);
	assert_int_equal(
		judge(3, 50, 60, HP3D_UD_DISTRUST_NS + MS - 1), HP3D_UD_TIMING_stamp_distrusted);
	assert_int_equal(judge(4, 50, 60, HP3D_UD_DISTRUST_NS + MS), HP3D_UD_TIMING_stamped);
}

static void test_missing(void **state)
{
	begin(UINT64_MAX);
	assert_int_equal(hp3d_ud_stamp_judge(&s, 0, 5, 1000 * MS, &took),
		HP3D_UD_TIMING_stamp_missing); /* never posted, although all is zero */
	hp3d_ud_stamp_posted(&s, 7, 1000 * MS);
	assert_int_equal(
		hp3d_ud_stamp_judge(&s, 7, 5, 1001 * MS, &took), HP3D_UD_TIMING_stamp_missing);
	hp3d_ud_stamp_left(&s, 8, 5); /* another one's */
	assert_int_equal(
		hp3d_ud_stamp_judge(&s, 7, 9, 1001 * MS, &took), HP3D_UD_TIMING_stamp_missing);
	assert_int_equal(judge(7, 5, 9, MS), HP3D_UD_TIMING_stamped);
	assert_int_equal(hp3d_ud_stamp_judge(&s, 7, 9, 1001 * MS, &took),
		HP3D_UD_TIMING_stamp_missing); /* answered twice */
	hp3d_ud_stamp_posted(&s, 7, 1000 * MS); /* the number again, not stamped yet */
	assert_int_equal(
		hp3d_ud_stamp_judge(&s, 7, 9, 1001 * MS, &took), HP3D_UD_TIMING_stamp_missing);
}

/* Of thousands in flight, each is timed right, or said to be missing. */
static void test_many_at_once(void **state)
{
	enum { N = 400 };
	uint64_t rng = 18;
	unsigned int stamped = 0;

	begin(0xffffffffff);
	for (int round = 0; round < 100; round++) {
		uint32_t ids[N];
		uint64_t start = hp3_random(&rng);

		for (uint32_t i = 0; i < N; i++) {
			ids[i] = (uint32_t)hp3_random(&rng);
			hp3d_ud_stamp_posted(&s, ids[i], 1000 * MS);
			hp3d_ud_stamp_left(&s, ids[i], start);
		}
		for (uint32_t i = 0; i < N; i++)
			if (hp3d_ud_stamp_judge(&s, ids[i], start + 1000 * (i + 1), 1010 * MS,
				    &took) == HP3D_UD_TIMING_stamped) {
				assert_int_equal(took, 6400 * (i + 1));
				stamped++;
			}
	}
	assert_true(stamped > 100 * N / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_wire_is_timed),
		cmocka_unit_test(test_from_a_tick_to_seconds),
		cmocka_unit_test(test_no_counter),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_bits_above),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_later_than_looked_at),
		cmocka_unit_test(test_distrust),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_many_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
