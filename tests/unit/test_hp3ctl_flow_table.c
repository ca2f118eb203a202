/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of flows fits in 100 columns, whatever the flows are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3ctl/columns.h"
#include "app/hp3ctl/hp3ctl.h"

#define IPV4 "rail0/192.168.100.101-192.168.100.102/0xffffff"
#define IPV6                                                                                       \
	"rail0/2001:db8:1111:2222:3333:4444:5555:6666-2001:db8:1111:2222:3333:4444:5555:7777/"     \
	"0xffffff"

static char output[1u << 14];

/* Prints the table into `output`. */
static void print_table(json_t *flows, const char *sort)
{
	FILE *f = tmpfile();
	int was = dup(STDOUT_FILENO);
	size_t n;

	assert_non_null(f);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	hp3ctl_print_flow_table(flows, sort);
	fflush(stdout);
	dup2(was, STDOUT_FILENO);
	close(was);
	rewind(f);
	n = fread(output, 1, sizeof(output) - 1, f);
	output[n] = '\0';
	fclose(f);
	json_decref(flows);
}

/* A flow with the longest value in each column; `reason`: NULL if it is paired. */
static json_t *widest(const char *id, const char *reason)
{
	json_t *f = json_pack("{s:s, s:I, s:i, s:i, s:s, s:I, s:I, s:i, s:I, s:I}", "flow", id,
		"local_qpn", (json_int_t)0xffffff, "port", 65535, "home", 65534, "state",
		"searching", "acked_kbps", (json_int_t)400000000, "in_flight", (json_int_t)8388607,
		"moves", 255, "bytes", (json_int_t)281474976710655, "idle_ns",
		(json_int_t)86400000000000);

	json_object_set_new(f, "path",
		json_pack("{s:s, s:I, s:i}", "hop", "192.168.200.200", "rtt_ns",
			(json_int_t)4294967295, "marked_permille", 1000));
	json_object_set_new(f, "unpaired", reason ? json_string(reason) : json_null());
	json_object_set_new(f, "unpaired_text", json_string("requests have an opcode"));
	json_object_set_new(f, "unpaired_help",
		json_string("a help that is so long that it has to continue on the next line, and "
			    "on the line after that one, because it has more than 100 characters"));
	return f;
}

/* Checks all lines but those that consist of the id. */
static void check_width(const char *id)
{
	for (const char *at = output, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		bool is_id = (size_t)(end - at) == strlen(id) && strncmp(at, id, strlen(id)) == 0;

		assert_true(is_id || end - at <= HP3CTL_WIDTH);
		assert_true(end == at || end[-1] != ' ');
	}
}

static void the_widest_flow_fits(void **state)
{
	print_table(json_pack("[o, o]", widest(IPV4, NULL), widest(IPV4, "unknown-opcode")), NULL);
	check_width(IPV4);
	assert_non_null(strstr(output, "\n" IPV4 " 65535 "));
	assert_non_null(strstr(output, " unknown-opcode\n"));
	assert_non_null(strstr(output,
		"\n\n1 flow is not paired, unknown-opcode: requests have an opcode; a help"));
	assert_null(strstr(output, "BYTES"));
}

static void the_column_of_the_order_is_shown(void **state)
{
	for (unsigned i = 1; hp3ctl_columns[i].name; i++) {
		print_table(json_pack("[o]", widest(IPV4, "wrong-icrc")), hp3ctl_columns[i].name);
		check_width(IPV4);
		assert_non_null(strstr(output, hp3ctl_columns[i].title));
	}
}

static void long_ids_are_on_lines_of_their_own(void **state)
{
	print_table(json_pack("[o, o]", widest(IPV6, NULL), widest(IPV6, NULL)), NULL);
	check_width(IPV6);
	assert_non_null(strstr(output, "\n" IPV6 "\n 0xffffff 65535 "));
	assert_null(strstr(output, "UNPAIRED"));
	assert_null(strstr(output, "\n\n"));
}

static void no_flows_are_a_line_of_titles(void **state)
{
	print_table(json_array(), NULL);
	assert_true(strncmp(output, "FLOW LOCALQPN PORT HOME STATE ", 30) == 0);
	assert_string_equal(strchr(output, '\n'), "\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_widest_flow_fits),
		cmocka_unit_test(the_column_of_the_order_is_shown),
		cmocka_unit_test(long_ids_are_on_lines_of_their_own),
		cmocka_unit_test(no_flows_are_a_line_of_titles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
