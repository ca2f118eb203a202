/* SPDX-License-Identifier: BSD-3-Clause */
/* The secrets of a pair of hosts, against values computed by another implementation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "probes/identity.h"

static struct hp3_identity a, b;
static struct hp3_pair_ends there, back;

static int setup(void **state)
{
	const uint8_t here[4] = {10, 9, 0, 1}, far[4] = {10, 9, 0, 2};
	uint8_t seed[2][HP3_SEED_LEN];

	for (unsigned i = 0; i < HP3_SEED_LEN; i++) {
		seed[0][i] = (uint8_t)i;
		seed[1][i] = (uint8_t)(HP3_SEED_LEN + i);
	}
	hp3_identity_from_seed(&a, seed[0]);
	hp3_identity_from_seed(&b, seed[1]);
	there = hp3_pair_ends_of(false, here, far);
	back = hp3_pair_ends_of(false, far, here);
	return 0;
}

/* X25519 after RFC 7748 (which gives its own test vector) and BLAKE2b of hashlib, in Python. */
static void as_others_compute_it(void **state)
{
	static const uint8_t public[HP3_PUBLIC_LEN] = {0x0e, 0x02, 0x16, 0x22, 0x3f, 0x14, 0x71,
		0x43, 0xd3, 0x26, 0x15, 0xa9, 0x11, 0x89, 0xc2, 0x88, 0xc1, 0x72, 0x8c, 0xba, 0x3c,
		0xc5, 0xf9, 0xf6, 0x21, 0xb1, 0x02, 0x6e, 0x03, 0xd8, 0x31, 0x29};
	static const struct hp3_pair_secret
		out = {{0x76, 0x0e, 0x25, 0x5a, 0xfb, 0x37, 0xad, 0x55, 0x54, 0xba, 0xde, 0x30,
			       0x5e, 0xdd, 0x05, 0x5a},
			{0x0a, 0xe4, 0xcc, 0xca, 0x0a, 0x23, 0xa6, 0xe3, 0x97, 0x9e, 0x44, 0x1f,
				0x2a, 0x2e, 0xad, 0xae}},
		in = {{0x21, 0xd9, 0xda, 0x66, 0x4d, 0x36, 0x95, 0x5d, 0x5c, 0xab, 0x01, 0x80, 0x25,
			      0xef, 0xd1, 0xcf},
			{0xf4, 0x02, 0x75, 0xb3, 0x66, 0xef, 0x56, 0x8a, 0xdd, 0xad, 0x6d, 0xc4,
				0x77, 0xbc, 0x76, 0xa5}};
	struct hp3_pair_secrets s;
	char text[HP3_FINGERPRINT_LEN];

	assert_memory_equal(a.public, public, sizeof(public));
	assert_int_equal(hp3_identity_pair(&s, &a, b.public, &there), 0);
	assert_memory_equal(&s.out, &out, sizeof(out));
	assert_memory_equal(&s.in, &in, sizeof(in));
	hp3_fingerprint(text, a.public);
	assert_string_equal(text, "a2f7-6244-f32f-4f34");
}

static void both_hosts_have_the_same(void **state)
{
	struct hp3_pair_secrets s, t;

	assert_int_equal(hp3_identity_pair(&s, &a, b.public, &there), 0);
	assert_int_equal(hp3_identity_pair(&t, &b, a.public, &back), 0);
	assert_memory_equal(&s.out, &t.in, sizeof(s.out));
	assert_memory_equal(&s.in, &t.out, sizeof(s.in));
	assert_memory_not_equal(&s.in, &s.out, sizeof(s.in));
}

static void two_rails_of_one_host(void **state)
{
	struct hp3_pair_secrets s, t;

	assert_int_equal(hp3_identity_pair(&s, &a, a.public, &there), 0);
	assert_int_equal(hp3_identity_pair(&t, &a, a.public, &back), 0);
	assert_memory_equal(&s.out, &t.in, sizeof(s.out));
	assert_memory_equal(&s.in, &t.out, sizeof(s.in));
	assert_memory_not_equal(&s.in, &s.out, sizeof(s.in));
}

static void other_addresses_have_others(void **state)
{
	const uint8_t six[16] = {10, 9, 0, 1}, sixth[16] = {10, 9, 0, 2};
	struct hp3_pair_ends ends = there, wide = {0};
	struct hp3_pair_secrets s, t;

	assert_int_equal(hp3_identity_pair(&s, &a, b.public, &there), 0);
	ends.dst[3]++;
	assert_int_equal(hp3_identity_pair(&t, &a, b.public, &ends), 0);
	assert_memory_not_equal(&s.out, &t.out, sizeof(s.out));
	assert_memory_not_equal(&s.in, &t.in, sizeof(s.in));
	wide = hp3_pair_ends_of(true, six, sixth);
	assert_int_equal(hp3_identity_pair(&t, &a, b.public, &wide), 0);
	assert_memory_not_equal(&s.out, &t.out, sizeof(s.out));
}

/* With these, the shared point is 0 for every secret (RFC 7748, 6.1). */
static void public_keys_of_low_order(void **state)
{
	static const uint8_t low[][HP3_PUBLIC_LEN] = {{0}, {1},
		{0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f,
			0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62,
			0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
		{0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83,
			0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22,
			0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57}};
	uint8_t p[3][HP3_PUBLIC_LEN]; /* 2^255 - 20, - 19, - 18 */
	struct hp3_pair_secrets s;

	for (unsigned i = 0; i < sizeof(low) / sizeof(low[0]); i++)
		assert_int_equal(hp3_identity_pair(&s, &a, low[i], &there), -EINVAL);
	for (unsigned i = 0; i < 3; i++) {
		memset(p[i], 0xff, sizeof(p[i]));
		p[i][0] = (uint8_t)(0xec + i);
		p[i][31] = 0x7f;
		assert_int_equal(hp3_identity_pair(&s, &a, p[i], &there), -EINVAL);
		assert_int_equal(hp3_identity_pair(&s, &b, p[i], &back), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(as_others_compute_it, setup),
		cmocka_unit_test_setup(both_hosts_have_the_same, setup),
		cmocka_unit_test_setup(two_rails_of_one_host, setup),
		cmocka_unit_test_setup(other_addresses_have_others, setup),
		cmocka_unit_test_setup(public_keys_of_low_order, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
