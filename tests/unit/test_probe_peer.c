/* SPDX-License-Identifier: BSD-3-Clause */
/* Peer probes on the wire: their format, and which are refused. Also the two kinds of probes that
 * RNICs answer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "probe_frames.h"
#include "roce/build.h"
#include "roce/icrc.h"

#define CLOCK 1700000000u
#define L3    14u

#define UC_WRITE_FIRST    0x26
#define UC_WRITE_ONLY_IMM 0x2b

static int read_probe(const struct frame *f, const struct hp3_probe_key *key, uint64_t clock)
{
	const struct hp3_probe_keys keys = {{*key}};
	struct hp3_peer_probe p;

	assert_true(hp3_peer_is(f->b, &f->v));
	return hp3_peer_read(PARSED(f), &keys, clock, &p);
}

/* Tags computed with another SipHash-2-4. */
static void wire_format(void **state)
{
	static const struct {
		bool ipv6;
		uint32_t ip_len, tag;
	} cases[] = {{false, 60, 0xacc5cb78}, {true, 80, 0x1e56c78b}};

	for (int i = 0; i < 2; i++) {
		struct frame f;
		make_probe(&f, cases[i].ipv6, 0xdeadbeef, CLOCK, &probe_key);
		const uint8_t *bth = f.b + f.v.udp_off + 8;
		assert_int_equal(f.len - L3, cases[i].ip_len);
		assert_int_equal(hp3_be16(bth + 12), 0x48a3);
		assert_int_equal(hp3_be16(bth + 14), CLOCK & 0xffff);
		assert_int_equal(hp3_be32(bth + 16), 0xdeadbeef);
		assert_int_equal(hp3_be32(bth + 20), cases[i].tag);
		assert_int_equal(f.len, f.v.icrc_off + HP3_ICRC_LEN);
	}
}

static void make_report(struct frame *f)
{
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct hp3_peer_probe p = {.dest_qpn = 0x1234,
		.psn = 0x777,
		.id = hp3_report_id(0xabcdef, 9),
		.time = CLOCK * 1000000ull + 5,
		.report = true};

	f->len = (uint32_t)hp3_peer_build(f->b, sizeof(f->b), &a, &p, &probe_key);
	reparse(f);
}

/* The same packet, with 12 bytes that it writes: its time, and the upper half of the tag. What it
 * says cannot be taken for what a probe says. */
static void a_report_names_its_senders_queue_pair(void **state)
{
	struct hp3_peer_probe p;
	struct frame f;
	uint8_t *va;

	make_report(&f);
	va = f.b + f.v.udp_off + 20;
	assert_true(hp3_peer_is(f.b, &f.v));
	assert_int_equal(f.v.opcode, HP3_OP_UC_WRITE_ONLY);
	assert_int_equal(hp3_be16(va), 0x48a4);
	assert_int_equal(f.len - L3, HP3_PEER_IP_LEN4 + 12);
	assert_int_equal(hp3_be32(va + 8), 0xd8d662c5);
	assert_int_equal(hp3_be32(va + 12), 12); /* DMA length */
	assert_int_equal(hp3_be64(va + 16), CLOCK * 1000000ull + 5);
	assert_int_equal(hp3_be32(va + 24), 0x40c5a5d5);
	assert_true(hp3_icrc_ok(f.b, &f.v));
	assert_int_equal(hp3_peer_read(PARSED(&f), &probe_keys, CLOCK, &p), 0);
	assert_true(p.report);
	assert_int_equal(hp3_report_qpn(p.id), 0xabcdef);
	assert_int_equal(p.dest_qpn, 0x1234);
	for (uint32_t bit = 0; bit < 128; bit++) { /* of tag and time */
		uint8_t *at = va + (bit < 32 ? 8 : 12) + bit / 8;

		*at ^= (uint8_t)(1 << bit % 8);
		hp3_icrc_store(f.b, &f.v);
		assert_int_equal(read_probe(&f, &probe_key, CLOCK), -EACCES);
		*at ^= (uint8_t)(1 << bit % 8);
	}
	hp3_put_be16(va, 0x48a3); /* a probe that is as long */
	reparse(&f);
	hp3_icrc_store(f.b, &f.v);
	assert_true(hp3_peer_is(f.b, &f.v));
	assert_int_equal(read_probe(&f, &probe_key, CLOCK), -EACCES);
	hp3_put_be32(va + 12, 0);
	f.len -= 12;
	hp3_put_be16(f.b + L3 + 2, (uint16_t)(f.len - L3));
	store_ip_csum(f.b + L3);
	hp3_put_be16(f.b + L3 + 24, (uint16_t)(f.len - L3 - 20));
	reparse(&f);
	hp3_icrc_store(f.b, &f.v);
	assert_true(hp3_peer_is(f.b, &f.v));
	assert_int_equal(read_probe(&f, &probe_key, CLOCK), -EACCES);
}

