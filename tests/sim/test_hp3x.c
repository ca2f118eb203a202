/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3x: messages in slices, each on the queue pair that will end it first, all of them in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "sim/fabric/port.h"
#include "sim/host/host.h"
#include "sim/lb/hp3x.h"
#include "world.h"

static struct sim s;

#define HOSTS 4u
#define PAIR(...)                                                                                  \
	WORLD(&s, "fabric.leaves=2", "fabric.spines=4", "fabric.hosts_per_leaf=4",                 \
		"fabric.grain_ps=1", "run.lb=hp3x", __VA_ARGS__)
#define SLICE 32768u

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

/* Each queue pair delivers its slices in order, and no packet twice. */
static void run_in_order(void)
{
	world_run(&s);
	assert_int_equal(s.n.reordered + s.n.naks + s.n.again + s.n.duplicates, 0);
}

/* Payload 1,000: 30 whole slices of 33 packets, and 17,961 bytes in 18 packets. */
static void each_slice_arrives_once(void **state)
{
	PAIR("xfer.paths=8");
	world_flow(&s, 0, HOSTS, 30 * SLICE + 17961, 0);
	run_in_order();
	assert_int_equal(s.n.delivered, 30 * 33 + 18);
	assert_int_equal(s.n.data_bytes, 30 * SLICE + 17961 + 48 * (30 * 33 + 18));
	assert_true(spines_used() >= 3);
	sim_destroy(&s);
}

/* Slices of one size would be too many: the limit is 4,096 of a message. */
static void long_messages_have_longer_slices(void **state)
{
	PAIR("xfer.slice_bytes=1000");
	world_flow(&s, 0, HOSTS, 4096 * 2000, 0);
	run_in_order();
	assert_int_equal(s.n.delivered, 4096 * 2);
	sim_destroy(&s);
}

static void short_messages_take_one_path(void **state)
{
	PAIR("xfer.paths=8");
	world_flow(&s, 0, HOSTS, SLICE, 0);
	run_in_order();
	assert_int_equal(spines_used(), 1);
	sim_destroy(&s);
	PAIR("xfer.paths=1");
	world_flow(&s, 0, HOSTS, 4000000, 0);
	run_in_order();
	assert_int_equal(spines_used(), 1);
	sim_destroy(&s);
}

/* Two hosts have so many queue pairs per verb, whatever the number of messages. */
static void messages_share_the_queue_pairs(void **state)
{
	PAIR("xfer.paths=5", "rnic.setup_us=20", "rnic.setup_counts=off");
	for (uint32_t i = 0; i < 6; i++)
		world_flow(&s, 0, HOSTS, 200000, i * 7 * SIM_US);
	world_flow(&s, 0, HOSTS, 1000, 500 * SIM_US);
	run_in_order();
	assert_int_equal(s.host[0].next_sport, 5);
	/* No second set-up: four links each way, and an ACK. */
	assert_int_equal(s.outcome[6].fct, 8 * SIM_US + 4 * UINT64_C(83840) + 4 * UINT64_C(4800));
	sim_destroy(&s);
	PAIR("xfer.paths=5");
	world_flow(&s, 0, HOSTS, 200000, 0);
	world_flow(&s, 0, HOSTS + 1, 200000, 0);
	run_in_order();
	assert_int_equal(s.host[0].next_sport, 10);
	sim_destroy(&s);
}

static void slow_spine(uint32_t spine, uint64_t times)
{
	uint32_t node = 2 * HOSTS + 2 + spine;

	for (uint32_t p = s.topo.first_port[node]; p < s.topo.first_port[node + 1]; p++) {
		s.port[p].bps /= times;
		s.port[p].ps_per_kib *= times;
		s.port[p].peer->bps /= times;
		s.port[p].peer->ps_per_kib *= times;
	}
}

/*
 * The spine that most slices take gets a fiftieth of its rate. 16 MB on the host's link alone take
 * 1.34 ms. A quarter of them would take 16 ms on the slow spine.
 */
static void slow_paths_get_few_slices(void **state)
{
	uint32_t spine = 0;

	PAIR("xfer.paths=8");
	world_flow(&s, 0, HOSTS, 16000000, 0);
	run_in_order();
	for (uint32_t i = 1; i < 4; i++)
		spine = up(i) > up(spine) ? i : spine;
	sim_destroy(&s);
	PAIR("xfer.paths=8", "rnic.rto_us=0");
	slow_spine(spine, 50);
	world_flow(&s, 0, HOSTS, 16000000, 0);
	run_in_order();
	assert_true(up(spine) > 0);
	assert_true(up(spine) < 16000000 / 20);
	assert_true(s.outcome[0].fct < 2400 * SIM_US);
	sim_destroy(&s);
}

struct look {
	struct sim_event event;
	uint64_t most;
};

/* Bytes that are posted and not acknowledged, every microsecond. */
static void look_at_flight(struct sim *sim, struct sim_event *event)
{
	struct look *look = (struct look *)event;
	struct sim_flow *f;
	uint64_t bytes = 0;

	TAILQ_FOREACH (f, &sim->host[0].open, open)
		bytes += (f->packets - f->una) * UINT64_C(1000);
	look->most = bytes > look->most ? bytes : look->most;
	if (sim->finished < sim->n_demands)
		sim_at(sim, event, sim->now + SIM_US);
}

