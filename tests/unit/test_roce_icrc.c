/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICRC and rewriting as properties: against a bit-by-bit reference, over random frames of every
 * length class, IPv4 and IPv6, tags, options, pad, with UDP checksum and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "roce/crc.h"
#include "roce/icrc.h"
#include "roce/opcode.h"
#include "roce_frames.h"

#define SEED 0x1c2c0ffeu

static uint8_t frame[FRAME_CAP], before[FRAME_CAP];
static const char *at_start; /* instructions in use */

static void crc_known_value(void **state)
{
	assert_int_equal(~hp3_crc_update(0xffffffff, "123456789", 9), 0xcbf43926);
	assert_int_equal(
		hp3_crc_update(0xffffffff, "\xff\xff\xff\xff\xff\xff\xff\xff", 8), 0xdebb20e3);
}

static void powers_and_products(void **state)
{
	struct rng r = {SEED};
	uint8_t zero[64] = {0};

	assert_int_equal(hp3_crc_pow_low[0], HP3_CRC_ONE);
	assert_int_equal(hp3_crc_pow_high[1], hp3_crc_pow_low[HP3_CRC_POW_STEP]);
	for (int i = 0; i < 100000; i++) {
		uint32_t a = (uint32_t)rng_next(&r), b = (uint32_t)rng_next(&r);
		uint32_t n = rng_below(&r, sizeof(zero) + 1);
		uint32_t x = rng_below(&r, HP3_CRC_POW_LOW / 2), y = rng_below(&r, 2000);
		uint32_t ab = hp3_crc_mul(a, b);

		assert_int_equal(ab, hp3_crc_mul(b, a));
		assert_int_equal(hp3_crc_mul(a, HP3_CRC_ONE), a);
		assert_int_equal(hp3_crc_mul(a, hp3_crc_pow_low[n]), hp3_crc_update(a, zero, n));
		assert_int_equal(hp3_crc_mul(hp3_crc_pow_low[x], hp3_crc_pow_low[y]),
			hp3_crc_pow_low[x + y]);
		uint16_t c = (uint16_t)a;
		uint32_t cb = hp3_crc_mul((uint32_t)c << 16, b);
		assert_int_equal(hp3_crc_mul16_portable(c, b), cb);
#ifdef HP3_CRC_CLMUL
		if (hp3_crc_cpu() & HP3_ICRC_CLMUL)
			assert_int_equal(hp3_crc_mul16_clmul(c, b), cb);
#endif
	}
}

#ifdef HP3_CRC_CRC32
/* Every length and alignment, from registers in which every bit is set at some time. */
static void update_by_instruction(void **state)
{
	struct rng r = {SEED + 6};
	uint8_t data[80];

	if (!(hp3_crc_cpu() & HP3_ICRC_CRC32))
		return;
	for (int i = 0; i < 100000; i++) {
		uint32_t at = rng_below(&r, 9), n = rng_below(&r, 72), crc = (uint32_t)rng_next(&r);

		for (uint32_t k = 0; k < n; k++)
			data[at + k] = (uint8_t)rng_next(&r);
		assert_int_equal(
			hp3_crc_update_crc32(crc, data + at, n), hp3_crc_update(crc, data + at, n));
	}
}
#endif

/* The view still tells the truth, the ICRC and UDP checksum are right, by reference. */
static void check_frame(uint32_t len, const struct hp3_view *v)
{
	struct hp3_view fresh;

	hp3_parse(frame, len, &fresh);
	assert_memory_equal(v, &fresh, sizeof(fresh));
	uint32_t icrc = reference_icrc(frame, v->l3_off, v->udp_off, v->icrc_off), stored;
	memcpy(&stored, frame + v->icrc_off, sizeof(stored));
	assert_int_equal(stored, icrc);
	assert_int_equal(hp3_icrc(frame, v), icrc);
	assert_true(hp3_icrc_ok(frame, v));
	uint16_t csum = hp3_be16(frame + v->udp_off + 6);
	if (v->flags & HP3_VF_UDP_CSUM)
		assert_int_equal(csum, reference_udp_csum(frame, v->l3_off, v->udp_off));
	else
		assert_int_equal(csum, 0);
}

/* Puts back what a change may touch; then everything must be as it was. */
static void check_rest_untouched(uint32_t len, const struct hp3_view *v, bool port)
{
	static uint8_t f[FRAME_CAP];

	memcpy(f, frame, len);
	memcpy(f + v->udp_off, before + v->udp_off, 2);
	memcpy(f + v->udp_off + 6, before + v->udp_off + 6, 2);
	f[v->udp_off + 12] =
		(uint8_t)((f[v->udp_off + 12] & 0xbf) | (before[v->udp_off + 12] & 0x40));
	f[v->udp_off + 16] =
		(uint8_t)((f[v->udp_off + 16] & 0x7f) | (before[v->udp_off + 16] & 0x80));
	memcpy(f + v->icrc_off, before + v->icrc_off, 4);
	if (port && v->flags & HP3_VF_IPV6) {
		assert_int_equal(
			hp3_be32(frame + v->l3_off) & 0xfffff, hp3_sport_to_flow_label(v->sport));
		f[v->l3_off + 1] =
			(uint8_t)((f[v->l3_off + 1] & 0xf0) | (before[v->l3_off + 1] & 0x0f));
		memcpy(f + v->l3_off + 2, before + v->l3_off + 2, 2);
	}
	assert_memory_equal(f, before, len);
}

