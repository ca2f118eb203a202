/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of peers that wait for hp3x_receive(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "app/clock.h"
#include "xfer/lib/internal.h"

void hp3x_inbox_add(struct hp3x_peer *peer, const void *data, uint32_t length)
{
	struct hp3x_letter *l;

	if (peer->closing)
		return;
	l = malloc(sizeof(*l) + length);
	if (l == NULL) {
		/* A message that is lost must not go unnoticed. */
		hp3x_peer_lose(peer, hp3_clock_ns(CLOCK_MONOTONIC),
			"this process has no memory for messages of the peer");
		return;
	}
	l->peer = peer;
	l->length = length;
	memcpy(l->data, data, length);
	STAILQ_INSERT_TAIL(&peer->domain->letters, l, next);
	peer->inbox += sizeof(*l) + length;
	if (peer->inbox > HP3X_MOST_INBOX)
		peer->channel.paused = true;
	hp3x_drive_news(peer->domain);
}

static void letter_free(struct hp3x_domain *d, struct hp3x_letter *l)
{
	STAILQ_REMOVE(&d->letters, l, hp3x_letter, next);
	l->peer->inbox -= sizeof(*l) + l->length;
	free(l);
}

void hp3x_inbox_forget(struct hp3x_peer *peer)
{
	struct hp3x_letter *l, *next;

	for (l = STAILQ_FIRST(&peer->domain->letters); l != NULL; l = next) {
		next = STAILQ_NEXT(l, next);
		if (l->peer == peer)
			letter_free(peer->domain, l);
	}
}

int hp3x_receive(struct hp3x_domain *d, void *data, size_t capacity, struct hp3x_peer **peer)
{
	struct hp3x_letter *l;
	int length;

	hp3x_lock(d);
	l = STAILQ_FIRST(&d->letters);
	if (l == NULL) {
		hp3x_unlock(d);
		return -EAGAIN;
	}
	*peer = l->peer;
	if (l->length > capacity) {
		length = hp3x_error_set(-EMSGSIZE, "the message has %u bytes: pass a buffer of %u",
			l->length, HP3X_MOST_SEND);
		hp3x_unlock(d);
		return length;
	}
	length = (int)l->length;
	memcpy(data, l->data, l->length);
	letter_free(d, l);
	if ((*peer)->channel.paused && (*peer)->inbox < HP3X_MOST_INBOX / 2)
		hp3x_channel_resume(*peer);
	hp3x_unlock(d);
	return length;
}
