/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/line.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "app/plain_json.h"

#define CHUNK      65536u
#define ANSWER_MAX (64u * 1024 * 1024)

int hp3_line_connect(struct hp3_line *l, const char *path, int wait_s)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct timeval wait = {.tv_sec = wait_s};

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0 || setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
		setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0 ||
		connect(l->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	return 0;
}

int hp3_line_send(struct hp3_line *l, const json_t *req)
{
	char *text = json_dumps(req, JSON_COMPACT);
	size_t n, sent = 0;
	int ret = 0;

	if (text == NULL)
		return -ENOMEM;
	n = strlen(text);
	text[n++] = '\n'; /* replaces the NUL */
	while (sent < n && ret == 0) {
		ssize_t k = send(l->fd, text + sent, n - sent, MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR)
			ret = -errno;
		sent += k > 0 ? (size_t)k : 0;
	}
	free(text);
	return ret;
}

static int receive_more(struct hp3_line *l)
{
	ssize_t n;

	if (l->cap - l->len < CHUNK) {
		size_t cap = l->cap * 2 + CHUNK;
		char *buf;

		if (cap > ANSWER_MAX)
			return -EBADMSG;
		buf = realloc(l->buf, cap);
		if (buf == NULL)
			return -ENOMEM;
		l->buf = buf;
		l->cap = cap;
	}
	do
		n = recv(l->fd, l->buf + l->len, l->cap - l->len, 0);
	while (n < 0 && errno == EINTR && !(l->stop != NULL && *l->stop));
	if (n <= 0)
		return n < 0 ? -errno : -ENODATA;
	l->len += (size_t)n;
	return 0;
}

int hp3_line_receive(struct hp3_line *l, json_t **answer)
{
	size_t seen = 0, n;
	char *end;

	while ((end = l->buf != NULL ? memchr(l->buf + seen, '\n', l->len - seen) : NULL) == NULL) {
		int ret;

		seen = l->len;
		ret = receive_more(l);
		if (ret < 0)
			return ret;
	}
	n = (size_t)(end - l->buf);
	*answer = hp3_plain_json(json_loadb(l->buf, n, 0, NULL));
	l->len -= n + 1;
	memmove(l->buf, end + 1, l->len);
	if (json_is_object(*answer))
		return 0;
	json_decref(*answer);
	return -EBADMSG;
}

void hp3_line_close(struct hp3_line *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->buf);
	*l = (struct hp3_line){.fd = -1, .stop = l->stop};
}
