/* SPDX-License-Identifier: BSD-3-Clause */
/* peers: hosts with which this one has flows, and by which key they are authenticated. */
#include <stdio.h>
#include "app/hp3ctl/hp3ctl.h"

static const char *text(json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "-";
}

/* In units of `ns` nanoseconds; "-": not known. */
static void amount(json_t *j, const char *key, double ns, char cell[24])
{
	json_t *value = json_object_get(j, key);

	if (json_is_integer(value))
		snprintf(cell, 24, "%.1f", (double)json_integer_value(value) / ns);
	else
		snprintf(cell, 24, "-");
}

static void count(json_t *j, const char *key, char cell[24])
{
	json_t *value = json_object_get(j, key);

	if (json_is_integer(value))
		snprintf(cell, 24, "%lld", json_integer_value(value));
	else
		snprintf(cell, 24, "-");
}

static const char *yes(json_t *j, const char *key)
{
	return json_is_true(json_object_get(j, key)) ? "yes" : "no";
}

#define ROW "%-10s %-39s %-39s %4s %-7s %3s %-5s %-19s %10s %-6s %-7s %7s %11s %10s %10s\n"

static void print_peer(json_t *p)
{
	char vlan[24], version[24], keyed[24], sprayed[24], resequenced[24], rtt[24], seen[24];

	count(p, "vlan", vlan);
	count(p, "version", version);
	count(p, "sprayed", sprayed);
	count(p, "resequenced", resequenced);
	amount(p, "keyed_ns", 1e9, keyed);
	amount(p, "rtt_ns", 1e3, rtt);
	amount(p, "seen_ns", 1e9, seen);
	printf(ROW, text(p, "rail"), text(p, "local"), text(p, "peer"), vlan, text(p, "hp3d"),
		version, text(p, "key"), text(p, "identity"), keyed, yes(p, "probes"),
		yes(p, "reports"), sprayed, resequenced, rtt, seen);
}

static int print_page(void *arg, json_t *peers)
{
	const struct hp3ctl *ctl = arg;
	json_t *peer;
	size_t i;

	json_array_foreach (peers, i, peer) {
		if (ctl->json)
			hp3ctl_print_json(peer);
		else
			print_peer(peer);
	}
	return HP3CTL_DONE;
}

int hp3ctl_peers(struct hp3ctl *ctl)
{
	if (!ctl->json)
		printf(ROW, "RAIL", "LOCAL", "PEER", "VLAN", "HP3D", "VER", "KEY", "IDENTITY",
			"KEYED s", "PROBES", "REPORTS", "SPRAYED", "RESEQUENCED", "RTT us",
			"SEEN s");
	return hp3ctl_each_page(ctl, json_pack("{s:s}", "cmd", "peers"), print_page, ctl);
}
