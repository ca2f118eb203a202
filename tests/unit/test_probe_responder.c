/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of probes that arrive: answered once, or dropped with a counted reason; outsiders
 * take nothing from peers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "probe_frames.h"
#include "probes/responder.h"
#include "roce/icrc.h"

#define CLOCK 1700000000u
#define SEC   1000000000ull

static struct hp3_responder_config cfg;
static struct hp3_probe_stats st;
static struct hp3_responder *r;
static void *mem;
static uint64_t now;

static void create(void)
{
	size_t size = hp3_responder_size(&cfg);

	assert_true(size > 0);
	free(mem);
	mem = aligned_alloc(64, (size + 63) & ~(size_t)63);
	r = hp3_responder_create(mem, size, &cfg, &st);
	assert_non_null(r);
}

static int setup(void **state)
{
	cfg = (struct hp3_responder_config){.key = probe_key,
		.seed = 1,
		.clock_s = 30,
		.source = {.rate = 100, .burst = 20},
		.all = {.rate = 1000, .burst = 200},
		.sources = 64,
		.window = 8192};
	memset(&st, 0, sizeof(st));
	now = 5 * SEC;
	create();
	return 0;
}

static int teardown(void **state)
{
	free(mem);
	mem = NULL;
	return 0;
}

static int take_at(const struct frame *f, uint64_t clock)
{
	struct hp3_answer answer;
	uint32_t turn;

	return hp3_responder_take(r, f->b, &f->v, clock, now, &answer, &turn);
}

static int take(const struct frame *f)
{
	return take_at(f, CLOCK);
}

/* A probe of the n-th peer. */
static void peer_probe(struct frame *f, uint32_t peer, uint32_t id, uint64_t time)
{
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct hp3_peer_probe p = {.dest_qpn = 1, .psn = 2, .id = id, .time = time};

	hp3_put_be32(a.src_ip, 0x0a000000 + peer);
	f->len = (uint32_t)hp3_peer_build(f->b, sizeof(f->b), &a, &p, &cfg.key);
	reparse(f);
}

/* Every probe is counted once, under what became of it. */
static void check_sum(void)
{
	assert_int_equal(st.peer_probes, st.answered + st.bad_icrc + st.bad_tag + st.bad_clock +
						 st.replayed + st.flood_source + st.flood_all +
						 st.window_full + st.sources_full);
}

static void answered(void **state)
{
	struct hp3_answer answer;
	struct frame f;
	uint32_t turn;

	for (uint32_t i = 0; i < 5; i++) {
		make_probe(&f, true, 100 + i, CLOCK, &probe_key);
		if (i == 3)
			f.b[15] |= 0x30; /* marked on its way */
		reparse(&f);
		now += SEC;
		assert_int_equal(hp3_responder_take(r, f.b, &f.v, CLOCK, now, &answer, &turn),
			HP3_RESPOND_ANSWER);
		assert_int_equal(answer.id, 100 + i);
		assert_int_equal(answer.ce, i == 3);
		assert_int_equal(answer.stamp_ns, now);
		assert_int_equal(turn, i);
	}
	assert_int_equal(st.answered, 5);
	check_sum();
}

static void what_is_no_probe_goes_on(void **state)
{
	struct hp3_probe_stats none = {0};
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct frame f;

	f.len = (uint32_t)hp3_build_write0(f.b, sizeof(f.b), &a, 1, 2, 0, 0);
	reparse(&f);
	assert_int_equal(take(&f), HP3_RESPOND_PASS);
	assert_memory_equal(&st, &none, sizeof(st));
}

static void rule_06_forged_and_damaged(void **state)
{
	struct frame good, f;

	make_probe(&good, false, 1, CLOCK, &probe_key);
	f = good;
	f.b[f.len - 1] ^= 1;
	reparse(&f);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_icrc, 1);
	f = good;
	f.b[f.v.udp_off + 8 + 11] ^= 1; /* PSN */
	reparse(&f);
	hp3_icrc_store(f.b, &f.v);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_tag, 1);
	assert_int_equal(take(&good), HP3_RESPOND_ANSWER);
	check_sum();
}

static void truncated(void **state)
{
	struct frame f;

	make_probe(&f, true, 1, CLOCK, &probe_key);
	for (uint32_t len = 0; len < f.len; len++) {
		const uint8_t *b = guarded_copy(f.b, len);
		struct hp3_answer answer;
		struct hp3_view v;
		uint32_t turn;
		hp3_parse(b, len, &v);
		assert_int_equal(
			hp3_responder_take(r, b, &v, CLOCK, now, &answer, &turn), HP3_RESPOND_PASS);
	}
	assert_int_equal(st.peer_probes, 0);
}

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
	check_sum();
}

/* Whatever else arrives meanwhile, a probe is not answered twice. */
static void replay_is_not_washed_out(void **state)
{
	struct frame first, f;

	cfg.window = 8;
	cfg.source = cfg.all = (struct hp3_limit){.rate = 1000000, .burst = 1000};
	create();
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
	check_sum();
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

static void zero_key_needs_no_clock(void **state)
{
	struct frame f;

	cfg.key = no_key;
	create();
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
	create();
	now = 0;
	peer_probe(&f, 1, 8, CLOCK);
	assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
	peer_probe(&f, 1, 7, CLOCK + 1); /* the sender draws an id again, a second later */
	assert_int_equal(take_at(&f, CLOCK + 1), HP3_RESPOND_ANSWER);
}

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
	check_sum();
}

