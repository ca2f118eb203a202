/* SPDX-License-Identifier: BSD-3-Clause */
/* why: the evidence behind the last decisions about one flow. */
#include <stdio.h>
#include "app/hp3ctl/hp3ctl.h"

#define WHY_EVENTS 24u /* of the flow, the latest */

/* The latest events, oldest first. */
struct latest {
	json_t *list;
	size_t max;
};

static void keep_latest_event(void *arg, json_t *event)
{
	struct latest *l = arg;

	json_array_append(l->list, event);
	if (json_array_size(l->list) > l->max)
		json_array_remove(l->list, 0);
}

/* Reads the latest events of one flow, or of all flows (NULL). */
static int ask_latest_events(struct hp3ctl *ctl, const char *flow, size_t max, json_t *list)
{
	struct latest l = {list, max};
	json_t *req = json_pack("{s:s}", "cmd", "events");
	json_int_t since = 0;

	if (flow)
		json_object_set_new(req, "flow", json_string(flow));
	return hp3ctl_each_event(ctl, req, &since, keep_latest_event, &l);
}

static void print_all(const struct hp3ctl *ctl, json_t *list)
{
	json_t *event;
	size_t i;

	json_array_foreach (list, i, event)
		hp3ctl_print_event(ctl, event);
}

/* The flow's current path, in a sentence. */
static void print_now(json_t *flow)
{
	const char *barred = json_string_value(json_object_get(flow, "barred"));
	const char *unpaired = json_string_value(json_object_get(flow, "unpaired"));
	json_t *path = json_object_get(flow, "path");

	printf("%s leaves on port %lld%s; %lld moves so far; round trip %.1f us (base %.1f), %lld "
	       "of 1000 replies marked%s\n",
		json_string_value(json_object_get(flow, "flow")),
		json_integer_value(json_object_get(flow, "port")),
		json_is_true(json_object_get(flow, "moved")) ? "" : ", its home port",
		json_integer_value(json_object_get(flow, "moves")),
		(double)json_integer_value(json_object_get(path, "rtt_ns")) / 1e3,
		(double)json_integer_value(json_object_get(path, "base_rtt_ns")) / 1e3,
		json_integer_value(json_object_get(path, "marked_permille")),
		json_is_true(json_object_get(flow, "severe")) ? "; severely congested" : "");
	if (unpaired != NULL)
		printf("  it is not paired, so it is neither held nor moved: %s\n", unpaired);
	if (barred != NULL)
		printf("  it is not moved: [filter] bars its %s\n", barred);
}

/* The number of fruitless rounds, by cause. */
static void print_fruitless(json_t *flow)
{
	json_t *fruitless = json_object_get(flow, "fruitless"), *n;
	const char *cause;

	if (json_object_size(fruitless) == 0)
		return;
	printf("rounds of probes that found no better path:");
	json_object_foreach (fruitless, cause, n)
		printf(" %lld (%s)", json_integer_value(n), cause);
	puts("; hp3ctl events --all has samples");
}

int hp3ctl_why(struct hp3ctl *ctl)
{
	json_t *list = json_array(), *answer;
	int rc = ask_latest_events(ctl, ctl->args[0], WHY_EVENTS, list);

	if (rc == HP3CTL_DONE)
		rc = hp3ctl_ask(
			ctl, json_pack("{s:s, s:s}", "cmd", "flow", "flow", ctl->args[0]), &answer);
	if (rc == HP3CTL_DONE) {
		print_all(ctl, list);
		if (!ctl->json && json_array_size(list) == 0)
			puts("there is no decision about it among the latest 4096; the audit log "
			     "may have older ones");
		if (!ctl->json) {
			print_fruitless(json_object_get(answer, "data"));
			print_now(json_object_get(answer, "data"));
		}
		json_decref(answer);
	}
	json_decref(list);
	return rc;
}
