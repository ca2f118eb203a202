/* SPDX-License-Identifier: BSD-3-Clause */
/* Since when a warning exists, whether its counter still rises, and what the warnings amount to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "app/hp3d/control/health.h"

#define S     1000000000ull
#define BEGIN (1769903999ull * S) /* 2026-01-31T23:59:59Z */

static struct hp3d_warnings known;
static json_t *list;

static int begin(void **state)
{
	list = json_array();
	return 0;
}

static int end(void **state)
{
	json_decref(list);
	hp3d_warnings_free(&known);
	return 0;
}

static void clear(void)
{
	json_array_clear(list);
}

static void add_state(const char *code, const char *text)
{
	json_array_append_new(list, json_pack("{s:s, s:s}", "code", code, "text", text));
}

static void add_count(const char *code, const char *what, int n)
{
	json_array_append_new(list, json_pack("{s:s, s:o, s:i}", "code", code, "text",
					    json_sprintf("%s: %d", what, n), "count", n));
}

/* Notes the list `after` seconds from the beginning. */
static void note(uint64_t after)
{
	hp3d_warnings_note(&known, list, 77 * S + after * S, BEGIN + after * S);
}

static void expect(size_t i, const char *since, bool now)
{
	json_t *warning = json_array_get(list, i);

	assert_string_equal(json_string_value(json_object_get(warning, "since")), since);
	assert_int_equal(json_is_true(json_object_get(warning, "now")), now);
}

static void expect_status(const char *status)
{
	assert_string_equal(hp3d_health_status(list), status);
}

static void a_counter_is_now_for_a_minute(void **state)
{
	add_count("flows-full", "[rail.rail0]: packets without a place", 5);
	note(0);
	expect(0, "2026-01-31T23:59:59Z", true);
	note(59);
	expect(0, "2026-01-31T23:59:59Z", true);
	note(60);
	expect(0, "2026-01-31T23:59:59Z", false);
	clear();
	add_count("flows-full", "[rail.rail0]: packets without a place", 6);
	note(3601); /* it rises again */
	expect(0, "2026-01-31T23:59:59Z", true);
	note(3661);
	expect(0, "2026-01-31T23:59:59Z", false);
}

/* The numbers in its text change, and it stays the same warning. */
static void a_condition_is_now_while_it_exists(void **state)
{
	add_state("pool", "only 9 of 1000 packet buffers of rx0 are free");
	note(1);
	clear();
	add_state("pool", "only 12 of 1000 packet buffers of rx0 are free");
	add_state("pool", "only 12 of 1000 packet buffers of rx1 are free");
	note(500);
	expect(0, "2026-02-01T00:00:00Z", true);
	expect(1, "2026-02-01T00:08:19Z", true);
	clear();
	note(600);
	add_state("pool", "only 12 of 1000 packet buffers of rx0 are free");
	note(601); /* it exists again */
	expect(0, "2026-02-01T00:10:00Z", true);
}

static void rails_have_warnings_of_their_own(void **state)
{
	add_count("hangs", "[rail.rail0]: hp3d hung", 1);
	note(0);
	clear();
	add_count("hangs", "[rail.rail0]: hp3d hung", 1);
	add_count("hangs", "[rail.rail1]: hp3d hung", 1);
	note(100);
	expect(0, "2026-01-31T23:59:59Z", false);
	expect(1, "2026-02-01T00:01:39Z", true);
}

static void long_texts_are_cut(void **state)
{
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	add_state("audit", text);
	note(0);
	note(9);
	expect(0, "2026-01-31T23:59:59Z", true);
}

static void only_harm_of_now_is_more_than_a_warning(void **state)
{
	expect_status("ok");
	add_count("flows-full", "[rail.rail0]: packets without a place", 5);
	note(0);
	expect_status("warning");
	add_count("drop-tx-full", "[rail.rail0]: packets dropped", 5);
	note(1);
	expect_status("drops");
	note(61);
	expect_status("warning");
	add_state("silent", "[rail.rail0] net: requests leave, and no packet arrives");
	note(62);
	expect_status("silent");
	add_state("direct", "[rail.rail0]: RoCEv2 packets bypass hp3d");
	note(63);
	expect_status("direct");
	add_state("link-down", "[rail.rail0] net: the port has no link");
	note(64);
	expect_status("link-down");
	add_state("lcore-hangs", "1 of 2 lcores did not answer within a second");
	note(65);
	expect_status("lcore-hangs");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	static const struct CMUnitTest tests[] = {
		TEST(a_counter_is_now_for_a_minute),
		TEST(a_condition_is_now_while_it_exists),
		TEST(rails_have_warnings_of_their_own),
		TEST(long_texts_are_cut),
		TEST(only_harm_of_now_is_more_than_a_warning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
