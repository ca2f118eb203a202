/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "sim/fabric/port.h"
#include "sim/host/flow.h"
#include "sim/results/slowdown.h"
#include "world.h"

static struct sim s;

#define SMALL "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=8", "fabric.grain_ps=1"

/* One packet of 1,000 B across the spine: 4 links, ACK back over 4; nothing else there. */
static void one_packet_takes_its_time(void **state)
{
	WORLD(&s, SMALL);
	world_flow(&s, 0, 8, 1000, 0);
	world_run(&s);
	assert_int_equal(s.outcome[0].fct, 8 * SIM_US + 4 * 83840 + 4 * 4800);
	assert_int_equal(s.outcome[0].base, 8 * SIM_US + 4 * 80000 + 83840);
	assert_int_equal(s.n.hops, 6);
	assert_int_equal(s.n.data, 1);
	sim_destroy(&s);
}

/* In one rack: two links. */
static void rack_peers_are_nearer(void **state)
{
	WORLD(&s, SMALL);
	world_flow(&s, 0, 1, 1000, 0);
	world_run(&s);
	assert_int_equal(s.outcome[0].fct, 4 * SIM_US + 2 * 83840 + 2 * 4800);
	assert_int_equal(s.n.hops, 2);
	sim_destroy(&s);
}

/* The hash of a packet of a flow with this id, at a leaf or at the host. */
static uint32_t hash_at(uint32_t node, uint32_t id, uint8_t kind, uint8_t flags)
{
	struct sim_flow f = {.src = 0, .dst = 8, .id = id, .dport = 4791, .home = 50000};
	struct sim_packet p = {.kind = kind, .flags = flags, .flow = &f, .sport = 50000};

	return sim_flow_hash(&s, &p, node);
}

/* Switches hash what they are set to; hosts choose links, and hp3d's answers have no BTH. */
static void switches_hash_the_bth(void **state)
{
	static const char *const set[] = {"fabric.hash_bth=none", "fabric.hash_bth=qpn",
		"fabric.hash_bth=opcode", "fabric.hash_bth=qpn-opcode"};
	const uint32_t leaf = 16, host = 0;

	for (unsigned i = 0; i < 4; i++) {
		bool qpn = i & 1, opcode = i & 2;
		uint32_t middle;

		WORLD(&s, SMALL, set[i]);
		middle = hash_at(leaf, 1, SIM_DATA, 0);
		assert_int_equal(middle != hash_at(leaf, 2, SIM_DATA, 0), qpn);
		assert_int_equal(middle != hash_at(leaf, 1, SIM_DATA, SIM_FIRST), opcode);
		assert_int_equal(middle != hash_at(leaf, 1, SIM_DATA, SIM_LAST), opcode);
		assert_int_equal(middle != hash_at(leaf, 1, SIM_PROBE, 0), opcode);
		assert_int_equal(
			hash_at(leaf, 1, SIM_ACK, 0) != hash_at(leaf, 1, SIM_CNP, 0), opcode);
		assert_int_equal(hash_at(leaf, 1, SIM_ACK, 0) != hash_at(leaf, 2, SIM_ACK, 0), qpn);
		assert_int_equal(
			hash_at(leaf, 1, SIM_PROBE_REPLY, 0), hash_at(leaf, 2, SIM_PROBE_REPLY, 0));
		assert_int_equal(
			hash_at(host, 1, SIM_DATA, 0), hash_at(host, 2, SIM_DATA, SIM_FIRST));
		sim_destroy(&s);
	}
}

/* First, middle and last packets of messages take different spines: they arrive out of order. */
static void opcodes_part_a_message(void **state)
{
	static const char *const set[] = {"fabric.hash_bth=qpn", "fabric.hash_bth=opcode"};

	for (unsigned i = 0; i < 2; i++) {
		WORLD(&s, "fabric.leaves=2", "fabric.spines=8", "fabric.hosts_per_leaf=8",
			"rnic.recovery=unordered", set[i]);
		for (uint32_t n = 0; n < 64; n++)
			world_flow(&s, n % 8, 8 + n / 8, 64000, 0);
		world_run(&s);
		assert_int_equal(s.n.reordered > 0, i == 1);
		sim_destroy(&s);
	}
}

static void incast(const char *pfc, const char *cc, const char *rto)
{
	WORLD(&s, SMALL, "fabric.buffer_kib=1024", "fabric.pause_renew=on", pfc, cc, rto);
	for (uint32_t h = 1; h < 16; h++)
		world_flow(&s, h, 0, 400000, 0);
}

/* 15 senders at line rate into one port, 1 MiB of buffer, no congestion control. */
static void pfc_loses_nothing(void **state)
{
	incast("fabric.pfc=on", "rnic.cc=none", "rnic.rto_us=0");
	world_run(&s);
	for (unsigned d = 0; d < SIM_DROP_N; d++)
		assert_int_equal(s.n.dropped[d], 0);
	assert_int_equal(s.n.again, 0);
	assert_true(s.n.pauses_started > 0);
	assert_true(s.n.pause_ps > 0);
	/* The last byte cannot come sooner than the port allows, and pauses cost little. */
	assert_true(s.last_end > 15 * 400 * UINT64_C(83840));
	assert_true(s.last_end < 15 * 400 * UINT64_C(83840) * 11 / 10);
	sim_destroy(&s);
}

