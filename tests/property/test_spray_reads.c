/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READ responses that take several paths at once, between two engines as they ship but for rfr.mode
 * = spray: half of all messages are large READs, and ACKs of the other half keep to one path.
 * Usage: PROGRAM [SEEDS [PACKETS [FIRST_SEED]]].
 */
#include <stdlib.h>
#include "epochs.h"
#include "run.h"
#include "spray_inside.h"
#include "spray_judge.h"

/* Half of all messages are large READs. */
static struct spray_params reading(void)
{
	struct spray_params p = spray_base();

	p.large_reads_percent = 50;
	p.packets *= 4;
	return p;
}

/* What is read takes several paths, and ACKs one: the RNIC sees responses and ACKs in one order. */
static void what_is_read_comes_in_order(void **state)
{
	struct spray_result r = spray_many(reading());

	assert_int_equal(r.gaps + r.read_gaps + r.again + r.timeouts, 0);
	assert_int_equal(r.late + r.beyond + r.full, 0);
	assert_sum(r.sprayed_reads > r.sent / 3);
}

/* Answers to ATOMICs take one path, and have their place between responses by several. */
static void atomics_are_answered_in_order(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.atomics_percent = 30;
	p.packets *= 2;
	r = spray_many(p);
	assert_int_equal(r.gaps + r.read_gaps + r.again + r.timeouts, 0);
	assert_sum(r.atomics > 0 && r.sprayed_reads > r.sent / 5);
}

/* Responses come once more while others are held, and READs of which an RNIC has a part. */
static void responses_that_return_disturb_no_order(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.twice_ppm = 20000;
	r = spray_any_time(p);
	assert_int_equal(r.gaps + r.read_gaps + r.again + r.passed, 0);
	assert_sum(r.ghosts > 0 && r.sprayed_reads > r.sent / 5);
	p.twice_ppm = 0; /* a READ that comes twice is answered twice */
	p.selective = true;
	p.loss_ppm = 1000;
	r = spray_any_time(p);
	assert_sum(r.again > 0 && r.sprayed_reads > 0);
	assert_int_equal(r.passed, 0);
}

/* The RNIC's port takes nothing for a while: what is missing lies unread. */
static void ports_of_readers_stop(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.ports_us = 3000;
	r = spray_any_time(p);
	assert_int_equal(r.gaps + r.read_gaps + r.again, 0);
	assert_sum(r.ports > 0 && r.sprayed_reads > r.sent / 5);
}

static void numbers_of_readers_return(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.returns_us = 2000;
	r = spray_many(p);
	assert_int_equal(r.gaps + r.read_gaps + r.again + r.timeouts, 0);
	assert_sum(r.returned > 4 * run_seeds && r.sprayed_reads > r.sent / 5);
}

/* Set-ups are told of when the next queue pair reads: one response is asked for again, at most. */
static void numbers_of_readers_return_told_late(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.returns_us = 2000;
	p.report_delay_us = 500;
	p.most_naks = 1;
	r = spray_many(p);
	assert_int_equal(r.gaps + r.timeouts, 0);
	assert_sum(r.returned > 4 * run_seeds && r.sprayed_reads > r.sent / 5);
}

/* Ends are told of when the next queue pair reads, too: few READs are asked for again. */
static void numbers_of_readers_return_told_too_late(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.returns_us = 2000;
	p.report_delay_us = 3000;
	r = spray_many(p);
	assert_sum(r.naks + r.read_naks + r.timeouts <= r.returned / 4);
	assert_sum(r.returned > 4 * run_seeds && r.sprayed_reads > r.sent / 5);
}

static void messages_about_reads_may_be_lost(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.message_fault_percent = 30;
	r = spray_many(p);
	assert_int_equal(r.gaps + r.read_gaps, 0);
	assert_sum(r.sprayed_reads > r.sent / 5);
}

