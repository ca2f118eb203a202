/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of captures as Ethernet frames (app/hp3d/replay/frame.h): links, tunnels, cut packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "app/hp3d/replay/frame.h"
#include "roce/build.h"
#include "roce/icrc.h"
#include "roce_frames.h"

#define QPN     0x22u
#define PSN     1000u
#define PAYLOAD 256u
#define IP      14u /* offset of the IP header in `inner` */
#define HEADERS (IP + 20u + 8u + 12u) /* up to the end of the BTH */

static uint8_t inner[1024]; /* an RC SEND over IPv4, and one over IPv6 */
static uint32_t inner_len;
static struct hp3d_replay_frame out;

static void build(uint8_t opcode, bool ipv6)
{
	static const uint8_t payload[PAYLOAD] = {1, 2, 3};
	const struct hp3_addressing a = {.dst_mac = {2, 0, 0, 0, 0, 2},
		.src_mac = {2, 0, 0, 0, 0, 1},
		.ipv6 = ipv6,
		.src_ip = {10, 9, 0, 1},
		.dst_ip = {10, 9, 0, 2},
		.ttl = 64,
		.sport = 49500,
		.pkey = 0xffff};
	const struct hp3_fields f = {.opcode = opcode,
		.dest_qpn = QPN,
		.psn = PSN,
		.dma_len = PAYLOAD,
		.syndrome = 0x60,
		.payload = opcode == HP3_OP_RC_ACK ? NULL : payload,
		.payload_len = opcode == HP3_OP_RC_ACK ? 0 : PAYLOAD};
	int n = hp3_build(inner, sizeof(inner), &a, &f);

	assert_true(n > 0);
	inner_len = (uint32_t)n;
}

static int build_send(void **state)
{
	build(HP3_OP_RC_SEND_ONLY, false);
	return 0;
}

/* Reads `head` followed by the bytes of `inner` from `from` on, the last `cut` bytes missing. */
static void read_behind(const void *head, uint32_t n, uint32_t from, uint32_t cut, uint32_t link)
{
	uint8_t record[2048];

	memcpy(record, head, n);
	memcpy(record + n, inner + from, inner_len - from - cut);
	n += inner_len - from - cut;
	hp3d_replay_frame_read(guarded_copy(record, n), n, link, &out);
}

static void must_be_roce(const char *name)
{
	assert_int_equal(out.v.class, HP3_CLASS_RC_REQUEST);
	assert_int_equal(out.v.dest_qpn, QPN);
	assert_int_equal(out.v.psn, PSN);
	assert_true(hp3_icrc_ok(out.data, &out.v));
	assert_string_equal(out.name, name);
}

static void must_be_other(const char *name)
{
	assert_int_equal(out.v.class, HP3_CLASS_OTHER);
	assert_string_equal(out.name, name);
}

static void plain_frames_stay(void **state)
{
	read_behind("", 0, 0, 0, HP3D_LINK_ETHERNET);
	must_be_roce("");
	assert_int_equal(out.head, 0);
	assert_int_equal(out.recorded, inner_len);
	assert_memory_equal(out.data, inner, inner_len);
}

static void links_without_ethernet(void **state)
{
	static const uint8_t sll[16] = {0, 0, 0, 1, 0, 6, 2, [14] = 8}, sll2[20] = {8, [9] = 1};

	read_behind(sll, 16, IP, 0, HP3D_LINK_SLL);
	must_be_roce("");
	assert_int_equal(out.head, 16);
	read_behind(sll2, 20, IP, 0, HP3D_LINK_SLL2);
	must_be_roce("");
	read_behind("", 0, IP, 0, HP3D_LINK_RAW);
	must_be_roce("");
	assert_int_equal(out.len, inner_len);
	read_behind("", 0, IP, 0, HP3D_LINK_IPV4);
	must_be_roce("");
	read_behind("", 0, 0, 0, 105);
	must_be_other("link type 105");
	build(HP3_OP_RC_SEND_ONLY, true);
	read_behind("", 0, IP, 0, HP3D_LINK_RAW);
	must_be_roce("");
	assert_true(out.v.flags & HP3_VF_IPV6);
}

/* An Ethernet and an IPv4 header, with the protocol `proto`. Returns their length. */
static uint32_t outer_ip(uint8_t *to, uint8_t proto)
{
	memset(to, 0, 34);
	to[12] = 8;
	to[14] = 0x45;
	hp3_put_be16(to + 16, 1500);
	to[23] = proto;
	return 34;
}

static void gre_tunnels(void **state)
{
	static const struct {
		const char *name;
		uint32_t n, from; /* bytes of the header; where in `inner` the content begins */
		uint8_t bytes[28];
	} kinds[] = {
		{"ERSPAN I", 4, 0, {0, 0, 0x88, 0xbe}},
		{"ERSPAN II", 16, 0, {0x10, 0, 0x88, 0xbe, [8] = 0x10}},
		{"ERSPAN III", 20, 0, {0x10, 0, 0x22, 0xeb, [8] = 0x20}},
		{"ERSPAN III", 28, 0, {0x10, 0, 0x22, 0xeb, [8] = 0x20, [19] = 1}},
		{"GRE", 4, 0, {0, 0, 0x65, 0x58}},
		{"GRE", 8, IP, {0x20, 0, 0x08, 0x00}},
		{"GRE", 16, IP, {0xb0, 0, 0x08, 0x00}},
	};
	uint8_t head[128];

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint32_t n = outer_ip(head, 47);

		memcpy(head + n, kinds[i].bytes, kinds[i].n);
		read_behind(head, n + kinds[i].n, kinds[i].from, 0, HP3D_LINK_ETHERNET);
		must_be_roce(kinds[i].name);
		assert_int_equal(out.head, n + kinds[i].n + IP - kinds[i].from);
		assert_memory_equal(out.data + out.l3, inner + IP, inner_len - IP);
	}
}

