/* SPDX-License-Identifier: BSD-3-Clause */
/* Each balancer's rule, in a fabric small enough to follow by hand: two leaves, spines between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "sim/fabric/port.h"
#include "sim/lb/lb.h"
#include "sim/work/traffic.h"
#include "world.h"

static struct sim s;

#define HOSTS 4u
#define PAIR(lb)                                                                                   \
	"fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4", "fabric.grain_ps=1",      \
		"run.lb=" lb

/* Data bytes that the first leaf sent to spine i. */
static uint64_t up(uint32_t i)
{
	return s.port[s.topo.first_port[2 * HOSTS] + HOSTS + i].sent_bytes;
}

static unsigned spines_used(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < 4; i++)
		n += up(i) > 0;
	return n;
}

static void one_flow(uint64_t bytes)
{
	world_flow(&s, 0, HOSTS, bytes, 0);
	world_run(&s);
}

static void ecmp_keeps_a_flow_on_one_path(void **state)
{
	WORLD(&s, PAIR("ecmp"));
	one_flow(1000000);
	assert_int_equal(spines_used(), 1);
	sim_destroy(&s);
}

/* Two messages of one flow do not exist: a flowlet gap is made by a rate of 10 Mb/s. */
static void letflow_moves_at_gaps_only(void **state)
{
	WORLD(&s, PAIR("letflow"));
	one_flow(1000000);
	assert_int_equal(s.n.moves, 0);
	assert_int_equal(spines_used(), 1);
	sim_destroy(&s);
	WORLD(&s, PAIR("letflow"), "fabric.host_mbps=50", "fabric.core_mbps=50", "rnic.rto_us=0");
	one_flow(40000); /* 168 us per packet: each is a flowlet */
	assert_int_equal(s.n.moves, 39);
	assert_true(spines_used() > 1);
	sim_destroy(&s);
}

/* While flow 1 fills its uplink at line rate, flow 2 begins elsewhere, whatever the hash says. */
static void conga_avoids_the_busy_uplink(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		char hash[64];

		snprintf(hash, sizeof(hash), "fabric.hash_seed=%u", (unsigned)seed);
		WORLD(&s, PAIR("conga"), hash);
		s.rng = seed;
		world_flow(&s, 0, HOSTS, 3000000, 0);
		world_flow(&s, 1, HOSTS + 1, 3000000, 100 * SIM_US);
		world_run(&s);
		assert_int_equal(spines_used(), 2);
		assert_int_equal(s.n.marked, 0);
		sim_destroy(&s);
	}
}

static void rps_and_drill_use_every_path(void **state)
{
	WORLD(&s, PAIR("rps"), "rnic.recovery=unordered");
	one_flow(4000000);
	for (uint32_t i = 0; i < 4; i++) /* 1,000 +- 5 sigma */
		assert_in_range(up(i) / 1048, 1000 - 137, 1000 + 137);
	sim_destroy(&s);
	WORLD(&s, PAIR("drill"), "rnic.recovery=unordered");
	for (uint32_t h = 0; h < HOSTS; h++)
		world_flow(&s, h, HOSTS + h, 1000000, 0);
	world_run(&s);
	assert_int_equal(spines_used(), 4);
	sim_destroy(&s);
}

/* Four flows at line rate, four uplinks: a queue is never longer than the others by two packets. */
static void ar_takes_the_shortest_queue(void **state)
{
	WORLD(&s, PAIR("ar"), "rnic.recovery=unordered");
	for (uint32_t h = 0; h < HOSTS; h++)
		world_flow(&s, h, HOSTS + h, 1000000, 0);
	world_run(&s);
	for (uint32_t i = 0; i < 4; i++)
		assert_in_range(up(i) / 1048, 950, 1050);
	assert_int_equal(s.n.marked, 0);
	sim_destroy(&s);
}

static void collide(const char *lb, const char *feedback)
{
	char name[64], err[256] = "";
	const char *set[] = {"fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4",
		"traffic.kind=collision", "traffic.bytes=20000000", feedback, name, NULL};

	snprintf(name, sizeof(name), "run.lb=%s", lb);
	world_make(&s, set);
	assert_int_equal(sim_traffic(&s, err, sizeof(err)), 0);
	world_run(&s);
}

/* Two elephants whose first choice is one spine: ECMP keeps them there, the others part them, also
 * where marks come back by CNPs. */
static void collisions_are_resolved(void **state)
{
	static const char *const parted[] = {"flowbender", "hopper"};
	uint64_t together;

	collide("ecmp", "rnic.feedback=ack");
	assert_int_equal(spines_used(), 1);
	assert_true(s.n.marked > 0);
	together = s.last_end;
	sim_destroy(&s);
	for (unsigned i = 0; i < 4; i++) {
		collide(parted[i / 2], i % 2 == 0 ? "rnic.feedback=ack" : "rnic.feedback=cnp");
		assert_true(s.n.moves > 0);
		assert_true(spines_used() > 1);
		assert_true(s.last_end * 10 < together * 9);
		sim_destroy(&s);
	}
}

/*
 * PLB wants twelve rounds in a row of which half is marked; FlowBender one with more than 5 %. One
 * flow at twice the rate of all uplinks, which nothing slows down: every packet behind the first is
 * marked, and each round takes more than the base RTT of 8 us.
 */
