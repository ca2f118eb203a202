/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser: every class, every reason, and no access beyond the frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "roce/opcode.h"
#include "roce_frames.h"

#define SEED 0x9a45eu

static uint8_t frame[FRAME_CAP];

static uint32_t vlan_in(const uint8_t *f, uint32_t tags)
{
	uint32_t vlan = 0;

	for (uint32_t i = 0; i < tags; i++)
		vlan |= hp3_tag_vlan(i, hp3_be16(f + 12 + 4 * i), hp3_be16(f + 14 + 4 * i));
	return vlan;
}

static struct hp3_view parse(uint32_t len)
{
	struct hp3_view v;

	hp3_parse(guarded_copy(frame, len), len, &v);
	return v;
}

static void expect_reason(uint32_t len, enum hp3_parse_reason reason)
{
	struct hp3_view v = parse(len);

	assert_string_equal(hp3_parse_reason_name(v.reason), hp3_parse_reason_name(reason));
	assert_int_equal(v.class, HP3_CLASS_OTHER);
}

static uint32_t make(const struct shape *s)
{
	struct rng r = {SEED};
	return make_frame(frame, s, &r);
}

static void every_class(void **state)
{
	struct rng r = {SEED};

	for (unsigned op = 0; op < 256; op++) {
		struct shape s = {.opcode = (uint8_t)op, .ipv6 = op & 1, .tags = op % 3};
		const struct hp3_opcode_info *info = &hp3_opcodes[op];
		if (info->class == HP3_CLASS_ROCE_OTHER)
			s.opcode = HP3_OP_RC_SEND_ONLY;
		s.payload = shape_has_payload(s.opcode) ? 32 : 0;
		uint32_t len = make_frame(frame, &s, &r);
		uint32_t udp = len - hp3_opcodes[s.opcode].ext_len - s.payload - 24 -
			       (op == HP3_OP_CNP ? 16 : 0);
		frame[udp + 8] = (uint8_t)op;
		struct hp3_view v = parse(len);
		assert_int_equal(v.reason, HP3_PARSE_OK);
		assert_int_equal(v.class, info->class);
		assert_int_equal(v.opcode, op);
		assert_int_equal(v.flags & info->flags, info->flags);
		assert_int_equal(v.udp_off, udp);
		assert_int_equal(v.icrc_off, len - 4);
		assert_int_equal(v.payload_len, op == HP3_OP_CNP ? 16 : s.payload);
		assert_int_equal(v.l3_off, 14 + s.tags * 4);
		assert_int_equal(v.tags, s.tags);
		assert_int_equal(v.vlan, vlan_in(frame, s.tags));
		assert_int_equal(!!(v.flags & HP3_VF_IPV6), s.ipv6);
		if (info->ext & HP3_EXT_AETH) {
			assert_int_equal(v.syndrome, frame[udp + 20]);
			assert_int_equal(v.msn, hp3_be24(frame + udp + 21));
		}
		assert_int_equal(
			v.dma_len, info->ext & HP3_EXT_RETH ? hp3_be32(frame + udp + 32) : 0);
		if (info->class == HP3_CLASS_UD) {
			hp3_put_be24(frame + udp + 13, HP3_QPN_CM);
			assert_int_equal(parse(len).class, HP3_CLASS_CM);
		}
	}
}

static void marks_and_bits(void **state)
{
	static const uint16_t ecn[4] = {0, HP3_VF_ECT, HP3_VF_ECT, HP3_VF_CE};

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct shape s = {.opcode = HP3_OP_RC_ACK, .ipv6 = ipv6};
		uint32_t len = make(&s), bth = 14 + (ipv6 ? 40 : 20) + 8;
		for (unsigned bits = 0; bits < 256; bits++) {
			if (ipv6)
				hp3_put_be16(frame + 14, (uint16_t)(0x6000 | bits << 4));
			else
				frame[15] = (uint8_t)bits;
			frame[bth + 4] = (uint8_t)bits;
			frame[bth + 8] = (uint8_t)bits;
			struct hp3_view v = parse(len);
			assert_int_equal(v.flags & (HP3_VF_ECT | HP3_VF_CE), ecn[bits & 3]);
			assert_int_equal(!!(v.flags & HP3_VF_FECN), bits >> 7);
			assert_int_equal(!!(v.flags & HP3_VF_BECN), bits >> 6 & 1);
			assert_int_equal(!!(v.flags & HP3_VF_ACKREQ), bits >> 7);
		}
		assert_false(parse(len).flags & HP3_VF_UDP_CSUM);
		frame[bth - 1] = 1;
		assert_true(parse(len).flags & HP3_VF_UDP_CSUM);
		hp3_put_be16(frame + bth - 2, 0x0100);
		assert_true(parse(len).flags & HP3_VF_UDP_CSUM);
	}
}

