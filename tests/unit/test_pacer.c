/* SPDX-License-Identifier: BSD-3-Clause */
/* The pacer: exactly the rate, never above it beyond the burst; no rounding errors, no wraps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "cc/pacer.h"

#define MBPS UINT64_C(1000000)
#define GBPS UINT64_C(1000000000)
#define MS   UINT64_C(1000000)

static uint64_t seed = 0x5eed0001;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* 1,250 bytes at 10 Gb/s take 1 us. */
static void the_next_packet_waits_for_the_last_one(void **state)
{
	struct hp3_pacer p;

	hp3_pacer_init(&p, 10 * GBPS, 5000);
	assert_int_equal(hp3_pacer_when(&p, 0, 5000), 5000);
	hp3_pacer_sent(&p, 1250, 5000);
	assert_in_range(hp3_pacer_when(&p, 0, 5000), 5999, 6000);
	assert_int_equal(hp3_pacer_when(&p, 0, 7000), 7000);
	hp3_pacer_sent(&p, 125, 7000);
	assert_in_range(hp3_pacer_when(&p, 0, 7000), 7099, 7100);
}

/* Debt up to the burst does not wait; what is above it does. */
static void a_burst_may_leave_at_once_and_idling_saves_no_more(void **state)
{
	struct hp3_pacer p;

	hp3_pacer_init(&p, 10 * GBPS, 0);
	for (int round = 0; round < 3; round++) {
		uint64_t now = (uint64_t)round * 1000 * MS, n = 0;

		while (hp3_pacer_when(&p, 5000, now) == now) {
			hp3_pacer_sent(&p, 1250, now);
			n++;
		}
		/* debt 0, 1250, .. 5000: five packets, four of them the burst */
		assert_int_equal(n, 5);
		assert_in_range(hp3_pacer_when(&p, 5000, now), now + 999, now + 1000);
	}
}

/* A million packets, each served when it asked to be, end within a nanosecond of the exact time. */
static void a_million_packets_do_not_drift(void **state)
{
	static const struct {
		uint64_t rate;
		uint32_t bytes;
	} cases[] = {
		{MBPS, 65536},
		{MBPS, 64},
		{7 * MBPS, 1082},
		{333333337, 4170},
		{10 * GBPS, 1082},
		{99999999977, 1066},
		{400 * GBPS, 65536},
		{400 * GBPS, 64},
		{1000 * GBPS, 82},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hp3_pacer p;
		uint64_t now = 0;
		long double exact = (long double)cases[i].bytes * 8e9L / (long double)cases[i].rate;

		hp3_pacer_init(&p, cases[i].rate, 0);
		for (int n = 0; n < 1000000; n++) {
			now = hp3_pacer_when(&p, 0, now);
			hp3_pacer_sent(&p, cases[i].bytes, now);
		}
		assert_true((long double)now <= exact * 999999 + 1);
		assert_true((long double)now >= exact * 999999 - 1);
	}
}

/* Whatever the sizes, pauses and late service: no window carries more than rate x w + burst + the
 * last packet. Every window that ends at a packet is checked by its running excess. */
static void no_window_exceeds_the_rate_beyond_the_burst(void **state)
{
	print_message("seed %#llx\n", (unsigned long long)seed);
	for (int round = 0; round < 200; round++) {
		uint64_t rate = (1 + rnd(400000)) * MBPS, now = rnd(1000000);
		uint32_t burst = (uint32_t)rnd(20000);
		long double excess = 0, last = (long double)now;
		struct hp3_pacer p;

		hp3_pacer_init(&p, rate, now);
		for (int n = 0; n < 2000; n++) {
			uint32_t bytes = 64 + (uint32_t)rnd(rnd(8) ? 4200 : 65473);

			now = hp3_pacer_when(&p, burst, now);
			if (rnd(4) == 0)
				now += rnd(20000);
			/* bytes beyond what the rate allows, over the worst window that ends here
			 */
			excess -= ((long double)now - last) * (long double)rate / 8e9L;
			if (excess < 0)
				excess = 0;
			last = (long double)now;
			assert_true(excess <= burst + (long double)rate / 8e9L + 0.001L);
			hp3_pacer_sent(&p, bytes, now);
			excess += bytes;
		}
	}
}

/* 64 KB sent at 1 Mb/s block for half a second; at 100 Gb/s the rest is gone in 5 us. */
static void a_higher_rate_takes_hold_at_once(void **state)
{
	struct hp3_pacer p;

	hp3_pacer_init(&p, MBPS, 0);
	hp3_pacer_sent(&p, 65536, 0);
	assert_in_range(hp3_pacer_when(&p, 0, 0), 524287999, 524288000);
	hp3_pacer_set_rate(&p, 100 * GBPS, 1000);
	assert_in_range(hp3_pacer_when(&p, 0, 1000), 6241, 6243);
	/* and back: what is still owed is owed in bytes */
	hp3_pacer_set_rate(&p, MBPS, 3621);
	assert_in_range(hp3_pacer_when(&p, 0, 3621), 262 * MS, 263 * MS);
}

/* Rate changes alone must not win time: with the rate flapping at every packet the bytes that leave
 * are those of the mean rate. */