static void plb_is_slower_to_move(void **state)
{
	const char *slow[] = {"fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4",
		"fabric.core_mbps=50000", "fabric.kmin_bytes=1000", "fabric.kmax_bytes=2000",
		"rnic.cc=none", "rnic.recovery=unordered", "rnic.rto_us=0", "run.lb=plb", NULL};
	uint64_t plb;

	world_make(&s, slow);
	one_flow(10000000);
	plb = s.n.moves;
	assert_true(plb > 0);
	assert_true(plb <= s.now / (12 * 8 * SIM_US));
	sim_destroy(&s);
	slow[9] = "run.lb=flowbender";
	world_make(&s, slow);
	one_flow(10000000);
	assert_true(s.n.moves > plb);
	sim_destroy(&s);
}

/* Flows of half the uplinks' rate more than they can carry: ConWeave moves them all the time, and
 * the destination leaf puts right what that reorders. */
static void conweave_hides_its_moves(void **state)
{
	WORLD(&s, PAIR("conweave"), "fabric.core_mbps=50000");
	for (uint32_t i = 0; i < 16; i++)
		world_flow(&s, i % HOSTS, HOSTS + (i + i / 4) % HOSTS, 1000000, i * 10 * SIM_US);
	world_run(&s);
	assert_true(s.n.moves > 20);
	assert_true(s.n.held_packets > 100);
	assert_true(s.n.held_ps > 0);
	assert_true(s.n.reordered * 20 < s.n.held_packets);
	sim_destroy(&s);
}

static void stellar_sprays(void **state)
{
	static const char *const kinds[] = {"run.lb=stellar-obs", "run.lb=stellar-rr",
		"run.lb=stellar-dwrr", "run.lb=stellar-bestrtt", "run.lb=stellar-mprdma"};

	for (unsigned i = 0; i < 5; i++) {
		WORLD(&s, PAIR("ecmp"), kinds[i], "stellar.paths=64");
		one_flow(2000000);
		assert_int_equal(spines_used(), 4);
		assert_int_equal(s.n.again, 0);
		assert_int_equal(s.n.naks, 0);
		sim_destroy(&s);
	}
	WORLD(&s, PAIR("stellar-rr"), "stellar.paths=1");
	one_flow(2000000);
	assert_int_equal(spines_used(), 1);
	sim_destroy(&s);
}

/* A tenth of the rate on one spine of four. */
static void slow_spine(uint32_t spine)
{
	uint32_t node = 2 * HOSTS + 2 + spine;

	for (uint32_t p = s.topo.first_port[node]; p < s.topo.first_port[node + 1]; p++) {
		s.port[p].bps /= 10;
		s.port[p].ps_per_kib *= 10;
		s.port[p].peer->bps /= 10;
		s.port[p].peer->ps_per_kib *= 10;
	}
}

/* Four flows of a host begin on four spines, one of them slow: bytes that stay there, and moves. */
static uint64_t stay_on_slow_spine(const char *key, uint64_t *moves)
{
	uint64_t bytes;

	WORLD(&s, PAIR("hermes"), key, "fabric.kmin_bytes=50000", "fabric.kmax_bytes=50000");
	slow_spine(0);
	for (uint32_t h = 0; h < HOSTS; h++)
		world_flow(&s, 0, HOSTS + h, 8000000, 0);
	world_run(&s);
	assert_int_equal(spines_used(), 4);
	assert_true(s.n.probes > 0);
	bytes = up(0);
	*moves = s.n.moves;
	sim_destroy(&s);
	return bytes;
}

/* Timely: a flow leaves a congested path for a good one. Cautious: not a short one, not a fast one.
 */
static void hermes_leaves_congested_paths(void **state)
{
	uint64_t moves;

	assert_true(stay_on_slow_spine("hermes.rate_percent=30", &moves) < 6000000);
	assert_true(moves >= 1);
	assert_true(stay_on_slow_spine("hermes.sent_bytes=8500000", &moves) > 8000000);
	assert_int_equal(moves, 0);
	stay_on_slow_spine("hermes.rate_percent=1", &moves);
	assert_int_equal(moves, 0);
	stay_on_slow_spine("hermes.delta_rtt_us=1000000", &moves);
	assert_int_equal(moves, 0);
}

/* A link of four is down: whoever picks paths at the source leaf avoids it once routing knows. */
static void withdrawn_links_are_avoided(void **state)
{
	static const char *const kinds[] = {"run.lb=ecmp", "run.lb=letflow", "run.lb=conga",
		"run.lb=conweave", "run.lb=hermes"};

	for (unsigned i = 0; i < 5; i++) {
		uint32_t dead;
		bool down[64] = {false};

		WORLD(&s, PAIR("ecmp"), kinds[i]);
		dead = s.topo.first_port[2 * HOSTS] + HOSTS;
		down[s.topo.port_link[dead]] = true;
		s.port[dead].down = s.port[dead].withdrawn = true;
		s.port[dead].peer->down = s.port[dead].peer->withdrawn = true;
		sim_topo_route(&s.topo, down);
		for (uint32_t f = 0; f < 200; f++)
			world_flow(&s, f % HOSTS, HOSTS + f % HOSTS, 10000, f * SIM_US);
		world_run(&s);
		assert_int_equal(up(0), 0);
		assert_int_equal(s.n.dropped[SIM_DROP_LINK_DOWN], 0);
		sim_destroy(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ecmp_keeps_a_flow_on_one_path),
		cmocka_unit_test(letflow_moves_at_gaps_only),
		cmocka_unit_test(conga_avoids_the_busy_uplink),
		cmocka_unit_test(rps_and_drill_use_every_path),
		cmocka_unit_test(ar_takes_the_shortest_queue),
		cmocka_unit_test(collisions_are_resolved),
		cmocka_unit_test(plb_is_slower_to_move),
		cmocka_unit_test(conweave_hides_its_moves),
		cmocka_unit_test(hermes_leaves_congested_paths),
		cmocka_unit_test(stellar_sprays),
		cmocka_unit_test(withdrawn_links_are_avoided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
