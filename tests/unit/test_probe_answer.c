/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to peer probes: destination, size, content, and which are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "probe_frames.h"
#include "probes/answer.h"

#define L3 14u

static const struct hp3_answer some = {
	.id = 0xa1b2c3d4, .ce = true, .dscp = HP3_DSCP_KEPT, .clock_us = 0x5511223344};

static void answer_to(struct frame *f, const struct frame *probe, const struct hp3_answer *answer)
{
	int n = hp3_answer_build(
		f->b, sizeof(f->b), PARSED(probe), answer, RECEIVER(&probe_keys, NULL));

	assert_true(n > 0);
	f->len = (uint32_t)n;
	reparse(f);
}

static void make_answer(struct frame *f, bool ipv6)
{
	struct frame probe;

	make_probe(&probe, ipv6, some.id, 1, &probe_key);
	answer_to(f, &probe, &some);
}

static enum hp3_message_fate read_answer(
	const struct frame *f, struct hp3_answer *answer, struct hp3_probe_stats *st)
{
	return hp3_answer_read(PARSED(f), RECEIVER(&probe_keys, st), answer);
}

static void rule_01_answer_is_no_rocev2(void **state)
{
	const struct hp3_receiver to_rnic = {.keys = &probe_keys, .port = HP3_ROCE_UDP_PORT};

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct frame probe, f;
		make_probe(&probe, ipv6, 1, 1, &probe_key);
		assert_int_equal(
			hp3_answer_build(f.b, sizeof(f.b), PARSED(&probe), &some, &to_rnic),
			-EINVAL);
		answer_to(&f, &probe, &some);
		assert_int_equal(f.v.class, HP3_CLASS_OTHER);
		assert_int_equal(f.v.reason, HP3_PARSE_NOT_ROCE);
		assert_true(HP3_PROBE_PORT != HP3_ROCE_UDP_PORT);
	}
}

/* IP length; probes may also be longer (IP options), never shorter. */
static void never_larger_than_the_question(void **state)
{
	struct rng r = {1};

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct frame probe, f;
		make_probe(&probe, ipv6, 1, 1, &probe_key);
		answer_to(&f, &probe, &some);
		assert_int_equal(f.len, probe.len);
		assert_int_equal(f.len - L3, ipv6 ? HP3_PEER_IP_LEN6 : HP3_PEER_IP_LEN4);
	}
	for (uint16_t pad = 4; pad <= HP3_PEER_PAD_MAX; pad = (uint16_t)(pad * 4)) {
		struct hp3_addressing a = flow_addressing(false, 0xc123);
		struct hp3_peer_probe p = {.id = 1, .pad = pad};
		struct frame probe, f;
		probe.len = (uint32_t)hp3_peer_build(probe.b, sizeof(probe.b), &a, &p, &probe_key);
		reparse(&probe);
		answer_to(&f, &probe, &some);
		assert_int_equal(f.len - L3, HP3_PEER_IP_LEN4);
		assert_int_equal(probe.len, f.len + pad);
	}
	for (int i = 0; i < 2000; i++) {
		static uint8_t b[FRAME_CAP];
		struct shape s = random_shape(&r, 0);
		struct frame f;
		struct hp3_view v;
		s.opcode = HP3_OP_UC_WRITE_ONLY;
		s.payload = 0;
		uint32_t len = make_frame(b, &s, &r);
		hp3_parse(b, len, &v);
		int n = hp3_answer_build(f.b, sizeof(f.b), &(struct hp3_parsed){b, len, &v}, &some,
			RECEIVER(&no_keys, NULL));
		assert_in_range(n, 1, len);
	}
}

static void goes_back_where_the_probe_came_from(void **state)
{
	struct hp3_addressing a = flow_addressing(true, 0xc777), to, want;
	struct hp3_peer_probe p = {.id = 1};
	struct frame probe, f;

	a.tag[0] = (struct hp3_tag){HP3_TPID_8021AD, 0x2005};
	a.tag[1] = (struct hp3_tag){HP3_TPID_8021Q, 0x4006};
	probe.len = (uint32_t)hp3_peer_build(probe.b, sizeof(probe.b), &a, &p, &no_key);
	reparse(&probe);
	answer_to(&f, &probe, &some);
	hp3_addressing_reply(probe.b, &probe.v, 0xc777, &want);
	f.v.sport = hp3_be16(f.b + L3 + 8 + 40); /* not parsed: not RoCEv2 */
	hp3_addressing_same(f.b, &f.v, &to);
	expect_same_way(&to, &want);
	assert_int_equal(to.tclass, 26 << 2);
}

