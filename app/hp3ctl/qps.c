/* SPDX-License-Identifier: BSD-3-Clause */
/* qps: queue pairs that applications share, in verbs mode. */
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"

static void format_port(json_t *qp, const char *key, char cell[8])
{
	if (json_is_integer(json_object_get(qp, key)))
		snprintf(cell, 8, "%u", (unsigned)hp3ctl_number(qp, key) & 0xffffu);
	else
		strcpy(cell, "-");
}

/* "responds": the peer may READ, so a move needs the peer's hp3d (rule 20). */
static const char *qp_state(json_t *qp)
{
	const char *move = hp3ctl_text(qp, "move");

	if (strcmp(move, "steady") != 0)
		return move;
	if (json_is_true(json_object_get(qp, "responds")))
		return "responds";
	return hp3ctl_text(qp, "state");
}

static void print_qp_row(json_t *qp)
{
	char in_use[8], home[8];

	format_port(qp, "port", in_use);
	format_port(qp, "home", home);
	printf("%-44s %-10s %7lld %-15s %6s %6s %-6s %-9s %9.1f %9.1f %9.1f %15lld %5lld %s",
		hp3ctl_text(qp, "flow"), hp3ctl_text(qp, "device"), hp3ctl_number(qp, "pid"),
		hp3ctl_text(qp, "program"), in_use, home, hp3ctl_text(qp, "method"), qp_state(qp),
		(double)hp3ctl_number(qp, "rate_kbps") / 1e3,
		(double)hp3ctl_number(qp, "completion_ns") / 1e3,
		(double)hp3ctl_number(qp, "completion_least_ns") / 1e3,
		hp3ctl_number(qp, "done_bytes"), hp3ctl_number(qp, "moves"),
		hp3ctl_text(qp, "failed"));
	if (json_is_string(json_object_get(qp, "failed")))
		printf(": %s", hp3ctl_text(qp, "failed_meaning"));
	putchar('\n');
}

int hp3ctl_qps(struct hp3ctl *ctl)
{
	if (!ctl->json)
		printf("%-44s %-10s %7s %-15s %6s %6s %-6s %-9s %9s %9s %9s %15s %5s %s\n", "FLOW",
			"DEVICE", "PID", "PROGRAM", "PORT", "HOME", "METHOD", "STATE", "Mb/s",
			"DONE us", "LEAST us", "BYTES", "MOVES", "FAILED");
	return hp3ctl_print_list(ctl, json_pack("{s:s}", "cmd", "qps"), print_qp_row);
}
