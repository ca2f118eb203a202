/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends questions, and prints answers as tables. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "app/fleet/commands.h"
#include "app/fleet/planner.h"
#include "app/fleet/process.h"
#include "app/plain_json.h"
#include "base/urls.h"

#define ANSWER_MS  2000u
#define CONNECT_MS 2000u
#define CELL       160u

struct hp3_bus *fleet_line_open(const struct fleet_config *cfg)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	struct hp3_bus *line = fleet_bus_open(cfg);

	/* libnats connects in the background */
	for (unsigned ms = 0; line != NULL && ms < CONNECT_MS && !hp3_bus_is_up(line); ms += 10)
		nanosleep(&pause, NULL);
	return line;
}

static void keep_answer(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len)
{
	json_t **answer = arg;

	*answer = hp3_plain_json(json_loadb((const char *)data, len, 0, NULL));
}

json_t *fleet_question(struct hp3_bus *line, const struct fleet_config *cfg, json_t *question)
{
	char text[FLEET_QUESTION_MAX];
	size_t n = json_dumpb(question, text, sizeof(text), JSON_COMPACT);
	char servers[HP3_INI_VALUE_MAX];
	json_t *answer = NULL;
	int ret = -EMSGSIZE;

	json_decref(question);
	if (n > 0 && n <= sizeof(text))
		ret = hp3_bus_ask(
			line, FLEET_SUBJECT_ASK, text, n, ANSWER_MS, keep_answer, &answer);
	if (answer == NULL)
		fprintf(stderr,
			"hp3-fleet: no answer through %s (%s); is nats-server there, and hp3-fleet "
			"run?\n",
			hp3_urls_shown(cfg->fleet.servers, servers, sizeof(servers)),
			strerror(ret == 0 ? EBADMSG : -ret));
	return answer;
}

struct column {
	const char *key, *head;
	bool rate; /* kbit/s, shown in Gb/s */
};

static const struct column link_columns[] = {{"link", "LINK"}, {"load_kbps", "Gb/s", true},
	{"flows", "FLOWS"}, {"marked_permille", "MARKED/1000"}, {"severe", "SEVERE"},
	{"marks", "MARKS"}, {"alarm", "ALARM"}, {NULL}};
static const struct column flow_columns[] = {{"flow", "FLOW"}, {"rate_kbps", "Gb/s", true},
	{"port", "PORT"}, {"up", "UP"}, {"down", "DOWN"}, {"marked_permille", "MARKED/1000"},
	{"movable", "MOVABLE"}, {NULL}};
static const struct column host_columns[] = {{"host", "HOST"}, {"leaf", "LEAF"}, {"flows", "FLOWS"},
	{"heard_ms", "HEARD_MS"}, {"twin", "TWIN"}, {NULL}};
static const struct column plan_columns[] = {{"epoch", "EPOCH"}, {"flow", "FLOW"}, {"from", "FROM"},
	{"to", "TO"}, {"to_port", "PORT"}, {"before_kbps", "BEFORE Gb/s", true},
	{"after_kbps", "AFTER Gb/s", true}, {NULL}};
static const struct column why_columns[] = {{"flow", "FLOW"}, {"rate_kbps", "Gb/s", true},
	{"up", "UP"}, {"to", "BEST"}, {"after_kbps", "WOULD BE Gb/s", true}, {"advised", "ADVISED"},
	{"why", "WHY"}, {NULL}};

static const struct {
	const char *name;
	const struct column *columns;
} table_kinds[] = {{"top", link_columns}, {"links", link_columns}, {"flows", flow_columns},
	{"hosts", host_columns}, {"alarms", link_columns}, {"plan", plan_columns},
	{"why", why_columns}};

static const struct column *columns_of(const char *command)
{
	for (size_t i = 0; i < sizeof(table_kinds) / sizeof(table_kinds[0]); i++)
		if (strcmp(table_kinds[i].name, command) == 0)
			return table_kinds[i].columns;
	return NULL;
}

bool fleet_command_is_known(const char *command)
{
	return columns_of(command) != NULL;
}

