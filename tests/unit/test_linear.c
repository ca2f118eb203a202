/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The linear solver against real switch hashes: an accepted map is right for all 16,384 ports; a
 * hash that is not linear is refused; no map is accepted on too few traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "sim/fabric/hash.h"
#include "ppp/linear.h"

#define SEED 0x11ea5u

static struct hp3_tuple random_pair(uint64_t *rng)
{
	struct hp3_tuple t = {.ipv6 = hp3_random_below(rng, 2), .dport = 4791};

	for (unsigned i = 0; i < 16; i++) {
		t.src[i] = (uint8_t)hp3_random(rng);
		t.dst[i] = (uint8_t)hp3_random(rng);
	}
	t.qpn = hp3_random_below(rng, 1 << 24);
	return t;
}

static struct sim_hash random_linear_hash(uint64_t *rng, uint32_t paths)
{
	return (struct sim_hash){.kind = (uint8_t)hp3_random_below(rng, SIM_HASH_MURMUR3),
		.seed = (uint32_t)hp3_random(rng),
		.qpn = hp3_random_below(rng, 2),
		.paths = (uint16_t)paths};
}

static uint32_t hop(const struct sim_hash *h, struct hp3_tuple t, uint16_t port)
{
	t.sport = port;
	return sim_hash_hop(h, &t);
}

/* Names of paths: an arbitrary one-to-one map of indices. */
static uint32_t name_of(uint32_t index)
{
	return 0x0a000001u + (index * 0x9e3779b1u >> 4);
}

/* Traces what the solver asks for until it believes or refuses. */
static unsigned solve(struct hp3_linear *l, const struct sim_hash *h, const struct hp3_tuple *t)
{
	unsigned traces = 0;

	while (l->state == HP3_LINEAR_TRACING || l->state == HP3_LINEAR_VERIFYING) {
		uint16_t port = hp3_linear_next(l);
		uint32_t index = hop(h, *t, port), label;

		assert_true(port >= HP3_PORT_FIRST);
		assert_false(hp3_linear_path(l, port, &label));
		hp3_linear_add(l, port, l->labels == HP3_LABELS_INDEX ? index : name_of(index));
		assert_true(++traces <= HP3_LINEAR_TRACES);
	}
	return traces;
}

static void assert_map(const struct hp3_linear *l, const struct sim_hash *h,
	const struct hp3_tuple *t, uint16_t shift)
{
	for (uint32_t i = 0; i < HP3_PORT_COUNT; i++) {
		uint16_t port = (uint16_t)(HP3_PORT_FIRST + i);
		uint32_t index = hop(h, *t, port), label;

		assert_true(hp3_linear_path(l, port ^ shift, &label));
		assert_int_equal(label, l->labels == HP3_LABELS_INDEX ? index : name_of(index));
	}
}

/* 1 + 14 traces fix the map where indices are seen. */
static void indices_of_all_ports_from_15_traces(void **state)
{
	uint64_t rng = SEED;

	for (unsigned run = 0; run < 60; run++) {
		uint32_t paths = 2u << run % 6;
		struct sim_hash h = random_linear_hash(&rng, paths);
		struct hp3_tuple t = random_pair(&rng);
		struct hp3_linear l;

		assert_int_equal(
			hp3_linear_init(&l, HP3_LABELS_INDEX, paths, run), HP3_LINEAR_TRACING);
		for (unsigned i = 0; i < 15; i++) {
			uint16_t port = hp3_linear_next(&l);

			assert_int_equal(l.state, HP3_LINEAR_TRACING);
			assert_int_equal(l.reason, HP3_LINEAR_WHY_TOO_FEW);
			hp3_linear_add(&l, port, hop(&h, t, port));
		}
		assert_int_equal(l.state, HP3_LINEAR_VERIFYING);
		assert_int_equal(l.reason, HP3_LINEAR_WHY_UNCONFIRMED);
		assert_int_equal(solve(&l, &h, &t), HP3_LINEAR_PROOF);
		assert_int_equal(l.state, HP3_LINEAR_BELIEVED);
		assert_map(&l, &h, &t, 0);
	}
}