static void without_pfc_drops_have_a_name(void **state)
{
	incast("fabric.pfc=off", "rnic.cc=none", "rnic.rto_us=4000");
	world_run(&s);
	assert_true(s.n.dropped[SIM_DROP_THRESHOLD] + s.n.dropped[SIM_DROP_BUFFER] > 0);
	assert_true(s.n.again > 0);
	assert_int_equal(s.n.pauses, 0);
	assert_int_equal(s.n.delivered, 15 * 400);
	sim_destroy(&s);
}

/* 15 flows at 100 Gb/s into one port: marks, and rates that go down. */
static void congestion_is_marked_and_answered(void **state)
{
	uint64_t with, without;

	incast("fabric.pfc=on", "rnic.cc=dcqcn", "rnic.rto_us=0");
	world_run(&s);
	assert_true(s.n.marked > 0);
	with = s.n.pauses;
	sim_destroy(&s);
	incast("fabric.pfc=on", "rnic.cc=none", "rnic.rto_us=0");
	world_run(&s);
	without = s.n.pauses;
	sim_destroy(&s);
	assert_true(with < without);
}

/* 4,000 flows by hash over 8 spines: chi-square, 7 degrees of freedom, 24.3 at 0.1 %. */
static void hash_spreads(void **state)
{
	static const char *const hashes[] = {
		"fabric.hash=murmur3", "fabric.hash=crc32", "fabric.hash=crc16-ccitt"};

	for (unsigned i = 0; i < 3; i++) {
		double chi = 0, expected = 4000.0 / 8;

		WORLD(&s, "fabric.leaves=2", "fabric.spines=8", "fabric.hosts_per_leaf=16",
			hashes[i], "fabric.hash_input=tuple", "rnic.ports=roce");
		for (uint32_t f = 0; f < 4000; f++)
			world_flow(&s, f % 16, 16 + f / 16 % 16, 1000, f * 10 * SIM_US);
		world_run(&s);
		for (uint32_t p = 16; p < 24; p++) {
			double n = (double)s.port[s.topo.first_port[32] + p].sent_bytes / 1048;

			chi += (n - expected) * (n - expected) / expected;
		}
		assert_true(chi < 24.3);
		sim_destroy(&s);
	}
}

/* Flows keep their path: nothing is overtaken, whatever the load. */
static void paths_are_first_in_first_out(void **state)
{
	WORLD(&s, SMALL);
	for (uint32_t i = 0; i < 200; i++)
		world_flow(&s, i % 8, 8 + i * 3 % 8, 50000, i * SIM_US);
	world_run(&s);
	assert_int_equal(s.n.delivered, 200 * 50);
	assert_int_equal(s.n.reordered, 0);
	assert_int_equal(s.n.naks, 0);
	sim_destroy(&s);
}

static void silent_loss_is_recovered(const char *recovery)
{
	WORLD(&s, SMALL, recovery, "rnic.rto_us=250");
	for (uint32_t p = 0; p < s.topo.n_ports; p++)
		if (s.port[p].node >= s.topo.hosts)
			s.port[p].loss = 5000000; /* 0.5 % */
	for (uint32_t i = 0; i < 20; i++)
		world_flow(&s, i % 8, 8 + i % 8, 300000, i * SIM_US);
	world_run(&s);
	assert_true(s.n.dropped[SIM_DROP_LOSS] > 10);
	assert_int_equal(s.n.delivered, 20 * 300);
	assert_int_equal(s.n.reordered, 0);
}

static void go_back_n_resends_much(void **state)
{
	uint64_t all;

	silent_loss_is_recovered("rnic.recovery=go-back-n");
	all = s.n.again;
	sim_destroy(&s);
	silent_loss_is_recovered("rnic.recovery=irn");
	assert_true(s.n.again * 3 < all);
	sim_destroy(&s);
	silent_loss_is_recovered("rnic.recovery=unordered");
	assert_true(s.n.again * 3 < all);
	assert_int_equal(s.n.naks, 0);
	sim_destroy(&s);
}

static void acks_are_coalesced(void **state)
{
	WORLD(&s, SMALL, "rnic.ack_every=64");
	world_flow(&s, 0, 8, 1000000, 0);
	world_run(&s);
	assert_int_equal(s.n.acks, 1000 / 64 + 1);
	sim_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_packet_takes_its_time),
		cmocka_unit_test(rack_peers_are_nearer),
		cmocka_unit_test(switches_hash_the_bth),
		cmocka_unit_test(opcodes_part_a_message),
		cmocka_unit_test(pfc_loses_nothing),
		cmocka_unit_test(without_pfc_drops_have_a_name),
		cmocka_unit_test(congestion_is_marked_and_answered),
		cmocka_unit_test(hash_spreads),
		cmocka_unit_test(paths_are_first_in_first_out),
		cmocka_unit_test(go_back_n_resends_much),
		cmocka_unit_test(acks_are_coalesced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
