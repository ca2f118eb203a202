/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3d as it ships, on a healthy network of 100 Gb/s: round trips of some ten microseconds, RTO
 * 67 ms. Whatever the load, it does nothing (world.h, `harmless`): no time-out, no retransmission
 * but for RNR, no duplicate at the peer, no ACK solicitation, no report, no round because of a dead
 * path, no move, no reply consumed. Up to 60 s of simulated time each.
 */
#include "engine/policy.h"
#include "run.h"

static struct hp3_engine_config shipped;

static struct world_params harm_base(void)
{
	return (struct world_params){.qps = 4,
		.paths = 4,
		.msg_packets = 4,
		.window = 16,
		.even = true,
		.rtt_us = 30,
		.rto_us = 67000,
		.mbps = 100,
		.limit_ms = 60000,
		.probing = true,
		.stall_us = shipped.stall_ns / 1000,
		.hold_bytes = shipped.hold_bytes,
		.shipped = &shipped,
		.news = true,
		.harmless = true};
}

/* The packets of a run are shared out: half with one path, half with four. */
static void harmless(struct world_params p)
{
	p.paths = 1;
	run(p);
	p.paths = 4;
	p.lead_us = 1000;
	run(p);
}

/* NVMe-oF: 4 KiB READs and WRITEs on the same queue pairs. */
static void reads_and_writes(void **state)
{
	struct world_params p = harm_base();

	p.reads = true;
	p.read_percent = 30;
	harmless(p);
	p.qps = 1;
	p.mbps = 20;
	p.read_percent = 70;
	harmless(p);
}

static void writes(void **state)
{
	struct world_params p = harm_base();

	p.msg_packets = 64;
	p.window = 128;
	harmless(p);
	p.qps = 1;
	p.mbps = 1;
	harmless(p);
}

static void sends(void **state)
{
	struct world_params p = harm_base();

	p.sends = true;
	p.qps = 64;
	harmless(p);
}

static void many_queue_pairs(void **state)
{
	struct world_params p = harm_base();

	p.qps = 256;
	p.reads = true;
	p.read_percent = 30;
	harmless(p);
	p.reads = false;
	p.mbps = 20;
	harmless(p);
}

/* Eight to one: behind all paths stands a queue, ACKs come late and apart. */
static void incast(void **state)
{
	struct world_params p = harm_base();

	p.incast_us = 8000;
	p.msg_packets = 16;
	p.window = 64;
	harmless(p);
	p.reads = true;
	p.read_percent = 50;
	harmless(p);
}

/* CNPs slow RNICs down to a packet in 8 ms: 1 Mb/s. */
static void throttled(void **state)
{
	struct world_params p = harm_base();

	p.hot_paths = 4;
	p.mark_percent = 30;
	p.throttle_us = 8000;
	p.msg_packets = 64;
	p.window = 128;
	p.mbps = 1000;
	harmless(p);
	p.reads = true;
	p.read_percent = 30;
	p.msg_packets = 4;
	harmless(p);
}

static void bursts_with_idle_seconds(void **state)
{
	struct world_params p = harm_base();

	p.mbps = 0;
	p.pause_us = 3000000;
	p.msg_packets = 16;
	p.window = 64;
	harmless(p);
	p.reads = true;
	p.read_percent = 30;
	harmless(p);
}

static void receiver_not_ready(void **state)
{
	struct world_params p = harm_base();

	p.sends = p.rnr = true;
	harmless(p);
	p.rnr_us = 60000;
	p.reads = true;
	p.read_percent = 30;
	harmless(p);
}

static void reads_take_50_ms(void **state)
{
	struct world_params p = harm_base();

	p.reads = true;
	p.read_percent = 30;
	p.read_us = 50000;
	harmless(p);
	p.read_percent = 100;
	p.qps = 64;
	harmless(p);
}

/* An ACK for 64 packets, and for all that came within 2 ms. */
static void few_acks(void **state)
{
	struct world_params p = harm_base();

	p.msg_packets = 256;
	p.window = 512;
	p.responder = WORLD_COALESCING;
	p.ack_us = 2000;
	harmless(p);
	p.qps = 1;
	p.mbps = 5;
	p.gap_us = 1600;
	harmless(p);
}

/* Priority flow control: the receiver's paths hold all for some ms, and deliver it then. */
static void paths_pause(void **state)
{
	struct world_params p = harm_base();

	p.kill_paths = p.pause_paths = p.all_paths = true;
	p.dead_us = 8000;
	p.every_us = 100000;
	harmless(p);
	p.reads = true;
	p.read_percent = 50;
	harmless(p);
}

static void hp3d_at_one_end(void **state)
{
	struct world_params p = harm_base();

	p.no_peer = true;
	harmless(p);
	p.reads = true;
	p.read_percent = 30;
	p.read_us = 20000;
	harmless(p);
}

static void the_peers_hp3d_restarts(void **state)
{
	struct world_params p = harm_base();

	p.peer_crash_every_us = 500000;
	p.reads = true;
	p.read_percent = 30;
	harmless(p);
	p.incast_us = 5000;
	p.reads = false;
	harmless(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_writes),
		cmocka_unit_test(writes),
		cmocka_unit_test(sends),
		cmocka_unit_test(many_queue_pairs),
		cmocka_unit_test(incast),
		cmocka_unit_test(throttled),
		cmocka_unit_test(bursts_with_idle_seconds),
		cmocka_unit_test(receiver_not_ready),
		cmocka_unit_test(reads_take_50_ms),
		cmocka_unit_test(few_acks),
		cmocka_unit_test(paths_pause),
		cmocka_unit_test(hp3d_at_one_end),
		cmocka_unit_test(the_peers_hp3d_restarts),
		cmocka_unit_test(bursts_were_long),
	};
	struct hp3_engine_config table;

	hp3_policy_defaults(&table);
	shipped = hp3_policy_settled(&table);
	run_arguments(argc, argv);
	run_packets /= 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
