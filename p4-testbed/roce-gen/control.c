/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections and their states; hello.c has the content of the lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include "config/message.h"
#include "control.h"
#include "stream.h"

#define RETRY_NS   UINT64_C(50000000)
#define RESOLVE_NS UINT64_C(10000000)
#define FIRST_ROOM 4096u
#define LONGEST    (4u << 20)

static int watch_peer(const struct gen_control *c, struct gen_peer *p, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = p};

	if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, p->fd, &e) == 0)
		return 0;
	return epoll_ctl(c->epoll, EPOLL_CTL_MOD, p->fd, &e) == 0 ? 0 : -errno;
}

static struct gen_peer *add_peer(struct gen_control *c, int fd, const char *where)
{
	struct gen_peer *p;

	if (c->n_peers == sizeof(c->peers) / sizeof(c->peers[0]))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->fd = fd;
	p->where = where;
	p->active = where != NULL;
	p->number = c->n_peers;
	c->peers[c->n_peers++] = p;
	return p;
}

static void hang_up(struct gen_peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->state = GEN_PEER_GONE;
}

void gen_control_fail(struct gen_control *c, struct gen_peer *p, const char *what)
{
	hp3_message("roce-gen: %s: %s %s: %s", c->o->name, p->active ? "peer" : "accepted",
		p->active ? p->where : "peer", what);
	hang_up(p);
	c->lost = c->lost || c->o->listen == NULL || c->o->expect > 0;
}

int gen_control_open(struct gen_control *c, const struct gen_options *o, struct gen_endpoint *ep,
	const struct gen_port *port, int epoll, uint64_t now)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = GEN_CONTROL_LISTEN};
	int ret;

	*c = (struct gen_control){
		.o = o, .ep = ep, .port = port, .epoll = epoll, .listen_fd = -1, .random = o->seed};
	c->own = o->address;
	ret = o->have_address ? 0 : gen_route_own_address(o->interface, o->ipv6, &c->own);
	if (ret != 0) {
		hp3_message("roce-gen: %s has no IPv%d address: give it one, or --address",
			o->interface, o->ipv6 ? 6 : 4);
		return ret;
	}
	for (uint32_t i = 0; i < o->n_peers; i++)
		if (add_peer(c, -1, o->peers[i]) == NULL)
			return -ENOMEM;
	ret = gen_control_fixed(c, now);
	if (ret != 0 || o->listen == NULL)
		return ret;
	c->listen_fd = gen_stream_listen(o->listen, c->path);
	if (c->listen_fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, c->listen_fd, &e) == 0)
		return 0;
	ret = c->listen_fd < 0 ? c->listen_fd : -errno;
	hp3_message("roce-gen: --listen %s: %s: write a path or ADDRESS:PORT that is free",
		o->listen, strerror(-ret));
	return ret;
}

void gen_control_close(struct gen_control *c)
{
	for (uint32_t i = 0; i < c->n_peers; i++) {
		hang_up(c->peers[i]);
		free(c->peers[i]->in);
		free(c->peers[i]);
	}
	c->n_peers = 0;
	if (c->listen_fd >= 0)
		close(c->listen_fd);
	c->listen_fd = -1;
	if (c->path[0] != '\0')
		unlink(c->path);
}

