/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roce-gen's endpoints over networks that lose, reorder and mark: every message arrives complete
 * and once, counters are right, rates are kept, pauses obeyed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "gen_world.h"
#include "probes/peer.h"
#include "roce/icrc.h"

#define SEEDS (40u / HP3_FEWER)
#define S     UINT64_C(1000000000)
#define MS    UINT64_C(1000000)

static struct world w;

static uint64_t sum(int e, size_t at)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < w.end[e].n_qps; i++)
		n += *(const uint64_t *)((const char *)&w.end[e].qps[i] + at);
	return n;
}

#define SUM(e, field) sum(e, offsetof(struct gen_qp, field))

static const struct gen_workload_params mix = {.load = GEN_LOAD_CLOSED,
	.weight = {1, 1, 1, 1},
	.size = 20000,
	.depth = 4,
	.messages = 30,
	.seed = 1};

static void all_arrived(void)
{
	for (int e = 0; e < 2; e++) {
		assert_true(gen_workload_done(&w.load[e]));
		assert_int_equal(w.load[e].completed, w.load[e].total);
		assert_int_equal(SUM(e, responder.n.wrong), 0);
		assert_int_equal(SUM(e, read_wrong), 0);
		assert_int_equal(SUM(e, responder.n.checked),
			w.load[!e].completed - w.load[!e].time[GEN_READ].n);
		assert_int_equal(w.end[e].n.bad_icrc, 0);
		assert_int_equal(w.end[e].n.strays, 0);
	}
	assert_int_equal(w.failed, 0);
	assert_int_equal(w.load[0].completed, 30 * w.end[0].n_qps);
}

static void a_clean_network_needs_nothing_twice(void **state)
{
	struct gen_endpoint_params p = world_params();

	world_open(&w, &p, 8, true, 1);
	world_run(&w, &mix, UINT64_MAX);
	all_arrived();
	for (int e = 0; e < 2; e++) {
		assert_int_equal(SUM(e, requester.n.again), 0);
		assert_int_equal(SUM(e, responder.n.out_of_order), 0);
		assert_int_equal(SUM(e, responder.n.duplicates), 0);
		assert_int_equal(SUM(e, requester.n.stale), 0);
		assert_int_equal(SUM(e, order.overtaken), 0);
		assert_true(w.end[e].rtt.n > 0);
		assert_true(w.end[e].rtt.min >= 2 * w.delay_ns);
	}
	world_close(&w);
}

static void loss_costs_time_only(void **state)
{
	struct gen_endpoint_params p = world_params();

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		world_open(&w, &p, 4, true, seed);
		w.lost = (uint32_t)(seed % 4 + 1) * 5; /* 0.5 to 2 % */
		world_run(&w, &mix, UINT64_MAX);
		all_arrived();
		assert_true(w.drops > 0 && SUM(0, requester.n.again) > 0);
		for (int e = 0; e < 2; e++) {
			assert_int_equal(SUM(e, order.overtaken), 0);
			assert_int_equal(SUM(e, order.late_duplicates), 0);
			/* One NAK for a gap, as many as the other end got, but for lost ones. */
			assert_true(SUM(e, responder.n.out_of_seq_request) >=
				    SUM(!e, requester.n.naks));
			assert_true(SUM(e, responder.n.out_of_seq_request) <
				    SUM(e, responder.n.out_of_order));
		}
		world_close(&w);
	}
}

static void disorder_is_survived_and_told_apart_from_loss(void **state)
{
	struct gen_endpoint_params p = world_params();

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		world_open(&w, &p, 2, false, seed);
		w.overtaken = 10;
		w.lost = seed % 2 ? 0 : 5;
		world_run(&w, &mix, UINT64_MAX);
		all_arrived();
		assert_true(SUM(1, order.overtaken) > 0);
		world_close(&w);
	}
}