/* The upper three bits of an opcode are its transport service, 0 that of reliable connections: a
 * queue pair of that kind drops what has another one. */
static void rule_01_peer_probe_is_nothing_to_a_reliable_connection(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct frame f;
		make_probe(&f, ipv6, 1, CLOCK, &probe_key);
		assert_int_not_equal(f.b[f.v.udp_off + 8] & 0xe0, 0);
		assert_int_equal(f.b[f.v.udp_off + 8], 0x2a);
		assert_int_equal(f.v.class, HP3_CLASS_UC);
		assert_int_equal(f.v.opcode, HP3_OP_UC_WRITE_ONLY);
		assert_int_equal(f.v.payload_len, 0);
		assert_int_equal(f.v.dma_len, 0);
		assert_int_equal(f.v.psn, 0x777);
		assert_int_equal(f.v.dest_qpn, 0x1234);
		assert_false(f.v.flags & HP3_VF_ACKREQ);
		assert_true(hp3_icrc_ok(f.b, &f.v));
	}
}

/* What hp3d sent before, and whatever else of a reliable connection bears our magic. */
static void rule_01_no_probe_is_taken_from_a_reliable_connection(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct frame f;
		make_probe(&f, ipv6, 1, CLOCK, &probe_key);
		f.b[f.v.udp_off + 8] = HP3_OP_RC_WRITE_ONLY;
		reparse(&f);
		hp3_icrc_store(f.b, &f.v);
		assert_int_equal(f.v.class, HP3_CLASS_RC_REQUEST);
		assert_int_equal(hp3_peer_va(f.b, &f.v) >> 56, HP3_PEER_MAGIC);
		assert_false(hp3_peer_is(f.b, &f.v));
	}
}

/* Canonical: bits 63 .. n-1 are all alike, for address spaces of n = 48, 52 and 57 bits. */
static void va_is_no_virtual_address(void **state)
{
	struct rng r = {1};

	for (int i = 0; i < 1000; i++) {
		struct frame f;
		make_probe(&f, false, (uint32_t)rng_next(&r), rng_next(&r), &probe_key);
		for (int bits = 48; bits <= 57; bits++) {
			int64_t top = (int64_t)hp3_peer_va(f.b, &f.v) >> (bits - 1);
			assert_true(top != 0 && top != -1);
		}
	}
}

static void hashed_and_queued_like_the_data(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct hp3_addressing a = flow_addressing(ipv6, 0xd00d), got;
		struct hp3_peer_probe p = {.dest_qpn = 0xabcdef, .psn = 5};
		struct frame f;
		a.tag[0] = (struct hp3_tag){HP3_TPID_8021AD, 0x6064};
		a.tag[1] = (struct hp3_tag){HP3_TPID_8021Q, 0x4065};
		f.len = (uint32_t)hp3_peer_build(f.b, sizeof(f.b), &a, &p, &probe_key);
		reparse(&f);
		hp3_addressing_same(f.b, &f.v, &got);
		expect_same_way(&got, &a);
		assert_int_equal(got.pkey, a.pkey);
		assert_int_equal(f.v.dest_qpn, 0xabcdef);
		if (ipv6)
			assert_int_equal(hp3_be32(f.b + f.v.l3_off) & 0xfffff,
				hp3_sport_to_flow_label(0xd00d));
	}
}