/* Whatever the probe's class, and not to be marked; what stays is the VLAN and what the tag speaks
 * for. */
static void in_a_class_of_its_own(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct hp3_addressing a = flow_addressing(i & 1, 0xc777), to;
		struct hp3_answer answer = some;
		struct hp3_peer_probe p = {.id = some.id};
		struct hp3_probe_stats st = {0};
		struct frame probe, f;

		a.tag[0] = hp3_tag_8021q(i & 2 ? 0x6005 : 0);
		probe.len = (uint32_t)hp3_peer_build(probe.b, sizeof(probe.b), &a, &p, &probe_key);
		reparse(&probe);
		answer.dscp = 48;
		answer_to(&f, &probe, &answer);
		hp3_addressing_same(f.b, &f.v, &to);
		assert_int_equal(to.tclass, 48 << 2);
		assert_int_equal(to.tag[0].tci, i & 2 ? 0xc005 : 0);
		assert_int_equal(read_answer(&f, &answer, &st), HP3_MESSAGE_OK);
		assert_int_equal(answer.id, some.id);
	}
}

static void tells_what_it_was_told(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct hp3_probe_stats st = {0};
		struct hp3_answer answer;
		struct frame f;
		make_answer(&f, ipv6);
		assert_int_equal(read_answer(&f, &answer, &st), HP3_MESSAGE_OK);
		assert_int_equal(answer.id, some.id);
		assert_int_equal(answer.ce, some.ce);
		assert_int_equal(answer.clock_us, some.clock_us);
		assert_int_equal(st.answers, 1);
	}
}

static void checksum_as_any_host_computes_it(void **state)
{
	for (uint32_t i = 0; i < 2000; i++) {
		struct frame probe, f;
		struct hp3_answer answer = {.id = i * 0x9e3779b9u, .clock_us = i};
		make_probe(&probe, i % 2, i, 1, &probe_key);
		answer_to(&f, &probe, &answer);
		uint32_t udp = L3 + (i % 2 ? 40 : 20);
		assert_int_not_equal(hp3_be16(f.b + udp + 6), 0);
		assert_int_equal(hp3_be16(f.b + udp + 6), reference_udp_csum(f.b, L3, udp));
	}
}

static void rule_06_no_bit_can_be_changed(void **state)
{
	struct frame good, f;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct hp3_probe_stats st = {0};
		struct hp3_answer answer;
		uint32_t ip = ipv6 ? 40 : 20, dropped = 0;
		make_answer(&good, ipv6);
		for (uint32_t bit = (L3 + ip) * 8; bit < good.len * 8; bit++) {
			f = good;
			f.b[bit / 8] ^= (uint8_t)(1u << bit % 8);
			reparse(&f);
			assert_int_not_equal(read_answer(&f, &answer, &st), HP3_MESSAGE_OK);
			uint32_t at = bit / 8 - L3 - ip; /* in UDP */
			if (at == 4 || at == 5) /* length: no checksum makes it right */
				continue;
			/* A forger repairs the checksum. */
			store_udp_csum(f.b, L3, L3 + ip);
			enum hp3_message_fate fate = read_answer(&f, &answer, &st);
			assert_int_equal(fate == HP3_MESSAGE_OK, at == 6 || at == 7);
			dropped += fate == HP3_MESSAGE_DROP;
		}
		assert_int_equal(st.answers, 16);
		assert_true(dropped > 200);
		assert_int_equal(st.answers_version, 4);
		assert_true(st.answers_bad_tag > 200 && st.answers_bad_sum > 200);
	}
}

static void rule_06_other_addresses_and_keys(void **state)
{
	struct hp3_probe_stats st = {0};
	struct hp3_answer answer;
	struct frame f;

	make_answer(&f, false);
	assert_int_equal(
		hp3_answer_read(PARSED(&f), RECEIVER(&no_keys, &st), &answer), HP3_MESSAGE_DROP);
	f.b[L3 + 15] ^= 1; /* source address; the checksum follows */
	store_udp_csum(f.b, L3, L3 + 20);
	assert_int_equal(read_answer(&f, &answer, &st), HP3_MESSAGE_DROP);
	assert_int_equal(st.answers_bad_tag, 2);
	assert_int_equal(st.answers, 0);
}