/* Hop addresses instead of indices: an unknown permutation. paths + 14 - log2(paths) traces. */
static void names_of_all_ports(void **state)
{
	uint64_t rng = SEED + 1;

	for (unsigned run = 0; run < 60; run++) {
		unsigned bits = 1 + run % 6;
		struct sim_hash h = random_linear_hash(&rng, 1u << bits);
		struct hp3_tuple t = random_pair(&rng);
		struct hp3_linear l;
		unsigned traces;

		hp3_linear_init(&l, HP3_LABELS_NAME, 1u << bits, run);
		traces = solve(&l, &h, &t);
		assert_int_equal(l.state, HP3_LINEAR_BELIEVED);
		assert_map(&l, &h, &t, 0);
		assert_int_equal(
			traces, (1u << bits) + 14 - bits + (HP3_LINEAR_PROOF + bits - 1) / bits);
	}
}

/* Only an upper bound of the paths is known; whoever traces takes any ports in any order. */
static void any_ports_in_any_order(void **state)
{
	uint64_t rng = SEED + 2;

	for (unsigned run = 0; run < 40; run++) {
		struct sim_hash h = random_linear_hash(&rng, 2u << run % 4);
		struct hp3_tuple t = random_pair(&rng);
		struct hp3_linear l;

		hp3_linear_init(&l, run & 1 ? HP3_LABELS_INDEX : HP3_LABELS_NAME, 64, run);
		while (l.state == HP3_LINEAR_TRACING || l.state == HP3_LINEAR_VERIFYING) {
			uint16_t port = hp3_random_port(&rng);
			uint32_t index = hop(&h, t, port);

			hp3_linear_add(&l, port, run & 1 ? index : name_of(index));
		}
		assert_int_equal(l.state, HP3_LINEAR_BELIEVED);
		assert_map(&l, &h, &t, 0);
	}
}

/* The hash ignores the port: one path for all, and that is what is found. */
static void one_path_only(void **state)
{
	struct hp3_linear l;
	uint32_t label;

	hp3_linear_init(&l, HP3_LABELS_NAME, 64, SEED);
	while (l.state == HP3_LINEAR_TRACING || l.state == HP3_LINEAR_VERIFYING)
		hp3_linear_add(&l, hp3_linear_next(&l), 77);
	assert_int_equal(l.state, HP3_LINEAR_BELIEVED);
	assert_int_equal(l.rank, HP3_PORT_BITS);
	assert_true(hp3_linear_path(&l, 0xffff, &label));
	assert_int_equal(label, 77);
}

/* murmur3 is refused whatever it is traced with; it never gets as far as belief. */
static void refuses_a_hash_that_is_not_linear(void **state)
{
	uint64_t rng = SEED + 3;

	for (unsigned run = 0; run < 3000; run++) {
		uint32_t paths = 2u << run % 6;
		struct sim_hash h = {
			.kind = SIM_HASH_MURMUR3, .seed = run, .paths = (uint16_t)paths};
		struct hp3_tuple t = random_pair(&rng);
		struct hp3_linear l;

		hp3_linear_init(&l, run & 1 ? HP3_LABELS_INDEX : HP3_LABELS_NAME, paths, run);
		solve(&l, &h, &t);
		assert_int_equal(l.state, HP3_LINEAR_REFUSED);
		assert_true(l.reason == HP3_LINEAR_WHY_CONTRADICTION);
	}
}

