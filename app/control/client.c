/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/control/client.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "app/control/reply.h"

int hp3d_client_open(struct hp3d_client *c, int fd, uint64_t now_ms)
{
	struct ucred who = {.uid = (uid_t)-1};
	socklen_t len = sizeof(who);

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	*c = (struct hp3d_client){.fd = fd,
		.in = malloc(HP3D_LINE_MAX),
		.uid = who.uid,
		.guest = who.uid != 0 && who.uid != geteuid(),
		.asked_ms = now_ms};
	return c->in ? 0 : -ENOMEM;
}

void hp3d_client_close(struct hp3d_client *c)
{
	close(c->fd);
	free(c->in);
	free(c->out);
	*c = (struct hp3d_client){.fd = -1};
}

static size_t waiting_bytes(const struct hp3d_client *c)
{
	return c->out_len - c->out_off;
}

static bool takes_requests(const struct hp3d_client *c)
{
	return !c->closing && waiting_bytes(c) < HP3D_OUT_HIGH;
}

short hp3d_client_wants(const struct hp3d_client *c)
{
	bool in = takes_requests(c) && !c->eof && c->in_len < HP3D_LINE_MAX;

	return (short)((in ? POLLIN : 0) | (waiting_bytes(c) ? POLLOUT : 0));
}

bool hp3d_client_ready(const struct hp3d_client *c)
{
	return takes_requests(c) && memchr(c->in, '\n', c->in_len);
}

/* False: the connection is broken. */
static bool receive_bytes(struct hp3d_client *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_len, HP3D_LINE_MAX - c->in_len, 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->eof = n == 0;
	c->in_len += (size_t)n;
	return true;
}

/* Appends the answer and its '\n'; takes the reference. */
static bool append_answer(struct hp3d_client *c, json_t *answer)
{
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	size_t n = text ? strlen(text) : 0;
	bool done = false;

	json_decref(answer);
	if (!text)
		return false;
	if (c->out_off)
		memmove(c->out, c->out + c->out_off, waiting_bytes(c));
	c->out_len -= c->out_off;
	c->out_off = 0;
	if (c->out_len + n + 1 > c->out_cap) {
		size_t cap = 2 * (c->out_len + n + 1);
		char *out = realloc(c->out, cap);
		if (!out)
			goto end;
		c->out = out;
		c->out_cap = cap;
	}
	memcpy(c->out + c->out_len, text, n);
	c->out[c->out_len + n] = '\n';
	c->out_len += n + 1;
	done = true;
end:
	free(text);
	return done;
}

static bool answer_lines(struct hp3d_client *c, uint64_t now_ms, hp3d_answer_fn answer, void *arg)
{
	size_t used = 0;
	char *end;

	for (unsigned i = 0; i < HP3D_LINES_PER_CALL && takes_requests(c); i++) {
		const char *line = c->in + used;
		end = memchr(line, '\n', c->in_len - used);
		if (!end)
			break;
		size_t len = (size_t)(end - line);
		used += len + 1;
		if (len && !append_answer(c, answer(arg, line, len)))
			return false;
		if (len)
			c->asked_ms = now_ms;
	}
	c->in_len -= used;
	memmove(c->in, c->in + used, c->in_len);
	if (c->in_len == HP3D_LINE_MAX && !memchr(c->in, '\n', c->in_len)) {
		c->closing = true;
		return append_answer(
			c, hp3d_json_error("bad-request",
				   "send one JSON object per line, at most 64 KiB each",
				   "the line is longer than %u bytes", HP3D_LINE_MAX));
	}
	return true;
}

/* False: the connection is broken, or its peer does not read. */
static bool send_answers(struct hp3d_client *c, uint64_t now_ms)
{
	ssize_t n = 0;

	if (waiting_bytes(c))
		n = send(c->fd, c->out + c->out_off, waiting_bytes(c), MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	if (n > 0)
		c->out_off += (size_t)n;
	if (n > 0 || !waiting_bytes(c))
		c->stalled_ms = 0;
	else if (!c->stalled_ms)
		c->stalled_ms = now_ms;
	return !c->stalled_ms || now_ms - c->stalled_ms < HP3D_STALL_MS;
}

bool hp3d_client_service(
	struct hp3d_client *c, short revents, uint64_t now_ms, hp3d_answer_fn answer, void *arg)
{
	if ((hp3d_client_wants(c) & POLLIN) && (revents & (POLLIN | POLLHUP | POLLERR)) &&
		!receive_bytes(c))
		return false;
	if (!answer_lines(c, now_ms, answer, arg) || !send_answers(c, now_ms))
		return false;
	return waiting_bytes(c) || hp3d_client_ready(c) || !(c->eof || c->closing);
}