static void receivers_without_buffers_are_waited_for(void **state)
{
	struct gen_endpoint_params p = world_params();

	p.responder.rnr_every = 3;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		world_open(&w, &p, 2, true, seed);
		w.lost = seed % 2 ? 0 : 10;
		world_run(&w, &mix, UINT64_MAX);
		all_arrived();
		assert_true(SUM(0, responder.n.rnr_naks) > 0);
		world_close(&w);
	}
}

static void a_dead_network_ends_queue_pairs(void **state)
{
	struct gen_endpoint_params p = world_params();

	world_open(&w, &p, 3, false, 1);
	w.lost = 1000;
	world_run(&w, &mix, UINT64_MAX);
	assert_int_equal(w.failed, 3);
	assert_int_equal(w.end[0].qps[0].requester.failure, GEN_RETRY_EXCEEDED);
	assert_int_equal(w.end[0].qps[0].requester.n.timeouts, p.requester.retry_count + 1);
	assert_true(gen_workload_done(&w.load[0]));
	assert_int_equal(w.load[0].failed, 3 * 4);
	world_close(&w);
}

/* Bytes that left, within a thousandth of what the rate allows. */
static void the_port_keeps_its_rate(void **state)
{
	static const uint64_t rates[] = {50000000, 100000000, 1000000000};
	struct gen_workload_params load = mix;

	load.messages = 0;
	load.weight[GEN_READ] = 0;
	for (size_t i = 0; i < 3; i++) {
		struct gen_endpoint_params p = world_params();
		uint64_t bytes = rates[i] / 8;

		p.link_bps = rates[i];
		world_open(&w, &p, 5, false, 1);
		w.delay_ns = 20000;
		world_run(&w, &load, S);
		assert_in_range(w.end[0].n.tx_bytes, bytes - bytes / 1000,
			bytes + bytes / 1000 + bytes * p.burst_ns / S + 3000);
		/* and fairly */
		for (uint32_t q = 0; q < 5; q++)
			assert_in_range(w.end[0].qps[q].requester.n.acked_bytes,
				SUM(0, requester.n.acked_bytes) / 5 * 97 / 100,
				SUM(0, requester.n.acked_bytes) / 5 * 103 / 100);
		world_close(&w);
	}
}

/* Whoever is served late catches up; whoever was idle sends a burst and no more. */
static void only_what_waited_catches_up(void **state)
{
	struct gen_endpoint_params p = world_params();
	uint8_t frame[GEN_FRAME_MAX];
	uint64_t now;

	p.link_bps = 100000000;
	p.catch_up_ns = 5 * MS;
	p.requester.window = 30000;
	world_open(&w, &p, 1, false, 1);
	world_run(&w, &(struct gen_workload_params){.load = GEN_LOAD_NONE}, 100 * MS);
	now = 100 * MS;
	gen_endpoint_post(&w.end[0], &w.end[0].qps[0], GEN_WRITE, 20000000, 0, now);
	while (gen_endpoint_tx(&w.end[0], frame, now) > 0)
		continue;
	assert_in_range(w.end[0].n.tx_bytes, 1250, 1250 + 3 * 1200); /* 100 us, two packets */
	for (int late = 1; late <= 20; late++) {
		now += 4 * MS;
		while (gen_endpoint_tx(&w.end[0], frame, now) > 0)
			continue;
		assert_in_range(w.end[0].n.tx_bytes, late * 50000, 3 * 1200 + late * 50000);
	}
	world_close(&w);
}

static void a_queue_pair_keeps_its_rate(void **state)
{
	struct gen_endpoint_params p = world_params();
	struct gen_workload_params load = mix;

	p.qp_bps = 20000000;
	load.messages = 0;
	world_open(&w, &p, 3, true, 1);
	world_run(&w, &load, S);
	/* Requests and READ responses of one queue pair share its rate. */
	for (int e = 0; e < 2; e++)
		assert_in_range(w.end[e].n.tx_bytes, 3 * 20000000 / 8 * 99 / 100,
			3 * 20000000 / 8 * 102 / 100);
	world_close(&w);
}