/* A linear hash modulo 3, 5, 6, 7, 12, ... is not linear any more. */
static void refuses_a_modulo_that_is_no_power_of_two(void **state)
{
	static const uint16_t modulo[] = {3, 5, 6, 7, 9, 12, 14, 20, 24, 33, 48, 60};
	uint64_t rng = SEED + 4;
	struct hp3_linear l;

	for (unsigned paths = 0; paths <= HP3_LINEAR_PATHS + 1; paths++) {
		bool power = paths >= 2 && paths <= HP3_LINEAR_PATHS && !(paths & (paths - 1));
		enum hp3_linear_state s = hp3_linear_init(&l, HP3_LABELS_INDEX, paths, 1);

		assert_int_equal(s, power ? HP3_LINEAR_TRACING : HP3_LINEAR_REFUSED);
		assert_int_equal(l.reason, power ? HP3_LINEAR_WHY_TOO_FEW : HP3_LINEAR_WHY_PATHS);
	}
	for (unsigned run = 0; run < 2400; run++) {
		/* The user does not know it: upper bound 64. */
		struct sim_hash h = {.kind = (uint8_t)(run / 24 % SIM_HASH_MURMUR3),
			.seed = (uint32_t)hp3_random(&rng),
			.paths = modulo[run % 12]};
		struct hp3_tuple t = random_pair(&rng);

		hp3_linear_init(&l, run / 12 & 1 ? HP3_LABELS_INDEX : HP3_LABELS_NAME, 64, run);
		solve(&l, &h, &t);
		assert_int_equal(l.state, HP3_LINEAR_REFUSED);
		assert_int_equal(l.reason, HP3_LINEAR_WHY_CONTRADICTION);
	}
}

static void refuses_contradictions(void **state)
{
	uint64_t rng = SEED + 5;
	struct sim_hash h = {.kind = SIM_HASH_CRC32, .paths = 8};
	struct hp3_tuple t = random_pair(&rng);
	struct hp3_linear l;
	uint32_t label;

	/* One port on two paths. */
	hp3_linear_init(&l, HP3_LABELS_NAME, 8, 1);
	hp3_linear_add(&l, 0xc000, 1);
	assert_int_equal(hp3_linear_add(&l, 0xc000, 1), HP3_LINEAR_TRACING);
	assert_int_equal(hp3_linear_add(&l, 0xc000, 2), HP3_LINEAR_REFUSED);
	assert_int_equal(l.reason, HP3_LINEAR_WHY_CHANGED);
	/* Refused is for good. */
	assert_int_equal(hp3_linear_add(&l, 0xc000, 1), HP3_LINEAR_REFUSED);
	assert_int_equal(l.reason, HP3_LINEAR_WHY_CHANGED);
	/* A label that cannot be, and more paths than there are. */
	hp3_linear_init(&l, HP3_LABELS_INDEX, 8, 1);
	hp3_linear_add(&l, 0xc000, 8);
	assert_int_equal(l.reason, HP3_LINEAR_WHY_LABEL);
	hp3_linear_init(&l, HP3_LABELS_NAME, 2, 1);
	for (uint16_t i = 0; i < 3; i++)
		hp3_linear_add(&l, 0xc000 + i, i);
	assert_int_equal(l.reason, HP3_LINEAR_WHY_MANY);
	/* A single wrong held-out trace, and a route change after belief. */
	for (unsigned wrong = 0; wrong < 2; wrong++) {
		hp3_linear_init(&l, HP3_LABELS_INDEX, 8, 1);
		while (l.state == HP3_LINEAR_TRACING ||
			(wrong && l.state == HP3_LINEAR_VERIFYING)) {
			uint16_t port = hp3_linear_next(&l);
			hp3_linear_add(&l, port, hop(&h, t, port));
		}
		uint16_t port = hp3_linear_next(&l);
		hp3_linear_add(&l, port, hop(&h, t, port) ^ 1);
		assert_int_equal(l.reason, HP3_LINEAR_WHY_CONTRADICTION);
		assert_false(hp3_linear_path(&l, port, &label));
	}
}

