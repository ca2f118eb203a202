/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow ids: text and fields are equivalent; other texts are not flow ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "app/flowid.h"

static void canonical_texts_round_trip(void **state)
{
	static const char *const ids[] = {
		"rail0/10.9.0.1-10.9.0.2/0x00001c",
		"rail0.100/10.9.0.1-10.9.0.2/0x000001",
		"rail0.4095/255.255.255.255-0.0.0.0/0xffffff",
		"rail0.100.20/10.9.0.1-10.9.0.2/0x000001",
		"rail0.s100/10.9.0.1-10.9.0.2/0x000001",
		"rail0.s100.20/10.9.0.1-10.9.0.2/0x000001",
		"rail0.s0.s0/10.9.0.1-10.9.0.2/0x000001",
		"rail0.0.20/10.9.0.1-10.9.0.2/0x000001",
		"r/fd00::1-fd00::2/0x000011",
		"a-b_c/::1-::/0xabcdef",
		"rail0.1/::ffff:10.9.0.1-::ffff:10.9.0.2/0x00001c",
		("fifteenletters1.s4095.s4095/2001:db8:1111:2222:3333:4444:5555:6666-"
		 "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff/0xffffff"),
	};
	struct hp3_flowid id;
	char text[HP3_FLOWID_MAX];

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_int_equal(hp3_flowid_parse(ids[i], &id), 0);
		assert_int_equal(hp3_flowid_format(&id, text, sizeof(text)), strlen(ids[i]));
		assert_string_equal(text, ids[i]);
	}
}