static void use_dcqcn(struct gen_endpoint_params *p)
{
	p->dcqcn = p->np = true;
	p->rp_params = hp3_dcqcn_preset("paper")->rp;
	p->rp_params.rpg_max_rate = 1000;
	p->np_params.min_time_between_cnps = 50;
}

static void marks_make_cnps_and_cnps_slow_down(void **state)
{
	struct gen_endpoint_params p = world_params();
	struct gen_workload_params load = mix;
	uint64_t before;

	use_dcqcn(&p);
	load.messages = 0;
	world_open(&w, &p, 1, false, 1);
	world_run(&w, &load, 20 * MS);
	assert_int_equal(w.end[0].qps[0].cnps_received, 0);
	assert_int_equal(w.end[0].qps[0].rp.rate, 1000000000);
	w.marked = 300;
	before = w.end[0].n.tx_bytes;
	world_go_on(&w, 40 * MS);
	assert_true(w.end[1].qps[0].cnps_sent > 3);
	/* At most one in 50 us; READ responses marked on the way back draw them as well. */
	assert_true(w.end[1].qps[0].cnps_sent <= 20000 / 50 + 1);
	assert_in_range(w.end[0].qps[0].cnps_received, w.end[1].qps[0].cnps_sent - 1,
		w.end[1].qps[0].cnps_sent);
	assert_true((w.end[0].n.tx_bytes - before) * 10 < before * 7);
	w.marked = 0;
	world_go_on(&w, 2 * S);
	assert_true(w.end[0].qps[0].rp.rate > 900000000);
	world_close(&w);
}

static void pause(struct world *world, int to, uint8_t classes, uint16_t quanta)
{
	uint8_t f[60] = {1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 1, 1, 0, classes};

	for (int i = 0; i < 8; i++)
		hp3_put_be16(f + 18 + 2 * i, quanta);
	world_inject(world, to, f, sizeof(f));
}

static void pause_frames_are_obeyed(void **state)
{
	struct gen_endpoint_params p = world_params();
	struct gen_workload_params load = mix;
	uint64_t sent;

	p.link_bps = 100000000; /* 65535 quanta of 5.12 us: 335.5 ms */
	load.messages = 0;
	world_open(&w, &p, 2, false, 1);
	world_run(&w, &load, 10 * MS);
	sent = w.end[0].n.tx_packets;
	pause(&w, 0, 1 << 2, 65535); /* another priority */
	world_go_on(&w, 20 * MS);
	assert_true(w.end[0].n.tx_packets > sent + 50);
	pause(&w, 0, 1 << 3 | 1, 10000); /* 51.2 ms */
	world_go_on(&w, 21 * MS);
	sent = w.end[0].n.tx_packets;
	world_go_on(&w, 20 * MS + 51200000 - 1);
	assert_int_equal(w.end[0].n.tx_packets, sent);
	world_go_on(&w, 80 * MS);
	assert_true(w.end[0].n.tx_packets > sent + 50);
	pause(&w, 0, 1 << 3, 65535);
	world_go_on(&w, 90 * MS);
	sent = w.end[0].n.tx_packets;
	pause(&w, 0, 1 << 3, 0); /* go on */
	world_go_on(&w, 100 * MS);
	assert_true(w.end[0].n.tx_packets > sent + 50);
	assert_int_equal(w.end[0].n.pauses, 2);
	assert_in_range(w.end[0].n.paused_ns, 61200000, 61200001);
	assert_int_equal(SUM(0, requester.n.timeouts), 0);
	world_close(&w);
}