/* Whatever clocks show: numbers and times that are made of it wrap. */
static void clocks_pass_where_they_wrap(void **state)
{
	/* All of them in make test-long. */
	const uint32_t some = run_seeds == 1 ? 5 : run_seeds <= SEEDS_OF_SUMS ? 4 : 1;

	for (uint32_t i = 0; i < EPOCHS * EPOCHS; i += some * (1 + i % 3)) {
		struct spray_params p = reading();
		struct spray_result r;

		p.seed = run_first_seed + i;
		p.clock[0] = epoch(i, &(uint64_t){p.seed}, 2000000);
		p.clock[1] = epoch(i / EPOCHS, &(uint64_t){p.seed}, 2000000);
		assert_int_equal(spray_run(&p, &r), 0);
		assert_int_equal(r.gaps + r.read_gaps + r.again + r.timeouts, 0);
		if (r.sprayed < r.sent / 3 || r.sprayed_reads < r.sent / 3)
			fail_msg("clocks %llu and %llu: %llu and %llu of %llu are sprayed",
				(unsigned long long)p.clock[0], (unsigned long long)p.clock[1],
				(unsigned long long)r.sprayed, (unsigned long long)r.sprayed_reads,
				(unsigned long long)r.sent);
	}
}

/* A response that was lost is asked for once. */
static void lost_responses_are_asked_for(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.loss_ppm = 500;
	r = spray_waits_once(p);
	assert_sum(r.lost > 0 && r.sprayed_reads > r.sent / 20);
	assert_true(r.read_naks + r.naks <= r.lost);
	assert_sum(r.known_lost * 4 >= r.late && r.sprayed_lost > 0);
}

/* Responses are lost between the engine and the RNIC: it asks for what was resequenced before. */
static void who_reads_knows_better(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.bad_ppm = 1000;
	p.rnr_ppm = 500;
	r = spray_no_slower(p, 150);
	assert_sum(r.bad > 0 && r.rnrs > 0);
	assert_true(r.naks + r.read_naks <= r.bad);
}

/*
 * RNICs send READs again while the responses are on their way to them. If the READ is lost then,
 * no response comes any more, and hp3d soon waits for none.
 */
static void repeated_reads_cross_their_responses(void **state)
{
	struct spray_params p = reading();

	p.loss_ppm = 3000;
	p.rnic_us = 20;
	for (unsigned i = 0; i < 2; i++) {
		struct spray_result r;

		p.selective = i != 0;
		r = spray_any_time(p);
		assert_sum(r.again > 0 && r.sprayed_reads > r.sent / 20);
	}
}

static void responses_are_damaged(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.damaged_ppm = 1000;
	p.twice_ppm = 1000;
	r = spray_waits_once(p);
	assert_sum(r.damaged > 0 && r.ghosts > 0 && r.sprayed_reads > r.sent / 20);
}

/* Either hp3d starts anew in the middle of READs. */
static void who_reads_restarts(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.restart_us = 3000;
	p.message_fault_percent = 30;
	r = spray_many(p);
	assert_int_equal(r.read_gaps, 0); /* the responder's, which holds no responses */
	p.restart_us = 0;
	p.asker_restart_us = 3000;
	r = spray_no_slower(p, 200);
	assert_true(r.read_naks <= 16 * r.restarts * p.qps); /* for a keep-alive interval */
	assert_sum(r.restarts > 0);
}

/* hp3d starts, or is bypassed, while READs are outstanding whose responses are lost. */
static void lost_responses_outlast_hp3d(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.loss_ppm = 5000;
	p.asker_restart_us = 3000;
	r = spray_any_time(p);
	assert_sum(r.restarts > 0 && r.naks_possible > 0);
	p.asker_restart_us = 0;
	p.operator_us = 1000;
	r = spray_any_time(p);
	assert_sum(r.bypasses > 0 && r.naks_possible > 0);
}

static void who_reads_stands_still(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.stands_us = 6000;
	r = spray_no_slower(p, 250);
	assert_sum(r.stood > 0 && r.sprayed_reads > r.sent / 20);
}

static bool has_died(const struct world *w)
{
	for (uint32_t i = 0; i < w->p.paths; i++)
		if (w->dead_until[i] == w->now + 5 * MS)
			return true;
	return false;
}

/*
 * No host that stands still delays the death of a path, or stands still again before it goes on.
 * Else paths die just when the RNIC sends again, and take its retries.
 */