/* Behind the IP packet may be Ethernet padding: it belongs to no header and no ICRC. */
static void ethernet_padding(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct shape s = {.opcode = HP3_OP_RC_ACK, .ipv6 = ipv6};
		uint32_t len = make(&s);
		struct hp3_view v = parse(len);
		for (uint32_t pad = 1; pad < 60; pad++) {
			struct hp3_view w = parse(len + pad);
			assert_memory_equal(&v, &w, sizeof(v));
		}
	}
}

/* A cut frame is never taken for RoCE, and reading it touches nothing behind the cut (guard page).
 */
static void truncation(void **state)
{
	struct rng r = {SEED + 1};

	for (int i = 0; i < 600; i++) {
		struct shape s = random_shape(&r, 60);
		uint32_t len = make_frame(frame, &s, &r);
		assert_int_equal(parse(len).reason, HP3_PARSE_OK);
		for (uint32_t n = 0; n < len; n++) {
			struct hp3_view v = parse(n);
			assert_int_equal(v.class, HP3_CLASS_OTHER);
			assert_int_equal(v.reason,
				n < 14 + s.tags * 4u ? HP3_PARSE_SHORT_ETHER : HP3_PARSE_SHORT_IP);
		}
	}
}

/* The same with IP and UDP lengths that agree with the cut: now BTH and extended headers are short.
 */
static void short_packets(void **state)
{
	unsigned seen[HP3_PARSE_REASON_MAX] = {0};
	struct rng r = {SEED + 2};

	for (int i = 0; i < 600; i++) {
		struct shape s = random_shape(&r, 20);
		uint32_t len = make_frame(frame, &s, &r);
		struct hp3_view full = parse(len);
		uint32_t ext = hp3_opcodes[s.opcode].ext_len,
			 pad = frame[full.udp_off + 9] >> 4 & 3;
		for (uint32_t n = full.udp_off; n < len; n++) {
			uint32_t udp_len = n - full.udp_off;
			hp3_put_be16(frame + full.l3_off + (s.ipv6 ? 4 : 2),
				(uint16_t)(n - full.l3_off - (s.ipv6 ? 40 : 0)));
			hp3_put_be16(frame + full.udp_off + 4, (uint16_t)udp_len);
			enum hp3_parse_reason want = udp_len < 8          ? HP3_PARSE_SHORT_UDP
						     : udp_len < 24       ? HP3_PARSE_SHORT_BTH
						     : udp_len < 24 + ext ? HP3_PARSE_SHORT_EXT
						     : udp_len < 24 + ext + pad ? HP3_PARSE_BAD_PAD
										: HP3_PARSE_OK;
			struct hp3_view v = parse(n);
			assert_int_equal(v.reason, want);
			if (want == HP3_PARSE_OK)
				assert_int_equal(v.payload_len, udp_len - 24 - ext - pad);
			seen[want]++;
		}
	}
	assert_int_not_equal(seen[HP3_PARSE_SHORT_EXT], 0);
	assert_int_not_equal(seen[HP3_PARSE_BAD_PAD], 0);
	assert_int_not_equal(seen[HP3_PARSE_OK], 0);
}

static void put8(uint32_t at, uint8_t v)
{
	frame[at] = v;
}

