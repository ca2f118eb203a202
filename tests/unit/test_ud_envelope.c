/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of hp3d as unreliable datagrams: a frame is received as sent, and nothing else is
 * accepted. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "app/hp3d/ud/envelope.h"
#include "base/random.h"
#include "probe_frames.h"
#include "probes/answer.h"
#include "roce/icrc.h"
#include "roce/sum.h"

#define PORT 4795

/* As an RNIC puts the IP header in front; CE: on its way it was marked. */
static void put_room(uint8_t grh[HP3D_UD_GRH], const struct frame *f, bool ce)
{
	bool ipv6 = f->v.flags & HP3_VF_IPV6;

	memset(grh, 0, HP3D_UD_GRH);
	memcpy(grh + (ipv6 ? 0 : 20), f->b + f->v.l3_off, ipv6 ? 40 : 20);
	if (ipv6 && ce)
		grh[1] |= 0x30;
	if (ipv6 || !ce)
		return;
	grh[21] |= 3;
	grh[30] = grh[31] = 0;
	hp3_put_be16(grh + 30, hp3_sum(grh + 20, 20));
}

static int carry(const struct frame *in, bool ce, struct frame *out)
{
	uint8_t grh[HP3D_UD_GRH], buf[HP3D_UD_PAYLOAD];
	struct hp3d_ud_route route, came;
	int n = hp3d_ud_pack(in->b, in->len, PORT, &route, buf);

	if (n < 0)
		return n;
	assert_int_equal(route.sport, 0xc123);
	put_room(grh, in, ce);
	n = hp3d_ud_unpack(grh, buf, (size_t)n, PORT, &came, out->b, sizeof(out->b));
	if (n < 0)
		return n;
	assert_memory_equal(came.src, route.src, 16);
	assert_memory_equal(came.dst, route.dst, 16);
	out->len = (uint32_t)n;
	reparse(out);
	return 0;
}

static void probe(struct frame *f, bool ipv6)
{
	struct hp3_addressing a = flow_addressing(ipv6, 0xc123);
	struct hp3_peer_probe p = {.dest_qpn = 0x1234, .psn = 0x777, .id = 99, .time = 1700000000};
	int n = hp3_peer_build(f->b, sizeof(f->b), &a, &p, &probe_key);

	assert_true(n > 0);
	f->len = (uint32_t)n;
	reparse(f);
}

/* Its tag is right at the other end, and it says whether it was marked. */
static void a_probe_arrives(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct hp3_peer_probe got;
		struct frame in, out;

		probe(&in, i & 1);
		assert_int_equal(carry(&in, i & 2, &out), 0);
		assert_true(hp3_peer_is(out.b, &out.v));
		assert_int_equal(hp3_peer_read(PARSED(&out), &probe_keys, 1700000000, &got), 0);
		assert_int_equal(got.id, 99);
		assert_int_equal(got.dest_qpn, 0x1234);
		assert_int_equal(!!(out.v.flags & HP3_VF_CE), i >> 1);
	}
}

static void an_answer_arrives(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct hp3_answer answer = {.id = 99, .dscp = HP3_DSCP_KEPT, .ce = true}, got;
		struct hp3_probe_stats st = {0};
		struct frame p, in, out;
		int n;

		probe(&p, ipv6);
		n = hp3_answer_build(
			in.b, sizeof(in.b), PARSED(&p), &answer, RECEIVER(&probe_keys, NULL));
		assert_true(n > 0);
		in.len = (uint32_t)n;
		reparse(&in);
		assert_int_equal(carry(&in, false, &out), 0);
		assert_int_equal(hp3_answer_read(PARSED(&out), RECEIVER(&probe_keys, &st), &got),
			HP3_MESSAGE_OK);
		assert_true(got.ce);
		assert_int_equal(got.id, 99);
	}
}