static void changing_rates_add_up(void **state)
{
	struct hp3_pacer p;
	uint64_t now = 0, rate = 10 * GBPS;
	long double allowed = 0, sent = 0;

	print_message("seed %#llx\n", (unsigned long long)seed);
	hp3_pacer_init(&p, rate, 0);
	for (int n = 0; n < 200000; n++) {
		uint64_t at = hp3_pacer_when(&p, 0, now), change = now + rnd(300);

		if (change < at) {
			allowed += (long double)(change - now) * (long double)rate / 8e9L;
			rate = (1 + rnd(100000)) * MBPS;
			hp3_pacer_set_rate(&p, rate, change);
			now = change;
			continue;
		}
		allowed += (long double)(at - now) * (long double)rate / 8e9L;
		now = at;
		/* one nanosecond at 100 Gb/s is 12.5 bytes: the slack of a rate that falls right
		 * then */
		assert_true(sent <= allowed + 4200 + 13);
		hp3_pacer_sent(&p, 1082, now);
		sent += 1082;
	}
	assert_true(sent >= allowed - 1);
}

static void extremes_saturate(void **state)
{
	struct hp3_pacer p;

	hp3_pacer_init(&p, 400 * GBPS, 0);
	for (int n = 0; n < 100000; n++)
		hp3_pacer_sent(&p, UINT32_MAX, 0);
	/* 2^64 units at 400 Gb/s are 46 ms, not an instant */
	assert_in_range(hp3_pacer_when(&p, 0, 0), 46 * MS, 47 * MS);
	assert_int_equal(hp3_pacer_when(&p, UINT32_MAX, 0), 0);
	assert_int_equal(hp3_pacer_when(&p, 0, UINT64_MAX), UINT64_MAX);

	/* rate 0 is the smallest rate, not a division by zero: 64 bytes at 10 kb/s take 51.2 ms */
	hp3_pacer_init(&p, 0, 0);
	hp3_pacer_sent(&p, 64, 0);
	assert_in_range(hp3_pacer_when(&p, 0, 0), 51199999, 51200000);

	/* time that steps back pays nothing off and blocks nothing for good */
	hp3_pacer_init(&p, GBPS, 1000);
	hp3_pacer_sent(&p, 1250, 1000);
	assert_in_range(hp3_pacer_when(&p, 0, 400), 10999, 11000);
}

/* Rule 14. Local ACK timeout 14 (67.1 ms) and a hold queue of 1 MiB: 500 Mb/s. */
static void rule_14_a_full_queue_drains_within_a_quarter_of_the_rto(void **state)
{
	uint64_t rto = UINT64_C(4096) << 14;

	assert_int_equal(hp3_pacer_floor(1 << 20, rto), 500000000);
	assert_int_equal(hp3_pacer_floor(1000, 4000000), 8000000);
	assert_int_equal(hp3_pacer_floor(0, rto), 0);
	assert_int_equal(hp3_pacer_floor(1 << 20, 0), 0);
	assert_int_equal(hp3_pacer_floor(UINT64_MAX, rto), UINT64_MAX);

	print_message("seed %#llx\n", (unsigned long long)seed);
	for (int n = 0; n < 1000; n++) {
		uint64_t queue = 1 + rnd(1 << 22), left = queue, now = 0;
		struct hp3_pacer p;

		rto = UINT64_C(4096) << (8 + rnd(14));
		hp3_pacer_init(&p, hp3_pacer_floor(queue, rto), 0);
		while (left > 0) {
			uint32_t bytes = left < 4170 ? (uint32_t)left : 4170;

			now = hp3_pacer_when(&p, 0, now);
			hp3_pacer_sent(&p, bytes, now);
			left -= bytes;
		}
		if (queue * 8 * 4 * GBPS / rto > 10000)
			assert_true(now <= rto / 4);
	}
}

/* What left before its turn is owed, and waited for: it counts with the queue. */
static void rule_14_so_does_one_behind_what_is_owed(void **state)
{
	const uint32_t burst = 2000, owed = 85000, queue = 20000;
	const uint64_t rto = 8000000;
	struct hp3_pacer p;

	hp3_pacer_init(&p, GBPS, 0);
	assert_int_equal(hp3_pacer_owed(&p, burst, 0), 0);
	hp3_pacer_sent(&p, burst, 0);
	assert_int_equal(hp3_pacer_owed(&p, burst, 0), 0);
	hp3_pacer_sent(&p, owed, 0);
	assert_int_equal(hp3_pacer_owed(&p, burst, 0), owed);
	assert_int_equal(hp3_pacer_owed(&p, burst, 8), owed - 1); /* 8 bit at 1 Gb/s */
	hp3_pacer_set_rate(&p, hp3_pacer_floor(queue + hp3_pacer_owed(&p, burst, 0), rto), 0);
	assert_true(hp3_pacer_when(&p, burst, 0) <= rto / 4 * owed / (owed + queue) + 1);
	for (uint32_t left = queue; left > 0; left -= 1000)
		hp3_pacer_sent(&p, 1000, 0);
	assert_true(hp3_pacer_when(&p, burst, 0) <= rto / 4 + 1);
	p.debt = UINT64_MAX;
	assert_int_equal(hp3_pacer_owed(&p, 0, 0), UINT64_MAX / UINT64_C(8000000000) + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_packet_waits_for_the_last_one),
		cmocka_unit_test(a_burst_may_leave_at_once_and_idling_saves_no_more),
		cmocka_unit_test(a_million_packets_do_not_drift),
		cmocka_unit_test(no_window_exceeds_the_rate_beyond_the_burst),
		cmocka_unit_test(a_higher_rate_takes_hold_at_once),
		cmocka_unit_test(changing_rates_add_up),
		cmocka_unit_test(extremes_saturate),
		cmocka_unit_test(rule_14_so_does_one_behind_what_is_owed),
		cmocka_unit_test(rule_14_a_full_queue_drains_within_a_quarter_of_the_rto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
