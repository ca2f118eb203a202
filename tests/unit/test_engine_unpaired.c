/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a flow is not paired: each reason that packets can cause, and the numbers by reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "challenge.h"
#include "roce/opcode.h"

#define ROUND_NS (4000 * MS) /* longer than a pass of ageing over all flows */

static enum hp3_unpaired_reason reason(const struct qp *q)
{
	return (enum hp3_unpaired_reason)info(q).unpaired;
}

static void expire(void)
{
	rig.now += rig.cfg.challenge_timeout_ns + 2 * MS;
}

static void no_replies_arrive(void **state)
{
	struct qp q = make_qp(0);

	last(&q, 1);
	assert_int_equal(reason(&q), HP3_UNPAIRED_ASKING);
	expire();
	assert_int_equal(reason(&q), HP3_UNPAIRED_NO_REPLIES); /* without a further packet */
	last(&q, 2);
	assert_int_equal(reason(&q), HP3_UNPAIRED_NO_REPLIES); /* while a challenge is out */
	assert_int_equal(stats()->challenges, 2);
	ack(&q, 2);
	assert_int_equal(reason(&q), HP3_UNPAIRED_ASKING);
}

/* The RNIC only retransmits, because the peer is not reachable. */
static void retransmissions_get_no_replies(void **state)
{
	struct qp q = make_qp(0);

	last(&q, 1);
	expire();
	last(&q, 1);
	assert_int_equal(stats()->retransmits, 1);
	assert_int_equal(stats()->challenge_misses, 1);
	assert_int_equal(reason(&q), HP3_UNPAIRED_NO_REPLIES);
}

/* All packets leave before the first challenge is possible; then the RNIC waits. */
static void no_challenge_was_possible(void **state)
{
	struct qp q = make_qp(0);

	rig.cfg.challenge_quiet_ns = 5 * MS;
	rig.cfg.challenge_timeout_ns = 20 * MS;
	rig_configure();
	last(&q, 1);
	assert_int_equal(reason(&q), HP3_UNPAIRED_UNTRACKED);
	rig.now += 6 * MS;
	assert_int_equal(reason(&q), HP3_UNPAIRED_ASKING);
	expire();
	assert_int_equal(reason(&q), HP3_UNPAIRED_NO_REPLIES);
	assert_int_equal(stats()->challenges, 0);
	rig_configure();
	last(&q, 1);
	ack(&q, 1); /* too early to pair the flow */
	rig.now += 6 * MS;
	expire();
	assert_int_equal(reason(&q), HP3_UNPAIRED_ASKING);
}

static void replies_have_other_psns(void **state)
{
	struct qp q = make_qp(0);

	last(&q, 1);
	ack(&q, 7000);
	expire();
	ack(&q, 7000);
	last(&q, 2);
	assert_int_equal(reason(&q), HP3_UNPAIRED_UNANSWERED);
	expire();
	last(&q, 3);
	expire();
	last(&q, 4);
	assert_int_equal(reason(&q), HP3_UNPAIRED_NO_REPLIES); /* none since then */
}

/* Replies to a paired flow show nothing about another one. */
static void replies_to_paired_flows_do_not_count(void **state)
{
	struct qp paired = make_qp(0), q = make_qp(1);

	set_up(&paired);
	last(&paired, 500000);
	last(&q, 1);
	expire();
	ack(&paired, 500000);
	ack(&paired, 500000);
	last(&q, 2);
	assert_int_equal(reason(&q), HP3_UNPAIRED_NO_REPLIES);
}

static void replies_have_a_wrong_icrc(void **state)
{
	struct qp q = make_qp(0);

	last(&q, 1);
	rig.damage = true;
	ack(&q, 1);
	expire();
	last(&q, 2);
	assert_int_equal(reason(&q), HP3_UNPAIRED_ICRC);
	ack(&q, 2);
	expire();
	last(&q, 3);
	expire();
	last(&q, 4);
	assert_int_equal(reason(&q), HP3_UNPAIRED_NO_REPLIES); /* one was right in between */
}

/* A forced challenge, too. */
static void a_forced_challenge_gets_a_wrong_icrc(void **state)
{
	struct qp q = make_qp(0);
	uint32_t psn = 1;

	while (psn < 400 && !asked())
		middle(&q, psn++);
	assert_true(asked());
	rig.damage = true;
	ack(&q, psn - 1);
	expire();
	middle(&q, psn);
	assert_int_equal(reason(&q), HP3_UNPAIRED_ICRC);
}

static void requests_have_an_unknown_opcode(void **state)
{
	struct qp q = make_qp(0);
	uint32_t psn = 1;

	for (unsigned i = 0; i < 2; i++) {
		request(&q, &(struct hp3_fields){.opcode = 0x1f, .psn = psn++, .ackreq = true});
		expire();
	}
	assert_int_equal(stats()->challenges, 2);
	assert_int_equal(reason(&q), HP3_UNPAIRED_OPCODE);
}

