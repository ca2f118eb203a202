/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "app/hp3ctl/hp3ctl.h"
#include "app/plain_json.h"

#define ANSWER_TIMEOUT_S 10
#define CHUNK            65536u

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
		json_t *j = json_pack("{s:i, s:b, s:{s:s, s:s, s:s}}", "v", HP3CTL_JSON_VERSION,
			"ok", 0, "error", "code", code, "text", text, "fix", fix);

		hp3ctl_print_json(j);
		json_decref(j);
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
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct timeval timeout = {.tv_sec = ANSWER_TIMEOUT_S};

	if (strlen(ctl->text[HP3CTL_SOCKET]) >= sizeof(addr.sun_path))
		return fail_unreachable(ctl, ENAMETOOLONG);
	strcpy(addr.sun_path, ctl->text[HP3CTL_SOCKET]);
	ctl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ctl->fd < 0 ||
		setsockopt(ctl->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0 ||
		setsockopt(ctl->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0 ||
		connect(ctl->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return fail_unreachable(ctl, errno);
	return HP3CTL_DONE;
}

void hp3ctl_disconnect(struct hp3ctl *ctl)
{
	if (ctl->fd >= 0)
		close(ctl->fd);
	ctl->fd = -1;
	free(ctl->buf);
	ctl->buf = NULL;
	ctl->len = ctl->cap = 0;
}

static int fail_lost_connection(const struct hp3ctl *ctl, int err)
{
	if (err == EAGAIN)
		return hp3ctl_fail(ctl, HP3CTL_UNREACHABLE, "unreachable",
			"hp3d hangs or its machine is overloaded: look at its log, restart it",
			"hp3d at %s did not answer within %d s", ctl->text[HP3CTL_SOCKET],
			ANSWER_TIMEOUT_S);
	return hp3ctl_fail(ctl, HP3CTL_UNREACHABLE, "unreachable",
		"hp3d was stopped or restarted: try again", "the connection to %s was lost: %s",
		ctl->text[HP3CTL_SOCKET], err ? strerror(err) : "closed by hp3d");
}

static int no_memory(const struct hp3ctl *ctl)
{
	return hp3ctl_fail(
		ctl, HP3CTL_FAILED, "no-memory", "free memory on this host", "out of memory");
}

int hp3ctl_send(struct hp3ctl *ctl, json_t *req)
{
	char *text = json_dumps(req, JSON_COMPACT);
	size_t n = strlen(text), sent = 0;

	json_decref(req);
	text[n++] = '\n'; /* replaces the NUL */
	while (sent < n) {
		ssize_t k = send(ctl->fd, text + sent, n - sent, MSG_NOSIGNAL);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			int err = errno;
			free(text);
			return fail_lost_connection(ctl, err);
		}
		sent += (size_t)k;
	}
	free(text);
	return HP3CTL_DONE;
}

/* Appends received bytes to the buffer. */
static int receive_more(struct hp3ctl *ctl)
{
	ssize_t n;

	if (ctl->cap - ctl->len < CHUNK) {
		char *buf = realloc(ctl->buf, ctl->cap * 2 + CHUNK);
		if (!buf)
			return no_memory(ctl);
		ctl->buf = buf;
		ctl->cap = ctl->cap * 2 + CHUNK;
	}
	do
		n = recv(ctl->fd, ctl->buf + ctl->len, ctl->cap - ctl->len, 0);
	while (n < 0 && errno == EINTR && !(ctl->stop && *ctl->stop));
	if (n <= 0)
		return fail_lost_connection(ctl, n < 0 ? errno : 0);
	ctl->len += (size_t)n;
	return HP3CTL_DONE;
}

int hp3ctl_receive(struct hp3ctl *ctl, json_t **answer)
{
	size_t seen = 0, n;
	char *end;

	while (!(end = ctl->buf ? memchr(ctl->buf + seen, '\n', ctl->len - seen) : NULL)) {
		int rc;
		seen = ctl->len;
		rc = receive_more(ctl);
		if (rc != HP3CTL_DONE)
			return rc;
	}
	n = (size_t)(end - ctl->buf);
	*answer = hp3_plain_json(json_loadb(ctl->buf, n, 0, NULL));
	ctl->len -= n + 1;
	memmove(ctl->buf, end + 1, ctl->len);
	if (!json_is_object(*answer)) {
		json_decref(*answer);
		return hp3ctl_fail(ctl, HP3CTL_FAILED, "bad-answer",
			"hp3ctl and hp3d must have the same version; does another program own the "
			"socket?",
			"the answer from %s is not a JSON object", ctl->text[HP3CTL_SOCKET]);
	}
	return HP3CTL_DONE;
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
