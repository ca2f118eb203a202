/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of an engine about address pairs and paths. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/info.h"
#include "scene.h"

#define PATHS 16u

static struct hp3_pair_info pair_of_q(void)
{
	struct hp3_pair_info i;

	assert_int_equal(hp3_pair_info(rig.e, hp3_pair_of(rig.e, flow_of(&q)), rig.now, &i), 0);
	return i;
}

static void a_pair_is_told_while_it_has_flows(void **state)
{
	struct qp more = make_qp(1);
	struct hp3_pair_info i;
	uint32_t pair;

	q = make_qp(0);
	q.vlan = more.vlan = 7;
	assert_int_equal(set_up(&q), 0);
	pair = hp3_pair_of(rig.e, flow_of(&q));
	assert_int_equal(set_up(&more), 0);
	assert_int_equal(hp3_pair_of(rig.e, flow_of(&more)), pair);
	i = pair_of_q();
	assert_int_equal(i.pair, pair);
	assert_int_equal(i.flows, 2);
	assert_int_equal(i.vlan, 7);
	assert_false(i.ipv6);
	assert_memory_equal(i.local, q.local, 16);
	assert_memory_equal(i.remote, q.remote, 16);
	assert_int_equal(i.identity, HP3_IDENTITY_NONE);
	assert_int_equal(i.tracing, HP3_TRACE_REST);

	tear_down(&q);
	tear_down(&more);
	pass_time(2 * rig.cfg.idle_age_ns);
	assert_int_equal(hp3_pair_info(rig.e, pair, rig.now, &i), -ENOENT);
	assert_int_equal(hp3_pair_info(rig.e, rig.cfg.max_pairs, rig.now, &i), -ENOENT);
	assert_int_equal(hp3_pair_of(rig.e, 0), HP3_NO_PAIR);
	assert_int_equal(hp3_pair_of(rig.e, HP3_NO_FLOW), HP3_NO_PAIR);
}

static void searches_and_fragments_are_told(void **state)
{
	probing_config();
	probing_engine();
	assert_int_equal(pair_of_q().rounds, 0);
	congest();
	assert_int_equal(pair_of_q().rounds, 1);
	assert_false(pair_of_q().pinned);
	fragment(HP3_DIR_TX, &q);
	assert_true(pair_of_q().pinned);
	pass_time(rig.cfg.pin_ns);
	assert_false(pair_of_q().pinned);
}

static void who_answers_is_told(void **state)
{
	probing_config();
	probing_engine();
	assert_int_equal(pair_of_q().peer, HP3_PEER_UNKNOWN);
	assert_int_equal(pair_of_q().peer_seen_ns, 0);
	peer_alive(&q);
	pass_time(7 * MS);
	assert_int_equal(pair_of_q().peer, HP3_PEER_HP3D);
	assert_in_range(pair_of_q().peer_seen_ns, 7 * MS, 8 * MS);

	probing_engine();
	for (unsigned i = 0; i < 100 && pair_of_q().peer == HP3_PEER_UNKNOWN; i++) {
		congest();
		pass_time(100 * MS);
	}
	assert_int_equal(pair_of_q().peer, HP3_PEER_PLAIN);
}

static const struct hp3_path_info *by_port(const struct hp3_path_info *p, uint32_t n, uint16_t port)
{
	for (uint32_t i = 0; i < n; i++)
		if (p[i].port == port)
			return &p[i];
	fail();
	return NULL;
}

static void paths_are_told_with_what_probes_showed(void **state)
{
	struct hp3_path_info all[PATHS];
	const struct hp3_path_info *p;
	struct hp3_hop hop;
	uint32_t pair, n, asked, id;

	probing_config();
	probing_engine();
	pair = hp3_pair_of(rig.e, flow_of(&q));
	congest();
	assert_in_range(rig.nprobes, ASKED, 64);
	asked = rig.nprobes - ASKED + 1;
	pass_time(RTT);
	probe_reply(asked, true);
	pass_time(TIMEOUT); /* the end of the round */
	pass_time(MS);

	n = hp3_pair_paths(rig.e, pair, rig.now, all, PATHS);
	assert_in_range(n, ASKED, PATHS);
	assert_int_equal(hp3_pair_paths(rig.e, pair, rig.now, all, 2), 2);
	hp3_pair_paths(rig.e, pair, rig.now, all, PATHS);
	p = by_port(all, n, rig.probe_ports[asked]);
	assert_in_range(p->rtt_ns, RTT, 2 * RTT);
	assert_int_equal(p->base_rtt_ns, p->rtt_ns);
	assert_in_range(p->marked_permille, 100, 1000);
	assert_in_range(p->age_ns, MS, 2 * MS);
	assert_int_equal(p->losses, 0);
	assert_false(p->named);
	assert_int_equal(p->id, HP3_PATH_BY_PORT | p->port);
	p = by_port(all, n, rig.probe_ports[asked + 1]);
	assert_int_equal(p->losses, 1);
	assert_int_equal(p->rtt_ns, 0);
	assert_int_equal(p->age_ns, 0);

	assert_false(hp3_path_of_port(rig.e, flow_of(&q), 50123, &id, &hop));
	assert_int_equal(id, HP3_PATH_BY_PORT | 50123);
	assert_int_equal(hp3_pair_paths(rig.e, rig.cfg.max_pairs, rig.now, all, PATHS), 0);
}

static void a_pair_that_was_never_asked_has_no_paths(void **state)
{
	struct hp3_path_info one;

	in_flight(1);
	assert_int_equal(
		hp3_pair_paths(rig.e, hp3_pair_of(rig.e, flow_of(&q)), rig.now, &one, 1), 0);
}

static void words(void **state)
{
	assert_string_equal(hp3_path_identity_name(HP3_IDENTITY_MODEL), "model");
	assert_string_equal(hp3_trace_state_name(HP3_TRACE_BY_QPN), "by-qpn");
	assert_string_equal(hp3_peer_name(HP3_PEER_PLAIN), "plain");
	assert_string_equal(hp3_peer_name((enum hp3_peer)99), "?");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RIG_TEST(a_pair_is_told_while_it_has_flows),
		RIG_TEST(searches_and_fragments_are_told),
		RIG_TEST(who_answers_is_told),
		RIG_TEST(paths_are_told_with_what_probes_showed),
		RIG_TEST(a_pair_that_was_never_asked_has_no_paths),
		RIG_TEST(words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
