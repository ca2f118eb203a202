/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the control channel arrive; silence of a peer is noticed. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include "app/clock.h"
#include "base/plain.h"
#include "xfer/lib/channel.h"

#define KEEPALIVE 1000000000u /* ns, at most */

static void message_take(
	struct hp3x_peer *peer, uint64_t now, const struct hp3x_frame *f, const uint8_t *data)
{
	struct hp3x_channel *c = &peer->channel;

	if (f->seq > c->in.seq + 1) {
		hp3x_channel_break(peer, now);
		return;
	}
	c->ack_due = true;
	if (f->seq <= c->in.seq)
		return; /* sent again after a broken connection, and known */
	c->in.seq = f->seq;
	if (hp3x_core_message(peer->domain->core, now, peer->index, data, f->length) < 0)
		hp3x_peer_lose(peer, now, "the peer has sent a message that makes no sense");
	else
		hp3x_acts(peer->domain, now);
}

static void ack_take(struct hp3x_peer *peer, uint64_t now, uint64_t ack)
{
	struct hp3x_channel *c = &peer->channel;

	if (hp3x_outbox_acked(&c->out, ack) < 0) {
		hp3x_channel_break(peer, now);
		return;
	}
	if (c->held && hp3x_outbox_room(&c->out) > HP3X_OUTBOX / 2) {
		c->held = false;
		hp3x_core_writable(peer->domain->core, peer->index, true);
		hp3x_acts(peer->domain, now);
	}
}

static void elsewhere_try(struct hp3x_peer *peer, uint64_t now)
{
	hp3x_channel_turn(&peer->channel);
	hp3x_channel_break(peer, now);
}

static void hello_take(struct hp3x_peer *peer, uint64_t now, const uint8_t *data)
{
	const char *wrong;
	struct hp3x_hello h;

	memcpy(&h, data, sizeof(h));
	wrong = hp3x_hello_wrong(peer->domain, &h);
	if (hp3x_channel_doubts(&peer->channel) &&
		(wrong != NULL || le64toh(h.identity) != peer->identity))
		elsewhere_try(peer, now);
	else if (wrong != NULL)
		hp3x_peer_lose(peer, now, wrong);
	else
		hp3x_channel_up(peer, now, &h);
}

static void refusal_take(struct hp3x_peer *peer, uint64_t now, const char *text, uint32_t length)
{
	char reason[HP3X_MOST_REASON];

	if (hp3x_channel_doubts(&peer->channel)) {
		elsewhere_try(peer, now);
		return;
	}
	snprintf(reason, sizeof(reason), "%.*s", (int)length, text);
	hp3x_peer_lose(peer, now, hp3_plain(reason));
}

static void frame_take(
	struct hp3x_peer *peer, uint64_t now, const struct hp3x_frame *f, const uint8_t *data)
{
	bool up = peer->channel.state == HP3X_CHANNEL_UP;

	if (f->kind == HP3X_FRAME_HELLO && !up && f->length == sizeof(struct hp3x_hello))
		hello_take(peer, now, data);
	else if (f->kind == HP3X_FRAME_REFUSE && !up)
		refusal_take(peer, now, (const char *)data, f->length);
	else if (f->kind == HP3X_FRAME_MESSAGE && up)
		message_take(peer, now, f, data);
	else if (f->kind == HP3X_FRAME_ACK && up)
		ack_take(peer, now, f->ack);
	else if (f->kind == HP3X_FRAME_BYE && up)
		hp3x_peer_lose(peer, now, "the peer has closed the connection");
	else
		hp3x_channel_break(peer, now);
}

static bool is_connected(const struct hp3x_channel *c)
{
	return c->state == HP3X_CHANNEL_UP || c->state == HP3X_CHANNEL_GREETING;
}

/* Frames that have arrived. */
static void frames_take(struct hp3x_peer *peer, uint64_t now)
{
	struct hp3x_channel *c = &peer->channel;
	struct hp3x_frame f;
	const uint8_t *data;
	int found = 1;

	while (is_connected(c) && !c->paused && found == 1) {
		found = hp3x_inbound_next(&c->in, &f, &data);
		if (found == 1)
			frame_take(peer, now, &f, data);
		else if (found < 0)
			hp3x_channel_break(peer, now);
	}
}

