/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"

#define ANSWER_TIMEOUT_S 10

/* The only function that prints JSON; adds the version if it is missing. */
void hp3ctl_print_json(json_t *j)
{
	char *text;

	if (!json_object_get(j, "v"))
		json_object_set_new(j, "v", json_integer(HP3CTL_JSON_VERSION));
	text = json_dumps(j, JSON_COMPACT);
	puts(text); /* one call: lines are always whole */
	free(text);
}

void hp3ctl_print_new_json(json_t *j)
{
	hp3ctl_print_json(j);
	json_decref(j);
}

int hp3ctl_fail(
	const struct hp3ctl *ctl, int exit, const char *code, const char *fix, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (ctl->error) {
		snprintf(ctl->error, HP3CTL_ERROR_MAX, "%.300s; %.200s", text, fix);
		return exit;
	}
	if (ctl->json) {
		hp3ctl_print_new_json(
			json_pack("{s:i, s:b, s:{s:s, s:s, s:s}}", "v", HP3CTL_JSON_VERSION, "ok",
				0, "error", "code", code, "text", text, "fix", fix));
		return exit;
	}
	fprintf(stderr, "hp3ctl: %s\n  %s\n", text, fix);
	return exit;
}

static int fail_unreachable(const struct hp3ctl *ctl, int err)
{
	const char *fix = "is hp3d running? start it, or name the socket= of its [control] section "
			  "with --socket";

	if (err == EACCES || err == EPERM)
		fix = "run hp3ctl as the user who runs hp3d (root)";
	return hp3ctl_fail(ctl, HP3CTL_UNREACHABLE, "unreachable", fix, "no hp3d answers at %s: %s",
		ctl->text[HP3CTL_SOCKET], strerror(err));
}

int hp3ctl_connect(struct hp3ctl *ctl)
{
	int ret = hp3_line_connect(&ctl->line, ctl->text[HP3CTL_SOCKET], ANSWER_TIMEOUT_S);

	return ret == 0 ? HP3CTL_DONE : fail_unreachable(ctl, -ret);
}

/* Reports an error of hp3_line_send() or hp3_line_receive(). */
static int fail_line(const struct hp3ctl *ctl, int err)
{
	const char *path = ctl->text[HP3CTL_SOCKET];

	switch (err) {
	case 0:
		return HP3CTL_DONE;
	case -EAGAIN:
		return hp3ctl_fail(ctl, HP3CTL_UNREACHABLE, "unreachable",
			"hp3d hangs or its machine is overloaded: look at its log, restart it",
			"hp3d at %s did not answer within %d s", path, ANSWER_TIMEOUT_S);
	case -ENOMEM:
		return hp3ctl_fail(ctl, HP3CTL_FAILED, "no-memory", "free memory on this host",
			"out of memory");
	case -EBADMSG:
		return hp3ctl_fail(ctl, HP3CTL_FAILED, "bad-answer",
			"hp3ctl and hp3d must have the same version; does another program own the "
			"socket?",
			"the answer from %s is not a JSON object", path);
	default:
		return hp3ctl_fail(ctl, HP3CTL_UNREACHABLE, "unreachable",
			"hp3d was stopped or restarted: try again",
			"the connection to %s was lost: %s", path,
			err == -ENODATA ? "closed by hp3d" : strerror(-err));
	}
}

int hp3ctl_send(struct hp3ctl *ctl, json_t *req)
{
	int ret = hp3_line_send(&ctl->line, req);

	json_decref(req);
	return fail_line(ctl, ret);
}

int hp3ctl_receive(struct hp3ctl *ctl, json_t **answer)
{
	return fail_line(ctl, hp3_line_receive(&ctl->line, answer));
}

const char *hp3ctl_error_code(json_t *answer)
{
	const char *code;

	if (json_is_true(json_object_get(answer, "ok")))
		return NULL;
	code = json_string_value(json_object_get(json_object_get(answer, "error"), "code"));
	return code ? code : "unknown";
}

int hp3ctl_report(struct hp3ctl *ctl, json_t *answer)
{
	const char *code = hp3ctl_error_code(answer), *text = "hp3d gave no reason", *fix = "";
	json_t *error, *candidate;
	size_t i = 0;
	int exit;

	if (!code)
		return HP3CTL_DONE;
	exit = strcmp(code, "not-found") == 0 ? HP3CTL_NOT_FOUND : HP3CTL_FAILED;
	if (ctl->json) {
		hp3ctl_print_json(answer);
		return exit;
	}
	error = json_object_get(answer, "error");
	json_unpack(error, "{s?s, s?s}", "text", &text, "fix", &fix);
	hp3ctl_fail(ctl, exit, code, fix, "%s", text);
	if (ctl->error)
		return exit;
	json_array_foreach (json_object_get(error, "candidates"), i, candidate)
		fprintf(stderr, "    %s\n", json_string_value(candidate));
	if (i < (size_t)json_integer_value(json_object_get(error, "found")))
		fprintf(stderr, "    and %lld more\n",
			json_integer_value(json_object_get(error, "found")) - (json_int_t)i);
	return exit;
}

int hp3ctl_ask(struct hp3ctl *ctl, json_t *req, json_t **answer)
{
	int rc = hp3ctl_send(ctl, req);

	if (rc == HP3CTL_DONE)
		rc = hp3ctl_receive(ctl, answer);
	if (rc != HP3CTL_DONE)
		return rc;
	rc = hp3ctl_report(ctl, *answer);
	if (rc != HP3CTL_DONE)
		json_decref(*answer);
	return rc;
}

int hp3ctl_ask_data(struct hp3ctl *ctl, json_t *req, json_t **data)
{
	json_t *answer;
	int rc = hp3ctl_ask(ctl, req, &answer);

	if (rc != HP3CTL_DONE)
		return rc;
	*data = json_incref(json_object_get(answer, "data"));
	json_decref(answer);
	return rc;
}

int hp3ctl_print_answer(
	struct hp3ctl *ctl, json_t *req, void (*print)(const struct hp3ctl *ctl, json_t *data))
{
	json_t *data;
	int rc = hp3ctl_ask_data(ctl, req, &data);

	if (rc != HP3CTL_DONE)
		return rc;
	if (ctl->json)
		hp3ctl_print_json(data);
	else
		print(ctl, data);
	json_decref(data);
	return rc;
}
