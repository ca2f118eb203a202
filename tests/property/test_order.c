/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of moves over a hostile network (world.h). */
#include "run.h"

/* Without loss every move ends on the new port, soon, and nothing is ever sent again. */
static void clean_network(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.reads = true;
	r = run(p);
	assert_sum(r.switched > 50 * run_seeds);
	assert_sum(r.held > 1000 * run_seeds);
	assert_sum(r.ports_used > r.arrived / 4);
	assert_int_equal(r.retransmitted, 0);
	assert_sum(r.timeouts + r.recovered <= r.switched / 100);
	assert_int_equal(r.paired, 8 * run_seeds);
}

/* One message is longer than the run: only the closing packet's AckReq can end a drain. */
static void middle_of_a_message(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.qps = 2;
	p.lockstep = true;
	p.msg_packets = 1024;
	p.window = 2048;
	p.cm = true;
	r = run(p);
	assert_sum(r.switched > 100 * run_seeds);
	assert_int_equal(r.timeouts, 0);
	assert_true(r.max_drain_ns < 1000000); /* longest path: 0.2 ms there, 0.02 back */
}

static void loss(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.loss_ppm = 3000;
	p.fatal_ppm = 300;
	p.damage_ppm = p.behind_ppm = 2000;
	p.credits = true;
	p.reads = true;
	r = run(p);
	assert_sum(r.switched > 15 * run_seeds);
	assert_sum(r.recovered > 5 * run_seeds);
	assert_sum(r.retransmitted > 100 * run_seeds);
}

/* Two of three closing packets, sent again or not, and half of their ACKs are lost. */
static void rule_8_closing_packets_and_their_acks_lost(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.cm = p.lose_closing = true;
	p.lockstep = true; /* in the middle of a message nothing else asks for an ACK */
	p.msg_packets = 1024;
	p.move_every_us = 500;
	p.rto_us = 2000;
	r = run(p);
	assert_sum(r.recovered > 20 * run_seeds);
	assert_sum(r.switched > run_seeds);
	assert_sum(r.rtos > 10 * run_seeds);
	p.lockstep = false;
	p.msg_packets = 50;
	r = run(p);
	assert_sum(r.recovered > 5 * run_seeds);
}

/* The RNIC goes back in the middle of many drains: what it sends again belongs to the old path. */
static void going_back_in_drains(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.cm = true;
	p.loss_ppm = 20000;
	p.pairs = 3;
	p.ipv6 = p.any_pmtu = true;
	p.damage_ppm = p.behind_ppm = 2000;
	p.credits = true;
	p.move_every_us = 20;
	p.msg_packets = 60;
	r = run(p);
	assert_sum(r.recovered > 50 * run_seeds);
	assert_sum(r.retransmitted > 1000 * run_seeds);
}

/* Long messages of idle queue pairs wait for a path: nothing is sent again, nothing late. */
static void long_messages_wait(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.cm = p.probing = true;
	p.message_start_percent = 10;
	p.move_every_us = 0;
	p.msg_packets = 20;
	p.pause_us = 2000;
	p.hot_paths = 3;
	r = run(p);
	assert_sum(r.message_start_searches > 50 * run_seeds);
	assert_sum(r.moved_at_message_start > 20 * run_seeds);
	assert_sum(r.held > 200 * run_seeds);
	assert_int_equal(r.retransmitted, 0);
	p.reads = true;
	p.cc = HP3_CC_DCQCN;
	r = run(p);
	assert_sum(r.moved_at_message_start > 5 * run_seeds);
	p.hold_bytes = 8192;
	r = run(p);
	assert_sum(
		run_seeds < 8 || r.moved_at_message_start > run_seeds / 2); /* one or two a seed */
}

