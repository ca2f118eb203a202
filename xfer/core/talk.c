/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to the peers' cores. They are built when the control channel takes them, from the state
 * of then: no message waits in memory, and a path that failed meanwhile has no older message left.
 */
#include "xfer/core/inside.h"
#include "base/minmax.h"
#include "xfer/core/wire.h"
#include <string.h>

void hp3xc_peer_talk(struct hp3x_core *c, struct hp3xc_peer *peer)
{
	if (peer->writable && !peer->gone && peer->state == HP3X_PEER_UP &&
		!hp3xc_link_is_used(&peer->in_talkers))
		hp3xc_link_put(&c->talkers, &peer->in_talkers);
}

/* All builders return the end of the message, or `out`: there is none. */
static uint8_t *note_put(struct hp3x_core *c, struct hp3xc_peer *peer, uint8_t *out)
{
	static const uint8_t kind[] = {
		HP3XC_PATH_DOWN, HP3XC_FENCED, HP3XC_OFFER, HP3XC_ANSWER, HP3XC_READY};
	struct hp3xc_path *p;
	uint8_t *at;
	unsigned note;

	if (!hp3xc_link_is_used(&peer->notes))
		return out;
	p = HP3XC_ELEMENT(peer->notes.next, struct hp3xc_path, in_notes);
	note = (unsigned)__builtin_ctz(p->notes);
	at = hp3xc_wire_put(out, kind[note], 1);
	at = hp3xc_wire_put(at, p->number, 1);
	at = hp3xc_wire_put(at, p->opening, 4);
	if (1u << note == HP3XC_NOTE_OFFER || 1u << note == HP3XC_NOTE_ANSWER) {
		memcpy(at, p->own, p->own_length);
		at += p->own_length;
		p->known = true;
	}
	if (1u << note == HP3XC_NOTE_FENCED)
		at = hp3xc_wire_put(at, p->arrived, 4);
	p->notes &= (uint8_t) ~(1u << note);
	if (p->notes == 0)
		hp3xc_link_remove(&p->in_notes);
	hp3xc_path_settle(c, p);
	return at;
}

/* Slots of ops that did not end with OK: has the peer seen all immediates? */
static uint8_t *flush_put(struct hp3xc_peer *peer, uint8_t *out)
{
	uint8_t *at = out;

	if (peer->in_flush.first != HP3XC_NO_SLOT || peer->to_flush.first == HP3XC_NO_SLOT)
		return out;
	peer->in_flush = peer->to_flush;
	peer->to_flush.first = HP3XC_NO_SLOT;
	at = hp3xc_wire_put(at, HP3XC_FLUSH, 1);
	for (uint32_t i = 0; i < peer->n_paths; i++) {
		const struct hp3xc_path *p = &peer->paths[i];

		if (p->imm_done == 0 || p->stage == HP3XC_DOWN || p->fenced)
			continue;
		at = hp3xc_wire_put(at, p->number, 1);
		at = hp3xc_wire_put(at, p->opening, 4);
		at = hp3xc_wire_put(at, p->imm_done, 4);
	}
	return at;
}

static uint8_t *begin_put(struct hp3x_core *c, struct hp3xc_peer *peer, uint8_t *out)
{
	struct hp3xc_op *op;
	uint8_t *at;

	if (!hp3xc_link_is_used(&peer->begins))
		return out;
	op = HP3XC_ELEMENT(peer->begins.next, struct hp3xc_op, in_talk);
	hp3xc_link_remove(&op->in_talk);
	op->begin = false;
	hp3xc_op_touch(c, op);
	at = hp3xc_wire_put(out, HP3XC_BEGIN, 1);
	at = hp3xc_wire_put(at, (uint32_t)op->slot << 1 | peer->slots[op->slot].generation, 2);
	at = hp3xc_wire_put(at, op->counter, 2);
	at = hp3xc_wire_put(at, op->n_slices, 2);
	return hp3xc_wire_put(at, op->add, 4);
}

static uint8_t *answers_put(struct hp3xc_peer *peer, uint8_t *out)
{
	uint8_t *at = out;

	if (peer->answers.first == HP3XC_NO_SLOT)
		return out;
	at = hp3xc_wire_put(at, HP3XC_COUNTED_MESSAGE, 1);
	for (uint32_t n = 0; n < HP3XC_MOST_ENTRIES && peer->answers.first != HP3XC_NO_SLOT; n++) {
		uint32_t slot = peer->answers.first;
		struct hp3xc_count *k = &peer->counts[slot];

		at = hp3xc_wire_put(at,
			slot << 1 | k->generation | (k->counted ? HP3XC_COUNTED : 0) |
				(k->forgotten ? HP3XC_FORGOTTEN : 0),
			2);
		k->counted = k->forgotten = false;
		peer->answers.first = k->next;
	}
	return at;
}