static void channel_read(struct hp3x_peer *peer, uint64_t now)
{
	struct hp3x_channel *c = &peer->channel;

	for (uint32_t i = 0; i < 16 && is_connected(c) && !c->paused; i++) {
		uint8_t *space;
		size_t room = hp3x_inbound_space(&c->in, &space);
		ssize_t n = recv(c->source.fd, space, room, 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0) {
			hp3x_channel_break(peer, now);
			return;
		}
		c->in.n += (uint32_t)n;
		c->heard = now;
		frames_take(peer, now);
	}
	if (c->paused)
		hp3x_channel_watch(peer, true);
	hp3x_channel_flush(peer);
}

void hp3x_channel_ready(struct hp3x_peer *peer, uint32_t events)
{
	struct hp3x_channel *c = &peer->channel;
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC);

	if (c->state == HP3X_CHANNEL_CONNECTING) {
		hp3x_channel_connected(peer, now);
		return;
	}
	if ((events & EPOLLOUT) != 0 && c->blocked) {
		c->blocked = false;
		hp3x_channel_watch(peer, true);
		hp3x_channel_flush(peer);
	}
	if (c->paused && (events & (EPOLLERR | EPOLLHUP)) != 0)
		hp3x_channel_break(peer, now);
	else if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0)
		channel_read(peer, now);
}

void hp3x_channel_resume(struct hp3x_peer *peer)
{
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC);

	peer->channel.paused = false;
	peer->channel.heard = now;
	frames_take(peer, now);
	hp3x_channel_watch(peer, true);
	hp3x_drive_wake(peer->domain);
}

static uint64_t time_since(uint64_t then, uint64_t now)
{
	return then < now ? now - then : 0;
}

/* Returns when to look again. */
static uint64_t channel_tick(struct hp3x_peer *peer, uint64_t now)
{
	uint64_t timeout = peer->domain->config.peer_timeout_ns;
	uint64_t keepalive = timeout / 10 < KEEPALIVE ? timeout / 10 : KEEPALIVE;
	struct hp3x_channel *c = &peer->channel;

	if (c->paused)
		c->heard = now; /* it may have said something */
	if (time_since(c->heard, now) >= timeout) {
		hp3x_peer_lose(peer, now,
			c->met ? "the peer was silent for longer than peer_timeout_ms"
			       : "nobody answers at the control address: is it right?");
		return UINT64_MAX;
	}
	/* At least three keep-alives of the peer are missing. */
	if (c->state == HP3X_CHANNEL_UP && time_since(c->heard, now) >= timeout / 3)
		elsewhere_try(peer, now);
	if ((c->state == HP3X_CHANNEL_CONNECTING || c->state == HP3X_CHANNEL_GREETING) &&
		time_since(c->said, now) >= timeout / 3 / (c->n_addresses > 1 ? c->n_addresses : 1))
		elsewhere_try(peer, now);
	if (c->state == HP3X_CHANNEL_BROKEN && c->dialler && now >= c->retry)
		hp3x_channel_open(peer, now);
	if (c->state == HP3X_CHANNEL_UP && time_since(c->said, now) >= keepalive) {
		c->said = now;
		c->ack_due = true;
		hp3x_channel_flush(peer);
	}
	if (c->state == HP3X_CHANNEL_BROKEN && c->dialler)
		return c->retry;
	return now + keepalive / 2;
}

void hp3x_channels_tick(struct hp3x_domain *d, uint64_t now)
{
	uint64_t due = UINT64_MAX;
	struct hp3x_peer *p, *next;

	for (p = LIST_FIRST(&d->peers); p != NULL; p = next) {
		uint64_t at = UINT64_MAX;

		next = LIST_NEXT(p, next);
		if (!p->closing && p->state != HP3X_PEER_GONE)
			at = channel_tick(p, now);
		due = at < due ? at : due;
	}
	d->channels_due = due;
}
