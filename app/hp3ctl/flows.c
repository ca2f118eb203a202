/* SPDX-License-Identifier: BSD-3-Clause */
/* flows, show */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3ctl/columns.h"
#include "app/hp3ctl/hp3ctl.h"

#define BETWEEN_READS_MS 200u

int hp3ctl_read_flows(struct hp3ctl *ctl, const char *filter, json_t **flows)
{
	json_t *req = json_pack("{s:s}", "cmd", "flows");
	int rc;

	if (filter)
		json_object_set_new(req, "filter", json_string(filter));
	*flows = json_array();
	rc = hp3ctl_each_page(ctl, req, hp3ctl_append_page, *flows);
	if (rc != HP3CTL_DONE) {
		json_decref(*flows);
		*flows = NULL;
	}
	return rc;
}

/* Reads flows twice, for the rates; with --json only if rates are needed. */
static int read_rated(struct hp3ctl *ctl, json_t **flows)
{
	bool given = ctl->given & HP3CTL_BIT(INTERVAL);
	uint64_t ms = given ? ctl->number[HP3CTL_INTERVAL] : BETWEEN_READS_MS;
	const char *filter = ctl->text[HP3CTL_FILTER];
	bool by_rate = ctl->given & HP3CTL_BIT(SORT) && strcmp(ctl->text[HP3CTL_SORT], "rate") == 0;
	json_t *before;
	int rc = hp3ctl_read_flows(ctl, filter, flows);

	if (rc != HP3CTL_DONE || ms == 0 || (ctl->json && !given && !by_rate) ||
		json_array_size(*flows) == 0)
		return rc;
	before = hp3ctl_rates(*flows, NULL);
	json_decref(*flows);
	usleep((useconds_t)(ms * 1000));
	rc = hp3ctl_read_flows(ctl, filter, flows);
	if (rc == HP3CTL_DONE)
		before = hp3ctl_rates(*flows, before);
	json_decref(before);
	return rc;
}

void hp3ctl_print_flows(const struct hp3ctl *ctl, json_t *flows)
{
	json_t *flow;
	size_t i;

	if (!ctl->json)
		hp3ctl_print_flow_table(flows, ctl->text[HP3CTL_SORT]);
	else
		json_array_foreach (flows, i, flow)
			hp3ctl_print_json(flow);
}

int hp3ctl_flows(struct hp3ctl *ctl)
{
	json_t *flows;
	int rc = read_rated(ctl, &flows);

	if (rc != HP3CTL_DONE)
		return rc;
	if (ctl->given & HP3CTL_BIT(SORT))
		hp3ctl_sort(flows, hp3ctl_column(ctl->text[HP3CTL_SORT]),
			ctl->given & HP3CTL_BIT(REVERSE));
	hp3ctl_print_flows(ctl, flows);
	json_decref(flows);
	return rc;
}

static void print_members(const struct hp3ctl *ctl, json_t *flow)
{
	const char *key;
	json_t *value;

	json_object_foreach (flow, key, value)
		hp3ctl_print_value(key, value);
}

int hp3ctl_show(struct hp3ctl *ctl)
{
	return hp3ctl_print_answer(
		ctl, json_pack("{s:s, s:s}", "cmd", "flow", "flow", ctl->args[0]), print_members);
}