static void change_and_check(const struct shape *s, struct rng *r)
{
	struct hp3_view v;
	uint32_t len = make_frame(frame, s, r);

	hp3_parse(frame, len, &v);
	assert_int_equal(v.reason, HP3_PARSE_OK);
	check_frame(len, &v);
	memcpy(before, frame, len);

	uint16_t port = (uint16_t)rng_next(r);
	bool moved = port != v.sport, on = rng_below(r, 2);
	switch (rng_below(r, 4)) {
	case 0:
		hp3_set_sport(frame, &v, port);
		assert_int_equal(v.sport, port);
		break;
	case 1:
		hp3_set_ackreq(frame, &v, on);
		assert_int_equal(!!(v.flags & HP3_VF_ACKREQ), on);
		moved = false;
		break;
	case 2:
		hp3_set_sport_ackreq(frame, &v, port, on);
		assert_int_equal(v.sport, port);
		assert_int_equal(!!(v.flags & HP3_VF_ACKREQ), on);
		break;
	default:
		hp3_set_becn(frame, &v, on);
		assert_int_equal(!!(v.flags & HP3_VF_BECN), on);
		moved = false;
	}
	check_frame(len, &v);
	check_rest_untouched(len, &v, moved);
}

static void incremental_is_full(void **state)
{
	struct rng r = {SEED + 1};

	for (int i = 0; i < 20000; i++) {
		struct shape s = random_shape(&r, 300);
		change_and_check(&s, &r);
	}
	for (uint16_t n = 0; n <= 4200; n++) { /* every length up to the largest MTU and beyond */
		struct shape s = random_shape(&r, 0);
		s.opcode = HP3_OP_RC_WRITE_ONLY_IMM;
		s.payload = n;
		change_and_check(&s, &r);
	}
	for (int i = 0; i < 300; i++) { /* up to 64 KiB: past the table of powers */
		struct shape s = random_shape(&r, 0);
		s.opcode = HP3_OP_RC_SEND_LAST;
		s.payload = (uint16_t)(4000 + rng_below(&r, 61200));
		change_and_check(&s, &r);
	}
}

/* A UDP checksum of 0 would mean "none": where the sum comes out so, it must read 0xffff. */
static void udp_csum_never_becomes_zero(void **state)
{
	struct rng r = {SEED + 2};
	struct shape s = {.opcode = HP3_OP_RC_SEND_ONLY, .payload = 8, .udp_csum = true};
	unsigned all_ones = 0;

	for (int i = 0; i < 4; i++) {
		struct hp3_view v;
		uint32_t len = make_frame(frame, &s, &r);
		hp3_parse(frame, len, &v);
		for (uint32_t port = 0; port < 65536; port++) {
			hp3_set_sport(frame, &v, (uint16_t)port);
			uint16_t csum = hp3_be16(frame + v.udp_off + 6);
			assert_int_not_equal(csum, 0);
			if (csum == 0xffff) {
				all_ones++;
				check_frame(len, &v);
			}
		}
	}
	assert_int_not_equal(all_ones, 0);
}

static void bad_stays_bad(void **state)
{
	struct rng r = {SEED + 3};

	for (int i = 0; i < 5000; i++) {
		struct shape s = random_shape(&r, 200);
		struct hp3_view v;
		uint32_t len = make_frame(frame, &s, &r), wrong = 0, stored;
		hp3_parse(frame, len, &v);
		while (!wrong)
			wrong = (uint32_t)rng_next(&r);
		memcpy(&stored, frame + v.icrc_off, 4);
		stored ^= wrong;
		memcpy(frame + v.icrc_off, &stored, 4);
		assert_false(hp3_icrc_ok(frame, &v));
		hp3_set_sport_ackreq(frame, &v, (uint16_t)rng_next(&r), rng_below(&r, 2));
		memcpy(&stored, frame + v.icrc_off, 4);
		assert_int_equal(stored ^ hp3_icrc(frame, &v), wrong);

		if (v.flags & HP3_VF_UDP_CSUM)
			store_udp_csum(frame, v.l3_off, v.udp_off);
		hp3_icrc_store(frame, &v);
		check_frame(len, &v);
	}
}

