/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints of the TCP provider: from the description to a connection that both ends know. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "xfer/tcp/tcp.h"

/* What the other end must know. Ports and addresses are in network order. */
struct description {
	uint8_t ipv6, reserved;
	uint16_t port;
	uint8_t address[16], secret[SECRET];
};

_Static_assert(sizeof(struct description) <= HP3X_ENDPOINT, "a description fits");

void hp3x_tcp_endpoint_report(struct hp3x_endpoint *e)
{
	uint64_t one = 1;

	if (e->reporting)
		return;
	e->reporting = true;
	TAILQ_INSERT_TAIL(&e->rails->report, e, report);
	if (write(e->rails->wake.fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

int hp3x_tcp_endpoint_open(struct hp3x_rails *rails, const struct hp3x_place *place,
	void *description, struct hp3x_endpoint **endpoint)
{
	const struct rail *rail = &rails->rail[place->rail];
	const struct sockaddr_in6 *v6 = (const void *)&rail->address;
	const struct sockaddr_in *v4 = (const void *)&rail->address;
	struct description d = {.ipv6 = rail->address.ss_family == AF_INET6};
	struct hp3x_endpoint *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return hp3x_error_set(-ENOMEM, "no memory for an endpoint");
	if (getrandom(e->own, SECRET, 0) != SECRET) {
		free(e);
		return hp3x_error_set(-ENOMEM, "the kernel gives no random secret");
	}
	e->source = (struct source){SOURCE_ENDPOINT, -1};
	e->rails = rails;
	e->place = *place;
	LIST_INSERT_HEAD(&rails->all, e, all);
	d.port = d.ipv6 ? v6->sin6_port : v4->sin_port;
	if (d.ipv6)
		memcpy(d.address, &v6->sin6_addr, 16);
	else
		memcpy(d.address, &v4->sin_addr, 4);
	memcpy(d.secret, e->own, SECRET);
	memcpy(description, &d, sizeof(d));
	*endpoint = e;
	return sizeof(d);
}

static void say_connected(struct hp3x_endpoint *e, bool success)
{
	e->say_connected = true;
	e->say_success = success;
	hp3x_tcp_endpoint_report(e);
}

static void endpoint_disconnect(struct hp3x_endpoint *e)
{
	if (e->source.fd >= 0)
		close(e->source.fd);
	e->source.fd = -1;
	if (e->flushing)
		TAILQ_REMOVE(&e->rails->flush, e, flush);
	e->flushing = false;
}

void hp3x_tcp_endpoint_fail(struct hp3x_endpoint *e)
{
	if (e->state == ENDPOINT_FAILED || e->state == ENDPOINT_SHUT)
		return;
	endpoint_disconnect(e);
	if (e->state == ENDPOINT_CONNECTING || e->state == ENDPOINT_GREETING)
		say_connected(e, false);
	else
		e->say_failed = true;
	e->state = ENDPOINT_FAILED;
	hp3x_tcp_endpoint_report(e);
}

void hp3x_tcp_endpoint_shut(struct hp3x_endpoint *e)
{
	endpoint_disconnect(e);
	e->say_connected = e->say_failed = false;
	e->state = ENDPOINT_SHUT;
	hp3x_tcp_endpoint_report(e);
}

/* A TCP connection from the rail's address to the other end's. */
static int connection_begin(struct hp3x_endpoint *e, const struct description *d)
{
	struct sockaddr_storage own = e->rails->rail[e->place.rail].address;
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = d->port};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = d->port};
	socklen_t length = d->ipv6 ? sizeof(v6) : sizeof(v4);
	int one = 1;

	if ((own.ss_family == AF_INET6) != d->ipv6)
		return -EAFNOSUPPORT;
	memcpy(&v6.sin6_addr, d->address, 16);
	memcpy(&v4.sin_addr, d->address, 4);
	if (d->ipv6)
		((struct sockaddr_in6 *)&own)->sin6_port = 0;
	else
		((struct sockaddr_in *)&own)->sin_port = 0;
	e->source.fd = socket(own.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (e->source.fd < 0)
		return -errno;
	setsockopt(e->source.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(e->source.fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(e->source.fd, (struct sockaddr *)&own, length) < 0 ||
		(connect(e->source.fd, d->ipv6 ? (void *)&v6 : (void *)&v4, length) < 0 &&
			errno != EINPROGRESS))
		return -errno;
	e->state = ENDPOINT_CONNECTING;
	return hp3x_tcp_watch(e->rails, &e->source, EPOLLIN | EPOLLOUT | EPOLLET);
}

int hp3x_tcp_endpoint_connect(struct hp3x_endpoint *e, const void *description, size_t length)
{
	struct description d;
	int error;

	if (length != sizeof(d))
		return -EPROTO;
	memcpy(&d, description, sizeof(d));
	if (e->state == ENDPOINT_FAILED)
		return -ENOTCONN;
	if (e->has_other && memcmp(e->other, d.secret, SECRET) != 0) {
		hp3x_tcp_endpoint_fail(e);
		return -EPROTO;
	}
	memcpy(e->other, d.secret, SECRET);
	e->knows_other = true;
	if (e->state == ENDPOINT_UP || memcmp(e->own, e->other, SECRET) > 0) {
		if (e->state == ENDPOINT_OPEN)
			e->state = ENDPOINT_WAITING;
		say_connected(e, true);
		return 0;
	}
	error = connection_begin(e, &d);
	if (error < 0) {
		endpoint_disconnect(e);
		e->state = ENDPOINT_FAILED;
	}
	return error;
}

static void greeting_send(struct hp3x_endpoint *e)
{
	struct greeting g = {.magic = MAGIC};
	int error = 0;
	socklen_t length = sizeof(error);

	memcpy(g.to, e->other, SECRET);
	memcpy(g.from, e->own, SECRET);
	/* A new connection has room for these bytes. */
	if (getsockopt(e->source.fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 || error != 0 ||
		send(e->source.fd, &g, sizeof(g), MSG_NOSIGNAL) != sizeof(g)) {
		hp3x_tcp_endpoint_fail(e);
		return;
	}
	e->state = ENDPOINT_GREETING;
}

static void greeting_receive(struct hp3x_endpoint *e)
{
	uint8_t *at = (uint8_t *)&e->greeting;
	ssize_t n = recv(e->source.fd, at + e->have, sizeof(e->greeting) - e->have, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hp3x_tcp_endpoint_fail(e);
		return;
	}
	e->have += (uint32_t)n;
	if (e->have < sizeof(e->greeting))
		return;
	if (memcmp(e->greeting.magic, MAGIC, sizeof(MAGIC)) != 0 ||
		memcmp(e->greeting.to, e->own, SECRET) != 0 ||
		memcmp(e->greeting.from, e->other, SECRET) != 0) {
		hp3x_tcp_endpoint_fail(e);
		return;
	}
	e->have = 0;
	e->state = ENDPOINT_UP;
	say_connected(e, true);
	hp3x_tcp_endpoint_flush(e);
}

void hp3x_tcp_endpoint_ready(struct hp3x_endpoint *e, uint32_t events)
{
	if (e->state == ENDPOINT_CONNECTING && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0)
		greeting_send(e);
	if (e->state == ENDPOINT_GREETING && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0)
		greeting_receive(e);
}
