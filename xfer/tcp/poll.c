/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP provider: what epoll says of its sockets becomes events for the shell. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "xfer/tcp/tcp.h"

#define MOST_READY 32

struct hp3x_event *hp3x_tcp_event_add(
	struct report *r, const struct hp3x_endpoint *e, enum hp3x_event_kind kind)
{
	struct hp3x_event *event = &r->event[r->n++];

	*event = (struct hp3x_event){
		.kind = kind, .peer = e->place.peer, .path = e->place.path, .rail = e->place.rail};
	return event;
}

/* True: the endpoint has reported all. */
static bool endpoint_say(struct hp3x_endpoint *e, struct report *r)
{
	if (r->n + 2 > r->most)
		return false;
	if (e->say_connected)
		hp3x_tcp_event_add(r, e, HP3X_EVENT_CONNECTED)->success = e->say_success;
	if (e->say_failed)
		hp3x_tcp_event_add(r, e, HP3X_EVENT_FAILED);
	e->say_connected = e->say_failed = false;
	if (e->state == ENDPOINT_SHUT)
		hp3x_tcp_event_add(r, e, HP3X_EVENT_SHUT);
	return true;
}

static void endpoints_say(struct hp3x_rails *rails, struct report *r)
{
	struct hp3x_endpoint *e;

	while ((e = TAILQ_FIRST(&rails->report)) != NULL && endpoint_say(e, r)) {
		TAILQ_REMOVE(&rails->report, e, report);
		e->reporting = false;
		if (e->state == ENDPOINT_SHUT) {
			LIST_REMOVE(e, all);
			if (e->unread)
				TAILQ_REMOVE(&rails->unread, e, again);
			free(e);
		}
	}
}

static void rails_say(struct hp3x_rails *rails, struct report *r)
{
	for (uint32_t i = 0; i < rails->n_rails && r->n < r->most; i++) {
		struct rail *rail = &rails->rail[i];

		if (!rail->change)
			continue;
		rail->change = false;
		r->event[r->n++] = (struct hp3x_event){
			.kind = HP3X_EVENT_RAIL, .rail = i, .success = rail->up};
	}
}

static void endpoint_again(struct hp3x_endpoint *e)
{
	uint64_t one = 1;

	if (e->unread)
		return;
	e->unread = true;
	TAILQ_INSERT_TAIL(&e->rails->unread, e, again);
	if (write(e->rails->wake.fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

static void endpoint_work(struct hp3x_endpoint *e, uint32_t events, struct report *r)
{
	hp3x_tcp_endpoint_ready(e, events);
	if (e->state != ENDPOINT_UP)
		return;
	if (events & EPOLLOUT) {
		e->blocked = false;
		hp3x_tcp_endpoint_flush(e);
	}
	/* Epoll reports edges: what is not read to its end must be looked at again. */
	if (hp3x_tcp_endpoint_receive(e, r))
		endpoint_again(e);
}

static void source_work(
	struct hp3x_rails *rails, struct source *source, uint32_t events, struct report *r)
{
	uint64_t n;

	switch (source->kind) {
	case SOURCE_LISTENER:
		hp3x_tcp_guests_accept(rails, (struct rail *)source);
		break;
	case SOURCE_GUEST:
		hp3x_tcp_guest_ready(rails, (struct guest *)source);
		break;
	case SOURCE_ENDPOINT:
		endpoint_work((struct hp3x_endpoint *)source, events, r);
		break;
	case SOURCE_NETLINK:
		hp3x_tcp_links_changed(rails);
		break;
	case SOURCE_WAKE:
		if (read(source->fd, &n, sizeof(n)) < 0)
			break; /* somebody has read it before */
	}
}

static void unread_work(struct hp3x_rails *rails, struct report *r)
{
	struct hp3x_endpoint *e, *last = TAILQ_LAST(&rails->unread, endpoints);

	while ((e = TAILQ_FIRST(&rails->unread)) != NULL) {
		TAILQ_REMOVE(&rails->unread, e, again);
		e->unread = false;
		endpoint_work(e, 0, r);
		if (e == last)
			break;
	}
}

int hp3x_tcp_rails_poll(struct hp3x_rails *rails, struct hp3x_event *event, int n)
{
	struct epoll_event ready[MOST_READY];
	struct report r = {event, 0, n};
	int n_ready = epoll_wait(rails->epoll, ready, MOST_READY, 0);

	for (int i = 0; i < n_ready; i++)
		source_work(rails, ready[i].data.ptr, ready[i].events, &r);
	unread_work(rails, &r);
	hp3x_tcp_rails_flush(rails);
	rails_say(rails, &r);
	endpoints_say(rails, &r);
	return r.n;
}

static int rails_fd(const struct hp3x_rails *rails)
{
	return rails->epoll;
}

static uint32_t rails_list(const struct hp3x_rails *rails, struct hp3x_rail_info *info)
{
	for (uint32_t i = 0; i < rails->n_rails; i++) {
		const struct rail *rail = &rails->rail[i];

		memcpy(info[i].name, rail->name, sizeof(rail->name));
		hp3x_tcp_address_text(&rail->address, info[i].address);
		info[i].rate = hp3x_tcp_rail_rate(rail);
	}
	return rails->n_rails;
}

const struct hp3x_provider hp3x_tcp = {
	.name = "tcp",
	.rails_open = hp3x_tcp_rails_open,
	.rails_close = hp3x_tcp_rails_close,
	.rails_list = rails_list,
	.rails_fd = rails_fd,
	.rails_poll = hp3x_tcp_rails_poll,
	.rails_flush = hp3x_tcp_rails_flush,
	.memory_add = hp3x_tcp_memory_add,
	.memory_remove = hp3x_tcp_memory_remove,
	.endpoint_open = hp3x_tcp_endpoint_open,
	.endpoint_connect = hp3x_tcp_endpoint_connect,
	.endpoint_post = hp3x_tcp_endpoint_post,
	.endpoint_shut = hp3x_tcp_endpoint_shut,
};