static void hosts_that_stand_still_delay_no_deaths(void **state)
{
	struct spray_params p = reading();
	struct world *w = calloc(1, sizeof(*w));
	uint32_t died = 0;

	p.stands_us = 1000;
	p.dies_us = 1000;
	p.patient = true;
	p.seed = run_first_seed;
	spray_begin(w, &p);
	while (w->left != 0 && !w->failed) {
		uint64_t until[] = {w->host[A].until, w->host[B].until};

		spray_next(w);
		died += w->now < until[A] && has_died(w);
		for (unsigned at = A; at <= B; at++)
			assert_true(w->host[at].until == until[at] || w->now > until[at]);
		assert_true(w->now < 100000 * MS);
	}
	assert_false(w->failed);
	assert_sum(w->r.stood > 4 && died > 4);
	spray_end(w);
	free(w);
}

/* A reload may leave less room than READs need: what is beyond passes, and is counted. */
static void assert_only_full(const struct spray_result *r)
{
	assert_true(r->read_gaps <= r->full && (r->full != 0 || r->again == 0));
}

static void operators_of_readers_do_as_they_like(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.operator_us = 1000;
	p.receiver_operator_us = 3000;
	p.keepalive_us = 100; /* at first */
	p.message_fault_percent = 10;
	p.packets *= 2;
	r = spray_many(p);
	assert_int_equal(r.gaps + r.timeouts + r.lost, 0);
	assert_only_full(&r);
	assert_sum(r.modes > 0 && r.reloads > 0 && r.stops > 0 && r.bypasses > 0);
	assert_sum(r.agreed > 8 * run_seeds && r.sprayed_reads > r.sent / 20);
}

/*
 * Reloads bring keys while READs are sprayed, and operators do as they like: what is said is
 * believed at one end, or at none.
 */
static void keys_change_while_much_is_read(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.keys_us = 2000;
	p.operator_us = 4000;
	p.receiver_operator_us = 4000;
	p.keepalive_us = 100; /* at first */
	p.message_fault_percent = 10;
	p.packets *= 2;
	r = spray_many(p);
	assert_int_equal(r.gaps + r.timeouts + r.lost, 0);
	assert_only_full(&r);
	assert_sum(r.rekeyed > 8 * run_seeds && r.unbelieved > 8 * run_seeds);
	assert_sum(r.agreed > 8 * run_seeds && r.sprayed_reads > r.sent / 50);
}

static void there_is_no_room_for_responses(void **state)
{
	struct spray_params p = reading();

	p.hold_packets = 64;
	assert_sum(spray_no_slower(p, 200).full > 0);
}

static void much_is_read_at_once(void **state)
{
	struct spray_params p = spray_trouble(reading());

	p.packets *= 2;
	p.small_percent = 40;
	p.reads_percent = 30;
	assert_sum(spray_no_slower(p, 300).sprayed_reads > 0);
}

static void anything_may_be_read(void **state)
{
	assert_sum(spray_any(80).sprayed_reads > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_comes_in_order),
		cmocka_unit_test(atomics_are_answered_in_order),
		cmocka_unit_test(responses_that_return_disturb_no_order),
		cmocka_unit_test(ports_of_readers_stop),
		cmocka_unit_test(numbers_of_readers_return),
		cmocka_unit_test(numbers_of_readers_return_told_late),
		cmocka_unit_test(numbers_of_readers_return_told_too_late),
		cmocka_unit_test(messages_about_reads_may_be_lost),
		cmocka_unit_test(clocks_pass_where_they_wrap),
		cmocka_unit_test(lost_responses_are_asked_for),
		cmocka_unit_test(who_reads_knows_better),
		cmocka_unit_test(repeated_reads_cross_their_responses),
		cmocka_unit_test(responses_are_damaged),
		cmocka_unit_test(who_reads_restarts),
		cmocka_unit_test(lost_responses_outlast_hp3d),
		cmocka_unit_test(who_reads_stands_still),
		cmocka_unit_test(hosts_that_stand_still_delay_no_deaths),
		cmocka_unit_test(operators_of_readers_do_as_they_like),
		cmocka_unit_test(keys_change_while_much_is_read),
		cmocka_unit_test(there_is_no_room_for_responses),
		cmocka_unit_test(much_is_read_at_once),
		cmocka_unit_test(anything_may_be_read),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
