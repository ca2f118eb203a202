/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ACKs reach the RNIC while duplicates from hp3d may cause some (rules 24 and 25): all but
 * those that would replace the data of a READ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "standard_scene.h"

/* una is what hp3d knows; the RNIC may have missed it. */
static void rule_24_answers_go_to_the_rnic(void **state)
{
	standard_config();
	standard_asking();
	pass_time(5 * US);
	ack(&q, closing);
	last(&q, psn++);
	ack(&q, closing); /* another copy of the answer */
	assert_int_equal(rig.vd.kind, HP3_PASS);
	reply(&q, HP3_SYN_ACK | 7, closing); /* more credits */
	assert_int_equal(rig.vd.kind, HP3_PASS);
	ack(&q, closing - 1);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	ack(&q, psn - 1);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_int_equal(stats()->acks_consumed, 0);
}

/* A late probe finds the responder behind a READ: its answer would complete it without data. */
static void rule_25_a_late_answer_does_not_complete_a_read(void **state)
{
	standard_config();
	standard_asking();
	pass_time(TIMEOUT);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].outcome, HP3_ROUND_TIMEOUT);
	last(&q, psn++);
	read_request(&q, psn++, 100);
	ack(&q, psn - 2); /* progress of its own, before the READ */
	assert_int_equal(rig.vd.kind, HP3_PASS);
	for (unsigned i = 0; i < 4; i++) { /* by each of the engine's entries */
		ack(&q, psn - 1);
		assert_int_equal(rig.vd.kind, HP3_CONSUME);
		assert_int_equal(info(&q).una, psn - 1);
	}
	last(&q, psn++);
	ack(&q, psn - 1); /* behind it: tells the RNIC that the data were lost */
	assert_int_equal(rig.vd.kind, HP3_PASS);
	read_response(&q, HP3_OP_RC_READ_RESP_ONLY, psn - 2, 100);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_int_equal(stats()->acks_consumed, 4);
	read_request(&q, psn++, 100);
	pass_time(3 * TIMEOUT);
	ack(&q, psn - 1); /* nothing of ours can have provoked it */
	assert_int_equal(rig.vd.kind, HP3_PASS);
}

/* A READ that waited behind the drain leaves behind the probe. */
static void rule_25_a_held_read_is_behind_the_probe(void **state)
{
	standard_config();
	standard_congested();
	closing = psn++;
	middle(&q, closing);
	assert_int_equal(read_request(&q, psn++, 100), HP3_HOLD);
	ack(&q, closing);
	assert_int_equal(rig.nprobes, 1);
	pass_time(TIMEOUT);
	assert_int_equal(rig.held, 0);
	ack(&q, psn - 1); /* the probe met the READ done */
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
	assert_int_equal(info(&q).una, psn - 1);
}

/* The last of its data were seen: perhaps some before were lost. */
static void rule_25_a_read_answered_in_part_is_not_complete(void **state)
{
	standard_config();
	standard_asking();
	pass_time(TIMEOUT);
	read_request(&q, psn, 3 * PMTU);
	psn += 3;
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, psn - 3, PMTU);
	read_response(&q, HP3_OP_RC_READ_RESP_LAST, psn - 1, PMTU);
	assert_int_equal(info(&q).una, psn);
	ack(&q, psn - 1);
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
}

/* Some RNICs expect the next response, and nothing else. Before the first one, the ACK may be
 * needed. */
static void rule_25_no_ack_comes_between_responses(void **state)
{
	standard_config();
	standard_asking();
	pass_time(TIMEOUT);
	read_request(&q, psn, 3 * PMTU);
	psn += 3;
	ack(&q, psn - 4);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, psn - 3, PMTU);
	ack(&q, psn - 4);
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
	read_response(&q, HP3_OP_RC_READ_RESP_LAST, psn - 1, PMTU);
	pass_time(2 * TIMEOUT); /* no answer is expected any more */
	ack(&q, psn - 4);
	assert_int_equal(rig.vd.kind, HP3_PASS);
}

/* Its data were lost behind hp3d. */
static void rule_25_a_read_sent_again_is_outstanding(void **state)
{
	uint32_t read;

	standard_config();
	standard_congested();
	read = psn;
	read_request(&q, read, 2 * PMTU);
	psn += 2;
	closing = psn++;
	last(&q, closing);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, read, PMTU);
	read_response(&q, HP3_OP_RC_READ_RESP_LAST, read + 1, PMTU);
	ack(&q, closing);
	assert_int_equal(rig.nprobes, 1);
	ack(&q, read + 1); /* no READ left since */
	assert_int_equal(rig.vd.kind, HP3_PASS);
	read_request(&q, read, 2 * PMTU);
	ack(&q, read + 1);
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
	ack(&q, closing);
	assert_int_equal(rig.vd.kind, HP3_PASS);
}

/* More READs than are remembered one by one: those that were answered make room. */
static void rule_24_many_reads_hide_no_write(void **state)
{
	standard_config();
	standard_asking();
	pass_time(TIMEOUT);
	for (unsigned i = 0; i < 40; i++) {
		read_request(&q, psn++, 100);
		last(&q, psn++);
		read_response(&q, HP3_OP_RC_READ_RESP_ONLY, psn - 2, 100);
		ack(&q, psn - 1);
		assert_int_equal(rig.vd.kind, HP3_PASS);
	}
}

/* The span of a READ is guessed while the PMTU is not known: not beyond the WRITE behind it. */
static void rule_24_a_guessed_span_hides_no_write(void **state)
{
	standard_config();
	standard_short = true;
	standard_asking();
	standard_short = false;
	pass_time(TIMEOUT);
	read_request(&q, psn, 4096);
	psn += 4;
	last(&q, psn++);
	ack(&q, psn - 2); /* the READ's last PSN */
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
	ack(&q, psn - 1);
	assert_int_equal(rig.vd.kind, HP3_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_24_answers_go_to_the_rnic),
		RIG_TEST(rule_24_many_reads_hide_no_write),
		RIG_TEST(rule_24_a_guessed_span_hides_no_write),
		RIG_TEST(rule_25_a_late_answer_does_not_complete_a_read),
		RIG_TEST(rule_25_a_held_read_is_behind_the_probe),
		RIG_TEST(rule_25_a_read_answered_in_part_is_not_complete),
		RIG_TEST(rule_25_no_ack_comes_between_responses),
		RIG_TEST(rule_25_a_read_sent_again_is_outstanding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
