/* SPDX-License-Identifier: BSD-3-Clause */
/* watch: flows with their last decisions, on a screen; or flows, paths and events, as lines. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/hp3ctl/watch.h"

#define INTERVAL_MS 1000u
#define LINES_MAX   12u /* events, as lines */
#define SHARE       4u /* at most 1/SHARE of the time is for reading */

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	stopped = 1;
}

/* --- reading --- */

/* Pairings and verdicts are not decisions about a flow's path. */
static void note_decision(void *arg, json_t *event)
{
	static const char *const others[] = {"pair", "unpair", "outcome"};
	const char *flow = json_string_value(json_object_get(event, "flow"));
	const char *type = json_string_value(json_object_get(event, "type"));
	struct hp3ctl_view *v = arg;

	for (size_t i = 0; type && i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(type, others[i]) == 0)
			return;
	if (flow && type)
		json_object_set(v->decisions, flow, event);
}

void hp3ctl_decision(const struct hp3ctl_view *v, json_t *flow, char *text, size_t cap)
{
	json_t *event =
		json_object_get(v->decisions, json_string_value(json_object_get(flow, "flow")));
	const char *type = "", *cause = "", *outcome = "";
	json_int_t from = 0, to = 0, then = 0, now = 0;
	int n;

	if (!event) {
		snprintf(text, cap, "-");
		return;
	}
	json_unpack(flow, "{s?I}", "t_ns", &now);
	json_unpack(event, "{s?s, s?s, s?s, s?I, s?I, s?I}", "type", &type, "cause", &cause,
		"outcome", &outcome, "t_ns", &then, "from", &from, "to", &to);
	n = snprintf(
		text, cap, "%lld s ago: %s %s %s", (now - then) / 1000000000, type, cause, outcome);
	if (to != from && (size_t)n < cap)
		snprintf(text + n, cap - (size_t)n, " %lld > %lld", from, to);
}

static int read_mode(struct hp3ctl *ctl, struct hp3ctl_view *v)
{
	json_t *data;
	int rc = hp3ctl_ask_data(ctl, json_pack("{s:s}", "cmd", "mode"), &data);

	if (rc != HP3CTL_DONE)
		return rc;
	snprintf(v->mode, sizeof(v->mode), "%s", hp3ctl_text(data, "mode"));
	json_decref(data);
	return rc;
}

static int read_flows(struct hp3ctl *ctl, struct hp3ctl_view *v)
{
	json_t *flows;
	int rc = hp3ctl_read_flows(ctl, *v->filter ? v->filter : NULL, &flows);

	if (rc != HP3CTL_DONE)
		return rc;
	v->before = hp3ctl_rates(flows, v->before);
	hp3ctl_sort(flows, v->sort, v->reverse);
	json_decref(v->flows);
	v->flows = flows;
	return rc;
}

/* Connects again if the connection has ended; it may then be to another hp3d. */
static void read_view(struct hp3ctl *ctl, struct hp3ctl_view *v)
{
	int rc = HP3CTL_DONE;

	v->error[0] = '\0';
	if (ctl->line.fd < 0) {
		v->since = 0;
		json_object_clear(v->decisions);
		rc = hp3ctl_connect(ctl);
	}
	if (rc == HP3CTL_DONE)
		rc = read_mode(ctl, v);
	if (rc == HP3CTL_DONE)
		rc = hp3ctl_each_event(
			ctl, json_pack("{s:s}", "cmd", "events"), &v->since, note_decision, v);
	if (rc == HP3CTL_DONE)
		rc = read_flows(ctl, v);
	if (rc == HP3CTL_UNREACHABLE)
		hp3_line_close(&ctl->line);
}

/* --- keys --- */

static void sort_by(struct hp3ctl_view *v, int step)
{
	unsigned n = 0;

	do
		n++;
	while (hp3ctl_columns[n].name);
	v->sort = (v->sort + n + (unsigned)step) % n;
	hp3ctl_sort(v->flows, v->sort, v->reverse);
}

