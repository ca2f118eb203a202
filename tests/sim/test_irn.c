/* SPDX-License-Identifier: BSD-3-Clause */
/* IRN in hosts: two time-outs, one bandwidth-delay product in flight, NAKs that slow down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "sim/fabric/port.h"
#include "sim/host/flow.h"
#include "sim/lb/lb.h"
#include "world.h"

static struct sim s;

#define IRN                                                                                        \
	"fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4", "fabric.pfc=off",         \
		"rnic.recovery=irn"

static void heal(struct sim *sim, struct sim_event *event)
{
	for (uint32_t p = 0; p < sim->topo.n_ports; p++)
		sim->port[p].loss = 0;
}

/* All packets of the first 50 us are lost: when has the flow ended? */
static uint64_t after_loss(uint64_t bytes)
{
	struct sim_event event = {.fire = heal};
	uint64_t end;

	WORLD(&s, IRN);
	for (uint32_t p = 0; p < s.topo.n_ports; p++)
		s.port[p].loss = 1000000000;
	sim_at(&s, &event, 50 * SIM_US);
	world_flow(&s, 0, 4, bytes, 0);
	world_run(&s);
	end = s.last_end;
	sim_destroy(&s);
	return end;
}

/* With three packets on their way, or fewer, beside the last one the short time-out counts. */
static void few_packets_wait_less(void **state)
{
	assert_in_range(after_loss(1000), 100 * SIM_US, 120 * SIM_US);
	assert_in_range(after_loss(4000), 100 * SIM_US, 120 * SIM_US);
	assert_in_range(after_loss(5000), 320 * SIM_US, 340 * SIM_US);
	assert_in_range(after_loss(50000), 320 * SIM_US, 350 * SIM_US);
}

static struct sim_lb counting;
static uint32_t most;

static bool count_in_flight(struct sim *sim, struct sim_flow *f, struct sim_packet *p)
{
	if (p->psn + 1 - f->cumulative > most)
		most = p->psn + 1 - f->cumulative;
	return true;
}

/* Uplinks of half the rate and nothing that slows the sender: 8.32 us at 100 Gb/s are 104 packets,
 * of 8.48 us here: a packet takes longer on slow links. */
static void one_bdp_in_flight(void **state)
{
	WORLD(&s, IRN, "fabric.core_mbps=50000", "rnic.cc=none");
	counting = *s.lb;
	counting.data = count_in_flight;
	s.lb = &counting;
	most = 0;
	world_flow(&s, 0, 4, 10000000, 0);
	world_run(&s);
	assert_in_range(most, 104, 106);
	assert_int_equal(s.n.again, 0);
	sim_destroy(&s);
}

/*
 * A packet that overtakes is kept, and named by a NAK with the echo of congestion, whatever ECN
 * says: with none at all (kmax 0) a spray is slowed down, and repeats what was only late.
 */
static void reordering_slows_down(void **state)
{
	uint64_t alone;

	WORLD(&s, IRN, "fabric.kmin_bytes=0", "fabric.kmax_bytes=0", "run.lb=ecmp");
	world_flow(&s, 0, 4, 2000000, 0);
	world_run(&s);
	alone = s.last_end;
	sim_destroy(&s);
	WORLD(&s, IRN, "fabric.kmin_bytes=0", "fabric.kmax_bytes=0", "run.lb=rps");
	for (uint32_t h = 0; h < 4; h++)
		world_flow(&s, h, 4 + h, 2000000, 0);
	world_run(&s);
	assert_true(s.n.reordered > 100);
	assert_true(s.n.naks >= s.n.reordered);
	assert_true(s.n.again > 0);
	assert_int_equal(s.n.marked, 0);
	assert_int_equal(s.n.timeouts, 0);
	assert_true(s.last_end * 2 > alone * 3);
	sim_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_packets_wait_less),
		cmocka_unit_test(one_bdp_in_flight),
		cmocka_unit_test(reordering_slows_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