static void cell_text(const struct column *c, const json_t *row, char text[CELL])
{
	const json_t *v = json_object_get(row, c->key);

	if (c->rate && json_is_integer(v))
		snprintf(text, CELL, "%.3f", (double)json_integer_value(v) / 1e6);
	else if (json_is_integer(v))
		snprintf(text, CELL, "%lld", (long long)json_integer_value(v));
	else if (json_is_boolean(v))
		snprintf(text, CELL, "%s", json_is_true(v) ? "yes" : "no");
	else
		snprintf(text, CELL, "%s", json_is_string(v) ? json_string_value(v) : "-");
}

#define COLUMNS_MAX 8u

static void print_row(const struct column *c, const size_t *width, const json_t *row)
{
	char text[CELL];

	for (unsigned k = 0; c[k].key != NULL; k++) {
		if (row != NULL)
			cell_text(&c[k], row, text);
		else
			snprintf(text, CELL, "%s", c[k].head);
		printf(c[k + 1].key != NULL ? "%-*s  " : "%.*s\n",
			c[k + 1].key != NULL ? (int)width[k] : (int)CELL, text);
	}
}

static void print_table(const struct column *c, const json_t *rows)
{
	size_t width[COLUMNS_MAX] = {0}, i;
	char text[CELL];
	json_t *row;

	for (unsigned k = 0; c[k].key != NULL; k++) {
		width[k] = strlen(c[k].head);
		json_array_foreach (rows, i, row) {
			cell_text(&c[k], row, text);
			width[k] = strlen(text) > width[k] ? strlen(text) : width[k];
		}
	}
	print_row(c, width, NULL);
	json_array_foreach (rows, i, row)
		print_row(c, width, row);
}

/* "?" if the answer does not have this member. */
static const char *text_of(const json_t *a, const char *key)
{
	const char *text = json_string_value(json_object_get(a, key));

	return text != NULL ? text : "?";
}

static void print_summary(json_t *a)
{
	json_t *s = json_object_get(a, "summary");
	const char *by = json_string_value(json_object_get(s, "plans_by"));
	const char *empty = json_string_value(json_object_get(s, "empty_map"));

#define N(key) ((long long)json_integer_value(json_object_get(s, key)))
	printf("%s %s, term %lld: %lld hosts, %lld flows (%lld not traced), %lld links, alarms: "
	       "%lld low, %lld middle, %lld high; %lld moves advised; map and plan in %.1f ms\n",
		text_of(a, "planner"),
		json_is_true(json_object_get(a, "leads")) ? "plans" : "looks on", N("term"),
		N("hosts"), N("flows"), N("unplaced"), N("links"), N("alarms_low"),
		N("alarms_middle"), N("alarms_high"), N("moves"), (double)N("look_us") / 1000);
#undef N
	if (!json_is_true(json_object_get(a, "leads")) && by != NULL && *by != '\0')
		printf("%s plans\n", by);
	if (empty != NULL)
		printf("%s\n", empty);
}

static int print_answer(const struct fleet_options *o, json_t *a)
{
	if (o->json)
		json_dumpf(a, stdout, JSON_COMPACT | JSON_ENSURE_ASCII), putchar('\n');
	if (!json_is_true(json_object_get(a, "ok"))) {
		if (!o->json)
			fprintf(stderr, "hp3-fleet: %s; %s\n", text_of(a, "error"),
				text_of(a, "fix"));
		return FLEET_FAILED;
	}
	if (o->json)
		return FLEET_DONE;
	if (strcmp(o->command, "top") == 0)
		print_summary(a);
	print_table(columns_of(o->command), json_object_get(a, "rows"));
	return FLEET_DONE;
}

int fleet_ask(const struct fleet_config *cfg, const struct fleet_options *o)
{
	struct hp3_bus *line = fleet_line_open(cfg);
	json_t *a;
	int ret;

	if (line == NULL)
		return FLEET_FAILED;
	a = fleet_question(line, cfg,
		json_pack("{s:s, s:i, s:s}", "ask", o->command, "limit", (int)o->limit, "flow",
			o->flow != NULL ? o->flow : ""));
	hp3_bus_close(line);
	if (a == NULL)
		return FLEET_UNREACHABLE;
	ret = print_answer(o, a);
	json_decref(a);
	return ret;
}