static void long_messages_wait_in_bad_weather(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.cm = p.probing = true;
	p.message_start_percent = 10;
	p.move_every_us = 0;
	p.msg_packets = 20;
	p.pause_us = 2000;
	p.loss_ppm = 3000;
	p.reads = p.rnr = p.resets = p.kill_paths = true;
	p.stall_us = 1000;
	p.rto_us = 2000;
	p.peer_crash_every_us = 5000;
	r = run(p);
	assert_sum(r.message_start_searches > 20 * run_seeds);
	assert_sum(r.moved_at_message_start > 5 * run_seeds);
}

static void dead_paths(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.kill_paths = true;
	p.reads = true;
	p.rnr = true;
	p.pairs = 3;
	p.ipv6 = p.any_pmtu = true;
	p.fatal_ppm = 300;
	p.damage_ppm = p.behind_ppm = 2000;
	p.credits = true;
	r = run(p);
	assert_sum(r.switched > 20 * run_seeds);
	assert_sum(r.timeouts > 0);
}

/* Rule 15: eight queue pairs at PSN 0, message by message alike. */
static void rule_15_lockstep_is_never_paired_wrongly(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.lockstep = true;
	p.msg_packets = 128;
	r = run(p);
	assert_int_equal(r.paired, 8 * run_seeds);
	p.loss_ppm = 2000;
	p.damage_ppm = 2000;
	r = run(p);
	assert_sum(r.paired > 4 * run_seeds);
	p.untracked = true; /* the answers of one that has no record look the same */
	r = run(p);
	assert_sum(r.paired > run_seeds);
}

/*
 * Rule 17: two tenants with the same addresses, queue pair numbers and PSNs, behind one outer VLAN
 * tag. Each flow is a flow of its own: it pairs, moves and counts by its own packets.
 */
static void rule_17_tenants_of_equal_addresses(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.pairs = 2;
	p.tenants = p.lockstep = true;
	p.msg_packets = 128;
	r = run(p);
	assert_int_equal(r.paired, 8 * run_seeds);
	assert_int_equal(r.epochs, 0);
	assert_int_equal(r.retransmitted, 0);
	assert_sum(r.switched > 20 * run_seeds);
	p.lockstep = false;
	p.cm = p.ipv6 = true;
	p.pairs = 4;
	p.loss_ppm = p.damage_ppm = 2000;
	p.reads = p.rnr = true;
	r = run(p);
	assert_int_equal(r.epochs, 0);
	assert_sum(r.switched > 20 * run_seeds);
}

/* Rule 16: reset with the same QPN and a PSN near the old one, in mid-hold too. */
static void rule_16_resets(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.resets = true;
	p.reads = true;
	r = run(p);
	assert_sum(r.switched > 20 * run_seeds);
	p.loss_ppm = 1000;
	p.pairs = 3;
	p.ipv6 = p.any_pmtu = true;
	p.fatal_ppm = 300;
	p.damage_ppm = p.behind_ppm = 2000;
	p.credits = true;
	p.rnr = true;
	p.cm = true;
	p.move_every_us = 10;
	r = run(p);
	assert_sum(r.epochs + r.discarded > 0);
}

/* Bounds of the hold end in fast recovery, never in loss. */
static void small_hold(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.hold_bytes = 16384;
	r = run(p);
	assert_sum(r.recovered > 20 * run_seeds);
	assert_int_equal(r.lost, 0);
	assert_int_equal(r.retransmitted, 0);
}

/* Some paths are congested: flows leave them by themselves, in order, with evidence. */
static void flows_leave_congested_paths(void **state)
{
	struct world_params p = run_base();
	struct world_result stay, go;

	p.hot_paths = 3;
	p.gap_us = 4;
	p.reads = true;
	p.cm = true;
	p.move_every_us = 1000000;
	stay = run(p);
	p.probing = true;
	go = run(p);
	print_message(
		"hot arrivals: %llu staying, %llu moving; %llu rounds, %llu won, %llu probes\n",
		(unsigned long long)stay.on_hot, (unsigned long long)go.on_hot,
		(unsigned long long)go.rounds, (unsigned long long)go.rounds_won,
		(unsigned long long)go.probes);
	assert_sum(go.switched + go.idle > 2 * run_seeds);
	assert_sum(go.on_hot < stay.on_hot / 2);
	p.loss_ppm = 2000;
	p.kill_paths = p.rnr = p.resets = true;
	go = run(p);
	assert_sum(go.switched > run_seeds);
}