static uint8_t *resets_put(struct hp3xc_peer *peer, uint8_t *out)
{
	uint8_t *at = out;

	if (peer->to_reset.first == HP3XC_NO_SLOT)
		return out;
	at = hp3xc_wire_put(at, HP3XC_FORGET, 1);
	for (uint32_t n = 0; n < HP3XC_MOST_ENTRIES && peer->to_reset.first != HP3XC_NO_SLOT; n++) {
		uint32_t slot = peer->to_reset.first;

		at = hp3xc_wire_put(at, slot << 1 | peer->slots[slot].generation, 2);
		peer->slots[slot].state = HP3XC_SLOT_FORGET;
		peer->to_reset.first = peer->slots[slot].next;
	}
	return at;
}

/* USER or ADD: in the order in which they were submitted, or became due. */
static uint8_t *op_put(struct hp3x_core *c, struct hp3xc_peer *peer, uint8_t *out)
{
	struct hp3xc_op *op;
	uint64_t left;
	uint8_t *at;

	if (!hp3xc_link_is_used(&peer->talk))
		return out;
	op = HP3XC_ELEMENT(peer->talk.next, struct hp3xc_op, in_talk);
	hp3xc_link_put(&peer->told, &op->in_talk);
	op->talk = HP3XC_TALK_SENT;
	op->message = ++peer->told_number;
	if (op->kind != HP3XC_SEND) {
		at = hp3xc_wire_put(out, HP3XC_ADD, 1);
		at = hp3xc_wire_put(at, op->counter, 2);
		return hp3xc_wire_put(at, op->add, 4);
	}
	at = hp3xc_wire_put(out, HP3XC_USER, 1);
	left = op->length;
	for (const struct hp3xc_chunk *k = op->chunks; k != NULL; k = k->next) {
		size_t part = hp3_min_u64(left, HP3XC_CHUNK);

		memcpy(at, k->byte, part);
		at += part;
		left -= part;
	}
	hp3xc_chunks_free(c, op->chunks);
	op->chunks = NULL;
	return at;
}

static uint8_t *flag_put(struct hp3xc_peer *peer, uint8_t *out)
{
	if (peer->flushed) {
		peer->flushed = false;
		return hp3xc_wire_put(out, HP3XC_FLUSHED, 1);
	}
	if (peer->acknowledge) {
		peer->acknowledge = false;
		return hp3xc_wire_put(
			hp3xc_wire_put(out, HP3XC_ACKNOWLEDGE, 1), peer->heard_number, 4);
	}
	if (peer->keepalive) {
		peer->keepalive = false;
		return hp3xc_wire_put(out, HP3XC_KEEPALIVE, 1);
	}
	return out;
}

static uint8_t *message_put(struct hp3x_core *c, struct hp3xc_peer *peer)
{
	uint8_t *end = note_put(c, peer, c->out);

	if (end == c->out)
		end = begin_put(c, peer, c->out);
	if (end == c->out)
		end = answers_put(peer, c->out);
	if (end == c->out)
		end = flush_put(peer, c->out);
	if (end == c->out)
		end = resets_put(peer, c->out);
	if (end == c->out)
		end = flag_put(peer, c->out);
	if (end == c->out)
		end = op_put(c, peer, c->out);
	return end;
}

bool hp3xc_talk_act(struct hp3x_core *c, struct hp3x_act *act)
{
	while (hp3xc_link_is_used(&c->talkers)) {
		struct hp3xc_peer *peer =
			HP3XC_ELEMENT(c->talkers.next, struct hp3xc_peer, in_talkers);
		uint8_t *end;

		hp3xc_link_remove(&peer->in_talkers);
		if (!peer->writable || peer->gone)
			continue;
		end = message_put(c, peer);
		if (end == c->out)
			continue;
		hp3xc_link_put(&c->talkers, &peer->in_talkers);
		peer->sent_at = c->now;
		*act = (struct hp3x_act){.kind = HP3X_ACT_MESSAGE, .peer = peer->index};
		act->blob.data = c->out;
		act->blob.length = (uint32_t)(end - c->out);
		return true;
	}
	return false;
}
