/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3x on hosts with several links: each link is a rail, to a plane of its own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "sim/fabric/port.h"
#include "sim/host/host.h"
#include "world.h"

static struct sim s;

#define HOSTS 4u /* of a leaf; host HOSTS is the first one below the second leaf of each plane */
#define LARGE UINT64_C(64000000)
#define RAILS(...)                                                                                 \
	WORLD(&s, "fabric.kind=rail", "fabric.rails=1", "fabric.planes=2", "fabric.segments=2",    \
		"fabric.servers=4", "fabric.spines=4", "fabric.grain_ps=1", __VA_ARGS__)

/* Bytes of data that host `host` sent on rail i. */
static uint64_t sent(uint32_t host, uint32_t i)
{
	return s.port[s.topo.first_port[host] + i].sent_bytes;
}

static uint64_t time_of_large(const char *rails)
{
	RAILS("run.lb=hp3x", rails);
	world_flow(&s, 0, HOSTS, LARGE, 0);
	world_run(&s);
	assert_int_equal(s.n.reordered + s.n.naks + s.n.again, 0);
	return s.outcome[0].fct;
}

static void two_rails_are_almost_twice_as_fast(void **state)
{
	uint64_t one = time_of_large("xfer.rails=1"), two;

	assert_int_equal(sent(0, 1), 0);
	assert_int_equal(s.host[0].next_sport, 8);
	sim_destroy(&s);
	two = time_of_large("xfer.rails=2");
	assert_true(one * 10 >= two * 18);
	assert_in_range(sent(0, 0) * 1000 / (sent(0, 0) + sent(0, 1)), 480, 520);
	assert_int_equal(s.host[0].next_sport, 16);
	sim_destroy(&s);
	assert_int_equal(time_of_large("xfer.rails=0"), two);
	sim_destroy(&s);
}

/* Rates 100 and 25 Gb/s: four fifths and one fifth of the bytes, in four fifths of the time. */
static void unequal_rails_get_their_share(void **state)
{
	uint64_t one = time_of_large("xfer.rails=1"), two, share;

	sim_destroy(&s);
	two = time_of_large("fabric.last_plane_percent=25");
	share = sent(0, 1) * 1000 / (sent(0, 0) + sent(0, 1));
	assert_in_range(share, 185, 215);
	assert_in_range(two * 1000 / one, 790, 850);
	sim_destroy(&s);
}

/* The requests of READs take the rail of their queue pair, and so do the data. */
static void reads_use_all_rails(void **state)
{
	RAILS("run.lb=hp3x", "traffic.read_percent=100", "rnic.payload_bytes=1024");
	world_flow(&s, 0, HOSTS, LARGE, 0);
	world_run(&s);
	assert_true(s.n.reads > 0);
	assert_in_range(sent(0, 0) * 1000 / (sent(0, 0) + sent(0, 1)), 470, 530);
	/* 64 MB on one rail take more than 5.1 ms. */
	assert_true(s.outcome[0].fct < 3000 * SIM_US);
	sim_destroy(&s);
}

/* Balancers that do not split messages: the hash assigns each queue pair to a rail. */
static void the_hash_assigns_whole_flows(void **state)
{
	RAILS("run.lb=ecmp");
	world_flow(&s, 0, HOSTS, LARGE, 0);
	world_run(&s);
	assert_true(sent(0, 0) == 0 || sent(0, 1) == 0);
	sim_destroy(&s);
	RAILS("run.lb=ecmp");
	for (uint32_t i = 0; i < 32; i++)
		world_flow(&s, 0, HOSTS, LARGE / 32, 0);
	world_run(&s);
	assert_in_range(sent(0, 0) * 1000 / (sent(0, 0) + sent(0, 1)), 200, 800);
	sim_destroy(&s);
}

/* A message of one slice takes one rail. A host has to have the rails that a run asks for. */
static void rails_that_do_not_exist_are_refused(void **state)
{
	struct sim_config cfg;
	struct hp3_config_errors errs = {0};
	struct sim_topo topo;
	const char *const set[] = {
		"fabric.kind=rail", "fabric.planes=2", "xfer.rails=3", "run.lb=hp3x"};
	char err[512] = "";

	assert_int_equal(sim_config_load(&cfg, NULL, NULL, set, 4, &errs), 0);
	assert_int_equal(sim_topo_make(&topo, &cfg, err, sizeof(err)), 0);
	assert_int_equal(sim_create(&s, &cfg, &topo, err, sizeof(err)), -ERANGE);
	assert_non_null(strstr(err, "lower xfer.rails, or raise fabric.planes"));
	RAILS("run.lb=hp3x");
	world_flow(&s, 0, HOSTS, 32768, 0);
	world_run(&s);
	assert_true(sent(0, 0) == 0 || sent(0, 1) == 0);
	sim_destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_rails_are_almost_twice_as_fast),
		cmocka_unit_test(unequal_rails_get_their_share),
		cmocka_unit_test(reads_use_all_rails),
		cmocka_unit_test(the_hash_assigns_whole_flows),
		cmocka_unit_test(rails_that_do_not_exist_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
