/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of events: which of them end a move, and which times they carry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/pipe/tally.h"
#include "rfr/rfr.h"

#define US UINT64_C(1000)

static uint64_t count(const struct hp3d_histogram *h)
{
	uint64_t n = 0;

	for (unsigned k = 0; k <= HP3D_BUCKETS; k++)
		n += h->bucket[k];
	return n;
}

static uint64_t all_moves(const struct hp3d_tally *t)
{
	uint64_t n = 0;

	for (unsigned e = 0; e < HP3_EVENT_MAX; e++)
		for (unsigned c = 0; c < HP3_CAUSE_MAX; c++)
			n += t->moves[e][c];
	return n;
}

static void moves(void **state)
{
	struct hp3_event event = {.type = HP3_EVENT_SWITCH,
		.cause = HP3_CAUSE_CNP,
		.wait_ns = 100 * US,
		.drain_ns = 10 * US,
		.held_pkts = 3};
	struct hp3d_tally t = {0};

	hp3d_tally_event(&t, &event);
	event.held_pkts = 0;
	hp3d_tally_event(&t, &event);
	assert_int_equal(t.moves[HP3_EVENT_SWITCH][HP3_CAUSE_CNP], 2);
	assert_int_equal(t.move_drain.bucket[hp3d_bucket_of(10 * US)], 2);
	assert_int_equal(t.move_drain.sum_ns, 20 * US);
	assert_int_equal(t.move_hold.sum_ns, 10 * US);
	assert_int_equal(t.move_decision.sum_ns, 220 * US);

	/* A message that waited: held without a drain. */
	event = (struct hp3_event){.type = HP3_EVENT_IDLE_SWITCH,
		.cause = HP3_CAUSE_MESSAGE_START,
		.wait_ns = 7 * US,
		.held_pkts = 1};
	hp3d_tally_event(&t, &event);
	assert_int_equal(t.moves[HP3_EVENT_IDLE_SWITCH][HP3_CAUSE_MESSAGE_START], 1);
	assert_int_equal(t.move_hold.sum_ns, 17 * US);
	assert_int_equal(t.move_decision.sum_ns, 227 * US);
	assert_int_equal(count(&t.move_drain), 2);

	event = (struct hp3_event){
		.type = HP3_EVENT_FAILOVER, .cause = HP3_CAUSE_DEAD, .wait_ns = 9 * US};
	hp3d_tally_event(&t, &event);
	assert_int_equal(t.moves[HP3_EVENT_FAILOVER][HP3_CAUSE_DEAD], 1);
	assert_int_equal(t.failover_stall.sum_ns, 9 * US);
	assert_int_equal(count(&t.move_decision), 3);
	assert_int_equal(all_moves(&t), 4);
	assert_int_equal(t.events[HP3_EVENT_SWITCH], 2);
}

/* A search that ends without a better path, or with its queue pair, was no move. */
static void searches_are_no_moves(void **state)
{
	struct hp3_event event = {.type = HP3_EVENT_RECOVER, .reason = HP3_RFR_IN_NO_BETTER};
	struct hp3d_tally t = {0};

	hp3d_tally_event(&t, &event);
	event = (struct hp3_event){.type = HP3_EVENT_EPOCH, .wait_ns = US};
	hp3d_tally_event(&t, &event);
	assert_int_equal(all_moves(&t), 0);
	assert_int_equal(count(&t.move_hold), 0);

	event = (struct hp3_event){
		.type = HP3_EVENT_RECOVER, .cause = HP3_CAUSE_ECN, .reason = HP3_RFR_IN_TIMEOUT};
	hp3d_tally_event(&t, &event);
	event.reason = HP3_RFR_IN_NO_BETTER; /* behind a drain: the flow was held for it */
	event.drain_ns = 5 * US;
	event.held_pkts = 1;
	hp3d_tally_event(&t, &event);
	assert_int_equal(t.moves[HP3_EVENT_RECOVER][HP3_CAUSE_ECN], 2);
	event = (struct hp3_event){.type = HP3_EVENT_EPOCH, .drain_ns = US};
	hp3d_tally_event(&t, &event);
	assert_int_equal(all_moves(&t), 3);
	assert_int_equal(t.move_hold.sum_ns, 5 * US);
	assert_int_equal(count(&t.move_drain), 0);
}

static void rounds_and_verdicts(void **state)
{
	struct hp3_event event = {.type = HP3_EVENT_ROUND, .n_probes = 3};
	struct hp3d_tally t = {0};

	event.probes[0] = (struct hp3_probe){.rtt_ns = 4 * US, .state = HP3_PROBE_ANSWERED};
	event.probes[1] = (struct hp3_probe){.rtt_ns = 90 * US, .state = HP3_PROBE_LATE};
	event.probes[2] = (struct hp3_probe){.state = HP3_PROBE_LOST};
	event.probes[3] = (struct hp3_probe){.rtt_ns = 50 * US, .state = HP3_PROBE_ANSWERED};
	hp3d_tally_event(&t, &event);
	assert_int_equal(count(&t.probe_rtt), 1);
	assert_int_equal(t.probe_rtt.sum_ns, 4 * US);
	event.type = HP3_EVENT_FAILOVER; /* the same probes once more */
	hp3d_tally_event(&t, &event);
	assert_int_equal(count(&t.probe_rtt), 1);

	event = (struct hp3_event){.type = HP3_EVENT_OUTCOME, .outcome = HP3_PAYOFF_WORSE};
	hp3d_tally_event(&t, &event);
	assert_int_equal(t.verdicts[HP3_PAYOFF_WORSE], 1);
	event = (struct hp3_event){.type = HP3_EVENT_WOULD, .cause = HP3_CAUSE_RTT};
	hp3d_tally_event(&t, &event);
	assert_int_equal(t.observed[HP3_CAUSE_RTT], 1);
	assert_int_equal(all_moves(&t), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves),
		cmocka_unit_test(searches_are_no_moves),
		cmocka_unit_test(rounds_and_verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
