/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind of probes per peer: first those for its hp3d; without an answer, those for any RNIC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

static void config(enum hp3_probe_choice probes)
{
	probing_config();
	rig.cfg.probes = (uint8_t)probes;
	rig.cfg.peer_ns = 50 * MS;
	rig.cfg.round.backoff_max_ns = MS;
	rig.cfg.cooldown_ns = 0;
}

/* Marks until a round or a move begins; what the engine does then shows in the flow's state. */
static uint8_t congested(void)
{
	for (unsigned i = 0; info(&q).state == HP3_RFR_STEADY && i < 60; i++) {
		rig.nwire = 0;
		marked_reply();
		if (info(&q).state == HP3_RFR_STEADY)
			pass_time(CYCLE);
	}
	return info(&q).state;
}

static void start(void)
{
	probing_engine();
	for (unsigned i = 0; i < 4; i++)
		exchange(false);
}

static void silent_round(void)
{
	uint32_t probes = rig.nprobes;

	assert_int_equal(congested(), HP3_RFR_SEARCHING);
	assert_int_equal(rig.nprobes, probes + ASKED);
	assert_int_equal(rig.act.op, HP3_PROBE_PEER);
	pass_time(TIMEOUT);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
}

static void nobody_answers(void)
{
	for (unsigned i = 0; i < 4; i++) {
		silent_round();
		pass_time(rig.cfg.peer_ns / 30);
	}
}

static void a_silent_peer_gets_standard_probes(void **state)
{
	uint32_t probes;

	config(HP3_PROBES_AUTO);
	start();
	nobody_answers();
	probes = rig.nprobes;
	assert_int_equal(congested(), HP3_RFR_CLOSING); /* these have to wait for the drain */
	assert_int_equal(rig.nprobes, probes);
	last(&q, psn++);
	pass_time(RTT);
	ack(&q, psn - 1);
	assert_int_equal(rig.nprobes, probes + 1);
	assert_int_equal(rig.act.op, HP3_PROBE_STANDARD);
}

/* Where a queue is longer than a round waits every answer is too late for it, and somebody is
 * there. */
static void who_answers_too_late_is_there(void **state)
{
	config(HP3_PROBES_AUTO);
	start();
	for (unsigned i = 0; i < 12; i++) {
		silent_round();
		pass_time(RTT);
		probe_reply(rig.nprobes - 1, false);
		pass_time(rig.cfg.peer_ns / 30);
	}
	assert_true(stats()->probe_strays == 12);
	assert_int_equal(congested(), HP3_RFR_SEARCHING);
}

/* A host that stands still for a while looks the same. */
static void rounds_of_a_moment_prove_nothing(void **state)
{
	config(HP3_PROBES_AUTO);
	rig.cfg.peer_ns = 1000 * MS;
	start();
	for (unsigned i = 0; i < 8; i++)
		silent_round();
}

static void after_a_while_it_is_asked_again(void **state)
{
	config(HP3_PROBES_AUTO);
	start();
	nobody_answers();
	assert_int_equal(congested(), HP3_RFR_CLOSING);
	assert_int_equal(command(&q, HP3_CMD_CANCEL, 0), 0);
	pass_time(rig.cfg.peer_ns);
	assert_int_equal(congested(), HP3_RFR_SEARCHING);
	probe_reply(rig.nprobes - 1, false); /* meanwhile somebody has installed it */
	for (unsigned i = 0; i < 9; i++) {
		if (info(&q).state != HP3_RFR_STEADY)
			command(&q, HP3_CMD_CANCEL, 0);
		silent_round();
	}
	assert_int_equal(congested(), HP3_RFR_SEARCHING);
}

/* Whoever has answered once may be lost for a while, or starts anew: eight rounds, and some time.
 */
static void a_peer_that_spoke_is_given_more_time(void **state)
{
	config(HP3_PROBES_AUTO);
	start();
	peer_alive(&q);
	for (unsigned i = 0; i < 8; i++)
		silent_round();
	silent_round();
	pass_time(rig.cfg.peer_ns);
	silent_round();
	assert_int_equal(congested(), HP3_RFR_CLOSING);
}

static void peer_means_peer(void **state)
{
	config(HP3_PROBES_PEER);
	start();
	for (unsigned i = 0; i < 5; i++)
		silent_round();
}

/* A peer probe is nothing to an RNIC: it may leave, whatever is outstanding, to whomever. */
static void rule_25_a_peer_probe_with_a_read_outstanding(void **state)
{
	config(HP3_PROBES_AUTO);
	start();
	for (unsigned i = 0; i < 10 && rig.nprobes == 0; i++) {
		struct hp3_fields f = {.opcode = HP3_OP_RC_ACK, .becn = true, .psn = psn};

		last(&q, psn++);
		read_request(&q, psn++, 100);
		pass_time(RTT);
		response(&q, &f);
		pass_time(CYCLE);
	}
	assert_int_equal(seen(HP3_EVENT_SEVERE), 1);
	assert_int_equal(rig.act.op, HP3_PROBE_PEER);
	assert_int_equal(rig.nprobes, ASKED);
}

/* A probe bears a PSN that has been acknowledged: a duplicate, wherever it ends up. */
static void rule_01_a_peer_probe_is_a_duplicate(void **state)
{
	config(HP3_PROBES_PEER);
	start();
	assert_int_equal(congested(), HP3_RFR_SEARCHING);
	for (unsigned i = 0; i < ASKED; i++)
		assert_int_equal(rig.probe_psns[i], info(&q).una - 1);
}

/* No probe makes the responder see a gap, whether it is a peer probe or a standard probe. */
static void rule_03_no_probe_has_a_future_psn(void **state)
{
	config(HP3_PROBES_AUTO);
	start();
	for (unsigned i = 0; i < 5; i++) {
		uint32_t sent = rig.nprobes;

		if (congested() == HP3_RFR_CLOSING) {
			last(&q, psn++);
			pass_time(RTT);
			ack(&q, psn - 1);
		}
		assert_int_equal(rig.act.op, i < 4 ? HP3_PROBE_PEER : HP3_PROBE_STANDARD);
		assert_true(rig.nprobes > sent);
		for (; sent < rig.nprobes; sent++)
			assert_true(hp3_psn_diff(rig.probe_psns[sent], info(&q).una) < 0);
		pass_time(TIMEOUT);
		pass_time(rig.cfg.peer_ns / 30);
	}
}

static void observe_suspends_nothing(void **state)
{
	config(HP3_PROBES_STANDARD);
	rig.cfg.observe = true;
	start();
	assert_int_equal(congested(), HP3_RFR_STEADY);
	assert_int_equal(seen(HP3_EVENT_SEVERE), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(a_silent_peer_gets_standard_probes),
		RIG_TEST(who_answers_too_late_is_there),
		RIG_TEST(rounds_of_a_moment_prove_nothing),
		RIG_TEST(after_a_while_it_is_asked_again),
		RIG_TEST(a_peer_that_spoke_is_given_more_time),
		RIG_TEST(peer_means_peer),
		RIG_TEST(rule_25_a_peer_probe_with_a_read_outstanding),
		RIG_TEST(rule_01_a_peer_probe_is_a_duplicate),
		RIG_TEST(rule_03_no_probe_has_a_future_psn),
		RIG_TEST(observe_suspends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
