/* SPDX-License-Identifier: BSD-3-Clause */
/* No probe is answered twice: the window of answered probes, and the clocks that bound it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "responder_rig.h"

static void replayed(void **state)
{
	struct frame f;

	make_probe(&f, false, 1, CLOCK, &probe_key);
	assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
	for (uint32_t s = 0; s <= 30; s++) {
		now += SEC;
		assert_int_equal(take_at(&f, CLOCK + s), HP3_RESPOND_DROP);
	}
	assert_int_equal(st.replayed, 31);
	assert_int_equal(take_at(&f, CLOCK + 31), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_clock, 1);
	f.b[15] ^= 4; /* outside ICRC and tag: still the same probe */
	reparse(&f);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.replayed, 32);
	assert_int_equal(st.answered, 1);
	expect_sum();
}

/* Whatever else arrives meanwhile, a probe is not answered twice. */
static void replay_is_not_washed_out(void **state)
{
	struct frame first, f;

	cfg.window = 8;
	cfg.source = cfg.all = (struct hp3_limit){.rate = 1000000, .burst = 1000};
	responder_anew();
	peer_probe(&first, 1, 1, CLOCK);
	assert_int_equal(take(&first), HP3_RESPOND_ANSWER);
	for (uint32_t i = 2; i < 500; i++) {
		peer_probe(&f, i % 5, i, CLOCK);
		now += SEC / 1000;
		take(&f);
		assert_int_equal(take(&first), HP3_RESPOND_DROP);
	}
	assert_int_equal(st.answered, 8);
	assert_int_equal(st.window_full, 491);
	assert_int_equal(st.replayed, 498);
	peer_probe(&f, 1, 1000, CLOCK + 31); /* all others are too old by now */
	assert_int_equal(take_at(&f, CLOCK + 31), HP3_RESPOND_ANSWER);
	expect_sum();
}

static void clocks_may_differ(void **state)
{
	struct frame f;

	for (int s = -60; s <= 60; s++) {
		peer_probe(&f, 1, (uint32_t)(1000 + s), (uint64_t)(CLOCK + s));
		now += SEC;
		bool near = s >= -30 && s <= 30;
		assert_int_equal(take(&f), near ? HP3_RESPOND_ANSWER : HP3_RESPOND_DROP);
	}
	assert_int_equal(st.bad_clock, 60);
	assert_int_equal(st.answered, 61);
}

/* Where seconds have turns: 16 bits on the wire, 24 in the window, and 31, 32 and 40 of a clock. */
static void replayed_in_any_year(void **state)
{
	static const uint64_t turns[] = {
		26000ull << 16, 102ull << 24, 1ull << 31, 1ull << 32, 1ull << 40};

	cfg.source = cfg.all = (struct hp3_limit){.rate = 1000000, .burst = 1000};
	for (unsigned i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		responder_anew();
		for (uint64_t clock = turns[i] - 40; clock < turns[i] + 40; clock++) {
			struct frame f;

			peer_probe(&f, 1, (uint32_t)clock, clock);
			now += SEC;
			assert_int_equal(take_at(&f, clock - 31), HP3_RESPOND_DROP);
			assert_int_equal(take_at(&f, clock - 30 + clock % 61), HP3_RESPOND_ANSWER);
			for (uint64_t at = clock - 31; at <= clock + 31; at++)
				assert_int_equal(take_at(&f, at), HP3_RESPOND_DROP);
		}
	}
	assert_int_equal(st.bad_clock, 3 * 80 * 5);
	expect_sum();
}

static void zero_key_needs_no_clock(void **state)
{
	struct frame f;

	cfg.keys.key[0] = no_key;
	responder_anew();
	for (uint32_t i = 0; i < 10; i++) {
		peer_probe(&f, 1, i, CLOCK * (uint64_t)i);
		assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
		assert_int_equal(take(&f), HP3_RESPOND_DROP);
	}
	assert_int_equal(st.replayed, 10);
	assert_int_equal(st.bad_clock, 0);
}

/* Neither end agrees with the other upon anything: it starts anew and goes on. */
static void restarts(void **state)
{
	struct frame f;

	peer_probe(&f, 1, 7, CLOCK);
	assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
	responder_anew();
	now = 0;
	peer_probe(&f, 1, 8, CLOCK);
	assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
	peer_probe(&f, 1, 7, CLOCK + 1); /* the sender draws an id again, a second later */
	assert_int_equal(take_at(&f, CLOCK + 1), HP3_RESPOND_ANSWER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESPONDER_TEST(replayed),
		RESPONDER_TEST(replay_is_not_washed_out),
		RESPONDER_TEST(clocks_may_differ),
		RESPONDER_TEST(replayed_in_any_year),
		RESPONDER_TEST(zero_key_needs_no_clock),
		RESPONDER_TEST(restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
