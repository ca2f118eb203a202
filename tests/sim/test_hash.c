/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash models: known answers (catalogue check values, and bit-by-bit references for whole tuples),
 * what each reads, linearity, and models of several stages.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "sim/fabric/hash.h"
#include "ppp/ports.h"

#define SEED 0x4a5eedu

static const struct hp3_tuple tuple4 = {.src = {10, 9, 0, 1},
	.dst = {10, 9, 0, 2},
	.sport = 0xc001,
	.dport = 4791,
	.qpn = 0x1c | 1 << 8};

static struct hp3_tuple random_tuple(uint64_t *rng)
{
	struct hp3_tuple t = {.ipv6 = hp3_random_below(rng, 2), .dport = 4791};

	for (unsigned i = 0; i < (t.ipv6 ? 16 : 4); i++) {
		t.src[i] = (uint8_t)hp3_random(rng);
		t.dst[i] = (uint8_t)hp3_random(rng);
	}
	t.sport = hp3_random_port(rng);
	t.qpn = hp3_random_below(rng, 1 << 24);
	return t;
}

/* Check values of the CRC catalogue and of MurmurHash3's own verification. */
static void known_answers_of_byte_strings(void **state)
{
	static const struct {
		enum sim_hash_kind kind;
		uint32_t seed;
		const char *text;
		uint32_t hash;
	} known[] = {
		{SIM_HASH_CRC32, 0xffffffff, "123456789", ~0xcbf43926u},
		{SIM_HASH_CRC16_CCITT, 0xffff, "123456789", 0x29b1},
		{SIM_HASH_CRC16_CCITT, 0, "123456789", 0x31c3}, /* XMODEM */
		{SIM_HASH_CRC16_IBM, 0, "123456789", 0xbb3d}, /* ARC */
		{SIM_HASH_CRC16_IBM, 0xffff, "123456789", 0x4b37}, /* MODBUS */
		{SIM_HASH_XOR, 0, "\x12\x34\x00\xff\x01", 0x13cb},
		{SIM_HASH_XOR, 0x00010002, "", 3},
		{SIM_HASH_MURMUR3, 0, "", 0},
		{SIM_HASH_MURMUR3, 1, "", 0x514e28b7},
		{SIM_HASH_MURMUR3, 0, "test", 0xba6bd213},
		{SIM_HASH_MURMUR3, 0, "Hello, world!", 0xc0363e43},
		{SIM_HASH_MURMUR3, 0x9747b28c, "The quick brown fox jumps over the lazy dog",
			0x2fa826cd},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].text);

		if (known[i].kind == SIM_HASH_XOR && n)
			n = 5;
		assert_int_equal(sim_hash_bytes(known[i].kind, known[i].seed, known[i].text, n),
			known[i].hash);
	}
}

static void known_answers_of_tuples(void **state)
{
	struct sim_hash h = {.kind = SIM_HASH_CRC32, .seed = 0x1234, .paths = 8};
	struct hp3_tuple t6 = {.ipv6 = true,
		.src = {0x20, 0x01, 0x0d, 0xb8, [15] = 1},
		.dst = {0x20, 0x01, 0x0d, 0xb8, [15] = 2},
		.sport = 0xc001,
		.dport = 4791,
		.qpn = 0x11c};

	assert_int_equal(sim_hash(&h, &tuple4), 0x274113c0);
	h.qpn = true;
	assert_int_equal(sim_hash(&h, &tuple4), 0xfc81cbfd);
	h.opcode = SIM_HASH_OPCODE | 0x0a;
	assert_int_equal(sim_hash(&h, &tuple4), 0x2325e674);
	h.opcode = 0;
	h = (struct sim_hash){.kind = SIM_HASH_MURMUR3, .seed = 7, .paths = 8};
	assert_int_equal(sim_hash(&h, &tuple4), 0xdd8ed8d5);
	assert_int_equal(sim_hash_hop(&h, &tuple4), 0xdd8ed8d5 % 8);
	h = (struct sim_hash){.kind = SIM_HASH_XOR, .seed = 0x1234abcd, .paths = 8};
	assert_int_equal(sim_hash(&h, &tuple4), 0x7a4c);
	h = (struct sim_hash){.kind = SIM_HASH_CRC16_CCITT, .seed = 0xffff, .paths = 8};
	assert_int_equal(sim_hash(&h, &t6), 0xceaa);
	h = (struct sim_hash){.kind = SIM_HASH_CRC16_IBM, .qpn = true, .paths = 8};
	assert_int_equal(sim_hash(&h, &t6), 0x0f7a);
}

/*
 * The ns-3 RDMA simulators: node n has address 0x0b000001 + (n << 8), source ports count from
 * 10000, destination ports from 100, seed = switch id, 8 spines.
 */
static void known_answers_of_the_ns3_layout(void **state)
{
	static const struct {
		uint32_t from, to;
		uint16_t sport, dport;
		uint32_t seed, hash, hop;
	} known[] = {
		{0, 127, 10000, 100, 128, 0x3da7cf8d, 5},
		{5, 40, 10003, 107, 128, 0x35a002c3, 3},
		{17, 99, 10010, 102, 129, 0x721cfccb, 3},
		{127, 0, 10001, 101, 135, 0xcc1a1d67, 7},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct sim_hash h = {.kind = SIM_HASH_MURMUR3,
			.input = SIM_INPUT_NS3,
			.paths = 8,
			.seed = known[i].seed};
		struct hp3_tuple t = {.src = {11, 0, (uint8_t)known[i].from, 1},
			.dst = {11, 0, (uint8_t)known[i].to, 1},
			.sport = known[i].sport,
			.dport = known[i].dport};

		assert_int_equal(sim_hash(&h, &t), known[i].hash);
		assert_int_equal(sim_hash_hop(&h, &t), known[i].hop);
	}
}