static void another_queue_pair_is_near(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1);

	last(&b, 1);
	last(&a, 2);
	assert_int_equal(reason(&a), HP3_UNPAIRED_NEAR);
	assert_int_equal(reason(&b), HP3_UNPAIRED_ASKING);
	ack(&b, 1); /* may be a's reply */
	assert_int_equal(reason(&b), HP3_UNPAIRED_NEAR);
}

/* More windows of PSNs than the table of flows near a PSN has. */
static void more_queue_pairs_than_can_be_told_apart(void **state)
{
	enum { FLOWS = 2500, WINDOW = 1024 };
	uint32_t full = 0;

	rig.cfg.max_flows = rig.cfg.max_pairs = 4096;
	rig_configure();
	for (unsigned i = 0; i < FLOWS; i++) {
		struct qp q = make_qp(i);

		rig.nwire = 0;
		for (uint32_t k = 0; k < 4; k++)
			middle(&q, (i * 4 + k) * WINDOW);
		last(&q, (i * 4 + 3) * WINDOW + 1);
		full += reason(&q) == HP3_UNPAIRED_FULL;
	}
	assert_true(stats()->near_full > 0);
	assert_true(full > 0);
}

static void reasons_of_the_configuration(void **state)
{
	struct qp q = make_qp(0);

	assert_int_equal(hp3_engine_unpaired(rig.e), 0);
	last(&q, 1);
	rig_allow_moves(false);
	assert_int_equal(reason(&q), HP3_UNPAIRED_MODE);
	rig_allow_moves(true);
	assert_int_equal(reason(&q), HP3_UNPAIRED_ASKING);
	rig.cfg.pair_by_challenge = false;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	assert_int_equal(reason(&q), HP3_UNPAIRED_OFF);
	assert_int_equal(hp3_engine_unpaired(rig.e), 1);
}

/* Ageing counts flows by reason; the numbers are those of its last pass. */
static void flows_are_counted_by_reason(void **state)
{
	struct qp q = make_qp(0), near = make_qp(1), paired = make_qp(2);

	rig.cfg.challenge_hits = 1;
	rig.cfg.idle_age_ns = rig.cfg.dead_age_ns = 100 * ROUND_NS;
	rig_configure();
	set_up(&paired);
	last(&q, 1);
	last(&near, 2);
	assert_int_equal(hp3_engine_unpaired_by(rig.e, HP3_UNPAIRED_NEAR), 0);
	for (unsigned i = 0; i < 3 * ROUND_NS / (50 * MS); i++)
		pass_time(50 * MS);
	assert_int_equal(hp3_engine_unpaired(rig.e), 2);
	assert_int_equal(hp3_engine_unpaired_by(rig.e, HP3_UNPAIRED_NEAR), 1);
	assert_int_equal(hp3_engine_unpaired_by(rig.e, HP3_UNPAIRED_NO_REPLIES), 1);
	assert_int_equal(hp3_engine_unpaired_by(rig.e, HP3_UNPAIRED_PAIRED), 0);
	assert_int_equal(hp3_engine_unpaired_by(rig.e, HP3_UNPAIRED_MAX), 0);
	last(&q, 2);
	ack(&q, 2);
	for (unsigned i = 0; i < 3 * ROUND_NS / (50 * MS); i++)
		pass_time(50 * MS);
	assert_int_equal(hp3_engine_unpaired(rig.e), 1);
	assert_int_equal(hp3_engine_unpaired_by(rig.e, HP3_UNPAIRED_NO_REPLIES), 0);
}

/* Each reason has a code of its own, a text, and help where it can occur. */
static void every_reason_has_help(void **state)
{
	for (unsigned i = HP3_UNPAIRED_PAIRED + 1; i < HP3_UNPAIRED_MAX; i++) {
		enum hp3_unpaired_reason r = (enum hp3_unpaired_reason)i;

		assert_true(hp3_unpaired_help(r) || hp3_unpaired_capture_help(r));
		for (unsigned k = 0; k < i; k++) {
			assert_string_not_equal(hp3_unpaired_name(r),
				hp3_unpaired_name((enum hp3_unpaired_reason)k));
			assert_string_not_equal(hp3_unpaired_text(r),
				hp3_unpaired_text((enum hp3_unpaired_reason)k));
		}
	}
	assert_string_equal(hp3_unpaired_name(HP3_UNPAIRED_MAX), "?");
	assert_null(hp3_unpaired_help(HP3_UNPAIRED_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHALLENGE_TEST(no_replies_arrive),
		CHALLENGE_TEST(retransmissions_get_no_replies),
		CHALLENGE_TEST(no_challenge_was_possible),
		CHALLENGE_TEST(replies_have_other_psns),
		CHALLENGE_TEST(replies_to_paired_flows_do_not_count),
		CHALLENGE_TEST(replies_have_a_wrong_icrc),
		CHALLENGE_TEST(a_forced_challenge_gets_a_wrong_icrc),
		CHALLENGE_TEST(requests_have_an_unknown_opcode),
		CHALLENGE_TEST(another_queue_pair_is_near),
		CHALLENGE_TEST(more_queue_pairs_than_can_be_told_apart),
		CHALLENGE_TEST(reasons_of_the_configuration),
		CHALLENGE_TEST(flows_are_counted_by_reason),
		cmocka_unit_test(every_reason_has_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
