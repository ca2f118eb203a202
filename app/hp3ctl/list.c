/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists, page by page. */
#include <stdio.h>
#include "app/hp3ctl/hp3ctl.h"

#define LIST_PAGE 500

int hp3ctl_each_page(
	struct hp3ctl *ctl, json_t *req, int (*fn)(void *arg, json_t *items), void *arg)
{
	char after[64];
	int rc;

	json_object_set_new(req, "limit", json_integer(LIST_PAGE));
	do {
		json_t *answer;
		const char *next;

		rc = hp3ctl_ask(ctl, json_incref(req), &answer);
		if (rc != HP3CTL_DONE)
			break;
		rc = fn(arg, json_object_get(answer, "data"));
		next = json_string_value(json_object_get(answer, "next"));
		snprintf(after, sizeof(after), "%s", next ? next : "");
		json_object_set_new(req, "after", json_string(after));
		json_decref(answer);
	} while (rc == HP3CTL_DONE && *after);
	json_decref(req);
	return rc;
}

int hp3ctl_append_page(void *arg, json_t *items)
{
	return json_array_extend(arg, items) == 0 ? HP3CTL_DONE : HP3CTL_FAILED;
}

struct printer {
	const struct hp3ctl *ctl;
	void (*print_row)(json_t *item);
};

static int print_page(void *arg, json_t *items)
{
	const struct printer *p = arg;
	json_t *item;
	size_t i;

	json_array_foreach (items, i, item) {
		if (p->ctl->json)
			hp3ctl_print_json(item);
		else
			p->print_row(item);
	}
	return HP3CTL_DONE;
}

int hp3ctl_print_list(struct hp3ctl *ctl, json_t *req, void (*print_row)(json_t *item))
{
	struct printer p = {ctl, print_row};

	return hp3ctl_each_page(ctl, req, print_page, &p);
}

int hp3ctl_each_event(struct hp3ctl *ctl, json_t *req, json_int_t *since,
	void (*fn)(void *arg, json_t *event), void *arg)
{
	json_int_t asked;
	int rc;

	json_object_set_new(req, "limit", json_integer(LIST_PAGE));
	do {
		json_t *answer, *event;
		size_t i;

		asked = *since;
		json_object_set_new(req, "since", json_integer(asked));
		rc = hp3ctl_ask(ctl, json_incref(req), &answer);
		if (rc != HP3CTL_DONE)
			break;
		json_array_foreach (json_object_get(answer, "data"), i, event)
			fn(arg, event);
		*since = json_integer_value(json_object_get(answer, "next"));
		json_decref(answer);
	} while (*since != asked);
	json_decref(req);
	return rc;
}

struct latest {
	json_t *list; /* oldest first */
	size_t max;
};

static void keep_latest(void *arg, json_t *event)
{
	const struct latest *l = arg;

	json_array_append(l->list, event);
	if (json_array_size(l->list) > l->max)
		json_array_remove(l->list, 0);
}

int hp3ctl_latest_events(struct hp3ctl *ctl, const char *flow, size_t max, json_t *list)
{
	struct latest l = {list, max};
	json_t *req = json_pack("{s:s}", "cmd", "events");
	json_int_t since = 0;

	if (flow)
		json_object_set_new(req, "flow", json_string(flow));
	return hp3ctl_each_event(ctl, req, &since, keep_latest, &l);
}
