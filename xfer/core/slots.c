/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sender's slots. After its op has ended, a slot is free again only if no immediate that names
 * it can arrive any more, and the peer's core knows that its op is over:
 *
 *     USED --ended--> FENCE --failed paths are fenced--> FLUSH --peer saw all immediates--> COUNT
 *           |                                                                              or RESET
 *           +------ with OK: each slice was executed once --> COUNT
 *
 * COUNT ends with COUNTED. RESET makes the peer forget the op: it becomes FORGET when this message
 * is sent, and ends with FORGOTTEN.
 */
#include "xfer/core/inside.h"

void hp3xc_slots_put(struct hp3xc_peer *peer, struct hp3xc_slot_list *list, uint16_t slot)
{
	/* A slot is in one list of each side at a time. */
	bool sent = list != &peer->answers;
	uint16_t *next = sent ? &peer->slots[slot].next : &peer->counts[slot].next;

	*next = HP3XC_NO_SLOT;
	if (list->first == HP3XC_NO_SLOT)
		list->first = slot;
	else if (sent)
		peer->slots[list->last].next = slot;
	else
		peer->counts[list->last].next = slot;
	list->last = slot;
}

static uint16_t slots_take(struct hp3xc_peer *peer, struct hp3xc_slot_list *list)
{
	uint16_t slot = list->first;

	if (slot != HP3XC_NO_SLOT)
		list->first = peer->slots[slot].next;
	return slot;
}

void hp3xc_slots_init(struct hp3xc_peer *peer)
{
	struct hp3xc_slot_list empty = {HP3XC_NO_SLOT, HP3XC_NO_SLOT};

	peer->free_small = peer->free_large = peer->to_flush = peer->in_flush = peer->to_reset =
		peer->answers = empty;
	for (uint16_t i = 0; i < HP3X_SLOTS; i++) {
		peer->slots[i] = (struct hp3xc_slot){.state = HP3XC_SLOT_FREE};
		peer->counts[i] = (struct hp3xc_count){.open = false};
		hp3xc_slots_put(
			peer, i < HP3XC_LARGE_SLOTS ? &peer->free_large : &peer->free_small, i);
	}
}

bool hp3xc_op_has_begin(const struct hp3xc_op *op)
{
	return op->n_slices > 1 || op->add > UINT8_MAX;
}

uint32_t hp3xc_slot_imm(const struct hp3xc_op *op, uint32_t slice)
{
	uint32_t named = (uint32_t)op->slot << 1 | op->peer->slots[op->slot].generation;

	if (hp3xc_op_has_begin(op))
		return named << 20 | slice << 8;
	return 1u << 31 | named << 20 | op->counter << 8 | op->add;
}

bool hp3xc_slot_take(struct hp3x_core *c, struct hp3xc_op *op)
{
	struct hp3xc_peer *peer = op->peer;
	bool small = op->n_slices <= HP3XC_SMALL;
	uint16_t i = slots_take(peer, small ? &peer->free_small : &peer->free_large);
	struct hp3xc_slot *s;

	if (i == HP3XC_NO_SLOT) {
		hp3xc_link_put(small ? &peer->no_small : &peer->no_large, &op->in_queue);
		return false;
	}
	s = &peer->slots[i];
	*s = (struct hp3xc_slot){.state = HP3XC_SLOT_USED, .generation = !s->generation};
	op->slot = i;
	op->begin = hp3xc_op_has_begin(op);
	if (op->begin) {
		hp3xc_link_put(&peer->begins, &op->in_talk);
		hp3xc_peer_talk(c, peer);
	}
	return true;
}

static void slot_free(struct hp3x_core *c, struct hp3xc_peer *peer, uint16_t slot)
{
	bool small = slot >= HP3XC_LARGE_SLOTS;
	struct hp3xc_link *waits = small ? &peer->no_small : &peer->no_large;

	peer->slots[slot].state = HP3XC_SLOT_FREE;
	hp3xc_slots_put(peer, small ? &peer->free_small : &peer->free_large, slot);
	if (hp3xc_link_is_used(waits)) {
		hp3xc_link_put_first(&peer->queue, waits->next);
		hp3xc_peer_ready(c, peer);
	}
}

/* The next state of a slot, as far as nothing keeps it. */
static void slot_go_on(struct hp3x_core *c, struct hp3xc_peer *peer, uint16_t slot)
{
	struct hp3xc_slot *s = &peer->slots[slot];

	if (s->state == HP3XC_SLOT_FENCE && !s->complete) {
		if (!hp3xc_paths_is_empty(&s->unfenced))
			return;
		s->state = HP3XC_SLOT_FLUSH;
		hp3xc_slots_put(peer, &peer->to_flush, slot);
		hp3xc_peer_talk(c, peer);
		return;
	}
	if (s->counted) {
		slot_free(c, peer, slot);
	} else if (s->complete) {
		s->state = HP3XC_SLOT_COUNT;
	} else {
		s->state = HP3XC_SLOT_RESET;
		hp3xc_slots_put(peer, &peer->to_reset, slot);
		hp3xc_peer_talk(c, peer);
	}
}

void hp3xc_slot_leave(struct hp3x_core *c, struct hp3xc_op *op)
{
	struct hp3xc_slot *s;

	if (op->slot == HP3XC_NO_SLOT || op->peer->gone)
		return;
	s = &op->peer->slots[op->slot];
	s->state = HP3XC_SLOT_FENCE;
	s->complete = op->status == HP3X_OK;
	s->unfenced = op->unfenced;
	slot_go_on(c, op->peer, op->slot);
}

void hp3xc_slots_fenced(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t path)
{
	for (uint16_t i = 0; !peer->gone && i < HP3X_SLOTS; i++) {
		if (peer->slots[i].state != HP3XC_SLOT_FENCE)
			continue;
		hp3xc_paths_drop(&peer->slots[i].unfenced, path);
		slot_go_on(c, peer, i);
	}
}

/* The slot of a message. NULL: it is not in use with this generation. */
static struct hp3xc_slot *slot_of(struct hp3xc_peer *peer, uint32_t named)
{
	struct hp3xc_slot *s = named >> 1 < HP3X_SLOTS ? &peer->slots[named >> 1] : NULL;

	return s != NULL && s->state != HP3XC_SLOT_FREE && s->generation == (named & 1) ? s : NULL;
}

int hp3xc_slot_counted(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t named)
{
	struct hp3xc_slot *s = slot_of(peer, named);

	if (s == NULL || s->counted)
		return -EPROTO;
	s->counted = true;
	if (s->state == HP3XC_SLOT_COUNT)
		slot_free(c, peer, (uint16_t)(named >> 1));
	return 0;
}

int hp3xc_slot_forgotten(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t named)
{
	struct hp3xc_slot *s = slot_of(peer, named);

	if (s == NULL || s->state != HP3XC_SLOT_FORGET)
		return -EPROTO; /* also if FORGET was not sent: the slot is in `to_reset` */
	slot_free(c, peer, (uint16_t)(named >> 1));
	return 0;
}

int hp3xc_slots_flushed(struct hp3x_core *c, struct hp3xc_peer *peer)
{
	uint16_t slot;

	if (peer->in_flush.first == HP3XC_NO_SLOT)
		return -EPROTO;
	while ((slot = slots_take(peer, &peer->in_flush)) != HP3XC_NO_SLOT)
		slot_go_on(c, peer, slot);
	hp3xc_peer_talk(c, peer);
	return 0;
}