static void fields_are_where_they_belong(void **state)
{
	struct hp3_flowid id;

	assert_int_equal(hp3_flowid_parse("rail-7.100/10.9.0.1-192.168.3.4/0x00001C", &id), 0);
	assert_string_equal(id.rail, "rail-7");
	assert_int_equal(id.vlan, 100);
	assert_int_equal(hp3_flowid_parse("rail-7.s100.20/10.9.0.1-192.168.3.4/0x1c", &id), 0);
	assert_int_equal(id.vlan, HP3_VLAN_AD | 20 << HP3_VLAN_INNER_SHIFT | 100);
	assert_false(id.ipv6);
	assert_memory_equal(id.local, "\x0a\x09\x00\x01\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_memory_equal(id.remote, "\xc0\xa8\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(id.rqpn, 0x1c);

	assert_int_equal(hp3_flowid_parse("r/fd00::1-fd00::2/0x1", &id), 0);
	assert_true(id.ipv6);
	assert_int_equal(id.vlan, 0);
	assert_memory_equal(id.local, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	assert_memory_equal(id.remote, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02", 16);
	assert_int_equal(id.rqpn, 1);
}

/* Every value of each field comes back; xorshift with a fixed seed. */
static void random_fields_round_trip(void **state)
{
	uint64_t x = 0x9e3779b97f4a7c15;
	char text[HP3_FLOWID_MAX];

	print_message("seed %#llx\n", (unsigned long long)x);
	for (int i = 0; i < 20000; i++) {
		struct hp3_flowid in = {.rail = "rail0"}, out;
		for (size_t k = 0; k < 16; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			/* Runs of zeros are what IPv6 texts leave out. */
			in.local[k] = (uint8_t)(x & 0x100 ? x : 0);
			in.remote[k] = (uint8_t)(x & 0x200 ? x >> 16 : 0);
		}
		in.ipv6 = x >> 32 & 1;
		in.vlan = x >> 33 & 1 ? x >> 34 & (x >> 60 & 1 ? HP3_VLAN_MAX : 0xfff) : 0;
		in.rqpn = (uint32_t)x & 0xffffff;
		if (!in.ipv6) {
			memset(in.local + 4, 0, 12);
			memset(in.remote + 4, 0, 12);
		}
		assert_true(hp3_flowid_format(&in, text, sizeof(text)) > 0);
		assert_null(strpbrk(text, ", ;*?[]{}$&|<>\"'`\\~#!"));
		assert_int_equal(hp3_flowid_parse(text, &out), 0);
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

static void junk_is_refused(void **state)
{
	static const char *const junk[] = {
		"",
		"/",
		"//",
		"rail0",
		"0x1c",
		"/0x1c",
		"//0x1c",
		"rail0/10.9.0.1-10.9.0.2",
		"rail0/10.9.0.1-10.9.0.2/",
		"rail0/10.9.0.1-10.9.0.2/0x",
		"rail0/10.9.0.1-10.9.0.2/1c",
		"rail0/10.9.0.1-10.9.0.2/0x1000000",
		"rail0/10.9.0.1-10.9.0.2/0x00000001",
		"rail0/10.9.0.1-10.9.0.2/0x1g",
		"rail0/10.9.0.1-10.9.0.2/0x-1",
		"rail0/10.9.0.1-10.9.0.2/0x 1",
		"rail0/10.9.0.1-10.9.0.2/0x1 ",
		"rail0/10.9.0.1-10.9.0.2/0X1c",
		"/10.9.0.1-10.9.0.2/0x1c",
		"rail0./10.9.0.1-10.9.0.2/0x1c",
		"rail0.0/10.9.0.1-10.9.0.2/0x1c",
		"rail0.4096/10.9.0.1-10.9.0.2/0x1c",
		"rail0.1a/10.9.0.1-10.9.0.2/0x1c",
		"rail0.1.2.3/10.9.0.1-10.9.0.2/0x1c",
		"rail0.1./10.9.0.1-10.9.0.2/0x1c",
		"rail0.1.0/10.9.0.1-10.9.0.2/0x1c",
		"rail0.0.0/10.9.0.1-10.9.0.2/0x1c",
		"rail0..2/10.9.0.1-10.9.0.2/0x1c",
		"rail0.s/10.9.0.1-10.9.0.2/0x1c",
		"rail0.s1.s/10.9.0.1-10.9.0.2/0x1c",
		"rail0.S1/10.9.0.1-10.9.0.2/0x1c",
		"rail0.1.4096/10.9.0.1-10.9.0.2/0x1c",
		".100/10.9.0.1-10.9.0.2/0x1c",
		"sixteenletters16/10.9.0.1-10.9.0.2/0x1c",
		"rail0/10.9.0.1/0x1c",
		"rail0/-10.9.0.2/0x1c",
		"rail0/10.9.0.1-/0x1c",
		"rail0/10.9.0-10.9.0.2/0x1c",
		"rail0/10.9.0.256-10.9.0.2/0x1c",
		"rail0/10.9.0.1-fd00::2/0x1c",
		"rail0/fd00::1-10.9.0.2/0x1c",
		"rail0/10.9.0.1-10.9.0.2-10.9.0.3/0x1c",
		"rail0/fd00:::1-fd00::2/0x1c",
		"rail0/x/10.9.0.1-10.9.0.2/0x1c",
		"rail0/1111111111111111111111111111111111111111111111111-10.9.0.2/0x1c",
	};
	struct hp3_flowid id;

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		if (hp3_flowid_parse(junk[i], &id) == 0)
			fail_msg("taken for a flow id: \"%s\"", junk[i]);
}

static void a_small_buffer_is_refused(void **state)
{
	struct hp3_flowid id = {.rail = "rail0", .rqpn = 1};
	char text[HP3_FLOWID_MAX];
	int n = hp3_flowid_format(&id, text, sizeof(text));

	assert_string_equal(text, "rail0/0.0.0.0-0.0.0.0/0x000001");
	assert_int_equal(hp3_flowid_format(&id, text, (size_t)n + 1), n);
	assert_true(hp3_flowid_format(&id, text, (size_t)n) < 0);
	assert_true(hp3_flowid_format(&id, text, 0) < 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(canonical_texts_round_trip),
		cmocka_unit_test(fields_are_where_they_belong),
		cmocka_unit_test(random_fields_round_trip),
		cmocka_unit_test(junk_is_refused),
		cmocka_unit_test(a_small_buffer_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
