/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/answer.h"
#include <stdlib.h>
#include <string.h>

#define SPINE_PATHS_MAX (HP3_FLEET_FLOWS * (HP3_FLEET_ALTS + 1u)) /* of a report */

struct spine_path {
	struct hp3_fleet_addr hop;
	uint16_t port;
};

struct spine_paths {
	struct spine_path at[SPINE_PATHS_MAX];
	unsigned n;
};

static const struct hp3_fleet_report *report_of_host(const struct hp3_fleet *f, const char *name)
{
	struct hp3_fleet_host h;

	for (uint32_t i = 0; name != NULL && hp3_fleet_host_at(f, i, &h); i++)
		if (!h.twin && strcmp(h.report->host, name) == 0)
			return h.report;
	return NULL;
}

static bool has_address(const struct hp3_fleet_report *r, const struct hp3_fleet_addr *a)
{
	for (unsigned i = 0; i < r->n_addrs; i++)
		if (hp3_fleet_addr_cmp(&r->addr[i], a) == 0)
			return true;
	return false;
}

static void add_spine_path(
	struct spine_paths *w, const struct hp3_fleet_report *from, uint8_t hop, uint16_t port)
{
	if (hop == HP3_FLEET_NO_HOP)
		return;
	for (unsigned i = 0; i < w->n; i++)
		if (w->at[i].port == port)
			return;
	w->at[w->n++] = (struct spine_path){from->hop[hop], port};
}

static int by_switch(const void *a, const void *b)
{
	const struct spine_path *x = a, *y = b;
	int c = hp3_fleet_addr_cmp(&x->hop, &y->hop);

	return c != 0 ? c : (int)x->port - (int)y->port;
}

static void collect_spine_paths(struct spine_paths *w, const struct hp3_fleet_report *from,
	const struct hp3_fleet_report *to)
{
	for (unsigned i = 0; i < from->n_flows; i++) {
		const struct hp3_fleet_flow *flow = &from->flow[i];

		if (!has_address(to, &flow->key.dst))
			continue;
		add_spine_path(w, from, flow->hop, flow->port);
		for (unsigned k = 0; k < flow->n_alts; k++)
			add_spine_path(w, from, flow->alt[k].hop, flow->alt[k].port);
	}
	qsort(w->at, w->n, sizeof(w->at[0]), by_switch);
}

json_t *fleet_spine_paths(const struct hp3_fleet *f, const json_t *question)
{
	const struct hp3_fleet_report *from =
		report_of_host(f, json_string_value(json_object_get(question, "from")));
	const struct hp3_fleet_report *to =
		report_of_host(f, json_string_value(json_object_get(question, "to")));
	json_t *rows = json_array();
	char hop[INET6_ADDRSTRLEN];
	struct spine_paths w = {.n = 0};

	if (from != NULL && to != NULL)
		collect_spine_paths(&w, from, to);
	for (unsigned i = 0; i < w.n; i++)
		json_array_append_new(rows, json_pack("{s:i, s:s}", "port", w.at[i].port, "hop",
						    fleet_addr_text(&w.at[i].hop, hop)));
	return rows;
}
