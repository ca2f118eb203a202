/* SPDX-License-Identifier: BSD-3-Clause */
/* why: the evidence behind the last decisions about one flow. */
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"

#define WHY_EVENTS 24u /* of the flow, the latest */

/* The flow's current path, in a sentence. */
static void print_now(json_t *flow)
{
	const char *barred = json_string_value(json_object_get(flow, "barred"));
	json_t *unpaired = json_object();
	json_t *path = json_object_get(flow, "path");

	printf("%s leaves on port %lld%s; %lld moves so far; round trip %.1f us (base %.1f), %lld "
	       "of 1000 replies marked%s\n",
		hp3ctl_text(flow, "flow"), hp3ctl_number(flow, "port"),
		json_is_true(json_object_get(flow, "moved")) ? "" : ", its home port",
		hp3ctl_number(flow, "moves"), (double)hp3ctl_number(path, "rtt_ns") / 1e3,
		(double)hp3ctl_number(path, "base_rtt_ns") / 1e3,
		hp3ctl_number(path, "marked_permille"),
		json_is_true(json_object_get(flow, "severe")) ? "; severely congested" : "");
	hp3ctl_count_unpaired(unpaired, flow);
	hp3ctl_print_unpaired(unpaired);
	json_decref(unpaired);
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
	json_t *list = json_array(), *flow;
	int rc = hp3ctl_latest_events(ctl, ctl->args[0], WHY_EVENTS, list);

	if (rc == HP3CTL_DONE)
		rc = hp3ctl_ask_data(
			ctl, json_pack("{s:s, s:s}", "cmd", "flow", "flow", ctl->args[0]), &flow);
	if (rc == HP3CTL_DONE) {
		hp3ctl_print_events(ctl, list);
		if (!ctl->json && json_array_size(list) == 0)
			puts("there is no decision about it among the latest 4096; the audit log "
			     "may have older ones");
		if (!ctl->json) {
			print_fruitless(flow);
			print_now(flow);
		}
		json_decref(flow);
	}
	json_decref(list);
	return rc;
}