/* The QPN matters exactly where the switch is said to read it; all other fields always do. */
static void reads_what_it_says(void **state)
{
	uint64_t rng = SEED;

	for (unsigned i = 0; i < 2000; i++) {
		struct sim_hash h = {.kind = SIM_HASH_CRC32, .paths = 64};
		struct hp3_tuple a = random_tuple(&rng), b = a;

		b.qpn ^= 1u << hp3_random_below(&rng, 24);
		assert_int_equal(sim_hash(&h, &a), sim_hash(&h, &b));
		h.qpn = true;
		assert_int_not_equal(sim_hash(&h, &a), sim_hash(&h, &b));
		b = a;
		b.sport ^= (uint16_t)(1u << hp3_random_below(&rng, 16));
		assert_int_not_equal(sim_hash(&h, &a), sim_hash(&h, &b));
		b = a;
		b.src[hp3_random_below(&rng, a.ipv6 ? 16 : 4)] ^= 1;
		assert_int_not_equal(sim_hash(&h, &a), sim_hash(&h, &b));
		assert_true(sim_hash_hop(&h, &a) < h.paths);
		struct sim_hash seeded = h;
		seeded.seed = 1;
		assert_int_not_equal(sim_hash(&h, &a), sim_hash(&seeded, &a));
	}
}

/* H(p ^ d) = H(p) ^ H(d) ^ H(0) over the port holds for CRC and XOR, and not for murmur3. */
static void linear_are_crc_and_xor_only(void **state)
{
	uint64_t rng = SEED + 1;

	for (unsigned kind = 0; kind < SIM_HASH_KINDS; kind++) {
		unsigned broken = 0;

		for (unsigned i = 0; i < 1000; i++) {
			struct sim_hash h = {.kind = (uint8_t)kind,
				.seed = (uint32_t)hp3_random(&rng),
				.qpn = i & 1,
				.paths = 8};
			struct hp3_tuple t = random_tuple(&rng);
			uint16_t p = t.sport, d = (uint16_t)hp3_random(&rng);
			uint32_t sum = sim_hash(&h, &t);

			t.sport = d;
			sum ^= sim_hash(&h, &t);
			t.sport = 0;
			sum ^= sim_hash(&h, &t);
			t.sport = p ^ d;
			broken += sum != sim_hash(&h, &t);
		}
		if (kind == SIM_HASH_MURMUR3)
			assert_true(broken > 950);
		else
			assert_int_equal(broken, 0);
	}
}

/* Two stages: a leaf picks one of 4 spines, each spine, with a seed of its own, one of 2 cores. */
static void paths_of_several_stages(void **state)
{
	static const uint32_t seeds[4] = {11, 22, 33, 44};
	const struct sim_stage stage[2] = {
		{.hash = {.kind = SIM_HASH_CRC32, .paths = 4, .seed = 5}},
		{.hash = {.kind = SIM_HASH_MURMUR3, .paths = 2}, .seeds = seeds},
	};
	struct sim_model m;
	uint64_t rng = SEED + 2;
	uint32_t drawn = 0;

	assert_int_equal(sim_model_init(&m, stage, 2), 0);
	assert_int_equal(m.given.paths, 8);
	for (unsigned i = 0; i < 1000; i++) {
		struct hp3_tuple t = random_tuple(&rng);
		struct sim_hash core = stage[1].hash;
		uint32_t spine = sim_hash_hop(&stage[0].hash, &t);

		core.seed = seeds[spine];
		assert_int_equal(sim_model_path(&m, &t), spine * 2 + sim_hash_hop(&core, &t));
		assert_int_equal(m.given.path(&m.given, &t), sim_model_path(&m, &t));
		drawn |= 1u << sim_model_path(&m, &t);
	}
	assert_int_equal(drawn, 0xff);
}

static void refuses_models_without_sense(void **state)
{
	struct sim_stage stage[SIM_MODEL_STAGES + 1] = {{.hash = {.paths = 8}}};
	struct sim_model m;

	assert_int_equal(sim_model_init(&m, stage, 0), -EINVAL);
	assert_int_equal(sim_model_init(&m, stage, SIM_MODEL_STAGES + 1), -EINVAL);
	assert_int_equal(sim_model_init(&m, stage, 2), -EINVAL);
	stage[0].hash.kind = SIM_HASH_KINDS;
	assert_int_equal(sim_model_init(&m, stage, 1), -EINVAL);
	stage[0].hash = (struct sim_hash){.paths = SIM_MODEL_PATHS + 1};
	assert_int_equal(sim_model_init(&m, stage, 1), -E2BIG);
	stage[0].hash.paths = 1;
	assert_int_equal(sim_model_init(&m, stage, 1), -EDOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers_of_byte_strings),
		cmocka_unit_test(known_answers_of_tuples),
		cmocka_unit_test(known_answers_of_the_ns3_layout),
		cmocka_unit_test(reads_what_it_says),
		cmocka_unit_test(linear_are_crc_and_xor_only),
		cmocka_unit_test(paths_of_several_stages),
		cmocka_unit_test(refuses_models_without_sense),
	};

	print_message("seed %#x\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