static void what_is_not_ours_is_left_alone(void **state)
{
	static const struct hp3_addressing other = {.src_ip = {10, 0, 0, 7},
		.dst_ip = {10, 0, 0, 1},
		.ttl = 64,
		.sport = 50000,
		.pkey = 0xffff};
	struct gen_endpoint_params p = world_params();
	struct hp3_addressing peer;
	uint8_t f[200];
	int n;

	world_open(&w, &p, 1, false, 1);
	world_run(&w, &(struct gen_workload_params){.load = GEN_LOAD_NONE}, 1);
	n = hp3_build_ack(f, sizeof(f), &other, 0x100, w.end[0].qps[0].requester.una, 0x1f, 0);
	world_inject(&w, 0, f, (uint32_t)n); /* another host's */
	peer = w.end[1].qps[0].to;
	n = hp3_build_ack(f, sizeof(f), &peer, 0x101, 0, 0x1f, 0);
	world_inject(&w, 0, f, (uint32_t)n); /* no such queue pair */
	n = hp3_build_ack(f, sizeof(f), &peer, 0x100, 0, 0x1f, 0);
	f[n - 1] ^= 1;
	world_inject(&w, 0, f, (uint32_t)n);
	world_inject(&w, 0, f, 10);
	world_go_on(&w, 2);
	assert_int_equal(w.end[0].n.strays, 2);
	assert_int_equal(w.end[0].n.bad_icrc, 1);
	assert_int_equal(w.end[0].n.others, 1);
	assert_int_equal(w.end[0].n.rx_packets, 0);
	world_close(&w);
}

/* Probes, traces and reports for an hp3d that is gone, marked on their way, whatever PSN they bear:
 * nothing comes back, and nothing counts. */
static void rule_01_probes_for_an_absent_hp3d_provoke_nothing(void **state)
{
	static const struct hp3_probe_key key = {{1}};
	struct gen_endpoint_params p = world_params();
	uint32_t n = 0;

	p.np = true;
	world_open(&w, &p, 1, false, 1);
	world_run(&w, &mix, UINT64_MAX);
	const struct gen_responder before = w.end[1].qps[0].responder;
	const uint64_t frames = w.frames, taken = w.end[1].n.rx_packets;
	for (uint32_t ahead = 0; ahead < 4; ahead++) {
		for (int report = 0; report < 2; report++, n++) {
			struct hp3_peer_probe probe = {.dest_qpn = w.end[1].qps[0].lqpn,
				.psn = hp3_psn_add(before.expected, ahead - 2),
				.id = n,
				.report = report};
			struct hp3_addressing a = w.end[0].qps[0].to;
			uint8_t f[200];
			a.tclass |= HP3_ECN_CE;
			world_inject(
				&w, 1, f, (uint32_t)hp3_peer_build(f, sizeof(f), &a, &probe, &key));
		}
	}
	world_go_on(&w, UINT64_MAX);
	assert_int_equal(w.end[1].n.others, n);
	assert_int_equal(w.end[1].n.rx_packets, taken);
	assert_int_equal(w.frames, frames);
	assert_int_equal(SUM(1, responder.n.duplicates), before.n.duplicates);
	assert_int_equal(SUM(1, responder.n.out_of_seq_request), before.n.out_of_seq_request);
	assert_int_equal(w.end[1].qps[0].responder.expected, before.expected);
	assert_int_equal(SUM(1, cnps_sent), 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_network_needs_nothing_twice),
		cmocka_unit_test(loss_costs_time_only),
		cmocka_unit_test(disorder_is_survived_and_told_apart_from_loss),
		cmocka_unit_test(receivers_without_buffers_are_waited_for),
		cmocka_unit_test(a_dead_network_ends_queue_pairs),
		cmocka_unit_test(the_port_keeps_its_rate),
		cmocka_unit_test(only_what_waited_catches_up),
		cmocka_unit_test(a_queue_pair_keeps_its_rate),
		cmocka_unit_test(marks_make_cnps_and_cnps_slow_down),
		cmocka_unit_test(pause_frames_are_obeyed),
		cmocka_unit_test(what_is_not_ours_is_left_alone),
		cmocka_unit_test(rule_01_probes_for_an_absent_hp3d_provoke_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
