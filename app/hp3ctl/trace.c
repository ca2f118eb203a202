/* SPDX-License-Identifier: BSD-3-Clause */
/* trace: requests traces, batch by batch, and prints their results. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "app/hp3ctl/hp3ctl.h"

#define TRACES_BATCH    64
#define TRACES_PAUSE_US 10000
#define TRACES_POLLS    1000 /* longer than any time-out of hp3d */

static void print_traces(const struct hp3ctl *ctl, json_t *data)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(data, "ports"), i, row) {
		if (ctl->json)
			hp3ctl_print_json(row);
		else
			printf("%5lld  %-8s %-39s %s\n", hp3ctl_number(row, "port"),
				hp3ctl_text(row, "outcome"), hp3ctl_text(row, "hop"),
				hp3ctl_text(row, "known"));
	}
}

/* NULL: an argument is not a port. */
static json_t *ports_of(const struct hp3ctl *ctl, int first)
{
	json_t *list = json_array();

	for (int i = first; i < ctl->n_args && i < first + TRACES_BATCH; i++) {
		char *end;
		long port = strtol(ctl->args[i], &end, 10);

		if (*end != '\0' || port < 1 || port > UINT16_MAX) {
			hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", "see hp3ctl trace --help",
				"trace: a PORT is a number from 1 to 65535, not %s", ctl->args[i]);
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, json_integer(port));
	}
	return list;
}

/* Prints the answers of one batch. */
static int await_traces(struct hp3ctl *ctl, const char *flow)
{
	for (int i = 0; i < TRACES_POLLS; i++) {
		json_t *data;
		int rc = hp3ctl_ask_data(
			ctl, json_pack("{s:s, s:s}", "cmd", "trace", "flow", flow), &data);
		bool done = rc == HP3CTL_DONE && hp3ctl_number(data, "missing") == 0;

		if (rc != HP3CTL_DONE)
			return rc;
		if (done)
			print_traces(ctl, data);
		json_decref(data);
		if (done)
			return HP3CTL_DONE;
		usleep(TRACES_PAUSE_US);
	}
	return hp3ctl_fail(ctl, HP3CTL_FAILED, "no-result",
		"raise traces_per_second in [ppp], or ask for fewer ports",
		"traces without a result");
}

static int ask_batch(struct hp3ctl *ctl, const char *flow, int first)
{
	bool known = ctl->given & HP3CTL_BIT(KNOWN);
	json_t *data, *req, *ports = ports_of(ctl, first);
	int rc;

	if (!ports)
		return HP3CTL_USAGE;
	req = json_pack("{s:s, s:s, s:o, s:b}", "cmd", "trace", "flow", flow, "ports", ports,
		"known", known);
	if (ctl->number[HP3CTL_TTL])
		json_object_set_new(req, "ttl", json_integer((json_int_t)ctl->number[HP3CTL_TTL]));
	rc = hp3ctl_ask_data(ctl, req, &data);
	if (rc != HP3CTL_DONE)
		return rc;
	if (known)
		print_traces(ctl, data);
	json_decref(data);
	return known ? rc : await_traces(ctl, flow);
}

int hp3ctl_trace(struct hp3ctl *ctl)
{
	int rc = HP3CTL_DONE;

	if (!ctl->json)
		printf("%5s  %-8s %-39s %s\n", "PORT", "OUTCOME", "HOP", "KNOWN AS");
	for (int i = 1; rc == HP3CTL_DONE && i < ctl->n_args; i += TRACES_BATCH)
		rc = ask_batch(ctl, ctl->args[0], i);
	return rc;
}
