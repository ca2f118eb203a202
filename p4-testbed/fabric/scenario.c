/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4-testbed/fabric/scenario.h"
#include <stdio.h>
#include <string.h>
#include "config/rows.h"

static const char *const scenario_onoff[] = {[HP3_TOPO_OFF] = "off", [HP3_TOPO_ON] = "on", NULL};
static const char *const loads[] = {
	[HP3_LOAD_CLOSED] = "closed", [HP3_LOAD_POISSON] = "poisson", NULL};
static const char *const actions[] = {[HP3_EVENT_MOVE] = "move",
	[HP3_EVENT_FAIL] = "fail",
	[HP3_EVENT_RESTORE] = "restore",
	[HP3_EVENT_DEGRADE] = "degrade",
	[HP3_EVENT_BLACKHOLE] = "blackhole",
	NULL};

#define PLAIN(sec, name, ...) HP3_ROW_INT(#sec, #name, struct hp3_scenario, sec.name, __VA_ARGS__)
#define PLAIN_TEXT(name, ...)                                                                      \
	HP3_ROW_TEXT("scenario", #name, struct hp3_scenario, scenario.name, __VA_ARGS__)
#define FLOW(name, ...) HP3_ROW_INT("flow", #name, struct hp3_scenario_flow, name, __VA_ARGS__)
#define FLOW_TEXT(name, ...)                                                                       \
	HP3_ROW_TEXT("flow", #name, struct hp3_scenario_flow, name, __VA_ARGS__)
#define EVENT(name, ...)    HP3_ROW_INT("event", #name, struct hp3_scenario_event, name, __VA_ARGS__)
#define EVENT_TEXT(name, h) HP3_ROW_TEXT("event", #name, struct hp3_scenario_event, name, "", 0, h)
#define FAMILY(list)        HP3_ROW_FAMILY(struct hp3_scenario, list, n_##list, HP3_SCENARIO_MAX)

static const struct hp3_ini_section scenario_sections[] = {
	{"scenario", "What is shown, on which topology, for how long."},
	{"rc", "Reliable connections of roce-gen."},
	{"flow", "Load from one host to another.", FAMILY(flows)},
	{"ring", "All-reduce over several hosts.", FAMILY(rings)},
	{"event", "What happens at a time; moves in mode `manual` only.", FAMILY(events)},
};

static const struct hp3_ini_key scenario_keys[] = {
	PLAIN_TEXT(title, "", 1, "one line"),
	PLAIN_TEXT(topology, "", 1, "file name below topo/ without .ini, or a path"),
	PLAIN_TEXT(text, "", 0, "what to look at, in all modes"),
	PLAIN_TEXT(text_off, "", 0, "what to look at in mode off; and so on"),
	PLAIN_TEXT(text_observe, "", 0, "in mode observe"),
	PLAIN_TEXT(text_on, "", 0, "in mode on"),
	PLAIN_TEXT(text_move, "", 0, "in mode move"),
	PLAIN_TEXT(text_manual, "", 0, "in mode manual"),
	PLAIN_TEXT(text_spray, "", 0, "in mode spray"),
	PLAIN(scenario, seconds, "s", 10, 1, 3600, "of load"),
	PLAIN(scenario, seed, "", 1, 1, UINT32_MAX, "of every random choice of the hosts"),
	PLAIN(scenario, warmup_ms, "ms", 500, 0, 60000, "left out of averages"),

	HP3_ROW_ENUM("rc", "dcqcn", struct hp3_scenario, rc.dcqcn, scenario_onoff, HP3_TOPO_ON,
		"hosts react to CNPs (times and rates scaled to the testbed)"),
	PLAIN(rc, window, "packets", 128, 1, 4096, "unacknowledged on a queue pair"),
	PLAIN(rc, timeout, "", 14, 1, 22,
		"retransmission after 4.096 us * 2^N, at full speed: slowed down as all times are"),

	FLOW_TEXT(src, "", 1, "host that requests"),
	FLOW_TEXT(dst, "", 1, "host that responds"),
	FLOW_TEXT(via, "", 0, "spine that the flow starts on; empty: as its port falls"),
	FLOW_TEXT(
		ack_via, "", 0, "spine that its acknowledgements take; empty: as their port falls"),
	FLOW_TEXT(op, "write", 0, "write, send, read, or a mix such as read:70,write:30"),
	FLOW_TEXT(cdf, "", 0, "file with message sizes; empty: size_bytes"),
	HP3_ROW_ENUM("flow", "load", struct hp3_scenario_flow, load, loads, HP3_LOAD_CLOSED,
		"closed: depth messages outstanding; poisson: load_mbps offered"),
	FLOW(size_bytes, "bytes", 65536, 0, 1073741824, "of a message"),
	FLOW(depth, "messages", 4, 1, 1024, "closed: outstanding on a queue pair"),
	FLOW(load_mbps, "Mb/s", 10, 1, 10000, "poisson: payload offered"),
	FLOW(start_ms, "ms", 0, 0, 3600000, "after the scenario's begin"),
	FLOW(stop_ms, "ms", 0, 0, 3600000, "after the scenario's begin; 0: at its end"),
	FLOW(sport, "", 0, 0, 65535, "UDP source port; 0: by `via`, or by the seed"),
	FLOW(qps, "queue pairs", 1, 1, 64, "each with a port of its own"),

	HP3_ROW_TEXT("ring", "hosts", struct hp3_scenario_ring, hosts, "", 1,
		"in order, with blanks between"),
	HP3_ROW_INT("ring", "size_bytes", struct hp3_scenario_ring, size_bytes, "bytes", 1048576,
		1024, 1073741824, "of the vector"),
	HP3_ROW_TEXT("ring", "via", struct hp3_scenario_ring, via, "", 0,
		"spine that every rank starts on; empty: as its port falls"),

	HP3_ROW_ENUM("event", "action", struct hp3_scenario_event, action, actions, HP3_EVENT_MOVE,
		"what happens"),
	EVENT_TEXT(flow, "move: which flow, or host for a host's flow of a ring"),
	EVENT_TEXT(to, "move: the spine to go by"),
	EVENT_TEXT(link, "the others: which link"),
	EVENT(at_ms, "ms", 0, 0, 3600000, "after the scenario's begin"),
	EVENT(rate_mbps, "Mb/s", 0, 0, 10000, "degrade: new rate; 0: as it is"),
	EVENT(delay_us, "us", 0, 0, 1000000, "degrade: new delay; 0: as it is"),
	EVENT_TEXT(from, "degrade, blackhole: the end from which; empty: both directions"),
#define X(key, unit, most, help)                                                                   \
	HP3_ROW_INT("event", #key, struct hp3_scenario_event, impair.key, unit, 0, 0, most,        \
		"degrade: " help),
	HP3_IMPAIRMENTS(X)
#undef X
		HP3_ROW_ENUM("event", "ecn", struct hp3_scenario_event, impair.ecn, hp3_impair_ecns,
			HP3_IMPAIR_ECN_KEEP,
			"degrade: of ECN-capable packets: clear: CE becomes ECT(0); set: all are "
			"CE"),
	EVENT(percent, "%", 100, 0, 100, "blackhole: share of flows"),
	EVENT(reroute_ms, "ms", 100, 0, UINT32_MAX, "fail: until routes follow; 4294967295: never"),
};

static void require_key(
	struct hp3_ini_doc *doc, const char *section, const char *key, const char *value)
{
	if (value[0] == '\0')
		hp3_ini_complain(doc, section, key, "missing for this action: write %s = ...", key);
}

static void check_scenario(struct hp3_ini_doc *doc, const void *obj, unsigned flags)
{
	const struct hp3_scenario *s = obj;
	char section[HP3_INI_NAME_MAX];

	if (s->n_flows + s->n_rings == 0)
		hp3_ini_complain(doc, NULL, NULL, "no load: add a [flow.NAME] or a [ring.NAME]");
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct hp3_scenario_event *e = &s->events[i];

		snprintf(section, sizeof(section), "event.%s", e->name);
		if (e->at_ms > s->scenario.seconds * 1000)
			hp3_ini_complain(doc, section, "at_ms",
				"after the end: [scenario] seconds = %u", s->scenario.seconds);
		if (e->action != HP3_EVENT_MOVE) {
			require_key(doc, section, "link", e->link);
			continue;
		}
		require_key(doc, section, "to", e->to);
		if (HP3_TOPO_FIND(s->flows, s->n_flows, e->flow) < 0 && s->n_rings == 0)
			hp3_ini_complain(
				doc, section, "flow", "no such flow: name one of [flow.NAME]");
	}
}

static const struct hp3_ini_schema schema = {
	.sections = scenario_sections,
	.n_sections = sizeof(scenario_sections) / sizeof(scenario_sections[0]),
	.keys = scenario_keys,
	.n_keys = sizeof(scenario_keys) / sizeof(scenario_keys[0]),
	.title = "Scenario of hp3-testbed.",
	.check = check_scenario,
};

int hp3_scenario_load(const char *path, struct hp3_scenario *out, struct hp3_config_errors *errs)
{
	memset(out, 0, sizeof(*out));
	return hp3_ini_load(&schema, path, 0, out, errs);
}

/* Every section an object of its keys: {"scenario":{...},"flow.a":{...}}, in the file's order. */
static int add_item(void *arg, const struct hp3_ini_item *item)
{
	json_t *all = arg, *section = json_object_get(all, item->section);
	char text[HP3_INI_VALUE_MAX];
	json_t *value;

	if (section == NULL) {
		section = json_object();
		json_object_set_new(all, item->section, section);
	}
	hp3_ini_format(item->key, item->field, text, sizeof(text));
	if (item->key->type == HP3_INI_INT)
		value = json_integer(item->key->size == sizeof(uint64_t)
					     ? (json_int_t) * (const uint64_t *)item->field
					     : (json_int_t) * (const uint32_t *)item->field);
	else
		value = json_string(text);
	return json_object_set_new(section, item->key->key, value);
}

json_t *hp3_scenario_json(const struct hp3_scenario *s)
{
	json_t *all = json_object();

	hp3_ini_each(&schema, s, false, add_item, all);
	return all;
}
