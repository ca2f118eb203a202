/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/hp3d.h"
#include "app/plain_json.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define CHUNK        65536u
#define ANSWER_MAX   (64u * 1024 * 1024)
#define ANSWERS_PAGE 500

void fleet_hp3d_init(struct fleet_hp3d *h, const char *path)
{
	*h = (struct fleet_hp3d){.path = path, .fd = -1};
}

void fleet_hp3d_close(struct fleet_hp3d *h)
{
	if (h->fd >= 0)
		close(h->fd);
	free(h->buf);
	h->fd = -1;
	h->buf = NULL;
	h->len = h->cap = 0;
}

static void note_refusal(struct fleet_hp3d *h, const char *what, const char *fix)
{
	snprintf(h->why, sizeof(h->why), "hp3d at %.64s: %.48s; %.64s", h->path, what, fix);
}

static void fail_connection(struct fleet_hp3d *h, const char *what, const char *fix)
{
	note_refusal(h, what, fix);
	fleet_hp3d_close(h);
}

static bool lose_connection(struct fleet_hp3d *h, int err)
{
	bool late = err == EAGAIN || err == EWOULDBLOCK;

	fail_connection(h,
		late       ? "no answer in time"
		: err != 0 ? strerror(err)
			   : "closed by hp3d",
		err == EACCES || err == EPERM
			? "set [control] group in hp3.ini, and run this as its member"
			: "is it running? see control= in [agent]");
	return false;
}

static bool connect_to_hp3d(struct fleet_hp3d *h)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct timeval wait = {.tv_sec = FLEET_HP3D_WAIT_S};

	if (h->fd >= 0)
		return true;
	if (strlen(h->path) >= sizeof(addr.sun_path))
		return lose_connection(h, ENAMETOOLONG);
	strcpy(addr.sun_path, h->path);
	h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (h->fd < 0 || setsockopt(h->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
		setsockopt(h->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0 ||
		connect(h->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return lose_connection(h, errno);
	h->run++;
	return true;
}

static bool send_request(struct fleet_hp3d *h, const json_t *req)
{
	char *text = json_dumps(req, JSON_COMPACT);
	size_t n, sent = 0;

	if (text == NULL)
		return lose_connection(h, ENOMEM);
	n = strlen(text);
	text[n++] = '\n'; /* replaces the NUL */
	while (sent < n) {
		ssize_t k = send(h->fd, text + sent, n - sent, MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR) {
			int err = errno;

			free(text);
			return lose_connection(h, err);
		}
		sent += k > 0 ? (size_t)k : 0;
	}
	free(text);
	return true;
}

static bool receive_more(struct fleet_hp3d *h)
{
	ssize_t n;

	if (h->cap - h->len < CHUNK) {
		size_t cap = h->cap * 2 + CHUNK;
		char *buf = cap <= ANSWER_MAX ? realloc(h->buf, cap) : NULL;

		if (buf == NULL)
			return lose_connection(h, ENOMEM);
		h->buf = buf;
		h->cap = cap;
	}
	do
		n = recv(h->fd, h->buf + h->len, h->cap - h->len, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return lose_connection(h, n < 0 ? errno : 0);
	h->len += (size_t)n;
	return true;
}

/* The next line, as JSON. */
static json_t *receive_answer(struct fleet_hp3d *h)
{
	size_t seen = 0, n;
	json_t *answer;
	char *end;

	while ((end = h->buf != NULL ? memchr(h->buf + seen, '\n', h->len - seen) : NULL) == NULL) {
		seen = h->len;
		if (!receive_more(h))
			return NULL;
	}
	n = (size_t)(end - h->buf);
	answer = hp3_plain_json(json_loadb(h->buf, n, 0, NULL));
	h->len -= n + 1;
	memmove(h->buf, end + 1, h->len);
	if (json_is_object(answer))
		return answer;
	json_decref(answer);
	fail_connection(h, "the answer is not a JSON object",
		"is that hp3d's socket? see control= in [agent]");
	return NULL;
}

static json_t *answer_to(struct fleet_hp3d *h, json_t *req)
{
	json_t *answer = NULL, *error;
	const char *code = "", *text = "refused", *fix = "see its log";

	h->is_busy = false;
	if (connect_to_hp3d(h) && send_request(h, req))
		answer = receive_answer(h);
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
