/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-fleet agent makes a report of hp3d's answers, whatever their content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "app/fleet/gather.h"

static struct fleet_gather g;
static struct hp3_fleet_report r;

static int begin(void **state)
{
	g = (struct fleet_gather){.host = "h0", .leaf = "l0", .instance = 7, .interval_ms = 1000};
	return 0;
}

static int end(void **state)
{
	json_decref(g.before);
	return 0;
}

/* A flow of hp3d as the control socket has it, with what matters here. */
static json_t *flow(const char *id, uint64_t at_s, uint64_t bytes, unsigned moves, const char *hop)
{
	return json_pack("{s:s, s:I, s:I, s:i, s:i, s:i, s:b, s:s, s:n, s:b, s:i, s:{s:I, s:I, "
			 "s:i, s:s?}}",
		"flow", id, "t_ns", (json_int_t)(at_s * 1000000000), "bytes", (json_int_t)bytes,
		"moves", moves, "port", 50000, "pmtu", 1024, "paired", 1, "state", "steady",
		"barred", "severe", 0, "retransmits", 3, "path", "rtt_ns", (json_int_t)9000,
		"base_rtt_ns", (json_int_t)8000, "marked_permille", 250, "hop", hop);
}

/* The list is given away. */
static void report_of(uint64_t at_s, bool at_once, json_t *flows)
{
	static uint8_t bytes[HP3_FLEET_BYTES], twice[HP3_FLEET_BYTES];
	static struct hp3_fleet_report again;
	size_t n;

	fleet_gather(&g, flows, at_once, at_s * 1000, 5, &r);
	json_decref(flows);
	n = hp3_fleet_report_encode(&r, bytes, sizeof(bytes));
	assert_true(n > 0);
	assert_int_equal(hp3_fleet_report_decode(bytes, n, &again), 0);
	assert_int_equal(hp3_fleet_report_encode(&again, twice, sizeof(twice)), n);
	assert_memory_equal(bytes, twice, n);
}

static void report(uint64_t at_s, json_t *flows)
{
	report_of(at_s, false, flows);
}

#define A "rail0/10.0.0.1-10.0.1.1/0x000011"
#define B "rail0/10.0.0.1-10.0.1.1/0x000012"
#define C "rail0/fd00::1-fd00::2/0x000013"

/* Rates and marks are what was added since the last time. */
static void what_flows_did(void **state)
{
	report(10, json_pack("[o, o]", flow(A, 10, 5000000, 0, "10.255.0.1"),
			   flow(B, 10, 1000, 0, "10.255.0.2")));
	assert_int_equal(r.n_flows, 0);
	assert_int_equal(r.all_flows, 2);
	assert_int_equal(r.n_addrs, 1);
	report(12, json_pack("[o, o]", flow(A, 12, 5000000 + 1024000, 0, "10.255.0.1"),
			   flow(B, 12, 1000 + 2048000, 0, "10.255.0.2")));
	assert_int_equal(r.n_flows, 2);
	assert_int_equal(r.flow[0].key.qpn, 0x12); /* the heaviest first */
	assert_int_equal(r.flow[0].rate_kbps, 8192);
	assert_int_equal(r.flow[1].rate_kbps, 4096);
	assert_int_equal(r.flow[1].marks, 250); /* a quarter of 1000 packets */
	assert_int_equal(r.flow[1].settled_ms, 2000);
	assert_int_equal(r.flow[1].failures, 3);
	assert_int_equal(r.flow[1].flags, HP3_FLEET_MOVABLE);
	assert_int_equal(r.n_hops, 2);
	assert_int_not_equal(r.flow[0].hop, r.flow[1].hop);
	assert_int_equal(r.seq, 2);
	report(14, json_pack("[o]", flow(A, 14, 5000000 + 2048000, 1, "10.255.0.2")));
	assert_int_equal(r.flow[0].settled_ms, 0); /* it has moved */
	assert_int_equal(r.flow[0].marks, 500);
	assert_int_equal(r.capability, HP3_FLEET_CAN_TRACE); /* it takes no advice */
}

