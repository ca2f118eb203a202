/* SPDX-License-Identifier: BSD-3-Clause */
/* mode and bypass: the kill switches. */
#include <stdio.h>
#include "app/hp3ctl/hp3ctl.h"

/* Prints `what`, or sets it to the argument. */
static int ask_or_set(struct hp3ctl *ctl, const char *what, json_t **answer)
{
	json_t *req = json_pack("{s:s}", "cmd", what);
	const char *rail = ctl->text[HP3CTL_RAIL];

	if (ctl->n_args)
		json_object_set_new(req, what, json_string(ctl->args[0]));
	if (rail != NULL)
		json_object_set_new(req, "rail", json_string(rail));
	return hp3ctl_ask(ctl, req, answer);
}

int hp3ctl_mode(struct hp3ctl *ctl)
{
	json_t *answer, *data;
	int rc = ask_or_set(ctl, "mode", &answer);

	if (rc != HP3CTL_DONE)
		return rc;
	data = json_object_get(answer, "data");
	if (ctl->json)
		hp3ctl_print_json(data);
	else
		printf("mode %s, set by the %s\n", json_string_value(json_object_get(data, "mode")),
			json_string_value(json_object_get(data, "mode_by")));
	json_decref(answer);
	return HP3CTL_DONE;
}

int hp3ctl_bypass(struct hp3ctl *ctl)
{
	json_t *answer, *data, *rail;
	const char *name, *all;
	bool mixed;
	int rc = ask_or_set(ctl, "bypass", &answer);

	if (rc != HP3CTL_DONE)
		return rc;
	data = json_object_get(answer, "data");
	all = json_string_value(json_object_get(data, "bypass"));
	mixed = all == NULL;
	if (ctl->json)
		hp3ctl_print_json(data);
	else
		printf("bypass %s\n", mixed ? "by rail" : all);
	json_object_foreach (json_object_get(data, "rails"), name, rail) {
		const char *state = json_string_value(json_object_get(rail, "state"));
		const char *own = json_string_value(json_object_get(rail, "bypass"));

		if (ctl->json)
			continue;
		printf("%s %s%s%s\n", name, state ? state : "has none",
			mixed && own ? ", bypass " : "", mixed && own ? own : "");
	}
	json_decref(answer);
	return HP3CTL_DONE;
}
