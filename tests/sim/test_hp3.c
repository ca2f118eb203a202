/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3 in the simulator: the shipped engine moves flows, and no packet is overtaken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "sim/fabric/port.h"
#include "sim/lb/lb.h"
#include "sim/work/traffic.h"
#include "sim/lb/hp3.h"
#include "world.h"

static struct sim s;

static uint64_t collide(const char *lb, const char *setup)
{
	char err[256] = "";
	uint64_t end;

	WORLD(&s, "fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4",
		"traffic.kind=collision", "traffic.bytes=20000000", lb, setup);
	assert_int_equal(sim_traffic(&s, err, sizeof(err)), 0);
	world_run(&s);
	assert_int_equal(s.n.reordered, 0);
	end = s.last_end;
	return end;
}

/* Two elephants on one spine: marked with ECMP; hp3 parts them, and both have a path of their own.
 */
static void elephants_are_parted(void **state)
{
	uint64_t ecmp = collide("run.lb=ecmp", "rnic.setup_us=0"), hp3;

	assert_true(s.n.marked > 0);
	sim_destroy(&s);
	hp3 = collide("run.lb=hp3-ideal", "rnic.setup_us=0");
	assert_true(s.n.moves > 0);
	assert_true(s.n.probes > 0);
	assert_true(hp3 * 10 < ecmp * 8);
	sim_destroy(&s);
}

/* More than the uplinks carry: many moves, every one drained, at the receivers no gap. */
static void crowd(const char *lb, const char *setup)
{
	WORLD(&s, "fabric.leaves=4", "fabric.spines=4", "fabric.hosts_per_leaf=8",
		"fabric.core_mbps=50000", lb, setup);
	for (uint32_t i = 0; i < 240; i++)
		world_flow(&s, i % 32, (i + 8 + i / 32 * 5) % 32, 400000, i * 4 * SIM_US);
	world_run(&s);
	assert_int_equal(s.n.reordered, 0);
	assert_int_equal(s.n.naks, 0);
	assert_int_equal(s.n.again, 0);
	for (unsigned d = 0; d < SIM_DROP_N; d++)
		assert_int_equal(s.n.dropped[d], 0);
}

static void nothing_is_overtaken(void **state)
{
	crowd("run.lb=hp3-ideal", "rnic.setup_us=0");
	assert_true(s.n.moves > 20);
	assert_true(s.n.held_packets > 100);
	sim_destroy(&s);
	crowd("run.lb=hp3-ideal", "rnic.setup_us=20");
	assert_true(s.n.moves > 20);
	sim_destroy(&s);
	crowd("run.lb=hp3-paper", "rnic.setup_us=20");
	assert_true(s.n.probes > 240);
	sim_destroy(&s);
}

static uint64_t fct_of(const char *lb, const char *setup, const char *counts)
{
	uint64_t fct;

	WORLD(&s, "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=2", lb, setup,
		counts);
	world_flow(&s, 0, 2, 10000, 0);
	world_run(&s);
	assert_int_equal(s.n.probes > 0, s.lb->probes_at_setup && s.cfg.rnic.setup_us > 0);
	fct = s.outcome[0].fct;
	sim_destroy(&s);
	return fct;
}

/* Time to probe in is paid for by who probes; or all wait for it, and it counts for nobody. */
static void setup_counts_for_who_probes(void **state)
{
	uint64_t fct = fct_of("run.lb=ecmp", "rnic.setup_us=0", "rnic.setup_counts=on");

	assert_int_equal(
		fct_of("run.lb=hp3-ideal", "rnic.setup_us=0", "rnic.setup_counts=on"), fct);
	assert_int_equal(fct_of("run.lb=ecmp", "rnic.setup_us=30", "rnic.setup_counts=on"), fct);
	assert_int_equal(fct_of("run.lb=hp3-ideal", "rnic.setup_us=30", "rnic.setup_counts=on"),
		fct + 30 * SIM_US);
	assert_int_equal(fct_of("run.lb=ecmp", "rnic.setup_us=30", "rnic.setup_counts=off"), fct);
	assert_int_equal(
		fct_of("run.lb=hp3-ideal", "rnic.setup_us=30", "rnic.setup_counts=off"), fct);
	WORLD(&s, "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=2",
		"rnic.setup_us=30", "rnic.setup_counts=off");
	world_flow(&s, 0, 2, 10000, 0);
	world_run(&s);
	assert_int_equal(s.last_end, fct + 30 * SIM_US); /* ECMP has waited, too */
	sim_destroy(&s);
}

