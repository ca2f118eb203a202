/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/internal.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/socket.h>
#include "app/watch/message.h"

#define SIGN_MS 200 /* between bytes to the keeper */

struct report {
	int socket, life;
};

static void send_life_sign(const struct report *r)
{
	if (write(r->life, "", 1) < 0 && errno != EAGAIN)
		_exit(EXIT_FAILURE);
}

/* Waits while hp3d is slow. */
static void send_message(const struct report *r, const struct hp3_watch_message *m)
{
	struct pollfd p = {.fd = r->socket, .events = POLLOUT};

	while (send(r->socket, m, sizeof(*m), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			_exit(EXIT_FAILURE);
		poll(&p, 1, SIGN_MS);
		send_life_sign(r);
	}
}

static void send_event(void *ctx, const struct hp3_watch_event *event)
{
	struct hp3_watch_message m = {
		.magic = HP3_WATCH_MAGIC, .kind = HP3_WATCH_MSG_EVENT, .event = *event};

	send_message(ctx, &m);
}

static void send_notice(void *ctx, const char *text)
{
	struct hp3_watch_message m = {.magic = HP3_WATCH_MAGIC, .kind = HP3_WATCH_MSG_NOTICE};

	snprintf(m.text, sizeof(m.text), "%s", text);
	send_message(ctx, &m);
}

int hp3_report(int socket, int life, const struct hp3_watch_options *o)
{
	struct report r = {.socket = socket, .life = life};
	struct hp3_watch_options mine = *o;
	struct hp3_watch_message m = {.magic = HP3_WATCH_MAGIC, .kind = HP3_WATCH_MSG_BY};
	struct hp3_watch *w;

	mine.event = send_event;
	mine.notice = send_notice;
	mine.ctx = &r;
	if (hp3_watch_open(&mine, &w) < 0 || hp3_watch_fd(w) < 0 || hp3_confine_more(o) < 0)
		return EXIT_FAILURE;
	m.by = hp3_watch_by(w);
	send_message(&r, &m);
	for (;;) {
		struct pollfd p = {.fd = hp3_watch_fd(w), .events = POLLIN};

		send_life_sign(&r);
		if (poll(&p, 1, SIGN_MS) > 0)
			hp3_watch_poll(w);
	}
}
