/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of [filter]: their syntax, and the addresses that pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <cmocka.h>
#include <string.h>
#include "config/filter.h"

static bool has(const char *peers, const char *addr)
{
	struct hp3_filter f = hp3_filter_make(peers, "", "");
	bool ipv6 = inet_pton(AF_INET, addr, (uint8_t[16]){0}) != 1;
	uint8_t a[16] = {0};

	assert_int_equal(inet_pton(ipv6 ? AF_INET6 : AF_INET, addr, a), 1);
	return hp3_filter_has_peer(&f, ipv6, a);
}

static void peers(void **state)
{
	assert_true(has("", "192.0.2.1"));
	assert_true(has("192.0.2.1", "192.0.2.1"));
	assert_false(has("192.0.2.1", "192.0.2.2"));
	assert_true(has("10.0.0.0/8 ,\t192.0.2.0/25", "192.0.2.127"));
	assert_false(has("10.0.0.0/8,192.0.2.0/25", "192.0.2.128"));
	assert_true(has("0.0.0.0/0", "203.0.113.9"));
	assert_false(has("0.0.0.0/0", "fd00::1"));
	assert_true(has("fd00:1::/33", "fd00:1:7fff::1"));
	assert_false(has("fd00:1::/33", "fd00:1:8000::1"));
}

static void what_is_no_list(void **state)
{
	static const char *const no_peers[] = {"10.0.0.1,", ",10.0.0.1", "10.0.0", "10.0.0.1/33",
		"fd00::/129", "10.0.0.1/", "10.0.0.1/-1", "host", "10.0.0.1 10.0.0.2",
		"10.0.0.1/ 8"};
	static const char *const no_dscp[] = {"64", "5-3", "-1", "1-", "1,,2", "a", "0x", "1 - 3"};
	static const char *const no_qpns[] = {
		"0x1000000", "16777216", "2-1", "0xg", "99999999999999999999"};
	char many[HP3_FILTER_MAX * 2 + 2] = "";

	for (size_t i = 0; i < sizeof(no_peers) / sizeof(no_peers[0]); i++)
		assert_false(hp3_filter_valid_peers(no_peers[i]));
	for (size_t i = 0; i < sizeof(no_dscp) / sizeof(no_dscp[0]); i++)
		assert_false(hp3_filter_valid_dscp(no_dscp[i]));
	for (size_t i = 0; i < sizeof(no_qpns) / sizeof(no_qpns[0]); i++)
		assert_false(hp3_filter_valid_qpns(no_qpns[i]));
	for (unsigned i = 0; i < HP3_FILTER_MAX; i++)
		strcat(many, i == 0 ? "7" : ",7");
	assert_true(hp3_filter_valid_qpns(many));
	strcat(many, ",7");
	assert_false(hp3_filter_valid_qpns(many));
}

static void numbers(void **state)
{
	struct hp3_filter f = hp3_filter_make("", "0, 26,46-48 ,63", "17,0x100-0x1ff, 0xffffff");

	assert_true(hp3_filter_is_set(&f));
	assert_int_equal(f.dscp, 1ull | 1ull << 26 | 7ull << 46 | 1ull << 63);
	assert_true(hp3_filter_has_dscp(&f, 47));
	assert_false(hp3_filter_has_dscp(&f, 45));
	assert_false(hp3_filter_has_dscp(&f, HP3_NO_DSCP));
	assert_true(hp3_filter_has_qpn(&f, 0x17f));
	assert_true(hp3_filter_has_qpn(&f, 17));
	assert_false(hp3_filter_has_qpn(&f, 0x200));
	f = hp3_filter_make("", "", "");
	assert_false(hp3_filter_is_set(&f));
	assert_true(hp3_filter_has_dscp(&f, HP3_NO_DSCP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peers),
		cmocka_unit_test(what_is_no_list),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