static void reasons_ipv4(void **state)
{
	static const struct {
		uint16_t at;
		uint8_t value;
		enum hp3_parse_reason reason;
	} cases[] = {
		{13, 0x06, HP3_PARSE_NOT_IP}, /* ARP */
		{14, 0x55, HP3_PARSE_BAD_IP}, /* version 5 */
		{14, 0x44, HP3_PARSE_BAD_IP}, /* header of 16 bytes */
		{17, 19, HP3_PARSE_BAD_IP}, /* total length below the header */
		{16, 0x40, HP3_PARSE_SHORT_IP},
		{23, 6, HP3_PARSE_NOT_UDP}, /* TCP */
		{20, 0x20, HP3_PARSE_FRAGMENT}, /* more fragments */
		{20, 0x01, HP3_PARSE_FRAGMENT}, /* offset, high bits */
		{21, 0x01, HP3_PARSE_FRAGMENT}, /* offset, low bits */
		{37, 0xb8, HP3_PARSE_NOT_ROCE}, /* port 4792 */
		{39, 47, HP3_PARSE_BAD_UDP_LEN}, /* one below the IP payload of 48 bytes */
		{39, 49, HP3_PARSE_BAD_UDP_LEN}, /* one above */
		{39, 0, HP3_PARSE_BAD_UDP_LEN},
		{43, 0x41, HP3_PARSE_BAD_TVER},
	};
	struct shape s = {.opcode = HP3_OP_RC_WRITE_ONLY, .payload = 8};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t len = make(&s);
		assert_int_equal(hp3_be16(frame + 38), 48);
		put8(cases[i].at, cases[i].value);
		expect_reason(len, cases[i].reason);
	}
}

/* The first fragment of a RoCE datagram is known by its port; others say nothing of theirs. */
static void first_fragments(void **state)
{
	static const struct {
		uint8_t flags, offset;
		uint8_t port_low; /* of 0x12b7 */
		bool cut;
		uint16_t udp_off;
	} cases[] = {{0x20, 0, 0xb7, false, 34}, {0x20, 1, 0xb7, false, 0}, {0, 1, 0xb7, false, 0},
		{0x20, 0, 0xb8, false, 0}, {0x20, 0, 0xb7, true, 0}};
	struct shape s = {.opcode = HP3_OP_RC_WRITE_ONLY, .payload = 8};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t len = make(&s);
		struct hp3_view v;

		put8(20, cases[i].flags);
		put8(21, cases[i].offset);
		put8(37, cases[i].port_low);
		if (cases[i].cut) {
			put8(16, 0);
			put8(17, 27);
		}
		hp3_parse(frame, len, &v);
		assert_int_equal(v.reason, HP3_PARSE_FRAGMENT);
		assert_int_equal(v.udp_off, cases[i].udp_off);
	}
}

static void reasons_ipv6(void **state)
{
	static const struct {
		uint16_t at;
		uint8_t value;
		enum hp3_parse_reason reason;
	} cases[] = {
		{14, 0x40, HP3_PARSE_BAD_IP}, /* version 4 */
		{18, 0x40, HP3_PARSE_SHORT_IP}, /* longer than the frame */
		{19, 4, HP3_PARSE_SHORT_IP}, /* no room for the extension header */
		{20, 6, HP3_PARSE_NOT_UDP}, /* TCP */
		{20, 44, HP3_PARSE_FRAGMENT}, /* fragment header first */
		{54, 44, HP3_PARSE_FRAGMENT}, /* behind hop-by-hop */
		{54, 59, HP3_PARSE_NOT_UDP}, /* no next header */
		{55, 200, HP3_PARSE_BAD_IP}, /* extension header beyond the packet */
	};
	struct shape s = {
		.opcode = HP3_OP_RC_WRITE_ONLY, .payload = 8, .ipv6 = true, .ext_words = 1};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t len = make(&s);
		put8(cases[i].at, cases[i].value);
		expect_reason(len, cases[i].reason);
	}
	uint32_t len = make(&s);
	put8(20, 43); /* routing header, same length */
	assert_int_equal(parse(len).reason, HP3_PARSE_OK);
}

/* Two tags are understood; a third hides the IP header, and is named. */
static void tags(void **state)
{
	static const uint16_t types[] = {HP3_TPID_8021Q, HP3_TPID_8021AD};
	struct shape s = {.opcode = HP3_OP_RC_ACK, .tags = 2};

	for (unsigned i = 0; i < 4; i++) {
		uint32_t len = make(&s);

		assert_int_equal(parse(len).reason, HP3_PARSE_OK);
		hp3_put_be16(frame + 12, types[i & 1]);
		memmove(frame + 16, frame + 12, len - 12);
		hp3_put_be16(frame + 12, types[i >> 1]);
		expect_reason(len + 4, HP3_PARSE_TAGS);
	}
	assert_string_equal(hp3_parse_reason_name(HP3_PARSE_TAGS), "too-many-tags");
}

