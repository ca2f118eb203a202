/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement by the counts of both ends, and the exchange of counts between two hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "scene.h"
#include "sim/fabric/hash.h"

#define PATHS 4u

static struct sim_model model;

/* Four paths, told apart by a CRC that is held against itself until it is believed. */
static void config(void)
{
	const struct sim_stage stage = {
		.hash = {.kind = SIM_HASH_CRC32, .paths = PATHS, .seed = 7}};

	assert_int_equal(sim_model_init(&model, &stage, 1), 0);
	for (uint16_t port = 1; !sim_model_believed(&model); port++) {
		struct hp3_tuple t = {.sport = port};

		assert_true(sim_model_trace(&model, &t, sim_model_path(&model, &t)));
	}
	probing_config();
	rig.cfg.setup_probing = true;
	rig.cfg.setup_alike = 20;
	rig.cfg.model = &model.given;
	rig.cfg.load_paths = PATHS;
	rig.cfg.load_age_ns = 100 * MS;
	rig.cfg.stall_ns = 500 * US;
	rig_configure();
	q = make_qp(0);
	psn = 100;
}

static uint32_t path_of_port(const struct qp *p, uint16_t port)
{
	struct hp3_tuple t = {.sport = port, .dport = HP3_ROCE_UDP_PORT, .qpn = p->rqpn};

	memcpy(t.src, p->local, 16);
	memcpy(t.dst, p->remote, 16);
	return sim_model_path(&model, &t);
}

static uint32_t path_of(const struct qp *p)
{
	return path_of_port(p, info(p).port);
}

/* All ports of the round that `p` has set off answer alike, and the first answer brings counts. */
static void answered(struct qp *p, const uint16_t *count)
{
	uint32_t first = rig.nprobes;

	assert_int_equal(set_up_at(p, psn), 0);
	assert_int_equal(rig.nprobes, first + ASKED);
	if (count != NULL)
		hp3_load_received(rig.e, rig.probe_ids[first], count, PATHS, rig.now);
	pass_time(10 * US);
	for (uint32_t i = 0; i < ASKED; i++)
		probe_reply(first + i, false);
	pass_time(10 * US);
	assert_int_equal(info(p).state, HP3_RFR_STEADY);
}

/* The peer tells how many flows come in there by each path. */
static void given(const uint16_t *count)
{
	answered(&q, count);
	assert_true(info(&q).moved);
}

static void load_from(const struct qp *p, const uint16_t *count, uint32_t n)
{
	hp3_load_from(rig.e, HP3_ENDS(p), count, n, rig.now);
}

static void expect_in(const uint16_t *want)
{
	uint16_t got[PATHS] = {0};

	assert_int_equal(hp3_load_in(rig.e, got, PATHS), PATHS);
	assert_memory_equal(got, want, sizeof(got));
}

static void expect_to(const struct qp *p, const uint16_t *want)
{
	uint16_t got[PATHS] = {0};

	assert_int_equal(hp3_load_to(rig.e, HP3_ENDS(p), got, PATHS), PATHS);
	assert_memory_equal(got, want, sizeof(got));
}

#define COUNTS(...) ((const uint16_t[PATHS]){__VA_ARGS__})

static void the_path_that_is_least_used_at_the_peer(void **state)
{
	for (uint32_t path = 0; path < PATHS; path++) {
		uint16_t count[PATHS] = {5, 5, 5, 5};

		rig_setup(state);
		config();
		count[path] = 1;
		given(count);
		assert_int_equal(path_of(&q), path);
		assert_int_equal(middle(&q, psn), HP3_PASS);
		expect_left(0, psn, info(&q).port, false);
	}
}

/* A probe sees everybody's queues: counts only break ties. */
static void a_better_answer_beats_counts(void **state)
{
	for (uint32_t best = 0; best < ASKED; best++) {
		uint16_t count[PATHS] = {0};

		rig_setup(state);
		config();
		assert_int_equal(set_up_at(&q, psn), 0);
		pass_time(10 * US);
		probe_reply(best, false);
		count[path_of_port(&q, rig.probe_ports[best])] = 9;
		hp3_load_received(rig.e, rig.probe_ids[best], count, PATHS, rig.now);
		pass_time(5 * US);
		for (uint32_t i = 0; i < ASKED; i++)
			if (i != best)
				probe_reply(i, false);
		pass_time(5 * US);
		assert_int_equal(info(&q).port, rig.probe_ports[best]);
	}
}

/* Queue pairs set up one after another, before the peer has told of the ones before. */
static void queue_pairs_spread(void **state)
{
	uint16_t used[PATHS] = {0};

	config();
	given(COUNTS(0));
	used[path_of(&q)]++;
	for (unsigned i = 1; i < 2 * PATHS; i++) {
		struct qp other = make_qp(i);

		answered(&other, NULL);
		used[path_of(&other)]++;
	}
	assert_memory_equal(used, COUNTS(2, 2, 2, 2), sizeof(used));
	expect_to(&q, COUNTS(2, 2, 2, 2));
}

