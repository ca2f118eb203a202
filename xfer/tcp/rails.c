/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails of the TCP provider open and close; the kernel reports changes of links and addresses. */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "xfer/tcp/tcp.h"

int hp3x_tcp_watch(struct hp3x_rails *rails, struct source *source, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = source};

	if (epoll_ctl(rails->epoll, EPOLL_CTL_ADD, source->fd, &e) == 0)
		return 0;
	/* A guest became an endpoint. */
	return epoll_ctl(rails->epoll, EPOLL_CTL_MOD, source->fd, &e) < 0 ? -errno : 0;
}

static int rail_listen(struct hp3x_rails *rails, struct rail *rail)
{
	socklen_t length = sizeof(rail->address);
	char text[HP3X_RAIL_NAME];
	int fd = socket(rail->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	hp3x_tcp_address_text(&rail->address, text);
	if (fd < 0)
		return hp3x_error_set(-errno, "no socket for rail %s: %m", rail->name);
	rail->listener = (struct source){SOURCE_LISTENER, fd};
	if (bind(fd, (struct sockaddr *)&rail->address, length) < 0 || listen(fd, 128) < 0 ||
		getsockname(fd, (struct sockaddr *)&rail->address, &length) < 0)
		return hp3x_error_set(-errno, "rail %s: cannot listen on %s: %m", rail->name, text);
	return hp3x_tcp_watch(rails, &rail->listener, EPOLLIN);
}

static int netlink_open(struct hp3x_rails *rails)
{
	struct sockaddr_nl all = {.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);

	rails->netlink = (struct source){SOURCE_NETLINK, fd};
	if (fd < 0 || bind(fd, (struct sockaddr *)&all, sizeof(all)) < 0)
		return hp3x_error_set(-errno, "the kernel does not report changes of links: %m");
	return hp3x_tcp_watch(rails, &rails->netlink, EPOLLIN);
}

static int sources_open(struct hp3x_rails *rails)
{
	int error;

	rails->epoll = epoll_create1(EPOLL_CLOEXEC);
	rails->wake = (struct source){SOURCE_WAKE, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	if (rails->epoll < 0 || rails->wake.fd < 0)
		return hp3x_error_set(
			-errno, "too many open files: raise the limit with ulimit -n");
	error = hp3x_tcp_watch(rails, &rails->wake, EPOLLIN);
	if (error == 0)
		error = netlink_open(rails);
	for (uint32_t i = 0; i < rails->n_rails && error == 0; i++)
		error = rail_listen(rails, &rails->rail[i]);
	return error;
}

int hp3x_tcp_rails_open(const char *const *names, uint32_t n_names, struct hp3x_rails **rails)
{
	struct hp3x_rails *r = calloc(1, sizeof(*r));
	int error;

	if (r == NULL)
		return hp3x_error_set(-ENOMEM, "no memory for rails");
	LIST_INIT(&r->all);
	TAILQ_INIT(&r->report);
	TAILQ_INIT(&r->flush);
	TAILQ_INIT(&r->unread);
	r->epoll = r->wake.fd = r->netlink.fd = -1;
	for (uint32_t i = 0; i < HP3X_RAILS; i++)
		r->rail[i].listener.fd = -1;
	for (uint32_t i = 0; i < GUESTS; i++)
		r->guest[i].source.fd = -1;
	error = hp3x_tcp_rails_find(r, names, n_names);
	if (error == 0)
		error = sources_open(r);
	if (error < 0) {
		hp3x_tcp_rails_close(r);
		return error;
	}
	*rails = r;
	return 0;
}

static void source_close(const struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
}

void hp3x_tcp_rails_close(struct hp3x_rails *rails)
{
	struct hp3x_endpoint *e;

	while ((e = LIST_FIRST(&rails->all)) != NULL) {
		LIST_REMOVE(e, all);
		source_close(&e->source);
		free(e);
	}
	for (uint32_t i = 0; i < HP3X_RAILS; i++)
		source_close(&rails->rail[i].listener);
	for (uint32_t i = 0; i < GUESTS; i++)
		source_close(&rails->guest[i].source);
	source_close(&rails->netlink);
	source_close(&rails->wake);
	if (rails->epoll >= 0)
		close(rails->epoll);
	free(rails);
}

void hp3x_tcp_links_changed(struct hp3x_rails *rails)
{
	char message[8192];

	/* The messages only say that something has changed; some may be lost. */
	while (recv(rails->netlink.fd, message, sizeof(message), 0) > 0 || errno == ENOBUFS)
		;
	for (uint32_t i = 0; i < rails->n_rails; i++) {
		struct rail *rail = &rails->rail[i];
		bool up = hp3x_tcp_rail_runs(rail);

		rail->change |= up != rail->up;
		rail->up = up;
	}
}