/* Ports are named at random, by somebody who may be wrong: on congested paths, dead ones, grey
 * ones. None is taken that is worse than the one in use, and what flows find by themselves stays
 * theirs. */
static void rule_34_advice_is_asked_about(void **state)
{
	struct world_params p = run_base();
	struct world_result none, bad;

	p.hot_paths = 3;
	p.gap_us = 4;
	p.cm = p.probing = true;
	p.move_every_us = 1000000;
	none = run(p);
	p.move_every_us = 50;
	p.advice = true;
	bad = run(p);
	print_message("hot arrivals: %llu without, %llu with advice; %llu named, %llu taken\n",
		(unsigned long long)none.on_hot, (unsigned long long)bad.on_hot,
		(unsigned long long)bad.advised, (unsigned long long)bad.advice_taken);
	assert_sum(bad.advised > 20 * run_seeds);
	assert_sum(bad.advice_taken > run_seeds);
	assert_sum(bad.on_hot <= none.on_hot + bad.emitted / 50);
	assert_int_equal(bad.lost + bad.discarded + bad.retransmitted, 0);
	p.reads = p.rnr = p.resets = p.kill_paths = true;
	p.loss_ppm = 2000;
	p.damage_ppm = p.behind_ppm = 1000;
	bad = run(p);
	assert_sum(bad.advice_taken > run_seeds);
}

/* Some paths lose a packet in fifty, and answer probes as well as the others. */
static void flows_leave_grey_paths(void **state)
{
	struct world_params p = run_base();
	struct world_result stay, go;

	p.grey_paths = 3;
	p.grey_ppm = 20000;
	p.rtt_us = 20;
	p.window = 32;
	p.msg_packets = 20;
	p.cm = p.probing = p.bear_loss = true;
	stay = run(p);
	p.bear_loss = false;
	go = run(p);
	print_message("on grey paths: %llu of %llu staying, %llu of %llu leaving, in %llu moves\n",
		(unsigned long long)stay.on_grey, (unsigned long long)stay.emitted,
		(unsigned long long)go.on_grey, (unsigned long long)go.emitted,
		(unsigned long long)go.left_for_loss);
	assert_sum(go.left_for_loss >= 2 * run_seeds);
	assert_sum(go.on_grey < stay.on_grey / 2);
	p.selective = true;
	go = run(p);
	assert_sum(go.left_for_loss >= 2 * run_seeds);
	p.selective = false;
	p.reads = p.rnr = p.kill_paths = true;
	p.resets = true;
	p.stall_us = 500;
	go = run(p);
	assert_sum(go.left_for_loss >= run_seeds);
}

/* Nobody moves about: there is nowhere to go. */
static void all_paths_are_grey(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.grey_paths = p.paths;
	p.grey_ppm = 20000;
	p.rtt_us = 20;
	p.window = 32;
	p.msg_packets = 20;
	p.cm = p.probing = true;
	r = run(p);
	assert_sum(r.lossy >= 8 * run_seeds);
	assert_true(r.left_for_loss <= 5 * 8 * run_seeds);
	assert_sum(r.probes < r.emitted / 100);
}

/* Nowhere is better: nobody is suspended, probes become rare. */
static void all_paths_congested(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.hot_paths = p.paths;
	p.cm = true;
	p.probing = true;
	r = run(p);
	assert_sum(r.rounds > 8 * run_seeds);
	assert_int_equal(r.rounds_won, 0);
	assert_int_equal(r.switched + r.idle, 0);
	assert_int_equal(r.held, 0);
	assert_sum(r.probes < r.emitted / 100);
}

