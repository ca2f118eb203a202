/* SPDX-License-Identifier: BSD-3-Clause */
/* Long flows counted by spine path: what is advertised of them, and which flows move by it
 * (cc.share_moves). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/paths/spine_paths.h"
#include "scene.h"

#define LONG        10000000u
#define SHORT       200000u /* long enough to count, not to move */
#define ADVERTISE   (50 * US)
#define SPINE_PATHS 4u

static uint64_t stamp;

static uint32_t spine_path_of(const struct hp3_path_model *m, const struct hp3_tuple *t)
{
	return t->sport % SPINE_PATHS;
}

static const struct hp3_path_model model = {spine_path_of, SPINE_PATHS};

static void begin_with(bool moves, bool identity)
{
	probing_config();
	rig.cfg.monitor.congestion_tolerance = 7; /* no searches here */
	rig.cfg.moves_allowed = true;
	rig.cfg.advertise_ns = ADVERTISE;
	rig.cfg.round.timeout_ns = TIMEOUT;
	rig.cfg.model = identity ? &model : NULL;
	rig.cfg.cc.share = (struct hp3_share_params){.on = true,
		.moves = moves,
		.floor = 80,
		.cycles = 2,
		.rtt = 150,
		.long_bytes = 100000,
		.advertise_ns = ADVERTISE};
	probing_engine();
	hp3_peer_seen(rig.e, HP3_ENDS(&q), rig.now);
	stamp = 1;
}

static int begin(void **state)
{
	rig_setup(state);
	begin_with(true, true);
	return 0;
}

static void first_of(uint32_t bytes)
{
	static const uint8_t payload[PMTU];

	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_FIRST,
			    .psn = psn++,
			    .dma_len = bytes,
			    .payload = payload,
			    .payload_len = PMTU});
}

static void round_trip(void)
{
	static const uint8_t payload[PMTU];

	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_MIDDLE,
			    .psn = psn++,
			    .ackreq = true,
			    .payload = payload,
			    .payload_len = PMTU});
	pass_time(RTT);
	ack(&q, psn - 1);
}

static uint16_t here(void)
{
	return (uint16_t)(info(&q).port % SPINE_PATHS);
}

/* What this host advertises to its rack of a spine path, and a peer of it. */
static struct hp3_spine_path_count advertised(uint16_t name)
{
	struct hp3_spine_path_count spine_path[HP3_SPINE_PATHS];
	uint32_t n = hp3_rack_advertise(rig.e, spine_path, HP3_SPINE_PATHS);

	for (uint32_t i = 0; i < n; i++)
		if (spine_path[i].name == name)
			return spine_path[i];
	return (struct hp3_spine_path_count){.name = name};
}

static struct hp3_spine_path_count reported(uint16_t name)
{
	struct hp3_spine_path_count spine_path[HP3_SPINE_PATHS];
	uint32_t n = hp3_spine_paths_to(rig.e, flow_of(&q), spine_path, HP3_SPINE_PATHS, rig.now);

	for (uint32_t i = 0; i < n; i++)
		if (spine_path[i].name == name)
			return spine_path[i];
	return (struct hp3_spine_path_count){.name = name};
}

/* The peer: so many flows come into its rack by the spine path that q takes, none by others. */
static void peer_has(uint16_t in)
{
	const struct hp3_spine_path_count spine_path = {.name = here(), .in = in};

	assert_int_equal(
		hp3_spine_paths_from(rig.e, HP3_ENDS(&q), stamp++, &spine_path, 1, rig.now), 0);
}

static int rack_peer_has(uint8_t last, uint16_t name, uint16_t out, uint16_t in)
{
	const uint8_t rack_peer[4] = {10, 9, 1, last};
	const struct hp3_spine_path_count spine_path = {.name = name, .out = out, .in = in};

	return hp3_rack_received(rig.e, false, rack_peer, stamp++, &spine_path, 1, rig.now);
}