/* Fields that the network may change (annex A17.3.3), as offsets from the IP header and behind it.
 */
static bool may_change(bool ipv6, uint32_t at)
{
	uint32_t udp = ipv6 ? 40 : 20;

	if (at == udp + 6 || at == udp + 7 || at == udp + 12)
		return true; /* UDP checksum, resv8a */
	return ipv6 ? at <= 3 || at == 7 : at == 1 || at == 8 || at == 10 || at == 11;
}

static void rule_06_damage_is_noticed(void **state)
{
	struct frame good, f;
	int noticed = 0;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		make_probe(&good, ipv6, 0x10203040, CLOCK, &probe_key);
		for (uint32_t bit = L3 * 8; bit < good.len * 8; bit++) {
			f = good;
			f.b[bit / 8] ^= (uint8_t)(1u << bit % 8);
			reparse(&f);
			if (!hp3_peer_is(f.b, &f.v))
				continue;
			if (may_change(ipv6, bit / 8 - L3))
				assert_int_equal(read_probe(&f, &probe_key, CLOCK), 0);
			else
				assert_int_equal(read_probe(&f, &probe_key, CLOCK), -EBADMSG);
			noticed++;
		}
	}
	assert_true(noticed > 600);
}

/* A forger repairs the ICRC, which needs no key. */
static void rule_06_forgery_is_noticed(void **state)
{
	struct frame good, f;
	int noticed = 0;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		uint32_t udp = ipv6 ? 40 : 20;
		make_probe(&good, ipv6, 0x10203040, CLOCK, &probe_key);
		for (uint32_t bit = L3 * 8; bit < (good.len - 4) * 8; bit++) {
			uint32_t at = bit / 8 - L3;
			bool address = ipv6 ? at >= 8 && at < 40 : at >= 12 && at < 20;
			bool covered = address || at - udp < 2 ||
				       (at - udp >= 13 && at - udp < 16) ||
				       (at - udp >= 17 && at - udp < 20) ||
				       (at - udp >= 22 && at - udp < 32);
			f = good;
			f.b[bit / 8] ^= (uint8_t)(1u << bit % 8);
			reparse(&f);
			if (!covered || !hp3_peer_is(f.b, &f.v))
				continue;
			hp3_icrc_store(f.b, &f.v);
			assert_int_equal(read_probe(&f, &probe_key, CLOCK), -EACCES);
			noticed++;
		}
	}
	assert_true(noticed > 400);
}

static void keys(void **state)
{
	struct hp3_probe_key other = probe_key;
	struct frame f;

	other.bytes[15] ^= 1;
	make_probe(&f, false, 7, CLOCK, &probe_key);
	assert_int_equal(read_probe(&f, &probe_key, CLOCK), 0);
	assert_int_equal(read_probe(&f, &other, CLOCK), -EACCES);
	assert_int_equal(read_probe(&f, &no_key, CLOCK), 0); /* who has none looks at none */
	make_probe(&f, false, 7, CLOCK, &no_key);
	assert_int_equal(read_probe(&f, &no_key, CLOCK), 0);
	assert_int_equal(read_probe(&f, &probe_key, CLOCK), -EACCES);
}

static void time_is_whole(void **state)
{
	static const int64_t apart[] = {0, 1, -1, 30, -30, 32767, -32768};
	struct hp3_peer_probe p;
	struct frame f;

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		uint64_t sent = CLOCK + (uint64_t)apart[i];
		make_probe(&f, true, 7, sent, &probe_key);
		assert_int_equal(hp3_peer_read(PARSED(&f), &probe_keys, CLOCK, &p), 0);
		assert_int_equal(p.time, sent);
	}
	make_probe(&f, true, 7, CLOCK, &probe_key);
	assert_int_equal(read_probe(&f, &probe_key, CLOCK + 65536), -EACCES);
	make_probe(&f, true, 7, CLOCK, &no_key);
	assert_int_equal(read_probe(&f, &no_key, CLOCK + 65536), 0);
	assert_int_equal(read_probe(&f, &no_key, 5), 0);
}

