/* SPDX-License-Identifier: BSD-3-Clause */
/* Builders: their packets parse as requested, every checksum is correct, and errors are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "roce/build.h"
#include "roce/icrc.h"
#include "roce_frames.h"

#define SEED 0xb111du

static const struct hp3_addressing ipv4 = {
	.dst_mac = {2, 0, 0, 0, 0, 2},
	.src_mac = {2, 0, 0, 0, 0, 1},
	.src_ip = {10, 9, 0, 1},
	.dst_ip = {10, 9, 0, 2},
	.tclass = 26 << 2 | HP3_ECN_ECT0,
	.ttl = 64,
	.sport = 0xc0de,
	.pkey = 0xffff,
};
static uint8_t buf[FRAME_CAP];

static struct hp3_view check(int len)
{
	struct hp3_view v;

	assert_true(len > 0);
	hp3_parse(buf, (uint32_t)len, &v);
	assert_int_equal(v.reason, HP3_PARSE_OK);
	assert_int_equal(v.icrc_off, len - 4);
	assert_true(hp3_icrc_ok(buf, &v));
	uint32_t icrc;
	memcpy(&icrc, buf + v.icrc_off, 4);
	assert_int_equal(icrc, reference_icrc(buf, v.l3_off, v.udp_off, v.icrc_off));
	assert_int_equal(v.sport, 0xc0de);
	assert_int_equal(v.pkey, 0xffff);
	return v;
}

static void cnp(void **state)
{
	static const uint8_t zero[16];
	struct hp3_view v = check(hp3_build_cnp(buf, sizeof(buf), &ipv4, 0x1234));

	assert_int_equal(v.class, HP3_CLASS_CNP);
	assert_int_equal(v.dest_qpn, 0x1234);
	assert_true(v.flags & HP3_VF_BECN);
	assert_int_equal(v.payload_len, sizeof(zero));
	assert_memory_equal(buf + v.udp_off + 20, zero, sizeof(zero));
}

static void ack_and_nak(void **state)
{
	static const uint8_t syndromes[] = {
		HP3_SYN_ACK | 31, HP3_SYN_RNR | 14, HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE};

	for (size_t i = 0; i < sizeof(syndromes); i++) {
		struct hp3_view v = check(hp3_build_ack(
			buf, sizeof(buf), &ipv4, 0xffffff, 0xabcdef, syndromes[i], 0x654321));
		assert_int_equal(v.class, HP3_CLASS_RC_REPLY);
		assert_int_equal(v.opcode, HP3_OP_RC_ACK);
		assert_int_equal(v.syndrome, syndromes[i]);
		assert_int_equal(v.msn, 0x654321);
		assert_int_equal(v.psn, 0xabcdef);
		assert_int_equal(v.dest_qpn, 0xffffff);
		assert_int_equal(v.payload_len, 0);
	}
}

static void write0(void **state)
{
	struct hp3_view v = check(hp3_build(buf, sizeof(buf), &ipv4,
		&(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_ONLY,
			.ackreq = true,
			.dest_qpn = 0x11,
			.psn = 0x22,
			.va = 0x1122334455667788,
			.rkey = 0x99aabbcc}));

	assert_int_equal(v.opcode, HP3_OP_RC_WRITE_ONLY);
	assert_int_equal(v.dma_len, 0);
	assert_int_equal(v.payload_len, 0);
	assert_true(v.flags & HP3_VF_ACKREQ);
	assert_int_equal(hp3_be64(buf + v.udp_off + 20), 0x1122334455667788);
	assert_int_equal(hp3_be32(buf + v.udp_off + 28), 0x99aabbcc);
}

/* A FLUSH has its FETH before the RETH. */
static void flush_request(void **state)
{
	const struct hp3_fields f = {.opcode = HP3_OP_RC_FLUSH,
		.feth = 0x201,
		.va = 0x1122334455667788,
		.rkey = 0x99aabbcc,
		.dma_len = 4096};
	struct hp3_view v = check(hp3_build(buf, sizeof(buf), &ipv4, &f));

	assert_int_equal(v.class, HP3_CLASS_RC_REQUEST);
	assert_int_equal(v.payload_len, 0);
	assert_int_equal(v.dma_len, 0); /* one PSN, whatever its length */
	assert_int_equal(hp3_be32(buf + v.udp_off + 20), 0x201);
	assert_int_equal(hp3_be64(buf + v.udp_off + 24), 0x1122334455667788);
	assert_int_equal(hp3_be32(buf + v.udp_off + 32), 0x99aabbcc);
	assert_int_equal(hp3_be32(buf + v.udp_off + 36), 4096);
}