/* Rule 17: VLAN ids and types of both tags are the VLAN; priorities are not. */
static void rule_17_both_tags(void **state)
{
	static const struct {
		uint16_t outer, outer_tci, inner, inner_tci;
		uint32_t vlan;
	} cases[] = {
		{0x8100, 0x0064, 0, 0, 0x64},
		{0x8100, 0xf064, 0, 0, 0x64}, /* priority, drop eligible */
		{0x8100, 0xe000, 0, 0, 0}, /* a priority tag names no VLAN */
		{0x88a8, 0x0064, 0, 0, HP3_VLAN_AD | 0x64},
		{0x88a8, 0x0064, 0x8100, 0x0014, HP3_VLAN_AD | 0x14 << 12 | 0x64},
		{0x88a8, 0x2064, 0x8100, 0x4014, HP3_VLAN_AD | 0x14 << 12 | 0x64},
		{0x88a8, 0x0064, 0x8100, 0x0015, HP3_VLAN_AD | 0x15 << 12 | 0x64},
		{0x88a8, 0x0064, 0x8100, 0x6000, HP3_VLAN_AD | 0x64},
		{0x8100, 0x0064, 0x8100, 0x0014, 0x14 << 12 | 0x64},
		{0x8100, 0x0064, 0x88a8, 0x0014, HP3_VLAN_INNER_AD | 0x14 << 12 | 0x64},
		{0x88a8, 0xffff, 0x88a8, 0xffff, HP3_VLAN_MAX},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shape s = {.opcode = HP3_OP_RC_ACK, .tags = cases[i].inner != 0 ? 2 : 1};
		uint32_t len = make(&s);

		hp3_put_be16(frame + 12, cases[i].outer);
		hp3_put_be16(frame + 14, cases[i].outer_tci);
		if (cases[i].inner != 0) {
			hp3_put_be16(frame + 16, cases[i].inner);
			hp3_put_be16(frame + 18, cases[i].inner_tci);
		}
		assert_int_equal(parse(len).reason, HP3_PARSE_OK);
		assert_int_equal(parse(len).vlan, cases[i].vlan);
	}
}

/* Offsets have 16 bits: what would not fit is refused, the longest that fits is not. */
static void longest(void **state)
{
	static uint8_t big[70000];
	struct shape s = {.opcode = HP3_OP_RC_SEND_ONLY, .payload = 60000};
	struct hp3_view v;

	make(&s);
	memcpy(big, frame, 42 + 20);
	for (uint32_t end = 65530; end < 65540; end++) {
		hp3_put_be16(big + 16, (uint16_t)(end - 14));
		hp3_put_be16(big + 38, (uint16_t)(end - 34));
		hp3_parse(big, sizeof(big), &v);
		assert_int_equal(v.reason, end > 65535 ? HP3_PARSE_BAD_IP : HP3_PARSE_OK);
		if (end <= 65535)
			assert_int_equal(v.icrc_off, end - 4);
	}
}

static void names(void **state)
{
	for (int i = 0; i < HP3_CLASS_MAX; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(hp3_class_name(i), hp3_class_name(j));
	for (int i = 0; i < HP3_PARSE_REASON_MAX; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(hp3_parse_reason_name(i), hp3_parse_reason_name(j));
	assert_string_equal(hp3_class_name(HP3_CLASS_MAX), "?");
	assert_string_equal(hp3_parse_reason_name(HP3_PARSE_REASON_MAX), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_class),
		cmocka_unit_test(marks_and_bits),
		cmocka_unit_test(ethernet_padding),
		cmocka_unit_test(truncation),
		cmocka_unit_test(short_packets),
		cmocka_unit_test(reasons_ipv4),
		cmocka_unit_test(first_fragments),
		cmocka_unit_test(reasons_ipv6),
		cmocka_unit_test(tags),
		cmocka_unit_test(rule_17_both_tags),
		cmocka_unit_test(longest),
		cmocka_unit_test(names),
	};
	print_message("seed 0x%x\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