/* Zero-length writes of an application, and whatever else is not a probe. */
static void others_are_not_taken(void **state)
{
	static const uint64_t magic = 0x48a3ull << 48, report = 0x48a4ull << 48;
	static const uint8_t byte;
	const struct hp3_fields others[] = {
		{.opcode = HP3_OP_UC_WRITE_ONLY, .va = magic, .ackreq = true},
		{.opcode = HP3_OP_UC_WRITE_ONLY,
			.va = magic,
			.dma_len = 1,
			.payload = &byte,
			.payload_len = 1},
		{.opcode = HP3_OP_UC_WRITE_ONLY, .va = magic, .dma_len = 1},
		{.opcode = HP3_OP_UC_WRITE_ONLY, .va = report},
		{.opcode = HP3_OP_UC_WRITE_ONLY, .va = 0x4885ull << 48},
		{.opcode = HP3_OP_UC_WRITE_ONLY, .va = 0x4953ull << 48},
		{.opcode = HP3_OP_UC_WRITE_ONLY, .va = magic, .payload = &byte, .payload_len = 1},
		{.opcode = HP3_OP_UC_WRITE_ONLY, .va = 0x00007f0012345678},
		{.opcode = HP3_OP_UC_WRITE_ONLY, .va = 0xffff800012345678},
		{.opcode = UC_WRITE_ONLY_IMM, .va = magic},
		{.opcode = UC_WRITE_FIRST, .va = magic},
		{.opcode = HP3_OP_RC_WRITE_ONLY, .va = magic},
		{.opcode = HP3_OP_RC_WRITE_ONLY, .va = magic, .ackreq = true},
		{.opcode = HP3_OP_RC_WRITE_ONLY_IMM, .va = magic},
		{.opcode = HP3_OP_RC_WRITE_FIRST, .va = magic},
		{.opcode = HP3_OP_RC_READ_REQUEST, .va = magic},
		{.opcode = HP3_OP_RC_SEND_ONLY},
		{.opcode = HP3_OP_CNP},
	};
	struct hp3_addressing a = flow_addressing(false, 0xc000);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct frame f;
		f.len = (uint32_t)hp3_build(f.b, sizeof(f.b), &a, &others[i]);
		reparse(&f);
		assert_true(f.v.class != HP3_CLASS_OTHER);
		assert_false(hp3_peer_is(f.b, &f.v));
	}
}

static void make_long(struct frame *f, bool ipv6, uint16_t pad)
{
	struct hp3_addressing a = flow_addressing(ipv6, 0xc123);
	struct hp3_peer_probe p = {
		.dest_qpn = 0x1234, .psn = 0x777, .id = 0xdeadbeef, .time = CLOCK, .pad = pad};

	f->len = (uint32_t)hp3_peer_build(f->b, sizeof(f->b), &a, &p, &probe_key);
	reparse(f);
}

/* As long as data: the payload is zeros, the tag speaks for how many. */
static void rule_33_as_long_as_data(void **state)
{
	static const uint16_t pads[] = {4, 256, 1024, HP3_PEER_PAD_MAX};
	struct hp3_peer_probe p;
	struct frame f;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		for (size_t i = 0; i < sizeof(pads) / sizeof(pads[0]); i++) {
			make_long(&f, ipv6, pads[i]);
			assert_int_equal(
				f.len - L3, (ipv6 ? HP3_PEER_IP_LEN6 : HP3_PEER_IP_LEN4) + pads[i]);
			assert_int_equal(f.v.payload_len, pads[i]);
			assert_int_equal(f.v.class, HP3_CLASS_UC);
			assert_true(hp3_peer_is(f.b, &f.v));
			assert_int_equal(hp3_peer_read(PARSED(&f), &probe_keys, CLOCK, &p), 0);
			assert_int_equal(p.pad, pads[i]);
			assert_int_equal(p.id, 0xdeadbeef);
		}
		assert_int_equal(hp3_be32(f.b + f.v.udp_off + 28),
			ipv6 ? 0x5e6398c8 : 0x755d1890); /* another SipHash-2-4 */
	}
}