/* The same port again and again is no evidence, however often it fits. */
static void repeated_traces_prove_nothing(void **state)
{
	uint64_t rng = SEED + 6;
	struct sim_hash h = {.kind = SIM_HASH_CRC16_IBM, .paths = 4};
	struct hp3_tuple t = random_pair(&rng);
	struct hp3_linear l;

	hp3_linear_init(&l, HP3_LABELS_INDEX, 4, 1);
	while (l.state == HP3_LINEAR_TRACING) {
		uint16_t port = hp3_linear_next(&l);
		for (unsigned i = 0; i < 100; i++)
			hp3_linear_add(&l, port, hop(&h, t, port));
	}
	for (unsigned i = 0; i < 1000; i++)
		hp3_linear_add(&l, l.port[i % 15], l.label[i % 15]);
	assert_int_equal(l.state, HP3_LINEAR_VERIFYING);
	assert_int_equal(l.traces, 15);
}

/* Two stages with one polynomial and seeds of their own: names of whole paths, still one map. */
static void several_stages_by_name(void **state)
{
	static const uint32_t seeds[4] = {0x1111, 0x2222, 0x3333, 0x4444};
	uint64_t rng = SEED + 7;

	for (unsigned run = 0; run < 20; run++) {
		/* The core stage's polynomial sits in the high bits: CRC-16 against CRC-32. */
		const struct sim_stage stage[2] = {
			{.hash = {.kind = SIM_HASH_CRC32, .paths = 4, .seed = run}},
			{.hash = {.kind = SIM_HASH_CRC16_CCITT, .paths = 4}, .seeds = seeds},
		};
		struct hp3_tuple t = random_pair(&rng);
		struct sim_model m;
		struct hp3_linear l;
		uint32_t label;

		assert_int_equal(sim_model_init(&m, stage, 2), 0);
		hp3_linear_init(&l, HP3_LABELS_NAME, 16, run);
		while (l.state == HP3_LINEAR_TRACING || l.state == HP3_LINEAR_VERIFYING) {
			t.sport = hp3_linear_next(&l);
			hp3_linear_add(&l, t.sport, name_of(sim_model_path(&m, &t)));
		}
		assert_int_equal(l.state, HP3_LINEAR_BELIEVED);
		for (uint32_t i = 0; i < HP3_PORT_COUNT; i++) {
			t.sport = (uint16_t)(HP3_PORT_FIRST + i);
			assert_true(hp3_linear_path(&l, t.sport, &label));
			assert_int_equal(label, name_of(sim_model_path(&m, &t)));
		}
	}
}

/* One trace carries the map over to another pair of addresses behind the same switch. */
static void another_pair_is_a_shift(void **state)
{
	uint64_t rng = SEED + 8;

	for (unsigned run = 0; run < 20; run++) {
		struct sim_hash h = {.kind = (uint8_t)(run % 3), .paths = 8, .seed = run};
		struct hp3_tuple a = random_pair(&rng), b = random_pair(&rng);
		uint16_t port = hp3_random_port(&rng), shift;
		struct hp3_linear l;
		uint32_t label;

		b.ipv6 = a.ipv6;
		hp3_linear_init(&l, run & 1 ? HP3_LABELS_INDEX : HP3_LABELS_NAME, 8, run);
		label = hop(&h, b, port);
		if (!(run & 1))
			label = name_of(label);
		assert_false(hp3_linear_shift(&l, port, label, &shift));
		solve(&l, &h, &a);
		assert_true(hp3_linear_shift(&l, port, label, &shift));
		assert_map(&l, &h, &b, shift);
		assert_false(hp3_linear_shift(&l, port, 0xdead, &shift));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indices_of_all_ports_from_15_traces),
		cmocka_unit_test(names_of_all_ports),
		cmocka_unit_test(any_ports_in_any_order),
		cmocka_unit_test(one_path_only),
		cmocka_unit_test(refuses_a_hash_that_is_not_linear),
		cmocka_unit_test(refuses_a_modulo_that_is_no_power_of_two),
		cmocka_unit_test(refuses_contradictions),
		cmocka_unit_test(repeated_traces_prove_nothing),
		cmocka_unit_test(several_stages_by_name),
		cmocka_unit_test(another_pair_is_a_shift),
	};

	print_message("seed %#x\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
