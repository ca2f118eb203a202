/* SPDX-License-Identifier: BSD-3-Clause */
/* More probes than a responder will answer: each source has its share, unauthenticated sources take
 * nothing from others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "responder_rig.h"

static void flood_of_one_source(void **state)
{
	struct frame f;
	uint32_t id = 0;

	for (uint32_t ms = 0; ms < 1000; ms++, now += SEC / 1000) {
		for (uint32_t i = 0; i < 3; i++) {
			peer_probe(&f, 1, ++id, CLOCK);
			take(&f);
		}
		if (ms % 100 == 0) { /* others do not notice */
			peer_probe(&f, 2, ++id, CLOCK);
			assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
		}
	}
	assert_in_range(st.answered - 10, 100, 20 + 100);
	assert_int_equal(st.flood_source + st.answered, st.peer_probes);
	expect_sum();
}

static void flood_of_many_sources(void **state)
{
	struct frame f;

	cfg.sources = 1024;
	responder_anew();
	for (uint32_t i = 0; i < 3000; i++, now += SEC / 3000) {
		peer_probe(&f, i % 600, i, CLOCK);
		take(&f);
	}
	assert_in_range(st.answered, 1000, 200 + 1000);
	assert_true(st.flood_all > 1500);
	expect_sum();
}

/* Forgers and replayers in numbers: not one probe of a peer is lost by it. */
static void rule_06_outsiders_take_nothing_from_peers(void **state)
{
	struct frame good, bad;

	for (uint32_t i = 0; i < 500; i++, now += SEC / 100) {
		peer_probe(&good, 1, i, CLOCK + i / 100);
		assert_int_equal(take_at(&good, CLOCK + i / 100), HP3_RESPOND_ANSWER);
		for (uint32_t k = 0; k < 50; k++) {
			cfg.keys.key[0] = no_key; /* the forger does not know better */
			peer_probe(&bad, k % 2 ? 1 : k, i * 50 + k, CLOCK + i / 100);
			cfg.keys.key[0] = probe_key;
			assert_int_equal(take_at(&bad, CLOCK + i / 100), HP3_RESPOND_DROP);
			assert_int_equal(take_at(&good, CLOCK + i / 100), HP3_RESPOND_DROP);
		}
	}
	assert_int_equal(st.answered, 500);
	assert_int_equal(st.bad_tag, 25000);
	assert_int_equal(st.replayed, 25000);
}

/* More sources than records: no source escapes its limit by having its record given up. */
static void records_are_not_given_up_early(void **state)
{
	uint32_t got[100] = {0};
	struct frame f;

	cfg.sources = 8;
	cfg.window = 65536;
	cfg.source = (struct hp3_limit){.rate = 10, .burst = 5};
	cfg.all = (struct hp3_limit){.rate = 1000000, .burst = 1000};
	responder_anew();
	for (uint32_t i = 0; i < 20000; i++, now += SEC / 10000) {
		peer_probe(&f, i % 100, i, CLOCK);
		got[i % 100] += take(&f) == HP3_RESPOND_ANSWER;
	}
	for (uint32_t i = 0; i < 100; i++)
		assert_in_range(got[i], 0, 5 + 2 * 10);
	assert_true(st.sources_full > 0);
	assert_true(st.answered >= 8 * 5);
	expect_sum();
}

/* A probe without a key, of the peer; its public hash. */
static uint64_t unkeyed_probe(struct frame *f, uint32_t peer, uint32_t id)
{
	struct hp3_peer_probe p;

	peer_probe(f, peer, id, CLOCK);
	assert_int_equal(hp3_peer_read(PARSED(f), &cfg.keys, CLOCK, &p), 0);
	return p.hash;
}

/*
 * Without a key anybody can compute the hash of a probe. An unauthenticated source sends only
 * probes whose hash ends as those of one set of the window would without the seed; known hosts'
 * probes with such hashes are answered all the same.
 */
static void rule_06_nobody_aims_at_a_set_of_the_window(void **state)
{
	const uint64_t sets = 32;
	uint32_t answered = 0, id = 0;
	struct frame f;

	cfg.keys = no_keys;
	cfg.window = sets * HP3_WINDOW_WAYS;
	cfg.source = cfg.all = cfg.unknown = (struct hp3_limit){.rate = 1 << 20, .burst = 1 << 20};
	responder_anew();
	for (uint32_t n = 0; n < sets; id++) {
		struct hp3_answer answer;

		if (unkeyed_probe(&f, 1 + id % 64, id) % sets != 0)
			continue;
		n++;
		hp3_responder_take(r, PARSED(&f), false, AT_NOW, &answer);
	}
	assert_true(st.answered > sets * 3 / 4); /* eight at most where all fall into one set */
	for (uint32_t n = 0; n < sets; id++) {
		if (unkeyed_probe(&f, 100, id) % sets != 0)
			continue;
		n++;
		answered += take(&f) == HP3_RESPOND_ANSWER;
	}
	assert_int_equal(answered, sets);
	expect_sum();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESPONDER_TEST(flood_of_one_source),
		RESPONDER_TEST(flood_of_many_sources),
		RESPONDER_TEST(rule_06_outsiders_take_nothing_from_peers),
		RESPONDER_TEST(records_are_not_given_up_early),
		RESPONDER_TEST(rule_06_nobody_aims_at_a_set_of_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
