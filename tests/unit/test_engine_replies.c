/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests arrive, replies do not: which engine gets a report, and on which port replies leave from
 * then on (rules 2, 12 and 13). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

/* A window in which the port in use carried the probe. */
static void come_through(void)
{
	uint32_t before = rig.nprobes;

	others_answer();
	probe_reply(rig.nprobes - ASKED, false);
	for (unsigned i = 0; i < 100 && rig.nprobes == before; i++)
		steps(50 * US);
}

static int told(const struct qp *q)
{
	struct hp3_acts acts = {0};
	int rc = hp3_peer_report(rig.e, HP3_ENDS(q), q->rqpn, rig.now, &acts);

	for (uint32_t i = 0; i < acts.n; i++) {
		assert_int_equal(acts.act[i].kind, HP3_ACT_EVENT);
		rig.newest[acts.act[i].event.type] = acts.act[i].event;
	}
	return rc;
}

/* The port that an acknowledgement of the local RNIC leaves on. */
static uint16_t reply_port(const struct qp *q)
{
	ack_leaves(q, 7);
	return rig.wire[rig.nwire - 1].port;
}

/* --- the requester's side --- */

/* First a packet of the flow's own is to ask, if one leaves. */
static void the_next_packet_asks(void **state)
{
	stall_config();
	stalled();
	probe_reply(0, false);
	assert_int_equal(middle(&q, psn++), HP3_PASS); /* the round is not over */
	expect_left(rig.nwire - 1, psn - 1, q.home, false);
	others_answer();
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	expect_left(rig.nwire - 1, psn - 1, q.home, true);
	assert_int_equal(middle(&q, psn++), HP3_PASS);
	expect_left(rig.nwire - 1, psn - 1, q.home, false); /* one is enough */
	ack(&q, psn - 2);
	steps(4 * TIMEOUT);
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

/* None leaves: a duplicate is the last resort. What it brings is true, and the RNIC may need it. */
static void rule_24_the_last_acknowledgement_was_lost(void **state)
{
	stall_config();
	stalled();
	come_through();
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 0);
	come_through();
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 1);
	assert_int_equal(rig.other.port, q.home);
	assert_int_equal(rig.other.psn, psn - 3); /* the newest that is known to have arrived */
	ack(&q, psn - 3);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	ack(&q, psn - 1);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	steps(3 * TIMEOUT);
	assert_int_equal(rig.acts[HP3_ACT_REPORT], 0);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

static void rule_13_three_windows_then_the_peer_is_told(void **state)
{
	stall_config();
	stalled();
	come_through();
	come_through();
	assert_int_equal(rig.acts[HP3_ACT_REPORT], 0);
	assert_int_equal(seen(HP3_EVENT_REPORT), 0);
	come_through();
	assert_int_equal(rig.acts[HP3_ACT_REPORT], 1);
	assert_int_equal(seen(HP3_EVENT_REPORT), 1);
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 2);
	assert_int_equal(rig.other.kind, HP3_ACT_SOLICIT_ACK); /* behind the report */
	assert_int_equal(rig.newest[HP3_EVENT_REPORT].cause, HP3_CAUSE_DEAD);
	assert_true(rig.newest[HP3_EVENT_REPORT].wait_ns >= STALL + 2 * TIMEOUT / 4);
	assert_int_equal(stats()->reports, 1);
	assert_int_equal(seen(HP3_EVENT_FAILOVER), 0);
	assert_false(info(&q).moved);
}

/* Who would not be believed says nothing, and does not try for ever. */
static void without_a_key_nobody_is_told(void **state)
{
	uint32_t probes;

	stall_config();
	rig.cfg.unkeyed = true;
	stalled();
	for (unsigned i = 0; i < 30; i++)
		come_through();
	probes = rig.nprobes;
	for (unsigned i = 0; i < 10; i++)
		come_through();
	assert_int_equal(rig.nprobes, probes);
	assert_int_equal(rig.acts[HP3_ACT_REPORT], 0);
	assert_int_equal(seen(HP3_EVENT_REPORT), 0);
	assert_int_equal(stats()->reports, 0);
	assert_true(rig.acts[HP3_ACT_SOLICIT_ACK] > 1);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

static const uint8_t *no_keys(const void *table, const struct hp3_pair_ends *ends)
{
	return NULL;
}

static void who_has_no_key_is_not_told(void **state)
{
	static const struct hp3_probe_key key = {.agreed = no_keys};

	stall_config();
	rig.cfg.key = &key;
	stalled();
	for (unsigned i = 0; i < 3; i++)
		come_through();
	assert_int_equal(rig.acts[HP3_ACT_REPORT], 0);
	assert_int_equal(stats()->reports, 0);
}

/* Behind unfinished responses the answer would be an implicit NAK. */
static void rule_25_no_ack_solicitation_with_a_read_outstanding(void **state)
{
	stall_config();
	silence();
	read_request(&q, psn++, PMTU);
	peer_alive(&q);
	for (unsigned i = 0; i < 400 && rig.nprobes == 0; i++)
		pass_time(50 * US);
	assert_int_equal(rig.nprobes, ASKED);
	for (unsigned i = 0; i < 3; i++)
		come_through();
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 0);
	assert_int_equal(rig.acts[HP3_ACT_REPORT], 1); /* its hp3d may be told all the same */
}