/*
 * Every message is acknowledged, by many queue pairs: bursts of replies are long, and most of them
 * move una unseen (rule 26). One in 500 is damaged, one in 500 lost behind hp3d.
 */
static void rule_26_acks_in_long_bursts(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.packets = run_packets / 3;
	p.cm = true;
	p.qps = 24;
	p.msg_packets = 2;
	p.damage_ppm = p.behind_ppm = 2000;
	p.credits = true;
	r = run(p);
	assert_sum(r.long_rx > 100 * run_seeds);
	assert_sum(r.unseen > 2000 * run_seeds);
	assert_sum(r.switched > 20 * run_seeds);
	p.loss_ppm = 3000;
	p.reads = p.resets = true;
	r = run(p);
	assert_sum(r.unseen > 1000 * run_seeds);
}

/* hp3d has hardly a buffer, now and then none: moves end, nothing else does. */
static void holds_leave_room(void **state)
{
	struct world_params p = run_base();
	struct world_result r;

	p.pool = 400;
	r = run(p);
	assert_sum(r.switched > 10 * run_seeds);
	assert_sum(r.held > 100 * run_seeds);
	assert_sum(r.no_room > 10 * run_seeds);
	assert_int_equal(r.lost + r.discarded + r.retransmitted, 0);
	p.loss_ppm = 2000;
	p.damage_ppm = p.behind_ppm = 1000;
	p.reads = p.rnr = p.resets = true;
	r = run(p);
	assert_sum(r.no_room > run_seeds);
	p.cc = HP3_CC_DCQCN; /* what waits for the pacer waits in the same room */
	p.cm = true;
	p.hot_paths = 3;
	r = run(p);
	assert_sum(r.paced > 100 * run_seeds);
	assert_sum(r.no_room > run_seeds);
	p = run_base();
	p.pool = 8; /* never more than seven, mostly fewer */
	r = run(p);
	assert_int_equal(r.lost + r.discarded + r.retransmitted, 0);
	assert_sum(r.completed > run_packets / 2 * run_seeds);
}

static void same_seed_same_run(void **state)
{
	struct world_params p = run_base();
	struct world_result a, b;

	p.loss_ppm = 2000;
	p.pairs = 3;
	p.ipv6 = p.any_pmtu = true;
	p.damage_ppm = p.behind_ppm = p.fatal_ppm = 1000;
	p.resets = p.reads = p.rnr = p.kill_paths = true;
	p.packets = 30000;
	p.seed = run_first_seed;
	assert_int_equal(world_run(&p, &a), 0);
	assert_int_equal(world_run(&p, &b), 0);
	assert_memory_equal(&a, &b, sizeof(a));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_network),
		cmocka_unit_test(middle_of_a_message),
		cmocka_unit_test(loss),
		cmocka_unit_test(rule_8_closing_packets_and_their_acks_lost),
		cmocka_unit_test(going_back_in_drains),
		cmocka_unit_test(long_messages_wait),
		cmocka_unit_test(long_messages_wait_in_bad_weather),
		cmocka_unit_test(dead_paths),
		cmocka_unit_test(rule_15_lockstep_is_never_paired_wrongly),
		cmocka_unit_test(rule_17_tenants_of_equal_addresses),
		cmocka_unit_test(rule_16_resets),
		cmocka_unit_test(small_hold),
		cmocka_unit_test(holds_leave_room),
		cmocka_unit_test(flows_leave_congested_paths),
		cmocka_unit_test(all_paths_congested),
		cmocka_unit_test(rule_34_advice_is_asked_about),
		cmocka_unit_test(flows_leave_grey_paths),
		cmocka_unit_test(all_paths_are_grey),
		cmocka_unit_test(rule_26_acks_in_long_bursts),
		cmocka_unit_test(same_seed_same_run),
		cmocka_unit_test(bursts_were_long),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
