/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 17: by which rail of a bond packets leave (pipe/bond.h), and what happens while a port has
 * no link (lcores/members.h). Rails 0 and 1 are a bond, rail 2 is alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include "app/hp3d/lcores/internal.h"
#include "app/hp3d/pipe/bond.h"

#define ALONE 2u
#define FLOWS 8u
#define RING  8u /* of which 7 are usable */
#define FIFO  64u

static struct hp3d_rail_ports ports[] = {
	{.lead = 0, .next = 1}, {.lead = 0, .next = 0}, {.lead = 2, .next = 2}};
static struct hp3d_spread spread;
static struct rte_mempool *pool;
static struct hp3d_worker worker;
static struct rte_ring *rings[2];
static struct hp3d_sleeper reader; /* never sleeps */
static uint64_t drops;

const struct hp3d_rail_ports *hp3d_rail_ports(unsigned rail)
{
	return &ports[rail];
}

unsigned hp3d_rail_count(void)
{
	return 3;
}

const struct hp3d_spread *hp3d_ports_spread(void)
{
	return &spread;
}

/* --- by which rail --- */

static struct hp3d_bond *make_bond(bool active_backup)
{
	const struct hp3_config cfg = {.engine.max_flows = FLOWS,
		.rails = {{.name = "a"}, {.name = "b"}},
		.n_rails = 2,
		.bonds = {{.name = "bond",
			.rails = "b, a",
			.mode = active_backup ? HP3_BOND_ACTIVE_BACKUP : HP3_BOND_LACP}},
		.n_bonds = 1};
	struct hp3d_bond *b = hp3d_bond_create(&cfg, 1, SOCKET_ID_ANY);

	assert_non_null(b);
	assert_int_equal(b->active_backup, active_backup);
	assert_int_equal(hp3d_bond_of_flow(b, 0), 1); /* the lead, until the RNIC sends */
	return b;
}

static const struct hp3_view request = {.class = HP3_CLASS_RC_REQUEST},
			     reply = {.class = HP3_CLASS_RC_REPLY},
			     lacp = {.class = HP3_CLASS_OTHER}, ud = {.class = HP3_CLASS_UD};

/* A packet leaves by the rail on which it arrived. */
static void packets_keep_their_rail(void **state)
{
	for (unsigned mode = 0; mode < 2; mode++) {
		struct hp3d_bond *b = make_bond(mode);

		for (unsigned rail = 0; rail < 2; rail++) {
			hp3d_bond_set_rail(b, rail);
			assert_int_equal(hp3d_bond_sent(b, &request, 3), rail);
			assert_int_equal(hp3d_bond_sent(b, &reply, HP3_NO_FLOW), rail);
			assert_int_equal(hp3d_bond_sent(b, &ud, HP3_NO_FLOW), rail);
			assert_int_equal(
				hp3d_bond_sent(b, &lacp, HP3_NO_FLOW), rail | HP3D_BOND_FIXED);
			assert_int_equal(hp3d_bond_arrived(b, &reply, 0), rail);
			assert_int_equal(hp3d_bond_arrived(b, &request, HP3_CLEAR_BECN), rail);
			assert_int_equal(hp3d_bond_arrived(b, &lacp, 0), rail | HP3D_BOND_FIXED);
		}
		hp3d_bond_free(b);
	}
}

/* Packets that hp3d makes or holds follow the flow's data; with active-backup, all data. */
static void own_packets_follow_the_flow(void **state)
{
	for (unsigned active_backup = 0; active_backup < 2; active_backup++) {
		struct hp3d_bond *b = make_bond(active_backup);

		hp3d_bond_set_rail(b, 0);
		hp3d_bond_sent(b, &request, 3);
		hp3d_bond_set_rail(b, 1);
		hp3d_bond_sent(b, &request, 4);
		assert_int_equal(hp3d_bond_of_flow(b, 3), active_backup);
		assert_int_equal(hp3d_bond_of_flow(b, 4), 1);
		assert_int_equal(hp3d_bond_of_flow(b, HP3_NO_FLOW), 1);
		hp3d_bond_set_rail(b, 0);
		hp3d_bond_sent(b, &lacp, HP3_NO_FLOW); /* LLDP leaves by a backup, too */
		assert_int_equal(hp3d_bond_of_flow(b, HP3_NO_FLOW), 1);
		hp3d_bond_sent(b, &reply, 4);
		assert_int_equal(hp3d_bond_of_flow(b, 4), 0);
		hp3d_bond_free(b);
	}
}

/* The engine names one rail for all packets of a queue pair that it resequences. */
static void resequenced_packets_take_one_rail(void **state)
{
	for (unsigned active_backup = 0; active_backup < 2; active_backup++) {
		struct hp3d_bond *b = make_bond(active_backup);

		hp3d_bond_set_rail(b, 1);
		hp3d_bond_sent(b, &reply, HP3_NO_FLOW);
		for (unsigned rail = 0; rail < 2; rail++) {
			hp3d_bond_set_rail(b, rail);
			assert_int_equal(
				hp3d_bond_arrived(b, &request, HP3_IN_ORDER | 0u << HP3_LINK_SHIFT),
				active_backup);
		}
		hp3d_bond_free(b);
	}
}

/* --- ports without a link --- */

static void links_up(void)
{
	for (unsigned rail = 0; rail < 3; rail++) {
		hp3d_members_set_link(rail, HP3_DIR_TX, true);
		hp3d_members_set_link(rail, HP3_DIR_RX, true);
	}
}