static void accept_peer(struct gen_control *c)
{
	int fd = accept4(c->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct gen_peer *p;

	if (fd < 0)
		return;
	p = c->o->expect > 0 && c->accepted == c->o->expect ? NULL : add_peer(c, fd, NULL);
	if (p == NULL) {
		close(fd);
		return;
	}
	c->accepted++;
	p->state = GEN_PEER_GREETING;
	if (watch_peer(c, p, EPOLLIN) != 0)
		gen_control_fail(c, p, "cannot be watched");
}

static void finish_connect(struct gen_control *c, struct gen_peer *p, uint64_t now)
{
	int ret = gen_stream_connected(p->fd);

	if (ret != 0) {
		close(p->fd);
		p->fd = -1;
		p->state = GEN_PEER_ABSENT;
		p->next_try = now + RETRY_NS;
		return;
	}
	p->state = GEN_PEER_GREETING;
	if (watch_peer(c, p, EPOLLIN) != 0 ||
		gen_control_greet(c, p, (uint32_t)c->o->qps, now) != 0)
		gen_control_fail(c, p, "cannot set queue pairs up");
}

static void try_connect(struct gen_control *c, struct gen_peer *p, uint64_t now)
{
	bool pending;

	p->next_try = now + RETRY_NS;
	p->fd = gen_stream_connect(p->where, &pending);
	if (p->fd == -EINVAL || p->fd == -ENAMETOOLONG) {
		p->fd = -1;
		gen_control_fail(c, p, "write a path or ADDRESS:PORT with --connect");
		return;
	}
	if (p->fd < 0) /* not there yet */
		return;
	p->state = GEN_PEER_CONNECTING;
	if (!pending)
		finish_connect(c, p, now);
	else if (watch_peer(c, p, EPOLLOUT) != 0)
		gen_control_fail(c, p, "cannot be watched");
}

static bool make_room(struct gen_peer *p)
{
	size_t room = p->in_room == 0 ? FIRST_ROOM : 2 * p->in_room;
	char *in;

	if (p->in_len + 1 < p->in_room)
		return true;
	in = room <= LONGEST ? realloc(p->in, room) : NULL;
	if (in == NULL)
		return false;
	p->in = in;
	p->in_room = room;
	return true;
}

static void take_lines(struct gen_control *c, struct gen_peer *p, uint64_t now)
{
	char *end;

	while (p->fd >= 0 && (end = memchr(p->in, '\n', p->in_len)) != NULL) {
		size_t len = (size_t)(end - p->in);

		gen_control_line(c, p, p->in, len, now);
		p->in_len -= len + 1;
		memmove(p->in, end + 1, p->in_len);
	}
}

static void read_peer(struct gen_control *c, struct gen_peer *p, uint64_t now)
{
	while (p->fd >= 0 && make_room(p)) {
		ssize_t n = recv(p->fd, p->in + p->in_len, p->in_room - p->in_len, 0);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			if (p->done && p->sent_done)
				hang_up(p);
			else
				gen_control_fail(c, p, "went away before it was done");
			return;
		}
		p->in_len += (size_t)n;
		take_lines(c, p, now);
	}
	if (p->fd >= 0)
		gen_control_fail(c, p, "sent a line that is too long");
}

void gen_control_event(struct gen_control *c, uint64_t tag, uint64_t now)
{
	struct gen_peer *p = (void *)(uintptr_t)tag;

	if (tag == GEN_CONTROL_LISTEN)
		accept_peer(c);
	else if (p->state == GEN_PEER_CONNECTING)
		finish_connect(c, p, now);
	else if (p->fd >= 0)
		read_peer(c, p, now);
}

uint64_t gen_control_tick(struct gen_control *c, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < c->n_peers; i++) {
		struct gen_peer *p = c->peers[i];

		if (p->state == GEN_PEER_ABSENT && p->next_try <= now)
			try_connect(c, p, now);
		if (p->state == GEN_PEER_RESOLVING && p->next_try <= now) {
			p->next_try = now + RESOLVE_NS;
			gen_control_resolve(c, p);
		}
		if ((p->state == GEN_PEER_ABSENT || p->state == GEN_PEER_RESOLVING) &&
			p->next_try < next)
			next = p->next_try;
	}
	return next;
}

bool gen_control_up(const struct gen_control *c)
{
	if (c->o->listen != NULL && c->accepted < c->o->expect)
		return false;
	for (uint32_t i = 0; i < c->n_peers; i++)
		if (c->peers[i]->state != GEN_PEER_UP)
			return false;
	return true;
}

void gen_control_done(struct gen_control *c)
{
	for (uint32_t i = 0; i < c->n_peers; i++) {
		struct gen_peer *p = c->peers[i];

		if (p->sent_done || p->state != GEN_PEER_UP)
			continue;
		p->sent_done = true;
		gen_control_send(p, "done");
	}
}

bool gen_control_all_done(const struct gen_control *c)
{
	if (c->o->listen != NULL && (c->o->expect == 0 || c->accepted < c->o->expect))
		return false;
	for (uint32_t i = 0; i < c->n_peers; i++)
		if (!c->peers[i]->done && c->peers[i]->state != GEN_PEER_GONE)
			return false;
	return true;
}

void gen_control_missing(const struct gen_control *c, char *buf, size_t cap)
{
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < c->n_peers && at < cap; i++)
		if (c->peers[i]->state != GEN_PEER_UP)
			at += (size_t)snprintf(buf + at, cap - at, " %s",
				c->peers[i]->active ? c->peers[i]->where : "an accepted one");
	if (c->o->listen != NULL && c->accepted < c->o->expect && at < cap)
		snprintf(buf + at, cap - at, " %u of %u to be accepted",
			(unsigned)(c->o->expect - c->accepted), (unsigned)c->o->expect);
}
