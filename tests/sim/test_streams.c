/* SPDX-License-Identifier: BSD-3-Clause */
/* Kept queue pairs, READs, hosts with several links: which packets are sent when and by which link.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "sim/fabric/port.h"
#include "sim/host/host.h"
#include "sim/lb/hp3.h"
#include "world.h"

static struct sim s;

#define SMALL                                                                                      \
	"fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=8", "fabric.grain_ps=1",      \
		"rnic.payload_bytes=1024"
#define READS   "traffic.read_percent=100"
#define KEPT    "rnic.qps=kept"
#define PACKET  (1072 * UINT64_C(80)) /* ps on one link at 100 Gb/s */
#define ACK     (60 * UINT64_C(80))
#define REQUEST (78 * UINT64_C(80))
#define ONE_WAY (4 * SIM_US) /* propagation across the spine */

/* The request goes 4 links, the response comes back over 4. */
static void a_read_is_asked_for_and_answered(void **state)
{
	WORLD(&s, SMALL, READS);
	world_flow(&s, 0, 8, 1024, 0);
	world_run(&s);
	assert_int_equal(s.outcome[0].fct, 2 * ONE_WAY + 4 * REQUEST + 4 * PACKET);
	assert_int_equal(s.n.reads, 1);
	assert_int_equal(s.n.acks, 0);
	assert_int_equal(s.n.hops, 6);
	sim_destroy(&s);
}

/* One request brings all; with one outstanding at a time the next waits for the last response. */
static void reads_are_bounded_by_their_depth(void **state)
{
	const uint64_t way = 2 * ONE_WAY + 4 * REQUEST + 4 * PACKET + 9 * PACKET;

	WORLD(&s, SMALL, READS, KEPT);
	world_flow(&s, 0, 8, 10240, 0);
	world_flow(&s, 0, 8, 10240, 0);
	world_run(&s);
	assert_int_equal(s.n.reads, 2);
	assert_int_equal(s.outcome[0].fct, way);
	assert_int_equal(s.outcome[1].fct, way + 10 * PACKET);
	sim_destroy(&s);
	WORLD(&s, SMALL, READS, KEPT, "rnic.read_depth=1");
	world_flow(&s, 0, 8, 10240, 0);
	world_flow(&s, 0, 8, 10240, 0);
	world_run(&s);
	assert_int_equal(s.outcome[1].fct, 2 * way);
	sim_destroy(&s);
}

