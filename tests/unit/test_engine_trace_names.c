/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths found by traces have names that all hosts agree on: flows are counted by path, hosts
 * advertise the counts by name, and queue pairs are placed by them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/pass/pass.h"
#include "trace_fabric.h"

/* --- names --- */

static void names_are_the_same_on_every_host(void **state)
{
	const uint8_t spine[16] = {10, 8, 2, 3}, v6[16] = {0xfd, 0, 0, 8, [15] = 3};
	struct hp3_hop hop;
	uint32_t id;
	int name;

	trace_config();
	trace_begin();
	trace_run(300 * MS);
	for (uint16_t port = 50000; port < 50020; port++) {
		assert_true(hp3_path_of_port(rig.e, flow_of(&q), port, &id, &hop));
		name = hp3_path_name(rig.e, id);
		assert_int_equal(name, hp3_hop_name_of(false, hop.addr));
		assert_int_equal(hp3_path_number(rig.e, (uint16_t)name, false), id);
	}
	/* On the wire: they may not change. */
	assert_int_equal(hp3_hop_name_of(false, spine), 0xf0c9);
	assert_int_equal(hp3_hop_name_of(true, v6), 0xab84);
	assert_int_equal(hp3_path_number(rig.e, 0xabcd, false), -ENOENT);
	assert_int_equal(hp3_path_name(rig.e, HP3_HOPS), -ENOENT);
}

static void names_that_peers_tell_of_find_room(void **state)
{
	const uint8_t addr[16] = {10, 8, 2, 1};
	uint16_t count[HP3_HOPS] = {0};
	int first, n;

	trace_config();
	trace_begin();
	first = hp3_path_number(rig.e, 7, true);
	assert_in_range(first, 0, HP3_HOPS - 1);
	assert_int_equal(hp3_path_number(rig.e, 7, true), first);
	count[first] = 3;
	hp3_load_from(rig.e, HP3_ENDS(&q), count, HP3_HOPS, rig.now);
	for (n = 0; n < 1000; n++) { /* a flood does not take what is counted */
		int at = hp3_path_number(rig.e, (uint16_t)(1000 + n), true);

		assert_true(at != first && at < (int)HP3_HOPS);
	}
	assert_int_equal(hp3_path_name(rig.e, (uint32_t)first), 7);
	/* nor does it keep switches out. */
	trace_run(300 * MS);
	expect_all_reported(&q);
	assert_in_range(hp3_path_number(rig.e, hp3_hop_name_of(false, addr), false), 0, HP3_HOPS);
}

/* --- counts by path --- */

static uint32_t total(const uint16_t *count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < HP3_HOPS; i++)
		sum += count[i];
	return sum;
}

static void to(const struct qp *p, uint16_t *count)
{
	memset(count, 0, HP3_HOPS * sizeof(*count));
	assert_int_equal(hp3_load_to(rig.e, HP3_ENDS(p), count, HP3_HOPS), HP3_HOPS);
}

/* Flows were active before anything was known of paths, and while it changed. */
static void counts_follow_what_is_learnt(void **state)
{
	uint16_t count[HP3_HOPS], want[HP3_HOPS] = {0};
	struct qp more[6];
	struct hp3_hop hop;
	uint32_t id;

	trace_config();
	trace_begin();
	for (unsigned i = 0; i < 6; i++) {
		more[i] = make_qp(1 + i);
		assert_int_equal(set_up(&more[i]), 0);
		last(&more[i], 100);
		net.ends[net.nends++] = &more[i];
	}
	to(&q, count);
	assert_int_equal(total(count), 0);
	trace_run(300 * MS);
	expect_all_reported(&q);
	for (unsigned i = 0; i < 6; i++) {
		assert_true(hp3_path_of_port(rig.e, flow_of(&more[i]), more[i].home, &id, &hop));
		want[id]++;
	}
	to(&q, count);
	assert_memory_equal(count, want, sizeof(count));
	assert_memory_equal(rig.e->out.count, want, sizeof(want));
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(tear_down(&more[i]), 0);
	to(&q, count);
	assert_int_equal(total(count), 0);
	assert_int_equal(total(rig.e->out.count), 0);
}

/* The peer says, over several answers, which of its last hops is least used. */
static void placed_by_counts_told_in_parts(void **state)
{
	struct qp fresh = make_qp(1);

	for (uint32_t spine = 1; spine <= 4; spine++) {
		struct hp3_hop hop;
		uint32_t id;

		rig_setup(state);
		trace_config();
		rig.cfg.setup_probing = true;
		rig.cfg.setup_alike = 20;
		trace_begin();
		trace_run(300 * MS);
		rig.cfg.paths.fresh_ns = 1;
		assert_int_equal(set_up_at(&fresh, 40), 0);
		assert_int_equal(rig.nprobes, ASKED);
		for (uint8_t s = 1; s <= 4; s++) {
			const uint8_t addr[16] = {10, 8, 2, s};
			uint16_t count = s == spine ? 1 : 5;
			const struct hp3_path_count told = {hp3_hop_name_of(false, addr), count};

			hp3_load_received_names(rig.e, rig.probe_ids[0], &told, 1, rig.now);
		}
		pass_time(10 * US);
		for (uint32_t i = 0; i < ASKED; i++)
			probe_reply(i, false);
		pass_time(10 * US);
		assert_true(info(&fresh).moved);
		assert_true(hp3_path_of_port(rig.e, flow_of(&fresh), info(&fresh).port, &id, &hop));
		assert_int_equal(hop.addr[3], spine);
	}
}

/* --- what hosts advertise to each other --- */

