/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of key agreement: their content, and what neither a cookie nor a proof covers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "keying_hosts.h"

#define PAYLOAD 42u /* of IPv4 */

static const struct hp3_handshake full = {.public = {1, 2, 3, [31] = 0x42},
	.cookie = {4, 5, 6, [15] = 0x43},
	.proof = {7, 8, 9, [15] = 0x44},
	.asked = 0x1122334455667788u,
	.nonce = 0x99aabbccddeeff00u,
	.instance = 0xfedcba9876543210u,
	.born_us = 1700000000123456u};
static const uint8_t receiver[HP3_PUBLIC_LEN] = {0x77};
static const uint8_t key[HP3_KEY_LEN] = {0x66};

static struct hp3_handshake of_kind(enum hp3_handshake_kind kind)
{
	struct hp3_handshake h = full;

	h.kind = (uint8_t)kind;
	if (kind == HP3_HANDSHAKE_INIT || kind == HP3_HANDSHAKE_COOKIE) {
		h.nonce = 0;
		memset(h.proof, 0, sizeof(h.proof));
	}
	if (kind == HP3_HANDSHAKE_COOKIE) {
		h.instance = h.born_us = 0;
		memset(h.public, 0, sizeof(h.public));
	}
	if (kind == HP3_HANDSHAKE_REPLY || kind == HP3_HANDSHAKE_CONFIRM)
		memset(h.cookie, 0, sizeof(h.cookie));
	return h;
}

static void build(struct frame *f, bool ipv6, const struct hp3_handshake *h)
{
	struct hp3_addressing a = flow_addressing(ipv6, HP3_PROBE_PORT);
	struct hp3_keying_message m = {.to = {.ipv6 = ipv6}};

	memcpy(m.to.src, a.src_ip, 16);
	memcpy(m.to.dst, a.dst_ip, 16);
	m.len = hp3_handshake_write(m.bytes, h);
	frame_of(&m, f);
}

static int read_frame(const struct frame *f, struct hp3_handshake *h)
{
	struct hp3_pair_ends ends;

	return hp3_handshake_read(PARSED(f), HP3_PROBE_PORT, &ends, h);
}

static void carries_what_it_was_given(void **state)
{
	for (unsigned kind = HP3_HANDSHAKE_INIT; kind <= HP3_HANDSHAKE_CONFIRM; kind++) {
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			struct hp3_addressing a = flow_addressing(ipv6, 0);
			struct hp3_handshake h = of_kind((enum hp3_handshake_kind)kind), got;
			struct hp3_pair_ends ends, want = {0};
			struct frame f;

			want = hp3_pair_ends_of(ipv6, a.src_ip, a.dst_ip);
			build(&f, ipv6, &h);
			assert_int_equal(
				hp3_handshake_read(PARSED(&f), HP3_PROBE_PORT, &ends, &got), 0);
			assert_memory_equal(&ends, &want, sizeof(want));
			assert_int_equal(got.kind, kind);
			assert_memory_equal(got.public, h.public, sizeof(h.public));
			assert_memory_equal(got.cookie, h.cookie, sizeof(h.cookie));
			assert_memory_equal(got.proof, h.proof, sizeof(h.proof));
			assert_true(got.asked == h.asked && got.nonce == h.nonce);
			assert_true(got.instance == h.instance && got.born_us == h.born_us);
		}
	}
}

static void nothing_is_longer_than_an_init(void **state)
{
	struct hp3_handshake h = of_kind(HP3_HANDSHAKE_INIT);
	uint8_t buf[HP3_HANDSHAKE_MAX];
	uint32_t init = hp3_handshake_write(buf, &h);

	for (unsigned kind = HP3_HANDSHAKE_COOKIE; kind <= HP3_HANDSHAKE_CONFIRM; kind++) {
		h = of_kind((enum hp3_handshake_kind)kind);
		assert_true(hp3_handshake_write(buf, &h) <= init);
	}
}

/* With a right UDP checksum: the sender made it so. */
static void repair(struct frame *f)
{
	store_udp_csum(f->b, 14, 34);
	reparse(f);
}