/* Until it was searched for another spine path, some times. */
static void looked(void)
{
	for (unsigned i = 0; i < 20 && rig.nprobes == 0; i++)
		round_trip();
}

static void flows_count_where_they_are(void **state)
{
	first_of(LONG);
	assert_int_equal(advertised(here()).out, 1);
	assert_int_equal(reported(here()).out, 1);
	assert_int_equal(move(&q, NEW_PORT + 1), 0);
	round_trip();
	round_trip();
	assert_int_equal(info(&q).port, NEW_PORT + 1);
	assert_int_equal(advertised(here()).out, 1);
	assert_int_equal(advertised((uint16_t)(q.home % SPINE_PATHS)).out, 0);
	assert_int_equal(reported(here()).out, 1);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(advertised((NEW_PORT + 1) % SPINE_PATHS).out, 0);
}

/* A change at once, others not sooner than half of share_advertise_us; then now and then. */
static void the_rack_hears_of_changes(void **state)
{
	uint32_t before;

	assert_int_equal(rig.acts[HP3_ACT_RACK], 0);
	first_of(LONG);
	pass_time(US);
	assert_int_equal(rig.acts[HP3_ACT_RACK], 1);
	peer_has(1);
	pass_time(US);
	assert_int_equal(rig.acts[HP3_ACT_RACK], 1); /* that concerns the peer's rack alone */
	for (unsigned i = 0; i < 12; i++)
		pass_time(ADVERTISE);
	assert_in_range(rig.acts[HP3_ACT_RACK], 3, 6);
	assert_int_equal(tear_down(&q), 0);
	pass_time(ADVERTISE);
	before = rig.acts[HP3_ACT_RACK];
	assert_int_equal(advertised((uint16_t)(q.home % SPINE_PATHS)).out, 0);
	pass_time(100 * ADVERTISE);
	assert_int_equal(rig.acts[HP3_ACT_RACK], before); /* nothing is left to be told */
}

static void what_peers_send_comes_in(void **state)
{
	struct hp3_spine_path_count spine_path[] = {
		{.name = 1, .out = 3, .in = 7}, {.name = 2, .out = 1}};

	assert_int_equal(hp3_spine_paths_from(rig.e, HP3_ENDS(&q), 5, spine_path, 2, rig.now), 0);
	assert_int_equal(advertised(1).in, 3);
	assert_int_equal(advertised(2).in, 1);
	assert_int_equal(
		hp3_spine_paths_from(rig.e, HP3_ENDS(&q), 5, spine_path, 1, rig.now), -ESTALE);
	assert_int_equal(advertised(2).in, 1);
	assert_int_equal(
		hp3_spine_paths_from(rig.e, HP3_ENDS(&q), 6, spine_path + 1, 1, rig.now), 0);
	assert_int_equal(advertised(1).in, 0);
	assert_int_equal(advertised(2).in, 1);
	hp3_spine_paths_forget(rig.e, rig.e->flows[flow_of(&q)].pair);
	assert_int_equal(advertised(2).in, 0);
}

/* A report to a peer has what comes into all hosts of the rack. */
static void hosts_of_a_rack_are_added_up(void **state)
{
	assert_int_equal(rack_peer_has(1, 2, 3, 4), 0);
	assert_int_equal(rack_peer_has(2, 2, 1, 1), 0);
	assert_int_equal(reported(2).in, 5);
	assert_int_equal(rack_peer_has(1, 2, 0, 1), 0); /* its newest message counts */
	assert_int_equal(reported(2).in, 2);
	assert_int_equal(hp3_rack_has(rig.e, 2, rig.now).out, 1);
	stamp = 1;
	assert_int_equal(rack_peer_has(1, 2, 9, 9), -ESTALE);
	pass_time(9 * ADVERTISE);
	assert_int_equal(reported(2).in, 0); /* old ones do not */
}

