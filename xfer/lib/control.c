/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control address of a domain, and guests: connections that have not sent their hello. A guest
 * has no effect before its hello is complete and right. There are at most HP3X_GUESTS; a new guest
 * replaces the oldest one.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "app/clock.h"
#include "xfer/lib/address.h"
#include "xfer/lib/internal.h"

#define HELLO_MS 3000u /* within which a hello must arrive */

static int listen_on(const struct sockaddr_storage *address)
{
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1, zero = 0;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (address->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, (const struct sockaddr *)address, hp3x_address_length(address)) < 0 ||
		listen(fd, 256) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	return fd;
}

/* How peers reach the listener; the first rail's address instead of "all addresses". */
static void address_write(struct hp3x_domain *d, const char *wanted)
{
	struct sockaddr_storage own;
	socklen_t length = sizeof(own);
	const char *rail = d->rail[0].address;
	uint16_t port;

	getsockname(d->listener.fd, (struct sockaddr *)&own, &length);
	port = ntohs(((struct sockaddr_in *)&own)->sin_port); /* the same place in sockaddr_in6 */
	if (wanted == NULL)
		snprintf(d->address, sizeof(d->address),
			strchr(rail, ':') == NULL ? "%s:%u" : "[%s]:%u", rail, port);
	else
		snprintf(d->address, sizeof(d->address), "%.*s:%u",
			(int)(strrchr(wanted, ':') - wanted), wanted, port);
}

int hp3x_control_listen(struct hp3x_domain *d, const char *address)
{
	struct sockaddr_storage to = {.ss_family = AF_INET6}; /* all addresses, any port */
	int fd, error = address == NULL ? 0 : hp3x_address_read(address, &to);

	if (error < 0)
		return error;
	fd = listen_on(&to);
	if (fd < 0 && address == NULL) {
		to = (struct sockaddr_storage){.ss_family = AF_INET};
		fd = listen_on(&to);
	}
	if (fd < 0)
		return hp3x_error_set(fd, "cannot listen on %s: %s",
			address == NULL ? "any address" : address, strerror(-fd));
	d->listener = (struct hp3x_source){HP3X_SOURCE_LISTENER, fd};
	address_write(d, address);
	return hp3x_watch(d, &d->listener, EPOLLIN, false);
}

void hp3x_guest_close(struct hp3x_guest *g)
{
	if (g->source.fd >= 0)
		close(g->source.fd);
	g->source.fd = -1;
	g->leaving = false;
	g->n = 0;
}

static struct hp3x_guest *guest_place(struct hp3x_domain *d)
{
	struct hp3x_guest *oldest = &d->guest[0];

	for (struct hp3x_guest *g = d->guest; g < d->guest + HP3X_GUESTS; g++) {
		if (g->source.fd < 0)
			return g;
		if (g->since < oldest->since)
			oldest = g;
	}
	hp3x_guest_close(oldest);
	return oldest;
}

void hp3x_guest_leave(struct hp3x_domain *d, int fd)
{
	struct hp3x_guest *g = guest_place(d);

	g->source = (struct hp3x_source){HP3X_SOURCE_GUEST, fd};
	g->leaving = true;
	g->since = hp3_clock_ms();
	if (shutdown(fd, SHUT_WR) < 0 || hp3x_watch(d, &g->source, EPOLLIN, true) < 0)
		hp3x_guest_close(g);
}

bool hp3x_guests_leave(const struct hp3x_domain *d)
{
	for (const struct hp3x_guest *g = d->guest; g < d->guest + HP3X_GUESTS; g++)
		if (g->source.fd >= 0 && g->leaving)
			return true;
	return false;
}

void hp3x_control_accept(struct hp3x_domain *d)
{
	uint64_t now = hp3_clock_ms();
	int fd;

	for (struct hp3x_guest *g = d->guest; g < d->guest + HP3X_GUESTS; g++)
		if (g->source.fd >= 0 && now - g->since > HELLO_MS)
			hp3x_guest_close(g);
	while ((fd = accept4(d->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct hp3x_guest *g = guest_place(d);

		g->source = (struct hp3x_source){HP3X_SOURCE_GUEST, fd};
		g->since = now;
		if (hp3x_watch(d, &g->source, EPOLLIN, false) < 0)
			hp3x_guest_close(g);
	}
}

static void guest_refuse(struct hp3x_guest *g, const char *reason)
{
	struct {
		struct hp3x_frame frame;
		char text[HP3X_MOST_REASON];
	} m = {.frame = {.kind = HP3X_FRAME_REFUSE}};
	size_t n = strlen(reason);

	m.frame.length = htole32((uint32_t)n);
	memcpy(m.text, reason, n);
	if (send(g->source.fd, &m, sizeof(m.frame) + n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		hp3x_guest_close(g); /* it learns by the end of the connection */
	hp3x_guest_close(g);
}

/* The peer of an earlier connection of the same session. */
static struct hp3x_peer *peer_of_session(struct hp3x_domain *d, const struct hp3x_hello *h)
{
	struct hp3x_peer *p;

	LIST_FOREACH (p, &d->peers, next)
		if (!p->channel.dialler && !p->closing && p->state != HP3X_PEER_GONE &&
			memcmp(p->channel.hello.session, h->session, sizeof(h->session)) == 0 &&
			p->identity == le64toh(h->identity))
			return p;
	return NULL;
}

static void guest_greeted(struct hp3x_domain *d, struct hp3x_guest *g, const struct hp3x_hello *h)
{
	const char *wrong = hp3x_hello_wrong(d, h);
	struct hp3x_peer *p = peer_of_session(d, h);

	if (wrong == NULL && p == NULL && (h->again != 0 || h->received != 0))
		wrong = "the peer was closed at the other end, or the process was started again";
	if (wrong == NULL && p == NULL) {
		p = hp3x_peer_new(d, hp3_clock_ns(CLOCK_MONOTONIC));
		if (p == NULL) {
			wrong = "the other end has too many peers: close some there";
		} else {
			hp3x_hello_make(p);
			memcpy(p->channel.hello.session, h->session, sizeof(h->session));
			p->accepting = true;
			STAILQ_INSERT_TAIL(&d->waiting, p, waiting);
			hp3x_drive_news(d);
		}
	}
	if (wrong != NULL)
		guest_refuse(g, wrong);
	else
		hp3x_channel_adopt(p, g, h);
}

void hp3x_guest_ready(struct hp3x_domain *d, struct hp3x_guest *g)
{
	struct hp3x_frame f;
	struct hp3x_hello h;
	ssize_t n;

	if (g->source.fd < 0)
		return;
	n = recv(g->source.fd, g->bytes + g->n, sizeof(g->bytes) - g->n, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hp3x_guest_close(g);
		return;
	}
	if (g->leaving)
		return;
	g->n += (uint32_t)n;
	if (g->n < sizeof(f))
		return;
	memcpy(&f, g->bytes, sizeof(f));
	if (f.kind != HP3X_FRAME_HELLO || le32toh(f.length) != sizeof(h)) {
		hp3x_guest_close(g);
		return;
	}
	if (g->n < sizeof(f) + sizeof(h))
		return;
	memcpy(&h, g->bytes + sizeof(f), sizeof(h));
	guest_greeted(d, g, &h);
}
