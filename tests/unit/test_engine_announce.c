/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs that are announced twice, or late (rule 16): connection management, the verbs and a
 * watcher that catches up report the same ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"

static void connect_by_cm(uint32_t first)
{
	q = make_qp(0);
	rig.cm_psn = first;
	cm(HP3_DIR_TX, &q, HP3_CM_REQ, 7, 0, q.lqpn);
	rig.cm_psn = first;
	cm(HP3_DIR_RX, &q, HP3_CM_REP, 8, 7, q.rqpn);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_CM);
}

/* In mid-drain, some milliseconds late. */
static void rule_16_an_announcement_drops_nothing(void **state)
{
	connect_by_cm(99);
	last(&q, 99);
	last(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(middle(&q, 101 + i), HP3_HOLD);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(set_up_at(&q, 99), 0);
	assert_int_equal(rig.discarded, 0);
	assert_int_equal(rig.held, 5);
	assert_int_equal(stats()->epochs, 0);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_EVENT);
	assert_int_equal(info(&q).inflight, 7);
	ack(&q, 100);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_int_equal(rig.held, 0);
	/* Connection management after the watcher takes nothing back. */
	rig.cm_psn = 99;
	cm(HP3_DIR_TX, &q, HP3_CM_REQ, 9, 0, q.lqpn);
	rig.cm_psn = 99;
	cm(HP3_DIR_RX, &q, HP3_CM_REP, 10, 9, q.rqpn);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_EVENT);
	assert_int_equal(stats()->epochs, 0);
}

/* Another first PSN is another life of the queue pair. */
static void rule_16_another_psn_is_an_epoch(void **state)
{
	connect_by_cm(99);
	last(&q, 99);
	last(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(middle(&q, 101), HP3_HOLD);
	assert_int_equal(set_up_at(&q, 98), 0);
	assert_int_equal(rig.held, 1); /* the event may be late: the next packet tells */
	assert_int_equal(middle(&q, 98), HP3_PASS);
	assert_int_equal(rig.discarded, 1);
	assert_int_equal(stats()->epochs, 1);
	assert_true(info(&q).paired);
	/* That one is announced again, too. */
	assert_int_equal(set_up_at(&q, 98), 0);
	assert_int_equal(stats()->epochs, 1);
}

/*
 * Another local queue pair, with the same peer's: any process can make one. It ends nothing, and is
 * believed once the stream begins anew with its PSN.
 */
static void rule_16_another_local_number_waits_for_the_stream(void **state)
{
	struct qp other, ended;

	connect_by_cm(99);
	last(&q, 99);
	last(&q, 100);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(middle(&q, 101), HP3_HOLD);
	other = q;
	other.lqpn++;
	assert_int_equal(set_up_at(&other, 500000), 0);
	ended = other;
	ended.lqpn++;
	assert_int_equal(tear_down(&ended), 0);
	assert_int_equal(stats()->setups_ignored, 2);
	assert_int_equal(rig.held, 1);
	assert_int_equal(rig.discarded + (uint32_t)stats()->epochs, 0);
	assert_int_equal(info(&q).lqpn, q.lqpn);
	ack(&q, 100);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_int_equal(middle(&q, 500000), HP3_PASS);
	assert_int_equal(info(&q).lqpn, other.lqpn);
	assert_int_equal(info(&q).pairing, HP3_PAIRING_EVENT);
	assert_int_equal(info(&q).port, NEW_PORT);
	assert_int_equal(stats()->epochs, 1);
}

/* Before the first data nothing changes either; a round for a path is under way once. */
static void an_announcement_before_the_first_data(void **state)
{
	uint32_t probes;

	probing_config();
	rig.cfg.setup_probing = true;
	rig_configure();
	connect_by_cm(99);
	peer_alive(&q);
	probes = rig.nprobes;
	assert_true(probes != 0);
	assert_int_equal(set_up_at(&q, 99), 0);
	assert_int_equal(rig.nprobes, probes);
	assert_int_equal(info(&q).una, 99);
	assert_int_equal(stats()->paired_cm + stats()->paired_event, 1);
}

/* The first announcement comes after the first data: the stream is known, the pairing is new. */
static void rule_16_a_late_announcement_is_no_epoch(void **state)
{
	q = make_qp(0);
	middle(&q, 99);
	last(&q, 100);
	assert_int_equal(set_up_at(&q, 99), 0);
	assert_int_equal(stats()->epochs, 0);
	assert_true(info(&q).paired);
	assert_int_equal(info(&q).inflight, 2);
	ack(&q, 100);
	assert_int_equal(info(&q).inflight, 0);
	/* One that does not begin where the stream did is of another life. */
	assert_int_equal(set_up_at(&q, 50), 0);
	assert_int_equal(stats()->epochs, 1);
}

/* It confirms what was inferred; where it says otherwise the flow's own traffic counts. Neither
 * drops what is held. */
static void rule_16_a_late_announcement_and_an_inference(void **state)
{
	struct qp said;

	for (unsigned i = 0; i < 2; i++) {
		rig_setup(NULL);
		rig.cfg.pair_by_challenge = true;
		rig_configure();
		q = make_qp(0);
		for (uint32_t k = 0; k < 3; k++) {
			last(&q, 100 + k);
			ack(&q, 100 + k);
		}
		last(&q, 103);
		assert_int_equal(move(&q, NEW_PORT), 0);
		assert_int_equal(middle(&q, 104), HP3_HOLD);
		said = q;
		said.lqpn += i;
		assert_int_equal(set_up_at(&said, 100), 0);
		assert_int_equal(rig.held, 1);
		assert_int_equal(stats()->epochs, 0);
		assert_int_equal(info(&q).lqpn, q.lqpn);
		assert_int_equal(
			info(&q).pairing, i == 0 ? HP3_PAIRING_EVENT : HP3_PAIRING_CHALLENGE);
		ack(&q, 103);
		assert_int_equal(info(&q).port, NEW_PORT);
		ack(&q, 104);
		assert_int_equal(info(&q).inflight, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(rule_16_an_announcement_drops_nothing),
		RIG_TEST(rule_16_another_psn_is_an_epoch),
		RIG_TEST(rule_16_another_local_number_waits_for_the_stream),
		RIG_TEST(an_announcement_before_the_first_data),
		RIG_TEST(rule_16_a_late_announcement_is_no_epoch),
		RIG_TEST(rule_16_a_late_announcement_and_an_inference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