/* One that is emitted behind an ACK solicitation: its data may still be under way when the answer
 * comes. */
static void rule_25_no_answer_to_an_ack_solicitation_before_the_data_of_a_read(void **state)
{
	stall_config();
	stalled();
	come_through();
	come_through();
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 1);
	read_request(&q, psn++, PMTU);
	ack(&q, psn - 1);
	assert_int_equal(rig.vd.kind, HP3_CONSUME);
	assert_int_equal(info(&q).una, psn - 3); /* the RNIC has not heard it */
	read_response(&q, HP3_OP_RC_READ_RESP_ONLY, psn - 1, PMTU);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_int_equal(info(&q).una, psn);
	read_request(&q, psn++, PMTU);
	steps(3 * TIMEOUT);
	ack(&q, psn - 1); /* nothing of ours can have provoked it */
	assert_int_equal(rig.vd.kind, HP3_PASS);
}

/* The same once all is well again: by whichever entry the answer comes, alone or in a burst. */
static void rule_25_no_late_answer_to_an_ack_solicitation_either(void **state)
{
	stall_config();
	stalled();
	come_through();
	others_answer();
	probe_reply(rig.nprobes - ASKED, false);
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 1);
	ack(&q, psn - 2);
	pass_time(STALL / 2);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	read_request(&q, psn++, PMTU);
	middle(&q, psn++);
	middle(&q, psn++);
	for (unsigned i = 0; i < 8; i++) {
		ack(&q, psn - 3); /* behind the READ, whose data has not come */
		assert_int_equal(rig.vd.kind, HP3_CONSUME);
		assert_int_equal(info(&q).una, psn - 4);
	}
}

static void it_is_not_told_for_ever(void **state)
{
	stall_config();
	stalled();
	for (unsigned i = 0; i < 13; i++) {
		rig.nprobes %= 16 * ASKED; /* the list is short */
		come_through();
	}
	assert_int_equal(rig.acts[HP3_ACT_REPORT], 4);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	rig.nprobes = 0;
	steps(10 * STALL);
	assert_int_equal(rig.nprobes, 0);
}

static void only_observing_nothing_is_said(void **state)
{
	stall_config();
	rig.cfg.observe = true;
	rig.cfg.moves_allowed = false;
	stalled();
	others_answer();
	probe_reply(0, false);
	steps(10 * STALL);
	assert_int_equal(rig.acts[HP3_ACT_SOLICIT_ACK], 0);
	assert_int_equal(rig.acts[HP3_ACT_REPORT], 0);
}

/* --- the responder's side --- */

static void rule_12_all_replies_leave_on_one_other_port(void **state)
{
	uint16_t port;

	stall_config();
	probing_engine();
	exchange(false);
	assert_int_equal(reply_port(&q), q.home);
	assert_int_equal(told(&q), 0);
	port = info(&q).replies;
	assert_int_not_equal(port, 0);
	assert_int_not_equal(port, q.home);
	assert_int_equal(reply_port(&q), port);
	request(&q, &(struct hp3_fields){
			    .opcode = HP3_OP_RC_READ_RESP_MIDDLE, .psn = 8, .payload_len = PMTU});
	assert_int_equal(rig.vd.sport, port);
	middle(&q, psn++); /* requests stay where they are */
	assert_int_equal(rig.vd.sport, q.home);
	assert_int_equal(rig.newest[HP3_EVENT_REPLIES].from, q.home);
	assert_int_equal(rig.newest[HP3_EVENT_REPLIES].to, port);
	assert_int_equal(stats()->replies_moved, 1);
}

static void a_report_that_crossed_the_move_moves_nothing(void **state)
{
	uint16_t port;

	stall_config();
	probing_engine();
	exchange(false);
	assert_int_equal(told(&q), 0);
	port = info(&q).replies;
	assert_int_equal(told(&q), -EALREADY);
	assert_int_equal(info(&q).replies, port);
	pass_time(TIMEOUT);
	assert_int_equal(told(&q), 0); /* that path does not work either */
	assert_int_not_equal(info(&q).replies, port);
}