static struct sim_lb watching;
static uint64_t slowest_answer; /* ps, of its way back */

static void watch_answers(struct sim *sim, struct sim_host *host, struct sim_packet *p)
{
	if (p->kind == SIM_PROBE_REPLY && sim->now - p->sent_at > slowest_answer)
		slowest_answer = sim->now - p->sent_at;
	sim_lb_find("hp3")->other(sim, host, p);
}

/* Host 0 is sent more than its link carries when it asks: how long do the answers take? */
static void asked_in_a_crowd(const char *const *set)
{
	WORLD(&s, "fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4", "run.lb=hp3",
		"rnic.setup_us=20", "rnic.cc=none", set[0], set[1]);
	watching = *s.lb;
	watching.other = watch_answers;
	s.lb = &watching;
	slowest_answer = 0;
	for (uint32_t h = 4; h < 7; h++)
		world_flow(&s, h, 0, 1000000, 0);
	world_flow(&s, 0, 7, 10000, 60 * SIM_US);
	world_run(&s);
	assert_true(s.n.probes > 0);
	sim_destroy(&s);
}

/*
 * With the DSCP of CNPs an answer waits for no more than the packets under way; with any other one,
 * and where the fabric has no such class, behind all data.
 */
static void answers_have_a_class(void **state)
{
	static const char *const first[][2] = {
		{NULL}, {"run.lb=hp3-ideal"}, {"ppp.answer_dscp=46", "fabric.cnp_dscp=46"}};
	static const char *const last[][2] = {{"ppp.answer_dscp=data"}, {"ppp.answer_dscp=26"},
		{"fabric.cnp_dscp=none"}, {"ppp.answer_dscp=data", "fabric.cnp_dscp=none"},
		{"run.lb=hp3-ideal", "ppp.answer_dscp=data"}};

	for (unsigned i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		asked_in_a_crowd(first[i]);
		assert_in_range(slowest_answer, 1, 6 * SIM_US);
	}
	for (unsigned i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		asked_in_a_crowd(last[i]);
		assert_true(slowest_answer > 20 * SIM_US);
	}
}

static void traced(const char *hash, const char *icmp, const char *rate)
{
	WORLD(&s, "fabric.leaves=4", "fabric.spines=4", "fabric.hosts_per_leaf=4",
		"fabric.core_mbps=50000", "fabric.hash_input=tuple", "run.lb=hp3-ideal",
		"ppp.identity=trace", "rnic.setup_us=20", "rnic.qps=kept", hash, icmp, rate);
	for (uint32_t i = 0; i < 400; i++)
		world_flow(&s, i % 16, (i + 4 + i / 16 % 3 * 4) % 16, 50000, i * 5 * SIM_US);
	world_run(&s);
	assert_int_equal(s.n.reordered, 0);
	assert_int_equal(s.n.again, 0);
}

/*
 * What tells paths apart is learnt by packets whose TTL ends on the way: they are sent no faster
 * than the host may and answered no faster than switches do, and what is not answered is named.
 */
static void traces_cost_packets_and_time(void **state)
{
	uint64_t ms;

	traced("fabric.hash=crc32", "fabric.icmp_per_second=1000000000",
		"ppp.traces_per_second=20000");
	ms = s.now / SIM_MS + 1;
	assert_true(s.n.hops_reported > 100);
	assert_true(s.n.hops_reported <= s.n.traces);
	assert_true(s.n.traces <= 16 * (16 + 20 * ms));
	assert_int_equal(s.n.dropped[SIM_DROP_ICMP_LIMIT], 0);
	sim_destroy(&s);
	traced("fabric.hash=murmur3", "fabric.icmp_per_second=1000", "ppp.traces_per_second=20000");
	ms = s.now / SIM_MS + 1;
	assert_true(s.n.hops_reported <= 8 * (10 + ms));
	assert_true(s.n.dropped[SIM_DROP_ICMP_LIMIT] > 0);
	sim_destroy(&s);
	traced("fabric.hash=crc32", "fabric.icmp_per_second=0", "ppp.traces_per_second=20000");
	assert_true(s.n.traces > 0);
	assert_int_equal(s.n.hops_reported, 0);
	sim_destroy(&s);
}

/* The engines of all hosts: how many pairs have switches that hash the QPN or the opcode? */
static void count_hashed(uint64_t *by_qpn, uint64_t *by_opcode)
{
	const struct hp3_balancer *b = s.lb_state;

	*by_qpn = *by_opcode = 0;
	for (uint32_t h = 0; h < s.topo.hosts; h++) {
		*by_qpn += hp3_engine_stats(b->host[h].engine)->trace_by_qpn;
		*by_opcode += hp3_engine_stats(b->host[h].engine)->trace_by_opcode;
	}
}

