/* SPDX-License-Identifier: BSD-3-Clause */
/* events: the events that hp3d stores; with --follow, also later events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "app/hp3ctl/hp3ctl.h"

#define FOLLOW_PAUSE_US 100000
#define SINCE_MAX       (100ll * 366 * 86400) /* seconds */

static double event_us(json_t *j, const char *key)
{
	return (double)hp3ctl_number(j, key) / 1e3;
}

static void print_path_state(json_t *path)
{
	printf("round trip %.1f us (base %.1f), %lld of 1000 replies marked, %.1f Mb/s",
		event_us(path, "rtt_ns"), event_us(path, "base_rtt_ns"),
		hp3ctl_number(path, "marked_permille"), event_us(path, "rate_kbps"));
}

/* Prints the reason: measurement cycles, oldest first, or losses; then the estimates of the
 * path. */
static void print_severe(json_t *event, json_t *evidence)
{
	json_t *cycle;
	size_t i;

	printf(strcmp(hp3ctl_text(event, "cause"), "loss") == 0 ? "loses packets" : "cycles:");
	json_array_foreach (json_object_get(evidence, "cycles"), i, cycle)
		printf(" %s", json_string_value(cycle));
	printf("; ");
	print_path_state(json_object_get(evidence, "path"));
	putchar('\n');
}

/* The probes of a round, and their answers. */
static void print_probes(json_t *event, json_t *evidence)
{
	json_t *p;
	size_t i;

	printf("%lld -> %lld: %s (%s)", hp3ctl_number(event, "from"), hp3ctl_number(event, "to"),
		hp3ctl_text(event, "outcome"), hp3ctl_text(event, "cause"));
	if (json_object_get(evidence, "stalled_ns"))
		printf(", nothing came for %.1f us, held %lld packets",
			event_us(evidence, "stalled_ns"), hp3ctl_number(evidence, "held_pkts"));
	printf("; probes:");
	json_array_foreach (json_object_get(evidence, "probes"), i, p) {
		printf(" %lld ", hp3ctl_number(p, "port"));
		if (hp3ctl_number(p, "rtt_ns"))
			printf("%.1f us%s", event_us(p, "rtt_ns"),
				json_is_true(json_object_get(p, "ce")) ? " marked" : "");
		else
			printf("%s", hp3ctl_text(p, "state"));
	}
	putchar('\n');
}

static void print_outcome(json_t *event, json_t *evidence)
{
	printf("of %lld: %s; before: ", hp3ctl_number(event, "ref"), hp3ctl_text(event, "outcome"));
	print_path_state(json_object_get(evidence, "before"));
	printf("; after: ");
	print_path_state(json_object_get(evidence, "after"));
	putchar('\n');
}

static void print_move(json_t *event, json_t *evidence)
{
	printf("%lld -> %lld: %s (%s), drained %.1f us, held %lld packets, %lld bytes, "
	       "waited %.1f us",
		hp3ctl_number(event, "from"), hp3ctl_number(event, "to"),
		hp3ctl_text(event, "outcome"),
		hp3ctl_text(event, json_object_get(event, "reason") ? "reason" : "cause"),
		event_us(evidence, "drain_ns"), hp3ctl_number(evidence, "held_pkts"),
		hp3ctl_number(evidence, "held_bytes"), event_us(evidence, "wait_ns"));
	if (json_object_get(event, "meaning"))
		printf("; %s: %s", hp3ctl_text(event, "reason"), hp3ctl_text(event, "meaning"));
	putchar('\n');
}

/* Events about this host and a peer. */
static void print_keys(json_t *event)
{
	printf("%s %s: identity %s", hp3ctl_text(event, "rail"), hp3ctl_text(event, "peer"),
		hp3ctl_text(event, "identity"));
	if (json_object_get(event, "before"))
		printf(", was %s", hp3ctl_text(event, "before"));
	printf(": %s\n", hp3ctl_text(event, "outcome"));
}

/* Events about hp3d, a rail, or a port. */
static void print_own(json_t *event)
{
	if (json_object_get(event, "rail"))
		printf("%s ", hp3ctl_text(event, "rail"));
	if (json_object_get(event, "side"))
		printf("%s ", hp3ctl_text(event, "side"));
	printf("%s -> %s", hp3ctl_text(event, "from"), hp3ctl_text(event, "to"));
	if (json_object_get(event, "by"))
		printf(", set by the %s", hp3ctl_text(event, "by"));
	putchar('\n');
}

