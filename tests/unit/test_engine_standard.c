/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes to a peer that is an ordinary RNIC: duplicates (rule 2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "standard_scene.h"

/* --- only behind the drain --- */

static void rule_02_probes_only_behind_the_drain(void **state)
{
	standard_config();
	standard_congested();
	ack(&q, psn - 1); /* all has arrived: no proof that no reply is under way */
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	assert_int_equal(rig.nprobes, 0);
	closing = psn++;
	middle(&q, closing);
	expect_left(rig.nwire - 1, closing, q.home, true);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	assert_int_equal(middle(&q, psn++), HP3_HOLD);
	assert_int_equal(rig.nprobes, 0);
	ack(&q, closing);
	assert_int_equal(rig.nprobes, 1);
	assert_int_equal(rig.probe_psns[0], closing); /* a duplicate of an acknowledged WRITE */
	assert_int_equal(rig.probe_ports[0], q.home); /* the measure of all others: drained, too */
	assert_int_equal(rig.held, 1);
	command(&q, HP3_CMD_CANCEL, 0);
}

static void rule_02_a_send_or_write_closes(void **state)
{
	standard_config();
	standard_congested();
	assert_int_equal(read_request(&q, psn, 2 * PMTU), HP3_PASS);
	psn += 2;
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_FETCH_ADD, .psn = psn++});
	assert_int_equal(info(&q).state, HP3_RFR_CLOSING);
	closing = psn++;
	last(&q, closing);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	/* The responses are not yet all there: nobody asks. */
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, closing - 3, PMTU);
	read_response(&q, HP3_OP_RC_READ_RESP_LAST, closing - 2, PMTU);
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ATOMIC_ACK, .psn = closing - 1});
	assert_int_equal(rig.nprobes, 0);
	ack(&q, closing);
	assert_int_equal(rig.nprobes, 1);
	assert_int_equal(rig.probe_psns[0], closing);
}

static int a_read(uint32_t p)
{
	return read_request(&q, p, 100);
}

/* The newest packet is a READ that would be answered: it does not close. */
static void rule_02_a_read_in_flight_does_not_close(void **state)
{
	standard_config();
	standard_congested_behind(a_read);
}

/* --- one in the air --- */

static void rule_02_one_probe_in_the_air(void **state)
{
	standard_config();
	rig.cfg.round.improve = 1; /* nobody is that good */
	standard_asking();
	for (uint32_t i = 1; i <= ASKED; i++) {
		assert_int_equal(rig.nprobes, i);
		pass_time(5 * US);
		assert_int_equal(rig.nprobes, i);
		ack(&q, closing);
		assert_int_equal(rig.vd.kind, HP3_PASS); /* rule 24 */
	}
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].n_probes, ASKED);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].outcome, HP3_ROUND_NO_BETTER);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].reason, HP3_RFR_IN_NO_BETTER);
	expect_left(rig.nwire - 1, closing + 1, q.home, false);
	assert_int_equal(rig.held, 0);
}

static void a_good_answer_wins(void **state)
{
	standard_config();
	standard_asking();
	standard_mine();
	assert_int_not_equal(rig.probe_ports[1], q.home);
	pass_time(5 * US);
	ack(&q, closing);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_int_equal(rig.last.type, HP3_EVENT_SWITCH);
	assert_int_equal(rig.last.reason, HP3_RFR_IN_WON);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].probe_kind, HP3_PROBE_STANDARD);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].probes[0].port, q.home);
	assert_int_equal(info(&q).port, rig.probe_ports[1]);
	expect_left(rig.nwire - 1, closing + 1, rig.probe_ports[1], false);
}

/* The queue was the flow's own: as empty as the others, its path is as good as they are. */
static void the_drained_path_in_use_is_the_measure(void **state)
{
	standard_config();
	standard_asking();
	for (unsigned i = 0; i < ASKED; i++) {
		assert_int_equal(info(&q).state, HP3_RFR_PROBING);
		pass_time(4 * US + US / 2);
		ack(&q, closing);
	}
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].outcome, HP3_ROUND_NO_BETTER);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	assert_false(info(&q).moved);
}

/* A mark on the answer, or a CNP while the probe was out. */
static void a_marked_answer_does_not_win(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		rig_setup(state);
		standard_config();
		standard_asking();
		standard_mine();
		if (i == 0) {
			response(
				&q, &(struct hp3_fields){
					    .opcode = HP3_OP_RC_ACK, .becn = true, .psn = closing});
		} else {
			cnp();
			ack(&q, closing);
		}
		assert_int_equal(rig.nprobes, 3);
		pass_time(5 * US);
		ack(&q, closing);
		assert_int_equal(info(&q).port, rig.probe_ports[2]);
	}
}

/* --- the end of a round --- */

static void rule_02_a_loss_ends_the_round(void **state)
{
	standard_config();
	standard_asking();
	pass_time(TIMEOUT);
	assert_int_equal(rig.nprobes, 1);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].outcome, HP3_ROUND_TIMEOUT);
	assert_int_equal(seen(HP3_EVENT_RECOVER), 1);
	expect_left(rig.nwire - 1, closing + 1, q.home, false);
	ack(&q, closing); /* late: nobody's, and no news */
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_false(info(&q).moved);
}

static void max_hold_bounds_the_round(void **state)
{
	standard_config();
	rig.cfg.max_hold_ns = 100 * US;
	standard_asking();
	pass_time(100 * US - RTT - 4 * US);
	assert_int_equal(rig.held, 1);
	pass_time(2 * US);
	assert_int_equal(rig.held, 0);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].reason, HP3_RFR_IN_TIMEOUT);
}

/* What has arrived is not refused any more: forged. */
static void rule_06_an_rnr_nak_of_the_past_ends_no_round(void **state)
{
	standard_config();
	standard_asking();
	rnr(&q, closing);
	assert_int_equal(rig.vd.kind, HP3_PASS);
	assert_int_equal(info(&q).state, HP3_RFR_PROBING);
	assert_int_equal(stats()->rnrs, 0);
	assert_true(rig.held > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_02_probes_only_behind_the_drain),
		RIG_TEST(rule_02_a_send_or_write_closes),
		RIG_TEST(rule_02_a_read_in_flight_does_not_close),
		RIG_TEST(rule_02_one_probe_in_the_air),
		RIG_TEST(a_good_answer_wins),
		RIG_TEST(the_drained_path_in_use_is_the_measure),
		RIG_TEST(a_marked_answer_does_not_win),
		RIG_TEST(rule_02_a_loss_ends_the_round),
		RIG_TEST(max_hold_bounds_the_round),
		RIG_TEST(rule_06_an_rnr_nak_of_the_past_ends_no_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
