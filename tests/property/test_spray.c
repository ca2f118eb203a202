/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs whose packets take several paths at once, between two engines as they ship but for
 * rfr.mode = spray. Usage: PROGRAM [SEEDS [PACKETS [FIRST_SEED]]].
 */
#include "run.h"
#include "base/minmax.h"
#include "spray_world.h"

static void show(const struct spray_result *r)
{
#define X(field)                                                                                   \
	if (r->field != 0)                                                                         \
		print_message(" " #field " %llu", (unsigned long long)r->field);
	SPRAY_RESULT(X)
#undef X
	print_message("\n");
}

static struct spray_params base(void)
{
	return (struct spray_params){.qps = 4,
		.packets = run_packets / 4,
		.paths = 7,
		.spread_us = 200,
		.stands_ms = 20,
		.small_percent = 30,
		.reads_percent = 10};
}

static struct spray_result sum_of(struct spray_params p, unsigned long long first)
{
	struct spray_result sum = {0}, r;

	for (unsigned i = 0; i < run_seeds; i++) {
		p.seed = first + i;
		assert_int_equal(spray_run(&p, &r), 0);
#define X(field) sum.field += r.field;
		SPRAY_RESULT(X)
#undef X
	}
	print_message("seeds %llu..%llu%s:", first, first + run_seeds - 1, p.off ? ", off" : "");
	show(&sum);
	return sum;
}

#define RTO_US 20000u /* of the RNICs: who loses the last packet of all waits for so long */

/* Spraying takes no longer than one path does, by `percent`, but for the RNICs' timers. */
static struct spray_result both(struct spray_params p, unsigned long long first, unsigned percent)
{
	struct spray_result on = sum_of(p, first), off;

	p.off = true;
	off = sum_of(p, first);
	assert_int_equal(off.sprayed + off.held, 0);
	assert_true((on.took_us - hp3_min_u64(on.took_us, on.timeouts * RTO_US)) * 100 <=
		    off.took_us * percent);
	return on;
}

static struct spray_result no_slower(struct spray_params p, unsigned percent)
{
	if (run_drawn())
		both(p, run_drawn(), percent);
	return both(p, run_first_seed, percent);
}

static struct spray_result many(struct spray_params p)
{
	return no_slower(p, 130);
}

/* Nothing is lost: the RNIC sees no gap, and nothing is sent twice. */
static void the_rnic_sees_one_order(void **state)
{
	struct spray_result r = many(base());

	assert_int_equal(r.gaps, 0);
	assert_int_equal(r.again, 0);
	assert_int_equal(r.timeouts, 0);
	assert_int_equal(r.late + r.beyond + r.full, 0);
	assert_true(r.agreed > 0 && r.sprayed > r.sent / 3 && r.held > r.sprayed / 8);
}

/* Half of all messages are large READs. */
static struct spray_params reading(void)
{
	struct spray_params p = base();

	p.large_reads_percent = 50;
	p.packets *= 4;
	return p;
}

/* What is read takes several paths, and ACKs one: the RNIC sees responses and ACKs in one order. */
static void what_is_read_comes_in_order(void **state)
{
	struct spray_result r = many(reading());

	assert_int_equal(r.gaps + r.read_gaps + r.again + r.timeouts, 0);
	assert_int_equal(r.late + r.beyond + r.full, 0);
	assert_true(r.sprayed_reads > r.sent / 3);
}

static void words_about_reads_may_be_lost(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.words_percent = 30;
	r = many(p);
	assert_int_equal(r.gaps + r.read_gaps, 0);
	assert_true(r.sprayed_reads > r.sent / 5);
}

/* A response that was lost is asked for once. */
static void lost_responses_are_asked_for(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.loss_ppm = 500;
	r = no_slower(p, 250);
	assert_true(r.lost > 0 && r.sprayed_reads > r.sent / 20);
	assert_true(r.read_naks + r.naks <= r.lost);
}

/* Responses are lost between the engine and the RNIC: it asks for what was put in order before. */
static void who_reads_knows_better(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.bad_ppm = 1000;
	p.rnr_ppm = 500;
	r = no_slower(p, 150);
	assert_true(r.bad > 0 && r.rnrs > 0);
	assert_true(r.naks + r.read_naks <= r.bad);
}

static void responses_are_damaged(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.damaged_ppm = 1000;
	p.twice_ppm = 1000;
	r = no_slower(p, 200);
	assert_true(r.damaged > 0 && r.ghosts > 0 && r.sprayed_reads > r.sent / 20);
}

/* Either hp3d starts anew in the middle of READs. */
static void who_reads_restarts(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.restart_us = 3000;
	p.words_percent = 30;
	r = many(p);
	assert_int_equal(r.read_gaps, 0); /* the responder's, which holds no responses */
	p.restart_us = 0;
	p.asker_restart_us = 3000;
	r = no_slower(p, 200);
	assert_true(r.restarts > 0 && r.read_naks <= 16 * r.restarts * p.qps); /* for a beat */
}

static void who_reads_stands_still(void **state)
{
	struct spray_params p = reading();
	struct spray_result r;

	p.stands_us = 6000;
	r = no_slower(p, 250);
	assert_true(r.stood > 0 && r.sprayed_reads > r.sent / 20);
}

static void there_is_no_room_for_responses(void **state)
{
	struct spray_params p = reading();

	p.hold_packets = 64;
	assert_true(no_slower(p, 200).full > 0);
}

static void much_is_read_at_once(void **state)
{
	struct spray_params p = reading();

	p.qps = 12;
	p.packets *= 2;
	p.loss_ppm = 500;
	p.bad_ppm = 200;
	p.rnr_ppm = 100;
	p.damaged_ppm = 200;
	p.twice_ppm = 200;
	p.words_percent = 10;
	p.restart_us = 20000;
	p.asker_restart_us = 30000;
	p.move_us = 1000;
	p.dies_us = 30000;
	p.stands_us = 10000;
	p.small_percent = 40;
	p.reads_percent = 30;
	assert_true(no_slower(p, 300).sprayed_reads > 0);
}

/* Words between the engines are lost, come twice, and late. */
static void words_may_be_lost(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.words_percent = 30;
	r = many(p);
	assert_int_equal(r.gaps, 0);
	assert_true(r.sprayed > r.sent / 5);
}

/* Many agreements end soon, for a READ comes before the peer knows how many PSNs it takes; what was
 * asked for them comes again when they are over. */
static void words_come_when_all_is_over(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.words_percent = 60;
	p.reads_percent = 60;
	p.qps = 60;
	p.packets *= 2;
	r = many(p);
	assert_int_equal(r.gaps, 0);
	assert_true(r.sprayed > 0);
}

/* Set-up's question comes when more has left than can be held: all of it has come by one path. */
static void questions_come_behind_a_window(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.window = 6000;
	p.gap_ns = 150;
	p.spread_us = 50;
	p.words_percent = 60;
	p.qps = 16;
	p.packets *= 8;
	r = many(p);
	assert_int_equal(r.gaps + r.again, 0);
}

/* Paths differ by eight milliseconds: waiting has a bound, gaps go to the RNIC, all arrives. */
static void paths_differ_by_much(void **state)
{
	struct spray_params p = base();

	p.spread_us = 8000;
	many(p);
}

/* The RNIC asks for what was lost once, and never for anything else. */
static void losses_are_asked_for_once(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.loss_ppm = 1000;
	r = no_slower(p, 250); /* runs are short: how much paths differ is hardly known */
	assert_true(r.lost > 0 && r.sprayed > r.sent / 20);
	assert_true(r.naks <= r.lost);
}

/* What the engine passed on does not reach the RNIC, or is refused: it says what it waits for. */
static void the_rnic_knows_better(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.bad_ppm = 1000;
	p.rnr_ppm = 500;
	r = many(p);
	assert_true(r.bad > 0 && r.rnrs > 0);
	assert_true(r.naks <= r.bad);
}

/* Altered behind all other checks: what held packets say is not checked, RNICs drop them. */
static void packets_are_damaged(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.damaged_ppm = 1000;
	p.twice_ppm = 1000;
	p.packets *= 4;
	r = no_slower(p, 150);
	assert_true(r.damaged > 0 && r.ghosts > 0 && r.sprayed > r.sent / 20);
	assert_true(r.naks <= r.damaged);
	assert_true(r.given_up <= r.damaged / 50); /* hardly any has others wait for itself */
}

/* The receiver's hp3d starts anew: packets on their way come in any order, and then no more. */
static void the_receiver_restarts(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.restart_us = 3000;
	r = many(p);
	assert_true(r.restarts > 0 && r.agreed > r.restarts / 4);
	assert_true(r.gaps <= 256 * r.restarts * p.qps); /* what was in flight */
}

static void the_sender_restarts(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.asker_restart_us = 3000;
	p.words_percent = 30; /* those of the agreement before come late, and mean nothing */
	r = many(p);
	assert_true(r.restarts > 0);
	assert_int_equal(r.broken, 0);
	assert_true(r.naks <= r.restarts * p.qps);
}

/* Behind a drain: moves do no harm to what is sprayed. */
static void operators_move_them(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.move_us = 300;
	r = no_slower(p, 200); /* on which paths a flow was is chance */
	assert_int_equal(r.gaps, 0);
	assert_true(r.moves > 0 && r.sprayed > r.sent / 5);
}

/* There is hardly room to hold anything. */
static void there_is_no_room(void **state)
{
	struct spray_params p = base();

	p.hold_packets = 64;
	assert_true(many(p).full > 0);
}

static void paths_die(void **state)
{
	struct spray_params p = base();

	p.dies_us = 10000; /* of a flow on one path it is seldom the one */
	assert_true(no_slower(p, 250).sprayed > 0);
}

/* For longer than the other side trusts it: who wakes up finds its agreements over, and knows. */
static void hosts_stand_still(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.stands_us = 6000;
	p.packets *= 4; /* it takes time until both have stood still */
	r = no_slower(p, 250);
	assert_true(r.stood > 0 && r.sprayed > r.sent / 10);
	assert_true(r.gaps <= r.late);
}

/* Only the receiver's: what lacks lies unread with it, and there is more of that than one burst. */
static void what_lies_unread_is_not_lost(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.receiver_stands_us = 3000;
	p.stands_ms = 14; /* longer than it is bound by a word, shorter than the RNICs' timers */
	p.packets *= 4;
	r = no_slower(p, 250);
	assert_true(r.stood > 0 && r.sprayed > r.sent / 10 && r.anew > 0);
	assert_int_equal(r.gaps + r.late + r.again + r.timeouts, 0);
}

/* Mode auto: where paths differ it goes back to one of them, and tries again a second later. */
static void who_leaves_it_keeps_the_order(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.automatic = true;
	p.words_percent = 30;
	p.spread_us = 400;
	p.packets *= 4;
	r = many(p);
	assert_int_equal(r.gaps + r.again, 0);
	assert_true(r.sprayed > 0 && r.differ > 0);
}

/* One path of seven is marked: it is left out. All are: that is congestion control's. */
static void marked_lanes_are_left_out(void **state)
{
	struct spray_params p = base();
	struct spray_result one, all;

	p.marked_ppm = 600000;
	p.marked_paths = 1;
	p.packets *= 4;
	one = many(p);
	assert_int_equal(one.gaps + one.again, 0);
	p.marked_paths = p.paths;
	all = many(p);
	assert_int_equal(all.gaps + all.again, 0);
	print_message("by the marked one %llu of %llu\n", (unsigned long long)one.by_marked,
		(unsigned long long)one.sent);
	assert_true(one.by_marked * 8 < one.sent && one.told_marked > 0);
	assert_int_equal(all.told_marked, 0);
}

/* A peer that does not want to is never sprayed. */
static void who_does_not_agree(void **state)
{
	struct spray_params p = base();
	struct spray_result r;

	p.receiver_off = true;
	r = many(p);
	assert_int_equal(r.gaps + r.again + r.sprayed + r.held, 0);
}

static void everything_at_once(void **state)
{
	struct spray_params p = base();

	p.qps = 12;
	p.packets *= 8; /* or one RNIC's timer, of 20 ms, is several times what all else takes */
	p.loss_ppm = 500;
	p.bad_ppm = 200;
	p.rnr_ppm = 100;
	p.damaged_ppm = 200;
	p.twice_ppm = 200;
	p.words_percent = 10;
	p.restart_us = 20000;
	p.asker_restart_us = 30000;
	p.move_us = 1000;
	p.dies_us = 30000;
	p.stands_us = 10000;
	assert_true(no_slower(p, 300).sprayed > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rnic_sees_one_order),
		cmocka_unit_test(what_is_read_comes_in_order),
		cmocka_unit_test(words_about_reads_may_be_lost),
		cmocka_unit_test(lost_responses_are_asked_for),
		cmocka_unit_test(who_reads_knows_better),
		cmocka_unit_test(responses_are_damaged),
		cmocka_unit_test(who_reads_restarts),
		cmocka_unit_test(who_reads_stands_still),
		cmocka_unit_test(there_is_no_room_for_responses),
		cmocka_unit_test(much_is_read_at_once),
		cmocka_unit_test(words_may_be_lost),
		cmocka_unit_test(words_come_when_all_is_over),
		cmocka_unit_test(questions_come_behind_a_window),
		cmocka_unit_test(paths_differ_by_much),
		cmocka_unit_test(losses_are_asked_for_once),
		cmocka_unit_test(the_rnic_knows_better),
		cmocka_unit_test(packets_are_damaged),
		cmocka_unit_test(the_receiver_restarts),
		cmocka_unit_test(the_sender_restarts),
		cmocka_unit_test(operators_move_them),
		cmocka_unit_test(there_is_no_room),
		cmocka_unit_test(paths_die),
		cmocka_unit_test(hosts_stand_still),
		cmocka_unit_test(what_lies_unread_is_not_lost),
		cmocka_unit_test(who_leaves_it_keeps_the_order),
		cmocka_unit_test(marked_lanes_are_left_out),
		cmocka_unit_test(who_does_not_agree),
		cmocka_unit_test(everything_at_once),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