static void print_of_flow(json_t *event)
{
	json_t *evidence = json_object_get(event, "evidence");

	printf("%s ", hp3ctl_text(event, "flow"));
	if (hp3ctl_number(event, "nth") > 1)
		printf("(number %lld in a row) ", hp3ctl_number(event, "nth"));
	if (json_object_get(evidence, "probes"))
		print_probes(event, evidence);
	else if (json_object_get(evidence, "before"))
		print_outcome(event, evidence);
	else if (json_object_get(evidence, "path"))
		print_severe(event, evidence);
	else if (json_object_get(event, "from"))
		print_move(event, evidence);
	else
		printf("local qpn 0x%06x (%s)\n", (unsigned)hp3ctl_number(evidence, "local_qpn"),
			hp3ctl_text(evidence, "pairing"));
}

void hp3ctl_print_event(const struct hp3ctl *ctl, json_t *event)
{
	if (ctl->json) {
		hp3ctl_print_json(event);
		return;
	}
	printf("%-6lld %14.6f %s %-11s ", hp3ctl_number(event, "seq"),
		(double)hp3ctl_number(event, "t_ns") / 1e9, hp3ctl_text(event, "time"),
		hp3ctl_text(event, "type"));
	if (json_object_get(event, "identity"))
		print_keys(event);
	else if (json_is_string(json_object_get(event, "from"))) /* no ports */
		print_own(event);
	else
		print_of_flow(event);
}

void hp3ctl_print_events(const struct hp3ctl *ctl, json_t *list)
{
	json_t *event;
	size_t i;

	json_array_foreach (list, i, event)
		hp3ctl_print_event(ctl, event);
}

/* --- --since --- */

/* Reads the value of --since: the number of an event, or a duration, in seconds. */
static bool parse_since(const char *text, json_int_t *number, json_int_t *seconds)
{
	static const struct {
		char suffix;
		json_int_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end;

	*number = *seconds = 0;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoll(text, &end, 10);
	if (errno != 0 || *end == '\0')
		return errno == 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (*end != units[i].suffix || end[1] != '\0')
			continue;
		*seconds = *number * units[i].seconds;
		return *number > 0 && *number <= SINCE_MAX / units[i].seconds;
	}
	return false;
}

bool hp3ctl_is_since(const char *text)
{
	json_int_t number, seconds;

	return parse_since(text, &number, &seconds);
}

/* Prints events of this time and later. "time" of an event has a fixed length, so the order of the
 * texts is the order of the times. */
struct since {
	const struct hp3ctl *ctl;
	char time[40]; /* "": all */
};

static void begin_at(struct since *s, json_int_t seconds)
{
	time_t at = time(NULL) - (time_t)seconds;
	struct tm tm;

	if (seconds != 0 && gmtime_r(&at, &tm) != NULL)
		strftime(s->time, sizeof(s->time), "%Y-%m-%dT%H:%M:%S", &tm);
}

static void print_recent_event(void *arg, json_t *event)
{
	const struct since *s = arg;

	if (strcmp(hp3ctl_text(event, "time"), s->time) >= 0)
		hp3ctl_print_event(s->ctl, event);
}

int hp3ctl_events(struct hp3ctl *ctl)
{
	bool follow = ctl->given & HP3CTL_BIT(FOLLOW);
	struct since s = {.ctl = ctl, .time = ""};
	json_int_t since = 0, seconds = 0;
	int rc;

	if (ctl->given & HP3CTL_BIT(SINCE)) {
		parse_since(ctl->text[HP3CTL_SINCE], &since, &seconds);
		if (seconds != 0)
			since = 0;
	}
	begin_at(&s, seconds);
	do {
		json_t *req = json_pack(
			"{s:s, s:b}", "cmd", "events", "all", !!(ctl->given & HP3CTL_BIT(ALL)));

		if (ctl->given & HP3CTL_BIT(TYPE))
			json_object_set_new(req, "type", json_string(ctl->text[HP3CTL_TYPE]));
		rc = hp3ctl_each_event(ctl, req, &since, print_recent_event, &s);
		fflush(stdout);
		if (follow && rc == HP3CTL_DONE)
			usleep(FOLLOW_PAUSE_US);
	} while (follow && rc == HP3CTL_DONE);
	return rc;
}
