/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/fleet/gather.h"
#include "config/address.h"
#include "fleet/names.h"

#define FIELD(f)                                                                                   \
	.offset = offsetof(struct fleet_config, f), .size = sizeof(((struct fleet_config *)0)->f)
#define INT(sec, name, field, u, d, lo, hi, h)                                                     \
	{                                                                                          \
		.section = sec, .key = name, FIELD(field), .type = HP3_INI_INT, .unit = u,         \
		.def = d, .min = lo, .max = hi, .help = h                                          \
	}
#define TEXT(name, field, d, ok, r, h) TEXT_OF("fleet", name, field, d, ok, r, h)
#define TEXT_OF(sec, name, field, d, ok, r, h)                                                     \
	{                                                                                          \
		.section = sec, .key = name, FIELD(field), .type = HP3_INI_STRING,                 \
		.def_string = d, .max = sizeof(((struct fleet_config *)0)->field) - 1,             \
		.valid = ok, .rule = r, .help = h                                                  \
	}

static const struct hp3_ini_section sections[] = {
	{"fleet", "NATS, and the address of hp3-fleet. A file name without / names a credential "
		  "from systemd (LoadCredential=)."},
	{"map", "Properties of the fabric, and the size of its map."},
	{"plan", "Which flows a plan advises to leave which links."},
	{"agent", "hp3-fleet agent: a host's reports of its flows, and its use of plans."},
	{"alarms", "Astral's three levels: periods with too many marks."},
};

static bool is_loopback(const char *text)
{
	struct hp3_address a;

	return hp3_address_parse(text, &a) && a.loopback;
}

static bool are_addresses(const char *text)
{
	char list[HP3_INI_VALUE_MAX], *next = list, *one;
	struct hp3_fleet_addr a;

	snprintf(list, sizeof(list), "%s", text);
	while ((one = strsep(&next, ", ")) != NULL)
		if (*one != '\0' && !fleet_addr_parse(one, &a))
			return false;
	return true;
}

static const char *const off_or_on[] = {"off", "on", NULL};