/* Without counts as well: those of one peer part, where it is known which ports do. */
static void queue_pairs_of_a_peer_part_by_themselves(void **state)
{
	uint16_t used[PATHS] = {0};

	config();
	rig.cfg.load_paths = 0;
	rig.cfg.paths.fresh_ns = 1; /* each asks */
	rig.cfg.paths.fresh_rtts = 0;
	rig_configure();
	for (unsigned i = 0; i < 2 * PATHS; i++) {
		struct qp other = make_qp(i);

		answered(&other, NULL);
		used[path_of(&other)]++;
		pass_time(10 * US);
	}
	assert_memory_equal(used, COUNTS(2, 2, 2, 2), sizeof(used));
}

/* Where this host sends much already, the peer's idle path is no use. */
static void the_worse_of_both_ends_counts(void **state)
{
	struct qp elsewhere = make_qp(1);

	config();
	given(COUNTS(0));
	elsewhere.remote[3] = 77; /* another peer */
	answered(&elsewhere, COUNTS(0));
	assert_int_not_equal(path_of(&q), path_of(&elsewhere));
}

static void what_the_peer_told_gets_old(void **state)
{
	struct qp soon = make_qp(1), late = make_qp(2);

	config();
	given(COUNTS(0, 9, 9, 9));
	assert_int_equal(path_of(&q), 0);
	answered(&soon, NULL);
	assert_int_equal(path_of(&soon), 0);
	pass_time(rig.cfg.load_age_ns + MS);
	answered(&late, NULL);
	assert_int_not_equal(path_of(&late), 0);
}

static void an_unknown_probe_tells_nothing(void **state)
{
	struct qp other = make_qp(1);
	uint16_t count[PATHS] = {9, 9, 9, 9};

	config();
	given(NULL);
	count[path_of(&q)] = 0;
	hp3_load_received(rig.e, rig.probe_ids[0] ^ 0x80000000u, count, PATHS, rig.now);
	answered(&other, NULL);
	assert_int_not_equal(path_of(&other), path_of(&q));
}

/* --- our own flows, as the peer is told of them --- */

static void active_flows_count_until_they_are_idle(void **state)
{
	uint16_t want[PATHS] = {0};

	config();
	given(COUNTS(0));
	want[path_of(&q)] = 1;
	expect_to(&q, want);
	last(&q, psn);
	expect_to(&q, want);
	ack(&q, psn);
	for (unsigned i = 0; i < 40; i++)
		pass_time(50 * US);
	expect_to(&q, COUNTS(0));
	last(&q, psn + 1); /* active again */
	expect_to(&q, want);
	ack(&q, psn + 1);
	assert_int_equal(tear_down(&q), 0);
	expect_to(&q, COUNTS(0));
}

/* --- what others send us --- */

static void inbound_counts_are_the_sum_over_peers(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1);

	config();
	b.remote[3] = 77;
	assert_int_equal(set_up(&a), 0);
	assert_int_equal(set_up(&b), 0);
	load_from(&a, COUNTS(1, 2, 0, 0), PATHS);
	load_from(&b, COUNTS(1, 0, 3, 0), PATHS);
	expect_in(COUNTS(2, 2, 3, 0));
	load_from(&a, COUNTS(0, 1, 0, 0), 2); /* newer ones replace; missing ones are 0 */
	expect_in(COUNTS(1, 1, 3, 0));
	load_from(&a, COUNTS(0, 0xffff, 0, 0xffff), PATHS);
	load_from(&b, COUNTS(0, 1, 0, 1), PATHS);
	expect_in(COUNTS(0, 0xffff, 0, 0xffff));
}

static void a_pair_that_is_gone_is_forgotten(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1);

	config();
	b.remote[3] = 77;
	assert_int_equal(set_up(&a), 0);
	assert_int_equal(set_up(&b), 0);
	load_from(&a, COUNTS(4, 0, 0, 0), PATHS);
	load_from(&b, COUNTS(0, 5, 0, 0), PATHS);
	assert_int_equal(tear_down(&a), 0);
	expect_in(COUNTS(0, 5, 0, 0));
	load_from(&a, COUNTS(9, 9, 9, 9), PATHS); /* nobody of ours talks to it */
	expect_in(COUNTS(0, 5, 0, 0));
	assert_int_equal(set_up(&a), 0);
	expect_in(COUNTS(0, 5, 0, 0));
}

static void without_placement_nothing_is_counted(void **state)
{
	uint16_t got[PATHS];

	config();
	rig.cfg.load_paths = 0;
	rig_configure();
	assert_int_equal(set_up(&q), 0);
	load_from(&q, COUNTS(1, 1, 1, 1), PATHS);
	assert_int_equal(hp3_load_in(rig.e, got, PATHS), 0);
	assert_int_equal(hp3_load_to(rig.e, HP3_ENDS(&q), got, PATHS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(the_path_that_is_least_used_at_the_peer),
		RIG_TEST(a_better_answer_beats_counts),
		RIG_TEST(queue_pairs_spread),
		RIG_TEST(queue_pairs_of_a_peer_part_by_themselves),
		RIG_TEST(the_worse_of_both_ends_counts),
		RIG_TEST(what_the_peer_told_gets_old),
		RIG_TEST(an_unknown_probe_tells_nothing),
		RIG_TEST(active_flows_count_until_they_are_idle),
		RIG_TEST(inbound_counts_are_the_sum_over_peers),
		RIG_TEST(a_pair_that_is_gone_is_forgotten),
		RIG_TEST(without_placement_nothing_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