/* Three messages to one host on one queue pair, one behind the other; to another host beside. */
static void messages_share_the_queue_pair_that_is_kept(void **state)
{
	const uint64_t way = 2 * ONE_WAY + 4 * PACKET + 4 * ACK;

	WORLD(&s, SMALL, KEPT, "rnic.setup_us=20", "rnic.setup_counts=off");
	for (unsigned i = 0; i < 3; i++)
		world_flow(&s, 0, 8, 10240, 0);
	world_flow(&s, 1, 9, 10240, 5 * SIM_US);
	world_flow(&s, 0, 8, 1024, 100 * SIM_US);
	world_run(&s);
	assert_int_equal(s.host[0].next_sport, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(s.outcome[i].fct, way + (10 * i + 9) * PACKET);
	assert_int_equal(s.outcome[3].fct, way + 9 * PACKET);
	assert_int_equal(s.outcome[4].fct, way); /* no second set-up */
	sim_destroy(&s);
	WORLD(&s, SMALL, "rnic.setup_us=20");
	for (unsigned i = 0; i < 3; i++)
		world_flow(&s, 0, 8, 10240, 0);
	world_run(&s);
	assert_int_equal(s.host[0].next_sport, 3);
	sim_destroy(&s);
}

/* 15 hosts READ from one: its link is full, is marked on the way, CNPs slow its streams down. */
static void readers_notify_the_responder(void **state)
{
	WORLD(&s, SMALL, READS, "fabric.core_mbps=10000");
	for (uint32_t h = 8; h < 16; h++)
		world_flow(&s, 0, h, 400000, 0);
	world_run(&s);
	assert_true(s.n.marked > 0);
	assert_true(s.n.cnps > 0);
	assert_true(s.n.cnps <= s.n.marked);
	assert_int_equal(s.n.reordered, 0);
	sim_destroy(&s);
}

/* 1 % of everything is lost, requests and responses alike: each byte arrives once in order. */
static void lost_reads_are_asked_for_again(void **state)
{
	static const char *const recoveries[] = {
		"rnic.recovery=go-back-n", "rnic.recovery=irn", "rnic.recovery=unordered"};

	for (unsigned r = 0; r < 6; r++) {
		WORLD(&s, SMALL, READS, recoveries[r % 3], "rnic.rto_us=250",
			r < 3 ? "rnic.qps=kept" : "rnic.qps=fresh");
		for (uint32_t p = 0; p < s.topo.n_ports; p++)
			if (s.port[p].node >= s.topo.hosts)
				s.port[p].loss = 10000000;
		for (uint32_t i = 0; i < 60; i++)
			world_flow(&s, i % 4, 8 + i % 4, 50 * 1024, i * SIM_US);
		world_run(&s);
		assert_true(s.n.dropped[SIM_DROP_LOSS] > 20);
		assert_int_equal(s.n.delivered, 60 * 50);
		assert_true(s.n.reads > 60);
		assert_true(s.n.again > 0);
		assert_int_equal(s.n.reordered, 0);
		sim_destroy(&s);
	}
}

/* Half READ, half written, over queue pairs that stay, more than the uplinks carry. */
static void engines_see_both_streams(void **state)
{
	WORLD(&s, "fabric.leaves=4", "fabric.spines=4", "fabric.hosts_per_leaf=8",
		"fabric.core_mbps=50000", "rnic.payload_bytes=1024", "traffic.read_percent=50",
		"rnic.setup_us=20", "run.lb=hp3-ideal", KEPT);
	for (uint32_t i = 0; i < 240; i++)
		world_flow(&s, i % 32, (i + 8 + i / 32 * 5) % 32, 800000, i * 4 * SIM_US);
	world_run(&s);
	assert_true(s.n.reads > 80);
	assert_true(s.n.moves > 5);
	assert_true(s.n.held_packets > 0);
	assert_int_equal(s.n.reordered, 0);
	assert_int_equal(s.n.naks, 0);
	assert_int_equal(s.n.reports, 0);
	assert_int_equal(s.n.again, 0);
	for (unsigned d = 0; d < SIM_DROP_N; d++)
		assert_int_equal(s.n.dropped[d], 0);
	sim_destroy(&s);
}

/* Engines tell flows apart by addresses and remote QPN. */
static void compare_qpns(struct sim *sim, struct sim_event *event)
{
	struct sim_flow *f, *g;
	uint32_t pairs = 0;

	TAILQ_FOREACH (f, &sim->host[0].open, open) {
		for (g = TAILQ_NEXT(f, open); g != NULL; g = TAILQ_NEXT(g, open), pairs++)
			assert_int_not_equal(hp3_sim_flow_of(f)->rqpn, hp3_sim_flow_of(g)->rqpn);
	}
	assert_true(pairs > 500);
}

/* Two hosts, many queue pairs of both verbs beside each other: each is its own. */
static void verbs_do_not_share_queue_pairs(void **state)
{
	struct sim_event look = {.fire = compare_qpns};

	WORLD(&s, SMALL, "traffic.read_percent=50", "rnic.setup_us=20", "run.lb=hp3-ideal");
	for (uint32_t i = 0; i < 120; i++)
		world_flow(&s, i % 2 ? 8 : 0, i % 2 ? 0 : 8, 100000, i * SIM_US);
	sim_at(&s, &look, 125 * SIM_US);
	world_run(&s);
	assert_in_range(s.n.reads, 40, 80);
	assert_int_equal(s.n.reports, 0);
	assert_int_equal(s.n.again, 0);
	sim_destroy(&s);
}

#define RAIL                                                                                       \
	"fabric.kind=rail", "fabric.planes=2", "fabric.rails=2", "fabric.segments=2",              \
		"fabric.servers=4", "fabric.spines=2", "fabric.grain_ps=1"

/* 16 hosts, 2 x 4 leaves, 2 x 2 spines. Host 0 and 2 share leaves, 0 and 1 (other rail) do not. */
static void planes_meet_in_hosts_only(void **state)
{
	const struct sim_topo *t = &s.topo;

	WORLD(&s, RAIL);
	assert_int_equal(t->hosts, 16);
	assert_int_equal(t->nodes, 16 + 8 + 4);
	assert_int_equal(t->n_links, 2 * 16 + 8 * 2);
	for (uint32_t p = 0; p < t->n_ports; p++) {
		uint32_t a = t->owner[p], b = t->owner[t->peer_port[p]];

		if (a >= 16 && a < 24 && b >= 24)
			assert_int_equal((a - 16) / 4, (b - 24) / 2);
	}
	assert_int_equal(sim_topo_distance(t, 0, 2, 1000).links, 2);
	assert_int_equal(sim_topo_distance(t, 0, 1, 1000).links, 4);
	assert_int_equal(sim_topo_distance(t, 0, 8, 1000).links, 4);
	assert_int_equal(t->group[t->route[0 * 16 + 8]].n, 2);
	for (uint32_t f = 0; f < 64; f++)
		world_flow(&s, 0, 2 + f % 7 * 2, 10000, f * 10 * SIM_US);
	world_run(&s);
	for (uint32_t p = t->first_port[0]; p < t->first_port[1]; p++) /* 32 +- 4 sigma */
		assert_in_range(s.port[p].sent_bytes / 10480, 16, 48);
	sim_destroy(&s);
}

/* More than each plane carries: hp3 moves flows across planes, in order. */
static void planes_are_paths_to_hp3(void **state)
{
	WORLD(&s, RAIL, "fabric.core_mbps=50000", "run.lb=hp3-ideal", "rnic.setup_us=20");
	for (uint32_t i = 0; i < 128; i++)
		world_flow(&s, i % 16, (i + 8 + i / 16 * 2) % 16, 1000000, i * 4 * SIM_US);
	world_run(&s);
	assert_true(s.n.moves > 20);
	assert_true(s.n.held_packets > 100);
	assert_int_equal(s.n.reordered, 0);
	assert_int_equal(s.n.again, 0);
	sim_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_is_asked_for_and_answered),
		cmocka_unit_test(reads_are_bounded_by_their_depth),
		cmocka_unit_test(messages_share_the_queue_pair_that_is_kept),
		cmocka_unit_test(readers_notify_the_responder),
		cmocka_unit_test(lost_reads_are_asked_for_again),
		cmocka_unit_test(engines_see_both_streams),
		cmocka_unit_test(verbs_do_not_share_queue_pairs),
		cmocka_unit_test(planes_meet_in_hosts_only),
		cmocka_unit_test(planes_are_paths_to_hp3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
