/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/hp3d.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ANSWERS_PAGE 500

static void note_refusal(struct fleet_hp3d *h, const char *what, const char *fix)
{
	snprintf(h->why, sizeof(h->why), "hp3d at %.64s: %.48s; %.64s", h->path, what, fix);
}

static void fail_connection(struct fleet_hp3d *h, const char *what, const char *fix)
{
	note_refusal(h, what, fix);
	hp3_line_close(&h->line);
}

static bool lose_connection(struct fleet_hp3d *h, int err)
{
	fail_connection(h,
		err == EAGAIN    ? "no answer in time"
		: err == ENODATA ? "closed by hp3d"
				 : strerror(err),
		err == EACCES || err == EPERM
			? "set [control] group in hp3.ini, and run this as its member"
			: "is it running? see control= in [agent]");
	return false;
}

static bool connect_to_hp3d(struct fleet_hp3d *h)
{
	int ret;

	if (h->line.fd >= 0)
		return true;
	ret = hp3_line_connect(&h->line, h->path, FLEET_HP3D_WAIT_S);
	if (ret < 0)
		return lose_connection(h, -ret);
	h->run++;
	return true;
}

static json_t *exchange_lines(struct fleet_hp3d *h, const json_t *req)
{
	json_t *answer;
	int ret = hp3_line_send(&h->line, req);

	if (ret == 0)
		ret = hp3_line_receive(&h->line, &answer);
	if (ret == 0)
		return answer;
	if (ret == -EBADMSG)
		fail_connection(h, "the answer is not a JSON object",
			"is that hp3d's socket? see control= in [agent]");
	else
		lose_connection(h, -ret);
	return NULL;
}

static json_t *answer_to(struct fleet_hp3d *h, json_t *req)
{
	json_t *answer = NULL, *error;
	const char *code = "", *text = "refused", *fix = "see its log";

	h->is_busy = false;
	if (connect_to_hp3d(h))
		answer = exchange_lines(h, req);
	if (answer == NULL || json_is_true(json_object_get(answer, "ok")))
		return answer;
	error = json_object_get(answer, "error");
	json_unpack(error, "{s?s, s?s, s?s}", "code", &code, "text", &text, "fix", &fix);
	note_refusal(h, text, fix);
	h->is_busy = strcmp(code, "busy") == 0;
	json_decref(answer);
	return NULL;
}

json_t *fleet_hp3d_ask(struct fleet_hp3d *h, json_t *req)
{
	json_t *answer = answer_to(h, req), *data;

	json_decref(req);
	if (answer == NULL)
		return NULL;
	data = json_incref(json_object_get(answer, "data"));
	json_decref(answer);
	if (data == NULL)
		fail_connection(
			h, "an answer without data", "hp3d and hp3-fleet must be of one version");
	return data;
}

json_t *fleet_hp3d_list(struct fleet_hp3d *h, json_t *req, size_t most)
{
	json_t *all = json_array(), *answer;
	bool more = true;

	json_object_set_new(req, "limit", json_integer(ANSWERS_PAGE));
	while (more && json_array_size(all) < most) {
		json_t *next;

		answer = answer_to(h, req);
		if (answer == NULL) {
			json_decref(all);
			all = NULL;
			break;
		}
		json_array_extend(all, json_object_get(answer, "data"));
		next = json_object_get(answer, "next");
		more = json_is_string(next) && *json_string_value(next) != '\0';
		if (more)
			json_object_set(req, "after", next);
		json_decref(answer);
	}
	json_decref(req);
	return all;
}