static void what_is_none_or_malformed(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t xor ;
		int err;
	} bad[] = {
		{PAYLOAD, 0xff, -ENOMSG}, /* magic */
		{PAYLOAD - 8, 4, -EACCES}, /* source port: 1819 */
		{PAYLOAD - 8, 0x80, -EACCES}, {PAYLOAD - 6, 1, -ENOMSG}, /* destination port */
		{PAYLOAD + 1, 0x80, -EPROTONOSUPPORT},
		{PAYLOAD + 1, 0x02, -EBADMSG}, /* INIT, which is longer */
		{PAYLOAD + 1, 0x04, -EBADMSG}, /* no kind */
		{PAYLOAD + 1, 0x03, -EBADMSG}, {PAYLOAD + 2, 1, -EBADMSG},
		{PAYLOAD - 3, 1, -EBADMSG}, /* UDP length */
		{20, 0x20, -ENOMSG}, /* a fragment */
	};
	struct hp3_handshake h = of_kind(HP3_HANDSHAKE_REPLY), got;
	struct frame f, good;

	build(&good, false, &h);
	assert_int_equal(read_frame(&good, &got), 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		f = good;
		f.b[bad[i].at] ^= bad[i].xor ;
		repair(&f);
		assert_int_equal(read_frame(&f, &got), bad[i].err);
	}
	f = good;
	f.b[PAYLOAD + 30] ^= 1; /* and no new checksum */
	assert_int_equal(read_frame(&f, &got), -EBADMSG);
	f = good;
	f.b[40] = f.b[41] = 0; /* none */
	assert_int_equal(read_frame(&f, &got), -EBADMSG);
}

/* For each length: nothing beyond the end is read (ASan), and only the right length is a message.
 */
static void cut_short(void **state)
{
	struct hp3_handshake h = of_kind(HP3_HANDSHAKE_INIT), got;
	struct frame f;

	build(&f, false, &h);
	for (uint32_t len = 14; len < f.len; len++) {
		struct frame cut = f;

		cut.len = len;
		reparse(&cut);
		assert_int_not_equal(read_frame(&cut, &got), 0);
	}
}

static void a_proof_is_of_every_bit(void **state)
{
	struct hp3_handshake h = of_kind(HP3_HANDSHAKE_REPLY), got;
	struct frame f, good;

	hp3_handshake_prove(&h, key, receiver);
	assert_true(hp3_handshake_is_proven(&h, key, receiver));
	build(&good, false, &h);
	for (uint32_t bit = 8 * PAYLOAD; bit < 8 * good.len; bit++) {
		f = good;
		f.b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		repair(&f);
		assert_false(
			read_frame(&f, &got) == 0 && hp3_handshake_is_proven(&got, key, receiver));
	}
}

static void a_proof_is_of_one_key_receiver_and_kind(void **state)
{
	static const uint8_t other_key[HP3_KEY_LEN] = {0x67}, other[HP3_PUBLIC_LEN] = {0x78};
	struct hp3_handshake h = of_kind(HP3_HANDSHAKE_REPLY);

	hp3_handshake_prove(&h, key, receiver);
	assert_false(hp3_handshake_is_proven(&h, other_key, receiver));
	assert_false(hp3_handshake_is_proven(&h, key, other));
	h.kind = HP3_HANDSHAKE_CONFIRM;
	assert_false(hp3_handshake_is_proven(&h, key, receiver));
}

static void a_cookie_is_of_one_init(void **state)
{
	static const uint8_t secret[HP3_KEY_LEN] = {1}, other_secret[HP3_KEY_LEN] = {2};
	struct hp3_handshake h = of_kind(HP3_HANDSHAKE_INIT), other = h;
	struct hp3_pair_ends ends = {.src = {10, 9, 0, 1}, .dst = {10, 9, 0, 2}}, others = ends;
	uint8_t is[HP3_COOKIE_LEN], not [HP3_COOKIE_LEN];

	hp3_handshake_cookie(is, secret, &ends, &h, 7);
	hp3_handshake_cookie(not, secret, &ends, &h, 7);
	assert_memory_equal(is, not, sizeof(is));
	hp3_handshake_cookie(not, other_secret, &ends, &h, 7);
	assert_memory_not_equal(is, not, sizeof(is));
	hp3_handshake_cookie(not, secret, &ends, &h, 8);
	assert_memory_not_equal(is, not, sizeof(is));
	others.src[3]++;
	hp3_handshake_cookie(not, secret, &others, &h, 7);
	assert_memory_not_equal(is, not, sizeof(is));
	others = ends;
	others.dst[3]++;
	hp3_handshake_cookie(not, secret, &others, &h, 7);
	assert_memory_not_equal(is, not, sizeof(is));
	other.asked++;
	hp3_handshake_cookie(not, secret, &ends, &other, 7);
	assert_memory_not_equal(is, not, sizeof(is));
	other = h;
	other.public[31]++;
	hp3_handshake_cookie(not, secret, &ends, &other, 7);
	assert_memory_not_equal(is, not, sizeof(is));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carries_what_it_was_given),
		cmocka_unit_test(nothing_is_longer_than_an_init),
		cmocka_unit_test(what_is_none_or_malformed),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(a_proof_is_of_every_bit),
		cmocka_unit_test(a_proof_is_of_one_key_receiver_and_kind),
		cmocka_unit_test(a_cookie_is_of_one_init),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
