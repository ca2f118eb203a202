/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the peers' cores. A malformed message is -EPROTO: what it named before its error may
 * have been done, and the peer counts as lost.
 */
#include "xfer/core/inside.h"
#include "xfer/core/wire.h"
#include <string.h>

struct text {
	const uint8_t *at;
	size_t length;
};

static int path_hear(
	struct hp3x_core *c, struct hp3xc_peer *peer, uint8_t kind, const struct text *t)
{
	bool has_end = kind == HP3XC_OFFER || kind == HP3XC_ANSWER;
	size_t length = kind == HP3XC_FENCED ? 9 : 5;
	struct hp3xc_path *p;
	uint32_t opening;

	if (t->length < 5 || t->at[0] >= peer->n_paths ||
		(has_end ? t->length == 5 || t->length > 5 + HP3X_ENDPOINT : t->length != length))
		return -EPROTO;
	p = &peer->paths[t->at[0]];
	opening = hp3xc_wire_get(t->at + 1, 4);
	switch (kind) {
	case HP3XC_OFFER:
		return hp3xc_path_offer(c, p, opening, t->at + 5, t->length - 5);
	case HP3XC_ANSWER:
		return hp3xc_path_answer(c, p, opening, t->at + 5, t->length - 5);
	case HP3XC_READY:
		hp3xc_path_ready(c, p, opening);
		return 0;
	case HP3XC_PATH_DOWN:
		hp3xc_path_down(c, p, opening);
		return 0;
	default:
		return hp3xc_path_fenced(c, p, opening, hp3xc_wire_get(t->at + 5, 4));
	}
}

static int begin_hear(struct hp3x_core *c, struct hp3xc_peer *peer, const struct text *t)
{
	struct hp3xc_begin begin;

	if (t->length != 10)
		return -EPROTO;
	begin.named = hp3xc_wire_get(t->at, 2);
	begin.counter = hp3xc_wire_get(t->at + 2, 2);
	begin.n_slices = hp3xc_wire_get(t->at + 4, 2);
	begin.add = hp3xc_wire_get(t->at + 6, 4);
	return hp3xc_count_begin(c, peer, &begin);
}

static int counted_hear(struct hp3x_core *c, struct hp3xc_peer *peer, const struct text *t)
{
	int error = t->length % 2 != 0 ? -EPROTO : 0;

	for (size_t i = 0; error == 0 && i < t->length; i += 2) {
		uint32_t entry = hp3xc_wire_get(t->at + i, 2);

		if (entry & HP3XC_COUNTED)
			error = hp3xc_slot_counted(c, peer, entry & HP3XC_NAMED);
		if (error == 0 && entry & HP3XC_FORGOTTEN)
			error = hp3xc_slot_forgotten(c, peer, entry & HP3XC_NAMED);
	}
	return error;
}

static int forget_hear(struct hp3x_core *c, struct hp3xc_peer *peer, const struct text *t)
{
	int error = t->length % 2 != 0 ? -EPROTO : 0;

	for (size_t i = 0; error == 0 && i < t->length; i += 2)
		error = hp3xc_count_forget(c, peer, hp3xc_wire_get(t->at + i, 2));
	return error;
}

static int flush_hear(struct hp3x_core *c, struct hp3xc_peer *peer, const struct text *t)
{
	int error = t->length % HP3XC_FLUSH_ENTRY != 0 ? -EPROTO : hp3xc_flush_begin(peer);

	if (error != 0)
		return error;
	for (size_t i = 0; error == 0 && i < t->length; i += HP3XC_FLUSH_ENTRY) {
		const uint8_t *at = t->at + i;

		error = at[0] >= peer->n_paths
				? -EPROTO
				: hp3xc_flush_path(&peer->paths[at[0]], hp3xc_wire_get(at + 1, 4),
					  hp3xc_wire_get(at + 5, 4));
	}
	hp3xc_flush_ready(c, peer);
	return error;
}

static int add_hear(struct hp3x_core *c, struct hp3xc_peer *peer, const struct text *t)
{
	if (t->length != 6 || hp3xc_wire_get(t->at, 2) >= HP3X_COUNTERS)
		return -EPROTO;
	hp3xc_counter_add(c, hp3xc_wire_get(t->at, 2), hp3xc_wire_get(t->at + 2, 4));
	peer->heard_number++;
	peer->acknowledge = true;
	hp3xc_peer_talk(c, peer);
	return 0;
}

static int user_hear(struct hp3x_core *c, struct hp3xc_peer *peer, const struct text *t)
{
	if (t->length > HP3X_MOST_SEND)
		return -EPROTO;
	memcpy(c->in, t->at, t->length);
	c->in_length = (uint32_t)t->length;
	c->in_peer = peer->index;
	c->in_waits = true;
	peer->heard_number++;
	peer->acknowledge = true;
	hp3xc_peer_talk(c, peer);
	return 0;
}

/* Ops whose messages have numbers up to `number` have been heard. */
static int acknowledge_hear(struct hp3x_core *c, struct hp3xc_peer *peer, const struct text *t)
{
	uint32_t number;

	if (t->length != 4)
		return -EPROTO;
	number = hp3xc_wire_get(t->at, 4);
	if (peer->told_number - number > INT32_MAX)
		return -EPROTO; /* of messages that were never sent */
	while (hp3xc_link_is_used(&peer->told)) {
		struct hp3xc_op *op = HP3XC_ELEMENT(peer->told.next, struct hp3xc_op, in_talk);

		if ((int32_t)(number - op->message) < 0)
			break;
		hp3xc_link_remove(&op->in_talk);
		op->talk = HP3XC_TALK_DONE;
		hp3xc_op_touch(c, op);
	}
	return 0;
}

static int message_hear(struct hp3x_core *c, struct hp3xc_peer *peer, uint8_t kind, struct text t)
{
	switch (kind) {
	case HP3XC_OFFER:
	case HP3XC_ANSWER:
	case HP3XC_READY:
	case HP3XC_PATH_DOWN:
	case HP3XC_FENCED:
		return path_hear(c, peer, kind, &t);
	case HP3XC_BEGIN:
		return begin_hear(c, peer, &t);
	case HP3XC_COUNTED_MESSAGE:
		return counted_hear(c, peer, &t);
	case HP3XC_FORGET:
		return forget_hear(c, peer, &t);
	case HP3XC_FLUSH:
		return flush_hear(c, peer, &t);
	case HP3XC_FLUSHED:
		return t.length != 0 ? -EPROTO : hp3xc_slots_flushed(c, peer);
	case HP3XC_ADD:
		return add_hear(c, peer, &t);
	case HP3XC_USER:
		return user_hear(c, peer, &t);
	case HP3XC_ACKNOWLEDGE:
		return acknowledge_hear(c, peer, &t);
	case HP3XC_KEEPALIVE:
		return t.length != 0 ? -EPROTO : 0;
	default:
		return -EPROTO;
	}
}

int hp3x_core_message(
	struct hp3x_core *c, uint64_t now, uint32_t peer_index, const void *data, size_t length)
{
	struct hp3xc_peer *peer = hp3xc_peer_of(c, peer_index);
	const uint8_t *at = data;

	c->now = now;
	if (peer == NULL || peer->gone)
		return 0; /* sent before the peer knew */
	if (length == 0 || peer->state != HP3X_PEER_UP)
		return -EPROTO;
	peer->heard_at = now;
	return message_hear(c, peer, at[0], (struct text){.at = at + 1, .length = length - 1});
}