/* It has sent no request, nobody knows its queue pair but the report. */
static void a_host_that_only_responds(void **state)
{
	stall_config();
	rig_configure();
	assert_int_equal(reply_port(&q), q.home);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	assert_int_equal(told(&q), 0);
	assert_int_equal(reply_port(&q), info(&q).replies);
	assert_int_not_equal(info(&q).replies, q.home);
	/* As long as it replies it is not forgotten; then replies are home again. */
	for (unsigned i = 0; i < 3; i++) {
		pass_time(rig.cfg.idle_age_ns * 2 / 3);
		assert_int_not_equal(reply_port(&q), q.home);
	}
	for (unsigned i = 0; i < 200; i++)
		pass_time(rig.cfg.idle_age_ns / 10);
	assert_int_equal(flow_of(&q), HP3_NO_FLOW);
	assert_int_equal(reply_port(&q), q.home);
}

/* Both streams leave on the RNIC's one port, so over one path. */
static void rule_13_replies_follow_a_failover(void **state)
{
	stall_config();
	stalled();
	assert_int_equal(reply_port(&q), q.home);
	path_dies();
	assert_int_equal(reply_port(&q), info(&q).port);
	assert_int_equal(seen(HP3_EVENT_REPLIES), 1);
}

/* They left that path before. */
static void replies_that_are_elsewhere_do_not_follow(void **state)
{
	uint16_t port;

	stall_config();
	stalled();
	assert_int_equal(told(&q), 0);
	port = info(&q).replies;
	path_dies();
	assert_int_equal(reply_port(&q), port);
	assert_int_equal(seen(HP3_EVENT_REPLIES), 0);
}

/* A moved requester stream takes no replies along while the path works (rule 12). */
static void rule_12_an_ordinary_move_leaves_replies_alone(void **state)
{
	stall_config();
	probing_engine();
	exchange(false);
	assert_int_equal(move(&q, NEW_PORT), 0);
	middle(&q, psn++);
	assert_int_equal(rig.vd.sport, NEW_PORT);
	assert_int_equal(reply_port(&q), q.home);
}

/*
 * An epoch is what the requester stream shows. Replies are a stream of their own: READ responses
 * may be under way on the port in use, and the one at home was left because its path was dead. They
 * go home when the queue pair is gone.
 */
static void rule_12_an_epoch_leaves_replies_where_they_are(void **state)
{
	uint16_t port;

	stall_config();
	probing_engine();
	exchange(false);
	assert_int_equal(told(&q), 0);
	port = info(&q).replies;
	assert_int_not_equal(port, q.home);
	middle(&q, psn + 4000);
	assert_int_equal(stats()->epochs, 1);
	assert_int_equal(reply_port(&q), port);
	middle(&q, psn + 9000);
	assert_int_equal(stats()->epochs, 2);
	assert_int_equal(reply_port(&q), port);
	tear_down_at_rest(&q);
	assert_int_equal(reply_port(&q), q.home);
	last(&q, 1);
	assert_int_equal(info(&q).replies, 0);
}

static void where_it_may_not_be_done(void **state)
{
	struct qp other = make_qp(1);

	stall_config();
	rig.cfg.observe = true;
	probing_engine();
	assert_int_equal(told(&q), -EPERM);
	stall_config();
	rig.cfg.observe = false;
	rig.cfg.moves_allowed = false;
	probing_engine();
	assert_int_equal(told(&q), -EPERM);
	stall_config();
	rig.cfg.moves_allowed = true;
	probing_engine();
	exchange(false);
	fragment(HP3_DIR_TX, &q);
	assert_int_equal(told(&q), -EPERM); /* rule 17 */
	stall_config();
	rig.cfg.max_flows = 1;
	probing_engine();
	assert_int_equal(told(&other), -ENOSPC);
	assert_int_equal(reply_port(&other), other.home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(the_next_packet_asks),
		RIG_TEST(rule_24_the_last_acknowledgement_was_lost),
		RIG_TEST(rule_13_three_windows_then_the_peer_is_told),
		RIG_TEST(without_a_key_nobody_is_told),
		RIG_TEST(who_has_no_key_is_not_told),
		RIG_TEST(rule_25_no_ack_solicitation_with_a_read_outstanding),
		RIG_TEST(rule_25_no_answer_to_an_ack_solicitation_before_the_data_of_a_read),
		RIG_TEST(rule_25_no_late_answer_to_an_ack_solicitation_either),
		RIG_TEST(it_is_not_told_for_ever),
		RIG_TEST(only_observing_nothing_is_said),
		RIG_TEST(rule_12_all_replies_leave_on_one_other_port),
		RIG_TEST(a_report_that_crossed_the_move_moves_nothing),
		RIG_TEST(a_host_that_only_responds),
		RIG_TEST(rule_13_replies_follow_a_failover),
		RIG_TEST(replies_that_are_elsewhere_do_not_follow),
		RIG_TEST(rule_12_an_ordinary_move_leaves_replies_alone),
		RIG_TEST(rule_12_an_epoch_leaves_replies_where_they_are),
		RIG_TEST(where_it_may_not_be_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
