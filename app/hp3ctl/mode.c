/* SPDX-License-Identifier: BSD-3-Clause */
/* mode and bypass: the kill switches. */
#include <stdio.h>
#include "app/hp3ctl/hp3ctl.h"

/* Prints `what`, or sets it to the argument. */
static int ask_or_set(
	struct hp3ctl *ctl, const char *what, void (*print)(const struct hp3ctl *ctl, json_t *data))
{
	json_t *req = json_pack("{s:s}", "cmd", what);
	const char *rail = ctl->text[HP3CTL_RAIL];

	if (ctl->n_args)
		json_object_set_new(req, what, json_string(ctl->args[0]));
	if (rail != NULL)
		json_object_set_new(req, "rail", json_string(rail));
	return hp3ctl_print_answer(ctl, req, print);
}

static void print_mode(const struct hp3ctl *ctl, json_t *data)
{
	printf("mode %s, set by the %s\n", hp3ctl_text(data, "mode"), hp3ctl_text(data, "mode_by"));
}

int hp3ctl_mode(struct hp3ctl *ctl)
{
	return ask_or_set(ctl, "mode", print_mode);
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

int hp3ctl_bypass(struct hp3ctl *ctl)
{
	return ask_or_set(ctl, "bypass", print_bypass);
}
