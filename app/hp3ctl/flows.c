/* SPDX-License-Identifier: BSD-3-Clause */
/* flows, show */
#include <stdio.h>
#include <string.h>
#include "app/flowid.h"
#include "app/hp3ctl/hp3ctl.h"

#define FLOW_WIDTH_MIN 42

struct table {
	bool json, begun;
	int width; /* of the first column; the first page decides */
};

static const char *text(json_t *flow, const char *key)
{
	const char *s = json_string_value(json_object_get(flow, key));

	return s ? s : "-";
}

static json_int_t number(json_t *flow, const char *key)
{
	return json_integer_value(json_object_get(flow, key));
}

static void begin(struct table *t, json_t *flows)
{
	json_t *flow;
	size_t i;

	t->width = FLOW_WIDTH_MIN;
	json_array_foreach (flows, i, flow) {
		int n = (int)strlen(text(flow, "flow"));
		if (n > t->width)
			t->width = n;
	}
	printf("%-*s %8s %6s %6s %-9s %9s %6s %15s %9s\n", t->width, "FLOW", "LOCALQPN", "PORT",
		"HOME", "STATE", "IN FLIGHT", "MOVES", "BYTES", "IDLE ms");
	t->begun = true;
}

static void row(const struct table *t, json_t *flow)
{
	char local[16] = "-";

	if (json_is_integer(json_object_get(flow, "local_qpn")))
		snprintf(local, sizeof(local), "0x%06x", (unsigned)number(flow, "local_qpn"));
	printf("%-*s %8s %6lld %6lld %-9s %9lld %6lld %15lld %9.1f\n", t->width, text(flow, "flow"),
		local, number(flow, "port"), number(flow, "home"), text(flow, "state"),
		number(flow, "in_flight"), number(flow, "moves"), number(flow, "bytes"),
		(double)number(flow, "idle_ns") / 1e6);
}

static int print_page(void *arg, json_t *flows)
{
	struct table *t = arg;
	json_t *flow;
	size_t i;

	if (!t->json && !t->begun)
		begin(t, flows);
	json_array_foreach (flows, i, flow) {
		if (t->json)
			hp3ctl_print_json(flow);
		else
			row(t, flow);
	}
	return HP3CTL_DONE;
}

int hp3ctl_flows(struct hp3ctl *ctl)
{
	struct table t = {.json = ctl->json};

	return hp3ctl_each_page(ctl, print_page, &t);
}

int hp3ctl_show(struct hp3ctl *ctl)
{
	char id[HP3_FLOWID_MAX];
	json_t *answer, *flow, *value;
	const char *key;
	int rc = hp3ctl_resolve(ctl, ctl->args[0], id, sizeof(id));

	if (rc == HP3CTL_DONE)
		rc = hp3ctl_ask(ctl, json_pack("{s:s, s:s}", "cmd", "flow", "flow", id), &answer);
	if (rc != HP3CTL_DONE)
		return rc;
	flow = json_object_get(answer, "data");
	if (ctl->json)
		hp3ctl_print_json(flow);
	else
		json_object_foreach (flow, key, value)
			hp3ctl_print_value(key, value);
	json_decref(answer);
	return HP3CTL_DONE;
}
