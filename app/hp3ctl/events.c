/* SPDX-License-Identifier: BSD-3-Clause */
/* events: the events that hp3d stores; with --follow, also later events. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3ctl/hp3ctl.h"

#define FOLLOW_PAUSE_US 100000

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
	printf("%-6lld %14.6f %-11s ", hp3ctl_number(event, "seq"),
		(double)hp3ctl_number(event, "t_ns") / 1e9, hp3ctl_text(event, "type"));
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

static void print_one_event(void *arg, json_t *event)
{
	hp3ctl_print_event(arg, event);
}

int hp3ctl_events(struct hp3ctl *ctl)
{
	json_int_t since = (json_int_t)ctl->number[HP3CTL_SINCE];
	bool follow = ctl->given & HP3CTL_BIT(FOLLOW);
	int rc;

	do {
		json_t *req = json_pack(
			"{s:s, s:b}", "cmd", "events", "all", !!(ctl->given & HP3CTL_BIT(ALL)));

		if (ctl->given & HP3CTL_BIT(TYPE))
			json_object_set_new(req, "type", json_string(ctl->text[HP3CTL_TYPE]));
		rc = hp3ctl_each_event(ctl, req, &since, print_one_event, ctl);
		fflush(stdout);
		if (follow && rc == HP3CTL_DONE)
			usleep(FOLLOW_PAUSE_US);
	} while (follow && rc == HP3CTL_DONE);
	return rc;
}