/* Every opcode with every pad length, over IPv4, IPv6, a VLAN tag and two. */
static void every_opcode(void **state)
{
	static const uint8_t payload[] = "abcdefg";

	for (unsigned op = 0; op < 256; op++) {
		for (unsigned k = 0; k < 24; k++) {
			struct hp3_addressing a = ipv4;
			a.ipv6 = k & 1;
			uint32_t vlan = k < 8 ? 0 : k < 16 ? 0x123 : HP3_VLAN_AD | 0x456123;
			hp3_tags_make(vlan, 3, a.tag);
			struct hp3_fields f = {
				.opcode = (uint8_t)op, .dest_qpn = 7, .psn = 8, .payload = payload};
			f.payload_len =
				shape_has_payload((uint8_t)op) ? (uint16_t)(k / 2 % 4 + 4) : 0;
			int len = hp3_build(buf, sizeof(buf), &a, &f);
			if (hp3_opcodes[op].class == HP3_CLASS_ROCE_OTHER) {
				assert_int_equal(len, -EINVAL);
				continue;
			}
			struct hp3_view v = check(len);
			assert_int_equal(v.class, hp3_opcodes[op].class);
			assert_int_equal(v.vlan, vlan);
			assert_int_equal(v.tags, k / 8);
			for (unsigned t = 0; t < v.tags; t++)
				assert_int_equal(buf[14 + 4 * t] >> 5, 3);
			assert_int_equal(v.payload_len, op == HP3_OP_CNP ? 16 : f.payload_len);
			assert_memory_equal(buf + v.icrc_off - (-v.payload_len & 3) - v.payload_len,
				op == HP3_OP_CNP ? (const uint8_t[16]){0} : payload, v.payload_len);
			if (a.ipv6) {
				assert_int_equal(hp3_be32(buf + v.l3_off),
					0x6u << 28 | (uint32_t)a.tclass << 20 |
						hp3_sport_to_flow_label(a.sport));
			} else {
				uint16_t csum = hp3_be16(buf + v.l3_off + 10);
				store_ip_csum(buf + v.l3_off);
				assert_int_equal(csum, hp3_be16(buf + v.l3_off + 10));
			}
		}
	}
}

static void refused(void **state)
{
	static const uint8_t p[4];
	const struct hp3_fields good = {
		.opcode = HP3_OP_RC_SEND_ONLY, .payload = p, .payload_len = 4};
	struct hp3_fields f;

#define REFUSED(...)                                                                               \
	f = good;                                                                                  \
	__VA_ARGS__;                                                                               \
	assert_int_equal(hp3_build(buf, sizeof(buf), &ipv4, &f), -EINVAL)
	REFUSED(f.psn = 1u << 24);
	REFUSED(f.dest_qpn = 1u << 24);
	REFUSED(f.payload = NULL);
	REFUSED(f.opcode = HP3_OP_RC_ACK);
	REFUSED(f.opcode = HP3_OP_RC_READ_REQUEST);
	REFUSED(f.opcode = HP3_OP_RC_FETCH_ADD);
	REFUSED(f.opcode = HP3_OP_RC_ATOMIC_ACK);
	REFUSED(f.opcode = HP3_OP_CNP);
	REFUSED(f.opcode = HP3_OP_UD_SEND_ONLY, f.src_qpn = 1u << 24);
	REFUSED(f.opcode = HP3_OP_RC_READ_RESP_ONLY, f.msn = 1u << 24);
	REFUSED(f.opcode = 0x40);
	REFUSED(f.payload_len = 65535);
#undef REFUSED
	f = good;
	f.msn = 1u << 24; /* not carried by this opcode */
	int len = hp3_build(buf, sizeof(buf), &ipv4, &f);
	assert_true(len > 0);
	for (int cap = 0; cap < len; cap++) {
		uint8_t *b = test_malloc((size_t)cap + 1);
		assert_int_equal(hp3_build(b, (size_t)cap, &ipv4, &f), -ENOSPC);
		test_free(b);
	}
	assert_int_equal(hp3_build(buf, (size_t)len, &ipv4, &f), len);
}

/* Types, VLAN ids and priorities, as the frame has them. */
static void expect_tags(const struct hp3_addressing *a, const uint8_t *in, uint32_t tags)
{
	for (uint32_t i = 0; i < HP3_TAGS_MAX; i++) {
		assert_int_equal(a->tag[i].tpid, i < tags ? hp3_be16(in + 12 + 4 * i) : 0);
		assert_int_equal(a->tag[i].tci, i < tags ? hp3_be16(in + 14 + 4 * i) : 0);
	}
}

/* What is built from a frame's own addressing goes where the frame goes; a reply the other way
 * round. */
