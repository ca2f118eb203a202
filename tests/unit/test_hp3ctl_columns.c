/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate of flows from two reads, and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "app/hp3ctl/columns.h"

static json_t *flow(const char *id, json_int_t ms, int una, int nxt, json_int_t bytes)
{
	return json_pack("{s:s, s:I, s:i, s:i, s:I, s:i}", "flow", id, "t_ns", ms * 1000000, "una",
		una, "nxt", nxt, "bytes", bytes, "pmtu", 1024);
}

/* Of a flow that is read again after 100 ms; -1: none is known. */
static json_int_t rate(int una, int una2, int nxt, int nxt2, json_int_t bytes, json_int_t bytes2)
{
	json_t *was = json_pack("[o]", flow("a", 1000, una, nxt, bytes));
	json_t *is = json_pack("[o]", flow("a", 1100, una2, nxt2, bytes2)), *j;
	json_t *before = hp3ctl_rates(was, NULL);
	json_int_t kbps;

	assert_true(json_is_null(json_object_get(json_array_get(was, 0), "acked_kbps")));
	before = hp3ctl_rates(is, before);
	j = json_object_get(json_array_get(is, 0), "acked_kbps");
	kbps = json_is_integer(j) ? json_integer_value(j) : -1;
	json_decref(before);
	json_decref(was);
	json_decref(is);
	return kbps;
}

static void rates_are_of_what_was_acknowledged(void **state)
{
	/* 100 packets of 500 bytes in 100 ms: 4 Mb/s */
	assert_int_equal(rate(0, 100, 50, 150, 0, 50000), 4000);
	assert_int_equal(rate(0xfffff0, 84, 0, 100, 0, 50000), 4000); /* PSNs came round */
	assert_int_equal(rate(0, 50, 50, 150, 0, 50000), 2000); /* half of it is under way still */
	assert_int_equal(rate(7, 7, 50, 150, 0, 50000), 0); /* nothing came through */
	assert_int_equal(rate(0, 100, 100, 100, 9, 9), 8192); /* nothing left: by the path MTU */
	assert_int_equal(rate(0, 100, 200, 150, 0, 90000), 8192); /* the RNIC went back */
	assert_int_equal(rate(0, 100, 50, 150, 50000, 100), -1); /* another queue pair */
	/* So much that PSNs have come round who knows how often. */
	assert_int_equal(rate(5, 5, 6, 6, 0, 20000000000), 1600000000);
}

static void check_order(json_t *flows, const char *column, bool reverse, const char *ids)
{
	json_t *f;
	size_t i;

	hp3ctl_sort(flows, hp3ctl_column(column), reverse);
	assert_int_equal(json_array_size(flows), strlen(ids));
	json_array_foreach (flows, i, f)
		assert_int_equal(json_string_value(json_object_get(f, "flow"))[0], ids[i]);
}

static void largest_on_top_unknown_last(void **state)
{
	json_t *flows = json_pack("[o, o, o, o]", flow("d", 0, 0, 0, 7), flow("b", 0, 0, 0, 9),
		flow("c", 0, 0, 0, 7), flow("a", 0, 0, 0, 8));

	json_object_set_new(json_array_get(flows, 0), "acked_kbps", json_integer(1));
	json_object_set_new(json_array_get(flows, 1), "acked_kbps", json_null());
	json_object_set_new(json_array_get(flows, 2), "acked_kbps", json_integer(2));
	check_order(flows, "bytes", false, "bacd");
	check_order(flows, "bytes", true, "cdab");
	check_order(flows, "flow", false, "abcd");
	check_order(flows, "flow", true, "dcba");
	check_order(flows, "rate", false, "cdab");
	check_order(flows, "rate", true, "dcab");
	json_decref(flows);
}

/* Which column says why a flow is not paired. */
static void unpaired_flows_say_why(void **state)
{
	json_t *f = flow("a", 0, 0, 0, 0);
	char text[HP3CTL_CELL_MAX];

	json_object_set_new(f, "unpaired", json_string("others-near"));
	hp3ctl_cell(hp3ctl_column("unpaired"), f, text);
	assert_string_equal(text, "others-near");
	json_object_set_new(f, "unpaired", json_null());
	hp3ctl_cell(hp3ctl_column("unpaired"), f, text);
	assert_string_equal(text, "-");
	json_decref(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_of_what_was_acknowledged),
		cmocka_unit_test(largest_on_top_unknown_last),
		cmocka_unit_test(unpaired_flows_say_why),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