/* Rule 18: traces show the fields of the BTH that switches hash. */
static void traces_show_what_switches_hash(void **state)
{
	static const char *const set[] = {
		"fabric.hash_bth=none", "fabric.hash_bth=qpn", "fabric.hash_bth=opcode"};

	for (unsigned i = 0; i < 3; i++) {
		uint64_t by_qpn, by_opcode;

		WORLD(&s, "fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=2",
			"fabric.hash=crc32", "fabric.hash_input=tuple", "run.lb=hp3",
			"ppp.identity=trace", "ppp.traces_per_second=100000", "rnic.ports=roce",
			"fabric.icmp_per_second=1000000000", "rnic.setup_us=20", set[i]);
		for (uint32_t n = 0; n < 16; n++)
			world_flow(&s, 0, 2 + n % 2, 20000000, n * 100 * SIM_US);
		world_run(&s);
		count_hashed(&by_qpn, &by_opcode);
		assert_true(s.n.hops_reported > 0);
		assert_int_equal(by_qpn > 0, i == 1);
		assert_int_equal(by_opcode > 0, i == 2);
		sim_destroy(&s);
	}
}

struct cut {
	struct sim_event event;
	uint32_t spine;
};

/* From leaf 1 to this spine nothing comes through any more; the other way all does. */
static void cut_way_back(struct sim *sim, struct sim_event *event)
{
	const struct sim_topo *t = &sim->topo;
	uint32_t spine = 10 + ((struct cut *)event)->spine;

	for (uint32_t p = t->first_port[spine]; p < t->first_port[spine + 1]; p++)
		if (t->owner[t->peer_port[p]] == 9)
			sim->port[p].loss = 1000000000;
}

/* One flow, its way back cut at 300 us: in one of four runs its replies go there. Time of it. */
static uint64_t replies_lost(const char *verb, const char *rto, uint32_t *cuts)
{
	uint64_t longest = 0;

	*cuts = 0;
	for (uint32_t spine = 0; spine < 4; spine++) {
		struct cut cut = {.event.fire = cut_way_back, .spine = spine};

		WORLD(&s, "fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4",
			"run.lb=hp3-ideal", "rnic.setup_us=20", "rnic.payload_bytes=1024", verb,
			rto);
		if (strcmp(verb, "traffic.read_percent=0") == 0)
			world_flow(&s, 0, 4, 10000000, 0);
		else
			world_flow(&s, 4, 0, 10000000, 0);
		sim_at(&s, &cut.event, 300 * SIM_US);
		world_run(&s);
		assert_int_equal(s.n.reordered, 0);
		assert_true(s.n.reports <= 4);
		assert_int_equal(s.n.replies_moved > 0, s.n.reports > 0);
		if (s.n.reports > 0)
			longest = s.outcome[0].fct;
		else
			assert_true(s.outcome[0].fct < SIM_MS);
		*cuts += s.n.reports > 0;
		sim_destroy(&s);
	}
	return longest;
}

/*
 * ACKs die on their way: what is sent is not the matter, so the peer's engine is told, and sends
 * them on another port; what solicits one more ACK ends the flow, no timer does (it has a second).
 */
static void acks_leave_a_dead_path(void **state)
{
	uint64_t fct;
	uint32_t cuts;

	fct = replies_lost("traffic.read_percent=0", "rnic.rto_us=1000000", &cuts);
	assert_int_equal(cuts, 1);
	assert_true(fct < 5 * SIM_MS);
}

/* The same of the data of a READ; the RNIC must ask for what was lost by its timer. */
static void responses_leave_a_dead_path(void **state)
{
	uint64_t fct;
	uint32_t cuts;

	fct = replies_lost("traffic.read_percent=100", "rnic.rto_us=5000", &cuts);
	assert_int_equal(cuts, 1);
	assert_true(fct < 12 * SIM_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elephants_are_parted),
		cmocka_unit_test(nothing_is_overtaken),
		cmocka_unit_test(setup_counts_for_who_probes),
		cmocka_unit_test(answers_have_a_class),
		cmocka_unit_test(traces_cost_packets_and_time),
		cmocka_unit_test(traces_show_what_switches_hash),
		cmocka_unit_test(acks_leave_a_dead_path),
		cmocka_unit_test(responses_leave_a_dead_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