/* True: read again, the filter has changed. */
static bool type_key(struct hp3ctl_view *v, int key)
{
	size_t n = strlen(v->typed);

	if (key == '\n') {
		strcpy(v->filter, v->typed);
		v->typing = false;
		v->top = 0;
		return true;
	}
	if (key == 27)
		v->typing = false;
	else if (key == 127 && n)
		v->typed[n - 1] = '\0';
	else if (key < 127 && isprint(key) && n < sizeof(v->typed) - 1)
		snprintf(v->typed + n, sizeof(v->typed) - n, "%c", key);
	return false;
}

/* True: read again now. */
static bool press_key(struct hp3ctl_view *v, int key)
{
	if (v->typing)
		return type_key(v, key);
	switch (key) {
	case 'q':
		stopped = 1;
		break;
	case '<':
	case HP3CTL_KEY_LEFT:
		sort_by(v, -1);
		break;
	case '>':
	case HP3CTL_KEY_RIGHT:
		sort_by(v, 1);
		break;
	case 'r':
		v->reverse = !v->reverse;
		hp3ctl_sort(v->flows, v->sort, v->reverse);
		break;
	case '/':
		v->typing = true;
		strcpy(v->typed, v->filter);
		break;
	case 'j':
	case HP3CTL_KEY_DOWN:
		v->top++;
		break;
	case 'k':
	case HP3CTL_KEY_UP:
		v->top -= v->top != 0;
		break;
	case ' ':
		return true;
	default:
		break;
	}
	return false;
}

/* Draws, and handles keys, until the next read. */
static void show_view(struct hp3ctl_view *v, uint64_t until)
{
	bool again = false;

	while (!stopped && !again) {
		uint64_t now = hp3_clock_ms();

		hp3ctl_screen_draw(v);
		if (now >= until)
			break;
		int key = hp3ctl_screen_key((int)(until - now));
		if (key >= 0)
			again = press_key(v, key);
	}
}

static int on_screen(struct hp3ctl *ctl, uint64_t interval)
{
	struct hp3ctl_view v = {.decisions = json_object(), .sort = hp3ctl_column("rate")};
	struct sigaction sa = {.sa_handler = on_signal};

	ctl->error = v.error;
	ctl->line.stop = &stopped;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	while (!stopped) {
		uint64_t began = hp3_clock_ms(), took;

		read_view(ctl, &v);
		took = (hp3_clock_ms() - began) * (SHARE - 1);
		show_view(&v, hp3_clock_ms() + (took > interval ? took : interval));
	}
	hp3ctl_screen_close();
	ctl->error = NULL;
	json_decref(v.flows);
	json_decref(v.before);
	json_decref(v.decisions);
	return HP3CTL_DONE;
}

/* --- lines --- */

static int print_latest_events(struct hp3ctl *ctl)
{
	json_t *list = json_array();
	int rc = hp3ctl_latest_events(ctl, NULL, LINES_MAX, list);

	hp3ctl_print_events(ctl, list);
	json_decref(list);
	return rc;
}

static int as_lines(struct hp3ctl *ctl, uint64_t interval)
{
	json_t *flows, *before = NULL;
	int rc;

	do {
		rc = hp3ctl_read_flows(ctl, NULL, &flows);
		if (rc != HP3CTL_DONE)
			break;
		before = hp3ctl_rates(flows, before);
		hp3ctl_print_flows(ctl, flows);
		json_decref(flows);
		rc = hp3ctl_paths(ctl);
		if (rc == HP3CTL_DONE)
			rc = print_latest_events(ctl);
		if (fflush(stdout) != 0)
			rc = HP3CTL_FAILED;
		usleep((useconds_t)(interval * 1000));
	} while (rc == HP3CTL_DONE);
	json_decref(before);
	return rc;
}

int hp3ctl_watch(struct hp3ctl *ctl)
{
	bool given = ctl->given & HP3CTL_BIT(INTERVAL);
	uint64_t interval = given ? ctl->number[HP3CTL_INTERVAL] : INTERVAL_MS;

	if (ctl->json || ctl->given & HP3CTL_BIT(PLAIN) || !isatty(STDOUT_FILENO) ||
		!isatty(STDIN_FILENO) || hp3ctl_screen_open() < 0)
		return as_lines(ctl, interval);
	return on_screen(ctl, interval);
}