/*
 * Windows: all paths of a pair have at most 2 x 12.5 GB/s x 8.7 us in flight, and one slice. With
 * windows of paths only, each of the eight paths may have as much.
 */
static void windows_bound_the_flight(void **state)
{
	struct look look = {.event.fire = look_at_flight};
	const uint64_t bound = 2 * 108750 + SLICE;

	PAIR("xfer.paths=8");
	world_flow(&s, 0, HOSTS, 8000000, 0);
	sim_at(&s, &look.event, 1);
	run_in_order();
	assert_in_range(look.most, 108750, bound + 16000);
	assert_true(s.outcome[0].fct < s.outcome[0].base * 105 / 100);
	sim_destroy(&s);
	PAIR("xfer.paths=8", "xfer.pair_window=off");
	look.most = 0;
	world_flow(&s, 0, HOSTS, 8000000, 0);
	sim_at(&s, &look.event, 1);
	run_in_order();
	assert_in_range(look.most, 3 * bound, 8 * bound);
	sim_destroy(&s);
}

/* A rate of 1 GB/s, slices of 1,000 bytes, two paths. */
static struct hp3x_pair *two_paths(void)
{
	static union {
		struct hp3x_pair pair;
		char bytes[sizeof(struct hp3x_pair) + 2 * sizeof(struct hp3x_path)];
	} two;
	struct hp3x_limits limits = {.slice_bytes = 1000};

	memset(&two, 0, sizeof(two));
	two.pair.rail[0].of = (struct hp3x_window_limits){
		.second = SIM_SEC, .most_rate = 1000000000, .percent = 200};
	hp3x_pair_init(&two.pair, &limits, 1, 2);
	two.pair.waiting = 100000;
	return &two.pair;
}

static void the_earliest_finish_is_chosen(void **state)
{
	struct hp3x_pair *pair = two_paths();
	struct hp3x_path *a = &pair->path[0], *b = &pair->path[1];

	assert_ptr_equal(hp3x_choose(pair, 1000), a);
	hp3x_posted(pair, a, 1000);
	assert_ptr_equal(hp3x_choose(pair, 1000), b);
	hp3x_posted(pair, b, 1000);
	assert_null(hp3x_choose(pair, 1000)); /* no window has room */
	/* 3 us: 1 us on the link, so the RTT is 2 us, and two slices fit the window. */
	hp3x_ended(pair, a, &(struct hp3x_slice){.bytes = 1000, .now = 3 * SIM_US});
	assert_int_equal(a->rtt, 2 * SIM_US);
	assert_int_equal(a->rate, 1000000000);
	assert_int_equal(a->window, 2000);
	/* 21 us: the first slice of b gives the RTT, the second one a fifth of the rate. */
	hp3x_ended(pair, b, &(struct hp3x_slice){.bytes = 1000, .now = 3 * SIM_US});
	hp3x_posted(pair, b, 1000);
	hp3x_ended(pair, b,
		&(struct hp3x_slice){.bytes = 1000, .posted = 3 * SIM_US, .now = 10 * SIM_US});
	assert_int_equal(b->rtt, 2 * SIM_US);
	assert_int_equal(b->rate, 800000000);
	assert_int_equal(hp3x_path_finish(b, 1000), 2 * SIM_US + 1250000);
	pair->turn = 1; /* of equal paths, b would be next */
	assert_ptr_equal(hp3x_choose(pair, 1000), a);
	/* a is full. Its 2,000 bytes and the last 1,000 end there before they would end on b. */
	hp3x_posted(pair, a, 1000);
	hp3x_posted(pair, a, 1000);
	assert_ptr_equal(hp3x_choose(pair, 1000), b);
	b->rate = 100000000;
	pair->waiting = 1000;
	assert_null(hp3x_choose(pair, 1000));
	pair->waiting = 100000;
	assert_ptr_equal(hp3x_choose(pair, 1000), b);
}

/* Sixteen flows at a time, both verbs, over uplinks that are too narrow. */
static void runs_repeat_to_the_byte(void **state)
{
	uint64_t end = 0, hops = 0;

	for (unsigned run = 0; run < 2; run++) {
		PAIR("fabric.core_mbps=50000", "traffic.read_percent=50", "rnic.setup_us=20",
			"rnic.payload_bytes=1024");
		for (uint32_t i = 0; i < 64; i++)
			world_flow(&s, i % 8,
				(i + 3 + i / 8) % 8 == i % 8 ? (i + 1) % 8 : (i + 3 + i / 8) % 8,
				1 + i * 9973, i * 2 * SIM_US);
		run_in_order();
		assert_true(s.n.reads > 32);
		assert_true(run == 0 || (s.last_end == end && s.n.hops == hops));
		end = s.last_end;
		hops = s.n.hops;
		sim_destroy(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_slice_arrives_once),
		cmocka_unit_test(long_messages_have_longer_slices),
		cmocka_unit_test(short_messages_take_one_path),
		cmocka_unit_test(messages_share_the_queue_pairs),
		cmocka_unit_test(slow_paths_get_few_slices),
		cmocka_unit_test(windows_bound_the_flight),
		cmocka_unit_test(the_earliest_finish_is_chosen),
		cmocka_unit_test(runs_repeat_to_the_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