/* Bits that the network may change (annex A17.3.3), as a mask for the byte at `at`. */
static uint8_t masked_bits(const struct hp3_view *v, uint32_t at)
{
	static const uint8_t ipv4[] = {[1] = 0xff, [8] = 0xff, [10] = 0xff, [11] = 0xff};
	static const uint8_t ipv6[] = {[0] = 0x0f, [1] = 0xff, [2] = 0xff, [3] = 0xff, [7] = 0xff};

	if (at < v->l3_off)
		return 0xff;
	uint32_t ip = at - v->l3_off;
	if (v->flags & HP3_VF_IPV6 && ip < sizeof(ipv6))
		return ipv6[ip];
	if (!(v->flags & HP3_VF_IPV6) && ip < sizeof(ipv4))
		return ipv4[ip];
	if (at == v->udp_off + 6u || at == v->udp_off + 7u || at == v->udp_off + 12u)
		return 0xff;
	return 0;
}

static void every_bit(void **state)
{
	struct rng r = {SEED + 4};

	for (int i = 0; i < 200; i++) {
		struct shape s = random_shape(&r, 40);
		struct hp3_view v;
		uint32_t len = make_frame(frame, &s, &r), masked = 0;
		hp3_parse(frame, len, &v);
		for (uint32_t bit = 0; bit < len * 8; bit++) {
			uint8_t m = (uint8_t)(1u << bit % 8);
			bool free_to_change = masked_bits(&v, bit / 8) & m;
			frame[bit / 8] ^= m;
			if (hp3_icrc_ok(frame, &v) != free_to_change)
				fail_msg("byte %u, bit %u", bit / 8, bit % 8);
			frame[bit / 8] ^= m;
			masked += free_to_change;
		}
		assert_int_equal(masked, v.l3_off * 8 + 24 + (s.ipv6 ? 36 : 32));
	}
}

/* A frame that has the port and AckReq already keeps all its bytes, the flow label of its host too.
 */
static void same_port_keeps_the_label(void **state)
{
	struct rng r = {SEED + 5};

	for (int i = 0; i < 1000; i++) {
		struct shape s = random_shape(&r, 40);
		struct hp3_view v;
		uint32_t len = make_frame(frame, &s, &r);
		hp3_parse(frame, len, &v);
		if (s.ipv6)
			frame[v.l3_off + 3] ^= 0x5a;
		memcpy(before, frame, len);
		hp3_set_sport_ackreq(frame, &v, v.sport, v.flags & HP3_VF_ACKREQ);
		assert_memory_equal(frame, before, len);

		/* AckReq alone moves nothing: the label stays then too. */
		hp3_set_ackreq(frame, &v, !(v.flags & HP3_VF_ACKREQ));
		assert_memory_equal(frame + v.l3_off, before + v.l3_off, 8);
	}
}

/* 20 bits of label fold into 14 bits of port (ibv_flow_label_to_udp_sport). */
static uint32_t port_of(uint32_t label)
{
	return ((label & 0x3fff) ^ (label >> 14 & 0x3f)) | 0xc000;
}

static void flow_label_and_port_agree(void **state)
{
	for (uint32_t port = 0xc000; port <= 0xffff; port++) {
		uint32_t label = hp3_sport_to_flow_label((uint16_t)port);
		assert_in_range(label, 1, 0xfffff);
		assert_int_equal(port_of(label), port);
	}
}

static void everything_from_the_start(void **state)
{
	hp3_icrc_use(0);
	assert_string_equal(hp3_icrc_in_use(), "portable");
	assert_int_equal(hp3_icrc_use(UINT32_MAX), hp3_crc_cpu());
	assert_string_equal(hp3_icrc_in_use(), at_start);
}

int main(void)
{
	const struct CMUnitTest first[] = {cmocka_unit_test(everything_from_the_start)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_known_value),
		cmocka_unit_test(powers_and_products),
#ifdef HP3_CRC_CRC32
		cmocka_unit_test(update_by_instruction),
#endif
		cmocka_unit_test(incremental_is_full),
		cmocka_unit_test(udp_csum_never_becomes_zero),
		cmocka_unit_test(bad_stays_bad),
		cmocka_unit_test(every_bit),
		cmocka_unit_test(same_port_keeps_the_label),
		cmocka_unit_test(flow_label_and_port_agree),
	};
	int failed;

	at_start = hp3_icrc_in_use();
	failed = cmocka_run_group_tests(first, NULL, NULL);
	print_message("seed 0x%x\n", SEED);
	for (uint32_t use = 0; use <= (HP3_ICRC_CLMUL | HP3_ICRC_CRC32); use++) {
		if (hp3_icrc_use(use) != use)
			print_message("this CPU or build lacks some of: %#x\n", use);
		else
			failed += cmocka_run_group_tests_name(hp3_icrc_in_use(), tests, NULL, NULL);
	}
	return failed;
}
