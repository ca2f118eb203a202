/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control channel of one peer: connections, and what is sent on them. Frames that arrive are in
 * channel_read.c. A connection that breaks is replaced: the dialler connects again with doubling
 * waits, the other end waits for it; the peer may have several addresses (channel_address.c). After
 * peer_timeout of silence, the peer is lost.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "app/clock.h"
#include "xfer/lib/address.h"
#include "xfer/lib/channel.h"

#define BACK_OFF      10000000u /* ns; doubled up to MOST_BACK_OFF */
#define MOST_BACK_OFF 1000000000u
#define REFUSALS      4u /* in a row: the process that listened has ended */

void hp3x_channel_due(struct hp3x_domain *d, uint64_t at)
{
	if (at < d->channels_due)
		d->channels_due = at;
}

void hp3x_channel_watch(struct hp3x_peer *peer, bool again)
{
	struct hp3x_channel *c = &peer->channel;
	uint32_t events = (c->paused ? 0 : EPOLLIN) |
			  (c->blocked || c->state == HP3X_CHANNEL_CONNECTING ? EPOLLOUT : 0);

	if (c->source.fd >= 0)
		hp3x_watch(peer->domain, &c->source, events, again);
}

static void channel_disconnect(struct hp3x_channel *c)
{
	if (c->source.fd >= 0)
		close(c->source.fd);
	c->source.fd = -1;
	c->in.at = c->in.n = 0;
	c->ack_left = 0;
	c->blocked = false;
}

void hp3x_channel_break(struct hp3x_peer *peer, uint64_t now)
{
	struct hp3x_channel *c = &peer->channel;

	if (c->state == HP3X_CHANNEL_CLOSED)
		return;
	channel_disconnect(c);
	c->state = HP3X_CHANNEL_BROKEN;
	c->back_off = c->back_off == 0                  ? BACK_OFF
		      : c->back_off * 2 > MOST_BACK_OFF ? MOST_BACK_OFF
							: c->back_off * 2;
	c->retry = now + c->back_off;
	hp3x_channel_due(peer->domain, c->dialler ? c->retry : now);
}

int hp3x_channel_open(struct hp3x_peer *peer, uint64_t now)
{
	struct hp3x_channel *c = &peer->channel;
	const struct sockaddr_storage *to = &c->address[c->place];
	int one = 1;

	c->said = now;
	c->source.fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->source.fd >= 0 &&
		(connect(c->source.fd, (const struct sockaddr *)to, hp3x_address_length(to)) == 0 ||
			errno == EINPROGRESS)) {
		setsockopt(c->source.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		c->state = HP3X_CHANNEL_CONNECTING;
		hp3x_channel_watch(peer, false);
		hp3x_channel_due(peer->domain, now);
		return 0;
	}
	hp3x_channel_turn(c); /* this host has no route, say */
	hp3x_channel_break(peer, now);
	return -ECONNREFUSED;
}

/* A new connection has room for a hello. */
static bool hello_send(struct hp3x_channel *c)
{
	struct {
		struct hp3x_frame frame;
		struct hp3x_hello hello;
	} m = {.frame = {.length = htole32(sizeof(m.hello)), .kind = HP3X_FRAME_HELLO},
		.hello = c->hello};

	m.hello.received = htole64(c->in.seq);
	return send(c->source.fd, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m);
}

/* TCP is connected, or has failed. */
void hp3x_channel_connected(struct hp3x_peer *peer, uint64_t now)
{
	struct hp3x_channel *c = &peer->channel;
	socklen_t length = sizeof(int);
	int error = 0;

	getsockopt(c->source.fd, SOL_SOCKET, SO_ERROR, &error, &length);
	if (error == ECONNREFUSED && !hp3x_channel_doubts(c))
		c->refusals++;
	else if (error != 0)
		hp3x_channel_turn(c);
	if (error == 0 && hello_send(c)) {
		c->state = HP3X_CHANNEL_GREETING;
		hp3x_channel_watch(peer, true);
		return;
	}
	if (c->met && c->refusals == REFUSALS)
		hp3x_peer_lose(peer, now, "the process of the peer has ended");
	else
		hp3x_channel_break(peer, now);
}

void hp3x_channel_up(struct hp3x_peer *peer, uint64_t now, const struct hp3x_hello *hello)
{
	struct hp3x_channel *c = &peer->channel;

	c->state = HP3X_CHANNEL_UP;
	c->heard = c->said = now;
	c->back_off = 0;
	c->refusals = 0;
	if (c->dialler)
		hp3x_channel_learn(c, hello);
	c->ack_due = c->in.seq > 0;
	if (hp3x_hello_met(peer, now, hello))
		hp3x_acts(peer->domain, now);
	hp3x_channel_flush(peer);
	hp3x_channel_due(peer->domain, now);
}