/* An answer to a probe that does come out takes a datagram no longer than the probe's. */
static void an_answer_is_no_longer_than_its_probe(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct hp3_answer answer = {.id = 99, .dscp = HP3_DSCP_KEPT};
		uint8_t grh[HP3D_UD_GRH], asks[HP3D_UD_PAYLOAD], says[HP3D_UD_PAYLOAD];
		struct hp3d_ud_route route;
		struct frame p, in;
		int n, least = HP3D_UD_PAYLOAD;

		probe(&p, ipv6);
		n = hp3_answer_build(
			in.b, sizeof(in.b), PARSED(&p), &answer, RECEIVER(&probe_keys, NULL));
		assert_true(n > 0);
		put_room(grh, &p, false);
		hp3d_ud_pack(p.b, p.len, PORT, &route, asks);
		for (int len = HP3D_UD_PAYLOAD; len > 0; len--)
			if (hp3d_ud_unpack(grh, asks, (size_t)len, PORT, &route, p.b, sizeof(p.b)) >
				0)
				least = len;
		assert_in_range(hp3d_ud_pack(in.b, (uint32_t)n, PORT, &route, says), 1, least);
	}
}

/* Data, acknowledgements, duplicates of the connection, UDP to others: none of it leaves. */
static void nothing_else_leaves(void **state)
{
	const struct hp3_addressing a = flow_addressing(false, 0xc123);
	const uint8_t opcodes[] = {HP3_OP_RC_SEND_ONLY, HP3_OP_RC_WRITE_ONLY, HP3_OP_RC_ACK};
	struct frame in, out;
	int n;

	for (unsigned i = 0; i < sizeof(opcodes); i++) {
		n = hp3_build(in.b, sizeof(in.b), &a, &(struct hp3_fields){.opcode = opcodes[i]});
		in.len = (uint32_t)n;
		reparse(&in);
		assert_int_equal(carry(&in, false, &out), -EINVAL);
	}
	n = hp3_build_udp(in.b, sizeof(in.b), &a, PORT + 1, "x", 1);
	in.len = (uint32_t)n;
	reparse(&in);
	assert_int_equal(carry(&in, false, &out), -EINVAL);
}

/* Whatever a peer sends: nothing that an RNIC of reliable connections could take. */
static void nothing_else_comes_out(void **state)
{
	uint64_t seed = 4;
	uint32_t frames = 0;
	struct frame in;
	uint8_t grh[HP3D_UD_GRH];

	probe(&in, false);
	put_room(grh, &in, false);
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t buf[HP3D_UD_PAYLOAD + 8] = {0x68, 0x33, 2, 1 + i % 2};
		size_t n = hp3_random_below(&seed, sizeof(buf) + 1);
		struct hp3d_ud_route route;
		struct frame out;
		int len;

		for (size_t at = 4; at < sizeof(buf); at++)
			buf[at] = (uint8_t)hp3_random(&seed);
		if (i % 3 == 0) { /* nearly a probe */
			n = 6 + 28 + i % 16;
			n = n < 6 + 32 ? 6 + 32 : n;
			buf[6] = HP3_OP_UC_WRITE_ONLY;
			hp3_put_be32(buf + 6 + 24, i % 16);
		}
		len = hp3d_ud_unpack(grh, buf, n, PORT, &route, out.b, sizeof(out.b));
		if (len < 0)
			continue;
		frames++;
		out.len = (uint32_t)len;
		reparse(&out);
		assert_true(out.v.class == HP3_CLASS_UC || out.v.reason == HP3_PARSE_NOT_ROCE);
		if (out.v.class == HP3_CLASS_UC)
			assert_true(hp3_peer_looks(&out.v) && hp3_icrc_ok(out.b, &out.v));
	}
	assert_true(frames > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_arrives),
		cmocka_unit_test(an_answer_arrives),
		cmocka_unit_test(an_answer_is_no_longer_than_its_probe),
		cmocka_unit_test(nothing_else_leaves),
		cmocka_unit_test(nothing_else_comes_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
