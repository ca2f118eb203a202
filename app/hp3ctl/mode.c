/* SPDX-License-Identifier: BSD-3-Clause */
/* mode and bypass: the kill switches. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "app/clock.h"
#include "app/hp3ctl/hp3ctl.h"

#define POLL_MS 20u
#define WAIT_MS 10000u /* sprayed queue pairs leave after ten keep-alives of the peer */

/* The request for `what`, or to set it to the argument. */
static json_t *request_of(const struct hp3ctl *ctl, const char *what)
{
	json_t *req = json_pack("{s:s}", "cmd", what);
	const char *rail = ctl->text[HP3CTL_RAIL];

	if (ctl->n_args)
		json_object_set_new(req, what, json_string(ctl->args[0]));
	if (rail != NULL)
		json_object_set_new(req, "rail", json_string(rail));
	return req;
}

static void print_mode(const struct hp3ctl *ctl, json_t *data)
{
	printf("mode %s, set by the %s\n", hp3ctl_text(data, "mode"), hp3ctl_text(data, "mode_by"));
}

int hp3ctl_mode(struct hp3ctl *ctl)
{
	return hp3ctl_print_answer(ctl, request_of(ctl, "mode"), print_mode);
}

static void print_bypass(const struct hp3ctl *ctl, json_t *data)
{
	const char *name, *all = json_string_value(json_object_get(data, "bypass"));
	bool mixed = all == NULL;
	json_t *rail;

	printf("bypass %s\n", mixed ? "by rail" : all);
	json_object_foreach (json_object_get(data, "rails"), name, rail) {
		const char *state = json_string_value(json_object_get(rail, "state"));
		const char *own = json_string_value(json_object_get(rail, "bypass"));

		printf("%s %s%s%s\n", name, state ? state : "has none",
			mixed && own ? ", bypass " : "", mixed && own ? own : "");
	}
}

/*
 * Has the rail the state that its own setting leads to? A rail whose ports another hp3d has keeps
 * its state.
 */
static bool is_settled(json_t *rail)
{
	const char *state = hp3ctl_text(rail, "state");

	if (json_is_null(rail)) /* it does not fail open */
		return true;
	if (strcmp(hp3ctl_text(rail, "bypass"), "on") == 0)
		return json_is_true(json_object_get(rail, "direct"));
	return strcmp(state, "taken") == 0 || strcmp(state, "waiting") == 0 ||
	       strcmp(state, "replaced") == 0;
}

static const char *first_unsettled(json_t *data)
{
	const char *name;
	json_t *rail;

	json_object_foreach (json_object_get(data, "rails"), name, rail)
		if (!is_settled(rail))
			return name;
	return NULL;
}

/* Waits until the rails have changed. *data: the newest answer. */
static int wait_for_rails(struct hp3ctl *ctl, json_t **data)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000};
	uint64_t until = hp3_clock_ms() + WAIT_MS;
	int rc = HP3CTL_DONE;

	while (rc == HP3CTL_DONE && first_unsettled(*data) != NULL && hp3_clock_ms() < until) {
		json_decref(*data);
		*data = NULL;
		nanosleep(&pause, NULL);
		rc = hp3ctl_ask_data(ctl, json_pack("{s:s}", "cmd", "bypass"), data);
	}
	return rc;
}

int hp3ctl_bypass(struct hp3ctl *ctl)
{
	json_t *data = NULL;
	int rc = hp3ctl_ask_data(ctl, request_of(ctl, "bypass"), &data);

	if (rc == HP3CTL_DONE && ctl->n_args)
		rc = wait_for_rails(ctl, &data);
	if (rc != HP3CTL_DONE)
		return rc;
	if (ctl->json)
		hp3ctl_print_json(data);
	else
		print_bypass(ctl, data);
	if (ctl->n_args && first_unsettled(data) != NULL)
		rc = hp3ctl_fail(ctl, HP3CTL_FAILED, "not-finished",
			"type hp3ctl bypass again; if the state stays, hp3ctl health shows why",
			"rail %s has not changed its state within %u s", first_unsettled(data),
			WAIT_MS / 1000);
	json_decref(data);
	return rc;
}