static void too_many_rack_peers_are_not_heard(void **state)
{
	for (uint8_t i = 0; i < HP3_RACK_PEERS_MAX; i++)
		assert_int_equal(rack_peer_has(i, 1, 0, 1), 0);
	assert_int_equal(rack_peer_has(HP3_RACK_PEERS_MAX, 1, 0, 1), -ENOSPC);
	assert_int_equal(reported(1).in, HP3_RACK_PEERS_MAX);
	pass_time(9 * ADVERTISE);
	assert_int_equal(rack_peer_has(HP3_RACK_PEERS_MAX, 1, 0, 1), 0);
	assert_int_equal(reported(1).in, 1);
}

static void a_spine_path_with_fewer_flows_is_probed(void **state)
{
	first_of(LONG);
	assert_int_equal(rack_peer_has(1, here(), 1, 0), 0);
	peer_has(1);
	looked();
	assert_int_equal(rig.nprobes, 2);
	assert_int_equal(rig.probe_ports[0], q.home);
	assert_int_not_equal(rig.probe_ports[1] % SPINE_PATHS, here());
	for (unsigned i = 0; i < 2; i++)
		probe_reply(i, false);
	round_trip();
	round_trip();
	assert_int_equal(rig.newest[HP3_EVENT_IDLE_SWITCH].cause, HP3_CAUSE_COUNTS);
	assert_int_equal(info(&q).port, rig.probe_ports[1]);
}

static void but_not_taken_where_probes_disagree(void **state)
{
	first_of(LONG);
	assert_int_equal(rack_peer_has(1, here(), 5, 0), 0);
	peer_has(5);
	looked();
	assert_int_equal(rig.nprobes, 2);
	probe_reply(0, false);
	probe_reply(1, true);
	round_trip();
	assert_int_equal(info(&q).port, q.home);
	assert_int_equal(rig.newest[HP3_EVENT_RECOVER].cause, HP3_CAUSE_COUNTS);
}

/* Alone on both links; or elsewhere there are as many, once it is counted there. */
static void one_flow_less_is_needed(void **state)
{
	first_of(LONG);
	peer_has(1);
	looked();
	assert_int_equal(rig.nprobes, 0);
	for (uint16_t w = 0; w < SPINE_PATHS; w++)
		assert_int_equal(rack_peer_has((uint8_t)w, w, 1, 0), 0);
	peer_has(1);
	looked();
	assert_int_equal(rig.nprobes, 0);
}

static void nor_by_what_is_old(void **state)
{
	first_of(LONG);
	peer_has(5);
	pass_time(9 * ADVERTISE);
	looked();
	assert_int_equal(rig.nprobes, 0);
}

static void what_is_soon_over_stays(void **state)
{
	first_of(SHORT);
	assert_int_equal(advertised(here()).out, 1);
	assert_int_equal(rack_peer_has(1, here(), 5, 0), 0);
	peer_has(5);
	looked();
	assert_int_equal(rig.nprobes, 0);
}

static void off_or_without_identity_nothing_is_counted(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		begin_with(i == 0, i != 0);
		first_of(LONG);
		pass_time(ADVERTISE);
		assert_int_equal(advertised(here()).out, 0);
		assert_int_equal(rig.acts[HP3_ACT_RACK], 0);
		assert_int_equal(rack_peer_has(1, here(), 5, 0), -ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(flows_count_where_they_are, begin),
		cmocka_unit_test_setup(the_rack_hears_of_changes, begin),
		cmocka_unit_test_setup(what_peers_send_comes_in, begin),
		cmocka_unit_test_setup(hosts_of_a_rack_are_added_up, begin),
		cmocka_unit_test_setup(too_many_rack_peers_are_not_heard, begin),
		cmocka_unit_test_setup(a_spine_path_with_fewer_flows_is_probed, begin),
		cmocka_unit_test_setup(but_not_taken_where_probes_disagree, begin),
		cmocka_unit_test_setup(one_flow_less_is_needed, begin),
		cmocka_unit_test_setup(nor_by_what_is_old, begin),
		cmocka_unit_test_setup(what_is_soon_over_stays, begin),
		cmocka_unit_test_setup(off_or_without_identity_nothing_is_counted, rig_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