/* The net port is where packets from the RNIC leave. */
static void another_member_is_taken(void **state)
{
	links_up();
	hp3d_members_set_link(0, HP3_DIR_RX, false);
	hp3d_members_set_link(ALONE, HP3_DIR_RX, false);
	assert_int_equal(hp3d_members_way(0, HP3_DIR_TX), 1);
	assert_int_equal(hp3d_members_way(0, HP3_DIR_RX), 0);
	assert_int_equal(hp3d_members_way(1, HP3_DIR_TX), 1);
	assert_int_equal(hp3d_members_way(ALONE, HP3_DIR_TX), ALONE);
	hp3d_members_set_link(1, HP3_DIR_RX, false); /* none has a link */
	assert_int_equal(hp3d_members_way(0, HP3_DIR_TX), 0);
	assert_int_equal(hp3d_members_way(1, HP3_DIR_TX), 1);
	hp3d_members_set_link(1, HP3_DIR_RX, true);
	hp3d_members_set_link(0, HP3_DIR_RX, true);
	assert_int_equal(hp3d_members_way(0, HP3_DIR_TX), 0);
	assert_int_equal(hp3d_rail_members(0), 2);
	assert_int_equal(hp3d_rail_members(ALONE), 1);
}

static void send(uint32_t first, uint16_t n, uint16_t port)
{
	const struct hp3d_members_out out = {&worker, HP3_DIR_TX};
	struct rte_mbuf *m[FIFO];

	for (uint16_t i = 0; i < n; i++) {
		m[i] = rte_pktmbuf_alloc(pool);
		assert_non_null(m[i]);
		*(uint32_t *)rte_pktmbuf_append(m[i], sizeof(uint32_t)) = first + i;
		m[i]->port = port;
	}
	hp3d_members_send((void *)(uintptr_t)&out, m, n);
}

/* All that leaves by this rail has consecutive numbers from `first` on; returns the next number. */
static uint32_t take_all(unsigned rail, uint32_t first)
{
	struct hp3d_link *l = &worker.out[hp3d_tag(rail, HP3_DIR_TX)];
	struct rte_mbuf *m;

	do {
		while (rte_ring_sc_dequeue(rings[rail], (void **)&m) == 0) {
			assert_int_equal(*rte_pktmbuf_mtod(m, uint32_t *), first++);
			rte_pktmbuf_free(m);
		}
	} while (hp3d_link_drain(l) > 0);
	return first;
}

static void make_links(void)
{
	for (unsigned rail = 0; rail < 2; rail++) {
		struct hp3d_egress egress = {.reader = &reader};
		char name[16];

		snprintf(name, sizeof(name), "out%u", rail);
		rings[rail] =
			rte_ring_create(name, RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		assert_non_null(rings[rail]);
		egress.ring = rings[rail];
		assert_int_equal(hp3d_link_init(&worker.out[hp3d_tag(rail, HP3_DIR_TX)], &egress,
					 FIFO, &drops),
			0);
	}
}

static void free_links(void)
{
	for (unsigned rail = 0; rail < 2; rail++) {
		hp3d_link_free(&worker.out[hp3d_tag(rail, HP3_DIR_TX)]);
		rte_ring_free(rings[rail]);
	}
	assert_int_equal(drops, 0);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

/* What waits for a port that loses its link leaves by the other member, before newer packets. */
static void waiting_packets_go_first(void **state)
{
	links_up();
	make_links();
	send(0, 20, 0);
	hp3d_members_set_link(0, HP3_DIR_RX, false);
	send(20, 10, 0);
	assert_int_equal(take_all(0, 0), RING - 1); /* they were at the port */
	assert_int_equal(take_all(1, RING - 1), 30);
	hp3d_members_set_link(0, HP3_DIR_RX, true);
	send(30, 20, 0);
	hp3d_members_set_link(0, HP3_DIR_RX, false);
	assert_int_equal(hp3d_members_rescue(&worker, 0, HP3_DIR_TX), 20 - (RING - 1));
	assert_int_equal(take_all(0, 30), 30 + RING - 1);
	assert_int_equal(take_all(1, 30 + RING - 1), 50);
	free_links();
}

/* A message of the link-aggregation protocol is about its port. */
static void fixed_packets_stay(void **state)
{
	links_up();
	make_links();
	hp3d_members_set_link(0, HP3_DIR_RX, false);
	send(0, 3, HP3D_BOND_FIXED | 0);
	send(0, 2, 0);
	assert_int_equal(take_all(0, 0), 3);
	assert_int_equal(take_all(1, 0), 2);
	free_links();
}

int main(void)
{
	char line[] =
		"test_bond --no-huge --no-shconf --no-pci --no-telemetry -m 32 --lcores 0@(0) "
		"--log-level 1 --file-prefix hp3-test-bond";
	char *args[32], *save = NULL;
	int n = 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_keep_their_rail),
		cmocka_unit_test(own_packets_follow_the_flow),
		cmocka_unit_test(resequenced_packets_take_one_rail),
		cmocka_unit_test(another_member_is_taken),
		cmocka_unit_test(waiting_packets_go_first),
		cmocka_unit_test(fixed_packets_stay),
	};

	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		args[n++] = word;
	if (rte_eal_init(n, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("test", 127, 0, 0, 256, SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