static void flood_of_many_sources(void **state)
{
	struct frame f;

	cfg.sources = 1024;
	create();
	for (uint32_t i = 0; i < 3000; i++, now += SEC / 3000) {
		peer_probe(&f, i % 600, i, CLOCK);
		take(&f);
	}
	assert_in_range(st.answered, 1000, 200 + 1000);
	assert_true(st.flood_all > 1500);
	check_sum();
}

/* Forgers and replayers in numbers: not one probe of a peer is lost by it. */
static void rule_06_outsiders_take_nothing_from_peers(void **state)
{
	struct frame good, bad;

	for (uint32_t i = 0; i < 500; i++, now += SEC / 100) {
		peer_probe(&good, 1, i, CLOCK + i / 100);
		assert_int_equal(take_at(&good, CLOCK + i / 100), HP3_RESPOND_ANSWER);
		for (uint32_t k = 0; k < 50; k++) {
			cfg.key = no_key; /* the forger does not know better */
			peer_probe(&bad, k % 2 ? 1 : k, i * 50 + k, CLOCK + i / 100);
			cfg.key = probe_key;
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
	create();
	for (uint32_t i = 0; i < 20000; i++, now += SEC / 10000) {
		peer_probe(&f, i % 100, i, CLOCK);
		got[i % 100] += take(&f) == HP3_RESPOND_ANSWER;
	}
	for (uint32_t i = 0; i < 100; i++)
		assert_in_range(got[i], 0, 5 + 2 * 10);
	assert_true(st.sources_full > 0);
	assert_true(st.answered >= 8 * 5);
	check_sum();
}

static void new_key_takes_effect(void **state)
{
	struct frame f;

	cfg.key.bytes[0] ^= 1;
	assert_int_equal(hp3_responder_reconfigure(r, &cfg), 0);
	make_probe(&f, false, 1, CLOCK, &probe_key);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	make_probe(&f, false, 1, CLOCK, &cfg.key);
	assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
	cfg.all.rate = 0;
	assert_int_equal(hp3_responder_reconfigure(r, &cfg), -EINVAL);
}

static void values_out_of_range(void **state)
{
	struct hp3_responder_config good = cfg;
	size_t size = hp3_responder_size(&cfg);

	assert_null(hp3_responder_create(mem, size - 1, &cfg, &st));
	assert_null(hp3_responder_create((uint8_t *)mem + 8, size, &cfg, &st));
#define REFUSED(field, value)                                                                      \
	do {                                                                                       \
		cfg = good;                                                                        \
		cfg.field = value;                                                                 \
		assert_int_equal(hp3_responder_size(&cfg), 0);                                     \
		assert_null(hp3_responder_create(mem, size, &cfg, &st));                           \
	} while (0)
	REFUSED(sources, 4);
	REFUSED(sources, 100);
	REFUSED(window, 0);
	REFUSED(window, 12);
	REFUSED(clock_s, HP3_CLOCK_S_MAX + 1);
	REFUSED(source.rate, 0);
	REFUSED(all.burst, 0);
#undef REFUSED
}

static void every_counter_has_a_name(void **state)
{
	assert_int_equal(hp3_probe_stat_count * sizeof(uint64_t), sizeof(st));
	for (unsigned i = 0; i < hp3_probe_stat_count; i++) {
		assert_int_equal(hp3_probe_stat_info[i].offset, i * sizeof(uint64_t));
		assert_true(strlen(hp3_probe_stat_info[i].name) > 0);
		assert_true(strlen(hp3_probe_stat_info[i].help) > 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Believed once, never answered. */
static void a_report_is_taken_once(void **state)
{
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct hp3_peer_probe p = {.dest_qpn = 1,
		.psn = 2,
		.id = hp3_report_id(0x42, 1),
		.time = CLOCK,
		.report = true};
	struct hp3_answer answer;
	struct frame f;
	uint32_t turn;

	f.len = (uint32_t)hp3_peer_build(f.b, sizeof(f.b), &a, &p, &cfg.key);
	reparse(&f);
	assert_int_equal(
		hp3_responder_take(r, f.b, &f.v, CLOCK, now, &answer, &turn), HP3_RESPOND_REPORT);
	assert_int_equal(hp3_report_qpn(answer.id), 0x42);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.reports, 1);
	assert_int_equal(st.replayed, 1);
	assert_int_equal(st.answered, 0);
	p.id = hp3_report_id(0x42, 2);
	p.time = CLOCK - 31;
	f.len = (uint32_t)hp3_peer_build(f.b, sizeof(f.b), &a, &p, &cfg.key);
	reparse(&f);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_clock, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answered),
		TEST(what_is_no_probe_goes_on),
		TEST(rule_06_forged_and_damaged),
		TEST(truncated),
		TEST(replayed),
		TEST(replay_is_not_washed_out),
		TEST(clocks_may_differ),
		TEST(zero_key_needs_no_clock),
		TEST(restarts),
		TEST(flood_of_one_source),
		TEST(flood_of_many_sources),
		TEST(rule_06_outsiders_take_nothing_from_peers),
		TEST(records_are_not_given_up_early),
		TEST(new_key_takes_effect),
		TEST(values_out_of_range),
		TEST(every_counter_has_a_name),
		TEST(a_report_is_taken_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
