/* SPDX-License-Identifier: BSD-3-Clause */
/* health: a verdict, and five lines that support it; with --all, each value of the answer. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"

#define TEXT_MAX    1024u
#define LABEL_WIDTH 10

struct text {
	char at[TEXT_MAX];
	size_t n;
};

static void __attribute__((format(printf, 2, 3))) add_text(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at + t->n, TEXT_MAX - t->n, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
	if (t->n >= TEXT_MAX)
		t->n = TEXT_MAX - 1;
}

static void print_line(const char *label, const struct text *t)
{
	printf("%-*s", LABEL_WIDTH, label);
	hp3ctl_print_wrapped(t->at, LABEL_WIDTH, LABEL_WIDTH);
}

static const char *plural_of(json_int_t n)
{
	return n == 1 ? "" : "s";
}

static void print_verdict(json_t *health)
{
	json_int_t n = (json_int_t)json_array_size(json_object_get(health, "warnings"));
	const char *status = hp3ctl_text(health, "status");
	struct text t = {.n = 0};

	if (n == 0)
		add_text(&t, "%s: no warnings", status);
	else
		add_text(&t, "%s: %lld warning%s, see below", status, n, plural_of(n));
	add_text(&t, "; version %s, process %lld, mode %s", hp3ctl_text(health, "version"),
		hp3ctl_number(health, "pid"), hp3ctl_text(health, "mode"));
	if (strcmp(hp3ctl_text(health, "mode_by"), "configuration") != 0)
		add_text(&t, " (set by the %s)", hp3ctl_text(health, "mode_by"));
	print_line("health", &t);
}

/* By rail: whether packets pass hp3d, and how many did. */
static void print_packets(json_t *health)
{
	json_t *rail, *bypass = json_object_get(health, "bypass");
	struct text t = {.n = 0};
	const char *name;

	if (json_is_true(json_object_get(health, "verbs_mode"))) {
		add_text(&t, "do not pass hp3d in verbs mode; hp3ctl qps shows the queue pairs");
		print_line("packets", &t);
		return;
	}
	json_object_foreach (json_object_get(health, "packets"), name, rail) {
		json_t *b = json_object_get(bypass, name);
		json_int_t tx = hp3ctl_number(rail, "tx"), rx = hp3ctl_number(rail, "rx");

		add_text(&t, "%s%s ", t.n ? "; " : "", name);
		if (json_is_true(json_object_get(b, "direct")))
			add_text(&t, "direct: RoCEv2 packets bypass hp3d (%s)",
				hp3ctl_text(b, "state"));
		else
			add_text(&t, "through hp3d%s",
				strcmp(hp3ctl_text(b, "bypass"), "off") == 0 ? ", bypass off" : "");
		if (tx + rx == 0)
			add_text(&t, ", no packets yet");
		else
			add_text(&t, ", %lld from the RNIC, %lld from the network", tx, rx);
	}
	print_line("packets", &t);
}

static void print_flows(json_t *health)
{
	json_int_t all = hp3ctl_number(health, "flows");
	json_int_t unpaired = hp3ctl_number(health, "flows_unpaired");
	struct text t = {.n = 0};

	add_text(&t, "%lld: %lld paired, %lld moved, %lld sprayed", all, all - unpaired,
		hp3ctl_number(health, "flows_moved"), hp3ctl_number(health, "flows_sprayed"));
	if (unpaired != 0)
		add_text(&t, "; hp3ctl flows --filter unpaired shows why %lld %s not paired",
			unpaired, unpaired == 1 ? "is" : "are");
	print_line("flows", &t);
}

static void print_peers(json_t *health)
{
	json_t *peers = json_object_get(health, "peers");
	json_int_t n = hp3ctl_number(peers, "address_pairs");
	struct text t = {.n = 0};

	add_text(&t, "%lld address pair%s: hp3d answers in %lld, %lld with a key", n, plural_of(n),
		hp3ctl_number(peers, "hp3d"), hp3ctl_number(peers, "keyed"));
	print_line("peers", &t);
}

static void print_audit(json_t *health)
{
	json_t *audit = json_object_get(health, "audit");
	json_int_t lost = hp3ctl_number(audit, "lost_rate") + hp3ctl_number(audit, "lost_queue") +
			  hp3ctl_number(audit, "lost_disk");
	const char *state = hp3ctl_text(audit, "state");
	struct text t = {.n = 0};

	if (strcmp(state, "off") == 0)
		add_text(&t, "off");
	else
		add_text(&t, "%s: %s, %lld line%s written, %lld lost", hp3ctl_text(audit, "file"),
			state, hp3ctl_number(audit, "written"),
			plural_of(hp3ctl_number(audit, "written")), lost);
	print_line("audit", &t);
}

/* Of a counter: did it rise during the last minute? */
static const char *when_of(json_t *warning)
{
	if (json_object_get(warning, "count") == NULL)
		return "";
	return json_is_true(json_object_get(warning, "now")) ? ", and now"
							     : ", not in the last minute";
}

static void print_warnings(json_t *health)
{
	json_t *warnings = json_object_get(health, "warnings"), *warning;
	struct text t = {.n = 0};
	size_t i;

	if (json_array_size(warnings) == 0)
		add_text(&t, "none");
	else
		add_text(&t, "%zu; counts are since hp3d started, times are UTC",
			json_array_size(warnings));
	print_line("warnings", &t);
	json_array_foreach (warnings, i, warning) {
		t.n = 0;
		add_text(&t, "%s: %s (since %s%s); %s", hp3ctl_text(warning, "code"),
			hp3ctl_text(warning, "text"), hp3ctl_text(warning, "since"),
			when_of(warning), hp3ctl_text(warning, "fix"));
		printf("  ");
		hp3ctl_print_wrapped(t.at, 2, 4);
	}
}

static void print_summary(json_t *health)
{
	print_verdict(health);
	print_packets(health);
	print_flows(health);
	print_peers(health);
	print_audit(health);
	print_warnings(health);
}

/* Does this verdict mean that hp3d does not work, or that traffic is harmed? */
static bool does_harm(const char *status)
{
	return strcmp(status, "ok") != 0 && strcmp(status, "warning") != 0;
}

int hp3ctl_health(struct hp3ctl *ctl)
{
	json_t *data;
	int rc = hp3ctl_ask_data(ctl, json_pack("{s:s}", "cmd", "health"), &data);

	if (rc != HP3CTL_DONE)
		return rc;
	if (ctl->json)
		hp3ctl_print_json(data);
	else if (ctl->given & HP3CTL_BIT(ALL))
		hp3ctl_print_values(data);
	else
		print_summary(data);
	rc = does_harm(hp3ctl_text(data, "status")) ? HP3CTL_FAILED : HP3CTL_DONE;
	json_decref(data);
	return rc;
}