static uint32_t outer_udp(uint8_t *to, uint16_t port)
{
	uint32_t n = outer_ip(to, 17);

	memset(to + n, 0, 32);
	hp3_put_be16(to + n + 2, port);
	return n + 8;
}

static void udp_tunnels(void **state)
{
	uint8_t head[128];
	uint32_t n = outer_udp(head, 4789);

	head[n] = 8;
	read_behind(head, n + 8, 0, 0, HP3D_LINK_ETHERNET);
	must_be_roce("VXLAN");
	n = outer_udp(head, 6081);
	head[n] = 2; /* eight bytes of options */
	hp3_put_be16(head + n + 2, 0x6558);
	read_behind(head, n + 16, 0, 0, HP3D_LINK_ETHERNET);
	must_be_roce("Geneve");
	outer_ip(head, 4);
	read_behind(head, 34, IP, 0, HP3D_LINK_ETHERNET);
	must_be_roce("IP in IP");
}

static void tunnels_have_a_limit(void **state)
{
	uint8_t head[256];
	uint32_t n = outer_ip(head, 4);

	for (unsigned i = 0; i < 4; i++, n += 20)
		memcpy(head + n, head + IP, 20);
	read_behind(head, n, IP, 0, HP3D_LINK_ETHERNET);
	assert_int_equal(out.v.class, HP3_CLASS_OTHER);
}

static void tags_that_hp3d_does_not_handle(void **state)
{
	uint8_t head[64];

	memcpy(head, inner, 12);
	hp3_put_be32(head + 12, 0x91000064);
	hp3_put_be32(head + 16, 0x810000c8);
	read_behind(head, 20, 12, 0, HP3D_LINK_ETHERNET);
	must_be_roce("VLAN tag 0x9100");
	assert_int_equal(out.v.tags, 2);
	hp3_put_be32(head + 12, 0x88a80064);
	hp3_put_be32(head + 20, 0x8100012c);
	read_behind(head, 24, 12, 0, HP3D_LINK_ETHERNET);
	must_be_roce("3 VLAN tags");
	assert_int_equal(out.v.vlan, 200 | 300 << HP3_VLAN_INNER_SHIFT);
}

static void other_packets_are_named(void **state)
{
	static const struct {
		const char *name;
		uint8_t at;
		uint16_t value;
	} kinds[] = {
		{"RoCEv1 (Ethertype 0x8915)", 12, 0x8915},
		{"ARP (Ethertype 0x0806)", 12, 0x0806},
		{"Ethertype 0x1234", 12, 0x1234},
		{"IEEE 802.3 length 100", 12, 100},
		{"TCP", 22, 0x4006},
		{"IP protocol 1", 22, 0x4001},
		{"UDP port 53", 36, 53},
		{"IP fragment", 20, 0x2000},
		{"IP header with errors", 14, 0x4400},
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		build(HP3_OP_RC_SEND_ONLY, false);
		hp3_put_be16(inner + kinds[i].at, kinds[i].value);
		read_behind("", 0, 0, 0, HP3D_LINK_ETHERNET);
		must_be_other(kinds[i].name);
		assert_memory_equal(out.data, inner, inner_len);
	}
}

static void cut_packets_keep_their_headers(void **state)
{
	for (uint32_t n = 0; n < inner_len; n++) {
		read_behind("", 0, 0, inner_len - n, HP3D_LINK_ETHERNET);
		assert_int_equal(out.recorded, n);
		if (n < HEADERS) {
			must_be_other("cut before the BTH ends");
			continue;
		}
		must_be_roce("");
		assert_int_equal(out.len, inner_len);
		assert_int_equal(out.v.payload_len, PAYLOAD);
		assert_memory_equal(out.data, inner, n);
		assert_false(out.ext_cut);
	}
}

/* Without its syndrome, a NAK would be read as an ACK. */
static void a_reply_needs_its_aeth(void **state)
{
	build(HP3_OP_RC_ACK, false);
	read_behind("", 0, 0, inner_len - HEADERS - 3, HP3D_LINK_ETHERNET);
	must_be_other("cut before the AETH ends");
	read_behind("", 0, 0, inner_len - HEADERS - 4, HP3D_LINK_ETHERNET);
	assert_int_equal(out.v.class, HP3_CLASS_RC_REPLY);
	assert_int_equal(out.v.syndrome, 0x60);
}

static void a_cut_reth_has_no_length(void **state)
{
	build(HP3_OP_RC_WRITE_ONLY, false);
	read_behind("", 0, 0, inner_len - HEADERS - 15, HP3D_LINK_ETHERNET);
	must_be_roce("");
	assert_true(out.ext_cut);
	read_behind("", 0, 0, inner_len - HEADERS - 16, HP3D_LINK_ETHERNET);
	assert_false(out.ext_cut);
	assert_int_equal(out.v.dma_len, PAYLOAD);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, build_send)
	const struct CMUnitTest tests[] = {
		TEST(plain_frames_stay),
		TEST(links_without_ethernet),
		TEST(gre_tunnels),
		TEST(udp_tunnels),
		TEST(tunnels_have_a_limit),
		TEST(tags_that_hp3d_does_not_handle),
		TEST(other_packets_are_named),
		TEST(cut_packets_keep_their_headers),
		TEST(a_reply_needs_its_aeth),
		TEST(a_cut_reth_has_no_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