/* Whoever has not seen the probe, or has seen another one, cannot answer it. */
static void without_a_key_an_answer_knows_the_cookie(void **state)
{
	const struct hp3_probe_key other_host = {{78}};
	struct hp3_probe_stats st = {0};
	struct hp3_receiver elsewhere = *RECEIVER(&no_keys, &st);
	struct hp3_answer answer, wrong = some;
	struct frame probe, f;

	make_probe(&probe, true, some.id, 1, &no_key);
	f.len = (uint32_t)hp3_answer_build(
		f.b, sizeof(f.b), PARSED(&probe), &some, RECEIVER(&no_keys, NULL));
	reparse(&f);
	assert_int_equal(
		hp3_answer_read(PARSED(&f), RECEIVER(&no_keys, &st), &answer), HP3_MESSAGE_OK);
	assert_int_equal(read_answer(&f, &answer, &st), HP3_MESSAGE_DROP);
	elsewhere.secret = &other_host;
	assert_int_equal(hp3_answer_read(PARSED(&f), &elsewhere, &answer), HP3_MESSAGE_DROP);
	wrong.id++;
	f.len = (uint32_t)hp3_answer_build(
		f.b, sizeof(f.b), PARSED(&probe), &wrong, RECEIVER(&no_keys, NULL));
	reparse(&f);
	assert_int_equal(
		hp3_answer_read(PARSED(&f), RECEIVER(&no_keys, &st), &answer), HP3_MESSAGE_DROP);
	assert_int_equal(st.answers_bad_tag, 3);
}

static void others_pass(void **state)
{
	struct hp3_probe_stats st = {0}, none = {0};
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct hp3_receiver other_port = *RECEIVER(&probe_keys, &st);
	struct hp3_answer answer;
	struct frame f, probe;

	make_answer(&f, false);
	other_port.port = 5000;
	assert_int_equal(hp3_answer_read(PARSED(&f), &other_port, &answer), HP3_MESSAGE_NONE);
	f.b[L3 + 6] |= 0x20; /* a fragment */
	reparse(&f);
	assert_int_equal(read_answer(&f, &answer, &st), HP3_MESSAGE_NONE);
	make_probe(&probe, false, 1, 1, &probe_key);
	assert_int_equal(read_answer(&probe, &answer, &st), HP3_MESSAGE_NONE);
	for (uint16_t len = 0; len < 64; len++) { /* of another protocol on this port */
		static const uint8_t zero[64];
		f.len = (uint32_t)hp3_build_udp(f.b, sizeof(f.b), &a, HP3_PROBE_PORT, zero, len);
		reparse(&f);
		assert_int_equal(read_answer(&f, &answer, &st), HP3_MESSAGE_NONE);
	}
	assert_memory_equal(&st, &none, sizeof(st));
}

static void truncated(void **state)
{
	struct hp3_probe_stats st = {0};
	struct hp3_answer answer;
	struct frame f;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		make_answer(&f, ipv6);
		for (uint32_t len = 0; len <= f.len; len++) {
			const uint8_t *b = guarded_copy(f.b, len);
			struct hp3_view v;
			hp3_parse(b, len, &v);
			enum hp3_message_fate fate =
				hp3_answer_read(&(struct hp3_parsed){b, len, &v},
					RECEIVER(&probe_keys, &st), &answer);
			assert_int_equal(fate, len == f.len ? HP3_MESSAGE_OK : HP3_MESSAGE_NONE);
		}
	}
}

static void too_small_a_buffer(void **state)
{
	struct frame probe, f;

	make_probe(&probe, false, 1, 1, &probe_key);
	assert_int_equal(
		hp3_answer_build(f.b, L3 + 59, PARSED(&probe), &some, RECEIVER(&probe_keys, NULL)),
		-ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_01_answer_is_no_rocev2),
		cmocka_unit_test(never_larger_than_the_question),
		cmocka_unit_test(goes_back_where_the_probe_came_from),
		cmocka_unit_test(in_a_class_of_its_own),
		cmocka_unit_test(tells_what_it_was_told),
		cmocka_unit_test(checksum_as_any_host_computes_it),
		cmocka_unit_test(rule_06_no_bit_can_be_changed),
		cmocka_unit_test(rule_06_other_addresses_and_keys),
		cmocka_unit_test(without_a_key_an_answer_knows_the_cookie),
		cmocka_unit_test(others_pass),
		cmocka_unit_test(truncated),
		cmocka_unit_test(too_small_a_buffer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
