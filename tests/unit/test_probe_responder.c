/* SPDX-License-Identifier: BSD-3-Clause */
/* A probe that arrives is answered, or dropped with a counted reason; configuration. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "responder_rig.h"
#include "roce/icrc.h"

static void answered(void **state)
{
	struct hp3_answer answer;
	struct frame f;

	for (uint32_t i = 0; i < 5; i++) {
		make_probe(&f, true, 100 + i, CLOCK, &probe_key);
		if (i == 3)
			f.b[15] |= 0x30; /* marked on its way */
		reparse(&f);
		now += SEC;
		assert_int_equal(hp3_responder_take(r, PARSED(&f), true, AT_NOW, &answer),
			HP3_RESPOND_ANSWER);
		assert_int_equal(answer.id, 100 + i);
		assert_int_equal(answer.ce, i == 3);
	}
	assert_int_equal(st.answered, 5);
	expect_sum();
}

static void what_is_no_probe_goes_on(void **state)
{
	struct hp3_probe_stats none = {0};
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct frame f;

	f.len = (uint32_t)hp3_build(f.b, sizeof(f.b), &a,
		&(struct hp3_fields){
			.opcode = HP3_OP_RC_WRITE_ONLY, .ackreq = true, .dest_qpn = 1, .psn = 2});
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
	assert_int_equal(st.bad_probe_icrc, 1);
	f = good;
	f.b[f.v.udp_off + 8 + 11] ^= 1; /* PSN */
	reparse(&f);
	hp3_icrc_store(f.b, &f.v);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_tag, 1);
	assert_int_equal(take(&good), HP3_RESPOND_ANSWER);
	expect_sum();
}

static void truncated(void **state)
{
	struct frame f;

	make_probe(&f, true, 1, CLOCK, &probe_key);
	for (uint32_t len = 0; len < f.len; len++) {
		const uint8_t *b = guarded_copy(f.b, len);
		struct hp3_answer answer;
		struct hp3_view v;
		const struct hp3_parsed got = {b, len, &v};
		hp3_parse(b, len, &v);
		assert_int_equal(
			hp3_responder_take(r, &got, true, AT_NOW, &answer), HP3_RESPOND_PASS);
	}
	assert_int_equal(st.peer_probes, 0);
}

/* Believed once, never answered. */
static void a_report_is_taken_once(void **state)
{
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct hp3_peer_probe p = {.dest_qpn = 1,
		.psn = 2,
		.id = hp3_report_id(0x42, 1),
		.time = CLOCK * 1000000ull,
		.report = true};
	struct hp3_answer answer;
	struct frame f;

	f.len = (uint32_t)hp3_peer_build(f.b, sizeof(f.b), &a, &p, &cfg.keys.key[0]);
	reparse(&f);
	assert_int_equal(
		hp3_responder_take(r, PARSED(&f), true, AT_NOW, &answer), HP3_RESPOND_REPORT);
	assert_int_equal(hp3_report_qpn(answer.id), 0x42);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.reports_accepted, 1);
	assert_int_equal(st.replayed, 1);
	assert_int_equal(st.answered, 0);
	p.id = hp3_report_id(0x42, 2);
	p.time = (CLOCK - 31) * 1000000ull;
	f.len = (uint32_t)hp3_peer_build(f.b, sizeof(f.b), &a, &p, &cfg.keys.key[0]);
	reparse(&f);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_clock, 1);
}

static void new_key_takes_effect(void **state)
{
	struct frame f;

	cfg.keys.key[0].bytes[0] ^= 1;
	assert_int_equal(hp3_responder_reconfigure(r, &cfg), 0);
	make_probe(&f, false, 1, CLOCK, &probe_key);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	make_probe(&f, false, 1, CLOCK, &cfg.keys.key[0]);
	assert_int_equal(take(&f), HP3_RESPOND_ANSWER);
	cfg.all.rate = 0;
	assert_int_equal(hp3_responder_reconfigure(r, &cfg), -EINVAL);
}

/* What the answer is to bear: told with it, changed by a reload, and a DSCP or none. */
static void dscp_of_answers(void **state)
{
	static const uint8_t dscp[] = {0, 48, 63, HP3_DSCP_KEPT};

	for (uint32_t i = 0; i < sizeof(dscp); i++) {
		struct hp3_answer answer;
		struct frame f;

		cfg.dscp = dscp[i];
		assert_int_equal(hp3_responder_reconfigure(r, &cfg), 0);
		make_probe(&f, false, 1 + i, CLOCK, &probe_key);
		assert_int_equal(hp3_responder_take(r, PARSED(&f), true, AT_NOW, &answer),
			HP3_RESPOND_ANSWER);
		assert_int_equal(answer.dscp, dscp[i]);
	}
	cfg.dscp = HP3_DSCP_KEPT + 1;
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
	REFUSED(dscp, HP3_DSCP_KEPT + 1);
	REFUSED(sources, 4);
	REFUSED(sources, 100);
	REFUSED(window, 0);
	REFUSED(window, 12);
	REFUSED(clock_s, HP3_CLOCK_S_MAX + 1);
	REFUSED(source.rate, 0);
	REFUSED(all.burst, 0);
#undef REFUSED
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESPONDER_TEST(answered),
		RESPONDER_TEST(what_is_no_probe_goes_on),
		RESPONDER_TEST(rule_06_forged_and_damaged),
		RESPONDER_TEST(truncated),
		RESPONDER_TEST(a_report_is_taken_once),
		RESPONDER_TEST(new_key_takes_effect),
		RESPONDER_TEST(dscp_of_answers),
		RESPONDER_TEST(values_out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