void hp3x_channel_adopt(
	struct hp3x_peer *peer, struct hp3x_guest *guest, const struct hp3x_hello *hello)
{
	struct hp3x_channel *c = &peer->channel;
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC);
	int one = 1;

	channel_disconnect(c);
	c->source.fd = guest->source.fd;
	guest->source.fd = -1;
	guest->n = 0;
	setsockopt(c->source.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c->state = HP3X_CHANNEL_GREETING;
	hp3x_channel_watch(peer, true);
	if (hello_send(c))
		hp3x_channel_up(peer, now, hello);
	else
		hp3x_channel_break(peer, now);
}

/* An ACK leaves between two frames only. */
static void ack_begin(struct hp3x_channel *c)
{
	if (!c->ack_due || c->ack_left > 0 || c->out.sent != c->out.edge)
		return;
	c->ack = (struct hp3x_frame){.kind = HP3X_FRAME_ACK, .ack = htole64(c->in.seq)};
	c->ack_left = sizeof(c->ack);
	c->ack_due = false;
}

void hp3x_channel_flush(struct hp3x_peer *peer)
{
	struct hp3x_channel *c = &peer->channel;

	while (c->state == HP3X_CHANNEL_UP && !c->blocked) {
		struct iovec iov[3];
		struct msghdr m = {.msg_iov = iov};
		size_t of_ack;
		ssize_t n;

		ack_begin(c);
		if (c->ack_left > 0)
			iov[m.msg_iovlen++] =
				(struct iovec){(uint8_t *)(&c->ack + 1) - c->ack_left, c->ack_left};
		m.msg_iovlen += (size_t)hp3x_outbox_unsent(&c->out, iov + m.msg_iovlen);
		if (m.msg_iovlen == 0)
			return;
		n = sendmsg(c->source.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			c->blocked = true;
			hp3x_channel_watch(peer, true);
			return;
		}
		c->said = hp3_clock_ns(CLOCK_MONOTONIC);
		if (n < 0) {
			hp3x_channel_break(peer, c->said);
			return;
		}
		of_ack = (size_t)n < c->ack_left ? (size_t)n : c->ack_left;
		c->ack_left -= (uint32_t)of_ack;
		hp3x_outbox_sent(&c->out, (size_t)n - of_ack);
	}
}

void hp3x_channel_send(struct hp3x_peer *peer, const void *data, uint32_t length)
{
	struct hp3x_domain *d = peer->domain;
	struct hp3x_channel *c = &peer->channel;

	if (c->state == HP3X_CHANNEL_CLOSED || hp3x_outbox_room(&c->out) < length)
		return; /* the core was told that it must not send */
	hp3x_outbox_add(&c->out, data, length);
	if (hp3x_outbox_room(&c->out) < HP3X_MESSAGE && !c->held) {
		c->held = true;
		hp3x_core_writable(d->core, peer->index, false);
	}
	if (!c->flushing) {
		c->flushing = true;
		SLIST_INSERT_HEAD(&d->flush, peer, flush);
	}
}

void hp3x_channels_flush(struct hp3x_domain *d)
{
	struct hp3x_peer *p;

	while ((p = SLIST_FIRST(&d->flush)) != NULL) {
		SLIST_REMOVE_HEAD(&d->flush, flush);
		p->channel.flushing = false;
		hp3x_channel_flush(p);
	}
}

void hp3x_channel_close(struct hp3x_peer *peer)
{
	struct hp3x_frame bye = {.kind = HP3X_FRAME_BYE};
	struct hp3x_channel *c = &peer->channel;

	if (c->state == HP3X_CHANNEL_UP) {
		hp3x_channel_flush(peer);
		/* In the middle of a frame, the end of the connection has to do. */
		if (c->ack_left == 0 && c->out.sent == c->out.edge && c->source.fd >= 0 &&
			send(c->source.fd, &bye, sizeof(bye), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
			hp3x_guest_leave(peer->domain, c->source.fd);
			c->source.fd = -1;
		}
	}
	channel_disconnect(c);
	c->state = HP3X_CHANNEL_CLOSED;
	if (c->flushing)
		SLIST_REMOVE(&peer->domain->flush, peer, hp3x_peer, flush);
	c->flushing = false;
}
