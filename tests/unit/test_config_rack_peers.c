/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of rack peers: valid and invalid ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "config/rack_peers.h"

/* The addresses, by blanks. */
static void expect(const char *text, const char *hosts)
{
	struct hp3_rack_peers m = hp3_rack_peers_parse(text);
	char got[4096] = "", one[INET6_ADDRSTRLEN];

	assert_true(hp3_rack_peers_valid(text));
	for (uint32_t i = 0; i < m.n; i++) {
		inet_ntop(m.host[i].ipv6 ? AF_INET6 : AF_INET, m.host[i].addr, one, sizeof(one));
		sprintf(got + strlen(got), "%s%s", i == 0 ? "" : " ", one);
	}
	assert_string_equal(got, hosts);
}

static void hosts(void **state)
{
	expect("", "");
	expect("10.0.1.7", "10.0.1.7");
	expect("10.0.1.7, fd00::1 ,10.0.1.6", "10.0.1.7 fd00::1 10.0.1.6");
	expect("10.0.1.8/29", "10.0.1.9 10.0.1.10 10.0.1.11 10.0.1.12 10.0.1.13 10.0.1.14");
	expect("10.0.1.13/30", "10.0.1.13 10.0.1.14");
	expect("10.0.1.254/31", "10.0.1.254 10.0.1.255");
	expect("fd00::fe/127", "fd00::fe fd00::ff");
	expect("10.0.1.1, 10.0.1.0/30, 10.0.1.1", "10.0.1.1 10.0.1.2");
}

static void at_most_so_many(void **state)
{
	static const char *const no_rack[] = {"10.0.1.0/25", "10.0.0.0/8", "0.0.0.0/0", "::/0",
		"fd00::/121", "10.0.1.0/26, 10.0.2.0/29", "10.0.1.1,", ",", "host", "10.0.1",
		"10.0.1.1/33", "10.0.1.1 10.0.1.2"};
	char list[1024] = "";

	for (size_t i = 0; i < sizeof(no_rack) / sizeof(no_rack[0]); i++)
		assert_false(hp3_rack_peers_valid(no_rack[i]));
	assert_int_equal(hp3_rack_peers_parse("10.0.1.0/26").n, 62);
	assert_int_equal(hp3_rack_peers_parse("fd00::/122").n, HP3_RACK_PEERS_MAX);
	assert_int_equal(
		hp3_rack_peers_parse("10.0.1.0/26, 10.0.2.1, 10.0.2.2").n, HP3_RACK_PEERS_MAX);
	for (unsigned i = 0; i < HP3_RACK_PEERS_MAX; i++)
		sprintf(list + strlen(list), "10.0.%u.1,", i);
	strcat(list, "10.0.3.1");
	assert_int_equal(hp3_rack_peers_parse(list).n, HP3_RACK_PEERS_MAX);
	strcat(list, ",10.0.64.1");
	assert_false(hp3_rack_peers_valid(list));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts),
		cmocka_unit_test(at_most_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