/* Who cuts one on its way does not get it through as short. */
static void rule_33_a_cut_probe_is_forged(void **state)
{
	struct frame f;

	make_long(&f, false, 1024);
	f.len -= 512;
	hp3_put_be16(f.b + L3 + 2, (uint16_t)(f.len - L3));
	store_ip_csum(f.b + L3);
	hp3_put_be16(f.b + L3 + 24, (uint16_t)(f.len - L3 - 20));
	hp3_put_be32(f.b + f.v.udp_off + 32, 512);
	reparse(&f);
	hp3_icrc_store(f.b, &f.v);
	assert_int_equal(read_probe(&f, &probe_key, CLOCK), -EACCES);
	make_long(&f, false, HP3_PEER_PAD_MAX);
	f.v.dma_len = f.v.payload_len = HP3_PEER_PAD_MAX + 4;
	assert_false(hp3_peer_is(f.b, &f.v));
}

static void refused(void **state)
{
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct hp3_peer_probe p = {.psn = 1};
	uint8_t buf[HP3_BUILD_MAX_HDR];

	assert_int_equal(hp3_peer_build(buf, L3 + 59, &a, &p, &no_key), -ENOSPC);
	assert_int_equal(hp3_peer_build(buf, L3 + 60, &a, &p, &no_key), L3 + 60);
	p.pad = 6;
	assert_int_equal(hp3_peer_build(buf, sizeof(buf), &a, &p, &no_key), -EINVAL);
	p.pad = HP3_PEER_PAD_MAX + 4;
	assert_int_equal(hp3_peer_build(buf, sizeof(buf), &a, &p, &no_key), -EINVAL);
	p.pad = 0;
	p.psn = 0x1000000;
	assert_int_equal(hp3_peer_build(buf, sizeof(buf), &a, &p, &no_key), -EINVAL);
}

static void rule_02_standard_probe_is_a_duplicate_that_is_answered(void **state)
{
	struct hp3_addressing a = flow_addressing(true, 0xc111);
	struct frame f;

	f.len = (uint32_t)hp3_build(f.b, sizeof(f.b), &a,
		&(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_ONLY,
			.ackreq = true,
			.dest_qpn = 0x1234,
			.psn = 0xfffffe});
	reparse(&f);
	assert_int_equal(f.v.opcode, HP3_OP_RC_WRITE_ONLY);
	assert_int_equal(f.v.psn, 0xfffffe);
	assert_int_equal(f.v.dest_qpn, 0x1234);
	assert_int_equal(f.v.sport, 0xc111);
	assert_int_equal(f.v.dma_len + f.v.payload_len, 0);
	assert_true(f.v.flags & HP3_VF_ACKREQ);
	assert_true(hp3_icrc_ok(f.b, &f.v));
	assert_false(hp3_peer_is(f.b, &f.v));
	assert_int_equal(hp3_peer_va(f.b, &f.v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wire_format),
		cmocka_unit_test(a_report_names_its_senders_queue_pair),
		cmocka_unit_test(rule_01_peer_probe_is_nothing_to_a_reliable_connection),
		cmocka_unit_test(rule_01_no_probe_is_taken_from_a_reliable_connection),
		cmocka_unit_test(va_is_no_virtual_address),
		cmocka_unit_test(hashed_and_queued_like_the_data),
		cmocka_unit_test(rule_06_damage_is_noticed),
		cmocka_unit_test(rule_06_forgery_is_noticed),
		cmocka_unit_test(keys),
		cmocka_unit_test(time_is_whole),
		cmocka_unit_test(others_are_not_taken),
		cmocka_unit_test(rule_33_as_long_as_data),
		cmocka_unit_test(rule_33_a_cut_probe_is_forged),
		cmocka_unit_test(refused),
		cmocka_unit_test(rule_02_standard_probe_is_a_duplicate_that_is_answered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
