/* SPDX-License-Identifier: BSD-3-Clause */
/* A message is decoded as it was encoded; anything else is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "reports.h"

#define SEEDS (300u / HP3_FEWER)

static uint8_t bytes[HP3_FLEET_BYTES], again[HP3_FLEET_BYTES];

static void reports_come_back(void **state)
{
	static struct hp3_fleet_report r, back;
	size_t longest = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t rng = seed;
		size_t n;

		r = any_report(&rng);
		n = hp3_fleet_report_encode(&r, bytes, sizeof(bytes));
		assert_true(n > 0);
		memset(&back, 0x5a, sizeof(back));
		assert_int_equal(hp3_fleet_report_decode(bytes, n, &back), 0);
		assert_string_equal(back.host, r.host);
		assert_string_equal(back.leaf, r.leaf);
		assert_int_equal(back.n_flows, r.n_flows);
		for (unsigned i = 0; i < r.n_flows; i++) {
			assert_int_equal(hp3_fleet_key_cmp(&back.flow[i].key, &r.flow[i].key), 0);
			assert_int_equal(back.flow[i].hop, r.flow[i].hop);
			assert_int_equal(back.flow[i].marks, r.flow[i].marks);
			assert_int_equal(back.flow[i].advised, r.flow[i].advised);
			assert_int_equal(back.flow[i].advised_port, r.flow[i].advised_port);
		}
		assert_int_equal(hp3_fleet_report_encode(&back, again, sizeof(again)), n);
		assert_memory_equal(again, bytes, n);
		for (size_t cut = 0; cut < n; cut++)
			assert_int_equal(hp3_fleet_report_decode(bytes, cut, &back), -EBADMSG);
		bytes[n] = 0;
		assert_int_equal(hp3_fleet_report_decode(bytes, n + 1, &back), -EBADMSG);
		assert_int_equal(hp3_fleet_report_encode(&r, again, n - 1), 0);
		longest = n > longest ? n : longest;
	}
	assert_true(longest > 3000 && longest < HP3_FLEET_BYTES);
}

static void plans_and_keepalives_come_back(void **state)
{
	static struct hp3_fleet_plan p, back;
	struct hp3_fleet_keepalive keepalive = {.planner = "p-1", .term = 7, .leads = true},
				   keepalive_back;
	size_t n;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t rng = seed;

		p = any_plan(&rng);
		n = hp3_fleet_plan_encode(&p, bytes, sizeof(bytes));
		assert_true(n > 0);
		memset(&back, 0x5a, sizeof(back));
		assert_int_equal(hp3_fleet_plan_decode(bytes, n, &back), 0);
		assert_int_equal(hp3_fleet_plan_encode(&back, again, sizeof(again)), n);
		assert_memory_equal(again, bytes, n);
		assert_int_equal(back.n_moves, p.n_moves);
		assert_int_equal(hp3_fleet_plan_decode(bytes, n - 1, &back), -EBADMSG);
	}
	n = hp3_fleet_keepalive_encode(&keepalive, bytes, sizeof(bytes));
	assert_int_equal(hp3_fleet_keepalive_decode(bytes, n, &keepalive_back), 0);
	assert_string_equal(keepalive_back.planner, "p-1");
	assert_true(keepalive_back.leads && keepalive_back.term == 7);
	assert_int_equal(hp3_fleet_plan_decode(bytes, n, &back), -EBADMSG); /* another kind */
}

/* An array of five: version, kind 3, a name, a term, does it lead? */
static int decode_keepalive(const char *keepalive, size_t n)
{
	struct hp3_fleet_keepalive b;

	return hp3_fleet_keepalive_decode((const uint8_t *)keepalive, n, &b);
}
#define KEEPALIVE(text) decode_keepalive(text, sizeof(text) - 1)

static void untrusted_messages_are_refused(void **state)
{
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x61p\x07\x01"), 0);
	assert_int_equal(KEEPALIVE("\x85\x01\x03\x61p\x07\x01"), -EPROTONOSUPPORT);
	assert_int_equal(KEEPALIVE("\x86\x01\x03\x61p\x07\x01\x01"), -EPROTONOSUPPORT);
	assert_int_equal(KEEPALIVE("\x86\x02\x03\x61p\x07\x01\x01"), -EBADMSG); /* a field more */
	assert_int_equal(KEEPALIVE("\x84\x02\x03\x61p\x07"), -EBADMSG);
	assert_int_equal(
		KEEPALIVE("\x85\x02\x03\x61p\x18\x07\x01"), -EBADMSG); /* not the shortest */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x78\x01p\x07\x01"), -EBADMSG);
	assert_int_equal(KEEPALIVE("\x9f\x02\x03\x61p\x07\x01\xff"), -EBADMSG); /* no length */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x61p\x07\x02"), -EBADMSG); /* neither yes nor no */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x61p\x07\xf5"), -EBADMSG); /* true */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x61p\x20\x01"), -EBADMSG); /* negative */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x61.\x07\x01"), -EBADMSG); /* two tokens */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x61\0\x07\x01"), -EBADMSG);
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x60\x07\x01"), -EBADMSG); /* no name */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x41p\x07\x01"), -EBADMSG); /* bytes */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\xc1\x61p\x07\x01"), -EBADMSG); /* a tag */
	assert_int_equal(KEEPALIVE("\x85\x02\x03\x7b\xff\xff\xff\xff\xff\xff\xff\xffp"), -EBADMSG);
	assert_int_equal(KEEPALIVE(""), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_come_back),
		cmocka_unit_test(plans_and_keepalives_come_back),
		cmocka_unit_test(untrusted_messages_are_refused),
	};

	return cmocka_run_group_tests_name("fleet messages", tests, NULL, NULL);
}