static const struct hp3_ini_key keys[] = {
	{.section = "fleet",
		.key = "servers",
		FIELD(fleet.servers),
		.type = HP3_INI_STRING,
		.def_string = "nats://127.0.0.1:4222",
		.max = sizeof(((struct fleet_config *)0)->fleet.servers) - 1,
		.urls = true,
		.help = "NATS servers of one cluster, separated by commas"},
	TEXT("name", fleet.name, "", hp3_fleet_is_name, "letters, digits, '-' and '_'",
		"name of this hp3-fleet; empty: the host name and the process id"),
	TEXT("credentials", fleet.credentials, "", NULL, NULL,
		"file with the JWT and the seed of a NATS user"),
	TEXT("nkey", fleet.nkey, "", NULL, NULL, "public NKey of a NATS user"),
	TEXT("nkey_seed", fleet.nkey_seed, "", NULL, NULL, "file with the seed of nkey"),
	TEXT("tls_ca", fleet.tls_ca, "", NULL, NULL,
		"file with the CA certificates that verify servers"),
	TEXT("tls_cert", fleet.tls_cert, "", NULL, NULL, "file with the client certificate"),
	TEXT("tls_key", fleet.tls_key, "", NULL, NULL, "file with the key of tls_cert"),
	TEXT("listen", fleet.listen, "127.0.0.1:9796", is_loopback,
		"an address of this host alone and a port, such as \"127.0.0.1:9796\"",
		"address of the page, its JSON and the metrics; empty: none"),
	INT("fleet", "keepalive_ms", fleet.keepalive_ms, "ms", 500, 10, 60000,
		"interval of keep-alives between several hp3-fleet"),
	INT("fleet", "takeover_ms", fleet.takeover_ms, "ms", 2000, 50, 600000,
		"another hp3-fleet plans after this time without keep-alives of the leader"),
	INT("map", "max_hosts", p.max_hosts, "hosts", 4096, 1, 65536, "room for hosts, 6 KiB each"),
	INT("map", "max_links", p.max_links, "links", 8192, 2, 262144,
		"room for links between leaves and spines, one for each direction"),
	INT("map", "age_ms", p.age_ms, "ms", 3000, 10, 600000,
		"a host without reports for this long, and for three of its intervals, is gone"),
	INT("map", "report_ms", p.report_ms, "ms", 50, 0, 60000,
		"minimum mean time between reports of a host; 20 may come at once; 0: no bound"),
	INT("map", "link_kbps", p.link_kbps, "kb/s", 0, 0, 4000000000,
		"rate of the links between leaves and spines; 0: not known"),
	INT("plan", "interval_ms", plan.interval_ms, "ms", 1000, 10, 600000, "interval of plans"),
	INT("plan", "moves", p.moves, "moves", 4, 0, HP3_FLEET_MOVES,
		"most moves in a plan; 0: only observe"),
	INT("plan", "marked", p.mark_permille, "per mille", 10, 0, 1000,
		"a link is hot if more packets of its flows are marked"),
	INT("plan", "full", p.full_percent, "%", 75, 1, 100,
		"with link_kbps: a link with this load is hot, and no move loads another link "
		"beyond it"),
	INT("plan", "improve", p.improve_percent, "%", 20, 1, 100,
		"links of the new path stay below the load of the link that the flow leaves by "
		"this much"),
	INT("plan", "hold_ms", p.hold_ms, "ms", 30000, 0, 3600000,
		"time without advice for a flow that moved, or was advised to"),
	INT("plan", "valid_ms", p.valid_ms, "ms", 3000, 10, 600000,
		"agents apply a plan in the first half of this time; no other plan uses its links "
		"until the end"),
	TEXT_OF("agent", "control", agent.control, "/run/hp3/hp3.sock", NULL, NULL,
		"hp3d's control socket: socket= of its [control]"),
	TEXT_OF("agent", "host", agent.host, "", hp3_fleet_is_name, "letters, digits, '-' and '_'",
		"name of this host in the fleet; empty: its host name"),
	TEXT_OF("agent", "leaf", agent.leaf, "", hp3_fleet_is_name, "letters, digits, '-' and '_'",
		"name of the leaf switch: the same for all hosts of a rack"),
	TEXT_OF("agent", "addresses", agent.addresses, "", are_addresses,
		"IPv4 and IPv6 addresses, by comma",
		"further addresses of this host, in addition to the source addresses of its flows; "
		"8 in all"),
	INT("agent", "interval_ms", agent.interval_ms, "ms", 1000, 100, HP3_FLEET_INTERVAL_MS,
		"interval of reports; the planner's age_ms must be longer"),
	INT("agent", "severe_ms", agent.severe_ms, "ms", 100, 0, 60000,
		"minimum time between reports at once, when hp3d finds a path severely congested, "
		"lossy or dead; 0: none"),
	{.section = "agent",
		.key = "advice",
		FIELD(agent.advice),
		.type = HP3_INI_ENUM,
		.unit = "",
		.choices = off_or_on,
		.help = "pass advice of plans for flows of this host to hp3d, which probes it "
			"first"},
	INT("alarms", "period_ms", p.period_ms, "ms", 10000, 10, 3600000,
		"period in which marks are counted"),
	INT("alarms", "marks", p.alarm_marks, "packets", 500, 0, 4294967295,
		"more marked packets in a period are an alarm of level low"),
	INT("alarms", "periods", p.middle_periods, "periods", 3, 1, 255,
		"this many such periods in a row are an alarm of level middle"),
	INT("alarms", "window_ms", p.window_ms, "ms", 30000, 10, 3600000,
		"time over which alarms of a switch are added up; 31 periods at most"),
	INT("alarms", "alarms", p.high_alarms, "alarms", 5, 1, 100000,
		"this many alarms of a switch in window_ms are an alarm of level high"),
};

static void check_config(struct hp3_ini_doc *doc, const void *obj, unsigned flags)
{
	const struct fleet_config *c = obj;

	if (hp3_ini_good(doc, "alarms", "window_ms") && hp3_ini_good(doc, "alarms", "period_ms") &&
		c->p.window_ms / c->p.period_ms > 31)
		hp3_ini_complain(doc, "alarms", "window_ms",
			"must be at most 31 times period_ms = %u", c->p.period_ms);
	if (hp3_ini_good(doc, "fleet", "takeover_ms") &&
		hp3_ini_good(doc, "fleet", "keepalive_ms") &&
		c->fleet.takeover_ms < 3 * c->fleet.keepalive_ms)
		hp3_ini_complain(doc, "fleet", "takeover_ms",
			"must be at least three times keepalive_ms = %u", c->fleet.keepalive_ms);
}

const struct hp3_ini_schema fleet_schema = {
	.sections = sections,
	.n_sections = sizeof(sections) / sizeof(sections[0]),
	.keys = keys,
	.n_keys = sizeof(keys) / sizeof(keys[0]),
	.title = "hp3-fleet configuration. Integers are in the unit that the key's suffix names.",
	.check = check_config,
};

static void find_file(const char *credentials, char path[HP3_INI_VALUE_MAX])
{
	char name[HP3_INI_VALUE_MAX];

	if (*path == '\0' || strchr(path, '/') != NULL)
		return;
	snprintf(name, sizeof(name), "%s", path);
	snprintf(path, HP3_INI_VALUE_MAX, "%.255s/%.255s", credentials, name);
}

void fleet_config_find_files(struct fleet_config *c)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");

	if (dir == NULL)
		return;
	find_file(dir, c->fleet.credentials);
	find_file(dir, c->fleet.nkey_seed);
	find_file(dir, c->fleet.tls_ca);
	find_file(dir, c->fleet.tls_cert);
	find_file(dir, c->fleet.tls_key);
}