/* Between two reports: where flows are now, and what they did in the whole interval before. */
static void at_once(void **state)
{
	report(10, json_pack("[o]", flow(A, 10, 0, 0, "10.255.0.1")));
	report(12, json_pack("[o]", flow(A, 12, 1024000, 0, "10.255.0.1")));
	assert_int_equal(r.flow[0].rate_kbps, 4096);
	report_of(13, true,
		json_pack("[o, o]", flow(A, 13, 1024000, 0, "10.255.0.1"),
			flow(B, 13, 9000000, 0, "10.255.0.2")));
	assert_int_equal(r.n_flows, 1); /* what the other one does is not known yet */
	assert_int_equal(r.flow[0].rate_kbps, 4096); /* it has just stalled */
	assert_int_equal(r.flow[0].marks, 250);
	assert_int_equal(r.flow[0].settled_ms, 3000);
	assert_int_equal(r.seq, 3);
	report_of(13, true, json_pack("[o]", flow(A, 13, 1024000, 1, "10.255.0.2")));
	assert_int_equal(r.flow[0].settled_ms, 0);
	report(14, json_pack("[o]", flow(A, 14, 2048000, 1, "10.255.0.2")));
	assert_int_equal(r.flow[0].rate_kbps, 4096); /* since 12 s */
	assert_int_equal(r.flow[0].marks, 500);
}

static json_t *path(unsigned port, const char *hop, const char *state)
{
	return json_pack("{s:i, s:s?, s:s}", "port", port, "hop", hop, "state", state);
}

static void where_else_flows_could_go(void **state)
{
	json_t *pair = json_pack("{s:s, s:[o, o, o, o, o, o]}", "pair", "rail0/10.0.0.1-10.0.1.1",
		"paths", path(50000, "10.255.0.1", "good"), path(50001, "10.255.0.3", "good"),
		path(50002, "10.255.0.3", "good"), path(50003, "10.255.0.4", "failed"),
		path(50004, NULL, "good"), path(50005, "10.255.0.2", "unknown"));

	for (unsigned s = 10; s < 12; s++)
		report(s, json_pack("[o, o, o]", flow(A, s, s * 1000000, 0, "10.255.0.1"),
				  flow(B, s, s * 1000, 0, NULL), flow(C, s, s * 1000, 0, NULL)));
	assert_string_equal(fleet_gather_asks(&g, 0), A);
	assert_null(fleet_gather_asks(&g, 1)); /* of the same pair */
	assert_string_equal(fleet_gather_asks(&g, 2), C);
	fleet_gather_pair(&g, pair, &r);
	json_decref(pair);
	assert_int_equal(r.flow[0].n_alts, 2);
	assert_int_equal(r.flow[0].alt[0].port, 50001);
	assert_int_equal(r.flow[0].alt[1].port, 50005);
	assert_int_equal(r.flow[1].n_alts, 3); /* where it is, nobody knows */
	assert_int_equal(r.flow[1].hop, HP3_FLEET_NO_HOP);
	assert_int_equal(r.flow[2].n_alts, 0);
	fleet_gather_pair(&g, NULL, &r);
}

/* More than a report has room for, and counts that begin anew. */
static void many_flows(void **state)
{
	char id[HP3_FLOWID_MAX];
	json_t *flows;

	for (unsigned s = 1; s <= 3; s++) {
		flows = json_array();
		for (unsigned i = 0; i < 100; i++) {
			snprintf(id, sizeof(id), "rail0/10.0.%u.1-10.1.0.1/0x%06x", i % 9, i);
			json_array_append_new(flows,
				flow(id, s, s == 3 ? 1 : s * (1000 + i) * 1000, 0, "10.255.0.1"));
		}
		report(s, flows);
		assert_int_equal(r.n_flows, s == 2 ? HP3_FLEET_FLOWS : 0);
		assert_int_equal(r.all_flows, 100);
		assert_int_equal(r.n_addrs, HP3_FLEET_ADDRS);
	}
}

static void what_is_no_flow_is_left_out(void **state)
{
	json_t *flows = json_pack("[i, n, {s:i}, {s:s}, {s:s, s:s, s:i, s:s}, o, o]", 5, "flow", 3,
		"flow", "nonsense", "flow", C, "bytes", "many", "port", -1, "path", "none",
		flow(A, 1, 100, 0, "no address"), flow(A, 1, 200, 0, NULL));

	report(1, flows);
	assert_int_equal(r.all_flows, 2);
	flows = json_pack("[{s:s, s:I, s:I, s:I, s:{s:I}}]", "flow", A, "bytes", INT64_MAX, "t_ns",
		(json_int_t)1000000001, "port", INT64_MAX, "path", "marked_permille", INT64_MAX);
	report(2, flows);
	assert_int_equal(r.n_flows, 1);
	assert_int_equal(r.flow[0].marked_permille, 1000);
	assert_int_equal(r.flow[0].flags, 0);
	report(3, json_pack("{}"));
	report(4, NULL);
	assert_int_equal(r.all_flows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_flows_did, begin, end),
		cmocka_unit_test_setup_teardown(at_once, begin, end),
		cmocka_unit_test_setup_teardown(where_else_flows_could_go, begin, end),
		cmocka_unit_test_setup_teardown(many_flows, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_flow_is_left_out, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
