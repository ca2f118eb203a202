/* SPDX-License-Identifier: BSD-3-Clause */
/* paths: address pairs and their paths; probes: cost and results of probing. */
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"

static void print_path(json_t *p)
{
	char id[64] = "-", age[24] = "-";
	json_t *path = json_object_get(p, "path");
	const char *hop = json_string_value(json_object_get(p, "hop"));

	if (hop)
		snprintf(id, sizeof(id), "%s", hop);
	else if (json_is_integer(path))
		snprintf(id, sizeof(id), "%lld", json_integer_value(path));
	if (hp3ctl_number(p, "age_ns") != 0)
		snprintf(age, sizeof(age), "%.1f", (double)hp3ctl_number(p, "age_ns") / 1e6);
	printf("  %6lld %-15s %-9s %10.1f %10.1f %7lld %6lld %6lld %10s\n",
		hp3ctl_number(p, "port"), id, hp3ctl_text(p, "state"),
		(double)hp3ctl_number(p, "rtt_ns") / 1e3,
		(double)hp3ctl_number(p, "base_rtt_ns") / 1e3, hp3ctl_number(p, "marked_permille"),
		hp3ctl_number(p, "flows"), hp3ctl_number(p, "losses"), age);
}

static void print_pair(json_t *pair)
{
	json_t *p, *identity = json_object_get(pair, "identity");
	size_t i;

	printf("%s: %lld flows, peer %s%s\n", hp3ctl_text(pair, "pair"),
		hp3ctl_number(pair, "flows"), hp3ctl_text(pair, "peer"),
		json_is_true(json_object_get(pair, "immovable"))
			? ", immovable (its RNIC sends IP fragments)"
			: "");
	printf("  paths identified by: %s; traces: %s", hp3ctl_text(identity, "by"),
		hp3ctl_text(identity, "tracing"));
	if (hp3ctl_number(identity, "ttl") != 0)
		printf(", by switches %lld hops away", hp3ctl_number(identity, "ttl"));
	if (json_object_get(identity, "reason"))
		printf(" (%s)", hp3ctl_text(identity, "reason"));
	printf("\n");
	if (json_array_size(json_object_get(pair, "paths")) == 0)
		return;
	printf("  %6s %-15s %-9s %10s %10s %7s %6s %6s %10s\n", "PORT", "PATH", "STATE", "RTT us",
		"BASE us", "MARKED", "FLOWS", "LOST", "AGE ms");
	json_array_foreach (json_object_get(pair, "paths"), i, p)
		print_path(p);
}

int hp3ctl_paths(struct hp3ctl *ctl)
{
	json_t *req = json_pack("{s:s}", "cmd", "paths");

	if (ctl->n_args)
		json_object_set_new(req, "flow", json_string(ctl->args[0]));
	return hp3ctl_print_list(ctl, req, print_pair);
}

/* Counters of probing, in the order of a round. */
static const char *const kinds[] = {"severe", "lossy", "rounds", "rounds_won", "probes",
	"probe_replies", "probe_strays", "acks_consumed", "placed", "placed_late",
	"message_start_searches", "failovers", "naks_made", "paid_off", "wasted"};

static bool is_about_probes(const char *key)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(key, kinds[i]) == 0)
			return true;
	}
	return strncmp(key, "probe", 5) == 0 || strncmp(key, "trace", 5) == 0;
}

int hp3ctl_probes(struct hp3ctl *ctl)
{
	json_t *data, *help, *value, *rail, *out;
	const char *key, *name, *text;
	int rc = hp3ctl_ask_data(ctl, json_pack("{s:s, s:b}", "cmd", "stats", "explain", 1), &data);

	if (rc != HP3CTL_DONE)
		return rc;
	help = json_object_get(data, "help");
	json_object_foreach (json_object_get(data, "rail"), name, rail) {
		out = json_object();
		json_object_foreach (rail, key, value) {
			if (!is_about_probes(key))
				continue;
			json_object_set(out, key, value);
			text = json_string_value(json_object_get(help, key));
			if (!ctl->json)
				printf("%s.%-24s %12lld  %s\n", name, key,
					json_integer_value(value), text ? text : "");
		}
		json_object_set_new(out, "rail", json_string(name));
		if (ctl->json)
			hp3ctl_print_json(out);
		json_decref(out);
	}
	json_decref(data);
	return HP3CTL_DONE;
}
