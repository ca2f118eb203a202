/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guests: connections to a rail's listener that have not yet named an endpoint by its secret. A
 * guest that names none is closed. There are at most GUESTS; a new one replaces the oldest.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "app/clock.h"
#include "xfer/tcp/tcp.h"

static void guest_close(struct guest *g)
{
	if (g->source.fd >= 0)
		close(g->source.fd);
	g->source.fd = -1;
	g->have = 0;
}

/* A free place, or that of the oldest guest. */
static struct guest *guest_place(struct hp3x_rails *rails)
{
	struct guest *oldest = &rails->guest[0];

	for (struct guest *g = rails->guest; g < rails->guest + GUESTS; g++) {
		if (g->source.fd < 0)
			return g;
		if (g->since < oldest->since)
			oldest = g;
	}
	guest_close(oldest);
	return oldest;
}

void hp3x_tcp_guests_accept(struct hp3x_rails *rails, struct rail *rail)
{
	uint64_t now = hp3_clock_ms();
	int fd;

	for (struct guest *g = rails->guest; g < rails->guest + GUESTS; g++)
		if (g->source.fd >= 0 && now - g->since > GREETING_MS)
			guest_close(g);
	while ((fd = accept4(rail->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct guest *g = guest_place(rails);

		g->source = (struct source){SOURCE_GUEST, fd};
		g->since = now;
		if (hp3x_tcp_watch(rails, &g->source, EPOLLIN) < 0)
			guest_close(g);
	}
}

static struct hp3x_endpoint *endpoint_of_greeting(
	struct hp3x_rails *rails, const struct greeting *g)
{
	struct hp3x_endpoint *e;

	if (memcmp(g->magic, MAGIC, sizeof(MAGIC)) != 0)
		return NULL;
	LIST_FOREACH (e, &rails->all, all)
		if (memcmp(e->own, g->to, SECRET) == 0 &&
			(e->state == ENDPOINT_OPEN || e->state == ENDPOINT_WAITING))
			return !e->knows_other || memcmp(e->other, g->from, SECRET) == 0 ? e : NULL;
	return NULL;
}

/* The guest is the other end of this endpoint. */
static void endpoint_adopt(struct hp3x_endpoint *e, struct guest *g)
{
	struct greeting answer = {.magic = MAGIC};
	int one = 1;

	e->source.fd = g->source.fd;
	memcpy(e->other, g->greeting.from, SECRET);
	e->has_other = true;
	g->source.fd = -1;
	g->have = 0;
	memcpy(answer.to, e->other, SECRET);
	memcpy(answer.from, e->own, SECRET);
	setsockopt(e->source.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	e->state = ENDPOINT_UP;
	if (hp3x_tcp_watch(e->rails, &e->source, EPOLLIN | EPOLLOUT | EPOLLET) < 0 ||
		send(e->source.fd, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer)) {
		hp3x_tcp_endpoint_fail(e);
		return;
	}
	hp3x_tcp_endpoint_flush(e);
}

void hp3x_tcp_guest_ready(struct hp3x_rails *rails, struct guest *g)
{
	uint8_t *at = (uint8_t *)&g->greeting;
	struct hp3x_endpoint *e;
	ssize_t n;

	if (g->source.fd < 0)
		return;
	n = recv(g->source.fd, at + g->have, sizeof(g->greeting) - g->have, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		guest_close(g);
		return;
	}
	g->have += (uint32_t)n;
	if (g->have < sizeof(g->greeting))
		return;
	e = endpoint_of_greeting(rails, &g->greeting);
	if (e != NULL)
		endpoint_adopt(e, g);
	else
		guest_close(g);
}
