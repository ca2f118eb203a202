/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/requests.h"
#include <string.h>
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/find.h"
#include "app/hp3d/control/mode.h"
#include "base/nearest.h"

/* NULL: success. */
static json_t *event_type(json_t *req, uint32_t *types)
{
	json_t *type = json_object_get(req, "type");
	struct hp3_nearest near = {.asked = json_string_value(type)};
	const char *name;

	if (!type)
		return NULL;
	if (!near.asked)
		return hp3d_json_error("bad-request", "name one", "\"type\" is not a text");
	for (unsigned i = 0; i < HP3_EVENT_MAX; i++) {
		name = hp3_event_name((enum hp3_event_type)i);
		if (strcmp(name, near.asked) == 0) {
			*types = 1u << i;
			return NULL;
		}
		hp3_nearest_offer(&near, name);
	}
	return hp3d_json_error("bad-request", "hp3ctl(1) lists the types of events",
		"no events of type %s%s%s%s", near.asked, near.best ? "; did you mean " : "",
		near.best ? near.best : "", near.best ? "?" : "");
}

static json_t *events_answer(const struct hp3_config *cfg, json_t *req)
{
	struct hp3d_events_wanted w = {.all = json_is_true(json_object_get(req, "all"))};
	json_t *answer, *error, *flow = json_object_get(req, "flow");
	uint64_t since = 0, limit = HP3D_PAGE_DEFAULT, next;
	struct hp3_flowid id;

	if (!hp3d_json_number(req, "since", 0, INT64_MAX, &since, &error) ||
		!hp3d_json_number(req, "limit", 1, HP3D_PAGE_MAX, &limit, &error) ||
		(error = event_type(req, &w.types)) ||
		(flow && (error = hp3d_find_id(cfg, json_string_value(flow), &id))))
		return error;
	w.flow = flow ? &id : NULL;
	answer = hp3d_json_ok(hp3d_events_page(since, (unsigned)limit, &w, &next));
	if (answer)
		json_object_set_new(answer, "next", json_integer((json_int_t)next));
	return answer;
}

static bool may_any_request(json_t *req)
{
	return true;
}

/* Is the move one that probes have to confirm? */
static bool if_asked(json_t *req)
{
	return json_is_true(json_object_get(req, "ask"));
}

static const struct {
	const char *name;
	json_t *(*run)(const struct hp3_config *cfg, json_t *req);
	bool (*may_group)(json_t *req); /* NULL: only root may send it */
} commands[] = {
	{"flows", hp3d_json_flows, may_any_request},
	{"flow", hp3d_json_flow},
	{"move", hp3d_json_move, if_asked},
	{"paths", hp3d_json_paths, may_any_request},
	{"peers", hp3d_json_peers},
	{"ports", hp3d_json_ports},
	{"qps", hp3d_json_qps},
	{"trace", hp3d_json_trace},
	{"events", events_answer, may_any_request},
	{"mode", hp3d_json_mode},
	{"bypass", hp3d_json_bypass},
	{"stats", hp3d_json_stats},
	{"config", hp3d_json_config},
	{"health", hp3d_json_health},
};

#define KNOWN                                                                                      \
	"the commands are flows, flow, move, paths, peers, ports, qps, trace, events, mode, "      \
	"bypass, stats, config, health"

/* Name of the i-th command. */
static json_t *run_command(size_t i, const struct hp3_config *cfg, json_t *req, bool is_root)
{
	if (is_root || (commands[i].may_group != NULL && commands[i].may_group(req)))
		return commands[i].run(cfg, req);
	return hp3d_json_error("not-allowed",
		"run it as root: members of [control] group may ask for flows, paths and events, "
		"and for moves with \"ask\"",
		"this user may not ask for %s", commands[i].name);
}

static json_t *answer_to(const struct hp3_config *cfg, const char *line, size_t len, bool is_root)
{
	json_error_t where;
	json_t *req = json_loadb(line, len, JSON_REJECT_DUPLICATES, &where);
	const char *cmd = json_string_value(json_object_get(req, "cmd"));
	struct hp3_nearest near = {.asked = cmd};
	json_t *answer = NULL;
	size_t i;

	if (!req) {
		return hp3d_json_error("bad-request",
			"send one JSON object per line, such as {\"cmd\":\"health\"}",
			"not JSON (column %d)", where.column);
	}
	if (!cmd) {
		answer = hp3d_json_error("bad-request", KNOWN, "the request has no \"cmd\"");
		goto end;
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(cmd, commands[i].name) == 0) {
			answer = run_command(i, cfg, req, is_root);
			goto end;
		}
		hp3_nearest_offer(&near, commands[i].name);
	}
	answer = hp3d_json_error("unknown-command", KNOWN, "unknown command \"%s\"%s%s%s", cmd,
		near.best ? "; did you mean " : "", near.best ? near.best : "",
		near.best ? "?" : "");
end:
	json_decref(req);
	return answer;
}

json_t *hp3d_json_answer(void *arg, const char *line, size_t len)
{
	return answer_to(arg, line, len, true);
}

json_t *hp3d_json_answer_group(void *arg, const char *line, size_t len)
{
	return answer_to(arg, line, len, false);
}