static void addressing(void **state)
{
	struct rng r = {SEED};
	static uint8_t in[FRAME_CAP];

	for (int i = 0; i < 2000; i++) {
		struct shape s = random_shape(&r, 30);
		s.tags = (uint8_t)rng_below(&r, 3);
		uint32_t len = make_frame(in, &s, &r), n = s.ipv6 ? 16 : 4;
		struct hp3_view v;
		struct hp3_addressing same, reply;
		hp3_parse(in, len, &v);
		const uint8_t *src = in + v.l3_off + (s.ipv6 ? 8 : 12), *dst = src + n;
		uint8_t tclass =
			s.ipv6 ? (uint8_t)(hp3_be16(in + v.l3_off) >> 4) : in[v.l3_off + 1];

		hp3_addressing_same(in, &v, &same);
		assert_memory_equal(same.dst_mac, in, 6);
		assert_memory_equal(same.src_mac, in + 6, 6);
		assert_memory_equal(same.src_ip, src, n);
		assert_memory_equal(same.dst_ip, dst, n);
		assert_int_equal(same.sport, v.sport);
		assert_int_equal(same.pkey, v.pkey);
		expect_tags(&same, in, s.tags);
		assert_int_equal(same.tclass >> 2, tclass >> 2);
		assert_int_equal(
			same.tclass & 3, (tclass & 3) == HP3_ECN_CE ? HP3_ECN_ECT0 : tclass & 3);
		assert_int_equal(same.ttl, in[v.l3_off + (s.ipv6 ? 7 : 8)]);

		hp3_addressing_reply(in, &v, 0xd00d, &reply);
		assert_memory_equal(reply.dst_mac, in + 6, 6);
		assert_memory_equal(reply.src_mac, in, 6);
		assert_memory_equal(reply.src_ip, dst, n);
		assert_memory_equal(reply.dst_ip, src, n);
		assert_int_equal(reply.sport, 0xd00d);
		assert_int_equal(reply.tclass, tclass & 0xfc);
		expect_tags(&reply, in, s.tags);
		assert_int_equal(reply.ipv6, s.ipv6);
		assert_true(reply.ttl > 1);
	}
}

/* Class of service: in both headers, in each tag, and nowhere else. */
static void service_class(void **state)
{
	for (uint32_t i = 0; i < 6 * 64; i++) {
		struct hp3_addressing a = ipv4, was;
		uint8_t dscp = (uint8_t)(i / 6), f[256];
		const uint32_t tags = i % 6 / 2;
		a.ipv6 = i & 1;
		if (tags > 0)
			a.tag[0] = (struct hp3_tag){HP3_TPID_8021AD, 0x7abc};
		if (tags > 1)
			a.tag[1] = (struct hp3_tag){HP3_TPID_8021Q, 0x9def};
		a.tclass = 26 << 2 | HP3_ECN_ECT0;
		was = a;
		hp3_addressing_class(&a, dscp);

		assert_true(hp3_build_udp(f, sizeof(f), &a, 4795, "hp3", 3) > 0);
		const uint8_t *ip = f + 14 + 4 * tags;
		assert_int_equal(a.ipv6 ? hp3_be16(ip) >> 4 & 0xff : ip[1], dscp << 2);
		if (tags > 0)
			assert_int_equal(hp3_be16(f + 14), dscp / 8 << 13 | 0x1abc);
		if (tags > 1)
			assert_int_equal(hp3_be16(f + 18), dscp / 8 << 13 | 0x1def);
		a.tclass = was.tclass;
		memcpy(a.tag, was.tag, sizeof(a.tag));
		assert_memory_equal(&a, &was, sizeof(a));
		hp3_addressing_class(&a, HP3_DSCP_KEPT);
		assert_memory_equal(&a, &was, sizeof(a));
	}
}

/* Every length, odd ones too: the checksum is what any host computes. */
static void rule_01_plain_udp(void **state)
{
	struct rng r = {SEED};

	for (uint32_t i = 0; i < 400; i++) {
		uint8_t payload[200];
		struct hp3_addressing a = ipv4;
		uint16_t len = (uint16_t)(i / 2);
		uint32_t udp = 14 + (i % 2 ? 40 : 20);
		struct hp3_view v;
		a.ipv6 = i % 2;
		for (uint32_t k = 0; k < len; k++)
			payload[k] = (uint8_t)rng_next(&r);
		int n = hp3_build_udp(buf, sizeof(buf), &a, 4795, payload, len);
		assert_int_equal(n, udp + 8 + len);
		hp3_parse(buf, (uint32_t)n, &v);
		assert_int_equal(v.reason, HP3_PARSE_NOT_ROCE);
		assert_int_equal(hp3_be16(buf + udp), 0xc0de);
		assert_int_equal(hp3_be16(buf + udp + 2), 4795);
		assert_int_equal(hp3_be16(buf + udp + 6), reference_udp_csum(buf, 14, udp));
		assert_memory_equal(buf + udp + 8, payload, len);
		assert_int_equal(
			hp3_build_udp(buf, (size_t)n - 1, &a, 4795, payload, len), -ENOSPC);
		assert_int_equal(
			hp3_build_udp(buf, sizeof(buf), &a, HP3_ROCE_UDP_PORT, payload, len),
			-EINVAL);
	}
	assert_int_equal(hp3_build_udp(buf, sizeof(buf), &ipv4, 4795, buf, 65535), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cnp),
		cmocka_unit_test(ack_and_nak),
		cmocka_unit_test(write0),
		cmocka_unit_test(flush_request),
		cmocka_unit_test(every_opcode),
		cmocka_unit_test(refused),
		cmocka_unit_test(addressing),
		cmocka_unit_test(service_class),
		cmocka_unit_test(rule_01_plain_udp),
	};
	print_message("seed 0x%x\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