/* Changes are told, not too often; that nothing is left, too, and that something still is. */
static void the_peer_is_told_of_our_flows(void **state)
{
	struct hp3_path_count told[HP3_HOPS];
	struct hp3_hop hop;
	uint32_t id;

	trace_config();
	rig.cfg.advertise_ns = 5 * MS;
	rig.cfg.stall_ns = 0;
	trace_begin();
	trace_run(300 * MS);
	assert_int_equal(rig.acts[HP3_ACT_ADVERTISE], 0); /* nothing is active */
	for (uint32_t i = 0; i < 20; i++) {
		last(&q, 101 + i);
		trace_run(MS);
		ack(&q, 101 + i);
		trace_run(MS);
	}
	assert_in_range(rig.acts[HP3_ACT_ADVERTISE], 1, 40 / 5 + 2);
	last(&q, 121);
	trace_run(20 * MS);
	assert_true(hp3_path_of_port(rig.e, flow_of(&q), q.home, &id, &hop));
	assert_int_equal(hp3_load_to_names(rig.e, flow_of(&q), told, HP3_HOPS), 1);
	assert_int_equal(told[0].name, hp3_hop_name_of(false, hop.addr));
	assert_int_equal(told[0].count, 1);
	ack(&q, 121);
	trace_run(20 * MS);
	assert_int_equal(hp3_load_to_names(rig.e, flow_of(&q), told, HP3_HOPS), 0);
	rig.acts[HP3_ACT_ADVERTISE] = 0;
	trace_run(100 * MS);
	assert_int_equal(rig.acts[HP3_ACT_ADVERTISE], 0);
}

/* The key of this pair of hosts; NULL: it has none. */
static const uint8_t *pair_key;

static const uint8_t *find(const void *table, const struct hp3_pair_ends *ends)
{
	assert_memory_equal(ends->src, q.local, 4);
	assert_memory_equal(ends->dst, q.remote, 4);
	return pair_key;
}

static void who_has_no_key_is_not_told(void **state)
{
	static const struct hp3_probe_key key = {.agreed = find};
	static const uint8_t bytes[HP3_KEY_LEN] = {1};

	trace_config();
	rig.cfg.advertise_ns = 5 * MS;
	rig.cfg.stall_ns = 0;
	rig.cfg.key = &key;
	trace_begin();
	trace_run(300 * MS);
	for (uint32_t i = 0; i < 20; i++) {
		pair_key = i < 10 ? NULL : bytes;
		last(&q, 101 + i);
		trace_run(MS);
		ack(&q, 101 + i);
		trace_run(MS);
		if (i < 10)
			assert_int_equal(rig.acts[HP3_ACT_ADVERTISE], 0);
	}
	assert_true(rig.acts[HP3_ACT_ADVERTISE] != 0);
}

static void without_a_key_nobody_is_told(void **state)
{
	trace_config();
	rig.cfg.advertise_ns = 5 * MS;
	rig.cfg.stall_ns = 0;
	rig.cfg.unkeyed = true;
	trace_begin();
	trace_run(300 * MS);
	for (uint32_t i = 0; i < 20; i++) {
		last(&q, 101 + i);
		trace_run(MS);
		ack(&q, 101 + i);
		trace_run(MS);
	}
	assert_int_equal(rig.acts[HP3_ACT_ADVERTISE], 0);
}

/* Reports are summed up by name, an old one changes nothing, and answers say the sum. */
static void what_comes_in_is_told_by_name(void **state)
{
	const struct hp3_path_count first[] = {{7, 3}, {9, 1}}, second[] = {{9, 4}};
	struct hp3_path_count in[HP3_HOPS];
	struct qp other = make_qp(1);

	trace_config();
	trace_begin();
	other.remote[3] = 77;
	speak(&other, 7);
	assert_int_equal(hp3_load_in_names(rig.e, in, HP3_HOPS), 0);
	assert_int_equal(hp3_load_from_names(rig.e, HP3_ENDS(&q), 100, first, 2, rig.now), 0);
	assert_int_equal(hp3_load_from_names(rig.e, HP3_ENDS(&other), 5, second, 1, rig.now), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(hp3_load_in_names(rig.e, in, HP3_HOPS), 2);
		assert_int_equal(in[0].name + in[1].name, 16);
		assert_int_equal(in[in[0].name == 9 ? 0 : 1].count, 5);
		assert_int_equal(in[in[0].name == 7 ? 0 : 1].count, 3);
		assert_int_equal(
			hp3_load_from_names(rig.e, HP3_ENDS(&q), 100 - i, second, 1, rig.now),
			-ESTALE);
	}
	assert_int_equal(hp3_load_from_names(rig.e, HP3_ENDS(&q), 101, first, 0, rig.now), 0);
	assert_int_equal(hp3_load_in_names(rig.e, in, HP3_HOPS), 2); /* none is news, too */
	assert_int_equal(in[in[0].name == 7 ? 0 : 1].count, 0);
	assert_int_equal(in[in[0].name == 9 ? 0 : 1].count, 4);
	assert_int_equal(hp3_load_from_names(rig.e, &(struct hp3_ends){false, 0, q.remote, q.local},
				 9, first, 2, rig.now),
		-ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(names_are_the_same_on_every_host),
		RIG_TEST(names_that_peers_tell_of_find_room),
		RIG_TEST(counts_follow_what_is_learnt),
		RIG_TEST(placed_by_counts_told_in_parts),
		RIG_TEST(the_peer_is_told_of_our_flows),
		RIG_TEST(who_has_no_key_is_not_told),
		RIG_TEST(without_a_key_nobody_is_told),
		RIG_TEST(what_comes_in_is_told_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
